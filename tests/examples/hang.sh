#!/usr/bin/env bash
# hang.sh SOURCE BUILD WORK: runs the session of examples/hang.sh and checks whom it names.
# SPDX-License-Identifier: MIT
set -u
source=$1 build=$2 work=$3

fail() {
    printf 'hang: %s\n' "$*" >&2
    exit 1
}

while read -r name; do
    case $name in
    PERFTRACE_TEST_*) ;;
    *) unset "$name" ;;
    esac
done < <(compgen -e PERFTRACE_)
text=$(bash "$source/examples/hang.sh" "$build" "$work" 2>&1) || fail "exit status $?: $text"
printf '%s\n' "$text"

says() {
    grep -qE -- "$1" <<<"$text" || fail "it does not say: $1"
}
says '^ +all_reduce +3 +0-1,3 +waiting '
says '^ +3 +2 +not there: running .* train\.step > load_batch$'
says '^ +3 +2 +not there: dead .* train\.step > load_batch$'
left=$("$build/bin/perf-trace-recover" --list "$work" 2>/dev/null)
[ -z "$left" ] || fail "it left rings of its killed ranks: $left"
for rank in 0 1 2 3; do
    grep -q '"name": "perftrace_footer"' "$work/traces-r$rank.jsonl" || fail "rank $rank's trace was not finished"
done
