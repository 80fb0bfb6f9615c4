#!/usr/bin/env bash
# vanish.sh: PT-36, PT-59 and more, files and directories that others touch. SPDX-License-Identifier: MIT
set -u
# shellcheck source=tests/fault/fault_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/fault_lib.sh"
export PERFTRACE_RANK=0

# The directory is removed while the program runs: it goes on in a new one, and counts.
PERFTRACE_DIR=$work/gone PERFTRACE_FLUSH_MS=20 "$prog" ticks 300 5000 return 2>gone.log &
pid=$!
sleep 0.7
rm -rf gone
wait $pid || fail "exit status $?"
file=gone/traces-r0.jsonl
kept=$(events tick "$file")
expect "emitted" "$(footer emitted "$file")" 300
expect "lost with the old file, and kept" "$(($(footer file_gone "$file") + kept))" 300
grep -q 'was removed while it was written; going on in' gone.log || fail "nothing is said"
strict "$file"

# The directory is renamed: the file goes with it.
PERFTRACE_DIR=$work/moved PERFTRACE_FLUSH_MS=20 "$prog" ticks 100 5000 wait >moved.out 2>moved.log &
pid=$!
sleep 0.3
mv moved kept
wait_ready moved.out
kill -9 $pid
wait $pid 2>/dev/null
"$recover" kept || fail "recovery fails"
expect "events in a directory that was renamed" "$(events tick kept/traces-r0.jsonl)" 100
strict kept/traces-r0.jsonl

# The trace of a killed program is gone: what the ring holds is saved, the rest is counted.
PERFTRACE_DIR=$work/lost PERFTRACE_FLUSH_MS=20 "$prog" ticks 100 2000 wait >lost.out 2>lost.log &
pid=$!
wait_ready lost.out
kill -9 $pid
wait $pid 2>/dev/null
rm lost/traces-r0.jsonl
"$recover" lost
expect "exit status of a recovery that lacks something" "$?" 1
expect "emitted" "$(footer emitted lost/traces-r0.jsonl)" 100
strict lost/traces-r0.jsonl

# A file that ends with half a record, of a run long ago: not touched.
mkdir torn
printf '{"name": "old", "ph": "X", "ts": 1.000, "dur": 1.0' >torn/traces-r0.jsonl
cp torn/traces-r0.jsonl old
PERFTRACE_DIR=$work/torn "$prog" ticks 5 0 return 2>torn.log || fail "exit status $?"
cmp old torn/traces-r0.jsonl || fail "old bytes were touched"
expect "new events beside a torn file" "$(events tick torn/traces-r0.1.jsonl)" 5
"$convert" torn -o torn.json 2>convert.log || fail "the converter fails"
expect "events merged" "$(grep -o '"name": *"tick"' torn.json | wc -l)" 5

# Two processes with one rank in one directory.
for i in 1 2; do
    PERFTRACE_DIR=$work/twice "$prog" ticks 1000 10 return 2>"twice-$i.log" &
done
wait
files=(twice/traces-r0*.jsonl)
expect "files of two processes" "${#files[@]}" 2
expect "their events" "$(events tick "${files[@]}")" 2000
strict "${files[@]}"
cat twice-*.log | grep -E 'error|warning' && fail "there are messages"

# 50 children in one directory.
PERFTRACE_DIR=$work/forks "$prog" forks 50 2>forks.log || fail "$? children failed"
files=(forks/traces-r0*.jsonl)
expect "files of a parent and 50 children" "${#files[@]}" 51
expect "their events" "$(events tick "${files[@]}")" $((51 + 50 * 20))
strict "${files[@]}"
grep -E 'error|warning' forks.log && fail "there are messages"
links=(forks/*.ring)
if [ -L "${links[0]}" ]; then fail "a link is left"; fi

# Started, stopped and started again.
expect "starts" "$(PERFTRACE_DIR=$work/again "$prog" again 2>again.log)" "0 0 0"
files=(again/traces-r0*.jsonl)
expect "files of three starts" "${#files[@]}" 3
expect "their events" "$(events tick "${files[@]}")" 300
strict "${files[@]}"

# Four processes with one rank start 50 times each: every run has a file of its own, and nothing but
# that run in it.
for i in 1 2 3 4; do
    PERFTRACE_DIR=$work/clash "$prog" starts 50 2>"clash-$i.log" &
done
wait
files=(clash/traces-r0*.jsonl)
expect "files of 200 runs" "${#files[@]}" 200
expect "their events" "$(events tick "${files[@]}")" 600
for file in "${files[@]}"; do
    sed -n 's/^{"name": "tick".*"pid": \([0-9]*\),.*"n": \([0-9]*\).*/\1 \2/p' "$file" | sort -u
done >runs
expect "runs with a file" "$(wc -l <runs)" 200
expect "different runs" "$(sort -u runs | wc -l)" 200
strict "${files[@]}"
