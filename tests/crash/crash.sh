#!/usr/bin/env bash
# crash.sh SOURCE WORK MODE TEST WRITER RECOVER CONVERT [COUNT]: one mode of crash_test, then an
# independent checker over recovered files. SPDX-License-Identifier: MIT
set -u
source=$1 work=$2 mode=$3 test=$4 writer=$5 recover=$6 convert=$7 count=${8-0}

# Settings of whoever runs the tests must not change what is recorded.
while read -r name; do
    case $name in
    PERFTRACE_TEST_*) ;;
    *) unset "$name" ;;
    esac
done < <(compgen -e PERFTRACE_)
unset PERFTRACE_TEST_KILL

rm -rf "$work"
mkdir -p "$work/keep" "$work/place"
ulimit -c 0
"$test" "$mode" "$writer" "$recover" "$convert" "$work/place" "$work/keep" "$count" || exit 1

kept=("$work"/keep/*.jsonl)
if [ ! -e "${kept[0]}" ]; then
    exit 0
fi
if command -v node >/dev/null; then
    node "$source/tests/checker/check_jsonl.js" "${kept[@]}" >"$work/check.log" || exit 1
    printf '%s files are strict\n' "${#kept[@]}"
elif [ -n "${PERFTRACE_TEST_REQUIRE_ALL-}" ]; then
    printf 'node is missing\n' >&2
    exit 1
fi
rm -rf "$work"
