// nats.test.js: a traced process, NATS JetStream and perf-trace-collect. SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const fs = require('fs');
const net = require('net');
const path = require('path');
const s = require('./parts.js');
const { test } = s;

const skip = s.NATS ? false : 'no nats-server, or built without libnats';
const taker = (url, dir, more = []) => s.start(s.COLLECT, ['--nats', url, '--run', 'run', '-o', dir, ...more]);

async function scene(options) {
    const here = s.folder();
    const there = s.folder();
    const store = s.folder();
    const port = await s.freePort();
    const url = `nats://127.0.0.1:${port}`;
    return { here, there, store, port, url, server: await s.nats(port, store, options),
             settings: { dir: here, rank: 0, world_size: 1, forward: url, overflow: 'block' } };
}

function ended(r) {
    assert.strictEqual(r.status, 0, r.stderr);
    assert.strictEqual(JSON.parse(r.stdout.trim().split('\n').pop()).status, 0, r.stderr);
    assert.match(r.stderr, /note: forwarded \d+ bytes/);
}

const collected = async (c) => {
    await s.until(() => c.over, () => `the collector ends; so far:\n${c.err}`, 120);
    const r = await c.done;
    assert.strictEqual(r.status, 0, r.stderr);
};

test('a run is in the stream when shutdown returns; a collector takes it afterwards', { skip }, async () => {
    const { here, there, url, settings } = await scene();
    ended(await s.worker([20000, 0, 3, 'sessions'], { ...settings, session_enabled: 1, role: 'actor' }).done);
    await collected(taker(url, there, ['--until-done']));
    const files = s.same(here, there);
    assert.deepStrictEqual(files.map((f) => path.relative(there, f)),
                           ['run/actor/sessions-r0.jsonl', 'run/actor/traces-r0.jsonl']);
    const a = s.account(files[1]);
    assert.strictEqual(a.lost, 0);
    assert.strictEqual(a.lines.filter((l) => l.name === 'work').length, 60000);
    // Another collector on the same folder has nothing to do, one on an empty folder nothing to take.
    const before = s.bytes(there);
    await collected(taker(url, there, ['--until-done', '--world-size', '1']));
    assert.strictEqual(s.bytes(there), before);
});

test('the server is killed and comes back, again and again', { skip }, async () => {
    const { here, there, store, port, url, server, settings } = await scene();
    const c = taker(url, there, ['--until-done']);
    const w = s.worker([100000, 20000, 2], settings);
    let n = server;
    for (let i = 0; i < 4; i++) {
        const before = s.bytes(there);
        await s.until(() => s.bytes(there) > before + 100000 || w.over, 'more has arrived');
        await n.kill();
        await s.sleep(200);
        n = await s.nats(port, store);
    }
    ended(await w.done);
    await collected(c);
    assert.strictEqual(s.account(s.same(here, there)[0]).lost, 0);
});

// Between worker and server: an acknowledgement is swallowed, then the connection breaks. So the last piece is stored,
// and the sender begins again before it, with a piece that goes on further; every other time with several pieces.
function swallower(port) {
    let swallowed = 0;
    const server = net.createServer((client) => {
        const up = net.connect(port, '127.0.0.1');
        let heard = 0; // acknowledgements
        client.on('data', (d) => up.write(d)).on('error', () => {}).on('close', () => up.destroy());
        up.on('data', (d) => {
            heard += /"seq": ?\d/.test(d.toString('latin1'));
            if (heard < 4)
                return client.write(d);
            swallowed++;
            setTimeout(() => client.destroy(), swallowed % 2 ? 0 : 200);
        }).on('error', () => {}).on('close', () => client.destroy());
    });
    return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(
        { port: server.address().port, swallowed: () => swallowed, close: () => server.close() })));
}

test('acknowledgements that are lost', { skip }, async () => {
    const { here, there, port, url, settings } = await scene();
    const proxy = await swallower(port);
    const c = taker(url, there, ['--until-done']);
    const w = s.worker([150000, 25000, 1], { ...settings, forward: `nats://127.0.0.1:${proxy.port}`,
                                             forward_wait_ms: 120000, flush_ms: 20 });
    ended(await w.done);
    assert.ok(proxy.swallowed() > 4, `${proxy.swallowed()} times something was swallowed`);
    await collected(c);
    assert.strictEqual(s.account(s.same(here, there)[0]).lost, 0);
    proxy.close();
});

// As when the leader of a stream dies while the server that the worker talks to lives on.
test('acknowledgements that never come: the connection is given up, nothing is lost', { skip }, async () => {
    const { here, there, port, url, settings } = await scene();
    let connections = 0;
    const proxy = net.createServer((client) => {
        const up = net.connect(port, '127.0.0.1');
        const mute = ++connections === 1;
        let heard = 0; // acknowledgements
        client.on('data', (d) => up.write(d)).on('error', () => {}).on('close', () => up.destroy());
        up.on('data', (d) => {
            heard += /"seq": ?\d/.test(d.toString('latin1'));
            if (!mute || heard < 3)
                client.write(d);
        }).on('error', () => {}).on('close', () => client.destroy());
    });
    await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const c = taker(url, there, ['--until-done']);
    const r = await s.worker([100000, 25000, 1], { ...settings, forward: `nats://127.0.0.1:${proxy.address().port}`,
                                                   forward_wait_ms: 120000, flush_ms: 20 }).done;
    ended(r);
    assert.match(r.stderr, /cannot be reached \(no acknowledgement comes\)/);
    assert.match(r.stderr, /is reached again/);
    await collected(c);
    assert.strictEqual(s.account(s.same(here, there)[0]).lost, 0);
    proxy.close();
});

// Between worker and server: counts connections; look(bytes, connection's number) says what goes on to the server.
async function between(port, look = (d) => d) {
    let connections = 0;
    const server = net.createServer((client) => {
        const up = net.connect(port, '127.0.0.1');
        const number = ++connections;
        client.on('data', (d) => up.write(look(d, number))).on('error', () => {}).on('close', () => up.destroy());
        up.on('data', (d) => client.write(d)).on('error', () => {}).on('close', () => client.destroy());
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { url: `nats://127.0.0.1:${server.address().port}`, connections: () => connections, close: () => server.close() };
}

// A request to the server's JetStream, as docs/SCALING.md makes it.
function jetstream(port, what, body) {
    return new Promise((resolve, reject) => {
        const text = JSON.stringify(body);
        const c = net.connect(port, '127.0.0.1', () => c.write(
            `CONNECT {"verbose":false}\r\nSUB answer 1\r\nPUB $JS.API.${what} answer ${text.length}\r\n${text}\r\n`));
        let told = '';
        c.on('error', reject).on('data', (d) => {
            told += d;
            const line = /^\{.*\}\r$/m.exec(told);
            if (!line)
                return;
            c.destroy();
            const answer = JSON.parse(line[0]);
            return answer.error ? reject(new Error(line[0])) : resolve(answer);
        });
    });
}

const count = (text, what) => (text.match(what) || []).length;

test('the store is full: told once and truly, however often it is tried; then there is room', { skip }, async () => {
    const { here, there, port, url, settings } = await scene();
    const limits = { name: 'perftrace_run', subjects: ['perftrace.run.data.>'], storage: 'file', retention: 'limits',
                     max_bytes: 4000, discard: 'new' };
    await jetstream(port, 'STREAM.CREATE.perftrace_run', limits);
    const way = await between(port);
    const w = s.worker([20000, 0, 1, 'hold'], { ...settings, forward: way.url, forward_wait_ms: 120000 });
    await w.told(/warning: \S+: a piece was not taken: maximum bytes exceeded; what is recorded waits in its file/);
    const before = way.connections();
    await s.until(() => way.connections() >= before + 5, 'it has tried five times more');
    assert.strictEqual(count(w.err, /maximum bytes exceeded/g), 1, w.err);
    assert.doesNotMatch(w.err, /pieces again|reached/);
    const copy = s.folder();
    s.find(here, /^traces/).forEach((f) => fs.copyFileSync(f, path.join(copy, path.basename(f))));
    const f = await s.start(s.FORWARD, [copy, '--unfinished', '--to', url, '--timeout', '4s'],
                            { PERFTRACE_TEST_NATS_LIBRARY: s.NATS_LIBRARY }).done;
    assert.strictEqual(f.status, 4, f.stderr);
    assert.match(f.stderr, /error: .*1 file with [\d,]+ bytes are left: a piece was not taken: maximum bytes exceeded/);
    assert.strictEqual(count(f.stderr, /it is tried again/g), 1, f.stderr);
    assert.doesNotMatch(f.stderr, /: reached|taken again/);
    await jetstream(port, 'STREAM.UPDATE.perftrace_run', { ...limits, max_bytes: -1 });
    await w.told(/note: \S+ takes pieces again/);
    w.child.stdin.end();
    ended(await w.done);
    await collected(taker(url, there, ['--until-done']));
    assert.strictEqual(s.account(s.same(here, there)[0]).written, 20000);
    way.close();
});

test('more replicas than servers: the warning says what the server said', { skip }, async () => {
    const { settings } = await scene();
    const r = await s.worker([1000, 0, 1], { ...settings, forward_replicas: 3, forward_wait_ms: 300 }).done;
    assert.match(r.stderr, /cannot be reached \(the stream cannot be made: replicas > 1 not supported in non-clustered mode \(10074\)\)/);
    assert.match(r.stderr, /has not acknowledged \d+ bytes/);
});

test('a server that does not answer requests: a short job says so, and does not hang', { skip }, async () => {
    const { port, settings } = await scene();
    const mute = new Set();
    const way = await between(port, (d, number) => {
        if (d.includes('$JS.API'))
            mute.add(number);
        return mute.has(number) ? '' : d;
    });
    const r = await s.worker([1000, 0, 1], { ...settings, forward: way.url, forward_wait_ms: 3000 }).done;
    assert.match(r.stderr, /cannot be reached \(the stream cannot be used: .*[Tt]imeout/);
    assert.match(r.stderr, /has not acknowledged \d+ bytes/);
    assert.doesNotMatch(r.stderr, /hangs/);
    way.close();
});

test('the collector is killed and comes back, again and again', { skip }, async () => {
    const { here, there, url, settings } = await scene();
    const w = s.worker([60000, 20000, 2], settings);
    for (let i = 0; i < 6; i++) {
        const before = s.bytes(there);
        const c = taker(url, there);
        await s.until(() => s.bytes(there) > before || w.over, 'more has arrived');
        await c.kill();
    }
    ended(await w.done);
    await collected(taker(url, there, ['--until-done']));
    assert.strictEqual(s.account(s.same(here, there)[0]).lost, 0);
});

test('the worker is killed: its file is brought there by perf-trace-forward', { skip }, async () => {
    const { here, there, url, settings } = await scene();
    const c = taker(url, there, ['--until-done']);
    const w = s.worker([1000000, 20000, 2], settings);
    await s.until(() => s.bytes(there) > 1e6, 'a part has arrived');
    await w.kill();
    const r = await s.start(s.FORWARD, [here, '--to', url], { PERFTRACE_TEST_NATS_LIBRARY: s.NATS_LIBRARY }).done;
    assert.strictEqual(r.status, 0, r.stderr);
    await collected(c);
    assert.strictEqual(s.account(s.same(here, there)[0]).lost, 0);
});

test('two jobs with the same run id and the same ranks stay apart', { skip }, async () => {
    const { here, there, url, settings } = await scene();
    const other = s.folder();
    const both = [s.worker([20000, 20000, 1], settings), s.worker([20000, 20000, 1], { ...settings, dir: other })];
    for (const w of both)
        ended(await w.done);
    await collected(taker(url, there, ['--until-done']));
    const files = s.find(there, /^traces/);
    assert.deepStrictEqual(files.map((f) => path.basename(f)), ['traces-r0.1.jsonl', 'traces-r0.jsonl']);
    const wanted = [here, other].map((d) => fs.readFileSync(path.join(d, 'traces-r0.jsonl'), 'utf8')).sort();
    assert.deepStrictEqual(files.map((f) => fs.readFileSync(f, 'utf8')).sort(), wanted);
});

test('two collectors share the load', { skip }, async () => {
    const { here, there, url, settings } = await scene();
    const both = [taker(url, there), taker(url, there)];
    const workers = [0, 1, 2, 3].map((rank) => s.worker([40000, 20000, 1],
                                                        { ...settings, rank, world_size: 4 }));
    for (const w of workers)
        ended(await w.done);
    await s.until(() => s.bytes(there) === s.bytes(here), 'all has arrived');
    for (const c of both)
        await c.kill('SIGTERM');
    s.same(here, there).forEach((f) => assert.strictEqual(s.account(f).written, 40000));
});

test('three servers keep the stream, one is killed half way', { skip }, async () => {
    const here = s.folder();
    const there = s.folder();
    const ports = [await s.freePort(), await s.freePort(), await s.freePort()];
    const routes = [await s.freePort(), await s.freePort(), await s.freePort()];
    const url = ports.map((p) => `nats://127.0.0.1:${p}`).join(',');
    const servers = await Promise.all(ports.map((p, i) => s.nats(p, s.folder(), {
        cluster: { name: `n${i}`, port: routes[i], routes: routes.map((r) => `nats://127.0.0.1:${r}`) } })));
    const c = taker(url, there, ['--until-done']);
    const w = s.worker([100000, 20000, 2], { dir: here, rank: 0, world_size: 1, forward: url, forward_replicas: 3,
                                             forward_wait_ms: 120000, overflow: 'block' });
    await s.until(() => s.bytes(there) > 1e6 || w.over, 'a part has arrived');
    await servers[0].kill();
    ended(await w.done);
    await collected(c);
    assert.strictEqual(s.account(s.same(here, there)[0]).lost, 0);
});

test('what the program does about SIGPIPE stays as it was', { skip }, async () => {
    const { here, url } = await scene();
    const r = await s.start(process.env.STREAM_LIFE, ['rank'], {
        PERFTRACE_LOG_STDERR: '1', PERFTRACE_RUN_ID: 'run', PERFTRACE_DIR: here, PERFTRACE_RANK: '0', PERFTRACE_WORLD_SIZE: '1',
        PERFTRACE_FORWARD: url, PERFTRACE_TEST_NATS_LIBRARY: s.NATS_LIBRARY }).done;
    assert.deepStrictEqual(JSON.parse(r.stdout), { status: 0, sigpipe: 'default' }, r.stderr);
    assert.match(r.stderr, /note: forwarded \d+ bytes/);
});

// A step of the sender may begin at any moment: with a question for the time, or with a piece.
test('all descriptors are closed: the sender gives libnats nothing more for the old number', { skip }, async () => {
    const { url } = await scene();
    const all = Array.from({ length: 8 }, async (_, i) => {
        await s.sleep(40 * i);
        const here = s.folder();
        const r = await s.start(process.env.STREAM_LIFE, ['close'], {
            PERFTRACE_LOG_STDERR: '1', PERFTRACE_RUN_ID: `close${i}`, PERFTRACE_DIR: here, PERFTRACE_RANK: '0',
            PERFTRACE_FORWARD: url, PERFTRACE_TEST_NATS_LIBRARY: s.NATS_LIBRARY, PERFTRACE_FORWARD_WAIT_MS: '120000' }).done;
        assert.deepStrictEqual(JSON.parse(r.stdout), { status: 0, strays: 0 }, r.stderr);
        assert.match(r.stderr, /note: forwarded \d+ bytes/);
        assert.strictEqual(s.account(s.find(here, /^traces/)[0]).written, 10000);
    });
    await Promise.all(all);
});

test('user and password, a token, and who has neither', { skip }, async () => {
    for (const [args, url, more] of [
        [['--user', 'rank', '--pass', 'pw'], (p) => `nats://rank:pw@127.0.0.1:${p}`, {}],
        [['--auth', 'secret'], (p) => `nats://127.0.0.1:${p}`, { forward_token: 'secret' }]]) {
        const { here, there, port, settings, server } = await scene({ args });
        const w = await s.worker([1000, 0, 1], { ...settings, ...more, forward: url(port) }).done;
        ended(w);
        assert.doesNotMatch(w.stderr, /\bpw\b|secret/);
        const r = await s.worker([1000, 0, 1], { ...settings, dir: s.folder(), forward_wait_ms: 200 }).done;
        assert.match(r.stderr, /cannot be reached \(.*[Aa]uthorization/);
        assert.match(r.stderr, /has not acknowledged \d+ bytes/);
        assert.doesNotMatch(r.stderr, /secret/);
        const c = s.start(s.COLLECT, ['--nats', url(port), '--run', 'run', '-o', there, '--until-done'],
                          more.forward_token ? { PERFTRACE_FORWARD_TOKEN: more.forward_token } : {});
        await collected(c);
        assert.doesNotMatch(c.err, /\bpw\b|secret/);
        s.same(here, there);
        await server.kill();
    }
});

// Whoever signs for the name NAME.
function certificate(dir, name) {
    const of = (file) => path.join(dir, `${name}.${file}`);
    const r = s.spawnSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes',
        '-days', '2', '-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', of('key'), '-out', of('crt')]);
    assert.strictEqual(r.status, 0, String(r.stderr));
    return { cert: of('crt'), key: of('key') };
}

test('TLS: who signed is known, is not known, is asked for', {
    skip: skip || (s.spawnSync('openssl', ['version']).status === 0 ? false : 'openssl is not installed'),
}, async () => {
    const keys = s.folder();
    const [server, client, other] = ['server', 'client', 'other'].map((name) => certificate(keys, name));
    const { here, there, port, settings } = await scene({ args: ['--tls', '--tlscert', server.cert, '--tlskey', server.key] });
    const url = `tls://127.0.0.1:${port}`;
    ended(await s.worker([10000, 0, 2], { ...settings, forward: url, forward_tls_ca: server.cert }).done);
    // Another signer, none that the system knows, and no TLS at all.
    for (const [forward, ca] of [[url, other.cert], [url, ''], [`nats://127.0.0.1:${port}`, '']]) {
        const r = await s.worker([1000, 0, 1], { ...settings, dir: s.folder(), forward, forward_tls_ca: ca,
                                                 forward_wait_ms: 500, run_id: 'refused' }).done;
        assert.match(r.stderr, /cannot be reached \(/);
        assert.match(r.stderr, /has not acknowledged \d+ bytes/);
    }
    const w = s.worker([1000000, 20000, 1], { ...settings, rank: 1, forward: url, forward_tls_ca: server.cert });
    await s.until(() => s.find(here, /^traces-r1/).some((f) => fs.statSync(f).size > 1e6), 'it has written some');
    await w.kill();
    const f = await s.start(s.FORWARD, [here, '--to', url], { PERFTRACE_TEST_NATS_LIBRARY: s.NATS_LIBRARY,
                                                              PERFTRACE_FORWARD_TLS_CA: server.cert }).done;
    assert.strictEqual(f.status, 0, f.stderr);
    const wrong = s.start(s.COLLECT, ['--nats', url, '--run', 'run', '-o', there, '--tls-ca', other.cert, '--timeout', '2s']);
    assert.strictEqual((await wrong.done).status, 3);
    assert.doesNotMatch(wrong.err, /connected to/);
    await collected(taker(url, there, ['--until-done', '--world-size', '2', '--tls-ca', server.cert]));
    s.same(here, there).forEach((file) => assert.strictEqual(s.account(file).lost, 0));
    // The server wants a certificate of its clients, too.
    const strict = await scene({ args: ['--tlsverify', '--tlscacert', client.cert, '--tlscert', server.cert,
                                        '--tlskey', server.key] });
    const its = `tls://127.0.0.1:${strict.port}`;
    const refused = taker(its, strict.there, ['--tls-ca', server.cert, '--timeout', '2s']);
    assert.strictEqual((await refused.done).status, 3);
    const c = taker(its, strict.there, ['--tls-ca', server.cert, '--tls-cert', client.cert, '--tls-key', client.key]);
    await c.told(/connected to/);
    await c.kill('SIGTERM');
});

test('a collector that is started again when all was collected ends at once, if it knows of which run', { skip }, async () => {
    const { there, url, settings } = await scene();
    ended(await s.worker([10000, 0, 1], settings).done);
    for (let i = 0; i < 2; i++) {
        const c = taker(url, there, ['--until-done']);
        await s.until(() => c.over, () => `it ends; so far:\n${c.err}`, 20);
        await collected(c);
        assert.match(c.err, /run run: 10,000 events of 1 rank/);
    }
});
