#!/usr/bin/env bash
# memory.sh: programs that may have little address space. SPDX-License-Identifier: MIT
set -u
# shellcheck source=tests/fault/fault_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/fault_lib.sh"
export PERFTRACE_RANK=0

# From too little for the tracer to enough for all of it: the program never notices, and what is not
# in the file is told.
off=0 all=0
for kib in $(seq 6000 2000 60000) 100000 200000; do
    dir=limit-$kib
    (
        ulimit -v "$kib"
        PERFTRACE_DIR=$dir exec "$prog" ticks 1000 0 return 2>"$dir.log"
    )
    status=$?
    # Less than the program itself needs: the loader says so.
    if [ "$status" -eq 127 ]; then
        continue
    fi
    [ "$status" -eq 0 ] || fail "$kib KiB: exit status $status: $(cat "$dir.log")"
    if grep -q 'error: tracing is off: ' "$dir.log"; then
        off=$((off + 1))
        [ -z "$(find "$dir" -name '*.jsonl' 2>/dev/null)" ] || fail "$kib KiB: a file of no run"
        continue
    fi
    file=$dir/traces-r0.jsonl
    [ -s "$file" ] || fail "$kib KiB: no trace, and nothing is said: $(cat "$dir.log")"
    strict "$file"
    kept=$(events tick "$file")
    [ "$(footer emitted "$file")" = 1000 ] || fail "$kib KiB: emitted $(footer emitted "$file")"
    if [ "$kept" -eq 1000 ]; then
        all=$((all + 1))
    else
        grep -q "wrote $kept events to .*; lost: .*$((1000 - kept)) " "$dir.log" ||
            fail "$kib KiB: $kept events, and the loss is not told: $(cat "$dir.log")"
    fi
done
printf '%s times off, %s times complete\n' "$off" "$all"
[ "$off" -gt 0 ] || fail "no limit was too low"
[ "$all" -gt 0 ] || fail "no limit was high enough"
