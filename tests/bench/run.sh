#!/usr/bin/env bash
# run.sh: measures every figure of the speed table and prints it. SPDX-License-Identifier: MIT
set -eu
# shellcheck source=tests/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"

here=$setup_root/tests/bench

usage() {
    cat <<'TEXT'
Usage: tests/bench/run.sh [OPTION]... [FIGURE]...

Builds the library with gcc -O2 in build/bench, measures what is named (everything without a name)
and prints one markdown table. Floors and peers are measured in the same run; docs/PERFORMANCE.md
says what each figure means. Figures and groups of figures: see --list.

  --only NAME      the same as naming it; may be given more than once
  --list           names the figures and their groups
  --quick          one fifth of the work: for a look, not for the record
  --rounds N       rounds whose median is taken (5)
  --json FILE      writes the figures as JSON, too
  --dir DIR        where traces are written (build/bench/work)
  --no-install     installs nothing
  --help           this text

BENCH_BIG=1        measures the converter's memory on 4 GB, too (needs 9 GB of disk)
TEXT
}

quick=no
rounds=5
json=
work=
install=yes
names=()
while [ $# -gt 0 ]; do
    case $1 in
    --only | --rounds | --json | --dir)
        [ -n "${2-}" ] || setup_die "$1 wants a value; see --help"
        case $1 in
        --only) names+=("$2") ;;
        --rounds) rounds=$2 ;;
        --json) json=$2 ;;
        --dir) work=$2 ;;
        esac
        shift
        ;;
    --list)
        awk -F '\t' '!/^#/ { printf "%-20s group %-10s %s\n", $1, $2, $3 }' "$here/rows.tsv"
        exit 0
        ;;
    --quick) quick=yes ;;
    --no-install) install=no ;;
    --help | -h)
        usage
        exit 0
        ;;
    -*) setup_die "unknown option $1; see --help" ;;
    *) names+=("$1") ;;
    esac
    shift
done

# The groups that are wanted: a name is a group or one of its figures.
groups=$(awk -F '\t' -v names="${names[*]-}" '
    BEGIN { n = split(names, name, " "); for (i = 1; i <= n; i++) want[name[i]] = 1 }
    /^#/ { next }
    { left[$1]; left[$2] }
    n == 0 || ($1 in want) || ($2 in want) { if (!seen[$2]++) print $2 }
    END { for (i in want) if (!(i in left)) print "?" i }' "$here/rows.tsv")
case $groups in *\?*) setup_die "no such figure: ${groups##*\?}; see --list" ;; esac

if [ "$install" = yes ]; then
    setup_install "${setup_build_packages[@]}" libcmocka-dev pigz jq valgrind lttng-tools \
        liblttng-ust-dev || setup_die "packages could not be installed"
fi

build=$setup_root/build/bench
setup_say "building in build/bench" >&2
options=(-DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Release "-DCMAKE_C_FLAGS_RELEASE=-O2 -DNDEBUG"
         -DPERFTRACE_BUILD_EXAMPLES=OFF)
setup_build_target() {
    local dir=$1
    shift
    mkdir -p "$dir"
    { cmake -G Ninja -S "$setup_root" -B "$dir" "${options[@]}" && cmake --build "$dir" "$@"; } \
        >"$dir.log" 2>&1 || { tail -n 60 "$dir.log" >&2; setup_die "the build failed"; }
}
setup_build_target "$build" --target bench

bin=$build/tests/bench
work=${work:-$build/work}
mkdir -p "$work"
results=$(mktemp)
trap 'rm -f "$results"; rm -rf "$work"/bench-*' EXIT

# program NAME [argument ...]: its lines to the results; a failure names itself and goes on.
program() {
    local name=$1 dir=$work/bench-$1
    shift
    setup_say "$name" >&2
    mkdir -p "$dir"
    "$bin/bench_$name" --rounds "$rounds" --dir "$dir" "$@" >>"$results" ||
        setup_say "bench_$name failed" >&2
    rm -rf "$dir"
}

machine() {
    printf 'Machine: %s, %s processors, Linux %s, %s. ' \
        "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$(nproc)" \
        "$(uname -r)" "$(gcc --version | head -n 1)"
    printf 'Load when it began: %s. Rounds: %s%s.\n\n' "$load" "$rounds" \
        "$([ $quick = yes ] && echo ', quick')"
}

# Instructions of one loop of bench_off, a million turns of it.
count_instructions() {
    local dir=$work/bench-off
    mkdir -p "$dir"
    valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect="loop_$1" \
        "$bin/bench_off" --mode "$1" --count 1000000 --dir "$dir" 2>&1 |
        sed -n 's/.*Collected : *//p'
}

off_instructions() {
    local plain mode figure
    if ! command -v valgrind >/dev/null; then
        printf 'SKIP\toff.instructions\tvalgrind is not installed\n' >>"$results"
        return
    fi
    plain=$(count_instructions plain)
    for mode in scope args2 instant; do
        figure=off.$mode.instructions
        [ $mode = scope ] && figure=off.instructions
        awk -v figure=$figure -v with="$(count_instructions $mode)" -v without="$plain" 'BEGIN {
            printf "RESULT\t%s\t%.4g\n", figure, (with - without) / 1e6
            printf "DETAIL\t%s\tcounted by valgrind; the call and its loop are %.4g\n", figure,
                without / 1e6 }' >>"$results"
    done
    rm -rf "$work/bench-off"
}

load=$(cut -d ' ' -f 1 /proc/loadavg)
for group in $groups; do
    case $group in
    scope | cold | threads) program "$group" ;;
    off)
        program off
        off_instructions
        ;;
    esac
done

machine
awk -v json="$json" -f "$here/table.awk" "$here/rows.tsv" "$results"
