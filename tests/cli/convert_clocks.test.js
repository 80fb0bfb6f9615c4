// convert_clocks.test.js: clocks that were measured against a collector's. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const t = require('./convert_tool.js');
const { S, machine, rank, meta, seconds } = require('./clock_ranks.js');

// Rank 1 is 250 ms ahead and 20 ppm fast.
const a = machine('boot-a');
const b = machine('boot-b', { mono0: 900n * S, ppm: 20n, wall: () => S / 4n });
const c = machine('boot-c', { mono0: 77n * S, ppm: -3n });

// The largest distance, in ns, between the times of `work` of the same true second in two ranks.
function apart(r, x, y) {
    const of = (n) => new Map(t.named(r.events, 'work').filter((e) => e.args.rank === n)
        .map((e) => [e.args.second, t.ns(e.ts)]));
    const [p, q] = [of(x), of(y)];
    assert(p.size > 0 && p.size === q.size);
    return Math.max(...[...p].map(([second, at]) => Math.abs(at - q.get(second))));
}

const convert = (...ranks) => {
    const r = t.convert(t.files(Object.fromEntries(ranks.map((lines, i) => [`traces-r${i}.jsonl`, lines]))));
    assert.strictEqual(r.status, 0, r.stderr);
    assert.strictEqual(t.complaints(r.out), '');
    return r;
};

test('readings of one collector put two machines on one axis', () => {
    const r = convert(rank(0, a, { work: seconds, ref: c, asks: seconds }),
                      rank(1, b, { work: seconds, ref: c, asks: seconds }));
    assert(apart(r, 0, 1) < 1000, `${apart(r, 0, 1)}`);
    const [zero, one] = r.meta.inputs;
    assert.strictEqual(zero.alignment, 'reference');
    assert.strictEqual(one.alignment, 'reference clock');
    assert(Math.abs(one.offset_ns - 250e6) < 1000, `${one.offset_ns}`);
    assert(Math.abs(one.drift_ppm - 20) < 0.01, `${one.drift_ppm}`);
    // Twice 20 us (both machines' readings), and what the drift may do in five seconds.
    assert(one.error_bound_ns > 20000 && one.error_bound_ns < 60000, `${one.error_bound_ns}`);
    assert.strictEqual(one.readings, seconds.length);
    assert.match(r.stderr, /reference clock, clock \+250\.000 ms, drift \+20\.000 ppm, within \d+(\.\d+)? us/);
    assert.deepStrictEqual(r.events.filter((e) => e.name === 'perftrace_reference'), []);
});

test('the collector may run where a rank does', () => {
    const r = convert(rank(0, a, { work: seconds }), rank(1, b, { work: seconds, ref: a, asks: seconds }));
    assert(apart(r, 0, 1) < 1000);
    assert.strictEqual(r.meta.inputs[1].alignment, 'reference clock');
});

test('ranks that are left out say nothing of the clocks of the others', () => {
    // Readings are of use only beside another machine's, and which file is opened first is chance.
    const lines = [rank(0, a, { work: seconds, ref: c, asks: seconds }),
                   ...[1, 2, 3, 4, 5, 6, 7, 8].map((n) => rank(n, b, { work: seconds, ref: c, asks: seconds }))];
    const dir = t.files(Object.fromEntries(lines.map((text, i) => [`traces-r${i}.jsonl`, text])));
    const clocks = (r) => {
        assert.strictEqual(r.status, 0, r.stderr);
        return r.meta.inputs.map((i) => [i.alignment, i.shift_ns, i.error_bound_ns, i.readings]);
    };
    const alone = clocks(t.convert(dir, [], lines.map((_, i) => `traces-r${i}.jsonl`).slice(1)));
    for (const jobs of ['1', '2', '8']) {
        assert.deepStrictEqual(clocks(t.convert(dir, ['--ranks', '1-8', '-j', jobs])), alone);
        assert.deepStrictEqual(clocks(t.convert(dir, ['-j', jobs])).map(([alignment]) => alignment),
                               ['reference', ...Array(8).fill('reference clock')]);
    }
});

test('one reading gives an offset, and a bound that says so', () => {
    const r = convert(rank(0, a, { work: seconds }), rank(1, b, { work: seconds, ref: a, asks: [50] }));
    const one = r.meta.inputs[1];
    assert.strictEqual(one.readings, 1);
    // 20 ppm in 50 s are 1 ms: within 500 ppm of 50 s.
    assert(apart(r, 0, 1) < one.error_bound_ns && apart(r, 0, 1) > 900000);
    assert(one.error_bound_ns > 25e6 && one.error_bound_ns < 26e6);
});

test('each rank has the best that its files allow', () => {
    const d = machine('boot-d', { mono0: 3n * S, ppm: -40n, wall: () => -S });
    const e = machine('boot-e', { mono0: 8n * S, wall: () => 2n * S });
    const r = convert(rank(0, a, { work: seconds, ref: c, asks: seconds }),
                      rank(1, b, { work: seconds, ref: c, asks: seconds, barriers: [5, 55, 95] }),
                      rank(2, d, { work: seconds, barriers: [5, 55, 95] }), rank(3, e, { work: seconds }));
    assert.deepStrictEqual(r.meta.inputs.map((i) => i.alignment),
                           ['reference', 'reference clock', 'barrier markers', 'wall clock (uncorrected)']);
    assert(apart(r, 0, 1) < 1000);
    assert(apart(r, 0, 2) < 2000, `${apart(r, 0, 2)}`);
    assert(Math.abs(apart(r, 0, 3) - 2e9) < 10000, `${apart(r, 0, 3)}`);
    assert.strictEqual(r.meta.inputs[3].error_bound_ns, null);
    assert.match(r.stderr, /uncorrected/);
});

test('a wall clock that is set by an hour changes nothing, and is told', () => {
    const stepped = machine('boot-b', { mono0: 900n * S, ppm: 20n,
                                        wall: (at) => S / 4n + (at >= 35n * S ? 3600n * S : 0n) });
    const r = convert(rank(0, a, { work: seconds, ref: c, asks: seconds }),
                      rank(1, stepped, { work: seconds, ref: c, asks: seconds }));
    assert(apart(r, 0, 1) < 1000);
    assert(Math.abs(r.meta.inputs[1].offset_ns - 250e6) < 1000);
    assert.strictEqual(r.meta.inputs[1].wall_clock_set, 1);
    assert(Math.abs(r.meta.inputs[1].wall_clock_set_ns - 3600e9) < 1e6);
    assert.match(r.stderr, /traces-r1\.jsonl: the wall clock was set while it was recorded, by \+3600\.000 s/);
    const only = convert(rank(0, a, { work: seconds }), rank(1, stepped, { work: seconds }));
    assert.match(only.stderr, /set while it was recorded/);
    assert.strictEqual(only.meta.inputs[1].alignment, 'wall clock (uncorrected)');
    assert(apart(only, 0, 1) < 4000e9);
});

test('odd readings are refused, whatever they say', () => {
    const pid = 71;
    const odd = [
        {}, { mono_ns: '1', ref_ns: '2', error_ns: 3 }, { mono_ns: '1', ref_ns: '2', error_ns: 3, ref: '' },
        { mono_ns: '-5', ref_ns: '2', error_ns: 3, ref: 'boot-c' }, { mono_ns: '5', ref_ns: '-2', error_ns: 3, ref: 'boot-c' },
        { mono_ns: '5', ref_ns: '2', error_ns: -3, ref: 'boot-c' },
        { mono_ns: '99999999999999999999999', ref_ns: '2', error_ns: 3, ref: 'boot-c' },
        { mono_ns: '9223372036854775807', ref_ns: '9223372036854775807', error_ns: 0, ref: 'boot-c' },
        { mono_ns: 1e300, ref_ns: [], error_ns: {}, ref: 7 }, { mono_ns: null, ref_ns: true, error_ns: 'x', ref: null },
        { mono_ns: '5', ref_ns: '7', error_ns: 3, ref: 'x'.repeat(4000) },
        { mono_ns: String(b.mono(50n * S)), ref_ns: '1', error_ns: 1, ref: 'boot-c' }, // it went back
        { mono_ns: String(b.mono(60n * S)), ref_ns: String(c.mono(60n * S) + S), error_ns: 0, ref: 'boot-c' },
        { mono_ns: String(b.mono(70n * S)), ref_ns: '7', error_ns: 3, ref: 'boot-b' } // its own clock
    ].map((args) => meta('perftrace_reference', args, pid));
    const r = convert(rank(0, a, { work: seconds, ref: c, asks: seconds }),
                      rank(1, b, { work: seconds, ref: c, asks: [...seconds, 5, 15, 25, 35, 45], extra: odd }));
    assert.strictEqual(r.meta.inputs[1].alignment, 'reference clock');
    assert.strictEqual(r.meta.inputs[1].readings_refused, 2);
    assert(apart(r, 0, 1) < 1000, `${apart(r, 0, 1)}`);
});

test('only nonsense is as if nothing had been measured', () => {
    const extra = [0, 1, 2, 3].map((i) => meta('perftrace_reference', {
        mono_ns: String(b.mono(BigInt(i) * S)), ref_ns: String(BigInt((i * 7919) % 5) * 1000n * S), error_ns: 5, ref: 'boot-a' }, 71));
    const r = convert(rank(0, a, { work: seconds }), rank(1, b, { work: seconds, extra }));
    assert.strictEqual(r.meta.inputs[1].alignment, 'wall clock (uncorrected)');
});

test('a drift that changes is followed', () => {
    // 20 ppm for 50 s, then 60 ppm.
    const own = (at) => at + at * 20n / 1000000n + (at > 50n * S ? (at - 50n * S) * 40n / 1000000n : 0n);
    const bent = { boot: 'boot-b', wall: () => 0n, own, mono: (at) => 900n * S + own(at) };
    const often = Array.from({ length: 51 }, (_, i) => 2 * i);
    const r = convert(rank(0, a, { work: seconds }), rank(1, bent, { work: seconds, ref: a, asks: often, error_ns: 5000 }));
    const one = r.meta.inputs[1];
    assert.strictEqual(one.alignment, 'reference clock');
    assert.strictEqual(one.readings_refused, undefined);
    assert(apart(r, 0, 1) <= one.error_bound_ns && apart(r, 0, 1) < 50000, `${apart(r, 0, 1)}, ${one.error_bound_ns}`);
});
