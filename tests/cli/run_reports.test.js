// run_reports.test.js: profilers that are late, hang, die or write nothing. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const { spawnSync } = require('child_process');
const { run, start, withFakes, until, sleep, reports, alive, folder } = require('./run_tool.js');

// A worker that tells its number, ends at a signal with a status of its own, or by itself.
const forever = 'trap "exit 3" TERM; echo ready $$; while :; do sleep 0.05; done';
const briefly = 'echo ready $$; sleep 0.4';
const nsight = (args, script) => ['-b', 'nsight', '-O', 'prof', ...args, '--', 'bash', '-c', script];
const prof = (dir) => path.join(dir, 'prof');
const ready = (p, n) => until(() => (p.stdout().match(/ready/g) ?? []).length === n, `${n} are ready`);

test('a report in time', async () => {
    const dir = withFakes();
    const r = await run(nsight(['-n', '2', '-g', 'ActorGroup'], briefly), { cwd: dir });
    assert.strictEqual(r.status, 0, r.stderr);
    const found = reports(prof(dir));
    assert.strictEqual(found.length, 2);
    assert.match(found[0], /^rlinf_profile_ActorGroup_0_\d+\.report$/);
    assert.match(found[1], /^rlinf_profile_ActorGroup_1_\d+\.report$/);
});

test('the signal reaches the workers, the profilers write (needs PT-09, first)', async () => {
    const dir = withFakes();
    const p = start(nsight(['-n', '2'], forever), { cwd: dir, env: { FAKE: 'late', FAKE_SECONDS: '5' } });
    await ready(p, 2);
    await sleep(1000);
    p.child.kill('SIGTERM');
    await sleep(500);
    p.child.kill('SIGTERM'); // comes to the report phase: is answered, changes nothing
    const r = await p.done;
    assert.strictEqual(r.status, 3, r.stderr);
    assert.strictEqual(reports(prof(dir)).length, 2);
    assert.ok(r.seconds >= 5);
    assert.match(r.stderr, /the workers have ended; nsys may write its report for 5 min 0 s/);
});

test('one that never finishes is killed and named (needs PT-09, second)', async () => {
    const dir = withFakes();
    const p = start(nsight(['-n', '2', '--grace', '3s'], forever), { cwd: dir, env: { FAKE: 'hang' } });
    await ready(p, 2);
    p.child.kill('SIGTERM');
    const began = Date.now();
    const r = await p.done;
    const seconds = (Date.now() - began) / 1000;
    assert.strictEqual(r.status, 125);
    assert.ok(seconds >= 3 && seconds < 6, `${seconds} s`);
    assert.match(r.stderr, /rank 0: nsys has not ended within 3\.?0? s after its worker, it is killed/);
    assert.match(r.stderr, /there is no report of nsys from ranks 0, 1: no finished file .*\/prof\/rlinf_profile_worker_0_\*/);
    assert.deepStrictEqual(reports(prof(dir)), []);
});

test('ranks without a report are named', async () => {
    for (const fake of ['nothing', 'empty', 'unfinished']) {
        const dir = withFakes();
        const r = await run(nsight(['-n', '2'], briefly), { cwd: dir, env: { FAKE: fake } });
        assert.strictEqual(r.status, 125, fake);
        assert.match(r.stderr, /there is no report of nsys from ranks 0, 1:/, fake);
        assert.ok(r.seconds < 10, fake);
    }
    // One rank alone; a report of an earlier run does not count.
    const dir = withFakes();
    fs.mkdirSync(prof(dir));
    fs.writeFileSync(path.join(prof(dir), 'rlinf_profile_worker_1_77.report'), 'old');
    const only = await run(['-b', 'nsight', '-O', 'prof', '-n', '2', '--', 'bash', '-c',
                            'if [ $RANK = 1 ]; then rm -rf keep; fi; sleep 0.3'],
                           { cwd: dir, env: { FAKE: 'nothing' } });
    assert.match(only.stderr, /from ranks 0, 1:/);
    // The worker's failure is what counts.
    const failed = await run(nsight([], 'sleep 0.2; exit 6'), { cwd: dir, env: { FAKE: 'nothing' } });
    assert.strictEqual(failed.status, 6);
    assert.match(failed.stderr, /from rank 0:/);
});

test('a profiler that dies does not take the worker with it', async () => {
    const dir = withFakes();
    const r = await run(nsight([], 'sleep 1.2; echo through > through; exit 4'),
                        { cwd: dir, env: { FAKE: 'die', FAKE_SECONDS: '0.4' } });
    assert.strictEqual(r.status, 4, r.stderr); // the worker's own, although its parent was killed
    assert.ok(fs.existsSync(path.join(dir, 'through')));
    assert.match(r.stderr, /rank 0: nsys has ended before the worker, which goes on/);
    assert.match(r.stderr, /there is no report of nsys from rank 0/);
    const well = await run(nsight([], 'sleep 1.2'), { cwd: dir, env: { FAKE: 'die' } });
    assert.strictEqual(well.status, 125);
    // One that has become another program (a shell that execs) is known, too.
    const exec = await run(nsight([], 'exec sleep 1.2'), { cwd: dir, env: { FAKE: 'die', FAKE_SECONDS: '0.6' } });
    assert.match(exec.stderr, /goes on/);
    assert.strictEqual(exec.status, 125);
    // Signals still find it.
    const p = start(nsight([], forever), { cwd: dir, env: { FAKE: 'die', FAKE_SECONDS: '0.3' } });
    await until(() => /goes on/.test(p.stderr()), 'the profiler is dead');
    p.child.kill('SIGTERM');
    assert.strictEqual((await p.done).status, 3);
});

test('a session that ends with its last window', async () => {
    const dir = withFakes();
    const r = await run(nsight(['--steps', '1,2'], 'sleep 1; exit 5'),
                        { cwd: dir, env: { FAKE: 'early', FAKE_SECONDS: '0.3' } });
    assert.strictEqual(r.status, 5, r.stderr);
    assert.doesNotMatch(r.stderr, /no report/);
    assert.strictEqual(reports(prof(dir)).length, 1);
});

test('a report that another process finishes is waited for', async () => {
    const dir = withFakes();
    const r = await run(nsight(['-n', '2'], briefly),
                        { cwd: dir, env: { FAKE: 'background', FAKE_SECONDS: '1.5' } });
    assert.strictEqual(r.status, 0, r.stderr);
    assert.strictEqual(reports(prof(dir)).length, 2);
    assert.ok(r.seconds >= 1.5);
    const late = await run(nsight(['--grace', '500ms', '-O', 'late'], briefly),
                           { cwd: dir, env: { FAKE: 'background', FAKE_SECONDS: '4' } });
    assert.strictEqual(late.status, 125);
    assert.ok(late.seconds < 3);
});

test('a second signal in the report phase gives up', async () => {
    const dir = withFakes();
    const p = start(nsight([], forever), { cwd: dir, env: { FAKE: 'hang' } });
    await ready(p, 1);
    const worker = Number(/ready (\d+)/.exec(p.stdout())[1]);
    p.child.kill('SIGTERM');
    await until(() => !alive(worker), 'the worker has ended');
    await sleep(200);
    p.child.kill('SIGTERM');
    await until(() => /signal again to do without/.test(p.stderr()), 'it is answered');
    p.child.kill('SIGINT');
    const r = await p.done;
    assert.strictEqual(r.status, 125);
    assert.match(r.stderr, /nsys is killed before its report is written/);
    assert.ok(r.seconds < 10);
});

test('a worker that has become another program', async () => {
    const dir = withFakes();
    const p = start(nsight(['--grace', '1s'], 'echo ready; exec sleep 50'), { cwd: dir, env: { FAKE: 'late', FAKE_SECONDS: '0.3' } });
    await ready(p, 1);
    await sleep(300);
    p.child.kill('SIGTERM');
    const r = await p.done;
    assert.strictEqual(r.status, 143, r.stderr);
    assert.strictEqual(reports(prof(dir)).length, 1);
    const h = await run(nsight(['--grace', '1s'], 'exec sleep 4'), { cwd: dir, env: { FAKE: 'hang' } });
    assert.strictEqual(h.status, 125);
    assert.ok(h.seconds < 12, `${h.seconds} s`);
});

test('a worker that was not seen, below a profiler that hangs', async () => {
    const dir = withFakes();
    const r = await run(['-b', 'nsight', '-O', 'prof', '--grace', '1s', '--', 'true'],
                        { cwd: dir, env: { FAKE: 'freeze' } });
    assert.strictEqual(r.status, 125, r.stderr);
    assert.ok(r.seconds < 20, `${r.seconds} s`);
});

test('a signal that comes before the worker is there', async () => {
    const dir = withFakes();
    fs.rmSync(path.join(dir, 'bin', 'nsys'));
    fs.writeFileSync(path.join(dir, 'bin', 'nsys'),
                     '#!/usr/bin/env bash\nsleep 0.8\nwhile [ "$1" != bash ]; do shift; done\n"$@"\n' +
                     'status=$?\necho x > slow.report\nexit $status\n', { mode: 0o755 });
    const p = start(nsight(['-o', 'o=slow'], forever), { cwd: dir });
    await sleep(300);
    p.child.kill('SIGTERM');
    const r = await p.done;
    assert.strictEqual(r.status, 3, r.stderr);
    assert.deepStrictEqual(reports(dir), ['slow.report']);
});

test('rocprof-sys: variables say where the report is', async () => {
    const dir = withFakes({ 'run.yaml': 'cluster:\n  profiling:\n    backend: rocprof_sys\n' +
                                        '    worker_groups: [ActorGroup]\n    output_dir: prof\n' +
                                        '    args: {T: hip}\n    env: {ROCPROFSYS_OUTPUT_PREFIX: "own_%p"}\n' });
    const r = await run(['-c', 'run.yaml', '-g', 'actorgroup', '--', 'bash', '-c', 'sleep 0.3'], { cwd: dir });
    assert.strictEqual(r.status, 0, r.stderr);
    assert.match(reports(prof(dir))[0], /^own_\d+\.report$/);
});

test('a profiler that shares its process with the worker', async () => {
    const dir = withFakes();
    fs.rmSync(path.join(dir, 'bin', 'rocprof-sys-python'));
    fs.writeFileSync(path.join(dir, 'bin', 'rocprof-sys-python'),
                     '#!/usr/bin/env bash\ntrap "echo x > prof/rlinf_profile_worker_0_1.txt; exit 8" TERM\n' +
                     'echo ready\nwhile :; do sleep 0.05; done\n', { mode: 0o755 });
    const p = start(['-b', 'rocprof_sys', '-O', 'prof', '--', 'python3', 'train.py'], { cwd: dir });
    await ready(p, 1);
    p.child.kill('SIGTERM');
    const r = await p.done;
    assert.strictEqual(r.status, 8, r.stderr);
});

test('the real perf', async (t) => {
    const dir = folder();
    const trial = spawnSync('perf', ['record', '-F', '99', '-o', path.join(dir, 'trial'), '--', 'true'],
                            { encoding: 'utf8' });
    if (trial.error || trial.status !== 0)
        return t.skip(`perf record does not work here: ${trial.error ?? trial.stderr.trim().split('\n')[0]}`);
    const spin = 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done; exit 7';
    const r = await run(['-b', 'perf', '-O', 'prof', '-n', '2', '-k', '--', 'bash', '-c', spin], { cwd: dir });
    assert.strictEqual(r.status, 7, r.stderr);
    const data = fs.readdirSync(prof(dir)).sort();
    assert.strictEqual(data.length, 2, data.join());
    assert.match(data[1], /^rlinf_profile_worker_1_\d+\.data$/);
    const script = spawnSync('perf', ['script', '-i', path.join(prof(dir), data[0])], { encoding: 'utf8' });
    assert.match(script.stdout, /bash/);
    // perf ends by itself, with the worker's status, when the worker is asked to.
    const p = start(['-b', 'perf', '-O', 'prof2', '--', 'bash', '-c', forever], { cwd: dir });
    await ready(p, 1);
    p.child.kill('SIGTERM');
    const s = await p.done;
    assert.strictEqual(s.status, 3, s.stderr);
    assert.strictEqual(fs.readdirSync(path.join(dir, 'prof2')).length, 1);
});
