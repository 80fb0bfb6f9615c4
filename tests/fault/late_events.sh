#!/usr/bin/env bash
# late_events.sh WORK PROGRAM CHECKER RUNS [BRIEF]: PT-52, events while and after main returns. BRIEF
# runs with PERFTRACE_TEST_BRIEF.
# SPDX-License-Identifier: MIT
set -u
work=$1 program=$2 checker=$3 runs=$4
[ -z "${PERFTRACE_TEST_BRIEF-}" ] || runs=${5-$runs}
rm -rf "$work"
mkdir -p "$work"
cd "$work" || exit 1

# ThreadSanitizer's own pause at exit would make minutes of it.
export TSAN_OPTIONS=${TSAN_OPTIONS:+$TSAN_OPTIONS:}atexit_sleep_ms=20
slowest=0
for ((i = 1; i <= runs; i++)); do
    begin=${EPOCHREALTIME/[.,]/}
    PERFTRACE_DIR=$work/$((i % 2)) PERFTRACE_RANK=$i PERFTRACE_LOG_STDERR=1 "$program" \
        2>run.log >&2 </dev/null
    status=$?
    took=$(((${EPOCHREALTIME/[.,]/} - begin) / 1000))
    [ "$took" -le "$slowest" ] || slowest=$took
    if [ $status -ne 0 ]; then
        tail -n 50 run.log
        printf 'run %d: exit status %d\n' "$i" "$status" >&2
        exit 1
    fi
done
printf '%d runs, the slowest took %d ms\n' "$runs" "$slowest"
# 1 s is what a user would accept; a loaded machine and sanitizers get more.
[ "$slowest" -lt 10000 ] || exit 1
files=(0/*.jsonl 1/*.jsonl)
[ "${#files[@]}" -eq "$runs" ] || { printf '%d files\n' "${#files[@]}" >&2; exit 1; }
links=(0/*.ring 1/*.ring)
[ ! -L "${links[0]}" ] && [ ! -L "${links[1]}" ] || exit 1
if command -v node >/dev/null; then
    node "$checker" "${files[@]:0:40}" >strict.log || exit 1
fi
rm -rf "$work"
