// sessions_traces.test.js: perf-trace-sessions on traces, without files of records.
// SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const zlib = require('zlib');
const { spawnSync } = require('child_process');
const t = require('./sessions_tool.js');
const { rank, mixed, kinds } = require('./mixed_lines.js');

const EPOCH = 1760000000;

// ---- a trace of ours ----

function header(fields = {}) {
    return t.python({ name: 'perftrace_header', ph: 'M', pid: 7, tid: 7,
                      args: { version: 1, run_id: 'run-a', rank: 0, role: 'rollout', pid: 7,
                              epoch_ns: `${EPOCH}000000000`, mono_ns: '1', ...fields } });
}
// An event ms after the start; the writer puts rank and role behind the args.
function event(ph, name, ms, id, args = {}, cat = 'session', common = { rank: 0, role: 'rollout' }) {
    return t.python({ name, ph, ts: 0.5, pid: 7, tid: 7, cat, args: { ...args, ...common },
                      id: `0x${id.toString(16)}` }).replace('"ts": 0.5', `"ts": ${ms * 1000}.000`);
}
const submit = (id, ms, task) => event('b', 'session', ms, id, { task_id: task });
const end = (id, ms, status, reason = null) => event('e', 'session', ms, id, { status, reason });
const span = (id, name, from, to) => [event('b', name, from, id),
                                      event('e', name, to, id, { began: from * 1000 })];
const plain = (ms) => `{"name": "step", "ph": "X", "ts": ${ms * 1000}.000, "dur": 5.000, "pid": 7, ` +
    '"tid": 7, "cat": "compute", "args": {"rank": 0, "role": "rollout"}}';

// Two that ended and one that nobody ends.
const TRACE = [header(), plain(1), submit(0, 10, 4), submit(1, 10, 4), ...span(0, 'generate', 20, 120),
               event('n', 'tokens', 121, 0, { value: 40 }, 'session.counter'),
               event('b', 'reward', 130, 1, { judge: 'x' }), end(0, 150, 'rejected', 'stale'),
               submit(2, 160, 5), ...span(2, 'generate', 170, 190), end(2, 200, null), plain(330)];

const load = (lines, args = []) => t.report([t.files({ 'traces-r0.jsonl': lines }), ...args]);

test('a trace gives its sessions as their records would', () => {
    const r = load(TRACE);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.deepStrictEqual(r.problems, []);
    assert.strictEqual(r.summary.sessions, 3);
    assert.strictEqual(r.summary.tasks, 2);
    assert.deepStrictEqual(t.byKey(r.statuses, 'status', 'sessions'),
                           { accepted: 1, rejected: 1, pending: 1 });
    assert.strictEqual(r.reasons[0].reason, 'stale');
    assert.strictEqual(r.counters[0].sum, 40);
    const generate = r.durations.find((d) => d.name === 'generate');
    assert.deepStrictEqual([generate.sessions, generate.max], [2, 0.1]);
    // What is open has run until the last time that the trace tells.
    assert.strictEqual(r.unfinished.length, 1);
    assert.deepStrictEqual([r.unfinished[0].session, r.unfinished[0].phase], ['1', 'reward']);
    assert.ok(Math.abs(r.unfinished[0].running_s - 0.200005) < 1e-6, r.unfinished[0].running_s);
    assert.strictEqual(r.ranks[0].rank, 0);
    assert.strictEqual(r.runs[0].run_id, 'run-a');
    // A record that was made stands on no line.
    assert.match(r.slowest[0].record, /traces-r0\.jsonl$/);
});

test('what is open has run until the last reading of the clock, as in the records', () => {
    const clock = (ms) => t.python({ name: 'perftrace_clock', ph: 'M', pid: 7, tid: 7,
                                     args: { ts: ms * 1000, mono_ns: '2', epoch_ns: '3' } });
    const r = load([clock(0), ...TRACE, clock(5130), clock(4000)]);
    assert.deepStrictEqual([r.unfinished[0].phase, r.unfinished[0].running_s], ['reward', 5]);
    assert.ok(Math.abs(r.unfinished[0].age_s - 5.12) < 1e-6, r.unfinished[0].age_s);
});

test('a phase may be called as a session is, and its payload as what the writer adds', () => {
    const own = (from, to) => [event('b', 'session', from, 0, { task_id: 99, began: 1 }),
                               event('e', 'session', to, 0, { status: 'x', began: from * 1000 })
                                   .replace('"status"', '"began": 2, "status"')];
    const r = load([header(), submit(0, 10, 4), ...own(20, 30), ...own(40, 60), end(0, 70, null), submit(1, 80, 4),
                    event('b', 'session', 85, 1), end(1, 90, null)]);
    assert.deepStrictEqual(r.summary.tasks, 1);
    assert.deepStrictEqual(t.byKey(r.statuses, 'status', 'sessions'), { accepted: 1, failed: 1 });
    const phase = r.durations.find((d) => d.name === 'session');
    assert.deepStrictEqual([phase.sessions, phase.count, phase.max], [2, 1, 0.03]);
});

test('gzip and standard input, also several traces one after the other', () => {
    const gz = t.report([t.files({ 'traces-r0.jsonl.gz': zlib.gzipSync(TRACE.join('\n') + '\n') })]);
    assert.strictEqual(gz.summary.sessions, 3);
    const later = [header({ run_id: 'run-b', epoch_ns: `${EPOCH + 100}000000000` }), ...TRACE.slice(1)];
    const both = t.report(['-'], { input: Buffer.from([...TRACE, ...later].join('\n') + '\n') });
    assert.strictEqual(both.status, 0, both.stderr);
    assert.strictEqual(both.summary.sessions, 6);
    assert.deepStrictEqual(both.runs.map((r) => [r.run_id, r.sessions]), [['run-a', 3], ['run-b', 3]]);
    assert.strictEqual(both.runs[1].start - both.runs[0].start, 100);
});

test('a header that comes again tells the rank, and begins no other run', () => {
    const unknown = header({ rank: null });
    const r = load([unknown, event('b', 'session', 10, 0, { task_id: 1 }, 'session', {}), header(),
                    end(0, 20, 'accepted')]);
    assert.deepStrictEqual([r.summary.sessions, r.summary.runs], [1, 1]);
    assert.strictEqual(r.ranks[0].rank, 0);
});

test('a trace whose header is lost is read by its first reading of the clock', () => {
    const clock = t.python({ name: 'perftrace_clock', ph: 'M', pid: 7, tid: 7,
                             args: { ts: '@', mono_ns: '2', epoch_ns: `${EPOCH}000012500`, rank: 0, role: 'rollout' } })
        .replace('"@"', '12.500');
    const [head, ...rest] = TRACE;
    const whole = load([head, clock, ...rest]);
    for (const lost of [head.slice(0, 40), '\u0000\u0000\u0000', '{}']) {
        const r = load([lost, clock, ...rest]);
        assert.strictEqual(r.status, 0, r.stderr);
        assert.deepStrictEqual({ ...t.problems(r), trace_line: 0 }, { no_header: 1, trace_line: 0 });
        assert.deepStrictEqual([r.runs[0].run_id, whole.runs[0].run_id], [null, 'run-a']);
        const rows = (report, table) => [report[table]].flat().map((row) => ({ ...row, record: null }));
        for (const table of ['summary', 'statuses', 'durations', 'ranks', 'tasks', 'slowest', 'unfinished'])
            assert.deepStrictEqual(rows(r, table), rows(whole, table), table);
    }
    // A header that comes later (the rank was told) is the same run's.
    assert.strictEqual(load(['{', clock, ...rest.slice(0, 4), head, ...rest.slice(4)]).summary.runs, 1);
    // Not beside records that may be its own.
    const dir = t.files({ 'traces-r0.jsonl': ['{', clock, ...rest],
                          'sessions-r0.jsonl': [t.record({ session_id: 0, role: 'rollout', run_id: 'run-a', submit_ts: EPOCH })] });
    assert.strictEqual(t.report([dir]).summary.sessions, 1);
    assert.strictEqual(t.run(['--strict', t.files({ 'traces-r0.jsonl': ['{', clock, ...rest] })]).status, 1);
});

test('a trace is not read where the records of its run are', () => {
    const records = [t.record({ session_id: 0, role: 'rollout', run_id: 'run-a', submit_ts: EPOCH })];
    const dir = t.files({ 'logs/sessions-r0.jsonl': records, 'logs/traces-r0.jsonl': TRACE,
                          'later/traces-r0.jsonl': TRACE.map((l) => l.replace('run-a', 'run-b')),
                          'other/traces-r1.jsonl': TRACE.map((l) => l.replaceAll('"rank": 0', '"rank": 1')) });
    const of = (...args) => t.report(args.map((a) => path.join(dir, a))).summary.sessions;
    assert.strictEqual(of('logs'), 1);
    assert.strictEqual(of('logs/sessions-r0.jsonl', 'logs/traces-r0.jsonl'), 1);
    assert.strictEqual(of('logs/traces-r0.jsonl'), 3);
    assert.strictEqual(of('.'), 7); // another run, and another rank
    const said = t.run(['-v', path.join(dir, 'logs')]);
    assert.match(said.stderr, /traces-r0\.jsonl: passed over: the sessions of its run are in a file of records/);
});

test('damaged lines cost themselves, and are named', () => {
    const torn = end(0, 150, 'rejected').slice(0, 60);
    for (const at of [1, 5, TRACE.length]) {
        const lines = [...TRACE.slice(0, at), torn, '', '\u0000\u0000', ...TRACE.slice(at)];
        const r = load(lines);
        assert.strictEqual(r.status, 0, r.stderr);
        assert.strictEqual(r.summary.sessions, 3);
        const [damaged] = r.problems.filter((p) => p.kind === 'trace_line');
        assert.deepStrictEqual([damaged.count, damaged.line], [2, at + 1]);
        assert.strictEqual(damaged.offset, Buffer.byteLength(lines.slice(0, at).join('\n') + '\n'));
        const strict = t.run(['--strict', t.files({ 'traces-r0.jsonl': lines })]);
        assert.strictEqual(strict.status, 1);
    }
    // Before the header, too.
    assert.strictEqual(load(['{"name": "x', ...TRACE]).summary.sessions, 3);
});

test('what comes too late is counted', () => {
    const r = load([...TRACE, end(0, 400, 'accepted'), event('e', 'task', 410, 77, { status: 'accepted', reason: null },
                                                             'session.task')]);
    assert.deepStrictEqual(t.problems(r), { late_event: 1, orphan: 1 });
    assert.deepStrictEqual(t.byKey(r.statuses, 'status', 'sessions'),
                           { accepted: 1, rejected: 1, pending: 1 });
    const backwards = load([header(), submit(0, 10, 1), event('b', 'reward', 50, 0),
                            event('e', 'reward', 40, 0, { began: 50000 }), end(0, 60, null)]);
    assert.deepStrictEqual(t.problems(backwards), { backwards: 1 });
});

test('losses of the recording are told', () => {
    const drop = t.python({ name: 'perftrace_drop', ph: 'M', pid: 7, tid: 7,
                            args: { cause: 'ring_full', count: 12, first_ts: 1, last_ts: 2 } });
    assert.deepStrictEqual(t.problems(load([...TRACE, drop])), { recording_lost: 12 });
});

test('a trace without sessions, and one that is not ours', () => {
    const none = t.run([t.files({ 'traces-r0.jsonl': [header(), plain(1)] })]);
    assert.strictEqual(none.status, 3);
    assert.match(none.stderr, /no session is in the input/);
    const foreign = path.join(t.files({ 'a.json': '{"traceEvents": []}' }), 'a.json');
    assert.match(t.run([foreign]).stderr, /is no trace file as libperftrace writes it/);
});

test('a long trace takes no more memory than its live sessions', () => {
    const dir = t.files({ 'traces-r0.jsonl': '' });
    const fd = fs.openSync(path.join(dir, 'traces-r0.jsonl'), 'w');
    fs.writeSync(fd, header() + '\n');
    const sessions = 60000;
    for (let i = 0; i < sessions; i += 1000) {
        let text = '';
        for (let k = i; k < i + 1000; k++)
            text += [submit(k, k, k >> 2), ...span(k, 'generate', k + 1, k + 3), end(k, k + 4, 'accepted')].join('\n') + '\n';
        fs.writeSync(fd, text);
    }
    fs.closeSync(fd);
    const r = t.report([dir]);
    assert.strictEqual(r.summary.sessions, sessions);
    assert.deepStrictEqual(r.problems, []);
    assert.strictEqual(r.durations.find((d) => d.name === 'total').mean, 0.004);
});

// ---- one file in which processes take turns, as perf-trace-collect --one-file makes it ----

for (const [what, ranks] of kinds)
    test(`processes ${what} that take turns in one file are read as from their own files`, () => {
        const told = (r) => {
            assert.strictEqual(r.status, 0, r.stderr);
            const { status, stdout, stderr, ...rest } = r;
            return JSON.parse(JSON.stringify(rest, (key, value) => key === 'record' || key === 'inputs' || key === 'file' ? undefined : value));
        };
        const lines = (r) => r.map((l) => `${l}\n`).join('');
        const apart = told(t.report([t.files(Object.fromEntries(ranks.map((r, i) => [`${'abc'[i]}.jsonl`, lines(r)])))]));
        assert.strictEqual(apart.summary.sessions, 3);
        assert.deepStrictEqual(t.byKey(apart.statuses, 'status', 'sessions'), { accepted: 3 });
        // At once, and behind what is looked at first; packed; beside another file, too.
        for (const [each, first, pack] of [[1, 0], [17, 390], [5, 0, true]]) {
            const text = mixed(ranks, each, first);
            const dir = t.files(pack ? { 'trace_events.jsonl.gz': zlib.gzipSync(text) } : { 'trace_events.jsonl': text });
            const r = t.report([dir]);
            assert.deepStrictEqual(told(r), apart);
            assert.match(r.stderr, /trace_events\.jsonl\S*: the lines of 3 processes take turns in it/);
        }
        const two = t.files({ 'a.jsonl': mixed(ranks.slice(0, 2), 3), 'c.jsonl': lines(ranks[2]) });
        assert.deepStrictEqual(told(t.report([two])), apart);
    });

test('a trace in which processes take turns is not taken where it can be read only once', () => {
    // At once, and behind what is looked at first.
    for (const [count, each, first] of [[40, 1], [4000, 7, 3900]]) {
        const text = mixed([rank(0, { count }), rank(1, { count })], each, first);
        const dir = t.files({ 'all.jsonl': text });
        const fed = t.run(['-'], { input: Buffer.from(text) });
        const fifo = spawnSync('bash', ['-c', 'mkfifo all; cat all.jsonl >all & timeout 60 "$0" all; code=$?; rm all; exit $code', t.TOOL],
                               { cwd: dir, encoding: 'utf8' });
        for (const [r, name] of [[fed, 'standard input'], [fifo, 'all']]) {
            assert.strictEqual(r.status, 3, r.stderr);
            assert(r.stderr.includes(`${name}: the lines of several processes take turns in it: give it as a file`), r.stderr);
            assert.strictEqual(r.stdout.length, 0);
        }
    }
    // One after the other they do not take turns.
    const after = t.report(['-'], { input: Buffer.from([...rank(0), ...rank(1), ...rank(2)].join('\n') + '\n') });
    assert.strictEqual(after.status, 0, after.stderr);
    assert.strictEqual(after.summary.sessions, 3);
});

test('standard input that is a file is read as one', () => {
    const dir = t.files({ 'one.jsonl': `${rank(0).join('\n')}\n`, 'all.jsonl': mixed([rank(0), rank(1)], 3) });
    const from = (name) => spawnSync('bash', ['-c', `exec "$0" --json - <${name}`, t.TOOL], { cwd: dir, encoding: 'utf8' });
    const one = from('one.jsonl');
    assert.strictEqual(one.status, 0, one.stderr);
    assert.strictEqual(JSON.parse(one.stdout).summary.sessions, 1);
    const all = from('all.jsonl');
    assert.strictEqual(all.status, 3, all.stderr);
    assert.match(all.stderr, /standard input: .*give it as a file/);
});

test('a trace of several processes that ends early is damaged', () => {
    const dir = t.files({ 'x.jsonl.gz': zlib.gzipSync(mixed([rank(0), rank(1)], 3)).subarray(0, -9) });
    assert.strictEqual(t.run(['--strict', dir]).status, 1);
    const r = t.report([dir]);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.match(r.stderr, /x\.jsonl\.gz \(pid \d+ of rank \d\).*gzip data is cut off at byte/);
});
