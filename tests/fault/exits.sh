#!/usr/bin/env bash
# exits.sh: PT-05 and SIGTERM: nothing is lost however a program ends. SPDX-License-Identifier: MIT
set -u
# shellcheck source=tests/fault/fault_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/fault_lib.sh"

# one NAME END SIGNAL STATUS: 200 scopes in 2 s, then the end.
one() {
    local name=$1 end=$2 signal=$3 want=$4 status begin
    "$prog" ticks 200 10000 "$end" >"$name.out" 2>"$name.log" &
    local pid=$!
    if [ "$signal" != none ]; then
        wait_ready "$name.out"
        begin=$(milliseconds)
        kill "-$signal" "$pid"
    fi
    wait "$pid" 2>/dev/null
    status=$?
    if [ "$signal" != none ] && [ "$(($(milliseconds) - begin))" -gt 4000 ]; then
        printf 'the end took more than 4 s\n' >"$name.bad"
    fi
    [ "$status" = "$want" ] || printf 'exit status %s, not %s\n' "$status" "$want" >"$name.bad"
}

start() {
    local name=$1
    PERFTRACE_RANK=0 PERFTRACE_DIR=$work/$name PERFTRACE_SIGTERM=$5 one "$1" "$2" "$3" "$4" &
}

start return return none 0 0
start exit-thread exit-thread none 0 0
start _exit _exit none 0 0
start term-default wait TERM 143 0
start term-opted wait TERM 143 1
start term-chained handler TERM 5 1
start term-own handler TERM 5 0
start kill wait KILL 137 0
wait

for name in return exit-thread _exit term-default term-opted term-chained term-own kill; do
    file=$name/traces-r0.jsonl
    [ ! -e "$name.bad" ] || fail "$name: $(cat "$name.bad")"
    before=$(events tick "$file")
    case $name in
    return | exit-thread | term-opted | term-chained | term-own)
        expect "$name: events before recovery" "$before" 200
        strict "$file"
        ;;
    *)
        [ "$before" -ge 170 ] || fail "$name: only $before of 200 events before recovery"
        "$recover" "$name" >"$name.recovered" || fail "$name: recovery fails"
        expect "$name: events after recovery ($before before)" "$(events tick "$file")" 200
        strict "$file"
        ;;
    esac
    rings=("$name"/*.ring)
    if [ -L "${rings[0]}" ]; then fail "$name: a link is left"; fi
done
