// mixed_lines.js: the lines of several processes, in one file. SPDX-License-Identifier: MIT
'use strict';
const { header, scope, threadName, footer, us } = require('./trace_lines.js');

// A rank that starts `late` ns after the first one, on a machine of its own or not; sessions and flows
// have the same ids in every rank.
function rank(r, { pid = 100 + r, boot = 'boot', late = r * 7800000, count = 400 } = {}) {
    const edge = (ph, ns, cat, args) => `{"name": "session", "ph": "${ph}", "ts": ${us(ns)}, "pid": ${pid}, "tid": ${pid}, ` +
        `"cat": "${cat}", "id": "0x1", "args": ${JSON.stringify({ ...args, rank: r }).replace(/([:,])/g, '$1 ')}}`;
    const lines = [header({ rank: r, world_size: 3, pid, boot_id: boot, host: `node-${boot}`, epoch_ns: String(1790000000000000000n + BigInt(late)),
                            mono_ns: String(5000000000 + late) }),
                   threadName(`main of ${r}`, pid).replace('"rank": 0', `"rank": ${r}`), edge('b', 500, 'session', { task_id: r })];
    for (let i = 0; i < count; i++) // true times are those of rank 0's clock
        lines.push(scope(`work ${r}`, 10000000 * (i + 1) - late, 10000000 * (i + 1) - late + 1000 * (r + 1), { pid, args: { n: i, rank: r } }));
    lines.push(edge('e', 10000000 * (count + 2), 'session', { status: 'accepted', reason: null }));
    return [...lines, footer({ emitted: count, written: count, rank: r }, pid)];
}

// Lines of the ranks in turns of `each`, the first ones of the first rank.
function mixed(ranks, each, first = 0) {
    const left = ranks.map((lines) => [...lines]);
    const all = left[0].splice(0, first);
    while (left.some((lines) => lines.length > 0))
        for (const lines of left)
            all.push(...lines.splice(0, each));
    return all.map((l) => `${l}\n`).join('');
}

module.exports = { rank, mixed };
