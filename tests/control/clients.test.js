// clients.test.js: clients of every kind, none of which may disturb the others or the program.
// SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const fs = require('fs');
const { start, connect, answers, exchange, ask, until, sleep, SANITIZED } = require('./program.js');

const GET = 'GET /health HTTP/1.1\r\nHost: localhost\r\n';
const resident = (p) => Number(/VmRSS:\s*(\d+)/.exec(fs.readFileSync(`/proc/${p.pid}/status`, 'utf8'))[1]);

test('1 GB announced is refused at once and no memory is taken', async () => {
    const p = await start();
    await p.ask('GET', '/health');
    const before = resident(p);
    for (const more of ['', 'Expect: 100-continue\r\n']) {
        const c = connect(p.at);
        const begin = Date.now();
        c.socket.write(`POST /flush HTTP/1.1\r\nHost: localhost\r\n${more}Content-Length: 1073741824\r\n\r\n`);
        await c.over;
        assert.ok(Date.now() - begin < 1000);
        c.socket.destroy();
        const [a] = answers(c.data);
        assert.strictEqual(a.status, 413);
        assert.strictEqual(a.headers.connection, 'close');
    }
    // A client that sends it all the same reads its answer.
    const c = connect(p.at);
    c.socket.write('POST /flush HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1073741824\r\n\r\n');
    for (let i = 0; i < 32 && !c.error; i++)
        await new Promise((done) => c.socket.write(Buffer.alloc(65536), done));
    await c.over;
    c.socket.destroy();
    assert.strictEqual(answers(c.data)[0].status, 413);
    // In chunks that do not end.
    const d = connect(p.at);
    d.socket.write('POST /flush HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n40000000\r\n');
    for (let i = 0; i < 32 && !d.closed; i++)
        await new Promise((done) => d.socket.write(Buffer.alloc(65536), done));
    await d.over;
    d.socket.destroy();
    assert.strictEqual(answers(d.data)[0].status, 413);
    if (!SANITIZED)
        assert.ok(resident(p) - before < 4096, `${resident(p) - before} KiB`);
    assert.strictEqual((await p.ask('GET', '/health')).status, 200);
    await p.end();
});

test('requests one behind the other are answered in order', async () => {
    const p = await start();
    const paths = Array.from({ length: 300 }, (_, i) => ['/health', '/nothing', '/status', '/flush'][i % 4]);
    const text = paths.map((path, i) => (path === '/flush' ? 'POST' : 'GET') + ` ${path} HTTP/1.1\r\nHost: localhost\r\n` +
        (path === '/flush' ? 'Content-Length: 2\r\n\r\n{}' : i === paths.length - 2 ? '\r\n' : '\r\n')).join('') +
        GET + 'Connection: close\r\n\r\n' + GET + '\r\n';
    for (const size of [text.length, 1, 7, 1000]) {
        const c = connect(p.at);
        for (let at = 0; at < text.length; at += size) {
            c.socket.write(text.slice(at, at + size));
            if (size < 10 && at % 1000 < size)
                await sleep(1);
        }
        await c.over;
        c.socket.destroy();
        const got = answers(c.data);
        assert.deepStrictEqual(got.map((a) => a.status), [...paths.map((x) => (x === '/nothing' ? 404 : 200)), 200]);
        paths.forEach((path, i) => assert.ok(path !== '/flush' || JSON.parse(got[i].body).flushed, got[i].body));
    }
    await p.end();
});

test('what is no HTTP is refused, and the server lives', async () => {
    const p = await start();
    const cases = [['\x16\x03\x01\x02\0', 400], ['GET / HTTP/1.1\r\n\r\n', 400], ['BREW /pot HTTP/1.1\r\nHost: a\r\n\r\n', 400],
        ['CONNECT localhost:80 HTTP/1.1\r\nHost: a\r\n\r\n', 400], ['GET / HTTP/3.0\r\nHost: a\r\n\r\n', 505],
        [`GET /${'a'.repeat(3000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 414], [`GET /${'a'.repeat(300000)}`, 414],
        [`${GET}${'A: b\r\n'.repeat(20000)}\r\n`, 431], [`${GET}A: ${'b'.repeat(20000)}\r\n\r\n`, 431],
        [`${GET}Expect: tea\r\n\r\n`, 417], [`${GET}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 400],
        ['POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}', 400]];
    for (const [text, status] of cases) {
        const [a, ...more] = await exchange(p.at, Buffer.from(text, 'latin1'));
        assert.strictEqual(a.status, status, text.slice(0, 60));
        assert.strictEqual(a.headers.connection, 'close');
        assert.ok(JSON.parse(a.body).error);
        assert.strictEqual(more.length, 0);
    }
    // A request behind which nonsense comes is answered first.
    const two = await exchange(p.at, `${GET}\r\n\x01\x02\r\n\r\n`);
    assert.deepStrictEqual(two.map((a) => a.status), [200, 400]);
    for (let i = 0; i < 200; i++) {
        const c = connect(p.at);
        c.socket.write(Buffer.from(Array.from({ length: 50 }, () => Math.random() * 256)));
        await sleep(i % 3);
        i % 2 ? c.socket.resetAndDestroy() : c.socket.destroy();
    }
    assert.strictEqual((await p.ask('GET', '/health')).status, 200);
    await p.end();
});

test('a client that waits to go on is told to', async () => {
    const p = await start();
    const c = connect(p.at);
    c.socket.write('POST /flush HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n\r\n');
    await until(() => c.text() === 'HTTP/1.1 100 Continue\r\n\r\n');
    c.socket.write('{}');
    await c.over;
    c.socket.destroy();
    assert.deepStrictEqual(answers(c.data).map((a) => a.status), [100, 200]);
    await p.end();
});

test('a request that comes a byte a second is ended after 10 s', { timeout: 60000 }, async () => {
    const p = await start();
    const begin = Date.now();
    const slow = ['G', GET, 'POST /flush HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{'].map((first) => {
        const c = connect(p.at);
        c.socket.write(first);
        c.timer = setInterval(() => c.closed || c.socket.write(first === 'G' ? '' : 'X'), 1000);
        c.over.then(() => { c.took = Date.now() - begin; clearInterval(c.timer); });
        return c;
    });
    while (slow.some((c) => !c.closed)) { // others are served meanwhile
        assert.strictEqual((await p.ask('GET', '/health')).status, 200);
        await sleep(200);
    }
    for (const c of slow) {
        c.socket.destroy();
        assert.strictEqual(answers(c.data)[0].status, 408);
        assert.ok(c.took >= 9900 && c.took < 14000, `${c.took} ms`);
    }
    await p.end();
});

test('a client that never reads its answers is dropped', { timeout: 60000 }, async () => {
    const p = await start();
    const c = connect(p.at);
    c.socket.pause();
    let sent = true;
    c.socket.on('drain', () => { sent = true; });
    const begin = Date.now();
    while (!c.error && Date.now() - begin < 30000) {
        if (sent)
            sent = c.socket.write('GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(1000));
        assert.strictEqual((await p.ask('GET', '/health')).status, 200);
        await sleep(50);
    }
    assert.ok(c.error, 'it is still there');
    if (!SANITIZED)
        assert.ok(resident(p) < 32768, `${resident(p)} KiB`);
    c.socket.destroy();
    await p.end();
});

test('1,000 connections at once: those over the limit are told 503, and it goes on', async () => {
    const p = await start();
    const all = Array.from({ length: 1000 }, () => connect(p.at));
    all.forEach((c) => c.socket.write(`${GET}\r\n`));
    await until(() => all.every((c) => c.data.length > 0 || c.error), 20000);
    const statuses = all.map((c) => (c.data.length ? answers(c.data)[0].status : 0));
    const count = (n) => statuses.filter((s) => s === n).length;
    assert.strictEqual(count(200), 64, JSON.stringify([count(0), count(200), count(503)]));
    assert.strictEqual(count(503), 936);
    const over = answers(all.find((c) => /503/.test(c.text())).data)[0];
    assert.ok(JSON.parse(over.body).error);
    // Those 64 are served on.
    const kept = all.filter((c) => / 200 /.test(c.text()));
    kept.forEach((c) => { c.data = Buffer.alloc(0); c.socket.write(`${GET}\r\n`); });
    await until(() => kept.every((c) => / 200 /.test(c.text())));
    all.forEach((c) => c.socket.destroy());
    await until(async () => (await ask(p.at, 'GET', '/health')).status === 200);
    await p.end();
});

test('1,000 connections a moment, closed in every way', async () => {
    const p = await start();
    await p.say('spin 1', 'spinning');
    for (let i = 0; i < 1000; i++) {
        const c = connect(p.at);
        c.socket.write([`${GET}\r\n`, GET, 'GET /scopes HTTP/1.1\r\nHost: a', 'POST /flush HTTP/1.1\r\nHost: localhost\r\n\r\n'][i % 4]);
        if (i % 5 === 0)
            await c.open;
        [() => c.socket.destroy(), () => c.socket.resetAndDestroy(), () => c.socket.end()][i % 3]();
        c.over.then(() => c.socket.destroy());
    }
    await until(async () => (await ask(p.at, 'GET', '/health')).status === 200);
    await p.say('halt', 'halted');
    await p.end();
});
