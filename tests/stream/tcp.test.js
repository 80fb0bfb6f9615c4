// tcp.test.js: a traced process and perf-trace-collect, by TCP. SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const s = require('./parts.js');
const { test } = s;

async function scene(more = []) {
    const here = s.folder();
    const there = s.folder();
    const port = await s.freePort();
    return { here, there, port, collector: await s.collector(port, there, more),
             settings: { dir: here, rank: 0, world_size: 1, forward: `tcp:127.0.0.1:${port}` } };
}

function ended(r) {
    assert.strictEqual(r.status, 0, r.stderr);
    const { status } = JSON.parse(r.stdout.trim().split('\n').pop());
    assert.strictEqual(status, 0, r.stderr);
    assert.match(r.stderr, /note: forwarded \d+ bytes/);
}

test('a run is at the collector when shutdown returns', async () => {
    const { here, there, collector, settings } = await scene();
    ended(await s.worker([20000, 0, 3, 'sessions'], { ...settings, session_enabled: 1, role: 'actor',
                                                       overflow: 'block' }).done);
    const files = s.same(here, there);
    assert.deepStrictEqual(files.map((f) => path.relative(there, f)),
                           ['run/actor/sessions-r0.jsonl', 'run/actor/traces-r0.jsonl']);
    const a = s.account(files[1]);
    assert.strictEqual(a.lines.filter((l) => l.name === 'work').length, 60000);
    assert.strictEqual(a.lost, 0);
    assert.strictEqual(fs.readFileSync(files[0], 'utf8').trim().split('\n').length, 600);
    await collector.kill('SIGTERM');
});

test('a collector that comes late, is killed, and comes back', async () => {
    const { here, there, port, collector, settings } = await scene();
    await collector.kill();
    const w = s.worker([60000, 20000, 2], { ...settings, overflow: 'block' });
    await w.told(/cannot be reached \(Connection refused\)/);
    let c = await s.collector(port, there);
    await w.told(/is reached again/);
    await s.until(() => s.bytes(there) > 1e6, 'a part has arrived');
    for (let i = 0; i < 5; i++) {
        const before = s.bytes(there);
        await c.kill();
        assert(s.bytes(there) >= before);
        c = await s.collector(port, there);
        await s.until(() => s.bytes(there) > before || w.over, 'more has arrived');
    }
    ended(await w.done);
    assert.strictEqual(s.account(s.same(here, there)[0]).lost, 0);
    await c.kill('SIGTERM');
});

test('a worker that is killed: what it had recorded is recovered and brought there', async () => {
    const { here, there, port, collector, settings } = await scene();
    const w = s.worker([1000000, 20000, 2], { ...settings, overflow: 'block' });
    await s.until(() => s.bytes(there) > 1e6, 'a part has arrived');
    await w.kill();
    const r = await s.start(s.FORWARD, [here, '--to', `tcp:127.0.0.1:${port}`]).done;
    assert.strictEqual(r.status, 0, r.stderr);
    const a = s.account(s.same(here, there)[0]);
    assert.strictEqual(a.lost, 0);
    assert.ok(a.written > 5000);
    await collector.kill('SIGTERM');
});

test('the child of a fork brings its own file', async () => {
    const { here, there, collector, settings } = await scene();
    const w = await s.worker([10000, 0, 2, 'fork'], { ...settings, overflow: 'block' }).done;
    assert.strictEqual(w.status, 0, w.stderr);
    const files = s.same(here, there);
    assert.strictEqual(files.length, 2);
    assert.deepStrictEqual(files.map((f) => s.account(f).written).sort((a, b) => a - b), [20000, 40000]);
    await collector.kill('SIGTERM');
});

test('files that do not stay', async () => {
    const { here, there, collector, settings } = await scene();
    const ring = s.folder('/dev/shm');
    const spool = { ...settings, ring_dir: ring, forward_local: 0, forward_queue: '1M', overflow: 'block' };
    const w = s.worker([200000, 0, 2, 'hold'], spool);
    await w.told(/holding/);
    // At most the queue, the beginning that stays, and what is given back in one step.
    await s.until(() => {
        const [f] = s.find(ring, /^traces-r0\.jsonl$/);
        return fs.statSync(f).blocks * 512 < 4 << 20;
    }, 'the memory is given back');
    w.child.stdin.end();
    ended(await w.done);
    const [file] = s.find(there, /^traces-r0/);
    assert.ok(fs.statSync(file).size > 20 << 20);
    assert.strictEqual(s.account(file).written, 400000);
    assert.deepStrictEqual(s.find(here, /./), []);
    assert.deepStrictEqual(s.find(ring, /./), []);
    await collector.kill('SIGTERM');
});

test('files that do not stay, and nobody who takes them: lost events are counted, the rest is not lost', async () => {
    const { there, port, collector, settings } = await scene();
    await collector.kill();
    const ring = s.folder('/dev/shm');
    const r = await s.worker([100000, 0, 2], { ...settings, ring_dir: ring, forward_local: 0, forward_queue: '1M',
                                               ring_size: '256K', forward_wait_ms: 100 }).done;
    assert.match(r.stderr, /has not acknowledged \d+ bytes/);
    const c = await s.collector(port, there);
    const [spool] = fs.readdirSync(ring);
    const f = await s.start(s.FORWARD, [path.join(ring, spool), '--to', `tcp:127.0.0.1:${port}`]).done;
    assert.strictEqual(f.status, 0, f.stderr);
    const a = s.account(s.same(path.join(ring, spool), there)[0]);
    assert.strictEqual(a.emitted, 200000);
    assert.ok(a.dropped.ring_full > 0, JSON.stringify(a.dropped));
    await c.kill('SIGTERM');
});

test('a wrong token is refused, told once, and costs nothing but the way', async () => {
    const { here, there, collector, settings } = await scene(['--token', 'right']);
    const r = await s.worker([1000, 0, 1], { ...settings, forward_token: 'wrong', forward_wait_ms: 300 }).done;
    assert.strictEqual(r.status, 0);
    assert.strictEqual(r.stderr.match(/cannot be reached \(refused: /g).length, 1, r.stderr);
    assert.doesNotMatch(r.stderr, /wrong'|"wrong"/);
    assert.deepStrictEqual(s.find(there, /jsonl$/), []);
    assert.strictEqual(s.account(s.find(here, /^traces/)[0]).written, 1000);
    const good = await s.worker([1000, 0, 1], { ...settings, forward_token: 'right' }).done;
    ended(good);
    await collector.kill('SIGTERM');
});

test('ranks that no launcher gave a run id are told that each is a run of its own', async () => {
    const { there, collector, settings } = await scene();
    const warning = /warning: .*each of the 2 ranks is a run of its own there: set the same PERFTRACE_RUN_ID/;
    for (const rank of [0, 1]) {
        const r = await s.worker([1000, 0, 1], { ...settings, rank, world_size: 2, run_id: '' }).done;
        ended(r);
        assert.match(r.stderr, warning);
    }
    assert.strictEqual(new Set(s.find(there, /^traces-r/).map((f) => path.dirname(f))).size, 2);
    for (const more of [{ world_size: 2 }, { run_id: '' }])
        assert.doesNotMatch((await s.worker([1000, 0, 1], { ...settings, dir: s.folder(), ...more }).done).stderr, warning);
    await collector.kill('SIGTERM');
});
