#!/usr/bin/env bash
# stage.sh: builds and tests one configuration in build/test/NAME. SPDX-License-Identifier: MIT
# shellcheck disable=SC2317 # the stages are called by name
set -u
# shellcheck source=tests/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"

here=$setup_root/tests/stages
stages="clang asan tsan nonet points aarch64 valgrind format tidy fuzz"
# The sanitizers' runtimes and valgrind cannot follow the processes of mpirun.
no_mpi=-DPERFTRACE_EXAMPLES_MPI=OFF
# The hundreds of test programs are linked sooner by gold, where it is; the plain build has the linker
# that everybody has.
linker=()
! command -v ld.gold >/dev/null || linker=(-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=gold)
# Optimised enough where a tool watches: built sooner than with -O2, run sooner than with -O0; of -g
# only the lines that a report names. So, and with sanitizers, gcc warns of what is not there:
# warnings are no errors in those stages.
light=(-DPERFTRACE_WERROR=OFF -DCMAKE_BUILD_TYPE=RelWithDebInfo "${linker[@]}"
       "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O1 -g1" "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1")
# Of nonet, points and valgrind, whose compilers are told the same: they share objects by ccache. All
# warnings but the two that gcc -O1 gives without a cause are errors.
shared=("${light[@]}" -DPERFTRACE_WERROR=ON -DCMAKE_C_COMPILER=gcc
        "-DCMAKE_C_FLAGS=-Wno-maybe-uninitialized -Wno-format-truncation")
brief=${PERFTRACE_TEST_BRIEF-} # see tests/run.sh
# What ThreadSanitizer looks at.
threaded='forward|stream|collect|ring|core|drain|runtime|writer|emit|fork|thread|endpoint|timer|profiler'

if [ "${1-}" = --list ]; then
    cat <<'TEXT'
clang     clang, warnings are errors; all tests (in CI without those of many rounds)
asan      AddressSanitizer and UndefinedBehaviorSanitizer; all tests
tsan      ThreadSanitizer; the tests of ring, core, drain, runtime, fork, control and forwarding
nonet     without libuv (PERFTRACE_NET=OFF), ISA-L, the chart library and D3; the same tests
points    with test points: the process is killed at every one; crash tests
aarch64   cross build, unit tests under qemu-user
valgrind  unit tests under memcheck
format    clang-format and shellcheck find nothing
tidy      clang-tidy finds nothing
fuzz      fuzzers: corpus, then FUZZ_SECONDS seconds each
TEXT
    exit 0
fi

name=${1-}
case " $stages " in
*" $name "*) [ -n "$name" ] || setup_die "which stage? see --list" ;;
*) setup_die "no stage is called '$name'; there are: $stages" ;;
esac
build=$setup_root/build/test/$name

# Tests that look at the outside of an installed tree say the same in every configuration.
run_tests() {
    ctest --test-dir "$build" -j3 --output-on-failure --no-tests=error --timeout 900 \
        -LE '^(outside|stage|bench)$' "$@"
}

need() {
    command -v "$1" >/dev/null && return 0
    printf '%s\n' "stage $name: $1 is missing"
    [ -n "${PERFTRACE_TEST_REQUIRE_ALL-}" ] && exit 1
    exit 77
}

# The build of clang, which clang-tidy reads, too.
build_clang() {
    need clang
    build=$setup_root/build/test/clang
    setup_build "$build" -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
        -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-g1 -DPERFTRACE_WERROR=ON "${linker[@]}"
}

# What takes long for its many rounds, processes or threads, and is run by other configurations.
rounds='^stress|property|^control[.](life|clients)|^test_(core_threads|runtime_(late|overflow|fork|life)|profile_chunks)$'

stage_clang() {
    local but=()
    [ -z "$brief" ] || but=(-E "$rounds")
    build_clang && run_tests "${but[@]}"
}

stage_asan() {
    export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1
    export UBSAN_OPTIONS=print_stacktrace=1
    setup_build "$build" -DCMAKE_C_COMPILER=gcc "${light[@]}" \
        -DPERFTRACE_SANITIZE=address,undefined "$no_mpi" &&
        # Its child is forked while the drain thread allocates: AddressSanitizer's allocator, unlike
        # glibc's, leaves its lock held in such a child, which hangs in one run of twenty.
        run_tests -E '05_threads_and_fork'
}

stage_tsan() {
    # Children of processes with threads may have threads again.
    TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:die_after_fork=0
    export TSAN_OPTIONS=$TSAN_OPTIONS:suppressions=$here/tsan.supp
    setup_build "$build" -DCMAKE_C_COMPILER=gcc "${light[@]}" \
        -DPERFTRACE_SANITIZE=thread "-DPERFTRACE_UNIT_TESTS=^test_($threaded)" "$no_mpi" &&
        run_tests -R "^test_($threaded)|^control|^stress|^example|^stream[.]life" \
            -E '05_threads_and_fork' # its forked child starts a thread: ThreadSanitizer takes the
    # parent's thread for it ("dup thread with used id") and ends the child
}

stage_nonet() {
    setup_build "$build" "${shared[@]}" "$no_mpi" \
        -DPERFTRACE_NET=OFF -DPERFTRACE_ISAL=OFF -DPERFTRACE_CHART_JS=OFF -DPERFTRACE_D3_JS=OFF ||
        return 1
    # Threads under load know nothing of those libraries.
    local but=()
    [ -z "$brief" ] || but=(-E "$rounds")
    run_tests "${but[@]}"
}

stage_points() {
    local of='crash|fault|recover'
    [ -z "$brief" ] || of='^crash[.]points$'
    setup_build "$build" "${shared[@]}" \
        -DPERFTRACE_TEST_POINTS=ON -DPERFTRACE_BUILD_EXAMPLES=OFF ${brief:+-- crash_points} &&
        run_tests -R "$of"
}

# The libraries for arm64 are unpacked into the build folder: nothing is installed for it, and the
# machine's own package lists stay as they are.
fetch_arm64() {
    local apt=$setup_root/build/test/aarch64.apt
    sysroot=$setup_root/build/test/aarch64.sysroot
    [ -e "$sysroot/complete" ] && return 0
    local packages=(libyaml-dev libyaml-0-2 libcjson-dev libcjson1 zlib1g-dev zlib1g libuv1-dev
                    libuv1 libhttp-parser-dev libhttp-parser2.9 libcmocka-dev libcmocka0
                    libisal-dev libisal2)
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/debs" "$sysroot"
    local options=(-q -o APT::Architecture=arm64 -o APT::Architectures=arm64
                   -o Dir::State::Lists="$apt/lists" -o Dir::Cache="$apt/cache"
                   -o Debug::NoLocking=1 -o Acquire::Retries=3 -o APT::Sandbox::User=root)
    if ! apt-get "${options[@]}" update >"$apt/log" 2>&1 ||
        ! (cd "$apt/debs" &&
            apt-get "${options[@]}" download "${packages[@]}" >>"$apt/log" 2>&1); then
        tail -n 20 "$apt/log"
        return 1
    fi
    local deb
    for deb in "$apt"/debs/*.deb; do
        dpkg -x "$deb" "$sysroot" || return 1
    done
    touch "$sysroot/complete"
}

stage_aarch64() {
    need aarch64-linux-gnu-gcc
    need qemu-aarch64
    need apt-get
    fetch_arm64 || return 1
    export PERFTRACE_TEST_EMULATED=1
    export PKG_CONFIG_LIBDIR=$sysroot/usr/lib/aarch64-linux-gnu/pkgconfig
    export PKG_CONFIG_SYSROOT_DIR=$sysroot
    setup_build "$build" -DCMAKE_TOOLCHAIN_FILE="$here/aarch64.cmake" \
        -DPERFTRACE_SYSROOT="$sysroot" -DCMAKE_BUILD_TYPE=Release "$no_mpi" &&
        # qemu-user's own assertions stop a child that was forked while other threads ran (cases of
        # other tests leave themselves out by PERFTRACE_TEST_EMULATED); perf would sample the
        # emulator; and of its own processes qemu shows a /proc/PID/stat without the time they
        # began, by which the others know them.
        run_tests -R '^test_' \
            -E '^test_(runtime_fork|runtime_life|needs_recording|profiler_(self|perf)|endpoint)$'
}

stage_valgrind() {
    need valgrind
    local slow_there='runtime_(life|late|overflow)|core_threads|needs_recording|profiler_perf'
    [ -z "$brief" ] ||
        slow_there="$slow_there|trace_touch|session_fold_memory|base_number|sessions_tasks|json_split|profiler_nvtx"
    export PERFTRACE_TEST_MEMCHECK=1
    export PERFTRACE_TEST_ROUNDS=5 # of processes, at the end of each of which memcheck looks for leaks
    # ISA-L reads past its input on purpose, which memcheck cannot know.
    setup_build "$build" "${shared[@]}" "$no_mpi" -DPERFTRACE_ISAL=OFF \
        "-DCMAKE_CROSSCOMPILING_EMULATOR=valgrind;-q;--error-exitcode=99;--leak-check=full;--errors-for-leak-kinds=definite;--trace-children=no;--fair-sched=yes" \
        -- unit_tests &&
        # Some take minutes there, those that try very many inputs and those that live on many
        # threads and processes; the sanitizers have these. What AddressSanitizer cannot show is
        # shown here: children of a busy process that record (its allocator hangs in them, see
        # test_runtime_fork.c). perf would sample valgrind.
        run_tests -R '^test_' \
            -E "property|deflate|^test_($slow_there)\$"
}

sources() {
    git -C "$setup_root" ls-files "$@" | sed "s,^,$setup_root/,"
}

stage_format() {
    need clang-format
    need git
    local found
    found=$(sources '*.c' '*.h' '*.cpp')
    printf '%s files\n' "$(printf '%s\n' "$found" | wc -l)"
    printf '%s\n' "$found" | xargs -d '\n' clang-format --dry-run -Werror || return 1
    need shellcheck
    (cd "$setup_root" && git ls-files '*.sh' .ci/run | xargs -d '\n' shellcheck -x)
}

stage_tidy() {
    need clang-tidy
    need git
    build_clang || return 1
    local found log=$build/tidy.log
    # A third of the paths that the analyzer would walk by itself: all of them take ten minutes.
    local limit=()
    [ -z "$brief" ] || limit=(--extra-arg=-Xclang --extra-arg=-analyzer-config
                              --extra-arg=-Xclang --extra-arg=max-nodes=60000)
    found=$(sources 'src/*.c' 'tools/*.c' 'examples/*.c' 'examples/*.cpp' |
        while read -r file; do
            grep -qF "\"file\": \"$file\"" "$build/compile_commands.json" && printf '%s\n' "$file"
        done)
    printf '%s files\n' "$(printf '%s\n' "$found" | wc -l)"
    if ! printf '%s\n' "$found" |
        xargs -d '\n' -n 4 -P 2 clang-tidy --quiet "${limit[@]}" -p "$build" >"$log" 2>&1; then
        grep -E 'warning:|error:' "$log" | sort -u | head -n 60
        return 1
    fi
}

stage_fuzz() {
    need clang
    bash "$here/fuzz.sh" "$build" "${FUZZ_SECONDS-0}"
}

started=$SECONDS
if "stage_$name"; then
    setup_say "stage $name: good, $((SECONDS - started)) s"
    exit 0
fi
setup_say "stage $name: FAILED after $((SECONDS - started)) s"
exit 1
