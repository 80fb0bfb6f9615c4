// live_tool.js: traced processes for the tests of perf-trace-live, and the tool that looks at them.
// SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const path = require('path');
const { after } = require('node:test');
const { spawn, spawnSync } = require('child_process');
const tool = require('./tool.js');

const TOOL = tool.toolOf('PERFTRACE_LIVE');
const WORKER = tool.toolOf('PERFTRACE_TEST_LIVE_WORKER');

// Ranks of a launcher around the tests would be taken for ours; so would settings of the tracer.
function environment(more) {
    const env = Object.fromEntries(Object.entries(process.env).filter(
        ([name]) => !/^(RANK|WORLD_SIZE|LOCAL_.*|MASTER_.*|OMPI_.*|PMIX?_.*|SLURM_.*|PERFTRACE_.*|TORCH.*|NO_COLOR)$/.test(name)));
    return { ...env, ...more };
}

const started = new Set();
after(() => started.forEach((child) => child.kill('SIGKILL')));

// Starts a worker and waits until it says that it is where it shall be.
function start(mode, env = {}, command = [WORKER]) {
    const child = spawn(command[0], [...command.slice(1), ...mode],
        { env: environment(env), stdio: ['pipe', 'pipe', 'inherit'] });
    started.add(child);
    child.ended = new Promise((resolve) => child.on('close', (status, signal) => {
        started.delete(child);
        resolve({ status, signal });
    }));
    return new Promise((resolve, reject) => {
        child.stdout.once('data', () => resolve(child));
        child.ended.then((how) => reject(new Error(`the worker ended: ${JSON.stringify(how)}`)));
    });
}

// A rank of a run that leaves its traces in dir. Settings beside are the tracer's.
const rank = (dir, number, world, mode, env = {}, command = [WORKER]) => start(mode,
    { RANK: String(number), WORLD_SIZE: String(world), PERFTRACE_DIR: dir, ...env }, command);

async function end(child) {
    child.kill('SIGKILL');
    await child.ended;
}

const run = (args, options = {}) => {
    const r = spawnSync(TOOL, args, { encoding: 'utf8', maxBuffer: 1 << 28, env: environment({}), ...options });
    return { status: r.status, signal: r.signal, stdout: r.stdout, stderr: r.stderr };
};

// What it sees, as JSON; with the status that is expected.
function look(args, status = 0, options = {}) {
    const r = run(['--once', '--json', ...args], options);
    assert.strictEqual(r.status, status, r.stderr + r.stdout);
    return JSON.parse(r.stdout);
}

const stackOf = (thread) => thread.scopes.map((s) => s.name);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

module.exports = { ...tool, TOOL, WORKER, environment, start, rank, end, run, look, stackOf, sleep, path };
