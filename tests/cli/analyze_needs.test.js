// analyze_needs.test.js: what users of other analysers asked for, one test a need, with the values
// that the need states. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const { spawnSync } = require('child_process');
const t = require('./analyze_tool.js');
const { X, kernel, call, torch, near, row, path } = t;

const one = (name) => [X('cpu_op', name, 0, 10)];
const ranksOf = (r) => Object.fromEntries(r.ranks.map((k) => [path.basename(k.file), k.rank]));

test('PT-08: ranks that no trace records', () => {
    const a = t.files({ 'run-rank0.json': torch(null, one('a')),
                        'run-rank1.json': torch(null, one('b')) });
    let r = t.report([a]);
    assert.strictEqual(r.status, 0);
    assert.deepStrictEqual(ranksOf(r), { 'run-rank0.json': 0, 'run-rank1.json': 1 });
    assert.strictEqual(r.stderr, '');

    r = t.report([t.files({ 'trace.json': torch(null, one('a')) })]);
    assert.strictEqual(r.status, 0);
    assert.deepStrictEqual(ranksOf(r), { 'trace.json': 0 });
    assert.match(r.stderr, /warning: no rank is recorded/);

    r = t.report([t.files({ 'x.json': torch(null, one('a')), 'y.json': torch(null, one('b')) })]);
    assert.strictEqual(r.status, 0);
    assert.deepStrictEqual(ranksOf(r), { 'x.json': 0, 'y.json': 1 });
    assert.match(r.stderr, /warning: no rank is recorded for 2 of 2/);

    const d = t.files({ 'x.json': torch(0, one('a')), 'y.json': torch(0, one('b')) });
    r = t.report([d]);
    assert.strictEqual(r.status, 3);
    assert.match(r.stderr, /x\.json and .*y\.json are both of rank 0/);
    r = t.report([d, '--rank-map', 'y.json=1']);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.deepStrictEqual(ranksOf(r), { 'x.json': 0, 'y.json': 1 });
});

const header = (rank, run) =>
    `{"name": "perftrace_header", "ph": "M", "pid": 7, "tid": 7, "args": {"version": 1, ` +
    `"run_id": "${run}", "rank": ${rank}, "world_size": 4, "host": "n", "epoch_ns": "1790000000000000000"}}\n` +
    `{"name": "step", "ph": "X", "ts": 0.000, "dur": 10.000, "pid": 7, "tid": 7, "cat": "compute", ` +
    `"args": {"global_step": 0, "rank": ${rank}}}\n`;

test('PT-24: ranks that are missing, and a rank of another run', () => {
    const dir = t.files({ 'traces-r0.jsonl': header(0, 'a'), 'traces-r1.jsonl': header(1, 'a'),
                          'traces-r3.jsonl': header(3, 'a') });
    const page = path.join(dir, 'page.html');
    let r = t.report([dir, '--html', page]);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.match(r.stderr, /missing rank 2 of 4/);
    assert.strictEqual(r.summary.missing_ranks, '2');
    assert.strictEqual(r.summary.missing, 1);
    assert.match(t.fs.readFileSync(page, 'utf8'), /"missing_ranks":\s*"2"/);
    r = t.report([dir, '--require-all']);
    assert.strictEqual(r.status, 1);
    t.fs.writeFileSync(path.join(dir, 'traces-r3.jsonl'), header(3, 'other'));
    r = t.report([dir]);
    assert.strictEqual(r.status, 0);
    assert.match(r.stderr, /traces-r3\.jsonl is of another run \(other\)/);
});

test('PT-25: a scope without an end, and an end without a begin', () => {
    const e = (ph, name, ts, tid, more = {}) => ({ ph, name, pid: 1, tid, ts, ...more });
    const events = [e('B', 'A', 0, 1), e('B', 'B', 10, 1), e('E', 'B', 20, 1), e('i', 'mark', 30, 1, { s: 't' }),
                    e('E', '', 5, 2), e('X', 'C', 6, 2, { dur: 2 })];
    const dir = t.files({ 'rank0.json': torch(0, events) });
    let r = t.report([dir]);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.deepStrictEqual(r.unfinished.map((u) => [u.name, u.start_s, u.so_far_s]), [['A', 0, 0.00003]]);
    assert.deepStrictEqual(r.names.map((n) => [n.name, n.count, n.total_s]), [['B', 1, 0.00001], ['C', 1, 0.000002]]);
    assert.deepStrictEqual([r.summary.unfinished, r.summary.scopes, r.summary.duration_s], [1, 3, 0.00003]);
    assert.deepStrictEqual(r.problems.map((p) => [p.kind, p.count]).sort(), [['stray_end', 1], ['unfinished', 1]]);
    assert.match(t.run([dir]).stdout.toString(), /Scopes without an end\n.*\n +0 +0 s +30.0 us +- +A\n/);

    // The same after perf-trace-convert has closed it; and a step that a killed program was in is none.
    const one_file = path.join(dir, 'merged', 'all.json');
    t.fs.mkdirSync(path.dirname(one_file));
    const convert = spawnSync(process.env.PERFTRACE_CONVERT, [path.join(dir, 'rank0.json'), '-o', one_file]);
    assert.strictEqual(convert.status, 0, convert.stderr.toString());
    r = t.report([one_file]);
    assert.deepStrictEqual(r.unfinished.map((u) => [u.name, u.so_far_s]), [['A', 0.00003]]);
    assert.deepStrictEqual(r.names.map((n) => n.name).sort(), ['B', 'C']);
    assert.strictEqual(r.summary.unfinished, 1);
    const step = (n, ts, more) => e('X', 'step', ts, 1, { cat: 'compute', args: { global_step: n, ...more } });
    r = t.report([t.files({ 'rank0.json': torch(0, [{ ...step(1, 0), dur: 10 },
                                                    { ...step(2, 10, { unfinished: true }), dur: 90 }]) })]);
    assert.deepStrictEqual(r.steps.map((s) => s.step), [1]);
    assert.deepStrictEqual(r.unfinished.map((u) => u.so_far_s), [0.00009]);
});

test('PT-30: counters that are not finite', () => {
    const c = (ts, value) => `{"ph":"C","name":"loss","pid":1,"tid":1,"ts":${ts},"args":{"loss":${value}}}`;
    const r = t.report([t.files({ 'rank0.json': `[${[1.5, 'NaN', 'Infinity', '-Infinity', 2.5].map((v, i) => c(i, v))},` +
        '{"ph":"X","name":"s","pid":1,"tid":1,"ts":9,"dur":1,"args":{"lr":NaN}}]' })]);
    assert.strictEqual(r.status, 0, r.stderr);
    const loss = row(r.counters, { name: 'loss' });
    assert.deepStrictEqual([loss.count, loss.mean, loss.min, loss.max, loss.last], [2, 2, 1.5, 2.5, 2.5]);
    assert.strictEqual(row(r.problems, { kind: 'not_numeric' }).count, 3);
    assert.strictEqual(row(r.problems, { kind: 'mended_NONFINITE' }).count, 4);
});

test('PT-33: many shapes of trace files in one directory', () => {
    const e = (n) => one(`e${n}`)[0];
    const dir = t.files({
        'array-r0.json': JSON.stringify([e(0), e(1), e(2)]),
        'object-r1.json': JSON.stringify({ traceEvents: [e(3), e(4), e(5)] }),
        'empty-r2.json': JSON.stringify({ traceEvents: [e(6), {}, e(7)] }),
        'config.json': JSON.stringify({ lr: 1, model: { layers: 3 } }),
        'stream-r3.json': JSON.stringify([X('kernel', 'k', 0, 5, { tid: 'stream 7' })]),
        'list-r4.json': JSON.stringify([{ ...e(8), args: [] }]),
    });
    const r = t.report([dir]);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.strictEqual(r.summary.events, 10);
    assert.match(r.stderr, /config\.json: skipped: it is JSON but holds no trace events/);
    assert.strictEqual(row(r.streams, { rank: 3 }).stream, 'stream 7');
    assert.deepStrictEqual(r.problems.map((p) => [p.kind, p.count]).sort(),
                           [['bad_args', 1], ['empty_event', 1]]);
});

test('PT-35: the same process and thread numbers on two hosts', () => {
    const events = (name) => [{ ph: 'M', name: 'process_name', pid: 7, tid: 7, args: { name } },
                              X('user_annotation', 'step', 0, 10000, { pid: 7, tid: 7 })];
    const dir = t.files({ 'a-rank0.json': torch(0, events('main')),
                          'b-rank1.json': torch(1, events('sampler')),
                          'c-rank2.json': torch(2, events('other')) });
    const r = t.report([dir]), again = t.report([dir]);
    assert.strictEqual(r.status, 0);
    assert.deepStrictEqual(r.ranks.map((k) => [k.rank, k.scopes, k.scopes_s]),
                           [[0, 1, 0.01], [1, 1, 0.01], [2, 1, 0.01]]);
    assert.strictEqual(r.stdout.toString(), again.stdout.toString());
});

// Three processes with the number 7: two hosts, and one host again a minute later.
test('PT-35: a process number that is used again on one host', () => {
    const trace = (rank, host, name, seconds) => [
        { name: 'perftrace_header', ph: 'M', pid: 7, tid: 7,
          args: { version: 1, run_id: 'r', rank, world_size: 3, host, epoch_ns: `${1790000000 + seconds}000000000` } },
        { name: 'thread_name', ph: 'M', pid: 7, tid: 7, args: { name } },
        { name: 'step', ph: 'X', ts: 0, dur: 10000, pid: 7, tid: 7, cat: 'compute', args: { rank } },
        { name: 'queue', ph: 'C', ts: 5000, pid: 7, tid: 7, args: { [name]: rank + 1 } }]
        .map((e) => `${JSON.stringify(e)}\n`).join('');
    const dir = t.files({ 'traces-r0.jsonl': trace(0, 'a', 'main', 0), 'traces-r1.jsonl': trace(1, 'b', 'sampler', 0),
                          'traces-r2.jsonl': trace(2, 'a', 'reborn', 60) });
    const r = t.report([dir]);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.deepStrictEqual(r.ranks.map((k) => [k.rank, k.host, k.scopes, k.scopes_s, k.start_s]),
                           [[0, 'a', 1, 0.01, 0], [1, 'b', 1, 0.01, 0], [2, 'a', 1, 0.01, 60]]);
    assert.deepStrictEqual(r.counters.map((c) => [c.rank, c.name, c.last]),
                           [[0, 'queue main', 1], [1, 'queue sampler', 2], [2, 'queue reborn', 3]]);
    assert.strictEqual(t.report([dir, '-j', '1']).stdout.toString(), r.stdout.toString());
});

// Both are kept apart from each other, and neither is taken for the other or left out in silence.
test('PT-35: two files of one rank from two hosts', () => {
    const dir = t.files({ 'a/rank0.json': torch(0, one('main')), 'b/rank0.json': torch(0, one('sampler')) });
    const a = path.join(dir, 'a', 'rank0.json'), b = path.join(dir, 'b', 'rank0.json');
    let r = t.report([a, b]);
    assert.strictEqual(r.status, 3);
    assert.strictEqual(r.stdout.length, 0);
    assert(r.stderr.includes(a) && r.stderr.includes(b) && /both of rank 0/.test(r.stderr), r.stderr);
    r = t.report([a, b, '--rank-map', `${b}=1`]);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.deepStrictEqual(r.ranks.map((k) => [k.rank, k.file]), [[0, a], [1, b]]);
    assert.deepStrictEqual(r.names.map((n) => [n.name, n.count]).sort(), [['main', 1], ['sampler', 1]]);
    // The same of results that were made apart.
    [a, b].forEach((file) => assert.strictEqual(t.run([file, '--partial', `${file}.result`]).status, 0));
    r = t.report(['merge', `${a}.result`, `${b}.result`]);
    assert.strictEqual(r.status, 3);
    assert(r.stderr.includes(a) && r.stderr.includes(b), r.stderr);
});

const phase = (name, ts, dur) => X('user_annotation', name, ts * 1000, dur * 1000);

// What the page holds of its tables, as its script reads it.
function pageData(file) {
    const page = t.fs.readFileSync(file, 'utf8');
    const [, json] = /<script[^>]*type="application\/json"[^>]*>([^]*?)<\/script>/.exec(page);
    return { page, data: JSON.parse(json) };
}

test('PT-34: names that break pages', () => {
    const names = ['</script><b>x', '<lambda>', 'a & b', 'esc\u001bape', 'both \' and "', `${'n'.repeat(298)}&&`];
    const dir = t.files({ 'rank0.json': torch(0, names.map((name, i) => kernel(name, i * 10, 5))) });
    const file = path.join(dir, 'page.html');
    const r = t.run([path.join(dir, 'rank0.json'), '--html', file]);
    if (/chart library|Chart\.js/.test(r.stderr)) { // the build has none: there are no pages
        assert.notStrictEqual(r.status, 0);
        return;
    }
    assert.strictEqual(r.status, 0, r.stderr);
    const { page, data } = pageData(file);
    const kernels = data.tables.find((table) => table.id === 'kernels');
    const at = kernels.columns.findIndex((column) => column.id === 'name');
    assert.deepStrictEqual(kernels.rows.map((cells) => cells[at]).sort(), [...names].sort());
    assert.strictEqual(page.includes('<b>x'), false);
    assert.strictEqual(page.includes('<lambda>'), false);
});

test('PT-37: a torn last line', () => {
    const good = [1, 2, 3].map((n) => JSON.stringify(X('compute', `g${n}`, n * 10, 5)));
    const start = Buffer.from(`${good.join('\n')}\n`), torn = Buffer.from('{"name": "caf\u20ac').subarray(0, -1);
    const cases = {
        a: Buffer.concat([start, torn]), b: Buffer.concat([start, torn, Buffer.from('\n\n')]),
        c: Buffer.from([good[0], '{"name": "broken", "ph": ', good[1], good[2], ''].join('\n')),
        d: Buffer.concat([Buffer.from(`${good[0]}\n${good[1]}\n`), Buffer.alloc(4096), Buffer.from(`${good[2]}\n`)]) };
    for (const [name, text] of Object.entries(cases)) {
        const dir = t.files({ 'traces-r0.jsonl': text }), r = t.report([dir]);
        assert.strictEqual(r.status, 0, name);
        assert.deepStrictEqual(r.names.map((n) => n.name).sort(), ['g1', 'g2', 'g3'], name);
        assert.strictEqual(r.stderr.match(/traces-r0\.jsonl:\d+ \(byte \d+\): /g)?.length, 1, `${name}: ${r.stderr}`);
        assert.strictEqual(r.problems.reduce((n, p) => n + p.count, 0), 1, name);
        assert.strictEqual(t.run([dir, '--strict']).status, 1, name);
    }
});

test('PT-39: what is not recorded is null and its time unknown', () => {
    const step = phase('ProfilerStep#3', 0, 40), rest = [phase('forward', 0, 10), phase('backward', 10, 20)];
    const dir = t.files({ 'rank0.json': torch(0, [step, ...rest, phase('optimizer', 30, 5)], { world_size: 2 }),
                          'rank1.json': torch(1, [step, ...rest], { world_size: 2 }) });
    let r = t.report([dir]);
    assert.strictEqual(r.status, 0, r.stderr);
    const part = (rank, name) => row(r.step_parts, { rank, step: 3, part: name }).duration_s;
    assert.strictEqual(part(0, 'forward'), 0.01);
    assert.strictEqual(part(0, 'backward'), 0.02);
    assert.strictEqual(part(0, 'optimizer'), 0.005);
    assert.strictEqual(part(0, '(unknown)'), 0.005);
    assert.strictEqual(part(1, 'forward'), 0.01);
    assert.strictEqual(part(1, 'optimizer'), null);
    assert.strictEqual(part(1, '(unknown)'), 0.01);

    r = t.report([t.files({ 'rank0.json': torch(0, [kernel('k', 0, 10), kernel('k', 30, 10)]) })]);
    assert.strictEqual(r.status, 0);
    assert.deepStrictEqual(r.steps, []);
    assert.strictEqual(row(r.coverage, { figure: 'steps' }).recorded_ranks, 0);
    near(r.ranks[0].utilisation, 0.5, 'utilisation of the whole trace');

    const cpu = t.files({ 'rank0.json': torch(0, one('aten::add')) });
    r = t.report([cpu]);
    assert.strictEqual(r.status, 0);
    assert.strictEqual(r.summary.device_note, 'no GPU events');
    assert.strictEqual(r.ranks[0].utilisation, null);
    assert.strictEqual(r.breakdown[0].compute_s, null);
    assert.match(t.run([cpu]).stdout.toString(), /no GPU events/);
});

const launched = (ms) => [call(0, 10, 1), kernel('k', 100, ms * 1000, { correlation: 1 }),
                          { ph: 's', id: 1, pid: 10, tid: 1, ts: 0, cat: 'ac2g', name: 'ac2g' },
                          { ph: 'f', id: 1, pid: 0, tid: 7, ts: 100, cat: 'ac2g', name: 'ac2g', bp: 'e' }];

test('PT-40: correlations of ranks in a merged file do not meet', () => {
    const dir = t.files({ 'rank0.json': torch(0, launched(5), { world_size: 2 }),
                          'rank1.json': torch(1, launched(9), { world_size: 2 }) });
    const convert = process.env.PERFTRACE_CONVERT, merged = path.join(dir, 'merged', 'all.json');
    const apart = t.report([dir]);
    t.fs.mkdirSync(path.dirname(merged));
    assert.strictEqual(spawnSync(convert, [path.join(dir, 'rank0.json'), path.join(dir, 'rank1.json'),
                                           '-o', merged]).status, 0);
    const together = t.report([merged]);
    assert.strictEqual(together.status, 0, together.stderr);
    assert.deepStrictEqual(together.ranks.map((k) => [k.rank, k.kernel_s]), [[0, 0.005], [1, 0.009]]);
    assert.deepStrictEqual(together.launches, apart.launches);
    assert.deepStrictEqual(together.launches.map((k) => k.linked), [1, 1]);
    assert.deepStrictEqual(together.breakdown, apart.breakdown);
    assert.deepStrictEqual(together.kernels, apart.kernels);
});

test('PT-40: 64 ranks of 1000 launches, merged', () => {
    const process_name = (rank, pid, name) =>
        ({ ph: 'M', name: 'process_name', pid, tid: 0, args: { name, rank } });
    const events = [];
    for (let rank = 0; rank < 64; rank++) {
        events.push(process_name(rank, 2 * rank + 1, 'cpu'), process_name(rank, 2 * rank + 2, 'gpu'));
        for (let i = 0; i < 1000; i++) {
            events.push({ ...call(i * 10, 2, i), pid: 2 * rank + 1 },
                        { ...kernel('k', i * 10 + 3, 1 + rank / 100, { correlation: i }), pid: 2 * rank + 2 });
        }
    }
    const r = t.report([t.files({ 'all.json': JSON.stringify({ traceEvents: events }) })]);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.strictEqual(r.ranks.length, 64);
    assert.strictEqual(r.summary.events, events.length, 'those of a file count once');
    assert.strictEqual(r.summary.scopes, 64 * 2000);
    r.launches.forEach((k) => assert.strictEqual(k.linked, 1000));
    r.ranks.forEach((k) => near(k.kernel_s, (1 + k.rank / 100) / 1000, `rank ${k.rank}`, 1e-9));
});

test('PT-51: times far off are named and set aside', () => {
    const at = 1.76e15, lines = [];
    for (let i = 0; i < 1000; i++)
        lines.push(JSON.stringify(X('compute', 'work', at + i * 2000, 2000)));
    lines.splice(500, 0, JSON.stringify(X('compute', 'zero', 0, 1)));
    lines.push(JSON.stringify(X('compute', 'early', at - 19 * 3.6e9, 1)));
    lines.unshift(JSON.stringify({ ph: 'M', name: 'process_name', pid: 1, tid: 1, args: { name: 'p' } }));
    const dir = t.files({ 'traces-r0.jsonl': lines });
    let r = t.report([dir]);
    assert.strictEqual(r.status, 0, r.stderr);
    near(r.summary.duration_s, 2, 'duration', 1e-6);
    assert.strictEqual(r.summary.outliers, 2);
    assert.match(r.stderr, /traces-r0\.jsonl:502 .*set aside/);
    assert.strictEqual(r.names.some((n) => n.name === 'zero'), false);
    r = t.report([dir, '--keep-outliers']);
    assert.strictEqual(r.names.some((n) => n.name === 'zero'), true);
    assert.strictEqual(r.summary.outliers, 0);
});

test('PT-58: records of synchronisation are no compute', () => {
    const sync = (name, ts, dur) => X('cuda_sync', name, ts, dur, { pid: 0, tid: 7 });
    let r = t.report([t.files({ 'rank0.json': torch(0, [
        kernel('gemm', 0, 10000), kernel('ncclDevKernel_AllReduce', 5000, 10000, {}, 9),
        sync('Stream Synchronize', 0, 20000), sync('Event Synchronize', 12000, 8000)]) })]);
    let b = r.breakdown[0];
    near(b.range_s, 0.02, 'range');
    near(b.compute_s, 0.01, 'compute');
    near(b.communication_s, 0.01, 'communication');
    near(b.overlap_s, 0.005, 'overlap');
    near(b.overlap_share, 0.5, 'share of overlap');
    near(b.busy_s, 0.015, 'busy');
    near(b.idle_s, 0.005, 'idle');
    near(b.idle_share, 0.25, 'share of idle');
    r = t.report([t.files({ 'rank0.json': torch(0, [kernel('gemm', 0, 10000),
                                                    kernel('gemm', 0, 10000, {}, 9)]) })]);
    b = r.breakdown[0];
    near(b.compute_s, 0.01, 'compute of two streams');
    near(r.ranks[0].kernel_s, 0.02, 'sum of both');
});
