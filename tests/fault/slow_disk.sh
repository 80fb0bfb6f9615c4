#!/usr/bin/env bash
# slow_disk.sh: PT-32, each write takes 2 s longer. SPDX-License-Identifier: MIT
set -u
# shellcheck source=tests/fault/fault_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/fault_lib.sh"

good=
for attempt in 1 2 3 4; do
    read -r bare _ _ < <(PERFTRACE_ENABLED=0 "$prog" steps)
    read -r p99 shutdown resident < <(LD_PRELOAD=$shim FAULT_DELAY_MS=2000 PERFTRACE_RANK=0 \
        PERFTRACE_DIR=$work/$attempt PERFTRACE_FLUSH_MS=50 "$prog" steps 2>"$attempt.log")
    printf 'p99 of a step %s us (%s us without tracing), shutdown %s ms, %s KiB resident\n' \
        "$p99" "$bare" "$shutdown" "$resident"
    # On a busy machine the bare loop is late too.
    if [ "$p99" -le 12000 ] || [ "$p99" -le "$((bare + bare / 4))" ]; then
        good=yes
        break
    fi
done
[ -n "$good" ] || fail "steps are slowed down"
[ "$shutdown" -lt 4000 ] || fail "shutdown took $shutdown ms"
# Two rings of 1 MiB, what is written next, the program itself.
[ "$resident" -lt 16384 ] || fail "$resident KiB are resident"
grep -E 'could not be finished within 3000 ms: [0-9]+ events were not written' "$attempt.log" ||
    fail "shutdown does not say what was not written"
left=$(sed -n 's/.* ms: \([0-9]*\) events were not written.*/\1/p' "$attempt.log")
file=$work/$attempt/traces-r0.jsonl
before=$(events part "$file")
"$recover" "$attempt" || fail "recovery fails"
expect "events after recovery ($before written in time, $left reported)" \
    "$(events part "$file")" 10000
[ "$((before + left))" -ge 10000 ] || fail "the message counts too few events"
strict "$file"
