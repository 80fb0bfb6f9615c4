#!/usr/bin/env bash
# install.sh SOURCE BUILD WORK: installs BUILD into WORK and builds and runs three consumers.
# SPDX-License-Identifier: MIT
set -eu
source=$1 build=$2 work=$3
here=$source/tests/install
rm -rf "$work"
mkdir -p "$work"
unset PKG_CONFIG_PATH LD_LIBRARY_PATH DESTDIR

fail() {
    printf 'install: %s\n' "$*" >&2
    exit 1
}

quiet() {
    "$@" >"$work/log" 2>&1 || {
        tail -n 40 "$work/log" >&2
        fail "this failed: $*"
    }
}

# Runs a consumer and looks for its scope in the file it leaves.
try() {
    local program=$1 out=$work/out
    rm -rf "$out"
    "$program" "$out" || fail "$program exits with $?"
    grep -qs '"name": "consumer.scope".*"answer": 42' "$out"/traces-*.jsonl ||
        fail "$program left no scope"
    printf 'good: %s\n' "${program#"$work"/}"
}

needs_library() {
    readelf -d "$1" | grep -q 'NEEDED.*libperftrace\.so\.[0-9]'
}

# As a package is made: everything below DESTDIR, nothing anywhere else.
quiet env DESTDIR="$work/stage" cmake --install "$build" --prefix /usr
for file in include/perftrace/perftrace.h bin/perf-trace-convert; do
    [ -e "$work/stage/usr/$file" ] || fail "DESTDIR install lacks $file"
done
[ "$(ls "$work/stage")" = usr ] || fail "DESTDIR install holds more than usr"
if grep -rlF "$build" "$work/stage" --include='*.cmake' --include='*.pc' --include='*.h'; then
    fail "these name the build directory"
fi

# Installed, then moved: the consumers find it where it is now.
quiet cmake --install "$build" --prefix "$work/first"
mv "$work/first" "$work/prefix"
prefix=$work/prefix
libdir=$(dirname "$(find "$prefix" -name libperftrace.so)")
[ -e "$libdir/libperftrace.a" ] || fail "no static library"
strays=$(nm -D --defined-only "$libdir/libperftrace.so" | awk '$2 != "A" {print $3}' |
    grep -v '^perftrace_' || true)
[ -z "$strays" ] || fail "exported beyond perftrace_: $strays"
quiet "$prefix/bin/perf-trace-convert" --help

quiet cmake -G Ninja -S "$here/find_package" -B "$work/find_package" -DCMAKE_PREFIX_PATH="$prefix"
quiet cmake --build "$work/find_package"
try "$work/find_package/consumer"
try "$work/find_package/consumer_static"
needs_library "$work/find_package/consumer" || fail "the consumer does not use the shared library"
if needs_library "$work/find_package/consumer_static"; then
    fail "the static consumer needs the shared library"
fi

mkdir "$work/pkg_config"
quiet env PKG_CONFIG_PATH="$libdir/pkgconfig" make -C "$work/pkg_config" \
    -f "$here/pkg_config/Makefile" SOURCE="$here/consumer.c"
LD_LIBRARY_PATH=$libdir try "$work/pkg_config/consumer"
try "$work/pkg_config/consumer_static"
needs_library "$work/pkg_config/consumer" || fail "pkg-config does not give the shared library"
if needs_library "$work/pkg_config/consumer_static"; then
    fail "pkg-config --static gives the shared library"
fi

quiet cmake -G Ninja -S "$here/subdirectory" -B "$work/subdirectory" -DPERFTRACE_SOURCE="$source"
quiet cmake --build "$work/subdirectory"
try "$work/subdirectory/consumer"
try "$work/subdirectory/consumer_static"
