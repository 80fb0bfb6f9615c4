// live_hang.test.js: a job hangs: who stands still, who waits for whom. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const { spawn, spawnSync } = require('child_process');
const { WORKER, folder, environment, rank, end, run, look, stackOf, sleep } = require('./live_tool.js');

const ranksOf = (list) => list.map((x) => x.rank);
const only = (list) => {
    assert.strictEqual(list.length, 1, JSON.stringify(list));
    return list[0];
};

const mpirun = spawnSync('mpirun', ['--version']).status === 0;

test('under mpirun three ranks wait in a collective, the fourth is named', { skip: mpirun ? false : 'there is no mpirun here' }, async () => {
    const dir = folder();
    const job = spawn('mpirun', ['--allow-run-as-root', '--oversubscribe', '-n', '4', WORKER, 'hang', '2'],
        { stdio: 'ignore', env: environment({ PERFTRACE_DIR: dir, OMPI_MCA_rmaps_base_oversubscribe: '1' }) });
    const ended = new Promise((resolve) => job.on('close', resolve));
    try {
        // Until all are where they stay.
        let view = { processes: [] };
        for (let i = 0; i < 300 && view.processes.filter((p) => p.threads[0]?.scopes.length === 2).length < 4; i++) {
            await sleep(50);
            const r = run(['--once', '--json', '--interval', '0', dir]);
            view = JSON.parse(r.stdout);
        }
        await sleep(500);
        view = look(['--stuck', '0.3', dir], 1);
        const wait = only(view.waits);
        assert.deepStrictEqual([wait.name, wait.kind, wait.step, wait.stuck, wait.world_known],
                               ['all_reduce', 'collective', 12, true, true]);
        assert.deepStrictEqual(ranksOf(wait.waiting), [0, 1, 3]);
        const missing = only(wait.missing);
        assert.deepStrictEqual([missing.rank, missing.state, missing.step, missing.in], [2, 'running', 12, 'load_batch']);
        assert.strictEqual(missing.pid, view.processes.find((p) => p.rank === 2).pid);
        assert.deepStrictEqual(ranksOf(view.stuck), [0, 1, 2, 3]);
        assert.ok(wait.longest_s >= 0.3 && wait.longest_s === Math.max(...wait.waiting.map((w) => w.age_s)));
        // The same for people.
        const text = run(['--once', '--stuck', '0.3', dir]);
        assert.strictEqual(text.status, 1, text.stderr);
        assert.match(text.stdout, /^ +all_reduce +12 +0-1,3 +waiting /m);
        assert.match(text.stdout, /^ +12 +2 +not there: running .* train\.step > load_batch$/m);
        // It has not stood there for an hour.
        assert.strictEqual(run(['--once', '--stuck', '1h', dir]).stdout, 'nothing is stuck\n');
        assert.strictEqual(run(['--once', '--stuck', '3600', dir]).status, 0);
    } finally {
        for (const p of JSON.parse(run(['--once', '--json', '--interval', '0', dir]).stdout).processes)
            process.kill(p.pid, 'SIGKILL');
        job.kill('SIGTERM');
        await ended;
    }
});

test('the missing rank was stopped, was killed, is on another machine', async () => {
    const dir = folder();
    const workers = [];
    for (const [r, mode] of [[0, ['collective', 'ncclAllReduce']], [1, ['elsewhere']], [2, ['elsewhere']],
        [3, ['collective', 'ncclAllReduce']]])
        workers.push(await rank(dir, r, 6, mode));
    workers[1].kill('SIGSTOP');
    await end(workers[2]);
    await sleep(300);
    const view = look(['--stuck', '0.2', dir], 1);
    const wait = only(view.waits);
    assert.deepStrictEqual(ranksOf(wait.waiting), [0, 3]);
    assert.deepStrictEqual(wait.missing.map((m) => [m.rank, m.last_rank, m.state, m.in]), [
        [1, 1, 'stopped', 'load_batch'], [2, 2, 'dead', 'load_batch'], [4, 5, 'not seen', null]]);
    assert.deepStrictEqual(ranksOf(view.stuck), [0, 1, 3]); // a dead one is not stuck
    const text = run(['--once', '--stuck', '0.2', dir]).stdout;
    assert.match(text, /^ +12 +1 +not there: stopped /m);
    assert.match(text, /^ +12 +2 +not there: dead /m);
    assert.match(text, /^ +4-5 +not seen +- +no ring file here/m);
    await Promise.all(workers.map(end));
});

test('all ranks are in it', async () => {
    const dir = folder();
    const workers = [await rank(dir, 0, 2, ['collective', 'MPI_Barrier']), await rank(dir, 1, 2, ['collective', 'MPI_Barrier'])];
    await sleep(100);
    const wait = only(look(['--stuck', '0', dir], 1).waits);
    assert.deepStrictEqual([ranksOf(wait.waiting), wait.missing], [[0, 1], []]);
    assert.match(run(['--once', dir]).stdout, /MPI_Barrier +12 +0-1 +waiting .* all ranks are here$/m);
    await Promise.all(workers.map(end));
});

test('two ranks in different collectives wait for each other', async () => {
    const dir = folder();
    const workers = [await rank(dir, 0, 2, ['collective', 'all_gather']), await rank(dir, 1, 2, ['collective', 'broadcast'])];
    await sleep(100);
    const waits = look(['--stuck', '0', dir], 1).waits;
    assert.deepStrictEqual(Object.fromEntries(waits.map((w) => [w.name, [ranksOf(w.waiting), w.missing.map((m) => [m.rank, m.in])]])),
                           { all_gather: [[0], [[1, 'broadcast']]], broadcast: [[1], [[0, 'all_gather']]] });
    await Promise.all(workers.map(end));
});

test('who has to come to a send is not known', async () => {
    const dir = folder();
    const workers = [await rank(dir, 0, 2, ['collective', 'dist.isend']), await rank(dir, 1, 2, ['elsewhere'])];
    await sleep(100);
    const wait = only(look(['--stuck', '0', dir], 1).waits);
    assert.deepStrictEqual([wait.kind, ranksOf(wait.waiting), wait.missing], ['peer', [0], []]);
    assert.match(run(['--once', dir]).stdout, /dist\.isend .* for whom is not recorded$/m);
    await Promise.all(workers.map(end));
});

test('other names and categories by options', async () => {
    const dir = folder();
    const workers = [await rank(dir, 0, 2, ['collective', 'my_sync_7']), await rank(dir, 1, 2, ['elsewhere'])];
    await sleep(100);
    assert.deepStrictEqual(look(['--stuck', '0', dir], 1).waits, []);
    let wait = only(look(['--stuck', '0', '--collective', 'my_sync_*', dir], 1).waits);
    assert.deepStrictEqual([wait.name, ranksOf(wait.waiting), ranksOf(wait.missing)], ['my_sync_7', [0], [1]]);
    wait = only(look(['--stuck', '0', '--comm-category', 'io', dir], 1).waits);
    assert.deepStrictEqual([wait.name, ranksOf(wait.waiting), ranksOf(wait.missing)], ['load_batch', [1], [0]]);
    await Promise.all(workers.map(end));
});

test('runs that lie beside each other are not mixed', async () => {
    const one = folder(), two = folder();
    const workers = [await rank(one, 0, 2, ['collective', 'barrier']), await rank(two, 1, 2, ['collective', 'barrier'])];
    await sleep(100);
    const waits = look(['--stuck', '0', one, two], 1).waits;
    assert.deepStrictEqual(waits.map((w) => [w.run, ranksOf(w.waiting), w.missing.map((m) => [m.rank, m.state])]).sort(),
                           [[one, [0], [[1, 'not seen']]], [two, [1], [[0, 'not seen']]]].sort());
    await Promise.all(workers.map(end));
});

test('without --stuck nothing changes the exit status', async () => {
    const dir = folder();
    const worker = await rank(dir, 0, 1, ['collective', 'barrier']);
    const view = look([dir]);
    assert.deepStrictEqual([stackOf(view.processes[0].threads[0]), view.stuck, view.stuck_after_s],
                           [['train.step', 'barrier'], [], 60]);
    await end(worker);
});
