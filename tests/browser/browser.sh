#!/usr/bin/env bash
# browser.sh SOURCE WORK SCRIPT ARGUMENT...: fetches what the browser tests need by npm into WORK,
# once, and runs one of them. Exit status 77: something it needs is not here.
# SPDX-License-Identifier: MIT
set -u
source=$1 work=$2 script=$3
shift 3

skip() {
    printf 'browser: %s\n' "$*"
    [ -n "${PERFTRACE_TEST_REQUIRE_ALL-}" ] && exit 1
    exit 77
}

command -v npm >/dev/null || skip "npm is missing"
command -v chromium >/dev/null || skip "chromium is missing"
mkdir -p "$work"
if ! cmp -s "$source/tests/browser/package-lock.json" "$work/package-lock.json" ||
    [ ! -d "$work/node_modules/speedscope" ]; then
    cp "$source"/tests/browser/package*.json "$work"
    for attempt in 1 2 3; do
        (cd "$work" && npm ci --ignore-scripts --no-fund --no-audit) && break
        rm -rf "$work/node_modules"
        sleep $((attempt * 3))
    done
    [ -d "$work/node_modules/speedscope" ] || skip "the npm packages could not be fetched"
fi
PERFTRACE_NODE_MODULES=$work/node_modules exec node "$source/tests/browser/$script" "$@"
