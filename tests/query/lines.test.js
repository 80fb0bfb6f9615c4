// lines.test.js: the queries on lines that examples do not make: losses, scopes that overlap or never end, kills,
// large numbers, a pid of two machines, timers. SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const path = require('path');
const test = require('node:test');
const t = require('./query_tool.js');
const f = require('./figures.js');
const { everything } = require('./checks.js');

const meta = (name, pid, tid, args) => JSON.stringify({ name, ph: 'M', pid, tid, args });
function header(rank, pid, more = {}) {
    return meta('perftrace_header', pid, pid, {
        version: 1, run_id: 'run', rank, world_size: 3, role: null, host: 'a', pid,
        epoch_ns: `179000000000000000${rank}`, mono_ns: '1', ...more });
}
const event = (ph, name, cat, pid, tid, ts, args, more = {}) => JSON.stringify({
    name, ph, ts, ...('dur' in more ? { dur: more.dur } : {}), pid, tid, cat, args, ...more });

// Scopes that nest, overlap, touch, are equal and lie far apart, on two threads, by numbers that look random.
function scopes(rank, pid, count) {
    let x = 17 + rank;
    const rand = (n) => (x = (x * 1103515245 + 12345) % 2147483648) % n;
    const cats = ['comm', 'compute', 'io', 'sync'];
    return Array.from({ length: count }, (_, i) => {
        const cat = cats[rand(4)];
        const args = { ...(rand(3) ? { global_step: Math.floor(i / 20) } : {}), rank };
        return event('X', `${cat}.${rand(3)}`, cat, pid, pid + rand(2), i * 2 + rand(6000) / 1000 + rand(4) * 100,
                     args, { dur: 0.001 + rand(4000) / 1000 });
    });
}
const counter = (pid, ts, args) => event('C', 'load', 'c', pid, pid, ts, args);
const foot = (pid, written, dropped, unfinished = 0) => meta('perftrace_footer', pid, pid, {
    emitted: written + Object.values(dropped).reduce((a, b) => a + b, 0), written, dropped, unfinished,
    recovered: unfinished > 0 });

const r0 = [header(0, 100, { role: 'actor' }), meta('thread_name', 100, 100, { name: 'main' }), ...scopes(0, 100, 300),
    counter(100, 10.5, { used: 1.25, free: null }), counter(100, 1000010.5, { used: 7, free: 2 }),
    counter(100, 1700000, { used: 5, free: 9 }), counter(100, 2000010.5, { used: -3, free: 1 }),
    event('s', 'batch', 'q', 100, 100, 5, {}, { id: '0xffffffffffffffff' }),
    event('f', 'batch', 'q', 100, 101, 8.25, {}, { id: '0xffffffffffffffff', bp: 'e' }),
    event('s', 'batch', 'q', 100, 100, 6, {}, { id: '0xfffffffffffffffe' }),
    event('f', 'batch', 'q', 100, 101, 66.125, {}, { id: '0xfffffffffffffffe', bp: 'e' }),
    meta('perftrace_drop', 100, 100, { cause: 'ring_full', count: 5, first_ts: 100.5, last_ts: 250.125 }),
    meta('perftrace_drop', 100, 101, { cause: 'ring_full', count: 2, first_ts: 0, last_ts: 0 }),
    meta('perftrace_drop', 100, 100, { cause: 'no_slot', count: 1, first_ts: 0, last_ts: 0 }),
    foot(100, 308, { ring_full: 7, no_slot: 1 })];
const r1 = [header(1, 200), ...scopes(1, 200, 300),
    event('B', 'train.step', 'compute', 200, 200, 900, { unfinished: true, global_step: 4, rank: 1 }),
    event('B', 'allreduce', 'comm', 200, 200, 950.5, { unfinished: true, global_step: 4, rank: 1 }),
    foot(200, 300, {}, 2)];
const r2 = [header(2, 300), ...scopes(2, 300, 30),
    meta('perftrace_drop', 300, 300, { cause: 'ring_full', count: 9, first_ts: 1, last_ts: 2 })]; // it was killed

let q;
test('overlaps, losses, kills: every query says what the lines say', async () => {
    const dir = t.files({ 'perftrace-out/actor/traces-r0.jsonl': r0, 'perftrace-out/traces-r1.jsonl': r1,
                          'perftrace-out/traces-r2.jsonl': r2 });
    t.pack(path.join(dir, 'perftrace-out/actor/traces-r0.jsonl'));
    const truth = f.load(path.join(dir, 'perftrace-out'));
    q = await t.open(dir);
    await q.setup('setup');
    const rows = await everything(q, truth);
    assert.deepStrictEqual(rows.account.map((r) => [r.rank, r.written, r.dropped, r.state]), [
        [0, 308, 8, 'some were dropped'], [1, 300, 0, 'complete'],
        [2, null, null, 'no footer: it runs or was killed']]);
    assert(rows.overlap.filter((r) => r.rank < 2).every((r) => r.both_s > 0 && r.both_s < r.communication_s));
    assert.strictEqual(rows.flows[0].max_ms, 0.060125);
    const said = t.said('analyze', ['--json', '--top-n', '0', path.join(dir, 'perftrace-out')]);
    t.agree(rows.unfinished, said.unfinished.map((r) => ({ rank: r.rank, name: r.name, cat: r.category,
                                                           open_s: r.so_far_s })), ['rank', 'name'], 'unfinished');
    const check = t.run(t.BIN.convert, ['--check', '--json', path.join(dir, 'perftrace-out')]);
    const lost = JSON.parse(check.stdout).perftrace_convert.inputs
        .map((i) => [i.rank, f.sum(Object.values(i.lost))]).sort();
    assert.deepStrictEqual(lost, [0, 1, 2].map((rank) =>
        [rank, f.sum(rows.losses.filter((r) => r.rank === rank).map((r) => r.told ?? r.noticed))]));
    q.close();
});

test('a line that was lost or doubled is told', async () => {
    for (const lines of [[...r1.slice(0, 20), ...r1.slice(21)], [...r1.slice(0, 20), r1[19], ...r1.slice(20)]]) {
        const dir = t.files({ 'perftrace-out/traces-r1.jsonl': lines });
        q = await t.open(dir);
        await q.setup('setup');
        assert.deepStrictEqual((await q.rows('account')).map((r) => r.state),
                               ['lines are missing, or stand there twice']);
        q.close();
    }
});

test('a torn line fails a query, and says where; other programs\' lines are read', async () => {
    const torn = t.files({ 'perftrace-out/traces-r0.jsonl': r1.map((l) => l + '\n').join('') + '{"name": "tor' });
    q = await t.open(torn);
    await q.setup('setup');
    await assert.rejects(q.rows('names'), /traces-r0\.jsonl.*line 30[56]/s);
    q.close();
    const areal = t.files({ 'perftrace-out/traces-r4.jsonl': [
        event('X', 'train', 'compute', 7, 7, 1.5, { rank: 4, role: 'actor', global_step: 2 }, { dur: 3 })] });
    q = await t.open(areal);
    await q.setup('setup');
    t.agree(await q.rows('slowest scopes'), [{ rank: 4, role: 'actor', step: 2, ms: 0.003 }], ['rank'], 'AReaL');
    assert.deepStrictEqual((await q.rows('account')).map((r) => r.state), ['no header']);
    q.close();
});

test('numbers of 64 bits and the times of fifty days', async () => {
    const us = ['4320000000000.001', '4320000000000.999', '4319999999999.123', '4300000000001.457'];
    const lines = us.map((ts) => `{"name": "n", "ph": "i", "ts": ${ts}, "pid": 1, "tid": 1, "cat": "c", "args": ` +
                                 '{"big": 18446744073709551615, "low": -9223372036854775808}, "s": "t"}');
    const dir = t.files({ 'perftrace-out/traces-r0.jsonl': [header(0, 1), ...lines] });
    q = await t.open(dir);
    await q.setup('setup');
    const got = await q.all('SELECT ts::VARCHAR AS ts, (args->>\'big\')::UBIGINT::VARCHAR AS big, ' +
                            '(args->>\'low\')::BIGINT::VARCHAR AS low, start_ns::VARCHAR AS at FROM events');
    assert.deepStrictEqual(got.map((r) => r.ts).sort(), [...us].sort());
    for (const r of got) {
        assert.deepStrictEqual([r.big, r.low], ['18446744073709551615', '-9223372036854775808']);
        assert.strictEqual(r.at, String(1790000000000000000n + BigInt(r.ts.replace('.', ''))));
    }
    q.close();
});

test('one file, a pid of two machines: what is told apart, and what is not', async () => {
    const lines = [header(0, 9), header(1, 9, { host: 'b' }), header(2, 8),
        event('X', 'step', 'c', 9, 9, 1, { rank: 0 }, { dur: 2 }),
        event('X', 'step', 'c', 9, 9, 1, { rank: 1 }, { dur: 3 }),
        event('X', 'step', 'c', 8, 8, 1, { rank: 2 }, { dur: 4 }),
        counter(9, 2, { used: 1 }), counter(8, 2, { used: 2 }),
        foot(9, 2, {}), foot(9, 1, {}), foot(8, 2, {})];
    const dir = t.files({ 'perftrace-out/job/trace_events.jsonl': lines });
    q = await t.open(dir, (text) => text.replace(t.GLOB, 'perftrace-out/**/trace_events.jsonl*'));
    await q.setup('setup');
    assert.deepStrictEqual((await q.rows('slowest scopes')).map((r) => [r.rank, r.ms]),
                           [[2, 0.004], [1, 0.003], [0, 0.002]]);
    assert.deepStrictEqual((await q.rows('counters')).map((r) => [r.rank, r.mean]), [[2, 2], [null, 1]]);
    assert.deepStrictEqual((await q.rows('account')).map((r) => [r.rank, r.host, r.events, r.state]),
                           [[2, 'a', 2, 'complete'], [null, null, 3, 'complete']]);
    const open = await q.all("SELECT start_ns IS NULL AS open FROM events WHERE ph = 'X' ORDER BY rank");
    assert.deepStrictEqual(open.map((r) => r.open), [true, true, false]);
    q.close();
});

test('a gap is where there is time: not where scopes touch or stand in each other', async () => {
    const scope = (name, ts, dur) => event('X', name, 'c', 5, 5, ts, { global_step: 7 }, { dur });
    const dir = t.files({ 'perftrace-out/traces-r0.jsonl': [header(0, 5),
        scope('a', 1, 2.5), scope('b', 3.5, 1), scope('c', 10, 5), scope('d', 11, 1), scope('e', 15.001, 1)] });
    q = await t.open(dir);
    await q.setup('setup');
    assert.deepStrictEqual((await q.rows('gaps')).map((r) => [r.gap_ms, r.from_s, r.after, r.before, r.step]),
                           [[0.0055, 0.0000045, 'b', 'c', 7], [0.000001, 0.000015, 'c', 'e', 7]]);
    q.close();
});

test('timers of several ranks', async () => {
    const timer = (rank, timers) => `{"version": 1, "rank": ${rank}, "run_id": "r", "timers": [\n${timers.map((x) =>
        JSON.stringify(x)).join(',\n')}\n]}\n`;
    const generate = (count, sum, min, max, buckets) => ({
        name: 'generate', count, sum, min, max, p50: min, p90: max, p99: max, lost: 0, buckets_ns: buckets });
    const dir = t.files({
        'perftrace-out/timers-r0.json': timer(0, [generate(120, 38.5, 0.27, 1.9, [[268435456, 100], [1610612736, 20]]),
                                                 { ...generate(1, 0.5, 0.5, 0.5, [[469762048, 1]]), name: 'reward' }]),
        'perftrace-out/actor/timers-r1.json':
            timer(1, [generate(80, 100.25, 1.1, 2.0, [[1073741824, 79], [1879048192, 1]])]),
        'perftrace-out/timers-r2.json': timer('null', []) });
    q = await t.open(dir);
    t.agree(await q.rows('timers'), [
        // The 100th of 200 is in the first bucket, the 198th among the 20.
        { name: 'generate', ranks: 2, n: 200, total_s: 138.75, mean_s: 0.69375, min_s: 0.27, max_s: 2,
          p50_from_s: 0.268435456, p99_from_s: 1.610612736, most_on_rank: 1 },
        { name: 'reward', ranks: 1, n: 1, total_s: 0.5, mean_s: 0.5, min_s: 0.5, max_s: 0.5, p50_from_s: 0.469762048,
          p99_from_s: 0.469762048, most_on_rank: 0 }], ['name'], 'timers');
    q.close();
});
