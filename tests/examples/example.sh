#!/usr/bin/env bash
# example.sh SOURCE WORK CONVERT FILES COMMAND...: runs an example with its trace in WORK/out and
# checks what it leaves: so many trace files, nothing lost, converted to a strict trace.
# SPDX-License-Identifier: MIT
set -u
source=$1 work=$2 convert=$3 files=$4
shift 4
rm -rf "$work"
mkdir -p "$work"

fail() {
    printf 'example: %s\n' "$*" >&2
    exit 1
}

# Settings of whoever runs the tests must not change what is recorded.
while read -r name; do
    case $name in
    PERFTRACE_TEST_*) ;;
    *) unset "$name" ;;
    esac
done < <(compgen -e PERFTRACE_)
cd "$work" || exit 1
PERFTRACE_DIR=$work/out "$@" || fail "exit status $?"

found=("$work"/out/traces-*.jsonl)
[ "${#found[@]}" -eq "$files" ] || fail "$files trace files expected, there are: ${found[*]}"
for file in "${found[@]}"; do
    footer=$(grep '"name": "perftrace_footer"' "$file" | tail -n 1)
    emitted=$(sed -n 's/.*"emitted": \([0-9]*\).*/\1/p' <<<"$footer")
    written=$(sed -n 's/.*"written": \([0-9]*\).*/\1/p' <<<"$footer")
    [ -n "$emitted" ] || fail "$file has no footer"
    [ "$emitted" = "$written" ] || fail "$file: $emitted emitted, $written written"
    printf '%s: %s events\n' "${file##*/}" "$written"
done

"$convert" "${found[@]}" -o "$work/trace.json" || fail "the converter exits with $?"
if command -v node >/dev/null; then
    node "$source/tests/checker/check_jsonl.js" "${found[@]}" || fail "a rank file is not strict"
    node "$source/tests/checker/check_trace.js" "$work/trace.json" || fail "the trace is not strict"
elif [ -n "${PERFTRACE_TEST_REQUIRE_ALL-}" ]; then
    fail "node is missing"
fi
