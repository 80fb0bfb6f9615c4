// collect_nats.test.js: perf-trace-collect from a real nats-server. SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const fs = require('fs');
const nodeTest = require('node:test');
const zlib = require('zlib');
const t = require('./nats_tool.js');

const built = !t.run(t.TOOL, ['--nats', 'nats://127.0.0.1:1', '--tls-key', 'x']).stderr.includes('built without');
const skip = !built ? 'built without libnats' : !t.available ? 'nats-server is not installed' : false;
const test = (name, fn) => nodeTest(name, { skip }, fn);

// Takes a random but repeatable choice.
function random(seed) {
    let x = seed;
    return () => (x = (x * 1103515245 + 12345) % 2147483648) / 2147483648;
}

async function putAll(c, files, pieceBytes) {
    for (const f of files) {
        for (const [from, to] of t.pieces(f, pieceBytes)) {
            const ack = await t.put(c, f, from, to);
            assert(ack.stream, JSON.stringify(ack));
        }
    }
}

const manyFiles = (n, more = {}) => Array.from({ length: n }, (_, rank) =>
    t.file(t.trace({ rank, world: n, events: 400, ...more }), { rank, world_size: n }));

// Until a file of the folder has so many bytes.
const untilBytes = (file, size) => t.until(() => fs.existsSync(file) && fs.statSync(file).size >= size,
                                           () => `${file} has ${size} bytes`);
const untilStream = (c, stream) => t.until(async () => !(await c.api(`STREAM.INFO.${stream}`)).error,
                                           () => `the server has the stream ${stream}`);

function assertCollected(dir, files) {
    const got = t.collected(dir);
    assert.strictEqual(Object.keys(got).length, files.length);
    for (const f of files)
        assert(got[`${f.keys.run}/${f.keys.name}`].equals(f.bytes), f.keys.name);
}

test('what a server keeps is collected, duplicates once', async () => {
    const server = await t.server();
    const c = await t.client(server.port);
    await t.makeStream(c);
    const files = manyFiles(3);
    await putAll(c, files, 5000);
    // The same id is dropped by the server, another id by the collector.
    assert.strictEqual((await t.put(c, files[0], ...t.pieces(files[0], 5000)[1])).duplicate, true);
    for (const [from, to] of t.pieces(files[1], 5000))
        assert.strictEqual((await t.put(c, files[1], from, to, {}, `again-${from}`)).duplicate, undefined);
    const dir = t.folder();
    const r = await t.collector(['--nats', server.url, '--run', 'r', '-o', dir, '--until-done']).ended;
    assert.strictEqual(r.status, 0, r.stderr);
    assert.match(r.stderr, /run r: 1,200 events of 3 ranks in 3 files; 0 dropped/);
    assertCollected(dir, files);
    const { num_pending: pending, num_ack_pending: unacked, config } = await c.api('CONSUMER.INFO.perftrace_r.collect');
    assert.strictEqual(config.ack_wait, 10e9); // ns
    assert.deepStrictEqual([pending, unacked], [0, 0]);
    await c.end();
    await server.kill();
});

test('all runs of a server, a stream that is made by the collector, an empty last piece', async () => {
    const server = await t.server();
    const c = await t.client(server.port);
    const dir = t.folder();
    const all = t.collector(['--nats', server.url, '-o', dir]);
    const one = t.collector(['--nats', server.url, '-o', dir, '--run', 'one.two', '--until-done']);
    await one.until('connected to');
    await untilStream(c, 'perftrace_one_two');
    await t.makeStream(c, 'other');
    const f = { ...t.file(t.trace(), { run: 'one.two' }), whole: false };
    const g = t.file(t.trace({ start: 2 }), { run: 'other' });
    await putAll(c, [f, g], 300);
    await t.put(c, f, f.bytes.length, f.bytes.length, { last: true });
    const r = await one.ended;
    assert.strictEqual(r.status, 0, r.stderr);
    await untilBytes(`${dir}/other/traces-r0.jsonl`, g.bytes.length);
    const end = await all.stop();
    assert.strictEqual(end.status, 0, end.stderr);
    assert.deepStrictEqual(t.collected(dir),
                           { 'one_two/traces-r0.jsonl': f.bytes, 'other/traces-r0.jsonl': g.bytes });
    await c.end();
    await server.kill();
});

test('that a file is at its end is told to another collector: it is seen all the same', async () => {
    const server = await t.server();
    const c = await t.client(server.port);
    const dir = t.folder();
    const one = t.collector(['--nats', server.url, '-o', dir, '--run', 'r', '--until-done']);
    await untilStream(c, 'perftrace_r');
    const f = { ...t.file(t.trace()), whole: false };
    const idle = async () => {
        const i = await c.api('CONSUMER.INFO.perftrace_r.collect');
        return i.num_pending === 0 && i.num_ack_pending === 0;
    };
    await putAll(c, [f], 300);
    await untilBytes(`${dir}/r/traces-r0.jsonl`, f.bytes.length);
    await t.until(idle, 'all is acknowledged');
    one.child.kill('SIGSTOP');
    await t.until(async () => (await c.api('CONSUMER.INFO.perftrace_r.collect')).num_waiting === 0, 'it has asked for nothing');
    const all = t.collector(['--nats', server.url, '-o', dir]);
    await t.until(async () => (await c.api('CONSUMER.INFO.perftrace_r.collect')).num_waiting > 0, 'another one asks');
    await t.put(c, f, f.bytes.length, f.bytes.length, { last: true });
    await t.until(idle, 'it took it');
    one.child.kill('SIGCONT');
    const r = await one.ended;
    assert.strictEqual(r.status, 0, r.stderr);
    assert.strictEqual((await all.stop()).status, 0);
    await c.end();
    await server.kill();
});

test('pieces in any order and with other borders', async () => {
    const server = await t.server();
    const c = await t.client(server.port);
    await t.makeStream(c);
    const rand = random(7);
    const files = manyFiles(2, { events: 2000 });
    const all = files.flatMap((f) => [...t.pieces(f, 3000).map((p) => [f, ...p]), ...t.pieces(f, 4700).map((p) => [f, ...p])]);
    all.sort(() => rand() - 0.5);
    for (const [f, from, to] of all)
        await t.put(c, f, from, to, {}, `${f.keys.stream}-${from}-${to}`);
    const dir = t.folder();
    const r = await t.collector(['--nats', server.url, '--run', 'r', '-o', dir, '--until-done']).ended;
    assert.strictEqual(r.status, 0, r.stderr);
    assertCollected(dir, files);
    await c.end();
    await server.kill();
});

test('what is no piece of the run is refused and does not come again', async () => {
    const server = await t.server();
    const c = await t.client(server.port);
    await t.makeStream(c);
    const [f] = manyFiles(1);
    await c.request('perftrace.r.data.0.x', 'garbage');
    await c.request('perftrace.r.data.0.x', '{"type": "clock", "t1": "1"}\n');
    await t.put(c, f, 0, t.borders(f.bytes)[9], { run: 'another' }, 'a');
    await t.put(c, f, 0, t.borders(f.bytes)[9], { size: 17 }, 'b');
    await putAll(c, [f], 4000);
    const dir = t.folder();
    const r = await t.collector(['--nats', server.url, '--run', 'r', '-o', dir, '--until-done']).ended;
    assert.strictEqual(r.status, 1, r.stderr);
    assert.match(r.stderr, /a piece that does not unpack to its size is refused/);
    assertCollected(dir, [f]);
    const info = await c.api('CONSUMER.INFO.perftrace_r.collect');
    assert.deepStrictEqual([info.num_pending, info.num_ack_pending], [0, 0]);
    await c.end();
    await server.kill();
});

test('what an untrusted client publishes: each is refused once, told once and counted, the rest is as it was', async () => {
    const server = await t.server();
    const c = await t.client(server.port);
    await t.makeStream(c);
    // So that what is not ended would come again while the test looks.
    await c.api('CONSUMER.DURABLE.CREATE.perftrace_r.collect', { stream_name: 'perftrace_r', config: {
        durable_name: 'collect', ack_policy: 'explicit', ack_wait: 1000000000, max_ack_pending: 20000 } });
    const [f] = manyFiles(1);
    const pieces = t.pieces(f, 3000);
    const fake = { stream: 'f'.repeat(16), name: 'traces-r99.jsonl', rank: 99, world_size: 100 };
    const [from, to] = pieces[0];
    const packed = zlib.deflateSync(f.bytes.subarray(from, to));
    const changed = { ...f, bytes: Buffer.from(f.bytes) };
    changed.bytes[pieces[0][1] - 20] ^= 1;
    let ids = 0;
    const publish = (more, body) => {
        const line = JSON.stringify({ type: 'data', ...f.keys, offset: from, size: to - from, packed: packed.length, ...more });
        return c.request('perftrace.r.data.0.x', Buffer.concat([Buffer.from(line + '\n'), body ?? packed]));
    };
    const wrong = async () => {
        for (const text of ['garbage', '', '\n', 'not JSON\n', '[]\n', '{"type": "clock", "t1": "1"}\n', '{"type": "data", "v": 1}\n'])
            await c.request('perftrace.r.data.0.x', text);
        await c.request('perftrace.r.data.0.x', '', { Status: '404' }); // as if the server said so
        await publish({ packed: packed.length + 1 }); // wrong lengths
        await publish({ size: 5 << 20 });
        await publish({ rank: 'zero' }); // wrong schema
        await publish({ kind: 'profile' });
        await publish({ stream: 17 });
        await publish({ v: 2 });
        await publish({ ...fake, name: '../../up.jsonl' });
        for (const keys of [{}, fake]) {
            await publish({ ...keys, run: 'another' });
            await publish({ ...keys, size: to - from - 1 });
            await publish(keys, Buffer.concat([packed.subarray(0, 20), Buffer.alloc(packed.length - 20)]));
            await t.put(c, f, from, to - 3, keys, `line-${ids++}`);
        }
    };
    await wrong();
    await t.put(c, f, ...pieces[0]);
    await t.put(c, changed, from, pieces[1][1], { rank: 99 }, 'overlap'); // longer than what is there, with other bytes
    await wrong();
    await putAll(c, [f], 3000);
    await t.put(c, f, ...pieces[1], { kind: 'sessions', name: 'sessions-r0.jsonl' }, 'kind');
    await wrong();
    const { messages } = (await c.api('STREAM.INFO.perftrace_r')).state;
    const dir = t.folder();
    const collector = t.collector(['--nats', server.url, '--run', 'r', '-o', dir, '--status', '0', '-v']);
    const port = (await collector.until(/status at http:\/\/127\.0\.0\.1:(\d+)/))[1];
    const info = () => c.api('CONSUMER.INFO.perftrace_r.collect');
    await t.until(async () => (await info()).ack_floor.stream_seq >= messages, 'the server has an answer for each message');
    await t.sleep(1500);
    const { num_pending: pending, num_ack_pending: unacked, num_redelivered: again, delivered } = await info();
    assert.deepStrictEqual([pending, unacked, again, delivered.consumer_seq], [0, 0, 0, messages]);
    const state = await (await fetch(`http://127.0.0.1:${port}/status`)).json();
    assert.deepStrictEqual(state.pieces_refused, { unpack: 12, line: 6, overlap: 1, garbage: 46, run: 6 });
    assert.deepStrictEqual(state.ranks.map((r) => [r.rank, r.state, r.bytes]), [[0, 'ended', f.bytes.length]]);
    assert.deepStrictEqual([state.runs[0].ranks_wanted, state.runs[0].done], [1, 'yes']);
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    assert.match(metrics, /perftrace_collect_pieces_refused_total\{cause="garbage"\} 46/);
    const r = await collector.stop();
    assert.strictEqual(r.status, 1, r.stderr);
    assert.strictEqual(r.stderr.match(/is refused/g).length, 71, r.stderr);
    for (const cause of ['it has no line', 'another type', 'another version', 'it is not as long as it says', 'a name that is no file name', 'of another kind before',
                         'a piece of another run is refused', 'offset 0: a piece that does not unpack to its size is refused',
                         'offset 0: a piece that does not end with a line is refused', 'with other bytes than are there is refused'])
        assert(r.stderr.includes(cause), `${cause}:\n${r.stderr}`);
    assertCollected(dir, [f]);
    await c.end();
    await server.kill();
});

test('the clock is answered', async () => {
    const server = await t.server();
    const c = await t.client(server.port);
    const collector = t.collector(['--nats', server.url, '--run', 'r', '-o', t.folder()]);
    const boot = fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    await t.until(() => c.request('perftrace.r.clock', '{"type": "clock", "t1": "a"}\n').catch(() => null),
                  'the collector answers the clock');
    const before = process.hrtime.bigint();
    for (const subject of ['perftrace.r.clock', `perftrace.r.clock.${boot}`]) {
        const m = JSON.parse(await c.request(subject, '{"type": "clock", "t1": "b"}\n'));
        assert.deepStrictEqual([m.type, m.t1, m.ref], ['clock', 'b', boot]);
        assert(BigInt(m.t2) <= BigInt(m.t3) && BigInt(m.t3) - BigInt(m.t2) < process.hrtime.bigint() - before);
    }
    assert.strictEqual((await collector.stop()).status, 0);
    await c.end();
    await server.kill();
});

test('collectors, one of which is killed again and again, share the work; nothing is lost or twice', async () => {
    const server = await t.server();
    const c = await t.client(server.port);
    await t.makeStream(c);
    // As an older collector left it, but without its long patience.
    await c.api('CONSUMER.DURABLE.CREATE.perftrace_r.collect', { stream_name: 'perftrace_r', config: {
        durable_name: 'collect', ack_policy: 'explicit', ack_wait: 1000000000, max_ack_pending: 20000 } });
    const dir = t.folder();
    const files = manyFiles(8, { events: 3000, pad: 50 });
    const args = ['--nats', server.url, '--run', 'r', '-o', dir, '--until-done'];
    const steady = t.collector(args);
    let done = false;
    const putting = putAll(c, files, 2000).finally(() => { done = true; });
    putting.catch(() => {}); // it is awaited below
    const rand = random(3);
    let kills = 0;
    while (!done) {
        const other = t.collector(args);
        await t.sleep(30 + rand() * 150);
        await other.stop('SIGKILL');
        kills++;
    }
    await putting;
    const r = await steady.ended;
    assert(kills > 3, `${kills} kills`);
    assert.strictEqual(r.status, 0, r.stderr);
    assertCollected(dir, files);
    await c.end();
    await server.kill();
});

test('a piece that comes late, when another collector has written the rest: the end is seen', async () => {
    const server = await t.server();
    const c = await t.client(server.port);
    await t.makeStream(c);
    const dir = t.folder();
    const [f] = manyFiles(1);
    const pieces = t.pieces(f, 3000);
    const collector = t.collector(['--nats', server.url, '--run', 'r', '-o', dir, '--until-done']);
    await t.put(c, f, ...pieces[0]);
    await untilBytes(`${dir}/r/traces-r0.jsonl`, pieces[0][1]);
    await t.put(c, f, ...pieces[2]);
    await t.until(async () => (await c.api('CONSUMER.INFO.perftrace_r.collect')).num_ack_pending === 1, 'a piece waits');
    fs.appendFileSync(`${dir}/r/traces-r0.jsonl`, f.bytes.subarray(pieces[0][1])); // as the other collector does
    const r = await collector.ended;
    assert.strictEqual(r.status, 0, r.stderr);
    assertCollected(dir, [f]);
    await c.end();
    await server.kill();
});

test('nats-server is killed and started again', async () => {
    const server = await t.server();
    let c = await t.client(server.port);
    await t.makeStream(c);
    const dir = t.folder();
    const files = manyFiles(4, { events: 1500 });
    const collector = t.collector(['--nats', server.url, '--run', 'r', '-o', dir, '--until-done']);
    const all = files.flatMap((f) => t.pieces(f, 1500).map((p) => [f, ...p]));
    const end = Date.now() + 240000;
    for (let i = 0, kill = 40; i < all.length;) {
        assert(Date.now() < end, `after 240 s ${all.length - i} of ${all.length} pieces are not stored yet`);
        if (i === kill) {
            await server.kill();
            await c.closed;
            await server.start();
            c = await t.client(server.port);
            i = Math.max(0, i - 30); // what the server may not have had on its disk
            kill += 90;
        }
        const ack = await t.put(c, ...all[i]).catch(() => null);
        if (ack?.stream)
            i++;
        else
            await t.sleep(50);
    }
    const r = await collector.ended;
    assert.strictEqual(r.status, 0, r.stderr);
    assert.match(r.stderr, /connection to the NATS server is lost/);
    assertCollected(dir, files);
    await c.end();
    await server.kill();
});

test('a file beyond --max-streams holds up nobody, and nothing of it is lost', async () => {
    const server = await t.server();
    const c = await t.client(server.port);
    await t.makeStream(c);
    const files = manyFiles(2);
    const [mine, other] = files.map((f) => t.pieces(f, 600));
    const seq = new Map(); // of each message its file
    for (let i = 0; i < mine.length; i++) { // they take turns
        seq.set((await t.put(c, files[0], ...mine[i])).seq, 0);
        if (other[i])
            seq.set((await t.put(c, files[1], ...other[i])).seq, 1);
    }
    const answers = [[], []]; // of each file's messages
    c.subscribe('$JS.ACK.perftrace_r.collect.>', ({ subject, data }) => {
        if (!data.toString().startsWith('+WPI'))
            answers[seq.get(Number(subject.split('.')[5]))]?.push(data.toString());
    });
    const dir = t.folder();
    const args = ['--nats', server.url, '--run', 'r', '-o', dir];
    const few = t.collector([...args, '--max-streams', '1']);
    await untilBytes(`${dir}/r/traces-r0.jsonl`, files[0].bytes.length);
    await t.until(() => answers[0].length >= mine.length && answers[1].length >= other.length, 'the server has all answers');
    assert.deepStrictEqual(new Set(answers[0]), new Set(['+ACK'])); // each at once
    assert(answers[1].every((a) => /^-NAK \{"delay": \d+\}$/.test(a)), answers[1][0]);
    const end = await few.stop();
    assert.strictEqual(end.stderr.match(/perftrace_r: there are more files than --max-streams allows/g).length, 1, end.stderr);
    assert.deepStrictEqual(Object.keys(t.collected(dir)), ['r/traces-r0.jsonl']);
    const r = await t.collector([...args, '--until-done']).ended;
    assert.strictEqual(r.status, 0, r.stderr);
    assertCollected(dir, files);
    await c.end();
    await server.kill();
});

test('a run beyond --max-streams is told once and waits with the server', async () => {
    const server = await t.server();
    const c = await t.client(server.port);
    const files = ['one', 'two'].map((run, i) => t.file(t.trace({ start: i + 1 }), { run }));
    for (const f of files)
        await t.makeStream(c, f.keys.run);
    await putAll(c, files, 300);
    const dir = t.folder();
    const few = t.collector(['--nats', server.url, '-o', dir, '--max-streams', '1']);
    const [, waits] = await few.until(/perftrace_(one|two): there are more runs than --max-streams allows/);
    const taken = files.filter((f) => f.keys.run !== waits);
    await untilBytes(`${dir}/${taken[0].keys.run}/traces-r0.jsonl`, taken[0].bytes.length);
    const end = await few.stop();
    assert.strictEqual(end.stderr.match(/--max-streams/g).length, 1, end.stderr);
    assertCollected(dir, taken);
    const all = t.collector(['--nats', server.url, '-o', dir]);
    for (const f of files)
        await untilBytes(`${dir}/${f.keys.run}/traces-r0.jsonl`, f.bytes.length);
    assert.strictEqual((await all.stop()).status, 0);
    assertCollected(dir, files);
    await c.end();
    await server.kill();
});

test('one file for all ranks: a second collector holds nothing up, and goes on when the first is killed', async () => {
    const server = await t.server();
    const c = await t.client(server.port);
    await t.makeStream(c);
    const dir = t.folder();
    const files = manyFiles(3, { events: 600 });
    const args = ['--nats', server.url, '--run', 'r', '-o', dir, '--one-file', 'all.jsonl', '--until-done'];
    await putAll(c, files.slice(0, 1), 3000);
    const first = t.collector(args);
    await untilBytes(`${dir}/r/all.jsonl`, files[0].bytes.length);
    const second = t.collector(args);
    await putAll(c, files.slice(1, 2), 3000);
    // Until the second one was given a piece, too.
    let n = 0;
    await t.until(async () => {
        await t.put(c, files[1], ...t.pieces(files[1], 3000)[0], {}, `again-${n++}`);
        await t.sleep(50);
        return second.stderr.includes('another collector has it');
    }, () => `the second collector is given a piece; it says:\n${second.stderr}`);
    await untilBytes(`${dir}/r/all.jsonl`, files[0].bytes.length + files[1].bytes.length);
    await first.stop('SIGKILL');
    await putAll(c, files.slice(2), 3000);
    const r = await second.ended;
    assert.strictEqual(r.status, 0, r.stderr);
    const lines = t.collected(dir)['r/all.jsonl'].toString().split('\n').filter(Boolean);
    for (const f of files)
        assert.strictEqual(lines.filter((l) => l.includes(`"pid": ${f.keys.pid},`)).join('\n') + '\n', f.bytes.toString());
    await c.end();
    await server.kill();
});

test('a server that is not there yet, and one that wants a token', async () => {
    const port = await t.freePort();
    const dir = t.folder();
    const collector = t.collector(['--nats', `nats://secret@127.0.0.1:${port}`, '--run', 'r', '-o', dir, '--until-done']);
    await collector.until('no NATS server is reached');
    const wrong = t.collector(['--nats', `nats://wrong@127.0.0.1:${port}`, '--run', 'r', '-o', dir]);
    const server = await new t.Server(port, t.folder(), ['--auth', 'secret']).start();
    const c = await t.client(port, { auth_token: 'secret' });
    await collector.until('connected to');
    await untilStream(c, 'perftrace_r');
    const files = manyFiles(1);
    await putAll(c, files, 5000);
    const { status, stderr } = await collector.ended;
    assert.strictEqual(status, 0);
    assert.match(stderr, /connected to nats:\/\/\.\.\.@127\.0\.0\.1/);
    assert.doesNotMatch(stderr, /secret/);
    assertCollected(dir, files);
    const end = await wrong.stop();
    assert.match(end.stderr, /no NATS server is reached \(Authorization|no NATS server is reached/);
    assert.doesNotMatch(end.stderr, /connected to/);
    await c.end();
    await server.kill();
});

nodeTest('a URL that is none, and files of TLS that cannot be read or hold no certificates', { skip }, () => {
    const dir = t.files({ 'ca.pem': 'no certificate\n', 'job.creds': '' });
    const said = (args) => t.run(t.TOOL, ['-o', dir, '--timeout', '100ms', ...args], { cwd: dir });
    const http = said(['--nats', 'http://user:pw@127.0.0.1:1']);
    assert.strictEqual(http.status, 2);
    assert.match(http.stderr, /--nats http:\/\/\.\.\.@127\.0\.0\.1:1: a URL is nats:\/\/HOST or tls:\/\/HOST$/m);
    for (const option of ['--creds', '--tls-ca', '--tls-cert']) {
        const r = said(['--nats', 'tls://127.0.0.1:1', option, 'none']);
        assert.strictEqual(r.status, 3, option);
        assert.match(r.stderr, new RegExp(`error: ${option} none: No such file or directory$`, 'm'));
    }
    const bad = said(['--nats', 'tls://127.0.0.1:1', '--tls-ca', 'ca.pem']);
    assert.strictEqual(bad.status, 3);
    assert.match(bad.stderr, /error: --nats: [ -~]*ca\.pem[ -~]*$/m);
});
