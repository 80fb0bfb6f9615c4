#!/usr/bin/env bash
# descriptors.sh: programs that close what is not theirs, start without standard streams, or may not
# write large files. SPDX-License-Identifier: MIT
set -u
# shellcheck source=tests/fault/fault_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/fault_lib.sh"
export PERFTRACE_RANK=0

# The library's descriptors are closed and mean other files now: these stay as they are, and every
# event is in the trace.
PERFTRACE_DIR=closes "$prog" closes >closes.out 2>closes.log || fail "closes: exit status $?"
expect "files of the program that are as it left them" "$(cat closes.out)" 8
expect "events of a program that closes everything" "$(events tick closes/traces-r0.jsonl)" 400
expect "emitted" "$(footer emitted closes/traces-r0.jsonl)" 400
strict closes/traces-r0.jsonl

# What the program prints goes nowhere, least of all into the trace or the ring.
for closed in '<&-' '>&-' '2>&-' '<&- >&- 2>&-'; do
    rm -rf streams
    PERFTRACE_LOG_STDERR=0 PERFTRACE_DIR=streams bash -c "exec \"\$0\" streams $closed" "$prog" \
        >streams.out 2>&1 || fail "streams $closed: exit status $?"
    expect "events of a program started with $closed" "$(events tick streams/traces-r0.jsonl)" 100
    ! grep -q 'of the program' streams/traces-r0.jsonl || fail "$closed: prints are in the trace"
    strict streams/traces-r0.jsonl
done

# A limit on the size of files (the signal that comes with it would kill): below the size of a ring
# the rings lie in memory; the trace ends at the limit and a message says how much is missing.
(
    ulimit -f 64
    PERFTRACE_DIR=limit-low "$prog" ticks 1000 0 return 2>limit-low.log
) || fail "a low limit on file sizes: exit status $?"
grep -q 'no ring file could be made' limit-low.log || fail "the ring: $(cat limit-low.log)"
grep -q 'File too large' limit-low.log || fail "the reason is not named: $(cat limit-low.log)"
lost=$(sed -n 's/.* \([0-9]*\) events were not written; they are lost.*/\1/p' limit-low.log)
expect "written and lost" "$(($(events tick limit-low/traces-r0.jsonl) + lost))" 1000
[ -z "$(tail -c 1 limit-low/traces-r0.jsonl | tr -d '\n')" ] || fail "the file ends with a torn line"
(
    ulimit -f 64
    PERFTRACE_DIR=limit-fits "$prog" ticks 100 0 return 2>limit-fits.log
) || fail "a low limit on file sizes: exit status $?"
expect "emitted below the limit" "$(footer emitted limit-fits/traces-r0.jsonl)" 100
strict limit-fits/traces-r0.jsonl
(
    ulimit -f 20480
    PERFTRACE_RING_SIZE=65536 PERFTRACE_OVERFLOW=block PERFTRACE_BLOCK_MS=3000 \
        PERFTRACE_DIR=limit "$prog" ticks 200000 0 return 2>limit.log
) || fail "a limit on file sizes: exit status $?"
grep -q 'File too large' limit.log || fail "the reason is not named: $(cat limit.log)"
"$recover" limit >recovered.log || fail "recovery: exit status $?"
strict limit/traces-r0.jsonl
expect "emitted" "$(footer emitted limit/traces-r0.jsonl)" 200000
