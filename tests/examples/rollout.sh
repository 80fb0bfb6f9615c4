#!/usr/bin/env bash
# rollout.sh SOURCE WORK CONVERT FILES COMMAND...: example.sh, then the sessions: what the program
# says of them, their records and the converter's account must agree. SPDX-License-Identifier: MIT
set -u
source=$1 work=$2 convert=$3
mkdir -p "$(dirname "$work")"
bash "$source/tests/examples/example.sh" "$@" >"$work.log" 2>&1
status=$?
cat "$work.log"
[ "$status" -eq 0 ] || exit 1

fail() {
    printf 'rollout: %s\n' "$*" >&2
    exit 1
}

records=("$work"/out/sessions-*.jsonl)
count() {
    cat "${records[@]}" | grep -c -- "$1"
}
# said WORD: the sum over the program's lines, "rank 0: 26 accepted, ..."
said() {
    sed -n "s/^rank [0-9]*:.* \([0-9]*\) $1,.*/\1/p" "$work.log" | awk '{ sum += $1 } END { print sum + 0 }'
}
# "stuck" is the program's word for what nobody ends.
account=$("$convert" --check "$work"/out/traces-*.jsonl 2>&1 | grep ' sessions: ') ||
    fail "the converter finds no sessions"
printf '%s\n' "$account"
for status in accepted rejected failed dropped stuck; do
    record=$status end=$status
    if [ "$status" = stuck ]; then
        record=pending end=open
    fi
    n=$(said "$status")
    [ "$n" -gt 0 ] || fail "no session is $status"
    [ "$(count "\"status\": \"$record\"")" -eq "$n" ] ||
        fail "$n $status, $(count "\"status\": \"$record\"") $record in the records"
    case "$account," in
    *" $n $end,"*) ;;
    *) fail "$n $status, but the converter says: $account" ;;
    esac
done

for part in '"reason": "stale_weight"' '"reason": "tool_error"' '"reason": "enough"' \
    '"start": {"prompt_tokens": ' '"end": {"score": ' '"tokens": ' '"retries": ' \
    '"status": "pending".*"unfinished": {"toolcall": '; do
    [ "$(count "$part")" -gt 0 ] || fail "no record has $part"
done
# Each call of the tool is a span of its own, on whichever thread it ended.
[ "$(count '"toolcall": \[{[^]]*}, {')" -gt 0 ] || fail "no session calls its tool twice"

# The traces alone tell the same.
report() {
    "$PERFTRACE_SESSIONS" --json "$@" | sed 's/"record": "[^"]*"/"record": ""/g'
}
told=$(report "$work"/out/traces-*.jsonl)
[ -n "$told" ] || fail "the traces tell no sessions"
[ "$(report "${records[@]}")" = "$told" ] || fail "traces and records tell different sessions"
