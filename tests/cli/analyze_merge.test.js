// analyze_merge.test.js: results written apart and merged, in any split and order and by any number
// of threads, are what one run over all gives. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const { spawnSync } = require('child_process');
const t = require('./analyze_tool.js');
const { X, kernel, call, torch, path, fs } = t;

// xorshift: the same numbers in every run.
let state = 88172645463325252n;
function random(below) {
    state ^= (state << 13n) & 0xffffffffffffffffn;
    state ^= state >> 7n;
    state ^= (state << 17n) & 0xffffffffffffffffn;
    return Number(state % BigInt(below));
}

const RANKS = 6;
function traceOf(rank) {
    const events = [];
    for (let step = 0; step < 4; step++) {
        events.push(X('user_annotation', `ProfilerStep#${step}`, step * 1000, 900 + random(90), { pid: 10 }));
        for (let i = 0; i < 20; i++) {
            const ts = step * 1000 + i * 40 + random(10), id = step * 100 + i;
            events.push(call(ts, 1 + random(5), id, i % 5 === 0 ? 'cudaGraphLaunch' : 'cudaLaunchKernel'));
            events.push(kernel(['gemm', 'rms_norm', 'ncclDevKernel_AllReduce'][random(3)], ts + 6 + random(9) / 10,
                               1 + random(300) / 7, i % 4 === 0 ? {
                                   correlation: id, 'Collective name': 'allreduce', 'Process Group Name': 'dp',
                                   Seq: id, dtype: 'Float', 'In msg nelems': 10 + random(100) }
                                   : { correlation: id }, 7 + random(2)));
            events.push(X('cpu_op', ['aten::mm', 'aten::add'][random(2)], ts - 1, 30 + 40 * random(2), { pid: 10 }));
            if (i % 5 !== 0)
                events.push(X('cuda_profiler_range', ['gemm', 'add'][random(2)], 10000 + ts, 1, {
                    pid: 0, tid: 0, args: { inst: random(1000) / 7, 'dram__bytes.sum': random(1e6) } }));
            events.push({ ph: 'C', name: 'depth', pid: 10, tid: 1, ts, args: { depth: random(100) / 3 } });
        }
    }
    events.push({}, { ph: 'X', name: 'no duration', ts: 5, pid: 1, tid: 1, cat: 'cpu_op' });
    return torch(rank, events, { world_size: RANKS + 1, baseTimeNanoseconds: 1767189312000000000 + rank * 1024 });
}

const inputs = t.files(Object.fromEntries(
    Array.from({ length: RANKS }, (_, rank) => [`in/rank${rank}.json`, traceOf(rank)])));
const all = Array.from({ length: RANKS }, (_, rank) => path.join(inputs, 'in', `rank${rank}.json`));
const whole = t.run(['--json', '--top-n', '0', ...all]);
const same = (r, want = whole) => {
    assert.strictEqual(r.status, 0, r.stderr);
    assert(r.stdout.equals(want.stdout), 'another report');
};

test('one run over all is what the others are compared with', () => {
    assert.strictEqual(whole.status, 0, whole.stderr);
    const report = JSON.parse(whole.stdout.toString());
    assert.strictEqual(report.ranks.length, RANKS);
    for (const table of ['gaps', 'streams', 'kernels', 'launches', 'graphs', 'steps', 'step_parts', 'step_ranks',
                         'collectives', 'stragglers', 'critical_path', 'counters', 'sequences', 'operator_counters', 'findings', 'problems'])
        assert(report[table].length > 0 || table === 'step_parts', table);
});

test('1, 2, 3 and 16 threads give the same', () => {
    for (const jobs of [1, 2, 3, 16])
        same(t.run(['--json', '--top-n', '0', '-j', String(jobs), ...all]));
});

test('inputs in any order give the same', () => {
    same(t.run(['--json', '--top-n', '0', ...[...all].reverse()]));
});

for (let round = 0; round < 12; round++) {
    test(`results of a random split in a random order, ${round}`, () => {
        const dir = t.folder(), parts = Array.from({ length: 1 + random(RANKS) }, () => []);
        all.forEach((file) => parts[random(parts.length)].push(file));
        let written = parts.filter((files) => files.length > 0).map((files, i) => {
            const file = path.join(dir, `part${i}`);
            const r = t.run([...files, '--partial', file]);
            assert.strictEqual(r.status, 0, r.stderr);
            return file;
        });
        // Results of results, sometimes.
        if (written.length > 2 && round % 2 === 0) {
            const both = path.join(dir, 'both');
            assert.strictEqual(t.run(['merge', written[0], written[1], '--partial', both]).status, 0);
            written = [both, ...written.slice(2)];
        }
        written.sort(() => random(3) - 1);
        same(t.run(['merge', '--json', '--top-n', '0', ...written]));
        const text = t.run(all), merged = t.run(['merge', ...written]);
        same(merged, text);
    });
}

test('results and traces can be given together', () => {
    const part = path.join(t.folder(), 'part');
    assert.strictEqual(t.run([all[0], all[1], '--partial', part]).status, 0);
    same(t.run(['--json', '--top-n', '0', part, ...all.slice(2)]));
});

test('files without a rank get the same numbers when merged', () => {
    const dir = t.files({ 'x.json': torch(null, [kernel('a', 0, 1)]), 'y.json': torch(null, [kernel('b', 0, 2)]) });
    const [x, y] = ['x.json', 'y.json'].map((f) => path.join(dir, f));
    t.run([x, '--partial', path.join(dir, 'px')]);
    t.run([y, '--partial', path.join(dir, 'py')]);
    same(t.run(['merge', '--json', path.join(dir, 'py'), path.join(dir, 'px')]), t.run(['--json', x, y]));
});

test('results that are damaged, foreign or of another version are refused', () => {
    const part = path.join(t.folder(), 'part');
    assert.strictEqual(t.run([all[0], '--partial', part]).status, 0);
    const text = fs.readFileSync(part, 'utf8');
    const broken = {
        cut: text.slice(0, text.length / 2), version: text.replace('_partial": 2', '_partial": 1'),
        cell: text.replace(/"streams": \[\n\["0"/, '"streams": [\n[0'),
        fact: text.replace('"rank": 0', '"rank": "zero"'),
    };
    for (const [name, content] of Object.entries(broken)) {
        assert.notStrictEqual(content, text, name);
        const r = t.run(['merge', path.join(t.files({ [name]: content }), name)]);
        assert.strictEqual(r.status, 3, name);
        assert.match(r.stderr, new RegExp(`${name}: .+`), name);
    }
    const r = t.run(['merge', part, '-o', part]);
    assert.strictEqual(r.status, 4);
    assert.match(r.stderr, /is one of the inputs/);
});

const mpirun = spawnSync('mpirun', ['--version']).status === 0;
test('mpirun analyses ranks apart, as the document shows', { skip: mpirun ? false : 'there is no mpirun here' }, () => {
    const dir = t.folder();
    const script = 'exec "$ANALYZE" "$IN/rank$OMPI_COMM_WORLD_RANK.json" ' +
        '--partial "$OUT/rank$OMPI_COMM_WORLD_RANK.result"';
    const r = spawnSync('mpirun', ['--allow-run-as-root', '--oversubscribe', '-n', String(RANKS), 'sh', '-c', script],
                        { env: { ...process.env, ANALYZE: t.TOOL, IN: path.join(inputs, 'in'), OUT: dir,
                                 OMPI_MCA_rmaps_base_oversubscribe: '1' } });
    assert.strictEqual(r.status, 0, r.stderr.toString());
    same(t.run(['merge', '--json', '--top-n', '0', dir]));
});
