#!/usr/bin/env bash
# hang.sh [BUILD [OUT]]: a job of four ranks hangs, since one of them never comes to the all-reduce.
# What is each rank in, and who is missing? BUILD: build/demo unless given.
# SPDX-License-Identifier: MIT
set -eu
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${1:-$root/build/demo}
out=${2:-$root/build/demo-out/hang}
live=$build/bin/perf-trace-live
ranks=4
if ! [ -x "$live" ]; then
    echo "${0##*/}: there is no build in $build: run examples/demo.sh, or name one" >&2
    exit 1
fi
rm -rf "$out"
mkdir -p "$out"

echo "== 1: start the job; rank 2 waits for a batch that does not come"
jobs=()
end() { # of what is killed the rings are left, until somebody finishes the traces from them
    kill -9 "${jobs[@]}" && wait "${jobs[@]}"
    "$build/bin/perf-trace-recover" -q "$out"
} >/dev/null 2>&1
trap 'end || true' EXIT
for rank in $(seq 0 $((ranks - 1))); do
    RANK=$rank WORLD_SIZE=$ranks PERFTRACE_DIR=$out "$build/examples/example_08_hang" >/dev/null &
    jobs+=($!)
done

echo "== 2: what is everybody in?"
until [ "$("$live" --once --json "$out" 2>/dev/null | grep -o '"name": "train.step"' | wc -l)" = "$ranks" ]; do
    kill -0 "${jobs[0]}"
    sleep 0.1
done
"$live" --once "$out"

echo "== 3: who stands still, and who has not come?"
sleep 1
status=0
"$live" --once --stuck 0.5 "$out" || status=$?
[ "$status" = 1 ] # something is stuck

echo "== 4: rank 2 is killed; it is shown as it ended, and the others go on waiting"
{ kill -9 "${jobs[2]}" && wait "${jobs[2]}"; } 2>/dev/null || true
status=0
"$live" --once --stuck 0.5 "$out" || status=$?
[ "$status" = 1 ]
echo "docs/LIVE.md says what to make of it"
