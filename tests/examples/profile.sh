#!/usr/bin/env bash
# profile.sh SOURCE BUILD WORK STEPS: runs the session of examples/profile_on_request.sh and checks what it
# caught: a category that is off otherwise, in the steps that were asked for and no others; stacks
# where perf works; strict files. SPDX-License-Identifier: MIT
set -u
source=$1 build=$2 work=$3 steps=$4

fail() {
    printf 'profile: %s\n' "$*" >&2
    exit 1
}

while read -r name; do
    case $name in
    PERFTRACE_TEST_*) ;;
    *) unset "$name" ;;
    esac
done < <(compgen -e PERFTRACE_)
bash "$source/examples/profile_on_request.sh" "$build" "$work" "$steps" || fail "exit status $?"

for rank in 0 1; do
    file=$work/traces-r$rank.jsonl
    steps=$(grep '"cat": "comm"' "$file" | grep -o '"global_step": [0-9]*' | grep -o '[0-9]*$' |
        sort -nu | tr '\n' ' ')
    [ "$steps" = "$(seq 10 29 | tr '\n' ' ')" ] || fail "$file: comm was recorded in steps $steps"
    [ ! -e "$work/control-r$rank.endpoint" ] || fail "rank $rank left its endpoint file"
done
if [ -d "$work/profiles" ]; then
    stacks=("$work"/profiles/*_step10-29_rank?-of-2_*.collapsed.txt)
    [ "${#stacks[@]}" -eq 2 ] || fail "2 files of stacks expected, there are: ${stacks[*]}"
    for file in "${stacks[@]}"; do
        grep -qE '^[^ ].*;.* [0-9]+$' "$file" || fail "$file holds no stacks"
    done
else
    printf 'profile: perf does not work here; no stacks were looked at\n'
fi
if command -v node >/dev/null; then
    node "$source/tests/checker/check_jsonl.js" "$work"/traces-r*.jsonl || fail "a rank file is not strict"
    node "$source/tests/checker/check_trace.js" "$work/trace.json" || fail "the trace is not strict"
elif [ -n "${PERFTRACE_TEST_REQUIRE_ALL-}" ]; then
    fail "node is missing"
fi
