#!/usr/bin/env bash
# run.sh: installs what the tests need, builds every configuration and runs all tests.
# SPDX-License-Identifier: MIT
set -u
# shellcheck source=tests/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

usage() {
    cat <<'TEXT'
Usage: tests/run.sh [OPTION]...

Installs what the tests need (Debian packages by apt-get, some npm packages), builds the project with
gcc and runs all tests with ctest. The other configurations (sanitizers, clang, cross build, ...)
are tests of that run: stage.asan, stage.clang and so on.

  --quick          only the gcc build and its tests, none of the other configurations
  --stage NAME     only that configuration (see --list); its build stays in build/test/NAME
  --list           names the configurations
  --no-install     installs nothing
  --help           this text

PERFTRACE_TEST_BRIEF=1
                   less of what only repeats: fewer runs of late events under sanitizers, one level of
                   optimisation for most standards of the headers, clang and the build without libuv
                   without the tests that live on many rounds (gcc and the sanitizers run these),
                   valgrind without the tests of very many inputs, a third of clang-tidy's paths; set
                   with CI=true
FUZZ_SECONDS=N     how long each fuzzer runs, the smaller ones half as long (0: only the corpus); with
                   CI=true it is 20 unless set
TEXT
}

mode=all
stage=
install=yes
while [ $# -gt 0 ]; do
    case $1 in
    --quick) mode=quick ;;
    --stage)
        mode=stage
        stage=${2-}
        [ -n "$stage" ] || setup_die "--stage wants a name; see --list"
        shift
        ;;
    --list) exec bash "$setup_root/tests/stages/stage.sh" --list ;;
    --no-install) install=no ;;
    --help | -h)
        usage
        exit 0
        ;;
    *) setup_die "unknown option $1; see --help" ;;
    esac
    shift
done

if [ "${CI-}" = true ]; then
    export FUZZ_SECONDS=${FUZZ_SECONDS-20} PERFTRACE_TEST_BRIEF=${PERFTRACE_TEST_BRIEF-1}
fi
export FUZZ_SECONDS=${FUZZ_SECONDS-0}
# Under Open MPI's mpirun, as root in a container with few cores.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
started=$SECONDS

stages=ON
[ "$mode" = quick ] && stages=OFF
build=$setup_root/build/test/main
build_main() {
    setup_build "$build" -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Release \
        -DPERFTRACE_TEST_STAGES=$stages
}

if [ "$install" = yes ]; then
    setup_install "${setup_build_packages[@]}" "${setup_mpi_packages[@]}" \
        "${setup_compile_packages[@]}" || setup_die "packages could not be installed"
    # Unpacking the rest, much of it, keeps one processor busy: meanwhile the others compile. The build
    # below finds what has come, does what is left and tells what is wrong.
    early=
    if [ "$mode" != stage ] && [ -n "$(setup_missing "${setup_test_packages[@]}")" ]; then
        build_main >/dev/null 2>&1 &
        early=$!
    fi
    setup_install "${setup_test_packages[@]}"
    installed=$?
    [ -z "$early" ] || wait "$early"
    [ "$installed" -eq 0 ] || setup_die "packages could not be installed"
    # Tests that miss something skip with a message; here nothing may be missing.
    export PERFTRACE_TEST_REQUIRE_ALL=1
fi

if [ "$mode" = stage ]; then
    exec bash "$setup_root/tests/stages/stage.sh" "$stage"
fi

setup_say "building with gcc in build/test/main"
build_main || setup_die "the build failed"
setup_say "built after $((SECONDS - started)) s"

# ctest prints last, so that its closing line is the last line of the tests.
# A third at a time, since many wait for something.
exec ctest --test-dir "$build" -j3 --output-on-failure --no-tests=error --timeout 600
