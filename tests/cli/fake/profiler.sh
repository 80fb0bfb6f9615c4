#!/usr/bin/env bash
# profiler.sh: stands in for nsys and rocprof-sys-python. SPDX-License-Identifier: MIT
#
# Runs the worker and writes <prefix><pid>.report. FAKE says how it misbehaves:
#   late        needs FAKE_SECONDS for the report
#   hang        never ends, with a process below it
#   freeze      never ends, with none
#   nothing     writes no report
#   empty       writes an empty one
#   unfinished  leaves a stream that is still to be converted
#   die         is killed while the worker runs
#   early       ends before the worker, its report written
#   background  ends at once and leaves the writing to another process
# It has no handler for signals: one that reaches it ends it without a report.
set -u

prefix=${ROCPROFSYS_OUTPUT_PATH:-.}/${ROCPROFSYS_OUTPUT_PREFIX:-report}
while [ $# -gt 0 ]; do
    case $1 in
    -o)
        prefix=$2
        shift 2
        break
        ;;
    --)
        shift
        break
        ;;
    *) shift ;;
    esac
done
report=${prefix//%p/$$}.report

# Waits without a child: the worker is the only one.
exec {nothing}<> <(:)
pause() {
    read -r -t "$1" -u "$nothing"
}

"$@" &
worker=$!
case ${FAKE-} in
die)
    pause "${FAKE_SECONDS:-0.5}"
    kill -KILL $$
    ;;
early)
    pause "${FAKE_SECONDS:-0.5}"
    echo written >"$report"
    exit 0
    ;;
esac
wait "$worker"
status=$?
case ${FAKE-} in
late) sleep "${FAKE_SECONDS:-5}" ;;
hang) sleep 1000 ;;
freeze) pause 1000 ;;
nothing) exit "$status" ;;
empty)
    : >"$report"
    exit "$status"
    ;;
unfinished)
    echo half >"${report%.report}.qdstrm"
    exit "$status"
    ;;
background)
    (
        sleep "${FAKE_SECONDS:-1}"
        echo written >"$report"
    ) </dev/null >/dev/null 2>&1 &
    exit "$status"
    ;;
esac
echo written >"$report"
exit "$status"
