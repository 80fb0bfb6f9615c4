// train.test.js: the queries on what the training example leaves, against our tools. SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const test = require('node:test');
const t = require('./query_tool.js');
const f = require('./figures.js');
const { everything } = require('./checks.js');

const OUT = 'perftrace-out';
const dir = t.folder();
t.example(dir, OUT, 'train', ['--ranks', '3', '--steps', '14']);
t.example(dir, 'perftrace-before', 'train', ['--ranks', '2', '--steps', '10']);
t.pack(path.join(dir, OUT, 'traces-r1.jsonl')); // one of them as gzip
const truth = f.load(path.join(dir, OUT));

let q, rows;
test('every query says what the lines say', async () => {
    q = await t.open(dir);
    await q.setup('setup');
    rows = await everything(q, truth);
});

test('the account is complete, and the same as the converter\'s', () => {
    const said = t.said('convert', ['--check', '--json', path.join(dir, OUT)]).perftrace_convert;
    assert.deepStrictEqual(rows.account.map((r) => [r.rank, r.state]), [0, 1, 2].map((r) => [r, 'complete']));
    const all = Object.values(said.events_read).reduce((a, b) => a + b, 0);
    assert.strictEqual(f.sum(rows.account.map((r) => r.events)), all);
    assert.deepStrictEqual(rows.losses, []);
    assert.deepStrictEqual(rows.unfinished, []);
});

test('names, steps and counters are those of perf-trace-analyze', () => {
    const said = t.said('analyze', ['--json', '--top-n', '0', path.join(dir, OUT)]);
    t.agree(rows.names.map((r) => ({ ...r, min_s: r.min_ms / 1e3, max_s: r.max_ms / 1e3 })),
            said.names.map((r) => ({ name: r.name, n: r.count, total_s: r.total_s, min_s: r.min_s, max_s: r.max_s })),
            ['name'], 'names');
    t.agree(rows.steps.map((r) => ({ ...r, mean_s: r.mean_ms / 1e3, min_s: r.min_ms / 1e3, max_s: r.max_ms / 1e3 })),
            said.step_ranks.map((r) => ({ step: r.step, ranks: r.ranks, mean_s: r.mean_s, min_s: r.min_s,
                                          max_s: r.max_s, fastest: r.fastest_rank, slowest: r.slowest_rank,
                                          imbalance: r.imbalance })),
            ['step'], 'steps');
    t.agree(rows.counters.map((r) => ({ ...r, count: r.n })),
            said.counters.map((r) => ({ rank: r.rank, name: r.name, count: r.count, least: r.min, mean: r.mean,
                                        greatest: r.max, last: r.last })), ['rank', 'name'], 'counters');
    assert.strictEqual(said.summary.events, truth.lines.length);
    assert(rows.steps.length === 14 && rows.flows.length === 3 && rows.gaps.length === 20);
});

test('two runs: what perf-trace-analyze diff says', async () => {
    const got = await q.rows('compare');
    const [before, after] = ['perftrace-before', OUT].map((d) => path.join(dir, d));
    const said = t.said('analyze', ['diff', '--json', '--top-n', '0', before, after]).host_diff;
    t.agree(got.map((r) => ({ ...r, before_s: r.before_ms / 1e3, after_s: r.after_ms / 1e3 })),
            said.map((r) => ({ name: r.name, n_before: r.before_count, n_after: r.after_count,
                               before_s: r.before_mean_s, after_s: r.after_mean_s,
                               change: r.before_mean_s && r.after_mean_s ? r.after_mean_s / r.before_mean_s - 1 : null,
                               more_s: (r.after_total_s ?? 0) - (r.before_total_s ?? 0) })), ['name'], 'compare');
});

test('on one axis, by way of the converter', async () => {
    const account = t.sh(dir, 'merge').trim().split('\n').map((l) => l.split('\t'));
    assert.deepStrictEqual(account.map((r) => [r[0], r[2]]),
                           [['0', 'reference'], ['1', 'monotonic clock'], ['2', 'monotonic clock']]);
    const whole = t.run(t.BIN.convert, ['-q', path.join(dir, OUT), '-o', '-']);
    const events = JSON.parse(whole.stdout).traceEvents;
    const merged = fs.readFileSync(path.join(dir, 'merged.jsonl'), 'utf8').trim().split('\n');
    assert.strictEqual(merged.length, events.length);
    const calls = events.filter((e) => e.ph === 'X' && e.cat === 'comm');
    const want = f.groups(calls, (e) => [e.name, e.args.global_step]).map((g) => {
        const by = g.map((e) => ({ rank: e.args.rank, ts: Math.round(e.ts * 1000) })).sort((a, b) => a.ts - b.ts);
        const last = by[by.length - 1];
        return { name: g[0].name, step: g[0].args.global_step, nth: 1, ranks: 3, first: by[0].rank, last: last.rank,
                 spread_ms: (last.ts - by[0].ts) / 1e6, waited_ms: f.sum(by.map((e) => last.ts - e.ts)) / 1e6 };
    });
    assert.strictEqual(want.length, 14);
    t.agree(await q.rows('arrivals'), want, ['name', 'step', 'nth'], 'arrivals');
});

test('jq', () => {
    const lines = (name) => t.sh(dir, name).trim().split('\n').map((l) => l.split('\t'));
    t.agree(lines('jq events by name').map(([name, n, s]) => ({ name, n: Number(n), total_s: Number(s) })),
            f.names(truth).map((r) => ({ name: r.name, n: r.n, total_s: r.total_s })), ['name'], 'jq events by name');
    assert.deepStrictEqual(lines('jq losses').map(([l]) => JSON.parse(l)).sort((a, b) => a.rank - b.rank),
                           f.account(truth).map((r) => ({ rank: r.rank, emitted: r.written, dropped: {} })));
    t.agree(lines('jq steps of a rank').map(([step, ms]) => ({ step: Number(step), ms: Number(ms) })),
            truth.scopes.filter((e) => e.rank === 0 && e.name === 'train.step')
                .map((e) => ({ step: e.step, ms: e.dur / 1e6 })), ['step'], 'jq steps');
    const slow = lines('jq slowest').map(([l]) => JSON.parse(l));
    f.slowest(truth).slice(0, 20).forEach((r, i) =>
        t.agree([slow[i]], [{ name: r.name, ms: r.ms, rank: r.rank, step: r.step }], ['name'], `jq slowest ${i}`));
    assert.strictEqual(slow.length, 20);
});

test('with tables for views', async () => {
    q.close();
    const tables = await t.open(dir, (text) => text.replace(/\bVIEW\b/g, 'TABLE'));
    await tables.setup('setup');
    await everything(tables, truth);
    tables.close();
});
