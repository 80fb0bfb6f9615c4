// mixed_lines.js: the lines of several processes, in one file. SPDX-License-Identifier: MIT
'use strict';
const { header, scope, threadName, footer, us } = require('./trace_lines.js');

// A rank that starts `late` ns after the first one, on a machine of its own or not; sessions and flows
// have the same ids in every rank. role: its role; counters: with counters, whose lines tell of no rank;
// known: whether it knows its rank.
function rank(r, { pid = 100 + r, boot = 'boot', late = r * 7800000, count = 400, role = null, counters = false, known = true, world = 3 } = {}) {
    const who = { ...known ? { rank: r } : {}, ...role !== null ? { role } : {} };
    const spaced = (args) => JSON.stringify(args).replace(/([:,])/g, '$1 ');
    const edge = (ph, ns, cat, args) => `{"name": "session", "ph": "${ph}", "ts": ${us(ns)}, "pid": ${pid}, "tid": ${pid}, ` +
        `"cat": "${cat}", "id": "0x1", "args": ${spaced({ ...args, ...who })}}`;
    const lines = [header({ rank: known ? r : null, role, world_size: world, pid, boot_id: boot, host: `node-${boot}`,
                            epoch_ns: String(1790000000000000000n + BigInt(late)), mono_ns: String(5000000000 + late) }),
                   threadName(`main of ${r}`, pid).replace('"rank": 0', spaced({ ...who, of: r }).slice(1, -1)), edge('b', 500, 'session', { task_id: r })];
    for (let i = 0; i < count; i++) { // true times are those of rank 0's clock
        lines.push(scope(`work ${r}`, 10000000 * (i + 1) - late, 10000000 * (i + 1) - late + 1000 * (r + 1), { pid, args: { n: i, ...who } }));
        if (counters && i % 3 === 0)
            lines.push(`{"name": "memory", "ph": "C", "ts": ${us(10000000 * (i + 1) - late + 5000)}, "pid": ${pid}, "tid": ${pid}, ` +
                       `"cat": "memory", "args": {"bytes of ${r}": ${i}}}`);
    }
    lines.push(edge('e', 10000000 * (count + 2), 'session', { status: 'accepted', reason: null }));
    return [...lines, footer({ emitted: count, written: count, ...who }, pid)];
}

// Lines of the ranks in turns of `each`, the first ones of the first rank. As perf-trace-collect has it, where a turn
// begins with a line that tells of no rank, the header says once more whose it is.
function mixed(ranks, each, first = 0) {
    const left = ranks.map((lines) => [...lines]);
    const all = left[0].splice(0, first);
    while (left.some((lines) => lines.length > 0))
        left.forEach((lines, i) => {
            const turn = lines.splice(0, each);
            if (turn.length > 0 && !/"rank": ?\d/.test(turn[0]))
                all.push(ranks[i][0]);
            all.push(...turn);
        });
    return all.map((l) => `${l}\n`).join('');
}

// Some, and in what they differ.
const kinds = [
    ['of one machine', [0, 1, 2].map((r) => rank(r))],
    ['with the same pid everywhere, as in containers', [0, 1, 2].map((r) => rank(r, { pid: 7, boot: `boot-${r}`, counters: true }))],
    ['of two roles with the same ranks and pids', [['actor', 0], ['rollout', 0], ['actor', 1]].map(([role, r], i) =>
        rank(r, { pid: 7, boot: `boot-${i}`, role, counters: true, late: i * 7800000, world: 2 }))],
    ['of unknown rank with the same pid', [0, 1, 2].map((r) => rank(r, { pid: 7, boot: `boot-${r}`, counters: true, known: false }))],
];

module.exports = { rank, mixed, kinds };
