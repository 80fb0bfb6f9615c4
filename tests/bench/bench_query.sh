#!/usr/bin/env bash
# bench_query.sh BUILD [MB [ROUNDS]]: the table of scopes by name of MB (1000) of traces of 8 ranks, by
# perf-trace-analyze, by DuckDB (docs/QUERY.md) and by jq, in turn; medians of ROUNDS (3). The traces are made
# in BUILD and removed. For the record, no test. SPDX-License-Identifier: MIT
set -eu
# shellcheck source=tests/npm.sh
. "$(dirname "${BASH_SOURCE[0]}")/../npm.sh"
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
if [ $# -lt 1 ] || [ ! -x "$1/tests/bench/bench_generate" ]; then
    echo "usage: bench_query.sh BUILD [MB [ROUNDS]]; BUILD has the targets bench and perf-trace-analyze" >&2
    exit 2
fi
build=$(cd "$1" && pwd) mb=${2-1000} rounds=${3-3}

npm_fetch "$source/tests/query" "$build/tests/query" @duckdb/node-api >/dev/null
work=$(mktemp -d "$build/tests/bench/query.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/perftrace-out"
"$build/tests/bench/bench_generate" --dir "$work/perftrace-out" --bytes $((mb * 1000000)) --ranks 8
export PERFTRACE_NODE_MODULES=$build/tests/query/node_modules
cd "$work"
jq_names=$(awk '/^```/ { on = 0 } on { print } /^# jq events by name$/ { on = 1 }' "$source/docs/QUERY.md")
[ -n "$jq_names" ]

# measured NAME COMMAND...: adds "wall CPU MB" to NAME's lines.
measured() {
    local name=$1
    shift
    "$build/tests/bench/measure" "$work/said" "$@" >>"$work/$name"
    [ -s "$work/said" ]
}
for ((i = 0; i < rounds; i++)); do
    measured analyze "$build/bin/perf-trace-analyze" -q --json --table names perftrace-out
    measured duckdb node "$source/tests/bench/bench_query.js" VIEW
    measured tables node "$source/tests/bench/bench_query.js" TABLE
    cat "$work/said" >>"$work/asked"
    [ "$i" -ge 1 ] || measured jq bash -c "$jq_names" # once: it takes minutes
done

median() {
    cut -f "$2" "$work/$1" | sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}
# ratio NAME COLUMN: to perf-trace-analyze.
ratio() {
    awk -v a="$(median "$1" "$2")" -v b="$(median analyze "$2")" 'BEGIN { printf "%.1f", a / b }'
}
size=$(du -sm --apparent-size perftrace-out | cut -f 1)
printf '%s MB, scopes by name; x: times what perf-trace-analyze took\n' "$size"
for name in analyze duckdb tables jq; do
    printf '%-8s %8.2f s  x %5.1f   %8.2f s of CPU  x %5.1f   %5.0f MB of memory\n' "$name" "$(median "$name" 1)" \
        "$(ratio "$name" 1)" "$(median "$name" 2)" "$(ratio "$name" 2)" "$(median "$name" 3)"
done
printf '%-8s %8.2f s  for each further question\n' tables "$(median asked 2)"
