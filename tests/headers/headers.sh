#!/usr/bin/env bash
# headers.sh SOURCE WORK: compiles the public headers the way strict users do.
# SPDX-License-Identifier: MIT
set -u
source=$1 work=$2
here=$source/tests/headers
mkdir -p "$work"
failed=0 count=0

# compiles TITLE COMMAND...: must succeed without a word.
compiles() {
    local title=$1 said
    shift
    count=$((count + 1))
    if ! said=$("$@" 2>&1) || [ -n "$said" ]; then
        printf 'FAILED: %s\n  %s\n%s\n' "$title" "$*" "$said" | head -n 40
        failed=$((failed + 1))
    fi
}

# refuses TITLE COMMAND...: must not compile.
refuses() {
    local title=$1
    shift
    count=$((count + 1))
    if "$@" >/dev/null 2>&1; then
        printf 'FAILED: %s compiles\n' "$title"
        failed=$((failed + 1))
    fi
}

# Warnings of the optimiser hardly depend on the standard: in brief only the first sees all levels.
levels() { # STANDARD
    case ${PERFTRACE_TEST_BRIEF:+brief}.$1 in
    .* | *.c11 | *.c++17) echo -O0 -O2 -O3 ;;
    *) echo -O2 ;;
    esac
}

strict="-pedantic -Wall -Wextra -Werror -Wshadow -Wundef"
include=-I$source/include
for compiler in gcc clang; do
    command -v $compiler >/dev/null || continue
    for standard in c11 gnu11 c17 c2x; do
        for switch in "" -DPERFTRACE_DISABLE; do
            for level in $(levels $standard); do
                # shellcheck disable=SC2086
                compiles "$compiler $standard $level $switch" $compiler -std=$standard $strict \
                    -Wstrict-prototypes -Wconversion $level $switch $include -c \
                    "$here/every_macro.c" -o "$work/macros.o"
            done
        done
    done
    for header in "$source"/include/perftrace/*.h; do
        # shellcheck disable=SC2086
        compiles "$compiler: ${header##*/} alone" $compiler -std=c11 $strict $include \
            -fsyntax-only -include "$header" -x c /dev/null
    done
    refuses "$compiler: a number as a string argument" $compiler "$include" -Werror -fsyntax-only \
        -x c - <<<'#include <perftrace/perftrace.h>
                   void f(void) { PERFTRACE_SCOPE("n", "c", PERFTRACE_STRING("s", 5)); }'
    refuses "$compiler: a name that is no literal" $compiler "$include" -fsyntax-only -x c - \
        <<<'#include <perftrace/perftrace.h>
            void f(const char *name) { PERFTRACE_SCOPE(name, "c"); }'
    refuses "$compiler: a wrong argument, compiled out" $compiler "$include" -Werror \
        -DPERFTRACE_DISABLE -fsyntax-only -x c - <<<'#include <perftrace/perftrace.h>
            void f(void) { PERFTRACE_SCOPE("n", "c", PERFTRACE_STRING("s", 5)); }'
done
for compiler in g++ clang++; do
    command -v $compiler >/dev/null || continue
    for standard in c++17 gnu++17 c++20; do
        for switch in "" -DPERFTRACE_DISABLE; do
            for level in $(levels $standard); do
                # shellcheck disable=SC2086
                compiles "$compiler $standard $level $switch" $compiler -std=$standard $strict \
                    $level $switch "$include" -c "$here/every_macro.cpp" -o "$work/macros.o"
            done
        done
    done
done

# Real programs, where inlining leads compilers to warnings that small functions do not show.
for program in "$source"/examples/*.c "$source"/examples/*.cpp; do
    compiler=gcc standard=gnu11
    [ "${program%.cpp}" = "$program" ] || compiler=g++ standard=gnu++17
    command -v $compiler >/dev/null || continue
    for level in -O1 -O2 -O3 "-O3 -fPIC"; do
        # shellcheck disable=SC2086
        compiles "${program##*/} $level" $compiler -std=$standard $strict $level "$include" -c \
            "$program" -o "$work/program.o"
    done
done

# Compiled out, no trace of the library is in the object file: no symbol, no string.
for level in -O0 -O2; do
    compiles "object without tracing" gcc -std=c11 $level -DPERFTRACE_DISABLE "$include" -c \
        "$here/every_macro.c" -o "$work/disabled.o"
    count=$((count + 1))
    if nm "$work/disabled.o" | grep -i perftrace ||
        strings "$work/disabled.o" | grep -x -e twelve -e literal; then
        printf 'FAILED: a compiled-out object (%s) still holds the above\n' "$level"
        failed=$((failed + 1))
    fi
done

printf '%d of %d checks passed\n' $((count - failed)) "$count"
[ "$failed" -eq 0 ]
