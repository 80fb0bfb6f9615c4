// run_perf.test.js: the real perf, switched on and off on steps by its worker. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const { spawnSync } = require('child_process');
const { run, start, folder, until } = require('./run_tool.js');

const WORKER = process.env.PERFTRACE_TEST_STEPS_WORKER;
const left = (dir) => fs.readdirSync(dir).filter((f) => f.startsWith('perf-trace-run-'));

// Why perf cannot be tried here; '' when it can.
function missing(dir) {
    if (!WORKER)
        return 'the worker was not built';
    const trial = spawnSync('perf', ['record', '-F', '99', '-o', path.join(dir, 'trial'), '--', 'true'],
                            { encoding: 'utf8' });
    return trial.error || trial.status !== 0
        ? `perf record does not work here: ${trial.error ?? trial.stderr.trim().split('\n')[0]}` : '';
}

// How many samples name each of the worker's functions.
function samples(file) {
    const script = spawnSync('perf', ['script', '-i', file, '-F', 'comm,tid,ip,sym'],
                             { encoding: 'utf8', maxBuffer: 1 << 28 });
    assert.strictEqual(script.status, 0, script.stderr);
    const count = (name) => script.stdout.split('\n').filter((l) => l.includes(name)).length;
    return { listed: count('in_listed_step'), other: count('in_other_step') };
}

test('only the listed steps are sampled, on every rank', async (t) => {
    const dir = folder();
    const why = missing(dir);
    if (why)
        return t.skip(why);
    const ok = await run(['-b', 'perf', '--steps', '3,7,8', '-O', 'prof', '-n', '2', '-k', '-o', 'F=499',
                          '--clean-env', '1', '--trace-dir', 'traces', '--', WORKER, '3', '7', '8'],
                         { cwd: dir, env: { TMPDIR: dir } });
    assert.strictEqual(ok.status, 6, ok.stderr); // the worker's own
    const data = fs.readdirSync(path.join(dir, 'prof')).sort();
    assert.strictEqual(data.length, 2, data.join());
    for (const file of data) {
        const found = samples(path.join(dir, 'prof', file));
        // 450 ms of a processor at 499 Hz are 224 samples; a virtual machine may lose some.
        assert.ok(found.listed > 20 && found.listed < 400, JSON.stringify(found));
        assert.strictEqual(found.other, 0, JSON.stringify(found));
    }
    for (const rank of [0, 1]) {
        assert.match(ok.stderr, new RegExp(`\\[rank ${rank}\\] log: profiler: perf recorded step 3$`, 'm'));
        assert.match(ok.stderr, new RegExp(`\\[rank ${rank}\\] log: profiler: perf recorded step 7 to 8$`, 'm'));
    }
    assert.doesNotMatch(ok.stderr, /never switched on/);
    assert.deepStrictEqual(left(dir), []);
});

test('a worker that has no steps is told of', async (t) => {
    const dir = folder();
    const why = missing(dir);
    if (why)
        return t.skip(why);
    const r = await run(['-b', 'perf', '--steps', '3', '-O', 'prof', '--', 'sleep', '0.3'],
                        { cwd: dir, env: { TMPDIR: dir } });
    assert.strictEqual(r.status, 0, r.stderr);
    assert.match(r.stderr, /rank 0: perf was never switched on: none of the steps came/);
    assert.deepStrictEqual(left(dir), []);
    // Not when all is recorded.
    const all = await run(['-b', 'perf', '-O', 'prof', '--', 'sleep', '0.3'], { cwd: dir });
    assert.doesNotMatch(all.stderr, /switched/);
});

test('what the worker profiles anyway stays', async (t) => {
    const dir = folder();
    const why = missing(dir);
    if (why)
        return t.skip(why);
    const both = await run(['-b', 'perf', '--steps', '2', '-O', 'prof', '--', WORKER, '2'],
                           { cwd: dir, env: { TMPDIR: dir, PERFTRACE_PROFILER: 'self', PERFTRACE_DIR: 'traces' } });
    assert.strictEqual(both.status, 6, both.stderr);
    assert.match(both.stderr, /self recorded step 2/);
    assert.match(both.stderr, /perf recorded step 2/);
    assert.match(fs.readFileSync(path.join(dir, 'traces', 'traces-r0.jsonl'), 'utf8'), /profiler\.window_begin/);
});

test('asked to end within a window', async (t) => {
    const dir = folder();
    const why = missing(dir);
    if (why)
        return t.skip(why);
    const p = start(['-b', 'perf', '--steps', '0,1,2,3,4,5,6,7,8,9,10,11', '-O', 'prof', '-o', 'F=499', '--', WORKER,
                     ...'0 1 2 3 4 5 6 7 8 9 10 11'.split(' ')], { cwd: dir, env: { TMPDIR: dir, PERFTRACE_DIR: 'traces' } });
    await until(() => left(dir).length === 1 && /begins step 3/.test(p.stderr()), 'the worker is in its fourth step');
    p.child.kill('SIGTERM');
    const r = await p.done;
    assert.strictEqual(r.status, 143, r.stderr);
    const data = fs.readdirSync(path.join(dir, 'prof'));
    assert.strictEqual(data.length, 1);
    assert.ok(samples(path.join(dir, 'prof', data[0])).listed > 10);
    assert.deepStrictEqual(left(dir), []);
});
