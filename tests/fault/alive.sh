#!/usr/bin/env bash
# alive.sh: no ring is taken from a process that lives, whether it can be seen or not.
# SPDX-License-Identifier: MIT
set -u
# shellcheck source=tests/fault/fault_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/fault_lib.sh"
export PERFTRACE_RANK=0

# The first thread has ended, another records.
PERFTRACE_DIR=$work/leader PERFTRACE_FLUSH_MS=20 "$prog" leader >leader.out 2>leader.log &
pid=$!
wait_ready leader.out
"$recover" leader || fail "recovery minds a running process"
"$recover" --list leader | grep -q "running" || fail "it is not listed as running"
"$recover" leader/traces-r0.ring 2>named.log
expect "exit status for a named ring of a running process" "$?" 3
PERFTRACE_DIR=$work/leader "$prog" ticks 5 0 return 2>/dev/null || fail "exit status $?"
wait $pid || fail "exit status $?"
expect "events" "$(events tick leader/traces-r0.jsonl)" 301
expect "events of the second" "$(events tick leader/traces-r0.1.jsonl)" 5
strict leader/*.jsonl

# A ring that says it was made on another machine: only with --force.
PERFTRACE_DIR=$work/far PERFTRACE_FLUSH_MS=60000 "$prog" ticks 50 0 wait >far.out 2>far.log &
pid=$!
wait_ready far.out
kill -9 $pid
wait $pid 2>/dev/null
ring=$(readlink far/traces-r0.ring)
boot=$(cat /proc/sys/kernel/random/boot_id)
host=$(hostname 2>/dev/null || cat /proc/sys/kernel/hostname)
cp "$ring" ring
LC_ALL=C sed -i -e "s/$boot/00000000-0000-0000-0000-000000000000/" \
    -e "s/\x00$host\x00/\x00$(printf '%s' "$host" | tr '[:print:]' Z)\x00/" ring
cat ring >"$ring"
"$recover" far 2>hidden.log
expect "exit status for a ring of another machine" "$?" 3
grep -q "another machine" hidden.log || fail "the reason is not given: $(cat hidden.log)"
"$recover" --force far || fail "recovery by force fails"
expect "events" "$(events tick far/traces-r0.jsonl)" 50
strict far/traces-r0.jsonl

# Another container with the same /dev/shm: pids say nothing there.
if ! unshare -pf true 2>/dev/null; then
    printf 'no pid namespace can be made here\n'
    exit 0
fi
PERFTRACE_DIR=$work/box unshare -pf --kill-child "$prog" ticks 150 10000 return 2>box.log &
pid=$!
sleep 0.7
"$recover" box 2>hidden.log
expect "exit status for a ring of another container" "$?" 3
PERFTRACE_DIR=$work/box "$prog" ticks 5 0 return 2>/dev/null || fail "exit status $?"
wait $pid || fail "exit status $?"
expect "events in the container" "$(events tick box/traces-r0.jsonl)" 150
strict box/*.jsonl
