// program.js: a controlled program and clients of it, for the tests of this folder.
// SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const { afterEach } = require('node:test');
const fs = require('fs');
const net = require('net');
const path = require('path');
const readline = require('readline');
const { spawn } = require('child_process');
const { folder } = require('../cli/tool.js');

const PROGRAM = process.env.CONTROL_PROG;
const SANITIZED = process.env.CONTROL_SANITIZED || '';
if (!PROGRAM) {
    console.error('CONTROL_PROG must name the built control_prog');
    process.exit(2);
}

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// Waits until `what` gives something true.
async function until(what, ms = 10000) {
    for (const end = Date.now() + ms; Date.now() < end; await sleep(5)) {
        const got = await what();
        if (got)
            return got;
    }
    throw new Error(`not within ${ms} ms: ${what}`);
}

const running = new Set();
process.on('exit', () => running.forEach((p) => p.kill('SIGKILL')));
// A test that failed leaves its program, which would be waited for.
afterEach(() => running.forEach((p) => p.kill('SIGKILL')));

// Starts control_prog. `env` on top of: rank 0, trace and rings in a folder of its own, control on.
async function start(env = {}, options = {}) {
    const dir = env.PERFTRACE_DIR || folder();
    const child = spawn(options.command || PROGRAM, options.args || [], {
        cwd: options.cwd || dir, stdio: ['pipe', 'pipe', 'pipe'], uid: options.uid, gid: options.uid,
        env: { ...process.env, PERFTRACE_DIR: dir, PERFTRACE_RING_DIR: dir, PERFTRACE_RANK: '0',
               PERFTRACE_CONTROL: 'on', PERFTRACE_LOG_STDERR: '1', ...env } });
    running.add(child);
    const p = { child, dir, pid: child.pid, stderr: '', lines: [] };
    child.stderr.on('data', (data) => { p.stderr += data; });
    child.stdin.on('error', () => {});
    p.ended = new Promise((done) => child.on('close', (code, signal) => {
        running.delete(child);
        p.over = true;
        done({ code, signal });
    }));
    readline.createInterface({ input: child.stdout }).on('line', (line) => p.lines.push(line));
    // The words behind the first line that begins with `word`; the line is taken away.
    p.line = (word, ms = 20000) => until(() => {
        const at = p.lines.findIndex((l) => l.split(' ')[0] === word);
        if (at < 0 && p.over)
            throw new Error(`the program has ended: ${p.stderr}`);
        return at >= 0 && [p.lines.splice(at, 1)[0].split(' ').slice(1)];
    }, ms).then(([words]) => words);
    p.say = (line, word, ms) => {
        child.stdin.write(line + '\n');
        return word ? p.line(word, ms) : undefined;
    };
    p.look = async () => {
        p.url = (await p.line('url')).join(' ');
        const m = /^http:\/\/(.*):(\d+)$/.exec(p.url);
        p.at = m ? { host: m[1].replace(/[[\]]/g, ''), port: Number(m[2]) }
                 : { path: p.url.replace('unix:', '') };
    };
    p.status = Number((await p.line('started'))[0]);
    await p.look();
    // Ends it; it must end well, and say nothing of a sanitizer.
    p.end = async () => {
        child.stdin.end();
        const { code, signal } = await p.ended;
        assert.deepStrictEqual({ code, signal }, { code: 0, signal: null }, p.stderr);
    };
    p.ask = (method, target, more) => ask(p.at, method, target, more);
    p.endpoints = () => fs.readdirSync(dir).filter((f) => f.includes('.endpoint')).sort();
    return p;
}

// A raw connection. `data` is what came so far; `closed` becomes true at its end.
function connect(at) {
    const c = { data: Buffer.alloc(0), closed: false, error: null };
    c.socket = net.connect({ ...at, allowHalfOpen: true });
    c.socket.on('data', (d) => { c.data = Buffer.concat([c.data, d]); });
    c.socket.on('error', (e) => { c.error = e; });
    c.over = new Promise((done) => {
        c.socket.on('end', () => { c.closed = true; done(); });
        c.socket.on('close', () => { c.closed = true; done(); });
    });
    c.open = new Promise((done) => { c.socket.on('connect', done); c.socket.on('error', done); });
    c.text = () => c.data.toString('latin1');
    return c;
}

// Takes answers apart. `heads`: for each in turn whether it has no body.
function answers(data, heads = []) {
    const list = [];
    for (let at = 0; at < data.length;) {
        const end = data.indexOf('\r\n\r\n', at);
        assert.notStrictEqual(end, -1, `no end of a header: ${data.subarray(at)}`);
        const [first, ...lines] = data.subarray(at, end).toString('latin1').split('\r\n');
        const m = /^HTTP\/1\.1 (\d{3}) [A-Z][A-Za-z ]+$/.exec(first);
        assert.ok(m, first);
        const headers = {};
        for (const line of lines) {
            const [, name, value] = /^([A-Za-z-]+): (.*)$/.exec(line);
            assert.ok(!(name.toLowerCase() in headers), line);
            headers[name.toLowerCase()] = value;
        }
        at = end + 4;
        const status = Number(m[1]);
        const length = status === 100 || heads[list.length] ? 0 : Number(headers['content-length']);
        assert.ok(at + length <= data.length, 'a body is cut');
        const body = data.subarray(at, at + length).toString('utf8');
        at += length;
        list.push({ status, headers, body });
    }
    return list;
}

// Sends bytes as they are and reads until the server closes.
async function exchange(at, bytes, heads) {
    const c = connect(at);
    c.socket.write(bytes);
    await c.over;
    c.socket.destroy();
    return answers(c.data, heads);
}

// One request on a connection of its own; json is the body taken apart where it is JSON.
async function ask(at, method, target, { headers = {}, body = '', host = 'localhost' } = {}) {
    const lines = Object.entries({ Host: host, Connection: 'close', ...headers }).map(([k, v]) => `${k}: ${v}\r\n`);
    const length = body || method === 'POST' ? `Content-Length: ${Buffer.byteLength(body)}\r\n` : '';
    const [a, ...more] = await exchange(at, `${method} ${target} HTTP/1.1\r\n${lines.join('')}${length}\r\n${body}`,
                                        [method === 'HEAD']);
    assert.ok(a, `no answer to ${method} ${target}`);
    assert.strictEqual(more.length, 0);
    if (a.body && a.headers['content-type'] === 'application/json')
        a.json = JSON.parse(a.body);
    return a;
}

// Whether anybody takes connections there.
async function listens(at) {
    const c = connect(at);
    await c.open;
    c.socket.destroy();
    return c.error === null;
}

module.exports = { PROGRAM, SANITIZED, sleep, until, start, connect, answers, exchange, ask, listens, folder };
