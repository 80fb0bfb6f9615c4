// collect.test.js: perf-trace-collect over TCP, with a sender of its own. SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const test = require('node:test');
const t = require('./collect_tool.js');

test('a file is collected byte for byte, and the collector ends when the world has', async () => {
    const dir = t.folder();
    const c = await t.listening(['-o', dir, '--until-done']);
    const f = t.file(t.trace({ events: 5000, dropped: 3 }));
    await t.sendAll(() => c.port, [f]);
    const r = await c.ended;
    assert.strictEqual(r.status, 0, r.stderr);
    assert.match(r.stderr, /run r: 5,000 events of 1 rank in 1 file; 3 dropped/);
    assert.deepStrictEqual(t.collected(dir), { 'r/traces-r0.jsonl': f.bytes });
});

test('roles have folders, sessions are kept', async () => {
    const dir = t.folder();
    const c = await t.listening(['-o', dir, '--until-done', '--world-size', '2']);
    const actor = t.file(t.trace({ role: 'actor' }), { role: 'actor' });
    const rollout = t.file(t.trace({ role: 'rollout' }), { role: 'rollout' });
    const sessions = t.file(Buffer.from('{"session_id": 1}\n{"session_id": 2}\n'),
                            { role: 'rollout', kind: 'sessions', name: 'sessions-r0.jsonl' });
    await t.sendAll(() => c.port, [sessions, actor, rollout]);
    assert.strictEqual((await c.ended).status, 0);
    assert.deepStrictEqual(t.collected(dir), {
        'r/actor/traces-r0.jsonl': actor.bytes, 'r/rollout/traces-r0.jsonl': rollout.bytes,
        'r/rollout/sessions-r0.jsonl': sessions.bytes });
});

test('the answers are those of the protocol', async () => {
    const dir = t.folder();
    const c = await t.listening(['-o', dir]);
    const f = t.file(t.trace({ events: 100 }));
    const ends = t.borders(f.bytes);
    const [a, b] = [ends[10], ends[20]];
    const boot = fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    let s = new t.Connection(c.port);
    assert.deepStrictEqual(await s.hello(), { type: 'hello', v: 1, ref: boot });
    const stream = f.keys.stream;
    assert.deepStrictEqual(await s.have(f), { type: 'have', stream, offset: 0, last: false });
    s.piece(f, 0, a);
    assert.deepStrictEqual(await s.next(), { type: 'ack', stream, offset: a, last: false });
    s.piece(f, 0, a); // again
    assert.deepStrictEqual(await s.next(), { type: 'ack', stream, offset: a, last: false });
    s.piece(f, b, f.bytes.length); // a gap
    assert.deepStrictEqual(await s.next(), { type: 'have', stream, offset: a, last: false });
    s.piece(f, a, b);
    assert.deepStrictEqual(await s.next(), { type: 'ack', stream, offset: b, last: false });
    s.piece(f, b, f.bytes.length, { last: false });
    assert.deepStrictEqual(await s.next(), { type: 'ack', stream, offset: f.bytes.length, last: false });
    s.piece(f, f.bytes.length, f.bytes.length);
    assert.deepStrictEqual(await s.next(), { type: 'ack', stream, offset: f.bytes.length, last: true });
    const before = process.hrtime.bigint();
    s.send({ type: 'clock', t1: 'any text' });
    const clock = await s.next();
    assert.strictEqual(clock.type, 'clock');
    assert.strictEqual(clock.t1, 'any text');
    assert.strictEqual(clock.ref, boot);
    assert(BigInt(clock.t2) <= BigInt(clock.t3) && BigInt(clock.t3) - BigInt(clock.t2) <
           process.hrtime.bigint() - before);
    await s.end();
    s = await t.connect(c.port);
    assert.deepStrictEqual(await s.have(f), { type: 'have', stream, offset: f.bytes.length, last: true });
    await s.end();
    assert.strictEqual((await c.stop()).status, 0);
    assert.deepStrictEqual(t.collected(dir), { 'r/traces-r0.jsonl': f.bytes });
});

test('two jobs with the same run and names are kept apart, also after a restart', async () => {
    const dir = t.folder();
    const jobs = [1, 2, 3].map((start) => t.file(t.trace({ start, events: 200 })));
    let c = await t.listening(['-o', dir]);
    for (const f of jobs) {
        const s = await t.connect(c.port);
        await s.have(f);
        s.piece(f, 0, t.borders(f.bytes)[50]);
        await s.next('ack');
        await s.end();
    }
    await c.stop('SIGKILL');
    c = await t.listening(['-o', dir]);
    await t.sendAll(() => c.port, jobs.slice().reverse());
    assert.strictEqual((await c.stop()).status, 0);
    assert.deepStrictEqual(t.collected(dir), { 'r/traces-r0.jsonl': jobs[0].bytes,
        'r/traces-r0.1.jsonl': jobs[1].bytes, 'r/traces-r0.2.jsonl': jobs[2].bytes });
});

test('a file that somebody else left is not touched', async () => {
    const dir = t.files({ 'r/traces-r0.jsonl': 'mine\n' });
    const c = await t.listening(['-o', dir]);
    const f = t.file(t.trace());
    await t.sendAll(() => c.port, [f]);
    await c.stop();
    assert.deepStrictEqual(t.collected(dir),
                           { 'r/traces-r0.jsonl': Buffer.from('mine\n'), 'r/traces-r0.1.jsonl': f.bytes });
});

test('1,000 ranks at once', async () => {
    const dir = t.folder();
    const c = await t.listening(['-o', dir, '--until-done']);
    const files = Array.from({ length: 1000 }, (_, rank) =>
        t.file(t.trace({ rank, world: 1000, events: 40 }), { rank, world_size: 1000 }));
    await Promise.all(Array.from({ length: 100 }, (_, i) =>
        t.sendAll(() => c.port, files.filter((f) => f.keys.rank % 100 === i), { pieceBytes: 1024 })));
    const r = await c.ended;
    assert.strictEqual(r.status, 0, r.stderr);
    const got = t.collected(dir);
    assert.strictEqual(Object.keys(got).length, 1000);
    for (const f of files)
        assert(got[`r/${f.keys.name}`].equals(f.bytes));
    assert.match(r.stderr, /40,000 events of 1,000 ranks in 1,000 files/);
});

test('ranks without a footer are named', async () => {
    const dir = t.folder();
    const c = await t.listening(['-o', dir, '--until-done']);
    const files = [0, 1, 2].map((rank) => t.file(t.trace({ rank, world: 5 }), { rank, world_size: 5 }));
    const s = await t.connect(c.port);
    s.piece(files[1], 0, t.borders(files[1].bytes)[4]);
    await s.next('ack');
    await t.sendAll(() => c.port, [files[0], files[2]]);
    await s.end();
    const r = await c.stop('SIGINT');
    assert.strictEqual(r.status, 130, r.stderr);
    assert.match(r.stderr, /run r: no footer of 1; nothing came from 2 ranks: 3-4$/m);
    const late = await t.listening(['-o', dir, '--run', 'r', '--until-done', '--timeout', '300ms']);
    const end = await late.ended;
    assert.strictEqual(end.status, 3, end.stderr);
    assert.match(end.stderr, /no footer of 1; nothing came from 2 ranks: 3-4$/m);
});

test('an account that does not balance is told', async () => {
    const dir = t.folder();
    const c = await t.listening(['-o', dir, '--until-done']);
    const lines = t.traceLines({ events: 20 });
    lines.splice(8, 1);
    const f = t.file(Buffer.from(lines.map((l) => l + '\n').join('')));
    await t.sendAll(() => c.port, [f]);
    const r = await c.ended;
    assert.strictEqual(r.status, 1, r.stderr);
    assert.match(r.stderr, /traces-r0\.jsonl: its footer says 20 written and 0 unfinished, but 19 events are in it/);
    // Files that were there before are counted, too.
    const again = await t.listening(['-o', dir, '--run', 'r', '--until-done']);
    assert.strictEqual((await again.ended).status, 1);
});

test('a scope that was open when its process was killed is in the account', async () => {
    for (const args of [[], ['--one-file', 'trace_events.jsonl']]) {
        const dir = t.folder();
        const c = await t.listening(['-o', dir, '--until-done', ...args]);
        const lines = t.traceLines({ events: 20 });
        const open = '{"name": "step", "ph": "B", "ts": 21.000, "pid": 1000, "tid": 1000, "cat": "compute", "args": {"unfinished": true, "rank": 0}}';
        const footer = lines.pop().replace('"unfinished": 0, "recovered": false', '"unfinished": 1, "recovered": true');
        const f = t.file(Buffer.from([...lines, open, footer].map((l) => l + '\n').join('')));
        await t.sendAll(() => c.port, [f]);
        const r = await c.ended;
        assert.strictEqual(r.status, 0, r.stderr);
        assert.doesNotMatch(r.stderr, /warning/);
        const again = await t.listening(['-o', dir, '--run', 'r', '--until-done', ...args]);
        assert.strictEqual((await again.ended).status, 0);
    }
});
