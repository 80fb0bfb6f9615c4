// convert_needs.test.js: what users asked for (the rows PT-nn of the table of needs), with the
// expected values. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const zlib = require('zlib');
const { spawnSync } = require('child_process');
const t = require('./convert_tool.js');
const { header, scope, footer, threadName, byPhase, named, ns } = t;

const processNames = (events) => events.filter((e) => e.name === 'process_name')
    .map((e) => e.args.name).sort();

// Four ranks, 250,000 scopes each, 100 s long.
function hugeRanks() {
    const contents = {};
    for (let rank = 0; rank < 4; rank++) {
        const lines = [header({ rank, world_size: 4, pid: 70 + rank })];
        for (let i = 0; i < 250000; i++)
            lines.push(scope(`work${i & 7}`, i * 400000, i * 400000 + 390000,
                             { pid: 70 + rank, args: { rank, i } }));
        lines.push(footer({}, 70 + rank));
        contents[`traces-r${rank}.jsonl`] = lines;
    }
    return t.files(contents);
}

test('PT-01 a huge trace is cut by window, split into parts, packed, in little memory', () => {
    const dir = hugeRanks();
    const memory = (r) => JSON.parse(r.stdout).perftrace_convert.peak_memory_kib;
    const window = t.convert(dir, ['--from', '50s', '--to', '52s', '--json']);
    assert.strictEqual(window.status, 0, window.stderr);
    let expected = 0;
    for (let i = 0; i < 250000; i++)
        expected += i * 400000 + 390000 >= 50e9 && i * 400000 <= 52e9 ? 4 : 0;
    assert.strictEqual(byPhase(window.events, 'X').length, expected);
    assert(memory(window) < 64 * 1024, `${memory(window)} KiB`);

    const split = t.convert(dir, ['--split', '20M', '--json']);
    assert.strictEqual(split.status, 0, split.stderr);
    assert(memory(split) < 64 * 1024, `${memory(split)} KiB`);
    const seen = new Set();
    const parts = fs.readdirSync(path.join(dir, 'out')).filter((n) => n.includes('.part'));
    assert(parts.length >= 6, parts.join());
    for (const part of parts) {
        const file = path.join(dir, 'out', part);
        assert(fs.statSync(file).size < 21.5e6, part);
        const { traceEvents } = t.readTrace(file);
        assert.strictEqual(processNames(traceEvents).length, 4);
        assert.strictEqual(traceEvents.filter((e) => e.name === 'thread_name').length, 4);
        for (const e of byPhase(traceEvents, 'X'))
            seen.add(e.args.rank * 1000000 + e.args.i);
    }
    assert.strictEqual(seen.size, 1000000);

    const packed = path.join(dir, 'out', 'merged.json.gz');
    const inputs = [0, 1, 2, 3].map((r) => path.join(dir, `traces-r${r}.jsonl`));
    const gz = t.run([...inputs, '-o', packed, '--json']);
    assert.strictEqual(gz.status, 0, gz.stderr);
    assert(memory(gz) < 64 * 1024, `${memory(gz)} KiB`);
    const text = zlib.gunzipSync(fs.readFileSync(packed)).toString('latin1');
    assert.strictEqual(text.split('"ph": "X"').length - 1, 1000000);
});

test('PT-07 scopes that cross on one thread become two lanes with their durations', () => {
    const r = t.convert(t.files({ 'traces-r0.jsonl': [
        header({}), scope('A', 0, 100000), scope('B', 60000, 160000), footer()] }));
    assert.strictEqual(r.status, 0, r.stderr);
    const [a, b] = byPhase(r.events, 'X');
    assert.deepStrictEqual([a.name, ns(a.dur), b.name, ns(b.dur)], ['A', 100000, 'B', 100000]);
    assert.strictEqual(a.pid, b.pid);
    assert.notStrictEqual(a.tid, b.tid);
    assert.match(r.stderr, /1 overlap moved to lane/);
    assert.strictEqual(t.complaints(r.out), '');
});

// The checker computes as readers do: ts + dur, and (ts - first) + dur, in doubles.
test('PT-07 scopes that touch do not cross for readers that add doubles', () => {
    const scopes = [];
    let now = 72459112;
    for (let step = 0; step < 300; step++) {
        const begin = now;
        for (let lap = 0; lap < 4; lap++) {
            const end = now + 1 + (step * 7919 + lap * 104729) % 1000003;
            scopes.push([`lap ${lap}`, now, end]);
            now = end;
        }
        scopes.push(['step', begin, now]); // ends with its last lap, begins with the first
    }
    const dir = t.files({
        'traces-r0.jsonl': [header({}), ...scopes.map((s) => scope(...s)), footer()],
        'other.json': JSON.stringify(scopes.map(([name, begin, end]) => (
            { name, ph: 'X', ts: begin / 1000, dur: (end - begin) / 1000, pid: 1, tid: 1 }))) });
    for (const name of ['traces-r0.jsonl', 'other.json']) {
        const r = t.convert(dir, [], [name]);
        assert.strictEqual(t.complaints(r.out), '');
        assert.deepStrictEqual(byPhase(r.events, 'X').map((e) => [e.name, ns(e.dur)]),
                               scopes.map(([what, begin, end]) => [what, end - begin]));
    }
});

test('PT-07 in a file of another writer, begins and ends included, and as async events', () => {
    const lines = [
        '{"name":"A","ph":"B","ts":0,"pid":1,"tid":1}', '{"name":"A","ph":"E","ts":100,"pid":1,"tid":1}',
        '{"name":"B","ph":"X","ts":60,"dur":100,"pid":1,"tid":1}'];
    const dir = t.files({ 'x.jsonl': lines });
    const r = t.convert(dir);
    assert.deepStrictEqual(byPhase(r.events, 'X').map((e) => [e.name, e.dur]).sort(),
                           [['A', 100], ['B', 100]]);
    assert.match(r.stderr, /1 overlap moved to lane/);
    assert.strictEqual(t.complaints(r.out), '');
    const a = t.convert(dir, ['--overlap', 'async']);
    assert.strictEqual(byPhase(a.events, 'X').length, 1);
    assert.strictEqual(byPhase(a.events, 'b').length, 1);
    assert.strictEqual(byPhase(a.events, 'e').length, 1);
    assert.strictEqual(t.complaints(a.out), '');
});

test('PT-08 ranks come from names, else provisionally with a warning', () => {
    const line = '{"name":"A","ph":"X","ts":1,"dur":1,"pid":1,"tid":1}';
    const a = t.convert(t.files({ 'x-rank0.jsonl': [line], 'x-rank1.jsonl': [line] }));
    assert.deepStrictEqual(a.meta.inputs.map((i) => i.rank), [0, 1]);
    assert.doesNotMatch(a.stderr, /no rank is recorded/);
    const b = t.convert(t.files({ 'x.jsonl': [line] }));
    assert.strictEqual(b.status, 0);
    assert.strictEqual(b.meta.inputs[0].rank, 0);
    assert.match(b.stderr, /no rank is recorded/);
    const c = t.convert(t.files({ 'x.jsonl': [line], 'y.jsonl': [line] }));
    assert.strictEqual(c.status, 0);
    assert.deepStrictEqual(c.meta.inputs.map((i) => i.rank), [0, 1]);
    assert.match(c.stderr, /no rank is recorded/);
});

// Rank 1's clock is 250 ms ahead and 20 ppm fast. Barriers end at true 5 s and 15 s.
function skewedRanks(marks) {
    const clock1 = (trueNs) => Math.round(250e6 + trueNs * (1 + 20e-6));
    const rank = (r, host, boot, clock) => [
        header({ rank: r, world_size: 2, pid: 71, host, boot_id: boot, mono_ns: String(1e9 * (r + 1)),
                 epoch_ns: '1790000000000000000' }),
        ...(marks ? [5e9, 15e9].map((at, i) => scope('perftrace_sync', clock(at) - 1000000, clock(at),
                                                     { args: { sync_id: i } })) : []),
        scope('work', clock(16e9), clock(17e9)), footer()];
    return t.files({ 'traces-r0.jsonl': rank(0, 'a', 'boot-a', (x) => x),
                     'traces-r1.jsonl': rank(1, 'b', 'boot-b', clock1) });
}

test('PT-14 barrier markers correct offset and drift', () => {
    const r = t.convert(skewedRanks(true));
    assert.strictEqual(r.status, 0, r.stderr);
    const ends = named(r.events, 'perftrace_sync').map((e) => ns(e.ts + e.dur)).sort((a, b) => a - b);
    assert.strictEqual(ends.length, 4);
    assert(Math.abs(ends[1] - ends[0]) < 50000, `${ends}`);
    assert(Math.abs(ends[3] - ends[2]) < 50000, `${ends}`);
    assert(Math.abs(ends[3] - ends[1] - 10e9) < 50000, `${ends}`);
    const one = r.meta.inputs[1];
    assert.strictEqual(one.alignment, 'barrier markers');
    assert(Math.abs(one.offset_ns - 250e6) < 1000, `${one.offset_ns}`);
    assert(Math.abs(one.drift_ppm - 20) < 0.01, `${one.drift_ppm}`);
    assert(one.error_bound_ns >= 0 && one.error_bound_ns < 50000);
    assert.match(r.stderr, /barrier markers, clock \+250\.\d+ ms, drift \+20\.\d+ ppm/);
});

test('PT-14 without markers only the wall clocks are used, and it is said', () => {
    const r = t.convert(skewedRanks(false));
    assert.match(r.meta.inputs[1].alignment, /wall clock \(uncorrected\)/);
    assert.match(r.stderr, /uncorrected/);
    const [a, b] = named(r.events, 'work').sort((x, y) => x.pid - y.pid);
    assert(Math.abs(ns(b.ts) - ns(a.ts) - 250e6 - 16e9 * 20e-6) < 1000);
});

test('PT-17 losses that the writer counted are shown', () => {
    const r = t.convert(t.files({ 'traces-r0.jsonl': [
        header({}), scope('A', 0, 1000),
        '{"name": "perftrace_drop", "ph": "M", "pid": 71, "tid": 71, "args": {"cause": "ring_full", ' +
        '"count": 8976, "first_ts": 1.000, "last_ts": 2.000, "tid": 71}}',
        footer({ emitted: 10010, written: 1034, dropped: { ring_full: 8976 } })] }));
    assert.strictEqual(r.status, 0);
    assert.match(r.stderr, /lost events: 8,976 ring_full/);
    assert.strictEqual(r.meta.lost, 8976);
    assert.deepStrictEqual(r.meta.inputs[0].lost, { ring_full: 8976 });
});

for (const [what, lines] of [
    ['relative to the header', [header({ epoch_ns: '1790000000123456789' }), scope('A', 0, 1001),
                                scope('B', 1001, 1008), footer()]],
    ['counted from the epoch', [
        '{"name":"A","ph":"X","ts":1790000000123456.789,"dur":1.001,"pid":1,"tid":1}',
        '{"name":"B","ph":"X","ts":1790000000123457.790,"dur":0.007,"pid":1,"tid":1}']]]) {
    test(`PT-18 nanoseconds survive in times ${what}`, () => {
        const r = t.convert(t.files({ 'traces-r0.jsonl': lines }));
        const [a, b] = byPhase(r.events, 'X');
        assert.strictEqual(ns(a.ts + a.dur), ns(b.ts));
        assert.deepStrictEqual([ns(a.dur), ns(b.dur)], [1001, 7]);
        assert.strictEqual(a.tid, b.tid);
        assert.strictEqual(r.meta.base_epoch_ns, '1790000000123456789');
        assert.strictEqual(r.meta.overlaps_moved, 0);
        assert.strictEqual(t.complaints(r.out), '');
    });
}

test('PT-24 a missing rank is named, and fails with --require-all', () => {
    const rank = (r, more) => [header({ rank: r, world_size: 4, pid: 70 + r, ...more }),
                               scope('A', 0, 1000, { pid: 70 + r }), footer({}, 70 + r)];
    const dir = t.files({ 'traces-r0.jsonl': rank(0), 'traces-r1.jsonl': rank(1),
                          'traces-r3.jsonl': rank(3) });
    const r = t.convert(dir);
    assert.strictEqual(r.status, 0);
    assert.match(r.stderr, /missing rank 2 of 4/);
    assert.deepStrictEqual(r.meta.missing_ranks, [2]);
    assert.strictEqual(t.convert(dir, ['--require-all']).status, 1);
    const odd = t.convert(t.files({ 'traces-r0.jsonl': rank(0), 'traces-r1.jsonl': rank(1),
                                    'traces-r2.jsonl': rank(2),
                                    'traces-r3.jsonl': rank(3, { run_id: 'run-2' }) }));
    assert.strictEqual(odd.status, 0);
    assert.match(odd.stderr, /warning: \S*traces-r3\.jsonl: belongs to run run-2/);
});

test('PT-25 an unfinished scope is closed and marked, a stray end dropped', () => {
    const line = (o) => JSON.stringify({ pid: 1, ...o });
    const lines = [line({ name: 'A', ph: 'B', ts: 0, tid: 1 }), line({ name: 'B', ph: 'B', ts: 10, tid: 1 }),
                   line({ name: 'B', ph: 'E', ts: 20, tid: 1 }), line({ name: 'i', ph: 'i', ts: 30, tid: 1 }),
                   line({ ph: 'E', ts: 5, tid: 2 }), line({ name: 'C', ph: 'X', ts: 6, dur: 2, tid: 2 })];
    const check = (r) => {
        assert.strictEqual(r.status, 0, r.stderr);
        const of = (name) => named(r.events, name)[0];
        assert.deepStrictEqual([ns(of('A').dur), of('A').args], [30000, { unfinished: true }]);
        assert.strictEqual(ns(of('B').dur), 10000);
        assert.strictEqual(ns(of('C').dur), 2000);
        assert.strictEqual(r.meta.unfinished, 1);
        assert.match(r.stderr, /end without a begin left out/);
        assert.match(r.stderr, /scope without an end/);
        assert.strictEqual(t.complaints(r.out), '');
    };
    check(t.convert(t.files({ 'x.jsonl': lines })));
    check(t.convert(t.files({ 'traces-r0.jsonl': [header({ pid: 1 }), ...lines, footer({}, 1)] })));
});

test('PT-30 numbers that are not finite leave strict JSON', () => {
    const c = (ts, v) => `{"name": "loss", "ph": "C", "ts": ${ts}.000, "pid": 71, "tid": 71, ` +
        `"cat": "misc", "args": {"loss": ${v}}}`;
    const values = ['1.5', 'NaN', 'Infinity', '-Infinity', '2.5'];
    for (const quote of ['', '"']) {
        const lines = values.map((v, i) => c(i, /^[\d.]+$/.test(v) ? v : quote + v + quote));
        const r = t.convert(t.files({ 'traces-r0.jsonl': [
            header({}), ...lines, scope('s', 5000, 6000).replace('{"rank": 0}', '{"lr": NaN}'),
            footer()] }));
        assert.strictEqual(r.status, 0);
        assert.deepStrictEqual(byPhase(r.events, 'C').map((e) => e.args.loss), [1.5, 2.5]);
        assert.match(r.stderr, /nonfinite=3/);
        assert.strictEqual(named(r.events, 's')[0].args.lr, 'NaN');
        assert.strictEqual(t.complaints(r.out), '');
    }
});

test('PT-33 many shapes of trace JSON in one folder', () => {
    const e = (i) => ({ name: `e${i}`, ph: 'X', ts: i * 10, dur: 1, pid: 1, tid: 1 });
    const dir = t.files({
        'a.json': JSON.stringify([e(0), e(1), e(2)]),
        'b.json': JSON.stringify({ traceEvents: [e(3), e(4), e(5)] }),
        'c.json': JSON.stringify({ traceEvents: [e(6), {}, e(7)] }),
        'config.json': JSON.stringify({ name: 'not a trace', steps: [1, 2] }),
        'd.json': JSON.stringify([{ ...e(8), tid: 'stream 7' }]),
        'e.json': JSON.stringify([{ ...e(9), args: [] }]) });
    const out = path.join(dir, 'merged.out');
    const first = t.run([dir, '-o', out]);
    assert.strictEqual(first.status, 0, first.stderr);
    const { traceEvents, metadata } = t.readTrace(out);
    assert.strictEqual(byPhase(traceEvents, 'X').length, 10);
    assert.match(first.stderr, /config\.json: skipped/);
    const stream = named(traceEvents, 'e8')[0];
    assert(Number.isInteger(stream.tid));
    assert(traceEvents.some((m) => m.name === 'thread_name' && m.tid === stream.tid &&
                            m.args.name === 'stream 7'));
    const kinds = metadata.perftrace_convert.problems.map((p) => p.kind);
    assert(kinds.includes('empty_event') && kinds.includes('bad_args'));
    assert.strictEqual(t.complaints(out), '');
    const again = t.run([dir, '-o', path.join(dir, 'again.out')]);
    assert.strictEqual(again.status, 0);
    assert(fs.readFileSync(out).equals(fs.readFileSync(path.join(dir, 'again.out'))));
});

test('PT-35 equal pids of different hosts and runs stay apart', () => {
    const rank = (more, name) => [header({ pid: 7, world_size: 2, ...more }), threadName(name, 7),
                                  scope('step', 0, 10000000, { pid: 7 }), footer({}, 7)];
    const dir = t.files({
        'traces-r0.jsonl': rank({ rank: 0, host: 'a', boot_id: 'A' }, 'main'),
        'traces-r1.jsonl': rank({ rank: 1, host: 'b', boot_id: 'B' }, 'sampler'),
        'traces-r1.1.jsonl': rank({ rank: 1, host: 'b', boot_id: 'B', mono_ns: '65000000000',
                                    epoch_ns: '1790000060000000000' }, 'reborn') });
    const r = t.convert(dir);
    const steps = named(r.events, 'step');
    assert.strictEqual(new Set(steps.map((e) => e.pid)).size, 3);
    assert(steps.every((e) => ns(e.dur) === 10000000));
    const names = processNames(r.events);
    assert.strictEqual(new Set(names).size, 3);
    assert(names.some((n) => /Rank 0 on a/.test(n)) && names.some((n) => /Rank 1 on b.*run 2.*started/.test(n)), names.join());
    for (const m of r.events.filter((e) => e.name === 'thread_name')) {
        const pid = r.events.find((e) => e.name === 'process_name' && e.pid === m.pid);
        assert.strictEqual(pid.args.orig_pid, 7);
        assert.strictEqual(m.args.orig_tid, 7);
    }
    const before = fs.readFileSync(r.out);
    assert(before.equals(fs.readFileSync(t.convert(dir, ['-j', '1']).out)));
    assert.strictEqual(t.complaints(r.out), '');
});

test('PT-37 a damaged line costs only itself', () => {
    const good = [1, 2, 3].map((i) => scope(`g${i}`, i * 1000, i * 1000 + 500));
    const torn = Buffer.from('{"name": "caf\u00e9\u20ac').subarray(0, -1);
    const start = Buffer.from([header({}), ...good].join('\n') + '\n');
    const cases = {
        a: [Buffer.concat([start, torn]), 3],
        b: [Buffer.concat([start, torn, Buffer.from('\n\n')]), 3],
        c: [[header({}), good[0], '{"name": "broken", "ph": ', good[1], good[2]].join('\n') + '\n', 3],
        d: [Buffer.concat([Buffer.from([header({}), good[0], good[1]].join('\n') + '\n'),
                           Buffer.alloc(4096), Buffer.from(good[2] + '\n')]), 3] };
    for (const [name, [content, count]] of Object.entries(cases)) {
        const dir = t.files({ 'traces-r0.jsonl': content });
        const r = t.convert(dir);
        assert.strictEqual(r.status, 0, name);
        assert.strictEqual(byPhase(r.events, 'X').length, count, name);
        const warnings = r.stderr.split('\n').filter((l) => /traces-r0\.jsonl:\d+ \(byte \d+\): /.test(l));
        assert.strictEqual(warnings.length, 1, `${name}: ${r.stderr}`);
        const strict = t.convert(dir, ['--strict']);
        assert.strictEqual(strict.status, 1, name);
    }
});

test('PT-40 correlation and flow ids of ranks stay apart', () => {
    const rank = (r, dur) => JSON.stringify({ distributedInfo: { rank: r, world_size: 2 }, traceEvents: [
        { name: 'launch', ph: 'X', ts: 10, dur: 5, pid: 9, tid: 1, args: { correlation: 1, 'External id': 3 } },
        { name: 'kernel', ph: 'X', ts: 20, dur, pid: 0, tid: 7, args: { correlation: 1, 'External id': 3 } },
        { name: 'ac2g', cat: 'ac2g', ph: 's', id: 1, ts: 10, pid: 9, tid: 1 },
        { name: 'ac2g', cat: 'ac2g', ph: 'f', bp: 'e', id: 1, ts: 20, pid: 0, tid: 7 }] });
    const r = t.convert(t.files({ 'r0.json': rank(0, 5000), 'r1.json': rank(1, 9000) }));
    assert.strictEqual(r.status, 0, r.stderr);
    const launches = named(r.events, 'launch');
    const kernel = (l) => named(r.events, 'kernel').filter((k) => k.args.correlation === l.args.correlation);
    const durations = launches.map((l) => kernel(l).map((k) => k.dur));
    assert.deepStrictEqual(durations.sort(), [[5000], [9000]]);
    const starts = byPhase(r.events, 's');
    const ends = byPhase(r.events, 'f');
    assert.strictEqual(new Set(starts.map((e) => e.id)).size, 2);
    for (const s of starts) {
        const [end, ...more] = ends.filter((e) => e.id === s.id);
        assert.strictEqual(more.length, 0);
        assert.strictEqual(kernel(launches.find((l) => l.pid === s.pid))[0].pid, end.pid);
    }
    assert.strictEqual(t.complaints(r.out), '');
});

test('PT-40 of 64 ranks with 1000 launches each, every arrow stays in its rank', () => {
    const count = 1000;
    const launch = (i) => [
        { name: 'launch', ph: 'X', ts: i * 100, dur: 5, pid: 9, tid: 1, args: { correlation: i + 1 } },
        { name: 'kernel', ph: 'X', ts: i * 100 + 20, dur: 50, pid: 0, tid: 7, args: { correlation: i + 1 } },
        { name: 'ac2g', cat: 'ac2g', ph: 's', id: i + 1, ts: i * 100, pid: 9, tid: 1 },
        { name: 'ac2g', cat: 'ac2g', ph: 'f', bp: 'e', id: i + 1, ts: i * 100 + 20, pid: 0, tid: 7 }];
    const events = Array.from({ length: count }, (_, i) => launch(i)).flat();
    const dir = t.files(Object.fromEntries(Array.from({ length: 64 }, (_, r) => [
        `r${r}.json`, JSON.stringify({ distributedInfo: { rank: r, world_size: 64 }, traceEvents: events })])));
    const r = t.convert(dir);
    assert.strictEqual(r.status, 0, r.stderr);
    const rankOf = new Map(r.events.filter((e) => e.name === 'process_name').map((e) => [e.pid, e.args.rank]));
    const ends = new Map(byPhase(r.events, 'f').map((e) => [e.id, e]));
    const starts = byPhase(r.events, 's');
    assert.strictEqual(starts.length, 64 * count);
    assert.strictEqual(ends.size, 64 * count);
    for (const s of starts) {
        const end = ends.get(s.id);
        assert(end && rankOf.get(end.pid) === rankOf.get(s.pid) && ns(end.ts - s.ts) === 20000, JSON.stringify(s));
    }
    const correlations = new Map();
    for (const l of named(r.events, 'launch'))
        correlations.set(l.args.correlation, l.pid);
    assert.strictEqual(correlations.size, 64 * count);
    for (const k of named(r.events, 'kernel'))
        assert.strictEqual(rankOf.get(correlations.get(k.args.correlation)), rankOf.get(k.pid));
});

test('of many files with the same fault the first are named, the others counted', () => {
    const dir = t.files(Object.fromEntries(Array.from({ length: 20 }, (_, r) => [
        `traces-r${r}.jsonl`, [header({ rank: r, world_size: 20 }), scope('s', 0, 1000)]])));
    const r = t.convert(dir);
    assert.strictEqual(r.stderr.match(/has no footer/g).length, 16);
    assert.match(r.stderr, /\.\.\. and 4 more files without a footer/);
    assert.strictEqual(t.convert(dir, ['-v']).stderr.match(/has no footer/g).length, 20);
    const many = (of, content) => Object.fromEntries(Array.from({ length: 20 }, (_, i) => [of(i), content(i)]));
    const event = (i) => [{ name: 's', ph: 'X', ts: i, dur: 1, pid: 1, tid: 1 }];
    const s = t.convert(t.files({ ...many((i) => `a${i}.json`, (i) => JSON.stringify(event(i))),
                                  ...many((i) => `b${i}.json`, () => '{"a": 1}') }));
    assert.strictEqual(s.status, 0, s.stderr);
    assert.strictEqual(s.stderr.match(/no rank is recorded/g).length, 16);
    assert.match(s.stderr, /and 4 more files without a rank/);
    assert.strictEqual(s.stderr.match(/: skipped: /g).length, 16);
    assert.match(s.stderr, /and 4 more files were skipped/);
    const usual = many((i) => `traces-r${i}.jsonl`, (i) => [header({ rank: i }), footer()]);
    const odd = many((i) => `traces-r${i + 20}.jsonl`, (i) => [header({ rank: i + 20, run_id: `other ${i}` }), footer()]);
    const runs = t.convert(t.files({ ...usual, ...odd }));
    assert.strictEqual(runs.stderr.match(/belongs to run other/g).length, 16);
    assert.match(runs.stderr, /and 4 more files of other runs/);
});

test('a header of a newer version is told of, and fails --strict', () => {
    const lines = [t.header({ version: 2 }), t.scope('a', 1000, 2000), t.header({ version: 2 }),
                   t.scope('b', 3000, 4000), t.header({ version: 1 })];
    const dir = t.files({ 'traces-r0.jsonl': lines.join('\n') + '\n' });
    const r = t.convert(dir);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.match(r.stderr, /traces-r0\.jsonl:1 .*newer version.*\(2 times in all\)/);
    assert.deepStrictEqual(r.meta.problems.map((p) => [p.kind, p.count]), [['newer_version', 2]]);
    assert.strictEqual(t.byPhase(r.events, 'X').length, 2);
    assert.notStrictEqual(t.convert(dir, ['--strict']).status, 0);
    const known = t.files({ 'traces-r0.jsonl': [t.header({}), lines[1]].join('\n') + '\n' });
    assert.strictEqual(t.convert(known, ['--strict']).status, 0);
});

test('PT-51 events with far-off times are set aside and named', () => {
    const base = 1790000000000000;
    const x = (ts, name = 's') => JSON.stringify({ name, ph: 'X', ts, dur: 10, pid: 1, tid: 1 });
    const lines = [];
    for (let i = 0; i < 1000; i++)
        lines.push(x(base + i * 2000));
    lines.splice(500, 0, x(0, 'zero'));
    lines.splice(700, 0, x(base - 19 * 3600e6, 'early'));
    lines.unshift('{"name":"process_name","ph":"M","pid":1,"args":{"name":"p"}}');
    const dir = t.files({ 'x-r0.jsonl': lines });
    const r = t.convert(dir);
    assert.strictEqual(byPhase(r.events, 'X').length, 1000);
    assert(r.meta.duration_ns > 1.99e9 && r.meta.duration_ns < 2.01e9);
    const p = r.meta.problems.find((q) => q.kind === 'outlier');
    assert.deepStrictEqual([p.count, p.line], [2, 502]);
    assert.match(r.stderr, /x-r0\.jsonl:502 .*far from all others.*2 times/);
    const kept = t.convert(dir, ['--keep-outliers']);
    assert.strictEqual(byPhase(kept.events, 'X').length, 1002);
});

test('PT-53 reused flow ids are different arrows, a dangling start is told once', () => {
    const e = (o) => ({ pid: 1, cat: 'ipc', ...o });
    const events = [
        e({ name: 'A', ph: 'X', ts: 1000, dur: 100, tid: 1 }), e({ name: 'B', ph: 'B', ts: 2000, tid: 2 }),
        e({ name: 'B', ph: 'E', ts: 2100, tid: 2 }), e({ name: 'C', ph: 'X', ts: 10000, dur: 100, tid: 1 }),
        e({ name: 'D', ph: 'X', ts: 11000, dur: 100, tid: 2 }),
        e({ name: 'f', ph: 's', id: 5, ts: 1010, tid: 1 }), e({ name: 'f', ph: 'f', bp: 'e', id: 5, ts: 2010, tid: 2 }),
        e({ name: 'f', ph: 's', id: 5, ts: 10010, tid: 1 }), e({ name: 'f', ph: 'f', bp: 'e', id: 5, ts: 11010, tid: 2 }),
        e({ name: 'f', ph: 's', id: 6, ts: 10020, tid: 1 })];
    const check = (r) => {
        assert.strictEqual(r.status, 0, r.stderr);
        const at = (f) => byPhase(r.events, 'X').find((x) => x.tid === f.tid && x.ts <= f.ts && f.ts <= x.ts + x.dur).name;
        const arrows = byPhase(r.events, 'f').map((f) => {
            const starts = byPhase(r.events, 's').filter((s) => s.id === f.id);
            assert.strictEqual(starts.length, 1);
            assert.strictEqual(f.bp, 'e');
            return `${at(starts[0])}->${at(f)}`;
        });
        assert.deepStrictEqual(arrows.sort(), ['A->B', 'C->D']);
        assert.strictEqual(r.stderr.match(/flow that starts and never ends/g).length, 1);
        assert.strictEqual(t.complaints(r.out, ['--allow-open']), '');
    };
    check(t.convert(t.files({ 'x-r0.json': JSON.stringify(events) })));
    const lines = events.map((o) => JSON.stringify(o));
    [lines[5], lines[6]] = [lines[6], lines[5]]; // the end before its start
    check(t.convert(t.files({ 'traces-r0.jsonl': [header({ pid: 1 }), ...lines, footer({}, 1)] })));
});

test('PT-54 a full volume leaves no partial output', () => {
    const lines = [header({})];
    for (let i = 0; i < 40000; i++)
        lines.push(scope('s', i * 1000, i * 1000 + 500));
    const dir = t.files({ 'traces-r0.jsonl': lines });
    const out = path.join(dir, 'merged.json');
    const r = spawnSync('sh', ['-c', 'ulimit -f 1000; trap "" XFSZ; exec "$0" "$1" -o "$2"', t.TOOL,
                               path.join(dir, 'traces-r0.jsonl'), out]);
    assert.strictEqual(r.status, 4, r.stderr.toString());
    assert.deepStrictEqual(fs.readdirSync(dir), ['traces-r0.jsonl']);
    const full = t.run([path.join(dir, 'traces-r0.jsonl'), '-o', '/dev/full']);
    assert.strictEqual(full.status, 4);
    assert.match(full.stderr, /No space left/);
});

test('PT-59 two runs of a rank are two processes', () => {
    const run = (epoch, mono, start) => [header({ pid: 9, epoch_ns: epoch, mono_ns: mono, run_id: start }),
                                         ...[0, 1, 2, 3, 4].map((i) => scope('s', i * 1000, i * 1000 + 900, { pid: 9 }))];
    const old = run('1790000000000000000', '1000000000', 'first').join('\n') + '\n{"name": "half';
    const dir = t.files({ 'traces-r3.jsonl': old,
                          'traces-r3.1.jsonl': [...run('1790000100000000000', '101000000000', 'second'), footer({}, 9)] });
    const r = t.convert(dir);
    assert.strictEqual(r.status, 0);
    const pids = new Set(byPhase(r.events, 'X').map((e) => e.pid));
    assert.strictEqual(byPhase(r.events, 'X').length, 10);
    assert.strictEqual(pids.size, 2);
    assert.match(processNames(r.events).join(), /run 1.*run 2/);
    assert.strictEqual(t.complaints(r.out), '');
});

test('a window keeps async scopes and flows that touch it whole, and no halves', () => {
    const b = (ph, ts, id) => `{"name": "a${id}", "ph": "${ph}", "ts": ${ts}.000, "pid": 71, "tid": 71, "cat": "c", "args": {}, "id": "0x${id}"}`;
    const flow = (ph, ts, id) => b(ph, ts, id).replace(`"a${id}"`, '"flow"');
    const lines = [scope('outer', 0, 100000000), b('b', 1000, 1), b('e', 2000, 1), b('b', 3000, 2), b('b', 12000, 3),
                   b('e', 13000, 3), b('b', 14000, 4), b('e', 15000, 2), flow('s', 16000, 7), b('e', 25000, 4),
                   b('b', 26000, 5), flow('f', 26500, 7), b('e', 27000, 5), flow('s', 5000, 8), flow('f', 15000, 8)];
    const check = (r) => {
        assert.strictEqual(r.status, 0, r.stderr);
        const names = (ph) => byPhase(r.events, ph).map((e) => e.name).sort().join();
        assert.strictEqual(names('b'), 'a2,a3,a4');
        assert.strictEqual(names('e'), 'a2,a3,a4');
        assert.strictEqual(t.complaints(r.out, ['--allow-open']), '');
    };
    const window = ['--from', '10ms', '--to', '20ms'];
    check(t.convert(t.files({ 'traces-r0.jsonl': [header({}), ...lines, footer()] }), window));
    check(t.convert(t.files({ 'x-r0.jsonl': lines }), window));
});

test('the output is the same whatever the number of threads', () => {
    const contents = {};
    for (let rank = 0; rank < 5; rank++) {
        const lines = [header({ rank, world_size: 5, pid: 70 + rank })];
        for (let i = 0; i < 20000 * (rank + 1); i++)
            lines.push(scope(`w${i % 7}`, i * 3000 + (i % 5) * 900, i * 3000 + 2900, { pid: 70 + rank, args: { rank, i } }));
        contents[`traces-r${rank}.jsonl`] = lines;
    }
    const dir = t.files(contents);
    const one = fs.readFileSync(t.convert(dir, ['-j', '1', '-q']).out);
    for (const jobs of ['2', '3', '8'])
        assert(one.equals(fs.readFileSync(t.convert(dir, ['-j', jobs, '-q']).out)), jobs);
});
