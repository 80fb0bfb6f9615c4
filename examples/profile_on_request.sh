#!/usr/bin/env bash
# profile_on_request.sh [BUILD [OUT [STEPS]]]: a job that waits until it is told to go on, profiled
# from outside for some of its steps, without a change to the program. BUILD: build/demo unless
# given.
# SPDX-License-Identifier: MIT
set -eu
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${1:-$root/build/demo}
out=${2:-$root/build/demo-out/profiled}
ctl=$build/bin/perf-trace-ctl
ranks=2 steps=${3:-200}
if ! [ -x "$ctl" ]; then
    echo "${0##*/}: there is no build in $build: run examples/demo.sh, or name one" >&2
    exit 1
fi
rm -rf "$out"
mkdir -p "$out"

# Linux perf where the kernel lets it; self records categories that are off otherwise.
profiler=self
if perf record -o /dev/null true >/dev/null 2>&1; then
    profiler=self,perf
fi

echo "== 1: start the job; it sets itself up and then waits"
export PERFTRACE_DIR=$out PERFTRACE_HOLD=1 PERFTRACE_CONTROL=on
export PERFTRACE_PROFILER=$profiler PERFTRACE_PROFILER_CATEGORIES=comm
"$build/examples/train/train_fork" --ranks "$ranks" --steps "$steps" \
    --checkpoint "$out/checkpoint.bin" "$root"/include/perftrace/*.h >"$out/log" 2>&1 &
job=$!
trap 'kill "$job" 2>/dev/null || true' EXIT

echo "== 2: until every rank answers"
"$ctl" wait --run-dir "$out" --timeout 60s

echo "== 3: where they listen, and what they wait for"
cat "$out"/control-r*.endpoint
"$ctl" status --run-dir "$out"

echo "== 4: can they be profiled?"
"$ctl" check --run-dir "$out"

echo "== 5: go on, and profile 20 steps from step 10 on"
"$ctl" start --run-dir "$out" --start-step 10 --num-steps 20

echo "== 6: the job trains; what is each rank in?"
until "$ctl" status --run-dir "$out" --json | grep -qE 'recording from|window'; do
    kill -0 "$job" # it has not ended too early
    sleep 0.05
done
"$ctl" scopes --run-dir "$out"

echo "== 7: until the window is over; a stop then finds nothing to stop"
until [ "$("$ctl" status --run-dir "$out" --json | grep -c 'window saved')" = "$ranks" ]; do
    kill -0 "$job"
    sleep 0.05
done
if [ "$profiler" != self ]; then
    "$ctl" wait --wait-files "$out/profiles" --files "$ranks" --timeout 60s
fi
"$ctl" stop --run-dir "$out"

echo "== 8: what it caught"
"$ctl" flush --run-dir "$out"
wait "$job"
trap - EXIT
"$build/bin/perf-trace-convert" "$out"/traces-r*.jsonl -o "$out/trace.json"
ls "$out" "$out"/profiles 2>/dev/null || true
echo "open $out/trace.json in Perfetto; profiles/*.collapsed.txt in speedscope"
