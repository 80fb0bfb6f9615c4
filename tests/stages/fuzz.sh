#!/usr/bin/env bash
# fuzz.sh BUILD SECONDS: builds the fuzzers and runs each from its corpus, two at a time: those that
# read whole files of others for SECONDS, the smaller ones for half as long. What they find stays in
# BUILD/found. SPDX-License-Identifier: MIT
set -u
# shellcheck source=tests/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"
build=$1 seconds=$2

setup_build "$build" -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
    -DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O1 -g1" \
    -DPERFTRACE_FUZZ=ON -DPERFTRACE_SANITIZE=fuzzer-no-link,address,undefined \
    -DPERFTRACE_BUILD_EXAMPLES=OFF -DPERFTRACE_BUILD_SHARED=OFF -- fuzzers || exit 1
mkdir -p "$build/found" "$build/corpus"

# One fuzzer; new inputs go to the build folder, never to the source.
fuzz_one() {
    local name=$1 corpus=$2 build=$3 seconds=$4 program
    program=$(find "$build" -name "$name" -type f -perm -u+x | head -n 1)
    mkdir -p "$build/corpus/$name"
    case $name in
    fuzz_record_decode | fuzz_ring_recover | fuzz_json_scan | fuzz_convert | fuzz_stacks | fuzz_analyze) ;;
    *) seconds=$(((seconds + 1) / 2)) ;;
    esac
    local limit=(-max_total_time="$seconds")
    [ "$seconds" -gt 0 ] || limit=(-runs=0)
    if "$program" "${limit[@]}" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
        -artifact_prefix="$build/found/$name-" "$build/corpus/$name" "$corpus" \
        >"$build/$name.log" 2>&1; then
        printf '%s: %s inputs tried\n' "$name" \
            "$(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$name.log")"
    else
        tail -n 40 "$build/$name.log"
        printf '%s: FAILED, its input is in %s/found\n' "$name" "$build"
        return 1
    fi
}
export -f fuzz_one

grep -q . "$build/fuzzers.txt" || setup_die "there are no fuzzers"
# shellcheck disable=SC2016
grep . "$build/fuzzers.txt" | xargs -P 2 -I '{}' \
    bash -c 'read -r name corpus <<<"$1"; fuzz_one "$name" "$corpus" "$2" "$3"' \
    fuzz '{}' "$build" "$seconds"
