// convert_areal.test.js: traces as AReaL's tracer writes them, and where the output goes when nobody
// says. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const { spawnSync } = require('child_process');
const t = require('./convert_tool.js');
const { byPhase } = t;

// A rank's lines: no header, whole microseconds from its own zero, metadata without a rank.
const line = (o) => JSON.stringify(o).replace(/([:,])(?=["{\d])/g, '$1 ');
function rankLines(rank, { pid = 5, tids = [7, 8], names = false } = {}) {
    const x = (name, tid, ts, dur) => line({ name, ph: 'X', ts, dur, pid, tid, cat: 'compute', args: { rank } });
    return [...(names ? [line({ name: 'process_name', ph: 'M', pid, args: { name: 'old name' } }),
                         line({ name: 'process_sort_index', ph: 'M', pid, args: { sort_index: 99 } }),
                         line({ name: 'thread_sort_index', ph: 'M', pid, tid: tids[1], args: { sort_index: 3 } })] : []),
            x('late', tids[1], 300, 5), x('inner', tids[0], 20, 5), x('outer', tids[0], 10, 50),
            line({ name: 'point', ph: 'i', ts: 40, pid, tid: tids[0], cat: 'misc', args: { rank }, s: 't' })];
}
const meta = (events, name) => events.filter((e) => e.ph === 'M' && e.name === name);
const timed = (events) => events.filter((e) => e.ph !== 'M');

test('one file: metadata is made anew, a rank that is text is that number', () => {
    const lines = rankLines('0', { names: true });
    lines.push(line({ name: 'as a number', ph: 'X', ts: 90, dur: 1, pid: 5, tid: 8, cat: 'io', args: { rank: 0 } }));
    const r = t.convert(t.files({ 'traces-r0.jsonl': lines }));
    assert.strictEqual(r.status, 0, r.stderr);
    assert.strictEqual(t.complaints(r.out), '');
    const [name, ...noMore] = meta(r.events, 'process_name');
    assert.deepStrictEqual(noMore, []);
    assert.deepStrictEqual([name.pid, name.args.rank, name.args.orig_pid], [1, 0, 5]);
    assert.match(name.args.name, /^Rank 0\b/);
    assert.deepStrictEqual(meta(r.events, 'process_sort_index').map((e) => [e.pid, e.args.sort_index]), [[1, 0]]);
    const threads = new Map(meta(r.events, 'thread_name').map((e) => [e.tid, e.args]));
    assert.deepStrictEqual([...threads.values()].sort((a, b) => a.orig_tid - b.orig_tid),
                           [{ name: 'Thread 7', orig_tid: 7 }, { name: 'Thread 8', orig_tid: 8 }]);
    const events = timed(r.events).sort((a, b) => a.ts - b.ts);
    assert.deepStrictEqual(events.map((e) => [e.name, e.ph, e.ts, e.pid, threads.get(e.tid).orig_tid]), [
        ['outer', 'X', 10, 1, 7], ['inner', 'X', 20, 1, 7], ['point', 'i', 40, 1, 7],
        ['as a number', 'X', 90, 1, 8], ['late', 'X', 300, 1, 8]]);
});

test('a folder of two ranks with equal pids and tids', () => {
    const dir = t.files({ 'traces-r1.jsonl': rankLines(1), 'traces-r0.jsonl': rankLines(0) });
    const r = t.run([dir]);
    assert.strictEqual(r.status, 0, r.stderr);
    const { traceEvents: events } = t.readTrace(path.join(dir, 'traces.json'));
    const pids = new Map(meta(events, 'process_name').map((e) => [e.args.rank, e.pid]));
    assert.deepStrictEqual([...pids].sort(), [[0, 1], [1, 2]]);
    assert.deepStrictEqual(meta(events, 'process_sort_index').map((e) => [e.pid, e.args.sort_index]).sort(),
                           [[1, 0], [2, 1]]);
    for (const rank of [0, 1]) {
        const own = timed(events).filter((e) => e.args.rank === rank);
        assert.strictEqual(own.length, 4);
        assert.deepStrictEqual([...new Set(own.map((e) => e.pid))], [pids.get(rank)]);
        assert.strictEqual(new Set(own.map((e) => e.tid)).size, 2);
    }
    // No thread number comes twice, in no process.
    const tids = meta(events, 'thread_name').map((e) => e.tid);
    assert.strictEqual(new Set(tids).size, 4);
});

test('a pattern that nothing matches is an error that names it, and nothing is written', () => {
    const dir = t.folder();
    for (const more of [[], ['-o', path.join(dir, 'out.json')]]) {
        const r = t.run([path.join(dir, 'traces-*.jsonl'), ...more]);
        assert.strictEqual(r.status, 3);
        assert.match(r.stderr, /traces-\*\.jsonl/);
    }
    assert.deepStrictEqual(fs.readdirSync(dir), []);
});

test('where the output goes when nobody says', () => {
    const fresh = () => t.files({ 'a/traces-r0.jsonl': rankLines(0), 'a/traces-r1.jsonl': rankLines(1),
                                  'b/deep/traces-r2.jsonl': rankLines(2), 'b/sessions-r2.jsonl': [
                                      '{"task_id": 5, "session_id": 1, "rank": 2, "status": "accepted", "submit_ts": 1}'] });
    const ranksOf = (file) => [...new Set(timed(t.readTrace(file).traceEvents).map((e) => e.args.rank))].sort();
    const cases = [
        // Beside a file; in a folder, with what lies deeper, and without what is no trace.
        [['a/traces-r0.jsonl'], 'a/traces-r0.json', [0]], [['a'], 'a/traces.json', [0, 1]],
        [['b'], 'b/traces.json', [2]], [['.'], 'traces.json', [0, 1, 2]],
        // A pattern is taken by the tool where the shell has not.
        [['a/*-r1.jsonl'], 'a/traces-r1.json', [1]], [['a/traces-r*.jsonl'], 'a/traces.json', [0, 1]],
        [['**/traces-r*.jsonl'], 'traces.json', [0, 1, 2]],
        [['a/traces-r0.jsonl', 'a/traces-r1.jsonl'], 'a/traces.json', [0, 1]],
        [['a/traces-r0.jsonl', 'b/deep/traces-r2.jsonl'], 'traces.json', [0, 2]]];
    const all = (dir) => fs.readdirSync(dir, { withFileTypes: true }).flatMap((e) =>
        e.isDirectory() ? all(path.join(dir, e.name)) : [path.join(dir, e.name)]).sort();
    for (const [operands, output, ranks] of cases) {
        const dir = fresh();
        const before = all(dir);
        const r = t.run(operands, { cwd: dir });
        assert.strictEqual(r.status, 0, `${operands}: ${r.stderr}`);
        assert.deepStrictEqual(all(dir).filter((f) => !before.includes(f)), [path.join(dir, output)], `${operands}`);
        assert.deepStrictEqual(ranksOf(path.join(dir, output)), ranks, `${operands}`);
    }
});

test('to standard output goes the trace alone', () => {
    const dir = t.files({ 'traces-r0.jsonl': rankLines(0) });
    for (const args of [['traces-r0.jsonl', '-'], ['traces-r0.jsonl', '-o', '-']]) {
        const r = t.run(args, { cwd: dir });
        assert.strictEqual(r.status, 0, r.stderr);
        assert.strictEqual(timed(JSON.parse(r.stdout).traceEvents).length, 4);
        assert.strictEqual(r.stdout[r.stdout.length - 1], 10);
    }
    assert.deepStrictEqual(fs.readdirSync(dir), ['traces-r0.jsonl']);
    const piped = spawnSync('sh', ['-c', `cat traces-r0.jsonl | "$0" -q -`, t.TOOL], { cwd: dir });
    assert.strictEqual(timed(JSON.parse(piped.stdout).traceEvents).length, 4);
});

test('categories, times and arguments go through as they are', () => {
    const lines = rankLines(3);
    const r = t.convert(t.files({ 'traces-r3.jsonl': lines }));
    const bare = ({ name, ph, ts, dur, cat, args }) => JSON.stringify({ name, ph, ts, dur, cat, args });
    assert.deepStrictEqual(timed(r.events).map(bare).sort(), lines.map((l) => bare(JSON.parse(l))).sort());
    assert.strictEqual(byPhase(r.events, 'i')[0].s, 't');
});
