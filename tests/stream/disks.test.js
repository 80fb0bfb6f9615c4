// disks.test.js: disks that are slow, full or broken, and directories that somebody takes away, on both sides while a
// process forwards. SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const s = require('./parts.js');
const { test } = s;

const SHIM = process.env.STREAM_FAULT_SHIM || '';
const shim = SHIM ? false : 'without the shim of tests/fault';
const noNats = s.NATS ? false : 'no nats-server, or built without libnats';
const sanitized = process.env.STREAM_SANITIZED === '1';
const EROFS = 30;
const ENOSPC = 28;

// Both ways: where workers forward to, and a collector with an environment of its own.
const WAYS = {
    TCP: { skip: false, open: async (there) => {
        const port = await s.freePort();
        return { forward: `tcp:127.0.0.1:${port}`, collect: async (more = [], env = {}) => {
            const c = s.start(s.COLLECT, ['--listen', String(port), '-o', there, '--until-done', '--status', '0', ...more], env);
            await c.told(/listening/);
            return c;
        } };
    } },
    NATS: { skip: noNats, open: async (there) => {
        const port = await s.freePort();
        const forward = `nats://127.0.0.1:${port}`;
        await s.nats(port, s.folder());
        return { forward, collect: async (more = [], env = {}) => {
            const c = s.start(s.COLLECT, ['--nats', forward, '--run', 'run', '-o', there, '--until-done', '--status', '0', ...more], env);
            await c.told(/connected to/);
            return c;
        } };
    } },
};

async function scene(way) {
    const [here, there] = [s.folder(), path.join(s.folder(), 'collected')];
    const { forward, collect } = await WAYS[way].open(there);
    return { here, there, collect, settings: { dir: here, rank: 0, world_size: 1, forward, forward_wait_ms: 120000 } };
}

async function status(c) {
    const [, port] = await c.told(/status at http:\/\/127\.0\.0\.1:(\d+)/);
    return (await fetch(`http://127.0.0.1:${port}/status`)).json();
}

async function ended(p, what, wanted = 0) {
    await s.until(() => p.over, () => `${what} ends; so far:\n${p.err}`, 150);
    const r = await p.done;
    assert.strictEqual(r.status, wanted, r.stderr);
    return r;
}

async function stopped(w) {
    w.child.stdin.end();
    const r = await ended(w, 'the worker');
    assert.strictEqual(JSON.parse(r.stdout.trim().split('\n').pop()).status, 0, r.stderr);
    return r;
}

// ---- the collector's disk ----

for (const way of Object.keys(WAYS))
    test(`the collector's disk stands still, then is slow, by ${way}: workers go on, memory is bounded`, { skip: shim || WAYS[way].skip }, async () => {
        const { here, there, collect, settings } = await scene(way);
        const block = path.join(s.folder(), 'block');
        fs.writeFileSync(block, '');
        const c = await collect(['--sync'], { LD_PRELOAD: SHIM, FAULT_BLOCK: block, FAULT_DELAY_MS: '40' });
        const ranks = [0, 1, 2, 3];
        const workers = ranks.map((rank) => s.worker([100000, 0, 1, 'hold'], { ...settings, rank, world_size: 4 }));
        for (const w of workers)
            await w.told(/holding/); // all is recorded while not one byte can be written there
        assert.strictEqual(s.bytes(there), 0);
        fs.unlinkSync(block);
        let seen;
        await s.until(async () => (seen = await status(c)).ranks.some((r) => r.lag_s > 0 && r.events > 0 && r.events < 100000), 'a rank that lags is shown');
        assert.strictEqual(seen.collector.failing, null);
        const peak = Number(fs.readFileSync(`/proc/${c.child.pid}/status`, 'utf8').match(/VmHWM:\s+(\d+)/)[1]);
        for (const w of workers)
            assert.match((await stopped(w)).stderr, /note: forwarded \d+ bytes/);
        const most = c.over ? peak : Math.max(peak, Number(fs.readFileSync(`/proc/${c.child.pid}/status`, 'utf8').match(/VmHWM:\s+(\d+)/)?.[1] ?? 0));
        await ended(c, 'the collector');
        assert(s.bytes(there) > 15e6, `${s.bytes(there)} bytes`);
        assert(most < 40000 || sanitized, `${most} kB`);
        for (const f of s.same(here, there))
            assert.strictEqual(s.account(f).emitted, 100000);
    });

test('many small pieces and a slow disk, by NATS: they are not given a second time, and the state is told meanwhile', { skip: shim || noNats }, async () => {
    const tool = require('../cli/nats_tool.js');
    const there = s.folder();
    const port = await s.freePort();
    await s.nats(port, s.folder());
    const client = await tool.client(port);
    await tool.makeStream(client);
    const f = tool.file(tool.trace({ events: 297 }));
    const pieces = tool.pieces(f, 1); // a line each
    for (const [from, to] of pieces)
        await tool.put(client, f, from, to);
    // Longer than the server waits for an answer.
    const c = s.start(s.COLLECT, ['--nats', `nats://127.0.0.1:${port}`, '--run', 'r', '-o', there, '--until-done', '--status', '0'],
                      { LD_PRELOAD: SHIM, FAULT_DELAY_MS: '50' });
    let seen = [];
    await s.until(async () => (seen = (await status(c)).ranks).length > 0 && seen[0].bytes > 0, 'the state is told');
    assert(seen[0].bytes < f.bytes.length / 2, `${seen[0].bytes} of ${f.bytes.length}`);
    await ended(c, 'the collector');
    const { delivered, num_redelivered: again } = await client.api('CONSUMER.INFO.perftrace_r.collect');
    assert.deepStrictEqual([delivered.consumer_seq, again], [pieces.length, 0]);
    assert(fs.readFileSync(path.join(there, 'r/traces-r0.jsonl')).equals(f.bytes));
    await client.end();
});

for (const way of Object.keys(WAYS))
    test(`the collector's disk turns read-only for a while, by ${way}: it is told once, nothing is lost`, { skip: shim || WAYS[way].skip }, async () => {
        const { here, there, collect, settings } = await scene(way);
        const fail = path.join(s.folder(), 'fail');
        const c = await collect([], { LD_PRELOAD: SHIM, FAULT_FAIL: fail, FAULT_ERRNO: EROFS });
        const w = s.worker([1e9, 5000, 2, 'end'], settings);
        await s.until(() => s.bytes(there) > 100000, 'a part has arrived');
        fs.writeFileSync(fail, '');
        await c.told(/cannot be written \(Read-only file system\)/);
        assert.strictEqual((await status(c)).collector.failing, 'Read-only file system');
        const [mine, theirs] = [s.bytes(here), s.bytes(there)];
        await s.until(() => s.bytes(here) > mine + 500000, 'the worker goes on');
        assert.strictEqual(s.bytes(there), theirs);
        fs.unlinkSync(fail);
        await c.told(/is being written again/);
        assert.match((await stopped(w)).stderr, /note: forwarded \d+ bytes/);
        const r = await ended(c, 'the collector');
        assert.strictEqual(r.stderr.match(/cannot be written/g).length, 1, r.stderr);
        s.account(s.same(here, there)[0]);
    });

for (const way of Object.keys(WAYS))
    test(`a file that the collector could make but not write is removed, by ${way}: it is made anew`, { skip: shim || WAYS[way].skip }, async () => {
        const { here, there, collect, settings } = await scene(way);
        const fail = path.join(s.folder(), 'fail');
        fs.writeFileSync(fail, '');
        const c = await collect([], { LD_PRELOAD: SHIM, FAULT_FAIL: fail, FAULT_ERRNO: ENOSPC });
        const w = s.worker([1e9, 5000, 2, 'end'], settings);
        await c.told(/cannot be written \(No space left on device\)/);
        const [made] = s.find(there, /^traces/);
        assert.strictEqual(fs.statSync(made).size, 0);
        fs.unlinkSync(made);
        fs.unlinkSync(fail);
        await s.until(() => s.bytes(there) > 300000, 'a part has arrived');
        assert.match((await stopped(w)).stderr, /note: forwarded \d+ bytes/);
        const r = await ended(c, 'the collector');
        assert.doesNotMatch(r.stderr, /was removed or cut by somebody/);
        s.account(s.same(here, there)[0]);
    });

for (const way of Object.keys(WAYS))
    for (const [what, happens] of [['removed', (there) => fs.rmSync(there, { recursive: true })],
                                   ['renamed', (there) => fs.renameSync(there, `${there}.old`)]])
        test(`the collector's directory is ${what}, by ${way}: it is told, and all is collected again`, { skip: WAYS[way].skip }, async () => {
            const { here, there, collect, settings } = await scene(way);
            const c = await collect();
            const w = s.worker([1e9, 5000, 2, 'end'], settings);
            for (let i = 0; i < 2; i++) {
                await s.until(() => s.bytes(there) > 300000, 'a part has arrived');
                happens(there);
                await s.until(() => s.bytes(there) > 300000, 'it is there again');
                fs.rmSync(`${there}.old`, { recursive: true, force: true });
            }
            assert.strictEqual((await status(c)).collector.files_gone, 2);
            assert.match((await stopped(w)).stderr, /note: forwarded \d+ bytes/);
            const r = await ended(c, 'the collector');
            assert.strictEqual(r.stderr.match(/was removed or cut by somebody/g).length, 2, r.stderr);
            s.account(s.same(here, there)[0]);
        });

test('the collector has no memory for a connection: it is taken as soon as there is some', { skip: shim }, async () => {
    const { here, there, collect, settings } = await scene('TCP');
    const fail = path.join(s.folder(), 'fail');
    const c = await collect([], { LD_PRELOAD: SHIM, FAULT_CALLOC: fail });
    fs.writeFileSync(fail, '');
    const w = s.worker([1e9, 5000, 2, 'end'], settings);
    await s.until(() => s.bytes(here) > 300000, 'the worker goes on');
    assert.strictEqual(s.bytes(there), 0);
    fs.unlinkSync(fail);
    await s.until(() => s.bytes(there) > 300000, 'it arrives');
    assert.match((await stopped(w)).stderr, /note: forwarded \d+ bytes/);
    await ended(c, 'the collector');
    s.account(s.same(here, there)[0]);
});

// ---- the worker's ----

for (const way of Object.keys(WAYS))
    test(`the worker's disk turns read-only for a while, by ${way}: what was written arrives, the rest is counted`, { skip: shim || WAYS[way].skip }, async () => {
        const { here, there, collect, settings } = await scene(way);
        const fail = path.join(s.folder(), 'fail');
        const c = await collect();
        const w = s.start(s.WORKER, [String(1e9), '20000', '2', 'end'], {
            ...Object.fromEntries(Object.entries(settings).map(([k, v]) => [`PERFTRACE_${k.toUpperCase()}`, String(v)])),
            PERFTRACE_LOG_STDERR: '1', PERFTRACE_RUN_ID: 'run', PERFTRACE_RING_SIZE: '256K', PERFTRACE_TEST_NATS_LIBRARY: s.NATS_LIBRARY,
            LD_PRELOAD: SHIM, FAULT_FAIL: fail, FAULT_ERRNO: EROFS });
        await s.until(() => s.bytes(there) > 500000, 'a part has arrived');
        fs.writeFileSync(fail, '');
        await w.told(/Read-only file system/);
        const stands = s.bytes(here);
        await s.until(() => s.bytes(there) === stands, 'all that could be written has arrived');
        await s.sleep(1500); // the rings are full by now
        assert.strictEqual(s.bytes(here), stands);
        fs.unlinkSync(fail);
        await s.until(() => s.bytes(there) > stands + 500000, 'more arrives');
        assert.match((await stopped(w)).stderr, /note: forwarded \d+ bytes/);
        await ended(c, 'the collector');
        const a = s.account(s.same(here, there)[0]);
        assert(a.dropped.ring_full > 0, JSON.stringify(a.dropped));
    });

test("the worker's disk is full for a while", { skip: process.getuid() === 0 ? false : 'mounting needs root' }, async (t) => {
    const { here, there, collect, settings } = await scene('TCP');
    if (s.spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'perftrace', here]).status !== 0)
        return t.skip('nothing can be mounted here');
    try {
        const c = await collect();
        const w = s.worker([1e9, 20000, 1, 'end'], { ...settings, ring_size: '256K' });
        await w.told(/No space left on device/);
        await s.sleep(1500); // what had room arrives, and the rings are full
        const stands = s.bytes(there);
        assert(stands > 0 && stands <= s.bytes(here), `${stands} of ${s.bytes(here)} bytes`);
        assert.strictEqual(s.spawnSync('mount', ['-o', 'remount,size=200m', here]).status, 0);
        await s.until(() => s.bytes(there) > stands + 500000, 'more arrives');
        assert.match((await stopped(w)).stderr, /note: forwarded \d+ bytes/);
        await ended(c, 'the collector');
        const a = s.account(s.same(here, there)[0]);
        assert(a.dropped.ring_full > 0, JSON.stringify(a.dropped));
    } finally {
        s.spawnSync('umount', ['-l', here]);
    }
});

for (const way of Object.keys(WAYS)) {
    test(`the worker's directory is renamed, by ${way}: its file goes with it and arrives whole`, { skip: WAYS[way].skip }, async () => {
        const { here, there, collect, settings } = await scene(way);
        const c = await collect();
        const w = s.worker([1e9, 5000, 2, 'end'], { ...settings, overflow: 'block' });
        await s.until(() => s.bytes(there) > 100000, 'a part has arrived');
        fs.renameSync(here, `${here}.moved`);
        try {
            const before = s.bytes(there);
            await s.until(() => s.bytes(there) > before + 500000, 'more arrives');
            assert.match((await stopped(w)).stderr, /note: forwarded \d+ bytes/);
            await ended(c, 'the collector');
            assert.strictEqual(s.account(s.same(`${here}.moved`, there)[0]).lost, 0);
        } finally {
            fs.rmSync(`${here}.moved`, { recursive: true });
        }
    });

    test(`the worker's directory is removed, by ${way}: it is made again, and what was written before is not lost`, { skip: WAYS[way].skip }, async () => {
        const { here, there, collect, settings } = await scene(way);
        const c = await collect();
        const w = s.worker([1e9, 5000, 1, 'end'], { ...settings, overflow: 'block' });
        await s.until(() => s.bytes(there) > 300000, 'a part has arrived');
        fs.rmSync(here, { recursive: true });
        await s.until(() => s.find(here, /^traces/).length === 1, 'it goes on in a new file');
        const r = await stopped(w);
        assert.match(r.stderr, /was removed while it was written; going on in/);
        assert.match(r.stderr, /note: forwarded \d+ bytes/);
        await s.until(() => s.find(there, /^traces/).length === 2 && s.bytes(there) > s.bytes(here), 'both files have arrived');
        const [mine] = s.find(here, /^traces/);
        const files = s.find(there, /^traces/).map((f) => fs.readFileSync(f, 'utf8'));
        const second = files.findIndex((text) => text === fs.readFileSync(mine, 'utf8'));
        assert(second >= 0, 'the new file is there');
        const lines = [files[1 - second], files[second]].map((text) => text.trimEnd().split('\n').map((l) => JSON.parse(l)));
        const work = lines.flat().filter((l) => l.name === 'work').map((l) => l.args.i);
        const { emitted, written, dropped } = lines[1].at(-1).args;
        // Each event once: in the first file, and those only are counted as gone with it, or in the second.
        assert.deepStrictEqual(work, Array.from({ length: emitted }, (_, i) => i));
        assert.strictEqual(emitted, written + dropped.file_gone);
        await c.kill('SIGTERM');
    });
}
