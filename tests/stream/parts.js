// parts.js: the parts of the stream for the tests of this folder: traced workers, collectors, NATS servers, and
// the account of what arrived. SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const node = require('node:test');
const fs = require('fs');
const net = require('net');
const os = require('os');
const path = require('path');
const { spawn, spawnSync } = require('child_process');

const WORKER = process.env.STREAM_WORKER;
const COLLECT = process.env.PERFTRACE_COLLECT;
const FORWARD = process.env.PERFTRACE_FORWARD_TOOL;
const RECOVER = process.env.PERFTRACE_RECOVER;
const NATS = process.env.STREAM_NATS_SERVER || '';
const NATS_LIBRARY = process.env.STREAM_NATS_LIBRARY || '';

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// Waits until something holds; fails after so many seconds.
async function until(holds, what, seconds = 120) {
    const end = Date.now() + seconds * 1000;
    while (!await holds()) {
        assert(Date.now() < end, `still waiting until ${typeof what === 'function' ? what() : what}`);
        await sleep(20);
    }
}

// ---- folders and processes, gone when the test ends ----

const folders = [];
const running = new Set();
process.on('exit', () => {
    running.forEach((c) => c.kill('SIGKILL'));
    folders.forEach((dir) => fs.rmSync(dir, { recursive: true, force: true }));
});
function folder(base = os.tmpdir()) {
    const dir = fs.mkdtempSync(path.join(base, 'perftrace-stream-'));
    folders.push(dir);
    return dir;
}

// Settings of the tracer and of launchers around the tests would be taken for the worker's.
function environment(more) {
    const env = Object.fromEntries(Object.entries(process.env).filter(
        ([name]) => !/^(RANK|WORLD_SIZE|LOCAL_.*|OMPI_.*|PMIX?_.*|SLURM_.*|PERFTRACE_.*)$/.test(name)));
    return { ...env, ...more };
}

// A test at whose end, good or bad, nothing that it started is left; node would wait for that.
function test(name, options, body) {
    node.test(name, typeof options === 'function' ? {} : options, async (t) => {
        try {
            await (body || options)(t);
        } finally {
            await Promise.all([...running].map((child) => new Promise((resolve) => {
                child.once('close', resolve);
                child.kill('SIGKILL');
            })));
        }
    });
}

// A process; done gives {status, signal, stdout, stderr}.
function start(file, args, env = {}, options = {}) {
    const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'pipe'], env: environment(env), ...options });
    const p = { child, out: '', err: '', over: false };
    running.add(child);
    child.stdin.on('error', () => {});
    child.stdout.setEncoding('utf8').on('data', (s) => { p.out += s; });
    child.stderr.setEncoding('utf8').on('data', (s) => { p.err += s; });
    p.done = new Promise((resolve, reject) => {
        child.on('error', reject);
        child.on('close', (status, signal) => {
            running.delete(child);
            p.over = true;
            resolve({ status, signal, stdout: p.out, stderr: p.err });
        });
    });
    p.told = async (text, seconds) => {
        await until(() => text.test(p.err) || text.test(p.out) || p.over, () => `"${text}" is told; so far:\n${p.err}`,
                    seconds);
        const found = p.err.match(text) || p.out.match(text);
        assert(found, `it ended before "${text}" was told:\n${p.err}`);
        return found;
    };
    p.kill = (signal = 'SIGKILL') => {
        child.kill(signal);
        return p.done;
    };
    return p;
}

function freePort() {
    return new Promise((resolve) => {
        const s = net.createServer().listen(0, '127.0.0.1', () => {
            const { port } = s.address();
            s.close(() => resolve(port));
        });
    });
}

// ---- the parts ----

// A worker: [events, rate, threads, ...]; settings as the option's names.
function worker(args, settings = {}) {
    const env = { PERFTRACE_LOG_STDERR: '1', PERFTRACE_RUN_ID: 'run', PERFTRACE_TEST_NATS_LIBRARY: NATS_LIBRARY };
    if (!NATS_LIBRARY)
        delete env.PERFTRACE_TEST_NATS_LIBRARY;
    for (const [name, value] of Object.entries(settings))
        env[`PERFTRACE_${name.toUpperCase()}`] = String(value);
    return start(WORKER, args.map(String), env);
}

// A collector that listens on a port, which is free when it is started again, too.
async function collector(port, dir, more = []) {
    const c = start(COLLECT, ['--listen', String(port), '-o', dir, ...more]);
    await c.told(/listening/);
    return c;
}

// A NATS server with JetStream; cluster: {name, port, routes}.
async function nats(port, store, { cluster, args = [] } = {}) {
    const more = cluster ? ['--server_name', cluster.name, '--cluster_name', 'perftrace', '--cluster',
                            `nats://127.0.0.1:${cluster.port}`, '--routes', cluster.routes.join(',')] : [];
    const s = start(NATS, ['-js', '-sd', store, '-a', '127.0.0.1', '-p', String(port), ...more, ...args]);
    await s.told(/Server is ready/);
    return s;
}

// ---- what arrived ----

function find(dir, pattern) {
    if (!fs.existsSync(dir))
        return [];
    return fs.readdirSync(dir, { withFileTypes: true }).flatMap((e) => {
        const name = path.join(dir, e.name);
        return e.isDirectory() ? find(name, pattern) : pattern.test(e.name) && e.isFile() ? [name] : [];
    }).sort();
}

// Every line is strict JSON and the footer's account holds for what is there. Returns it.
function account(file) {
    const text = fs.readFileSync(file, 'utf8');
    assert(text.endsWith('\n'), `${file} ends within a line`);
    const lines = text.slice(0, -1).split('\n').map((l) => JSON.parse(l));
    const footer = lines[lines.length - 1];
    assert.strictEqual(footer.name, 'perftrace_footer', `${file} has no footer`);
    const there = lines.filter((l) => l.ph !== 'M' && l.ph !== 'B').length;
    const { emitted, written, dropped } = footer.args;
    assert.strictEqual(there, written, `${file}: ${there} events, ${written} in the footer`);
    const lost = Object.values(dropped).reduce((a, b) => a + b, 0);
    assert.strictEqual(emitted, written + lost, `${file}: the account`);
    // Each thread's numbers are there once, in order, but for those that were counted as lost.
    const last = new Map();
    for (const l of lines)
        if (l.name === 'work') {
            assert(!(l.args.i <= (last.get(l.tid) ?? -1)), `${file}: ${l.args.i} of ${l.tid} comes again`);
            last.set(l.tid, l.args.i);
        }
    return { emitted, written, dropped, lost, lines };
}

// The files below `there` are those below `here`, byte for byte.
function same(here, there, pattern = /^(traces|sessions)-.*\.jsonl$/) {
    const from = find(here, pattern);
    const to = find(there, pattern);
    assert.deepStrictEqual(to.map((f) => path.basename(f)), from.map((f) => path.basename(f)));
    from.forEach((f, i) => assert(fs.readFileSync(f).equals(fs.readFileSync(to[i])), `${f} and ${to[i]} differ`));
    return to;
}

// How many bytes all files have.
const bytes = (dir) => find(dir, /\.jsonl$/).reduce((n, f) => n + fs.statSync(f).size, 0);

module.exports = { WORKER, COLLECT, FORWARD, RECOVER, NATS, NATS_LIBRARY, sleep, until, folder, environment, start,
                   freePort, test, worker, collector, nats, find, account, same, bytes, spawnSync };
