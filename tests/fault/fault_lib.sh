#!/usr/bin/env bash
# fault_lib.sh: what the scripts here share. Sourced with SOURCE WORK PROG SHIM RECOVER CONVERT as
# arguments; leaves the caller in an empty WORK. SPDX-License-Identifier: MIT
# shellcheck disable=SC2034 # the names are for those who source this
source=$1 work=$2 prog=$3 shim=$4 recover=$5 convert=$6

fail() {
    printf 'FAILED: %s\n' "$*" >&2
    exit 1
}

skip() {
    printf 'skipped: %s\n' "$*"
    exit 77
}

# Settings of whoever runs the tests must not change what is recorded.
while read -r name; do
    case $name in
    PERFTRACE_TEST_REQUIRE_ALL) ;;
    *) unset "$name" ;;
    esac
done < <(compgen -e PERFTRACE_)
export PERFTRACE_LOG_STDERR=1
# Rings of their own, best in memory.
if [ -z "${FAULT_RINGS-}" ]; then
    FAULT_RINGS=$(mktemp -d /dev/shm/perftrace-fault-XXXXXX 2>/dev/null || mktemp -d)
    export FAULT_RINGS
fi
place=
trap 'rm -rf "$FAULT_RINGS" "$place"' EXIT
export PERFTRACE_RING_DIR=$FAULT_RINGS
ulimit -c 0
chmod -R u+rwx "$work" 2>/dev/null
rm -rf "$work"
mkdir -p "$work"
cd "$work" || exit 1

# expect WHAT FOUND WANTED
expect() {
    [ "$2" = "$3" ] || fail "$1: $2 instead of $3"
    printf '%s: %s\n' "$1" "$2"
}

# How many events of the given name the files hold.
events() {
    local name=$1
    shift
    cat "$@" | grep -c "^{\"name\": \"$name\", \"ph\": \"[^MB]\""
}

# A number of the last footer of a file: footer emitted FILE.
footer() {
    grep '^{"name": "perftrace_footer"' "$2" | tail -n 1 | sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p"
}

# Files are strict and their accounts right.
strict() {
    if command -v node >/dev/null; then
        node "$source/tests/checker/check_jsonl.js" "$@" >strict.log || fail "not strict: $*"
    elif [ -n "${PERFTRACE_TEST_REQUIRE_ALL-}" ]; then
        fail "node is missing"
    fi
}

wait_ready() {
    local tries=0
    until grep -q ready "$1" 2>/dev/null; do
        tries=$((tries + 1))
        [ "$tries" -lt 1000 ] || fail "the program does not come to its end"
        sleep 0.02
    done
}

milliseconds() {
    printf '%s\n' "$(($(date +%s%N) / 1000000))"
}
