// clock_ranks.js: traces of ranks whose machines' clocks disagree, made up. SPDX-License-Identifier: MIT
'use strict';
const { header, scope, footer, us } = require('./trace_lines.js');

const S = 1000000000n;
const EPOCH = 1790000000n * S;

// A machine whose monotonic clock reads mono0 at true time 0 and runs `ppm` fast; `wall` is how far its wall
// clock is ahead of true time (a function of true time, in ns).
function machine(boot, { mono0 = 5n * S, ppm = 0n, wall = () => 0n } = {}) {
    const own = (t) => t + t * ppm / 1000000n; // ns past mono0
    return { boot, wall, own, mono: (t) => mono0 + own(t) };
}

const meta = (name, args, pid) => JSON.stringify({ name, ph: 'M', pid, tid: pid, args })
    .replace(/^\{"name":"/, '{"name": "');

// What a rank writes: scopes "work" at these true seconds, each 1 ms long; its clock against `ref`, whose
// clock it asks at these true seconds, to within error_ns; barriers that end at these true seconds.
function rank(r, m, { work = [], ref = null, asks = [], error_ns = 20000, barriers = [], late = 0n, extra = [],
                      events = [] } = {}) {
    const pid = 70 + r;
    const lines = [header({ rank: r, world_size: 4, pid, host: `node-${m.boot}`, boot_id: m.boot, mono_ns: String(m.mono(0n)),
                            epoch_ns: String(EPOCH + m.wall(0n)) })];
    for (let t = 0n; t <= 100n; t += 10n)
        lines.push(meta('perftrace_clock', { ts: Number(us(Number(m.own(t * S)))), mono_ns: String(m.mono(t * S)),
                                             epoch_ns: String(EPOCH + t * S + m.wall(t * S)) }, pid));
    for (const t of asks)
        lines.push(meta('perftrace_reference', { mono_ns: String(m.mono(BigInt(t) * S)), error_ns,
                                                 ref_ns: String(ref.mono(BigInt(t) * S)), ref: ref.boot }, pid));
    for (const [i, t] of barriers.entries()) {
        const at = Number(m.own(BigInt(t) * S) + late);
        lines.push(`{"name": "perftrace_sync", "ph": "i", "ts": ${us(at)}, "pid": ${pid}, "tid": ${pid}, ` +
                   `"cat": "comm", "args": {"sync_id": ${i}}, "s": "t"}`);
    }
    for (const t of work) {
        const at = Number(m.own(BigInt(t) * S));
        lines.push(scope('work', at, at + 1000000, { pid, args: { second: t, rank: r } }));
    }
    return [...lines, ...events, ...extra, footer({ emitted: work.length, written: work.length }, pid)];
}

const seconds = [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100];

module.exports = { S, EPOCH, machine, rank, meta, seconds };
