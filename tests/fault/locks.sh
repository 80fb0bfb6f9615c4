#!/usr/bin/env bash
# locks.sh: PT-49, a shared file system without locks. SPDX-License-Identifier: MIT
set -u
# shellcheck source=tests/fault/fault_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/fault_lib.sh"

export LD_PRELOAD=$shim FAULT_LOCK_LOG=$work/locks
for rank in 0 1 2 3; do
    PERFTRACE_DIR=$work/out PERFTRACE_RANK=$rank PERFTRACE_WORLD_SIZE=4 \
        "$prog" ticks 1000 0 return 2>"$rank.log" &
done
wait
cat ./*.log | grep -E 'error|warning' && fail "there are messages"
expect "events of 4 ranks" "$(events tick out/traces-r*.jsonl)" 4000
"$convert" out -o merged.json 2>convert.log || fail "the converter fails"
"$convert" --check out 2>>convert.log || fail "the check fails"
"$recover" -r out 2>>convert.log || fail "the recovery fails"
grep -iwE 'error|locks?|locking' convert.log && fail "the tools complain"
unset LD_PRELOAD
expect "events merged" "$(grep -o '"name": *"tick"' merged.json | wc -l)" 4000
[ ! -e locks ] || fail "lock calls were made: $(sort locks | uniq -c | head -n 5)"
printf 'no lock call\n'
