#!/usr/bin/env bash
# npm.sh: npm packages for tests. Sourced, never run. SPDX-License-Identifier: MIT

# Ends a test that cannot run here: with status 77, where nothing may be missing with 1.
npm_skip() {
    printf '%s: %s\n' "${0##*/}" "$*"
    [ -n "${PERFTRACE_TEST_REQUIRE_ALL-}" ] && exit 1
    exit 77
}

# npm_fetch FOLDER WORK PACKAGE: fetches what the lock file in FOLDER names into WORK/node_modules,
# once. PACKAGE is one of them.
npm_fetch() {
    local folder=$1 work=$2 package=$3 attempt
    command -v npm >/dev/null || npm_skip "npm is missing"
    mkdir -p "$work"
    if cmp -s "$folder/package-lock.json" "$work/package-lock.json" &&
        [ -d "$work/node_modules/$package" ]; then
        return
    fi
    cp "$folder"/package*.json "$work"
    for attempt in 1 2 3; do
        (cd "$work" && npm ci --ignore-scripts --no-fund --no-audit) && break
        rm -rf "$work/node_modules"
        sleep $((attempt * 3))
    done
    [ -d "$work/node_modules/$package" ] || npm_skip "the npm packages could not be fetched"
}
