// analyze_clocks.test.js: start times of ranks whose machines' clocks disagree. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const t = require('./analyze_tool.js');
const { S, machine, rank, seconds } = require('./clock_ranks.js');

const a = machine('boot-a');
const b = machine('boot-b', { mono0: 900n * S, ppm: 20n, wall: () => S / 4n });
const c = machine('boot-c', { mono0: 77n * S, ppm: -3n });
// Steps begin at the same true seconds in every rank; rank 0 begins first, at true second 0.
const steps = (r, m) => ({ events: seconds.slice(r).map((s) => {
    const at = Number(m.own(BigInt(s) * S)), us = `${Math.floor(at / 1000)}.${String(at % 1000).padStart(3, '0')}`;
    return `{"name": "step", "ph": "X", "ts": ${us}, "dur": 1000.000, "pid": ${70 + r}, "tid": ${70 + r}, ` +
        `"cat": "compute", "args": {"global_step": ${s}, "rank": ${r}}}`; }) });
const lines = (...ranks) => t.files(Object.fromEntries(ranks.map((l, i) => [`traces-r${i}.jsonl`, l.join('\n') + '\n'])));
const start = (report, r) => t.row(report.ranks, { rank: r }).start_s;

test('measured clocks put the ranks on the axis of rank 0', () => {
    const dir = lines(rank(0, a, { ref: c, asks: seconds, ...steps(0, a) }), rank(1, b, { ref: c, asks: seconds, ...steps(1, b) }));
    const report = t.report([dir]);
    assert.strictEqual(report.status, 0, report.stderr);
    t.near(start(report, 0), 0, 'rank 0', 1e-9);
    t.near(start(report, 1), 10, 'rank 1', 1e-6);
    const one = t.row(report.ranks, { rank: 1 });
    assert.strictEqual(one.clock, 'reference clock');
    t.near(one.clock_offset_s, 0.25, 'offset', 1e-6);
    t.near(one.clock_drift_ppm, 20, 'drift', 0.01);
    assert(one.clock_bound_s > 20e-6 && one.clock_bound_s < 60e-6, `${one.clock_bound_s}`);
    assert.strictEqual(t.row(report.ranks, { rank: 0 }).clock, 'reference');
    for (const [r, list] of [[0, seconds], [1, seconds.slice(1)]])
        for (const [i, s] of list.entries())
            t.near(report.steps.filter((x) => x.rank === r)[i].start_s, s, `step ${s} of rank ${r}`, 1e-6);
});

test('results that are merged are aligned as one run aligns them', () => {
    const dir = lines(rank(0, a, { ref: c, asks: seconds, ...steps(0, a) }), rank(1, b, { ref: c, asks: seconds, ...steps(1, b) }));
    const whole = t.run(['--json', dir]);
    const parts = t.folder();
    for (const i of [0, 1]) {
        const r = t.run([t.path.join(dir, `traces-r${i}.jsonl`), '--partial', t.path.join(parts, `${i}.result`)]);
        assert.strictEqual(r.status, 0, r.stderr);
    }
    const merged = t.run(['merge', '--json', parts]);
    assert.strictEqual(merged.status, 0, merged.stderr);
    assert.deepStrictEqual(JSON.parse(merged.stdout).ranks.map((r) => [r.start_s, r.clock, r.clock_bound_s]),
                           JSON.parse(whole.stdout).ranks.map((r) => [r.start_s, r.clock, r.clock_bound_s]));
});

test('barriers where nothing was measured, else the wall clocks, and it is said', () => {
    const barriers = [5, 55, 95];
    let report = t.report([lines(rank(0, a, { barriers, ...steps(0, a) }), rank(1, b, { barriers, ...steps(1, b) }))]);
    assert.strictEqual(report.status, 0, report.stderr);
    t.near(start(report, 1), 10, 'rank 1', 1e-5);
    assert.strictEqual(t.row(report.ranks, { rank: 1 }).clock, 'barrier markers');
    report = t.report([lines(rank(0, a, steps(0, a)), rank(1, b, steps(1, b)))]);
    t.near(start(report, 1), 10.25, 'rank 1', 1e-4);
    const one = t.row(report.ranks, { rank: 1 });
    assert.strictEqual(one.clock, 'wall clock (uncorrected)');
    assert.strictEqual(one.clock_bound_s, null);
});
