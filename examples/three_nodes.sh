#!/usr/bin/env bash
# three_nodes.sh [BUILD [OUT]]: a training run on three machines whose clocks disagree, forwarded
# through NATS JetStream on three servers, of which one is killed half way. The machines are network
# namespaces. BUILD: build/demo unless given. SPDX-License-Identifier: MIT
set -u
# shellcheck source=tests/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/../tests/setup.sh"
if [ "$(id -u)" -ne 0 ]; then
    sudo -n true 2>/dev/null || { echo "three_nodes.sh: this needs root or sudo"; exit 77; }
    exec sudo -- "$0" "$@"
fi
build=${1:-$setup_root/build/demo}
out=${2:-$setup_root/build/demo-out/three-nodes}
steps=${PERFTRACE_TEST_STEPS:-60}
[ -x "$build/examples/train/train_mpi" ] || setup_die "there is no train_mpi in $build: run examples/demo.sh"
setup_install nats-server iproute2 jq "${setup_mpi_packages[@]}" || setup_die "the packages could not be installed"

# ---- three machines and a switch ----
id=pt$$
net=10.213.77
can_have_namespaces() {
    local status
    ip netns add "$id-try" 2>/dev/null || return 1
    ip netns exec "$id-try" true 2>/dev/null
    status=$?
    ip netns del "$id-try"
    return "$status"
}
can_have_namespaces || { echo "three_nodes.sh: no network namespaces can be made here"; exit 77; }

take_down() {
    local node
    for node in 1 2 3 0; do
        ip netns pids "$id-node$node" 2>/dev/null | xargs -r kill -9 2>/dev/null
        ip netns del "$id-node$node" 2>/dev/null
        rm -rf "/etc/netns/$id-node$node"
    done
}
trap take_down EXIT

on() { # NODE COMMAND...: a machine of its own name
    local node=$1
    shift
    # shellcheck disable=SC2016 # of the inner shell
    ip netns exec "$id-node$node" unshare --uts sh -c 'hostname "$0"; exec "$@"' "node$node" "$@"
}

bring_up() {
    local node hosts="127.0.0.1 localhost"
    for node in 1 2 3; do
        hosts=$hosts$'\n'"$net.$node node$node"
    done
    ip netns add "$id-node0" && ip -n "$id-node0" link add switch type bridge &&
        ip -n "$id-node0" addr add "$net.254/24" dev switch && ip -n "$id-node0" link set switch up || return 1
    ip -n "$id-node0" link set lo up
    for node in 1 2 3; do
        mkdir -p "/etc/netns/$id-node$node"
        printf '%s\n' "$hosts" >"/etc/netns/$id-node$node/hosts"
        ip netns add "$id-node$node" &&
            ip -n "$id-node0" link add "port$node" type veth peer name eth0 netns "$id-node$node" &&
            ip -n "$id-node0" link set "port$node" master switch up &&
            ip -n "$id-node$node" addr add "$net.$node/24" dev eth0 &&
            ip -n "$id-node$node" link set eth0 up && ip -n "$id-node$node" link set lo up || return 1
    done
}

rm -rf "$out"
mkdir -p "$out"
setup_say "three machines: node1, node2, node3"
bring_up || setup_die "the network could not be made"

# ---- JetStream on all three ----
routes=nats://$net.1:6222,nats://$net.2:6222,nats://$net.3:6222
nats=nats://$net.1:4222,nats://$net.2:4222,nats://$net.3:4222
server() { # NODE
    on "$1" nats-server -js -sd "$out/nats$1" -a "$net.$1" -p 4222 --server_name "node$1" \
        --cluster_name demo --cluster "nats://$net.$1:6222" --routes "$routes" >"$out/nats$1.log" 2>&1
}
setup_say "a NATS server on each of them"
for node in 1 2 3; do
    server "$node" &
done
for _ in $(seq 300); do # until a leader is there
    ! grep -qs 'JetStream cluster new metadata leader' "$out"/nats?.log || break
    sleep 0.1
done

# ---- who collects, and the job ----
setup_say "collecting beside them"
ip netns exec "$id-node0" "$build/bin/perf-trace-collect" --nats "$nats" --run demo --replicas 3 \
    -o "$out/collected" --until-done --timeout 300s 2>"$out/collect.log" &
collect=$!

# Each rank's machine: its clocks 250 ms apart, one gaining 20 us a second on the next.
${CC:-cc} -D_GNU_SOURCE -shared -fPIC -o "$out/clock_shim.so" "$setup_root/tests/clock/clock_shim.c" -ldl ||
    setup_die "the clocks could not be skewed"
cat >"$out/rank.sh" <<TEXT
#!/bin/sh
# What mpirun starts for each rank.
rank=\$OMPI_COMM_WORLD_RANK
export PERFTRACE_DIR=$out/local/node\$((rank + 1)) PERFTRACE_RUN_ID=demo PERFTRACE_LOG_STDERR=1
export PERFTRACE_FORWARD=$nats PERFTRACE_FORWARD_REPLICAS=3 PERFTRACE_FORWARD_WAIT_MS=60000
export LD_PRELOAD=$out/clock_shim.so CLOCK_SHIM_BOOT=machine-\$rank
export CLOCK_SHIM_OFFSET_NS=\$((rank * 250000000)) CLOCK_SHIM_PPB=\$((rank * 20000))
exec $build/examples/train/train_mpi --steps $steps $setup_root/README.md $setup_root/docs/CONVERT.md
TEXT
cat >"$out/remote.sh" <<TEXT
#!/bin/sh
# What mpirun calls instead of ssh: HOST COMMAND...
host=\$1
shift
exec ip netns exec "$id-\$host" unshare --uts sh -c "hostname \$host; \$*"
TEXT
chmod +x "$out"/*.sh
while read -r name; do # what the caller's shell exports for another program stays out
    unset "$name"
done < <(compgen -e PERFTRACE_)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
setup_say "training on three ranks, one a machine"
on 1 mpirun --host node1:1,node2:1,node3:1 -n 3 --mca plm_rsh_agent "$out/remote.sh" \
    --mca btl tcp,self --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0 \
    "$out/rank.sh" 2>"$out/job.log" &
job=$!

have() { cat "$out"/collected/demo/*/traces-*.jsonl 2>/dev/null | wc -l; }
while [ "$(have)" -lt $((steps * 24)) ] && kill -0 "$job" 2>/dev/null; do # of about 26 lines a step and rank
    sleep 0.2
done
kill -0 "$job" 2>/dev/null || setup_say "(the training was faster than the killer)"
setup_say "node2's NATS server is killed; $(have) lines have arrived"
ip netns pids "$id-node2" | while read -r pid; do
    [ "$(cat "/proc/$pid/comm" 2>/dev/null)" != nats-server ] || kill -9 "$pid"
done
wait "$job" || { cat "$out/job.log" >&2; setup_die "the training failed"; }
wait "$collect"
status=$?
cat "$out/collect.log"
[ "$status" -eq 0 ] || setup_die "not everything was collected"

# ---- what arrived ----
for rank in 0 1 2; do
    cmp "$out/local/node$((rank + 1))/traces-r$rank.jsonl" "$out/collected/demo/trainer/traces-r$rank.jsonl" ||
        setup_die "rank $rank's trace is not what it was"
done
setup_say "the traces are those of the machines, byte for byte"
"$build/bin/perf-trace-convert" "$out/collected/demo" -o "$out/trace.json" || setup_die "the conversion failed"
jq -r '.metadata.perftrace_convert.inputs[] | "   rank \(.rank) on \(.host): \(.alignment), its clock \(
    .offset_ns / 1e6) ms ahead and \(.drift_ppm * 100 | round / 100) ppm fast, aligned to \(
    .error_bound_ns / 1e3) us at worst"' "$out/trace.json"
# All ranks leave an all-reduce together; what lies between their ends is the clocks' disagreement and the time that
# the last message takes.
jq -e '[.traceEvents[] | select(.name == "allreduce" and .ph == "X")] | group_by(.args.global_step)
    | map(select(length == 3) | map(.ts + .dur) | (max - min)) | sort
    | {steps: length, median_us: (.[length / 2 | floor] // 1e9)} | select(.steps > 0)' "$out/trace.json" >"$out/spread.json"
setup_say "ends of an all-reduce on the three machines: $(jq -r '"\(.median_us | round) us apart (median of \(.steps))"' "$out/spread.json")"
echo "   look       open ${out#"$PWD"/}/trace.json in https://ui.perfetto.dev"
