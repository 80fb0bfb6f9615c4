#!/usr/bin/env bash
# setup.sh: what examples/demo.sh and tests/run.sh share: messages, and installing Debian packages.
# Sourced, never run. SPDX-License-Identifier: MIT

# shellcheck disable=SC2034 # the lists are for those who source this

# What the library, the tools and the examples are built with.
setup_build_packages=(gcc libc6-dev cmake ninja-build pkg-config zlib1g-dev libcjson-dev
                      libyaml-dev libuv1-dev libhttp-parser-dev libisal-dev libnats-dev libjs-chart.js libjs-d3)
# What the multi-rank example runs on; without it the ranks are forked processes.
setup_mpi_packages=(openmpi-bin libopenmpi-dev)
# What the tests are compiled with on top of both (ccache: configurations that differ in little share
# what they compile), and what they need as they run.
setup_compile_packages=(g++ libcmocka-dev ccache)
setup_test_packages=(make python3 python3-torch clang clang-format clang-tidy libclang-rt-14-dev valgrind
                     jq shellcheck mandoc nodejs npm chromium fonts-dejavu-core
                     gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user procps git
                     ca-certificates curl strace wrk linux-perf awscli nats-server iproute2)

setup_say() {
    printf '== %s\n' "$*"
}

setup_die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# Prints the named packages that are not installed.
setup_missing() {
    local package
    for package in "$@"; do
        case $package in
        nodejs) command -v node >/dev/null && continue ;; # may be here from elsewhere
        npm) command -v npm >/dev/null && continue ;;
        esac
        case $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) in
        installed) ;;
        *) printf '%s\n' "$package" ;;
        esac
    done
}

# Runs a command as root, through sudo where we are somebody else.
setup_as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        printf '%s\n' "this needs root or sudo: $*" >&2
        return 1
    fi
}

# apt-get with no questions. Mirrors hiccup, and another apt may hold a lock for a while.
setup_apt() {
    local attempt
    for attempt in 1 2 3 4 5; do
        if setup_as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
            -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@" </dev/null; then
            return 0
        fi
        printf '%s\n' "apt-get $1 failed (attempt $attempt of 5)" >&2
        sleep $((attempt * 3))
    done
    return 1
}

# Installs those of the named packages that are missing and says which.
setup_install() {
    local missing log
    if ! command -v apt-get >/dev/null; then
        setup_say "no apt-get here: I assume these are installed: $*"
        return 0
    fi
    mapfile -t missing < <(setup_missing "$@")
    if [ "${#missing[@]}" -eq 0 ]; then
        return 0
    fi
    setup_say "installing with apt: ${missing[*]}"
    log=$(mktemp)
    if setup_apt update >"$log" 2>&1 &&
        setup_apt install --no-install-recommends "${missing[@]}" >>"$log" 2>&1; then
        rm -f "$log"
        return 0
    fi
    tail -n 30 "$log" >&2
    rm -f "$log"
    return 1
}

# One build directory: setup_build DIR [cmake option ...] [-- target ...], everything without a
# target. Quiet unless it fails.
setup_build() {
    local build=$1 log=$1.log
    shift
    mkdir -p "${build%/*}"
    local launcher=() options=() targets=()
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    [ $# -le 1 ] || targets=(--target "${@:2}")
    if command -v ccache >/dev/null; then
        export CCACHE_BASEDIR=$setup_root CCACHE_NOHASHDIR=1
        launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
    fi
    if cmake -G Ninja -S "$setup_root" -B "$build" "${launcher[@]}" "${options[@]}" >"$log" 2>&1 &&
        cmake --build "$build" "${targets[@]}" >>"$log" 2>&1; then
        return 0
    fi
    # What failed stands before what the other job went on with.
    if grep -q '^FAILED: ' "$log"; then
        grep -A 40 '^FAILED: ' "$log" | cut -c 1-300 | head -n 80 >&2
    else
        tail -n 60 "$log" >&2
    fi
    return 1
}

setup_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
