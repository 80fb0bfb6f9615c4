// partition.test.js: the network between a process and its collector is cut for a while, and comes back; between
// namespaces, so that nobody is told. STREAM_PARTITION_SECONDS: how long it is cut (8; 60 is the full form).
// SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const s = require('./parts.js');
const { test } = s;

const SECONDS = Number(process.env.STREAM_PARTITION_SECONDS || (process.env.PERFTRACE_TEST_BRIEF ? 3 : 8));
const RATE = 5000;
const root = process.getuid() === 0 ? false : 'network namespaces need root';
const noNats = s.NATS ? false : 'no nats-server, or built without libnats';

const ip = (...args) => s.spawnSync('ip', args).status === 0;

// A namespace at the other end of a wire: address of this side, cut(), mend(), inside(file, args, env) starts a process.
async function withWire(t, number, body) {
    const name = `ptp${process.pid}`.slice(0, 12) + number;
    const address = `10.213.${78 + number}.1`;
    // In some containers one can be made, but not entered.
    if (!ip('netns', 'add', name) || !ip('netns', 'exec', name, 'true') ||
        !ip('link', 'add', name, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name)) {
        ip('netns', 'del', name);
        return t.skip('no network namespaces can be made here');
    }
    try {
        assert(ip('addr', 'add', `${address}/24`, 'dev', name) && ip('link', 'set', name, 'up'));
        assert(ip('-n', name, 'addr', 'add', `10.213.${78 + number}.2/24`, 'dev', 'eth0') && ip('-n', name, 'link', 'set', 'eth0', 'up'));
        await body({ address, cut: () => assert(ip('link', 'set', name, 'down')), mend: () => assert(ip('link', 'set', name, 'up')),
                     inside: (file, args, env) => s.start('ip', ['netns', 'exec', name, file, ...args], env) });
    } finally {
        ip('link', 'del', name);
        ip('netns', 'del', name);
    }
}

const settings = (here, forward) => ({
    PERFTRACE_LOG_STDERR: '1', PERFTRACE_RUN_ID: 'run', PERFTRACE_DIR: here, PERFTRACE_RANK: '0', PERFTRACE_WORLD_SIZE: '1',
    PERFTRACE_OVERFLOW: 'block', PERFTRACE_FORWARD: forward, PERFTRACE_FORWARD_WAIT_MS: '120000', PERFTRACE_FORWARD_TOKEN: 'x',
    ...(s.NATS_LIBRARY ? { PERFTRACE_TEST_NATS_LIBRARY: s.NATS_LIBRARY } : {}) });
const EVENTS = [String(1e9), String(RATE), '2', 'end']; // until standard input ends

// Cuts the wire, and mends it; what is recorded meanwhile is recorded as before. Then all ends, and nothing is missing.
async function cutAndMend({ wire, here, there, worker, collector, told }) {
    await s.until(() => s.bytes(there) > 100000, 'a part has arrived');
    wire.cut();
    const [mine, theirs] = [s.bytes(here), s.bytes(there)];
    await s.sleep(SECONDS * 1000);
    const [recorded, arrived] = [s.bytes(here) - mine, s.bytes(there) - theirs];
    assert(recorded > 0 && recorded > arrived, `${recorded} bytes recorded, ${arrived} arrived while the network was cut`);
    wire.mend();
    const mended = Date.now();
    const behind = s.bytes(here);
    await s.until(() => s.bytes(there) >= behind, 'what was recorded meanwhile has arrived', 60 + 2 * SECONDS);
    const caught = Date.now() - mended;
    worker.child.stdin.end();
    await s.until(() => worker.over, () => `the worker ends; so far:\n${worker.err}`, 150);
    const r = await worker.done;
    assert.strictEqual(r.status, 0, r.stderr);
    assert.match(r.stderr, /note: forwarded \d+ bytes/);
    if (SECONDS >= 30)
        assert.match(told.err, /cannot be reached|is lost/); // long enough to be noticed
    await s.until(() => collector.over, () => `the collector ends; so far:\n${collector.err}`, 60);
    assert.strictEqual((await collector.done).status, 0, collector.err);
    const a = s.account(s.same(here, there)[0]);
    assert.strictEqual(a.lost, 0);
    console.log(`# ${SECONDS} s cut: ${recorded} bytes recorded meanwhile, ${arrived} arrived; all was there ${caught} ms after it was ` +
                `mended; ${a.emitted} events, ${a.written} written, ${a.lost} lost`);
}

const timeout = (SECONDS * 4 + 400) * 1000;

test('between a process and its collector, by TCP', { skip: root, timeout }, (t) => withWire(t, 0, async (wire) => {
    const [here, there] = [s.folder(), s.folder()];
    const port = await s.freePort();
    const collector = s.start(s.COLLECT, ['--listen', `${wire.address}:${port}`, '--token', 'x', '-o', there, '--until-done']);
    await collector.told(/listening/);
    const worker = wire.inside(s.WORKER, EVENTS, settings(here, `tcp:${wire.address}:${port}`));
    await cutAndMend({ wire, here, there, worker, collector, told: worker });
}));

for (const [who, number] of [['a process', 1], ['the collector', 2]])
    test(`between ${who} and the NATS server`, { skip: root || noNats, timeout }, (t) => withWire(t, number, async (wire) => {
        const [here, there] = [s.folder(), s.folder()];
        const port = await s.freePort();
        await s.nats(port, s.folder(), { args: ['-a', '0.0.0.0'] });
        const far = `nats://${wire.address}:${port}`;
        const near = `nats://127.0.0.1:${port}`;
        const take = ['--run', 'run', '-o', there, '--until-done'];
        const collector = number === 2 ? wire.inside(s.COLLECT, ['--nats', far, ...take]) : s.start(s.COLLECT, ['--nats', near, ...take]);
        await collector.told(/connected to/);
        const worker = number === 1 ? wire.inside(s.WORKER, EVENTS, settings(here, far)) : s.start(s.WORKER, EVENTS, settings(here, near));
        await cutAndMend({ wire, here, there, worker, collector, told: number === 1 ? worker : collector });
    }));
