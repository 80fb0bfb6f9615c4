// nats_tool.js: a nats-server for a test, and a client of its own that speaks what the tests need of NATS' protocol
// (docs.nats.io, "Client Protocol"). SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const net = require('net');
const path = require('path');
const zlib = require('zlib');
const { spawn, spawnSync } = require('child_process');
const t = require('./collect_tool.js');

const available = spawnSync('nats-server', ['--version']).status === 0;

function freePort() {
    return new Promise((resolve) => {
        const s = net.createServer().listen(0, '127.0.0.1', () => {
            const { port } = s.address();
            s.close(() => resolve(port));
        });
    });
}

// A server that keeps its streams in files. kill() and start() again on the same port and files.
class Server {
    constructor(port, dir, args) {
        Object.assign(this, { port, dir, args, log: '' });
    }
    async start() {
        this.child = spawn('nats-server', ['-a', '127.0.0.1', '-p', String(this.port), '-js', '-sd', this.dir,
                                           ...this.args], { stdio: ['ignore', 'pipe', 'pipe'] });
        t.running.add(this.child);
        const child = this.child;
        for (const out of [child.stdout, child.stderr])
            out.on('data', (d) => { this.log += d; });
        this.ended = new Promise((resolve) => child.on('close', () => {
            t.running.delete(child);
            child.over = true;
            resolve();
        }));
        const from = this.log.length;
        await t.until(() => child.over || this.log.slice(from).includes('Server is ready'),
                      () => `nats-server is ready; so far:\n${this.log}`);
        assert(!child.over, this.log);
        return this;
    }
    kill() {
        this.child.kill('SIGKILL');
        return t.within(this.ended, 'nats-server ends');
    }
    get url() {
        return `nats://127.0.0.1:${this.port}`;
    }
}

async function server(args = []) {
    return new Server(await freePort(), t.folder(), args).start();
}

// request(subject, body, headers) is answered or rejected after a while; publish waits for nothing.
class Client {
    constructor(port, connect = {}) {
        this.sids = new Map();
        this.count = 0;
        this.inbox = `_INBOX.${process.pid}.${Math.random().toString(36).slice(2)}`;
        let rest = Buffer.alloc(0);
        this.socket = net.connect(port, '127.0.0.1');
        this.socket.setNoDelay(true);
        this.socket.on('error', () => {});
        this.gone = new Promise((resolve) => this.socket.on('close', resolve));
        this.greeted = new Promise((resolve) => {
            this.socket.on('data', (d) => {
                rest = Buffer.concat([rest, d]);
                for (let eol; (eol = rest.indexOf('\r\n')) >= 0;) {
                    const [op, ...words] = rest.subarray(0, eol).toString().split(' ');
                    if (op === 'MSG' || op === 'HMSG') {
                        const size = Number(words[words.length - 1]);
                        const head = op === 'HMSG' ? Number(words[words.length - 2]) : 0;
                        if (rest.length < eol + 2 + size + 2)
                            return;
                        const all = rest.subarray(eol + 2, eol + 2 + size);
                        rest = rest.subarray(eol + 2 + size + 2);
                        this.sids.get(words[1])?.({ subject: words[0], data: all.subarray(head),
                                                    header: all.subarray(0, head).toString() });
                        continue;
                    }
                    rest = rest.subarray(eol + 2);
                    if (op === 'PING')
                        this.socket.write('PONG\r\n');
                    else if (op === 'PONG')
                        resolve(this);
                    else if (op === '-ERR')
                        this.error = words.join(' ');
                }
            });
        });
        this.socket.write(`CONNECT ${JSON.stringify({ verbose: false, pedantic: false, headers: true, no_responders: true,
                                                      lang: 'test', version: '1', ...connect })}\r\nPING\r\n`);
        this.waiting = new Map();
        this.subscribe(`${this.inbox}.*`, (m) => {
            const id = m.subject.slice(this.inbox.length + 1);
            this.waiting.get(id)?.(m);
            this.waiting.delete(id);
        });
    }
    get ready() {
        return t.within(this.greeted, () => `nats-server greets; it says: ${this.error ?? 'nothing'}`);
    }
    get closed() {
        return t.within(this.gone, 'nats-server closes the connection');
    }
    subscribe(subject, fn) {
        const sid = String(++this.count);
        this.sids.set(sid, fn);
        this.socket.write(`SUB ${subject} ${sid}\r\n`);
    }
    publish(subject, body, headers = {}, reply = '') {
        const data = Buffer.isBuffer(body) ? body : Buffer.from(body);
        const lines = Object.entries(headers).map(([k, v]) => `${k}: ${v}\r\n`).join('');
        const head = Buffer.from(lines ? `NATS/1.0\r\n${lines}\r\n` : '');
        const op = lines ? `HPUB ${subject} ${reply} ${head.length} ${head.length + data.length}`
                         : `PUB ${subject} ${reply} ${data.length}`;
        this.socket.write(Buffer.concat([Buffer.from(op.replace(/ +/g, ' ') + '\r\n'), head, data,
                                         Buffer.from('\r\n')]));
    }
    request(subject, body = '', headers = {}, ms = 5000) {
        const id = String(++this.count);
        return new Promise((resolve, reject) => {
            const timer = setTimeout(() => reject(new Error(`no answer of ${subject}`)), ms);
            this.waiting.set(id, (m) => {
                clearTimeout(timer);
                if (m.header.includes(' 503'))
                    reject(new Error('nobody listens'));
                else
                    resolve(m.data.toString());
            });
            this.publish(subject, body, headers, `${this.inbox}.${id}`);
        });
    }
    async api(what, body = {}) {
        return JSON.parse(await this.request(`$JS.API.${what}`, JSON.stringify(body)));
    }
    end() {
        this.socket.destroy();
        return this.closed;
    }
}

function client(port, connect) {
    return new Client(port, connect).ready;
}

// Makes the run's stream as senders do.
function makeStream(c, run = 'r', more = {}) {
    return c.api(`STREAM.CREATE.perftrace_${run}`, { name: `perftrace_${run}`, subjects: [`perftrace.${run}.data.>`],
                                                     storage: 'file', retention: 'limits', num_replicas: 1, ...more });
}

// One piece; resolves to the server's acknowledgement.
async function put(c, f, from, to, more = {}, id = `${f.keys.stream}-${from}${to > from ? '' : '-end'}`) {
    const plain = f.bytes.subarray(from, to);
    const packed = plain.length ? zlib.deflateSync(plain) : Buffer.alloc(0);
    const line = Buffer.from(JSON.stringify({ type: 'data', ...f.keys, offset: from, size: plain.length,
        packed: packed.length, acked: from, last: to === f.bytes.length && f.whole !== false, ...more }) + '\n');
    const run = f.keys.run.replace(/[^A-Za-z0-9_-]/g, '_');
    return JSON.parse(await c.request(`perftrace.${run}.data.${f.keys.rank ?? 'u'}.${f.keys.stream}`,
                                      Buffer.concat([line, packed]), id ? { 'Nats-Msg-Id': id } : {}));
}

// The pieces of a file: [[from, to], ...].
function pieces(f, pieceBytes) {
    const found = [];
    const ends = t.borders(f.bytes);
    for (let at = 0; at < f.bytes.length;) {
        const to = ends.find((e) => e - at >= pieceBytes) ?? f.bytes.length;
        found.push([at, to]);
        at = to;
    }
    return found;
}

module.exports = { ...t, available, freePort, server, Server, client, makeStream, put, pieces };
