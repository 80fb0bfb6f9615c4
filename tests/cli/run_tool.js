// run_tool.js: runs perf-trace-run for the tests of this folder, with profilers that are scripts.
// SPDX-License-Identifier: MIT
'use strict';
const fs = require('fs');
const path = require('path');
const { spawn } = require('child_process');
const tool = require('./tool.js');

const TOOL = tool.toolOf('PERFTRACE_TEST_RUN');
const FAKE = path.join(__dirname, 'fake', 'profiler.sh');

// Ranks of a launcher around the tests would be taken for ours; so would settings of the tracer.
function environment(more) {
    const env = Object.fromEntries(Object.entries(process.env).filter(
        ([name]) => !/^(RANK|WORLD_SIZE|LOCAL_.*|MASTER_.*|OMPI_.*|PMIX?_.*|SLURM_.*|PERFTRACE_.*|VLLM_.*)$/.test(name)));
    return { ...env, ...more };
}

// A folder whose bin holds the fakes under the profilers' names.
function withFakes(contents = {}) {
    const dir = tool.files(contents);
    fs.mkdirSync(path.join(dir, 'bin'));
    for (const name of ['nsys', 'rocprof-sys-python'])
        fs.symlinkSync(FAKE, path.join(dir, 'bin', name));
    return dir;
}

// Starts the tool; `done` comes true with status, signal, stdout, stderr and seconds.
function start(args, { cwd, env = {}, stdio } = {}) {
    const began = process.hrtime.bigint();
    const search = cwd ? `${path.join(cwd, 'bin')}:${process.env.PATH}` : process.env.PATH;
    const child = spawn(TOOL, args, { cwd, stdio, env: environment({ PATH: search, ...env }) });
    let stdout = '';
    let stderr = '';
    child.stdout?.setEncoding('utf8').on('data', (s) => { stdout += s; });
    child.stderr?.setEncoding('utf8').on('data', (s) => { stderr += s; });
    const done = new Promise((resolve) => child.on('close', (status, signal) => resolve({
        status, signal, stdout, stderr,
        seconds: Number(process.hrtime.bigint() - began) / 1e9 })));
    return { child, done, stdout: () => stdout, stderr: () => stderr };
}
const run = (args, options) => start(args, options).done;

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
// Waits until something holds; fails after ten seconds.
async function until(holds, what) {
    for (let i = 0; !holds(); i++) {
        if (i > 1000)
            throw new Error(`still waiting until ${what}`);
        await sleep(10);
    }
}

const reports = (dir) => (fs.existsSync(dir) ? fs.readdirSync(dir).filter(
    (f) => f.endsWith('.report') && fs.statSync(path.join(dir, f)).size > 0).sort() : []);

// Whether a process lives (a zombie does not).
function alive(pid) {
    try {
        return !/^\d+ \(.*\) [ZX]/s.test(fs.readFileSync(`/proc/${pid}/stat`, 'utf8'));
    } catch {
        return false;
    }
}

module.exports = { ...tool, TOOL, withFakes, start, run, sleep, until, reports, alive, environment };
