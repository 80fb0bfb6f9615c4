// sessions_compare.test.js: perf-trace-sessions --compare tells change from noise.
// SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const t = require('./sessions_tool.js');

const T = 1760000000;

// A run of 300 tasks of 4 samples; samples of one task are alike.
function run(seed, { generate = 1, accepted = 0.7, tokens = 1 } = {}) {
    let state = seed;
    const random = () => { state = (state * 1103515245 + 12345) % 2147483648; return state / 2147483648; };
    const lines = [];
    for (let task = 0; task < 300; task++) {
        const base = 1 + 3 * random() ** 2;
        for (let i = 0; i < 4; i++) {
            const submit = T + task + i * 0.01, seconds = base * generate * (0.9 + 0.2 * random());
            const reward = 0.05 + 0.1 * random();
            lines.push(t.record({ task_id: task, session_id: task * 4 + i, submit_ts: submit,
                                  status: random() < accepted ? 'accepted' : 'rejected',
                                  finalized_ts: submit + seconds + reward, generate_s: seconds,
                                  reward_s: reward, counters: { tokens: Math.floor(100 * seconds * tokens) } }));
        }
    }
    return lines;
}
const dir = t.files({ 'a.jsonl': run(1), 'b.jsonl': run(2), 'slow.jsonl': run(3, { generate: 1.3 }),
                      'strict.jsonl': run(4, { accepted: 0.55 }), 'few.jsonl': run(5).slice(0, 12) });
const compare = (a, b, ...args) => {
    const r = t.report(['--compare', `${dir}/${a}.jsonl`, `${dir}/${b}.jsonl`, ...args]);
    assert.strictEqual(r.status, 0, r.stderr);
    return r;
};
const all = (r) => [...r.durations, ...r.counters, ...r.statuses];
const of = (r, name, figure) => r.durations.find((d) => d.name === name && d.figure === figure);

test('two runs that differ by chance show no significant change', () => {
    const r = compare('a', 'b');
    assert.deepStrictEqual(all(r).filter((d) => d.significant), []);
    for (const d of all(r).filter((x) => x.low !== null))
        assert(d.low <= 0 && d.high >= 0 && d.low < d.high, JSON.stringify(d));
});

test('a slower phase is found, in it and in the total, and nowhere else', () => {
    const r = compare('a', 'slow');
    for (const [name, significant] of [['total', true], ['generate', true], ['reward', false]]) {
        const d = of(r, name, 'mean');
        assert.strictEqual(d.significant, significant, name);
        assert(d.low <= d.change && d.change <= d.high, name);
    }
    const mean = of(r, 'generate', 'mean');
    assert(mean.change > 0.2 && mean.change < 0.4);
    assert(mean.high - mean.low < 0.3);
    assert(r.counters[0].significant); // tokens follow
    assert(!r.statuses.some((s) => s.significant));
});

test('fewer accepted sessions are found', () => {
    const r = compare('a', 'strict');
    const accepted = r.statuses.find((s) => s.status === 'accepted');
    assert(accepted.significant && accepted.change < -0.08 && accepted.change > -0.22);
    assert.strictEqual(of(r, 'total', 'mean').significant, false);
});

test('a run against itself has not changed', () => {
    const r = compare('a', 'a');
    for (const d of all(r)) {
        assert.strictEqual(d.change, 0);
        assert.strictEqual(d.significant, false);
    }
});

test('the same intervals every time, whatever the threads', () => {
    assert.deepStrictEqual(compare('a', 'slow', '-j1').stdout, compare('a', 'slow', '-j4').stdout);
});

test('a smaller confidence has smaller intervals', () => {
    const wide = of(compare('a', 'b'), 'total', 'mean');
    const narrow = of(compare('a', 'b', '--confidence', '80'), 'total', 'mean');
    assert(narrow.high - narrow.low < 0.7 * (wide.high - wide.low));
});

test('too few tasks have no intervals', () => {
    const r = compare('a', 'few');
    assert.strictEqual(r.method.replicates, null);
    assert(all(r).every((d) => d.low === null && !d.significant));
});

test('phases that only one of them has are shown', () => {
    const one = t.files({ 'a.jsonl': run(1), 'b.jsonl': run(2).map((l) => l.replace('reward_s', 'judge_s')) });
    const r = t.report(['--compare', `${one}/a.jsonl`, `${one}/b.jsonl`]);
    assert.deepStrictEqual([of(r, 'reward', 'mean').b, of(r, 'judge', 'mean').a], [null, null]);
    assert.strictEqual(of(r, 'judge', 'mean').significant, false);
});

test('filters hold for both sides', () => {
    const r = compare('a', 'slow', '--status', 'accepted');
    assert.deepStrictEqual(r.statuses.map((s) => [s.status, s.a, s.b]), [['accepted', 1, 1]]);
});
