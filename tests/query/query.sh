#!/usr/bin/env bash
# query.sh SOURCE WORK TEST: fetches DuckDB by npm into WORK, once, and runs a file of tests with it.
# Exit status 77: something it needs is not here. SPDX-License-Identifier: MIT
set -u
source=$1 work=$2 file=$3
# shellcheck source=tests/npm.sh
. "$source/tests/npm.sh"

command -v jq >/dev/null || npm_skip "jq is missing"
npm_fetch "$source/tests/query" "$work" @duckdb/node-api
PERFTRACE_NODE_MODULES=$work/node_modules exec node --test "$source/tests/query/$file"
