#!/usr/bin/env bash
# browser.sh SOURCE WORK SCRIPT ARGUMENT...: fetches what the browser tests need by npm into WORK,
# once, and runs one of them. Exit status 77: something it needs is not here.
# SPDX-License-Identifier: MIT
set -u
source=$1 work=$2 script=$3
shift 3
# shellcheck source=tests/npm.sh
. "$source/tests/npm.sh"

command -v chromium >/dev/null || npm_skip "chromium is missing"
npm_fetch "$source/tests/browser" "$work" speedscope
PERFTRACE_NODE_MODULES=$work/node_modules exec node "$source/tests/browser/$script" "$@"
