// collect_faults.test.js: perf-trace-collect when things go wrong. SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const crypto = require('crypto');
const fs = require('fs');
const http = require('http');
const path = require('path');
const { spawnSync } = require('child_process');
const test = require('node:test');
const zlib = require('zlib');
const t = require('./collect_tool.js');

function random(seed) {
    let x = seed;
    return () => (x = (x * 1103515245 + 12345) % 2147483648) / 2147483648;
}

// A sanitizer keeps memory that was freed.
const SANITIZED = fs.readFileSync(t.TOOL).includes('__asan_init');

const BRIEF = process.env.PERFTRACE_TEST_BRIEF ? 20 : 100;

// Kills and starts collectors until all is sent; returns how often.
async function underKills(args, files, options, kills, rand) {
    let c = await t.listening(args);
    let done = false;
    const sending = t.sendAll(() => c.port, files, options).then(() => { done = true; });
    let count = 0;
    while (!done && count < kills) {
        await t.sleep(rand() * 40);
        await c.stop('SIGKILL');
        count++;
        c = await t.listening(args);
    }
    await sending;
    return { c, count };
}

test('kill -9 of the collector at random moments, again and again', async () => {
    const rand = random(11);
    let kills = 0;
    for (let round = 0; kills < BRIEF; round++) {
        const dir = t.folder();
        const files = [0, 1, 2].map((rank) => t.file(t.trace({ rank, world: 3, events: 20000, pad: 300, start: round + 1 }),
                                                     { rank, world_size: 3 }));
        const { c, count } = await underKills(['-o', dir], files, { pieceBytes: 60000, pause: 1,
                                                                    repeat: () => rand() < 0.2 }, BRIEF - kills, rand);
        kills += Math.max(count, 1);
        const r = await c.stop();
        assert.strictEqual(r.status, 0, r.stderr);
        const got = t.collected(dir);
        assert.deepStrictEqual(Object.keys(got).sort(), files.map((f) => `r/${f.keys.name}`).sort());
        for (const f of files)
            assert(got[`r/${f.keys.name}`].equals(f.bytes), `${f.keys.name} after ${kills} kills`);
    }
});

test('a torn tail is written over', async () => {
    const f = t.file(t.trace({ events: 100 }));
    for (const cut of [1, 50, f.bytes.length - 3]) {
        const dir = t.folder();
        let c = await t.listening(['-o', dir]);
        await t.sendAll(() => c.port, [f]);
        await c.stop();
        fs.truncateSync(path.join(dir, 'r/traces-r0.jsonl'), cut);
        c = await t.listening(['-o', dir]);
        const s = await t.connect(c.port);
        const { offset } = await s.have(f);
        assert(offset <= cut && t.borders(f.bytes).includes(offset));
        s.piece(f, offset, f.bytes.length);
        assert.strictEqual((await s.next('ack')).offset, f.bytes.length);
        await s.end();
        assert.strictEqual((await c.stop()).status, 0);
        assert.deepStrictEqual(t.collected(dir), { 'r/traces-r0.jsonl': f.bytes });
    }
});

test('pieces that do not fit are refused, with the cause, and the connection ends', async () => {
    const dir = t.folder();
    const c = await t.listening(['-o', dir]);
    const f = t.file(t.trace({ events: 100 }));
    const other = { ...f, bytes: Buffer.from(f.bytes) };
    other.bytes[f.bytes.length - 200] ^= 1;
    const ends = t.borders(f.bytes);
    let s = await t.connect(c.port);
    s.piece(f, 0, ends[50]);
    await s.next('ack');
    // Overlapping with the same bytes is taken.
    s.piece(f, ends[20], ends[60]);
    assert.strictEqual((await s.next()).offset, ends[60]);
    await s.end();
    const changed = { ...f, bytes: Buffer.from(f.bytes) };
    changed.bytes[ends[55] + 20] ^= 1;
    const cases = [
        [() => s.piece(changed, ends[50], ends[70]), /other bytes/],
        [() => s.piece(f, ends[60], ends[60] + 5), /does not end with a line/],
        [() => s.piece(f, ends[60], ends[61], { size: ends[61] - ends[60] + 1 }), /does not unpack/],
        [() => s.piece(f, ends[60], ends[61], { size: ends[61] - ends[60] - 1 }), /does not unpack/],
        [() => s.send({ type: 'data', ...f.keys, offset: ends[60], size: 10, packed: 4, last: false },
                      Buffer.from('abcd')), /does not unpack/],
    ];
    for (const [send, cause] of cases) {
        s = await t.connect(c.port);
        send();
        const m = await s.next();
        assert.strictEqual(m.type, 'error');
        assert.match(m.text, cause);
        await s.closed;
    }
    await t.sendAll(() => c.port, [f]);
    const r = await c.stop();
    assert.strictEqual(r.status, 1, r.stderr);
    assert.deepStrictEqual(t.collected(dir), { 'r/traces-r0.jsonl': f.bytes });
});

test('garbage, a wrong token, another run, another version: told, closed, counted; others are served', async () => {
    const dir = t.folder();
    const c = await t.listening(['-o', dir, '--run', 'r', '--status', '0', '--hello-timeout', '300ms'],
                                { env: { ...process.env, PERFTRACE_FORWARD_TOKEN: 'the secret' } });
    const status = Number((await c.until(/status at http:\/\/127\.0\.0\.1:(\d+)/))[1]);
    const refused = async (first, cause) => {
        const s = new t.Connection(c.port);
        await s.opened;
        first(s);
        const m = await s.next();
        assert.strictEqual(m?.type, 'error');
        assert.match(m.text, cause);
        await s.closed;
    };
    const hello = { type: 'hello', v: 1, run: 'r', token: 'the secret' };
    const f = t.file(t.trace());
    await refused((s) => s.socket.write('GET / HTTP/1.1\r\n\r\n'), /bytes that begin no message/);
    await refused((s) => s.socket.write(Buffer.alloc(100000, 0x7b)), /./);
    await refused((s) => s.socket.write('{"type": "nothing"}\n'), /./);
    await refused((s) => s.send({ ...hello, token: 'the secreT' }), /wrong token/);
    await refused((s) => s.send({ ...hello, token: 'the secret and more' }), /wrong token/);
    await refused((s) => s.send({ type: 'hello', v: 1, run: 'r' }), /wrong token/);
    await refused((s) => s.send({ ...hello, run: 'another' }), /a run that is not collected here/);
    await refused((s) => s.send({ ...hello, v: 2 }), /another version/);
    await refused((s) => s.send({ type: 'have', ...f.keys }), /does not belong/);
    const early = await t.connect(c.port, 'r', 'the secret');
    early.send({ type: 'ack', stream: '0'.repeat(16), offset: 1 });
    assert.match((await early.next()).text, /does not belong/);
    await early.closed;
    await refused(() => {}, /no hello came in time/);
    const s = await t.connect(c.port, 'r', 'the secret');
    s.send({ type: 'have', ...f.keys, run: 'another' });
    assert.match((await s.next()).text, /a run that is not collected here/);
    await t.sendAll(() => c.port, [f], { token: 'the secret' });
    const get = (headers) => new Promise((resolve) => http.get({ port: status, path: '/status', headers }, (r) => {
        let body = '';
        r.on('data', (d) => { body += d; });
        r.on('end', () => resolve({ status: r.statusCode, body }));
    }));
    assert.strictEqual((await get({})).status, 401);
    const state = JSON.parse((await get({ authorization: 'Bearer the secret' })).body);
    assert.deepStrictEqual(state.connections_ended, { token: 3, run: 2, version: 1, garbage: 3, order: 2, piece: 0, slow: 1,
                                                      many: 0, memory: 0 });
    const r = await c.stop();
    assert.strictEqual(r.status, 0, r.stderr);
    assert.deepStrictEqual(t.collected(dir), { 'r/traces-r0.jsonl': f.bytes });
});

test('no file of a name that leads elsewhere is made', async () => {
    const dir = t.folder();
    const c = await t.listening(['-o', path.join(dir, 'in')]);
    for (const keys of [{ name: '../x.jsonl' }, { name: '.streams' }, { name: 'a/b' }, { role: '..' }, { role: 'a/b' }]) {
        const s = await t.connect(c.port);
        s.piece(t.file(t.trace(), keys), 0, 10);
        assert.strictEqual((await s.next()).type, 'error', JSON.stringify(keys));
        await s.closed;
    }
    const f = t.file(t.trace(), { run: '../../up' });
    await t.sendAll(() => c.port, [f], { run: '../../up' });
    await c.stop();
    assert.deepStrictEqual(Object.keys(t.collected(dir)), ['in/______up/traces-r0.jsonl']);
});

test('a sender that reads no answers holds up nobody, and is dropped', async () => {
    const dir = t.folder();
    const c = await t.listening(['-o', dir, '--piece-timeout', '1s']);
    const slow = await t.connect(c.port);
    slow.socket.pause();
    const lines = Buffer.from('{"type": "clock", "t1": "0123456789012345678901234567890123456789"}\n'.repeat(20000));
    for (let i = 0; i < 20; i++)
        slow.socket.write(lines);
    const f = t.file(t.trace({ events: 3000 }));
    await t.sendAll(() => c.port, [f]);
    await c.until('answers were not taken');
    slow.socket.destroy();
    const peak = Number(fs.readFileSync(`/proc/${c.child.pid}/status`, 'utf8').match(/VmHWM:\s+(\d+)/)[1]);
    assert(peak < 100000 || SANITIZED, `${peak} kB`);
    assert.strictEqual((await c.stop()).status, 0);
    assert.deepStrictEqual(t.collected(dir), { 'r/traces-r0.jsonl': f.bytes });
});

test('many large pieces that come slowly need no more memory than is allowed', async () => {
    const dir = t.folder();
    const c = await t.listening(['-o', dir, '--max-held', '4M']);
    const hash = (text) => crypto.createHash('sha512').update(text).digest('hex');
    const text = Buffer.from(Array.from({ length: 3000 }, (_, i) =>
        `{"n": ${i}, "s": "${[1, 2, 3, 4].map((k) => hash(`${i}, ${k}`)).join('')}"}\n`).join(''));
    const large = t.file(Buffer.concat([Buffer.from('{"first": 1}\n'), text]));
    const packed = zlib.deflateSync(large.bytes);
    const senders = await Promise.all(Array.from({ length: 60 }, () => t.connect(c.port)));
    // Each gives all but the last bytes of a piece; then one after the other completes it.
    const parts = senders.map((s, i) => {
        const keys = { ...large.keys, name: `traces-r${i}.jsonl`, rank: i, stream: i.toString(16).padStart(16, '0') };
        const line = Buffer.from(JSON.stringify({ type: 'data', ...keys, offset: 0, size: large.bytes.length,
                                                  packed: packed.length, last: false }) + '\n');
        s.socket.write(Buffer.concat([line, packed.subarray(0, packed.length - 10)]));
        return packed.subarray(packed.length - 10);
    });
    await t.sleep(500);
    senders.forEach((s, i) => s.socket.write(parts[i]));
    for (const s of senders)
        assert.strictEqual((await s.next()).offset, large.bytes.length);
    const peak = Number(fs.readFileSync(`/proc/${c.child.pid}/status`, 'utf8').match(/VmHWM:\s+(\d+)/)[1]);
    assert(packed.length > 500000 && (peak < 45000 || SANITIZED), `${packed.length} bytes, ${peak} kB`);
    await Promise.all(senders.map((s) => s.end()));
    assert.strictEqual((await c.stop()).status, 0);
    assert.strictEqual(Object.values(t.collected(dir)).filter((b) => b.equals(large.bytes)).length, 60);
});

const linesOf = (texts) => Buffer.concat(texts).toString().split('\n').sort();

for (const more of [[], ['--one-file', 'all.jsonl']]) test(`a disk that is full: senders wait, nothing is lost; it is told once ${more}`, async (context) => {
    const mount = t.folder();
    const made = spawnSync('unshare', ['-m', 'true']);
    if (made.status !== 0)
        return context.skip('no mount namespaces here');
    // The collector alone sees the small disk; a file on it is taken away when it is full.
    const script = `mount -t tmpfs -o size=400k none "$1" && head -c 250000 /dev/zero > "$1/ballast" && shift && exec "$@"`;
    const c = collectorIn(['unshare', '-m', 'sh', '-c', script, 'sh', mount], ['-o', mount, ...more]);
    c.port = Number((await c.until(/listening on 127\.0\.0\.1:(\d+)/))[1]);
    const files = [0, 1].map((rank) => t.file(t.trace({ rank, world: 2, events: 500 }), { rank, world_size: 2 }));
    let done = false;
    const sending = t.sendAll(() => c.port, files).then(() => { done = true; });
    await c.until(/cannot be written \(No space left on device\)/);
    await t.sleep(600);
    assert(!done);
    const inside = `/proc/${c.child.pid}/root${mount}`;
    fs.unlinkSync(`${inside}/ballast`);
    await sending;
    await c.until('is being written again');
    const got = t.collected(inside);
    const r = await c.stop();
    assert.strictEqual(r.status, 0, r.stderr);
    assert.strictEqual(r.stderr.match(/cannot be written/g).length, 1, r.stderr);
    assert.strictEqual(r.stderr.match(/is being written again/g).length, 1, r.stderr);
    if (more.length)
        assert.deepStrictEqual(linesOf(Object.values(got)), linesOf(files.map((f) => f.bytes)));
    else
        assert.deepStrictEqual(got, { 'r/traces-r0.jsonl': files[0].bytes, 'r/traces-r1.jsonl': files[1].bytes });
});

test('a file system that is read-only: senders wait, nothing is lost', async (context) => {
    const mount = t.folder();
    if (spawnSync('unshare', ['-m', 'true']).status !== 0)
        return context.skip('no mount namespaces here');
    const script = 'mount -t tmpfs none "$1" && mkdir "$1/out" && mount -o remount,ro "$1" && shift && exec "$@"';
    const c = collectorIn(['unshare', '-m', 'sh', '-c', script, 'sh', mount], ['-o', path.join(mount, 'out'), '--status', '0']);
    c.port = Number((await c.until(/listening on 127\.0\.0\.1:(\d+)/))[1]);
    const status = Number((await c.until(/status at http:\/\/127\.0\.0\.1:(\d+)/))[1]);
    const f = t.file(t.trace({ events: 500 }));
    let done = false;
    const sending = t.sendAll(() => c.port, [f]).then(() => { done = true; });
    await c.until(/traces-r0\.jsonl cannot be written \(Read-only file system\)/);
    await t.sleep(600);
    assert(!done);
    assert.strictEqual((await (await fetch(`http://127.0.0.1:${status}/status`)).json()).collector.failing, 'Read-only file system');
    assert.strictEqual(spawnSync('nsenter', ['-t', String(c.child.pid), '-m', 'mount', '-o', 'remount,rw', mount]).status, 0);
    await sending;
    await c.until('is being written again');
    const got = t.collected(`/proc/${c.child.pid}/root${mount}`);
    const r = await c.stop();
    assert.strictEqual(r.status, 0, r.stderr);
    assert.strictEqual(r.stderr.match(/cannot be written/g).length, 1);
    assert.deepStrictEqual(got, { 'out/r/traces-r0.jsonl': f.bytes });
});

function collectorIn(wrap, args) {
    return t.collector(['--listen', '0', ...args], { wrap });
}

test('a limit of file sizes: what does not fit is told at the end', async () => {
    const dir = t.folder();
    const c = collectorIn(['sh', '-c', 'ulimit -f 20; exec "$@"', 'sh'], ['-o', dir]);
    c.port = Number((await c.until(/listening on 127\.0\.0\.1:(\d+)/))[1]);
    const f = t.file(t.trace({ events: 2000 }));
    const sending = t.sendAll(() => c.port, [f]);
    await c.until(/cannot be written \(File too large\)/);
    const r = await c.stop();
    assert.strictEqual(r.status, 4, r.stderr);
    const again = await t.listening(['-o', dir]);
    c.port = again.port;
    await sending;
    assert.strictEqual((await again.stop()).status, 0);
    assert.deepStrictEqual(t.collected(dir), { 'r/traces-r0.jsonl': f.bytes });
});

test('no more files are open than allowed', async () => {
    const dir = t.folder();
    const c = await t.listening(['-o', dir, '--max-files', '16']);
    const files = Array.from({ length: 200 }, (_, rank) => t.file(t.trace({ rank, world: 200 }), { rank, world_size: 200 }));
    await t.sendAll(() => c.port, files);
    const open = fs.readdirSync(`/proc/${c.child.pid}/fd`).map((fd) => {
        try {
            return fs.readlinkSync(`/proc/${c.child.pid}/fd/${fd}`);
        } catch {
            return '';
        }
    }).filter((p) => p.startsWith(dir));
    assert.strictEqual(open.length, 16);
    assert.strictEqual((await c.stop()).status, 0);
    assert.strictEqual(Object.keys(t.collected(dir)).length, 200);
});

test('no more runs are taken than allowed', async () => {
    const dir = t.folder();
    const c = await t.listening(['-o', dir, '--max-streams', '3']);
    for (const run of ['a', 'b', 'c'])
        await (await t.connect(c.port, run)).end();
    const more = new t.Connection(c.port);
    const answer = await more.hello('d');
    assert.deepStrictEqual([answer.type, answer.text], ['error', 'too many connections, runs or streams']);
    await more.end();
    const known = await t.connect(c.port, 'b'); // is served as before
    await known.end();
    await c.stop();
});

test('acknowledged means on the disk, with --sync', async () => {
    for (let i = 0; i < 10; i++) { // the collector's end meets the wait for the disk in one of ten
        const dir = t.folder();
        const c = await t.listening(['-o', dir, '--sync', '--until-done']);
        const f = t.file(t.trace({ events: 2000 }));
        await t.sendAll(() => c.port, [f], { pieceBytes: 20000 });
        assert.strictEqual((await c.ended).status, 0);
        assert.deepStrictEqual(t.collected(dir), { 'r/traces-r0.jsonl': f.bytes });
    }
});

test('a socket file serves, too', async () => {
    const dir = t.folder();
    const socket = path.join(dir, 's');
    const c = t.collector(['--listen', `unix:${socket}`, '-o', path.join(dir, 'out'), '--until-done']);
    await c.until('listening on unix:');
    const f = t.file(t.trace());
    await t.sendAll(() => socket, [f]);
    assert.strictEqual((await c.ended).status, 0);
    assert.deepStrictEqual(t.collected(path.join(dir, 'out')), { 'r/traces-r0.jsonl': f.bytes });
    assert(!fs.existsSync(socket));
});
