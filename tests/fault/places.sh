#!/usr/bin/env bash
# places.sh: PT-42 and PT-48, directories that are missing, forbidden, no directories, too long.
# SPDX-License-Identifier: MIT
set -u
# shellcheck source=tests/fault/fault_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/fault_lib.sh"

PERFTRACE_RANK=0 PERFTRACE_DIR=a/b/c "$prog" ticks 10 0 return 2>a.log || fail "(a) exit status $?"
expect "a directory that is not there" "$(events tick a/b/c/traces-r0.jsonl)" 10

# one_line LOG PATTERN: one message of weight, with the reason.
one_line() {
    expect "messages in $1" "$(grep -cE 'perftrace: (error|warning)' "$1")" 1
    grep -E 'perftrace: (error|warning)' "$1" | grep -q "$2" || fail "$1: no '$2' in it"
}

mkdir forbidden
chmod 0555 forbidden
as_nobody=()
if [ "$(id -u)" -eq 0 ]; then
    as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    # The way to the program may be closed to others.
    if ! "${as_nobody[@]}" test -x "$prog" || ! "${as_nobody[@]}" test -d "$work"; then
        place=$(mktemp -d) # goes with the trap of fault_lib.sh
        chmod 755 "$place"
        cp "$prog" "$place/prog"
        cp -L "$(dirname "$(dirname "$prog")")"/src/libperftrace.so.0 "$place/" 2>/dev/null
        mkdir -m 0555 "$place/forbidden"
        as_nobody+=(env "LD_LIBRARY_PATH=$place")
        nobody_prog=$place/prog nobody_dir=$place/forbidden
    fi
fi
PERFTRACE_RANK=0 PERFTRACE_DIR=${nobody_dir-$work/forbidden} \
    "${as_nobody[@]}" "${nobody_prog-$prog}" ticks 10 0 return 2>b.log || fail "(b) exit status $?"
one_line b.log "Permission denied"

: >file
PERFTRACE_RANK=0 PERFTRACE_DIR=$work/file "$prog" ticks 10 0 return 2>c.log ||
    fail "(c) exit status $?"
one_line c.log "Not a directory"

mkdir elsewhere
PERFTRACE_RANK=0 PERFTRACE_DIR=d "$prog" chdir "$work/elsewhere" 2>d.log || fail "(d) exit status $?"
expect "a relative path, then chdir" "$(events tick d/traces-r0.jsonl)" 10

# Two roles of 400 characters, several bytes each, that differ at the 390th only.
role() {
    printf 'ä%.0s' $(seq 389)
    printf '%s' "$1"
    printf '€%.0s' $(seq 10)
}
for which in x y; do
    PERFTRACE_RANK=3 PERFTRACE_FILEROOT=$work/root PERFTRACE_EXPERIMENT_NAME=e \
        PERFTRACE_TRIAL_NAME=t PERFTRACE_ROLE=$(role $which) "$prog" ticks 5 0 return \
        2>"role-$which.log" || fail "exit status $?"
done
mapfile -t found < <(find root -name 'traces-r3.jsonl')
expect "files of two long roles" "${#found[@]}" 2
while IFS= read -r part; do
    [ "$(printf '%s' "$part" | wc -c)" -le 255 ] || fail "a name is longer than 255 bytes"
    printf '%s' "$part" | iconv -f UTF-8 -t UTF-8 >/dev/null || fail "a name is cut in a character"
done < <(printf '%s\n' "${found[@]}" | tr '/' '\n')
grep -qF "\"role\": \"$(role x)\"" "${found[@]}" || fail "the full role is in no header"
grep -qF "\"role\": \"$(role y)\"" "${found[@]}" || fail "the full role is in no header"
strict "${found[@]}"

long=$work/$(printf 'directory%.0s/' $(seq 600))
PERFTRACE_RANK=0 PERFTRACE_DIR=$long "$prog" ticks 10 0 return 2>long.log || fail "exit status $?"
one_line long.log "the system takes at most"
