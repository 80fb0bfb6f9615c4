// sessions_input.test.js: odd records and inputs of perf-trace-sessions, each with what is counted
// and what comes of it. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const zlib = require('zlib');
const t = require('./sessions_tool.js');

const T = 1760000000;
const load = (lines, args = []) => t.report([t.files({ 'sessions-r0.jsonl': lines }), ...args]);
const sessions = (n, fields = {}) => Array.from({ length: n }, (_, i) =>
    t.record({ session_id: i, task_id: i >> 2, submit_ts: T + i, finalized_ts: T + i + 1, ...fields }));

test('string ids of tasks and sessions are kept as they are', () => {
    const r = load([t.record({ task_id: 'item-7', session_id: 'a' }),
                    t.record({ task_id: 'item-7', session_id: 'b', finalized_ts: T + 3 }),
                    t.record({ task_id: 7, session_id: 'c' })]);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.strictEqual(r.summary.tasks, 2);
    assert.deepStrictEqual([r.task_spread[0].task, r.task_spread[0].session, r.task_spread[0].spread],
                           ['item-7', 'b', 2]);
    assert.deepStrictEqual(r.problems, []);
    const one = load([t.record({ task_id: 'item-7' }), t.record({ task_id: 7, session_id: 1 })],
                     ['--task', 'item-7']);
    assert.strictEqual(one.summary.sessions, 1);
});

test('null ranks are counted, and take part in all but the comparison of ranks', () => {
    const r = load([...sessions(3), t.record({ session_id: 9, rank: null })], ['-B', '1']);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.strictEqual(r.summary.sessions, 4);
    assert.deepStrictEqual(t.problems(r), { no_rank: 1 });
    assert.deepStrictEqual(r.ranks.map((k) => [k.rank, k.sessions]), [[null, 1], [0, 3]]);
    const bad = load([...sessions(3), t.record({ session_id: 9, rank: 'x' })]);
    assert.deepStrictEqual(t.problems(bad), { bad_rank: 1 });
});

test('null ends are open spans, which have a count and no length', () => {
    const r = load([t.record({ phases: { generate: [{ start_ts: T, end_ts: null }] } }),
                    t.record({ session_id: 1, phases: { generate: [{ start_ts: T, end_ts: T + 0.5 }] } }),
                    t.record({ session_id: 2, status: 'pending', finalized_ts: null, submit_ts: T,
                               phases: { reward: [{ start_ts: T + 0.25, end_ts: null }] } })]);
    const d = Object.fromEntries(r.durations.map((x) => [x.name, x]));
    assert.deepStrictEqual([d.generate.sessions, d.generate.count, d.generate.open_spans], [2, 1, 1]);
    assert.deepStrictEqual([d.reward.sessions, d.reward.count, d.reward.mean], [1, 0, null]);
    assert.deepStrictEqual(t.problems(r), { open_span: 1 });
    assert.strictEqual(r.unfinished.length, 1);
    assert.strictEqual(r.unfinished[0].phase, 'reward');
    assert.strictEqual(r.unfinished[0].age_s, 1);
    assert.strictEqual(r.unfinished[0].running_s, 0.75);
});

test('the age of what is open counts to when its record was written', () => {
    const open = (start) => ({ start_ts: T + start, end_ts: null });
    const pending = { status: 'pending', finalized_ts: null };
    const r = load([t.record({}), // ends at T + 1
                    t.record({ ...pending, session_id: 1, submit_ts: T + 0.25, unfinished: { reward: 60, generate: 8 },
                               phases: { generate: [open(0.75)], reward: [open(8), open(0.5), open(0.75)] } }),
                    t.record({ ...pending, session_id: 2, submit_ts: T + 0.5 })]);
    assert.deepStrictEqual(r.unfinished.map((u) => [u.session, u.age_s, u.phase, u.running_s, u.stuck]),
                           [['1', 60.25, 'reward', 60, true], ['2', 60, null, null, true]]);
    assert.strictEqual(r.summary.seconds, 1);
});

test('a phase that was not recorded is not zero', () => {
    const r = load([t.record({ generate_s: 2 }), t.record({ session_id: 1 }), t.record({ session_id: 2 })]);
    const generate = r.durations.find((d) => d.name === 'generate');
    assert.strictEqual(generate.mean, 2);
    assert.strictEqual(generate.min, 2);
    assert.strictEqual(generate.sessions, 1);
    assert(Math.abs(generate.coverage - 1 / 3) < 1e-12);
});

test('negative durations are counted and not recorded', () => {
    const r = load([t.record({}), t.record({ session_id: 1, finalized_ts: T - 5, reward_s: -1 })]);
    assert.deepStrictEqual(t.problems(r), { negative_duration: 2 });
    assert.strictEqual(r.durations[0].count, 1);
    assert(!r.durations.some((d) => d.name === 'reward'));
    assert.strictEqual(r.summary.sessions, 2);
});

test('ids that come again after a restart are another run', () => {
    const again = sessions(5).map((l) => l.replaceAll(String(T).slice(0, 7), '1760001'));
    const r = load([...sessions(5), ...again]);
    assert.strictEqual(r.summary.sessions, 10);
    assert.strictEqual(r.summary.runs, 2);
    assert.deepStrictEqual(t.problems(r), { restart: 1 });
    assert.deepStrictEqual(r.runs.map((run) => run.sessions), [5, 5]);
    assert.strictEqual(r.summary.tasks, 4);
});

test('forked processes of one rank are one run, also with ids that come again', () => {
    const process = (run_id, start, count) => Array.from({ length: count }, (_, i) => t.record({
        run_id, session_id: i, task_id: i % 3, submit_ts: T + start + i, finalized_ts: T + start + i + 0.5 }));
    const files = (id, later = id) => ({
        'sessions-r0.jsonl': process(id, 0, 100), 'sessions-r0.1.jsonl': process(id, 10.25, 20),
        'sessions-r0.2.jsonl': process(id, 20.5, 5), 'sessions-r0.3.jsonl': process(later, 200, 8) });
    const r = t.report([t.files(files('a'))]);
    // The last one lived when all others had ended: a restart.
    assert.deepStrictEqual(r.runs.map((x) => x.sessions), [125, 8]);
    assert.deepStrictEqual([r.summary.sessions, r.summary.seconds], [133, 107]);
    assert.deepStrictEqual(t.problems(r), { restart: 1 });
    assert.strictEqual(r.summary.tasks, 6);
    assert.strictEqual(t.report([t.files(files('a', 'b'))]).summary.runs, 2);
});

test('run ids tell runs apart, and those of one run belong together', () => {
    const r = load([0, 1].flatMap((rank) => ['x', 'y'].flatMap((run, i) => sessions(3, { rank, run_id: run })
        .map((l) => l.replaceAll('1760000', `176000${i}`)))));
    assert.strictEqual(r.summary.runs, 2);
    assert.deepStrictEqual(r.runs.map((run) => [run.run_id, run.sessions]), [['x', 6], ['y', 6]]);
    assert.deepStrictEqual(r.problems, []);
});

test('records given twice are dropped, whatever file they come from', () => {
    const dir = t.files({ 'sessions-r0.jsonl': sessions(4), 'copy/sessions-r0.jsonl': sessions(4),
                          'sessions-r0.jsonl.gz': zlib.gzipSync(sessions(4).join('\n')) });
    const r = t.report([dir]);
    assert.strictEqual(r.summary.sessions, 4);
    assert.deepStrictEqual(t.problems(r), { duplicate: 8 });
});

test('a session with two contents is the one that ended later', () => {
    const r = load([t.record({ status: 'pending', finalized_ts: null }), t.record({ status: 'failed' })]);
    assert.deepStrictEqual(t.byKey(r.statuses, 'status', 'sessions'), { failed: 1 });
    assert.deepStrictEqual(t.problems(r), { conflict: 1 });
});

test('mixed clocks are kept apart', () => {
    const r = load([t.record({}), t.record({ session_id: 1, submit_ts: 5000.25, finalized_ts: 5002.25 })]);
    assert.deepStrictEqual(r.runs.map((run) => [run.clock, run.sessions, run.seconds]),
                           [['epoch', 1, 1], ['monotonic', 1, 2]]);
    assert.deepStrictEqual(t.problems(r), { mixed_clocks: 1 });
    assert.strictEqual(r.summary.seconds, 3);
});

test('unknown keys are passed over, at every depth', () => {
    const r = load([t.record({ later: { a: [1, { b: null }] }, x: 'y_s', evicted: false,
                               phases: { generate: [{ start_ts: T, end_ts: T + 1, note: [{}], start: { p: 1 } }] } })]);
    assert.deepStrictEqual(r.problems, []);
    assert.strictEqual(r.durations.find((d) => d.name === 'generate').sum, 1);
});

test('payloads of 10 MB are passed over', () => {
    const big = 'x'.repeat(10 << 20);
    const lines = [...sessions(3), t.record({ session_id: 3, phases: { generate: [
        { start_ts: T, end_ts: T + 1, start: { prompt: big } }] } }), ...sessions(3, { rank: 1 })];
    for (const args of [[], ['-j1']]) {
        const r = load(lines, args);
        assert.strictEqual(r.status, 0, r.stderr);
        assert.strictEqual(r.summary.sessions, 7);
        assert.deepStrictEqual(r.problems, []);
    }
    const array = t.report([t.files({ 'sessions.json': `[\n${lines.join(',\n')}\n]` })]);
    assert.strictEqual(array.summary.sessions, 7);
});

test('a record longer than 64 MiB is left out and told', () => {
    const big = 'x'.repeat(65 << 20);
    const lines = [t.record({}), t.record({ session_id: 1, reason: big }), t.record({ session_id: 2 }), '{'];
    const r = load(lines);
    assert.strictEqual(r.summary.sessions, 2);
    assert.deepStrictEqual(t.problems(r), { too_long: 1, damaged: 1 });
    assert.strictEqual(r.problems.find((p) => p.kind === 'damaged').line, 4);
    const array = t.report([t.files({ 'sessions.json': `[\n${lines.slice(0, 3).join(',\n')}\n]` })]);
    assert.strictEqual(array.summary.sessions, 2);
    assert.deepStrictEqual(t.problems(array), { too_long: 1 });
});

test('U+2028 and other marks in names are text', () => {
    const names = ['a\u2028b', '</script><b>x', '\u001b[31mred', '\u202eback', '"quoted", yes'];
    const r = load(names.map((name, i) => t.record({ session_id: i, reason: name, status: name,
                                                     counters: { [name]: 1 },
                                                     phases: { [name]: [{ start_ts: T, end_ts: T + 1 }] } })));
    assert.deepStrictEqual(new Set(r.reasons.map((x) => x.reason)), new Set(names));
    assert.deepStrictEqual(new Set(r.durations.filter((d) => d.kind === 'phase').map((d) => d.name)),
                           new Set(names));
    const dir = t.files({ 'sessions-r0.jsonl': names.map((name, i) => t.record({ session_id: i, reason: name })) });
    const text = t.run([dir]).stdout.toString('utf8');
    assert(text.includes('a\\u2028b') && text.includes('\\x1b[31mred') && text.includes('\\u202eback'));
    assert(!/[\u001b\u2028\u202e]/.test(text));
    const csv = t.run([dir, '--csv', '--table', 'reasons']).stdout.toString('utf8');
    assert(csv.includes('"""quoted"", yes"'));
});

test('torn, foreign, CRLF and BOM lines cost only themselves', () => {
    const good = sessions(4);
    const r = t.report([t.files({ 'sessions-r0.jsonl': Buffer.concat([
        Buffer.from('\ufeff' + good[0] + '\r\n' + good[1].slice(0, 50) + '\nplain text\n[1]\n\n' + good[2] + '\n'),
        Buffer.from([0, 0, 0, 0]), Buffer.from(good[3])]) })]);
    assert.strictEqual(r.summary.sessions, 3);
    assert.deepStrictEqual(t.problems(r), { mended_BYTE_ORDER_MARK: 1, mended_NUL_BLOCK: 1, cr_line: 1,
                                            damaged: 2, not_object: 1 });
    assert.strictEqual(r.problems.find((p) => p.kind === 'damaged').line, 2);
});

test('--strict fails for what was mended or skipped, and not for notes', () => {
    const dir = t.files({ 'sessions-r0.jsonl': [...sessions(2), '{"session_id": 1'] });
    const bad = t.run([dir, '--strict', '-o', path.join(dir, 'out.txt')]);
    assert.strictEqual(bad.status, 1);
    assert.match(bad.stderr, /error: .*sessions-r0.jsonl:3 .*damaged record left out/);
    assert.match(bad.stderr, /nothing is written/);
    assert(!fs.existsSync(path.join(dir, 'out.txt')));
    const note = t.run([t.files({ 'sessions-r0.jsonl': sessions(2, { rank: null }) }), '--strict']);
    assert.strictEqual(note.status, 0, note.stderr);
});

test('a folder is searched for sessions, and traces in it are left alone', () => {
    const dir = t.files({
        'perf_tracer/traces-r0.jsonl': ['{"name": "a", "ph": "X", "ts": 1, "dur": 1, "pid": 1, "tid": 1}'],
        'session_tracer/rollout/sessions-r0.jsonl': sessions(3, { role: 'rollout' }),
        'session_tracer/rollout/sessions-r1.jsonl.gz': zlib.gzipSync(sessions(2, { role: 'rollout', rank: 1 }).join('\n') + '\n'),
        'config.json': '{"a": 1}', 'results.jsonl': ['{"loss": 1}'], 'notes.txt': 'x', '.hidden.jsonl': '{}' });
    const r = t.report([dir]);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.strictEqual(r.summary.sessions, 5);
    assert.strictEqual(r.stderr, '');
    const trace = t.run([path.join(dir, 'perf_tracer', 'traces-r0.jsonl')]);
    assert.strictEqual(trace.status, 3);
    assert.match(trace.stderr, /holds trace events, not sessions/);
    const both = t.report([path.join(dir, '**', 'sessions-*')]);
    assert.strictEqual(both.summary.sessions, 5);
});

test('what cannot be read is told, with the status of the family', () => {
    const dir = t.files({ 'sessions-r0.jsonl': sessions(1), 'empty.jsonl': '', 'text.jsonl': 'hello\n' });
    for (const [args, status, words] of [
        [['nothing.jsonl'], 3, /No such file/], [['empty.jsonl'], 3, /it is empty/],
        [['text.jsonl'], 3, /no session record is in it/], [[], 2, /no input is given/],
        [['--json', '--csv', 'x'], 2, /exclude each other/], [['--steps', '1', 'x'], 2, /needs --consumer/],
        [['--compare', 'x'], 2, /takes two inputs/], [['--ranks', 'a', 'x'], 2, /--ranks takes/],
        [['sessions-r0.jsonl', '-o', 'missing/out'], 4, /missing/],
        [['sessions-r0.jsonl', '-o', 'sessions-r0.jsonl'], 4, /is one of the inputs/],
        [['sessions-r0.jsonl', '--table', 'nothing'], 2, /there is no table nothing/]]) {
        const r = t.run(args, { cwd: dir });
        assert.strictEqual(r.status, status, `${args}: ${r.stderr}`);
        assert.match(r.stderr, words);
        assert.strictEqual(r.stdout.length, 0);
    }
});

test('a damaged gzip file gives what can be had', () => {
    const packed = zlib.gzipSync(sessions(2000).join('\n') + '\n');
    const r = t.report([t.files({ 'sessions-r0.jsonl.gz': packed.subarray(0, packed.length >> 1) })]);
    assert.strictEqual(r.status, 0, r.stderr);
    assert(r.summary.sessions > 100 && r.summary.sessions < 2000);
    assert.strictEqual(t.problems(r).input_damaged, 1);
});

test('the same report, whatever the threads and the order of arrival', () => {
    const dir = t.files({ 'sessions-r0.jsonl': sessions(5000), 'sessions-r1.jsonl': sessions(5000, { rank: 1 }),
                          'sessions-r2.jsonl': [...sessions(20000, { rank: 2, reason: 'late' }), '{'] });
    const one = t.run([dir, '-j1', '-B', '30']), four = t.run([dir, '-j4', '-B', '30']);
    assert.deepStrictEqual(one.stdout, four.stdout);
    assert.strictEqual(one.stderr, four.stderr);
    assert.match(one.stderr, /sessions-r2.jsonl:20001/);
});
