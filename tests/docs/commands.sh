#!/usr/bin/env bash
# commands.sh SOURCE WORK: runs the commands of the pages about many machines as they stand there. The machines are
# addresses of a network of its own, known by the names that the pages give them; WORK keeps the list of these.
# Exit status 77: something it needs is not here. SPDX-License-Identifier: MIT
set -u
source=$1 work=$2

skip() {
    printf '%s: %s\n' "${0##*/}" "$*"
    [ -n "${PERFTRACE_TEST_REQUIRE_ALL-}" ] && exit 1
    exit 77
}

# What no package brings: containers may not be allowed networks of their own.
cannot() {
    printf '%s: %s\n' "${0##*/}" "$*"
    exit 77
}

if [ -z "${PERFTRACE_TEST_ALONE-}" ]; then
    namespaces=(-n -m)
    [ "$(id -u)" -eq 0 ] || namespaces=(-U -r -n -m)
    unshare "${namespaces[@]}" true 2>/dev/null || cannot "no network namespace can be made here"
    PERFTRACE_TEST_ALONE=1 exec unshare "${namespaces[@]}" bash "${BASH_SOURCE[0]}" "$@"
fi
command -v ip >/dev/null || skip "ip is missing (Debian: iproute2)"
mkdir -p "$work"
ip link set lo up
# Open MPI wants a network that is none of the machine's own.
if ! { ip link add eth0 type veth peer name eth1 && ip link set eth0 up && ip link set eth1 up; }; then
    cannot "the network cannot be set up here"
fi
printf '127.0.0.1 localhost %s\n' "$(hostname)" >"$work/hosts"
for machine in 1 2 3; do
    ip addr add "10.0.0.$machine/24" dev eth0 || cannot "the network cannot be set up here"
done
printf '10.0.0.1 collector node1\n10.0.0.2 node2\n10.0.0.3 node3\n' >>"$work/hosts"
mount --bind "$work/hosts" /etc/hosts || cannot "names cannot be given to machines here"
exec node --test "$source/tests/docs/commands.test.js"
