#!/usr/bin/env bash
# demo.sh: from a bare Debian to a trace of a training run on four ranks.
# SPDX-License-Identifier: MIT
set -u
# shellcheck source=tests/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/../tests/setup.sh"

nodes=
case ${1-} in
"") ;;
--three-nodes) nodes=3 ;;
-h | --help)
    cat <<'TEXT'
Usage: examples/demo.sh [--three-nodes]
Installs what is missing with apt (a compiler, CMake and a few libraries; Open MPI if it can be
had), builds into build/demo, trains a small transformer on 4 ranks, and converts what the ranks
recorded into build/demo-out/trace.json. Then it samples and scores text on 2 ranks, as
reinforcement learning does, and reports its sessions. Running it again is quick and starts afresh.
  --three-nodes  trains on three machines instead, network namespaces whose clocks disagree, and
                 collects through NATS on three servers, one of which is killed (needs root)
TEXT
    exit 0
    ;;
*) setup_die "unknown option $1; see --help" ;;
esac

started=$SECONDS
build=$setup_root/build/demo
out=$setup_root/build/demo-out

setup_install "${setup_build_packages[@]}" || setup_die "the packages could not be installed"
# Without MPI the ranks are forked processes: the demo goes on.
setup_install "${setup_mpi_packages[@]}" ||
    setup_say "no Open MPI: the ranks will be forked processes"

setup_say "building the library, the tools and the examples in build/demo"
setup_build "$build" -DCMAKE_BUILD_TYPE=Release -DPERFTRACE_BUILD_TESTS=OFF ||
    setup_die "the build failed"

[ -z "$nodes" ] || exec "$setup_root/examples/three_nodes.sh" "$build"

rm -rf "$out"
mkdir -p "$out"
text=("$setup_root"/README.md "$setup_root"/docs/*.md "$setup_root"/include/perftrace/*.h)
for file in "${text[@]}"; do
    [ -s "$file" ] && kept+=("$file")
done
# Only these settings: what the caller's shell exports for another program stays out.
while read -r name; do
    unset "$name"
done < <(compgen -e PERFTRACE_)
export PERFTRACE_DIR=$out/traces
train=(--steps 300 --checkpoint "$out/checkpoint.bin" "${kept[@]}")
if [ -x "$build/examples/train/train_mpi" ] && command -v mpirun >/dev/null; then
    setup_say "training on 4 ranks with mpirun"
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    # More ranks than cores is fine here; the shared-memory transport needs no ptrace.
    mpirun --oversubscribe --mca btl_vader_single_copy_mechanism none -n 4 \
        "$build/examples/train/train_mpi" "${train[@]}" || setup_die "the training failed"
else
    setup_say "training on 4 forked ranks"
    "$build/examples/train/train_fork" --ranks 4 "${train[@]}" || setup_die "the training failed"
fi

convert=$build/bin/perf-trace-convert
setup_say "merging the ranks"
"$convert" "$PERFTRACE_DIR" -o "$out/trace.json" || setup_die "the conversion failed"

setup_say "sampling and scoring on 2 forked ranks"
PERFTRACE_DIR=$out/rollout "$build/examples/rollout/rollout" "${kept[@]}" ||
    setup_die "the rollout failed"
"$convert" "$out/rollout" -o "$out/rollout.json" || setup_die "the conversion failed"
"$build/bin/perf-trace-sessions" "$out/rollout" --top 5 -B 6 --html "$out/sessions.html" ||
    setup_die "the report failed"

cat <<TEXT
== done in $((SECONDS - started)) s
   trace      ${out#"$PWD"/}/trace.json
   look       open it in https://ui.perfetto.dev or https://www.speedscope.app
              (both read the file in the browser, nothing is uploaded)
   see        train.step on each rank: forward, backward, allreduce, optimizer; arrows lead from
              the loader thread's batches to the steps; loss and tokens/s are counters
   rollout    ${out#"$PWD"/}/rollout.json: each session a track, with its phases in it
   report     ${out#"$PWD"/}/sessions.html: open it in a browser
TEXT
