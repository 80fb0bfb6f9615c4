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
    setup_install "${setup_build_packages[@]}" libcmocka-dev pigz jq python3 valgrind lttng-tools \
        liblttng-ust-dev || setup_die "packages could not be installed"
fi

# build_target DIR [cmake option ...] -- target ...: quiet unless it fails.
build_target() {
    local dir=$1 options=()
    shift
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    mkdir -p "$dir"
    { cmake -G Ninja -S "$setup_root" -B "$dir" -DCMAKE_C_COMPILER=gcc \
        -DCMAKE_BUILD_TYPE=Release "-DCMAKE_C_FLAGS_RELEASE=-O2 -DNDEBUG" \
        -DPERFTRACE_BUILD_EXAMPLES=OFF "${options[@]}" &&
        cmake --build "$dir" --target "$@"; } >"$dir.log" 2>&1
}

build=$setup_root/build/bench
setup_say "building in build/bench" >&2
build_target "$build" -- bench || { tail -n 60 "$build.log" >&2; setup_die "the build failed"; }

bin=$build/tests/bench
work=${work:-$build/work}
mkdir -p "$work"
results=$(mktemp)
trap 'rm -f "$results"; rm -rf "$work"/bench-*' EXIT

result() { # FIGURE VALUE ...
    local IFS=$'\t'
    printf 'RESULT\t%s\n' "$*" >>"$results"
}

detail() { # FIGURE WORDS
    printf 'DETAIL\t%s\t%s\n' "$1" "$2" >>"$results"
}

skip() { # FIGURE REASON
    printf 'SKIP\t%s\t%s\n' "$1" "$2" >>"$results"
}

# program NAME [argument ...]: its lines to the results; a failure names itself and goes on.
program() {
    local name=$1 dir=$work/bench-$1
    shift
    setup_say "$name" >&2
    mkdir -p "$dir"
    "$bin/bench_$name" "$@" --rounds "$rounds" --dir "$dir" >>"$results" ||
        setup_say "bench_$name failed" >&2
    rm -rf "$dir"
}

# of_quick N: a fifth of it with --quick.
of_quick() {
    if [ $quick = yes ]; then echo $(($1 / 5)); else echo "$1"; fi
}

# ---- LTTng-UST, the peer of the scope ------------------------------------------------------------

lttng_peer() {
    local dir=$work/bench-lttng daemon='' session=perftrace-bench-$$
    if [ ! -x "$bin/bench_lttng" ] || ! command -v lttng-sessiond >/dev/null; then
        detail lttng.scope "skipped: LTTng-UST is not installed"
        return
    fi
    setup_say "lttng" >&2
    mkdir -p "$dir"
    if ! timeout 20 lttng list >/dev/null 2>&1 </dev/null; then
        lttng-sessiond --no-kernel --daemonize --pidfile "$dir/daemon.pid" >/dev/null 2>&1 \
            </dev/null || true
        daemon=$(cat "$dir/daemon.pid" 2>/dev/null || true)
    fi
    if { timeout 20 lttng create "$session" --output="$dir/trace" &&
        timeout 20 lttng enable-channel --userspace --subbuf-size=4M --num-subbuf=4 bench &&
        timeout 20 lttng enable-event --userspace --channel=bench 'bench:*' &&
        timeout 20 lttng start "$session"; } >/dev/null 2>&1 </dev/null; then
        LTTNG_UST_REGISTER_TIMEOUT=10000 timeout 120 "$bin/bench_lttng" --rounds "$rounds" \
            >>"$results" || detail lttng.scope "skipped: bench_lttng failed"
        timeout 20 lttng destroy "$session" >/dev/null 2>&1 </dev/null || true
    else
        detail lttng.scope "skipped: its session daemon cannot run here"
    fi
    if [ -n "$daemon" ]; then
        kill "$daemon" 2>/dev/null || true
    fi
    rm -rf "$dir"
}

# ---- instructions --------------------------------------------------------------------------------

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
        skip off.instructions "valgrind is not installed"
        return
    fi
    plain=$(count_instructions plain)
    for mode in scope args2 instant; do
        figure=off.$mode.instructions
        [ "$mode" = scope ] && figure=off.instructions
        result "$figure" "$(awk -v with="$(count_instructions "$mode")" -v without="$plain" \
            'BEGIN { printf "%.4g", (with - without) / 1e6 }')"
        detail "$figure" "counted by valgrind; the call and its loop are $((plain / 1000000))"
    done
    rm -rf "$work/bench-off"
}

# ---- the converter -------------------------------------------------------------------------------

# took FIELD OUT COMMAND ...: seconds (1), CPU seconds (2) or peak MB (3) of a command; its standard
# output goes to OUT. What it says goes to a log.
took() {
    local field=$1 line
    shift
    line=$("$bin/measure" "$@" 2>"$work/bench-log") || {
        tail -n 5 "$work/bench-log" >&2
        return 1
    }
    cut -f "$field" <<<"$line"
}

divided() {
    awk -v a="$1" -v b="$2" 'BEGIN { printf "%.4g", a / b }'
}

middle() {
    printf '%s\n' "$@" | sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# versus FIGURE WHAT MB PEER OURS: alternates two functions that print seconds; the figure is how
# many times faster ours is.
versus() {
    local figure=$1 what=$2 mb=$3 peer=$4 ours=$5 round p o ratios=() peers=() all=()
    for ((round = 0; round < rounds; round++)); do
        if ! p=$($peer) || ! o=$($ours); then
            skip "$figure" "a command failed"
            return 0
        fi
        peers+=("$p")
        all+=("$o")
        ratios+=("$(divided "$p" "$o")")
    done
    result "$figure" "${ratios[@]}"
    detail "$figure" "$(awk -v mb="$mb" -v what="$what" -v o="$(middle "${all[@]}")" \
        -v p="$(middle "${peers[@]}")" \
        'BEGIN { printf "%.2f s, %.0f MB/s; %s %.2f s, %.0f MB/s", o, mb / o, what, p, mb / p }')"
}

# generate NAME BYTES: 8 rank files, read once so that they are in the page cache.
generate() {
    mkdir -p "$data/$1"
    "$bin/bench_generate" --dir "$data/$1" --bytes "$2" --ranks 8
    cat "$data/$1"/*.jsonl >/dev/null
}

megabytes() {
    cat "$@" | wc -c | awk '{ printf "%.1f", $1 / 1e6 }'
}

# The commands that are timed; input is the folder of rank files, out the file that is made.
by_cat() { took 1 "$out" cat "$input"/*.jsonl && rm -f "$out"; }
by_jq() { took 1 "$out" jq -s . "$input"/*.jsonl && rm -f "$out"; }
by_pigz() { took 1 "$out.gz" pigz -1 -p2 -c "$out" && mv "$out.gz" "$out.peer.gz"; }
by_us() { took 1 - "$build/bin/perf-trace-convert" "$input"/*.jsonl -o "$out" && rm -f "$out"; }
by_us_gz() { took 1 - "$tool" "$input"/*.jsonl -o "$out.gz" && mv "$out.gz" "$out.ours.gz"; }

gz_figures() {
    local zlib=$setup_root/build/bench-zlib mb
    "$build/bin/perf-trace-convert" "$input"/*.jsonl -o "$out" >/dev/null 2>&1 || return 0
    mb=$(megabytes "$out")
    if ! command -v pigz >/dev/null; then
        skip convert.gz.zlib "pigz is not installed"
        skip convert.gz.isal "pigz is not installed"
        return
    fi
    if build_target "$zlib" -DPERFTRACE_ISAL=OFF -DPERFTRACE_BUILD_TESTS=OFF -- \
        perf-trace-convert; then
        tool=$zlib/bin/perf-trace-convert
        versus convert.gz.zlib "pigz -1 -p2" "$mb" by_pigz by_us_gz
        detail convert.gz.zlib "$(sizes_gz)"
    else
        skip convert.gz.zlib "no build without ISA-L"
    fi
    if grep -q '^PERFTRACE_ISAL:BOOL=ON' "$build/CMakeCache.txt" &&
        grep -q '^pkgcfg_lib_LIBISAL_isal:FILEPATH=/' "$build/CMakeCache.txt"; then
        tool=$build/bin/perf-trace-convert
        versus convert.gz.isal "pigz -1 -p2" "$mb" by_pigz by_us_gz
        detail convert.gz.isal "$(sizes_gz)"
    else
        skip convert.gz.isal "ISA-L is not installed"
    fi
    rm -f "$out"*
}

sizes_gz() {
    printf '%s MB, pigz %s MB' "$(megabytes "$out.ours.gz")" "$(megabytes "$out.peer.gz")"
}

peak_memory() { # FIGURE COMMAND ...
    local figure=$1 mb
    shift
    if mb=$(took 3 - "$@"); then
        result "$figure" "$mb"
        detail "$figure" "$(megabytes "$input"/*.jsonl) MB of input"
    else
        skip "$figure" "$(basename "$1") failed"
    fi
    rm -f "$out"
}

convert_memory() { # FIGURE
    peak_memory "$1" "$build/bin/perf-trace-convert" "$input"/*.jsonl -o "$out"
}

wants() { # FIGURE: named, or its group is, or nothing is
    [ ${#names[@]} -eq 0 ] || [[ " ${names[*]} " == *" $1 "* || " ${names[*]} " == *" ${1%%.*} "* ]]
}

convert_figures() {
    local data=$work/bench-convert input out tool figure
    out=$data/out.json
    mkdir -p "$data"
    if ! build_target "$build" -- perf-trace-convert; then
        tail -n 20 "$build.log" >&2
        for figure in cat jq gz.zlib gz.isal memory; do
            skip "convert.$figure" "perf-trace-convert was not built"
        done
        return
    fi
    generate small 100000000
    if wants convert.cat || wants convert.gz.zlib || wants convert.gz.isal; then
        input=$data/small
        if [ $quick = no ]; then
            generate large 1000000000
            input=$data/large
        fi
        if wants convert.cat; then
            setup_say "convert, cat" >&2
            versus convert.cat cat "$(megabytes "$input"/*.jsonl)" by_cat by_us
        fi
        if wants convert.gz.zlib || wants convert.gz.isal; then
            setup_say "convert, pigz" >&2
            gz_figures
        fi
        rm -rf "$data/large"
    fi
    input=$data/small
    if wants convert.jq; then
        setup_say "convert, jq" >&2
        versus convert.jq "jq -s" "$(megabytes "$input"/*.jsonl)" by_jq by_us
    fi
    if wants convert.memory; then
        convert_memory convert.memory
    fi
    if [ "${BENCH_BIG-}" = 1 ] && wants convert.memory.big; then
        setup_say "convert, 4 GB" >&2
        generate big 4000000000
        input=$data/big
        convert_memory convert.memory.big
        rm -rf "$data/big"
    else
        skip convert.memory.big "only with BENCH_BIG=1"
    fi
    rm -rf "$data"
}

# ---- the report of sessions ----------------------------------------------------------------------

by_sessions() { took 1 - "$build/bin/perf-trace-sessions" "$input"/*.jsonl; }
by_python() { took 1 - python3 "$here/percentiles.py" "$input"/*.jsonl; }

sessions_figures() {
    local data=$work/bench-sessions input=$work/bench-sessions out=$work/bench-sessions.out figure
    mkdir -p "$data"
    if ! build_target "$build" -- perf-trace-sessions; then
        tail -n 20 "$build.log" >&2
        for figure in cat python memory; do
            skip "sessions.$figure" "perf-trace-sessions was not built"
        done
        return
    fi
    "$bin/bench_sessions" --dir "$data" --count "$(of_quick 1000000)"
    cat "$data"/*.jsonl >/dev/null
    if wants sessions.cat; then
        setup_say "sessions, cat" >&2
        versus sessions.cat cat "$(megabytes "$input"/*.jsonl)" by_cat by_sessions
    fi
    if wants sessions.python && command -v python3 >/dev/null; then
        setup_say "sessions, python" >&2
        versus sessions.python python3 "$(megabytes "$input"/*.jsonl)" by_python by_sessions
    elif wants sessions.python; then
        skip sessions.python "python3 is not installed"
    fi
    if wants sessions.memory; then
        peak_memory sessions.memory "$build/bin/perf-trace-sessions" "$input"/*.jsonl
    fi
    rm -rf "$data" "$out"
}

# ---- the analysis of profiler traces -------------------------------------------------------------

by_json_load() {
    took 1 - python3 -c 'import json, sys
for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as file:
        json.load(file)' "$input"/*.json
}
by_analyze() { took 1 - "$build/bin/perf-trace-analyze" "$input"/*.json -o "$out"; }
by_gunzip() {
    # shellcheck disable=SC2016
    took 1 - sh -c 'printf "%s\n" "$@" | xargs -P "$(nproc)" -n 1 gzip -dc >/dev/null' sh "$input"/*.gz
}
by_analyze_gz() { took 1 - "$build/bin/perf-trace-analyze" "$input"/*.gz -o "$out"; }

# How fast the scanner checks a trace, beside cat through a pipe and cJSON.
json_figures() {
    local file=$input/rank0.json round seconds mb scan tree cat=() cjson=()
    mb=$(megabytes "$file")
    for ((round = 0; round < rounds; round++)); do
        # shellcheck disable=SC2016
        if ! seconds=$(took 1 - sh -c 'cat "$1" | cat >/dev/null' sh "$file") ||
            ! "$build/tests/bench_json_scan" "$file" >"$work/bench-json"; then
            skip analyze.scan "a command failed"
            skip analyze.cjson "a command failed"
            return
        fi
        scan=$(awk '$1 == "check" { print $2 }' "$work/bench-json")
        tree=$(awk '$1 == "cJSON_Parse" { print $2 }' "$work/bench-json")
        cat+=("$(awk -v s="$scan" -v t="$seconds" -v mb="$mb" 'BEGIN { print s * t / mb }')")
        cjson+=("$(divided "$scan" "$tree")")
    done
    result analyze.scan "${cat[@]}"
    detail analyze.scan "$(printf '%.0f MB/s, cat %.0f MB/s' "$scan" "$(divided "$mb" "$seconds")")"
    result analyze.cjson "${cjson[@]}"
    detail analyze.cjson "$(printf '%.0f MB/s, cJSON %.0f MB/s' "$scan" "$tree")"
    rm -f "$work/bench-json"
}

analyze_figures() {
    local input=$work/bench-analyze out=$work/bench-analyze.out mb peak figure
    if ! command -v python3 >/dev/null ||
        ! build_target "$build" -- perf-trace-analyze bench_json_scan; then
        for figure in analyze.scan analyze.cjson analyze.python analyze.gz analyze.memory; do
            skip "$figure" "python3 is not installed, or perf-trace-analyze was not built"
        done
        return
    fi
    python3 -B "$here/torch_traces.py" "$input" 8 "$(of_quick 60000000)"
    mb=$(megabytes "$input"/*.json)
    if wants analyze.scan || wants analyze.cjson; then
        setup_say "json_scan" >&2
        json_figures
    fi
    if wants analyze.python; then
        setup_say "analyze, python" >&2
        versus analyze.python json.load "$mb" by_json_load by_analyze
    fi
    if wants analyze.memory && peak=$(took 3 - "$build/bin/perf-trace-analyze" -j 1 \
        "$input"/*.json -o "$out"); then
        result analyze.memory "$(divided "$peak" "$(megabytes "$input/rank0.json")")"
        detail analyze.memory "$peak MB"
    fi
    if wants analyze.gz; then
        setup_say "analyze, gzip" >&2
        gzip -1 "$input"/*.json
        versus analyze.gz "gzip -dc" "$mb" by_gunzip by_analyze_gz
    fi
    rm -rf "$input" "$out"
}

# ---- perf-trace-ctl ------------------------------------------------------------------------------

ctl_figures() {
    if ! command -v node >/dev/null; then
        skip ctl "node is not installed"
    elif ! build_target "$build" -- perf-trace-ctl; then
        skip ctl "perf-trace-ctl was not built"
    else
        setup_say "ctl" >&2
        node "$here/bench_ctl.js" "$build/bin/perf-trace-ctl" "$rounds" >>"$results" ||
            setup_say "bench_ctl.js failed" >&2
    fi
}

# ---- stacks --------------------------------------------------------------------------------------

by_stacks() { took 1 - "$build/bin/perf-trace-stacks" top "$input"; }
by_leaves() { took 1 - python3 "$here/stack_leaves.py" "$input"; }

stacks_figures() {
    local input=$work/bench-stacks.txt out=$work/bench-stacks.out
    if ! build_target "$build" -- perf-trace-stacks; then
        tail -n 20 "$build.log" >&2
        skip stacks.top "perf-trace-stacks was not built"
    elif ! command -v python3 >/dev/null; then
        skip stacks.top "python3 is not installed"
    else
        setup_say "stacks, python" >&2
        "$bin/bench_stacks" --file "$input" --bytes "$(of_quick 100000000)"
        cat "$input" >/dev/null
        versus stacks.top python3 "$(megabytes "$input")" by_leaves by_stacks
    fi
    rm -f "$input" "$out"
}

# ---- the Python package --------------------------------------------------------------------------

python_figures() {
    local dir=$work/bench-python figure
    if ! command -v python3 >/dev/null; then
        for figure in scope args2 call off memory; do
            skip "python.$figure" "python3 is not installed"
        done
        return
    fi
    setup_say "python" >&2
    PERFTRACE_LIBRARY=$build/src/libperftrace.so PYTHONPATH=$setup_root/src/bindings/python \
        python3 -B "$here/bench_python.py" --dir "$dir" --rounds "$rounds" \
        --count "$(of_quick 200000)" >>"$results" || setup_say "bench_python.py failed" >&2
    rm -rf "$dir"
}

# ---- forwarding ----------------------------------------------------------------------------------

# Real parts: traced processes or simulated ranks, nats-server, perf-trace-collect.
stream_figures() {
    local nats slow=1 part parts=()
    for part in forward rate ranks many; do
        if wants "stream.$part" || [[ " ${names[*]-} " == *" stream.$part."* ]] ||
            [[ $part == rate && " ${names[*]-} " == *" stream.request "* ]]; then
            parts+=("$part")
        fi
    done
    if ! command -v node >/dev/null; then
        skip stream.rate "node is not installed"
        return
    fi
    if ! build_target "$build" -- perf-trace-collect perf-trace-forward perf-trace-recover \
        stream_worker; then
        tail -n 20 "$build.log" >&2
        skip stream.rate "perf-trace-collect was not built"
        return
    fi
    nats=$(PATH=$PATH:/usr/sbin command -v nats-server || true)
    if ! cmake --build "$build" --target perftrace_nats >/dev/null 2>&1; then
        nats=
    fi
    [ $quick = yes ] && slow=5
    STREAM_WORKER=$build/tests/stream_worker PERFTRACE_COLLECT=$build/bin/perf-trace-collect \
        STREAM_NATS_SERVER=$nats STREAM_NATS_LIBRARY=${nats:+$build/src/libperftrace-nats.so} \
        STREAM_BENCH=$bin node "$here/bench_stream.js" "$work/bench-stream" "$rounds" "$slow" \
        "${parts[@]}" >>"$results" || setup_say "bench_stream.js failed" >&2
    rm -rf "$work/bench-stream"
}

# ---- ten thousand files --------------------------------------------------------------------------

# A command line has no room for them everywhere.
by_cat_all() {
    # shellcheck disable=SC2016
    took 1 "$out" sh -c 'cd "$1" && cat ./*.jsonl' sh "$input" && rm -f "$out"
}
by_us_all() { took 1 - "$build/bin/perf-trace-convert" "$input" -o "$out" && rm -f "$out"; }

# The largest number of descriptors that a command has open, looked for as often as it goes.
peak_descriptors() {
    local pid now most=0
    "$@" >/dev/null 2>&1 &
    pid=$!
    while [ -d "/proc/$pid/fd" ]; do
        now=$(find "/proc/$pid/fd" -mindepth 1 2>/dev/null | wc -l)
        if [ "$now" -gt "$most" ]; then
            most=$now
        fi
    done
    wait "$pid" && echo "$most"
}

files_figures() {
    local data=$work/bench-files input=$work/bench-files/in out=$work/bench-files/out.json count peak
    mkdir -p "$input"
    if ! build_target "$build" -- perf-trace-convert; then
        tail -n 20 "$build.log" >&2
        skip files.cat "perf-trace-convert was not built"
        return
    fi
    setup_say "ten thousand files" >&2
    count=$(of_quick 10000)
    "$bin/bench_rank_files" --make "$input" "$count" 100000
    if wants files.cat; then
        by_cat_all >/dev/null # they are in the page cache from here on
        versus files.cat cat "$(du -b "$input" | awk '{ printf "%.1f", $1 / 1e6 }')" by_cat_all by_us_all
    fi
    if wants files.memory && peak=$(took 3 - "$build/bin/perf-trace-convert" "$input" -o "$out"); then
        result files.memory "$peak"
        detail files.memory "$count files of 100 kB"
    fi
    if wants files.descriptors &&
        peak=$(peak_descriptors "$build/bin/perf-trace-convert" "$input" -o "$out"); then
        result files.descriptors "$peak"
        detail files.descriptors "the most that were seen in /proc while it ran"
    fi
    rm -rf "$data"
}

# ---- the run -------------------------------------------------------------------------------------

machine() {
    printf 'Machine: %s, %s processors, Linux %s, %s. ' \
        "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$(nproc)" \
        "$(uname -r)" "$(gcc --version | head -n 1)"
    printf 'Load when it began: %s. Rounds: %s%s.\n\n' "$load" "$rounds" \
        "$([ $quick = yes ] && echo ', quick')"
}

load=$(cut -d ' ' -f 1 /proc/loadavg)
for group in $groups; do
    case $group in
    scope)
        program scope
        lttng_peer
        ;;
    off)
        program off
        off_instructions
        ;;
    sustained)
        program sustained --count "$(of_quick 10000000)"
        LD_PRELOAD=$bin/libbench_shim.so program sustained --swallow \
            --count "$(of_quick 10000000)"
        ;;
    tail) program tail --count "$(of_quick 200000)" ;;
    control) program control --count "$(of_quick 1000)" ;;
    stall) LD_PRELOAD=$bin/libbench_shim.so program stall --count "$(of_quick 10000)" ;;
    convert) convert_figures ;;
    sessions) sessions_figures ;;
    analyze) analyze_figures ;;
    stacks) stacks_figures ;;
    ctl) ctl_figures ;;
    python) python_figures ;;
    stream) stream_figures ;;
    files) files_figures ;;
    *) program "$group" ;;
    esac
done

machine
awk -v json="$json" -f "$here/table.awk" "$here/rows.tsv" "$results"
