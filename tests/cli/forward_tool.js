// forward_tool.js: for the tests of perf-trace-forward: the tool, and a collector of its own, written from
// docs/formats/STREAM.md. SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const fs = require('fs');
const net = require('net');
const path = require('path');
const zlib = require('zlib');
const { spawn } = require('child_process');
const { fnv1a } = require('./stream_id.js');
const tool = require('./tool.js');

const TOOL = tool.toolOf('PERFTRACE_TEST_FORWARD');
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// ---- the tool ----

const running = new Set();
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')));

// A run of the tool: {child, ended, until(text)}.
function start(args, env = {}, program = TOOL) {
    const all = { ...process.env, PERFTRACE_RING_DIR: env.PERFTRACE_RING_DIR ?? tool.folder(), ...env };
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: all });
    const r = { child, stdout: '', stderr: '' };
    running.add(child);
    child.stdout.on('data', (d) => { r.stdout += d; });
    child.stderr.on('data', (d) => { r.stderr += d; });
    r.ended = new Promise((resolve) => child.on('close', (status, signal) => {
        running.delete(child);
        r.over = true;
        resolve({ status, signal, stdout: r.stdout, stderr: r.stderr });
    }));
    r.until = async (condition) => {
        while (!condition(r)) {
            assert(!r.over, `it ended:\n${r.stderr}`);
            await sleep(5);
        }
    };
    return r;
}

// A run to its end; with --json the report too: {status, stderr, json, file(name)}.
async function run(args, env) {
    const r = await start([...args, '--json'], env).ended;
    r.json = r.stdout ? JSON.parse(r.stdout) : null;
    r.file = (name) => r.json.files.find((f) => path.basename(f.file) === name);
    return r;
}

// ---- the collector ----

// Keeps streams in memory: {bytes, last, keys, came}. came counts bytes of pieces that it had before they were
// asked for on that connection: nothing may be sent that it said it has.
class Collector {
    constructor({ token, runs, delay = 0, cut = 0, deaf = false } = {}) {
        Object.assign(this, { token, runs, delay, cut, deaf });
        this.streams = new Map();
        this.sockets = new Set();
        this.problems = [];
        this.connections = 0;
        this.pieces = 0;
        this.twice = 0;
        this.bytes = 0;
    }
    listen(where = 0) {
        this.server = net.createServer((s) => this.connected(s));
        return new Promise((resolve) => this.server.listen(...(where ? [where] : [0, '127.0.0.1']), () => {
            this.server.unref();
            this.port = this.server.address().port;
            this.to = where ? `tcp:unix:${where}` : `tcp:127.0.0.1:${this.port}`;
            resolve(this);
        }));
    }
    close() {
        this.sockets.forEach((s) => s.destroy());
        return new Promise((resolve) => this.server.close(resolve));
    }
    connected(socket) {
        const c = { socket, rest: Buffer.alloc(0), greeted: false, told: new Map(), came: 0 };
        this.connections++;
        this.sockets.add(socket);
        socket.unref();
        socket.on('error', () => {});
        socket.on('close', () => this.sockets.delete(socket));
        let turn = Promise.resolve();
        socket.on('data', (d) => {
            turn = turn.then(() => this.took(c, d)).catch((e) => this.problems.push(e.stack));
        });
    }
    async took(c, d) {
        c.rest = Buffer.concat([c.rest, d]);
        c.came += d.length;
        while (!c.socket.destroyed) {
            const eol = c.rest.indexOf(10);
            if (eol < 0) {
                assert(c.rest.length < 4096, 'a line that is too long');
                break;
            }
            assert(eol < 4096, 'a line that is too long');
            const m = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(c.rest.subarray(0, eol)));
            const end = eol + 1 + (m.packed ?? 0);
            if (c.rest.length < end)
                break;
            const body = c.rest.subarray(eol + 1, end);
            c.rest = c.rest.subarray(end);
            if (this.delay)
                await sleep(this.delay);
            this.message(c, m, body);
        }
        if (this.cut && c.came >= this.cut)
            c.socket.destroy();
    }
    say(c, m) {
        if (!this.deaf || m.type === 'hello')
            c.socket.write(JSON.stringify(m) + '\n');
    }
    refuse(c, text) {
        this.say(c, { type: 'error', text });
        c.socket.end();
    }
    message(c, m, body) {
        if (!c.greeted) {
            assert.strictEqual(m.type, 'hello');
            assert.strictEqual(m.v, 1);
            assert(typeof m.run === 'string' && m.run.length > 0);
            if ((m.token ?? '') !== (this.token ?? ''))
                return this.refuse(c, 'wrong token');
            if (this.runs && !this.runs.includes(m.run))
                return this.refuse(c, 'another run');
            c.greeted = true;
            c.run = m.run;
            return this.say(c, { type: 'hello', v: 1, ref: 'node' });
        }
        if (m.type === 'have' || m.type === 'data') {
            assert.strictEqual(m.run, c.run);
            assert.match(m.stream, /^[0-9a-f]{16}$/);
            assert(['trace', 'sessions'].includes(m.kind));
            assert(!m.name.includes('/'));
        }
        if (m.type === 'have') {
            const s = this.streams.get(m.stream) ?? { bytes: Buffer.alloc(0), parts: [], size: 0, last: false };
            s.keys = { run: m.run, kind: m.kind, name: m.name, rank: m.rank, world_size: m.world_size, role: m.role,
                       host: m.host, pid: m.pid };
            this.streams.set(m.stream, s);
            c.told.set(m.stream, s.size);
            this.say(c, { type: 'have', stream: m.stream, offset: s.size, last: s.last });
        } else if (m.type === 'data') {
            this.piece(c, m, body);
        } else {
            assert.strictEqual(m.type, 'clock');
            const now = String(process.hrtime.bigint());
            this.say(c, { type: 'clock', t1: m.t1, t2: now, t3: now, ref: 'node' });
        }
    }
    piece(c, m, body) {
        const s = this.streams.get(m.stream);
        assert(s && c.told.has(m.stream), 'a piece of a file that was not asked for');
        assert((m.size === 0) === (m.packed === 0) && m.size <= 4 << 20);
        const plain = m.size ? zlib.inflateSync(body) : Buffer.alloc(0);
        assert.strictEqual(plain.length, m.size);
        assert(m.size === 0 || plain[m.size - 1] === 10);
        assert((m.acked ?? 0) <= s.size);
        this.pieces++;
        this.bytes += m.size;
        if (m.offset < c.told.get(m.stream))
            this.twice++;
        assert(m.offset <= s.size, 'a gap');
        if (m.offset + m.size > s.size) { // its beginning may have come by a connection before
            s.parts.push(plain.subarray(s.size - m.offset));
            s.size = m.offset + m.size;
        }
        if (m.last && m.offset + m.size === s.size)
            s.last = true;
        this.say(c, { type: 'ack', stream: m.stream, offset: s.size, last: s.last });
    }
    // What came, by name: {name: {bytes, last, ...keys}}.
    files() {
        assert.deepStrictEqual(this.problems, []);
        const found = {};
        for (const [stream, s] of this.streams) {
            const bytes = Buffer.concat(s.parts);
            assert.strictEqual(bytes.length ? fnv1a(bytes.subarray(0, bytes.indexOf(10) + 1)) : stream, stream);
            const name = `${s.keys.run}/${s.keys.role ? s.keys.role + '/' : ''}${s.keys.name}`;
            assert(!found[name], `${name} came as two streams`);
            found[name] = { bytes, last: s.last, ...s.keys };
        }
        return found;
    }
}

const collecting = (options, where) => new Collector(options).listen(where);

// ---- files ----

const json = (o) => JSON.stringify(o).replace(/":/g, '": ').replace(/,"/g, ', "');

// A trace as a process leaves it.
function trace({ run = 'job', rank = 0, world = 4, role = null, pid = 1000, host = 'node-1', events = 20, start = 1,
                 footer = true, pad = 0, ...more } = {}) {
    const meta = (name, args) => json({ name, ph: 'M', pid, tid: pid, args }) + '\n';
    let text = meta('perftrace_header', { version: 1, run_id: run, rank, world_size: world, role, host, boot_id: 'b', pid,
                                          process_start: String(start), epoch_ns: String(1790000000000000000n +
                                          BigInt(start) * 1000000000n), ...more });
    for (let i = 0; i < events; i++)
        text += `{"name": "step", "ph": "X", "ts": ${i + 1}.125, "dur": 0.500, "pid": ${pid}, "tid": ${pid}, ` +
                `"cat": "compute", "args": {"n": ${i}, "s": "${((i * 2654435761) >>> 0).toString(36).repeat(pad)}"}}\n`;
    return text + (footer ? meta('perftrace_footer', { emitted: events, written: events, dropped: {}, unfinished: 0,
                                                       recovered: false }) : '');
}

function sessions({ run = 'job', rank = 0, role, count = 3, start = 1, ...more } = {}) {
    let text = '';
    for (let i = 0; i < count; i++)
        text += json({ task_id: null, session_id: i, rank, ...(role ? { role } : {}), status: 'accepted',
                       submit_ts: 1790000000 + start + i + 0.5, ...more, ...(run ? { run_id: run } : {}) }) + '\n';
    return text;
}

module.exports = { ...tool, TOOL, sleep, start, run, collecting, trace, sessions, fnv1a };
