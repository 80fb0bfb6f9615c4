// faults.test.js: whatever breaks, in turn and at random; at the end events are counted. STREAM_SOAK_SECONDS: how
// long (20). SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const fs = require('fs');
const s = require('./parts.js');
const { test } = s;

const SECONDS = Number(process.env.STREAM_SOAK_SECONDS || (process.env.PERFTRACE_TEST_BRIEF ? 8 : 20));
const skip = s.NATS ? false : 'no nats-server, or built without libnats';
const root = process.getuid() === 0;

// Numbers that come again with the same seed, which is told.
function random(seed) {
    let x = seed >>> 0;
    return (n) => {
        x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
        return Math.floor(x / 4294967296 * n);
    };
}

const forwarded = async (dir, url) => {
    const r = await s.start(s.FORWARD, [dir, '--to', url], { PERFTRACE_TEST_NATS_LIBRARY: s.NATS_LIBRARY }).done;
    assert.strictEqual(r.status, 0, r.stderr);
};

// Every file of the workers is at the other side, whatever its name there, and balances.
function allThere(here, there) {
    const text = (dir) => s.find(dir, /^traces-.*\.jsonl$/).map((f) => fs.readFileSync(f, 'utf8')).sort();
    const [from, to] = [text(here), text(there)];
    assert.strictEqual(to.length, from.length);
    from.forEach((t, i) => assert(t === to[i], 'a trace differs'));
    s.find(there, /^traces-.*\.jsonl$/).forEach((f) => assert.strictEqual(s.account(f).lost, 0));
    return from.length;
}

async function soak(t, parts) {
    const seed = Number(process.env.STREAM_SEED || Date.now() % 1000000);
    const pick = random(seed);
    console.log(`# STREAM_SEED=${seed}`);
    const here = s.folder();
    const end = Date.now() + SECONDS * 1000;
    const running = [0, 1].map((rank) => ({ rank, p: parts.worker(here, rank) }));
    let kills = 0;
    while (Date.now() < end) {
        await s.sleep(300 + pick(1500));
        const what = pick(3);
        if (what === 2) {
            const w = running[pick(2)];
            await w.p.kill();
            w.p = parts.worker(here, w.rank); // recovers what the one before left
        } else {
            await parts.restart(what);
        }
        kills++;
    }
    for (const { p } of running) {
        p.child.stdin.end();
        await p.done;
    }
    await forwarded(here, parts.url);
    await s.until(() => s.bytes(parts.there) >= s.bytes(here), 'all has arrived', 120);
    console.log(`# ${kills} kills, ${allThere(here, parts.there)} files, ${s.bytes(here)} bytes`);
}

const worker = (url) => (here, rank) => s.worker(
    [1000000000, 5000, 1, 'end'], { dir: here, rank, world_size: 2, forward: url, overflow: 'block' });

test('collector and workers are killed at random, by TCP', { timeout: (SECONDS + 300) * 1000 }, async (t) => {
    const there = s.folder();
    const port = await s.freePort();
    const url = `tcp:127.0.0.1:${port}`;
    let c = await s.collector(port, there);
    await soak(t, { there, url, worker: worker(url), restart: async () => {
        await c.kill();
        c = await s.collector(port, there);
    } });
});

test('server, collector and workers are killed at random, by NATS', { skip, timeout: (SECONDS + 300) * 1000 },
     async (t) => {
    const there = s.folder();
    const store = s.folder();
    const port = await s.freePort();
    const url = `nats://127.0.0.1:${port}`;
    const take = () => s.start(s.COLLECT, ['--nats', url, '--run', 'run', '-o', there]);
    let n = await s.nats(port, store);
    let c = take();
    await soak(t, { there, url, worker: worker(url), restart: async (what) => {
        if (what === 0) {
            await c.kill();
            c = take();
        } else {
            await n.kill();
            n = await s.nats(port, store);
        }
    } });
});

test("the server's disk is full, and then is not", { skip: skip || (root ? false : 'mounting needs root') }, async (t) => {
    const here = s.folder();
    const there = s.folder();
    const store = s.folder();
    if (s.spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'perftrace', store]).status !== 0)
        return t.skip('nothing can be mounted here');
    try {
        const port = await s.freePort();
        const url = `nats://127.0.0.1:${port}`;
        const n = await s.nats(port, store);
        const w = s.worker([300000, 0, 1, 'hold'], { dir: here, rank: 0, world_size: 1, forward: url,
                                                     overflow: 'block', forward_wait_ms: 120000 });
        await w.told(/holding/);
        await w.told(/: a piece was not taken: insufficient resources; what is recorded waits/);
        assert.strictEqual(s.spawnSync('mount', ['-o', 'remount,size=200m', store]).status, 0);
        await n.kill(); // it has given up its stream until it is started again
        const again = await s.nats(port, store);
        w.child.stdin.end();
        const r = await w.done;
        assert.match(r.stderr, /note: forwarded \d+ bytes/);
        const c = s.start(s.COLLECT, ['--nats', url, '--run', 'run', '-o', there, '--until-done']);
        await s.until(() => c.over, () => `the collector ends; so far:\n${c.err}`, 60);
        assert.strictEqual(s.account(s.same(here, there)[0]).written, 300000);
        await again.kill();
    } finally {
        s.spawnSync('umount', ['-l', store]);
    }
});
