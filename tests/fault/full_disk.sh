#!/usr/bin/env bash
# full_disk.sh: PT-54 and more, disks that are full or turn read-only. SPDX-License-Identifier: MIT
set -u
# shellcheck source=tests/fault/fault_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/fault_lib.sh"

[ "$(id -u)" -eq 0 ] || skip "mounting a small disk needs root"
# A mount of our own that nobody else sees and that goes with this process.
if [ -z "${FAULT_MOUNTED-}" ]; then
    unshare -m true 2>/dev/null || skip "no mount namespace can be made here"
    FAULT_MOUNTED=1 exec unshare -m bash "${BASH_SOURCE[0]}" "$@"
fi
mkdir small
mount -t tmpfs -o size=1m tmpfs small || skip "no small disk can be mounted here"
tools_limit=60 # seconds; nothing may hang

# The library: full after a while, then a filler goes.
head -c 600k /dev/zero >small/filler
PERFTRACE_DIR=$work/small/out PERFTRACE_RANK=0 PERFTRACE_FLUSH_MS=10 PERFTRACE_RING_SIZE=64K \
    timeout $tools_limit "$prog" filler small/filler 2>full.log || fail "exit status $?"
file=small/out/traces-r0.jsonl
cat full.log
expect "warnings" "$(grep -c 'perftrace: warning' full.log)" 1
expect "errors" "$(grep -c 'perftrace: error' full.log)" 0
expect "emitted" "$(footer emitted "$file")" 101000
expect "events after the disk had room again" "$(events later "$file")" 1000
[ "$(footer ring_full "$file")" -gt 0 ] || fail "no loss is stated"
grep -q '"name": "perftrace_drop"' "$file" || fail "no drop record"
strict "$file"

# Full to the end: the file ends with a whole line, recovery completes it elsewhere in time.
rm -rf small/out small/filler
head -c 900k /dev/zero >small/filler
PERFTRACE_DIR=$work/small/out PERFTRACE_RANK=0 PERFTRACE_FLUSH_MS=10 \
    timeout $tools_limit "$prog" ticks 20000 1 return 2>full2.log || fail "exit status $?"
grep -E 'error: the end of .* could not be written \(No space left' full2.log ||
    fail "the message is missing"
[ -z "$(tail -c 1 "$file" | tr -d '\n')" ] || fail "the file ends with a torn line"
"$recover" small/out && fail "recovery cannot work on a full disk"
[ "$("$recover" small/out >/dev/null 2>&1; echo $?)" -eq 4 ] || fail "exit status of recovery"
rm small/filler
before=$(events tick "$file")
mount -o remount,size=16m small
"$recover" small/out || fail "recovery fails"
printf '%s events before recovery\n' "$before"
expect "emitted" "$(footer emitted "$file")" 20000
strict "$file"

# The converter: 10 MB onto 1 MiB.
rm -rf small/*
mount -o remount,size=1m small
PERFTRACE_DIR=$work/big PERFTRACE_RANK=0 PERFTRACE_OVERFLOW=block "$prog" ticks 90000 0 return \
    2>/dev/null || fail "exit status $?"
[ "$(stat -c %s big/traces-r0.jsonl)" -gt 10000000 ] || fail "the input is too small"
timeout $tools_limit "$convert" big -o small/merged.json 2>convert.log && fail "the converter says nothing"
cat convert.log
expect "what is left on the disk" "$(find small -type f | wc -l)" 0

# A ring directory without room for a ring: another is taken, and said so.
head -c 700k /dev/zero >small/filler
PERFTRACE_DIR=$work/other PERFTRACE_RING_DIR=$work/small PERFTRACE_RANK=0 \
    "$prog" ticks 100 0 wait >other.out 2>other.log &
pid=$!
wait_ready other.out
kill -9 $pid
wait $pid 2>/dev/null
grep 'there is no room for a ring file in' other.log || fail "nothing is said about the ring"
"$recover" other || fail "recovery fails"
expect "events with a ring elsewhere" "$(events tick other/traces-r0.jsonl)" 100

# Turned read-only while it runs, then writable again.
rm -rf small/*
mount -o remount,size=16m small
PERFTRACE_DIR=$work/small/out PERFTRACE_RANK=0 PERFTRACE_FLUSH_MS=10 \
    "$prog" ticks 200 5000 return >ro.out 2>ro.log &
pid=$!
sleep 0.3
if mount -o remount,ro small 2>/dev/null; then
    sleep 0.2
    mount -o remount,rw small
else
    printf 'a file that is open for writing keeps the disk writable here\n'
fi
wait $pid || fail "exit status $?"
expect "events over a read-only time" "$(events tick small/out/traces-r0.jsonl)" 200
strict small/out/traces-r0.jsonl
