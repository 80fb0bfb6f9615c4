// collect_tool.js: for the tests of perf-trace-collect: the tool, files as processes leave them, and a sender of
// its own, written from docs/formats/STREAM.md. SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const fs = require('fs');
const net = require('net');
const path = require('path');
const zlib = require('zlib');
const { spawn } = require('child_process');
const { afterEach } = require('node:test');
const { fnv1a } = require('./stream_id.js');
const tool = require('./tool.js');

const TOOL = tool.toolOf('PERFTRACE_COLLECT');
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// ---- waiting: for so long at most, then it is said for what ----

const WAIT_S = 120; // far longer than anything takes on a busy machine

const text = (what) => typeof what === 'function' ? what() : what;

// What a promise gives.
function within(promise, what, seconds = WAIT_S) {
    let timer;
    return Promise.race([promise, new Promise((resolve, reject) => {
        timer = setTimeout(() => reject(new Error(`after ${seconds} s it is still waited until ${text(what)}`)), seconds * 1000);
    })]).finally(() => clearTimeout(timer));
}

// Looks again and again until something holds.
async function until(holds, what, seconds = WAIT_S) {
    const end = Date.now() + seconds * 1000;
    while (!await holds()) {
        assert(Date.now() < end, `after ${seconds} s it is still waited until ${text(what)}`);
        await sleep(5);
    }
}

// ---- the tool ----

// Processes: none outlives its test, good or bad. Node would wait for them, and what failed would look like a hang.
const running = new Set();
const kill = () => running.forEach((child) => child.kill('SIGKILL'));
process.on('exit', kill);
afterEach(kill);

// A collector that runs. until(text) waits for a message; ended gives {status, signal, stdout, stderr}.
function collector(args, options = {}) {
    const env = { ...process.env };
    delete env.PERFTRACE_FORWARD_TOKEN;
    const { wrap = [], ...rest } = options;
    const [file, ...first] = [...wrap, TOOL];
    const child = spawn(file, [...first, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env, ...rest });
    const c = { child, stdout: '', stderr: '' };
    running.add(child);
    child.stdout?.on('data', (d) => { c.stdout += d; });
    child.stderr.on('data', (d) => { c.stderr += d; });
    const closed = new Promise((resolve) => child.on('close', (status, signal) => {
        running.delete(child);
        c.over = true;
        resolve({ status, signal, stdout: c.stdout, stderr: c.stderr });
    }));
    Object.defineProperty(c, 'ended', { get: () => within(closed, () => `it ends; so far:\n${c.stderr}`) });
    c.until = async (wanted) => {
        await until(() => c.over || c.stderr.match(wanted), () => `"${wanted}" is told; so far:\n${c.stderr}`);
        const found = c.stderr.match(wanted);
        assert(found, `it ended before "${wanted}" was told:\n${c.stderr}`);
        return found;
    };
    c.stop = (signal = 'SIGTERM') => {
        child.kill(signal);
        return c.ended;
    };
    return c;
}

// One that listens on any port; c.port.
async function listening(args, options) {
    const c = collector(['--listen', '0', ...args], options);
    c.port = Number((await c.until(/listening on 127\.0\.0\.1:(\d+)/))[1]);
    return c;
}

// ---- files ----

// The lines of a trace as a process leaves it: names, events, footer.
function traceLines({ rank = 0, world = 1, role = '', pid = 1000 + rank, events = 10, start = 1, epoch, dropped = 0,
                      footer = true, pad = 0 } = {}) {
    const meta = (name, args) => JSON.stringify({ name, ph: 'M', pid, tid: pid, args })
        .replace(/":/g, '": ').replace(/,"/g, ', "');
    const who = { rank, ...(role ? { role } : {}) };
    const at = epoch ?? `17900000000000${String(start).padStart(5, '0')}`;
    const lines = [
        meta('perftrace_header', { version: 1, run_id: 'r', rank, world_size: world, role: role || null, host: 'node-1',
                                   boot_id: 'b', pid, process_start: String(start), epoch_ns: at, mono_ns: '5' }),
        meta('process_name', { name: `Rank ${rank}, Process`, ...who }),
        meta('thread_name', { name: 'main', ...who })];
    for (let i = 0; i < events; i++)
        lines.push(`{"name": "step", "ph": "X", "ts": ${i + 1}.125, "dur": 0.500, "pid": ${pid}, "tid": ${pid}, ` +
                   `"cat": "compute", "args": {"n": ${i}, "s": "${'x'.repeat(pad && (i * 7919) % pad)}", ` +
                   `"global_step": ${Math.floor(i / 10)}, "rank": ${rank}}}`);
    if (dropped)
        lines.push(meta('perftrace_drop', { cause: 'ring_full', count: dropped, first_ts: 0, last_ts: 0, ...who }));
    if (footer)
        lines.push(meta('perftrace_footer', { emitted: events + dropped, written: events,
                                              dropped: dropped ? { ring_full: dropped } : {}, unfinished: 0,
                                              recovered: false, ...who }));
    return lines;
}

function trace(options = {}) {
    return Buffer.from(traceLines(options).map((l) => l + '\n').join(''));
}

// What is sent of a file: its keys and its bytes.
function file(bytes, keys = {}) {
    return { bytes, keys: { v: 1, run: 'r', stream: fnv1a(bytes.subarray(0, bytes.indexOf(10) + 1)), kind: 'trace',
                            name: `traces-r${keys.rank ?? 0}.jsonl`, rank: 0, world_size: 1, role: '',
                            host: 'node-1', pid: 1000 + (keys.rank ?? 0), ...keys } };
}

// Where lines end: the places at which a piece may begin.
function borders(bytes) {
    const at = [0];
    for (let i = bytes.indexOf(10); i >= 0; i = bytes.indexOf(10, i + 1))
        at.push(i + 1);
    return at;
}

// ---- the sender ----

// A connection. send(message, body), next(type) the next answer, of a type if given; closed is a promise.
class Connection {
    constructor(port) {
        this.queue = [];
        this.waiting = [];
        this.over = false;
        let rest = Buffer.alloc(0);
        this.socket = typeof port === 'string' ? net.connect(port) : net.connect(port, '127.0.0.1');
        this.socket.setNoDelay(true);
        this.connected = new Promise((resolve) => this.socket.once('connect', resolve));
        this.socket.on('error', () => {});
        this.socket.on('data', (d) => {
            rest = Buffer.concat([rest, d]);
            for (let eol; (eol = rest.indexOf(10)) >= 0; rest = rest.subarray(eol + 1)) {
                this.queue.push(JSON.parse(rest.subarray(0, eol).toString()));
                this.wake();
            }
        });
        this.gone = new Promise((resolve) => this.socket.on('close', () => {
            this.over = true;
            this.wake();
            resolve();
        }));
    }
    get opened() {
        return within(this.connected, 'a connection is taken');
    }
    get closed() {
        return within(this.gone, 'the connection is closed');
    }
    wake() {
        this.waiting.splice(0).forEach((f) => f());
    }
    // The first answer that fits. null: the connection has ended.
    async take(fits, what) {
        const end = Date.now() + WAIT_S * 1000;
        for (;;) {
            const at = this.queue.findIndex(fits);
            if (at >= 0)
                return this.queue.splice(at, 1)[0];
            if (this.over)
                return null;
            await within(new Promise((resolve) => this.waiting.push(resolve)), `${what} comes`,
                         Math.max(1, (end - Date.now()) / 1000));
        }
    }
    send(message, body) {
        const line = Buffer.from(JSON.stringify(message) + '\n');
        this.socket.write(body ? Buffer.concat([line, body]) : line);
    }
    // null: the connection has ended.
    next(type) {
        return this.take((m) => !type || m.type === type, type ?? 'an answer');
    }
    hello(run = 'r', token) {
        this.send({ type: 'hello', v: 1, run, ...(token === undefined ? {} : { token }) });
        return this.next();
    }
    have(f) {
        this.send({ type: 'have', ...f.keys });
        return this.next('have');
    }
    piece(f, from, to, more = {}) {
        const plain = f.bytes.subarray(from, to);
        const packed = plain.length ? zlib.deflateSync(plain) : Buffer.alloc(0);
        this.send({ type: 'data', ...f.keys, offset: from, size: plain.length, packed: packed.length,
                    last: to === f.bytes.length && f.whole !== false, ...more }, packed);
    }
    end() {
        this.socket.destroy();
        return this.closed;
    }
}

async function connect(port, run, token) {
    const c = new Connection(port);
    const hello = await c.hello(run, token);
    assert.strictEqual(hello?.type, 'hello', JSON.stringify(hello));
    return c;
}

// Sends files until all of each is acknowledged; in pieces of about pieceBytes, beginning again at what the
// collector has whenever the connection breaks. portOf() tells where the collector is.
async function sendAll(portOf, files, { run = 'r', token, pieceBytes = 4096, pause = 0, repeat = () => false } = {}) {
    for (const end = Date.now() + 2 * WAIT_S * 1000;;) {
        assert(Date.now() < end, `after ${2 * WAIT_S} s ${files.length} files are not acknowledged yet`);
        const c = new Connection(portOf());
        const hello = await c.hello(run, token);
        if (hello?.type !== 'hello') {
            await c.end();
            await sleep(5);
            continue;
        }
        const done = await Promise.all(files.map((f) => sendOne(c, f, pieceBytes, pause, repeat)));
        await c.end();
        if (done.every(Boolean))
            return;
        await sleep(5);
    }
}

async function sendOne(c, f, pieceBytes, pause, repeat) {
    const next = () => c.take((m) => m.stream === f.keys.stream, `an answer about ${f.keys.name}`);
    c.send({ type: 'have', ...f.keys });
    const have = await next();
    if (!have)
        return false;
    let at = have.offset;
    const ends = borders(f.bytes);
    do {
        let to = ends.find((e) => e - at >= pieceBytes) ?? f.bytes.length;
        c.piece(f, at, to);
        if (repeat())
            c.piece(f, at, to);
        at = to;
        if (pause)
            await sleep(pause);
    } while (at < f.bytes.length && !c.over);
    for (;;) {
        const m = await next();
        if (!m)
            return false;
        if (m.type === 'ack' && m.offset === f.bytes.length && m.last)
            return true;
    }
}

// The files below a folder, without those that the collector keeps for itself: {name: bytes}.
function collected(dir) {
    const found = {};
    const walk = (sub) => {
        for (const e of fs.readdirSync(path.join(dir, sub), { withFileTypes: true })) {
            if (e.name === '.streams')
                continue;
            if (e.isDirectory())
                walk(path.join(sub, e.name));
            else
                found[path.join(sub, e.name)] = fs.readFileSync(path.join(dir, sub, e.name));
        }
    };
    walk('');
    return found;
}

module.exports = { ...tool, TOOL, sleep, within, until, running, collector, listening, fnv1a, traceLines, trace, file, borders, Connection,
                   connect, sendAll, collected };
