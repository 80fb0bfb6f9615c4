#!/usr/bin/env bash
# stall.sh: PT-17, the writer is blocked and the ring overflows. SPDX-License-Identifier: MIT
set -u
# shellcheck source=tests/fault/fault_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/fault_lib.sh"

good=
for attempt in 1 2 3 4 5; do
    dir=$work/$attempt
    read -r traced bare < <(LD_PRELOAD=$shim FAULT_BLOCK=$work/block PERFTRACE_DIR=$dir \
        PERFTRACE_RANK=0 PERFTRACE_RING_SIZE=64K PERFTRACE_FLUSH_MS=1 \
        "$prog" stall "$work/block" 2>"$attempt.log") || fail "the program fails"
    file=$dir/traces-r0.jsonl
    written=$(footer written "$file")
    emitted=$(footer emitted "$file")
    dropped=$(footer ring_full "$file")
    expect "emitted" "$emitted" 10010
    expect "written and dropped" "$((written + dropped))" 10010
    expect "the last ones" "$(events afterwards "$file")" 10
    [ "$dropped" -gt 5000 ] || fail "only $dropped were dropped: the ring is larger than thought"
    grep -q "wrote $written events to .*; lost: $dropped ring_full\$" "$attempt.log" ||
        fail "the last message does not tell the loss: $(cat "$attempt.log")"
    grep '"name": "perftrace_drop"' "$file" | grep '"cause": "ring_full"' |
        grep -qE '"count": [1-9][0-9]*, "first_ts": [0-9.]+, "last_ts": [0-9.]+' ||
        fail "no drop record"
    strict "$file"
    printf 'longest emit: %s ns, without tracing %s ns\n' "$traced" "$bare"
    # Anything can come between two clock readings on a busy machine: it is the tracer's fault only
    # when it happens each time.
    if [ "$traced" -lt 1000000 ]; then
        good=yes
        break
    fi
done
[ -n "$good" ] || fail "emitting took more than 1 ms in each of 5 runs"

"$convert" "$file" -o merged.json 2>convert.log || fail "the converter fails"
grep -qE "lost|dropped" convert.log || fail "the converter does not speak of the loss"
