#!/usr/bin/env bash
# load.sh PROGRAM LIBRARY: runs abi_load in a folder of its own. SPDX-License-Identifier: MIT
set -u
dir=$(mktemp -d)
"$1" "$2" "$dir"
status=$?
grep -q '"name": "loaded"' "$dir"/traces-r0.jsonl || status=1
rm -r "$dir"
exit "$status"
