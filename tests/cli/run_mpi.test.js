// run_mpi.test.js: workers that mpirun has started: one perf-trace-run a rank, and all asked by
// perf-trace-ctl. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const { spawn, spawnSync } = require('child_process');
const { TOOL, withFakes, until, reports, environment } = require('./run_tool.js');

const WORKER = process.env.PERFTRACE_TEST_WORKER, HTTP_WORKER = process.env.PERFTRACE_TEST_HTTP_WORKER;
const CTL = process.env.PERFTRACE_CTL;
const mpirun = spawnSync('mpirun', ['--version']).status === 0;
const skip = mpirun ? false : 'there is no mpirun here';
const RANKS = 2;

// Starts the words on each rank; `done` comes true with status, stdout and stderr.
function start(words, dir) {
    const args = ['--allow-run-as-root', '--oversubscribe', '-n', String(RANKS), ...words];
    const child = spawn('mpirun', args, { cwd: dir, stdio: ['ignore', 'pipe', 'pipe'],
        env: environment({ PATH: `${path.join(dir, 'bin')}:${process.env.PATH}`, OMPI_MCA_rmaps_base_oversubscribe: '1' }) });
    let stdout = '', stderr = '';
    child.stdout.setEncoding('utf8').on('data', (s) => { stdout += s; });
    child.stderr.setEncoding('utf8').on('data', (s) => { stderr += s; });
    return new Promise((resolve) => child.on('close', (status) => resolve({ status, stdout, stderr })));
}

const lines = (file) => fs.readFileSync(file, 'utf8').trimEnd().split('\n').map((l) => JSON.parse(l));

test('the rank is mpirun\'s: of the trace, of the report', { skip }, async () => {
    const dir = withFakes();
    const r = await start([TOOL, '-b', 'nsight', '-O', 'prof', '-g', 'ActorGroup', '--trace-dir', 'traces', '--', WORKER], dir);
    assert.strictEqual(r.status, 0, r.stderr);
    const found = reports(path.join(dir, 'prof')).map((name) => name.replace(/_\d+\.report$/, ''));
    assert.deepStrictEqual(found, ['rlinf_profile_ActorGroup_0', 'rlinf_profile_ActorGroup_1']);
    for (let rank = 0; rank < RANKS; rank++) {
        const all = lines(path.join(dir, 'traces', `traces-r${rank}.jsonl`));
        assert.deepStrictEqual([all[0].args.rank, all[0].args.world_size], [rank, RANKS]);
        assert.strictEqual(all.filter((e) => e.name === 'work').length, 10);
    }
});

test('a window of every rank, from outside', { skip: skip || (CTL ? false : 'perf-trace-ctl was not built') }, async () => {
    const dir = withFakes();
    const done = start([TOOL, '--trace-dir', 'traces', '--', HTTP_WORKER], dir);
    const traces = path.join(dir, 'traces');
    const endpoints = () => (fs.existsSync(traces) ? fs.readdirSync(traces).filter((f) => f.endsWith('.endpoint')).sort() : []);
    await until(() => endpoints().length === RANKS, 'every rank listens');
    assert.deepStrictEqual(endpoints(), ['control-r0.endpoint', 'control-r1.endpoint']);
    const pids = endpoints().map((f) => JSON.parse(fs.readFileSync(path.join(traces, f), 'utf8')).pid);
    const ask = (...args) => {
        const r = spawnSync(CTL, [...args, '--run-dir', traces, '--json'], { encoding: 'utf8', env: environment({}) });
        assert.strictEqual(r.status, 0, r.stderr);
        return JSON.parse(r.stdout).workers.map((w) => [w.rank, w.result]);
    };
    // The profiler is set a moment after the server is there.
    let checked;
    await until(() => (checked = spawnSync(CTL, ['check', '--run-dir', traces], { encoding: 'utf8' })).status === 0, 'all can be profiled');
    assert.strictEqual(checked.status, 0);
    assert.deepStrictEqual(ask('start'), [[0, 'ok'], [1, 'ok']]);
    assert.deepStrictEqual(ask('stop'), [[0, 'ok'], [1, 'ok']]);
    assert.deepStrictEqual(ask('stop'), [[0, 'idle'], [1, 'idle']]);
    const names = fs.readdirSync(path.join(dir, 'profiles'));
    assert.strictEqual(names.length, RANKS);
    pids.forEach((pid) => process.kill(pid, 'SIGTERM'));
    const r = await done;
    assert.strictEqual(r.status, 0, r.stderr);
    assert.deepStrictEqual(endpoints(), []); // they are gone with their processes
});
