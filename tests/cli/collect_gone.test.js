// collect_gone.test.js: perf-trace-collect when somebody removes, moves or cuts what it has written.
// SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const test = require('node:test');
const t = require('./nats_tool.js');

const made = (rank = 0, world = 1, events = 400) => t.file(t.trace({ rank, world, events }), { rank, world_size: world });
const GONE = /traces-r0\.jsonl was removed or cut by somebody: it is collected again from its beginning/g;

async function state(c) {
    const port = (await c.until(/status at http:\/\/127\.0\.0\.1:(\d+)/))[1];
    return (await fetch(`http://127.0.0.1:${port}/status`)).json();
}

// Half of a file, then something happens to it, then the next piece: at which offset the sender is to go on.
async function half(c, f, happens) {
    const s = await t.connect(c.port);
    const ends = t.borders(f.bytes);
    const [a, b] = [ends[200], ends[210]];
    s.piece(f, 0, a);
    await s.next('ack');
    await happens();
    s.piece(f, a, b);
    const m = await s.next();
    await s.end();
    return [m.type, m.offset, a];
}

for (const [what, happens] of [
    ['the folder is removed', (dir) => fs.rmSync(path.join(dir, 'r'), { recursive: true })],
    ['all is removed', (dir) => fs.rmSync(dir, { recursive: true })],
    ['the folder is renamed', (dir) => fs.renameSync(path.join(dir, 'r'), path.join(dir, 'old'))],
    ['the file is removed', (dir) => fs.unlinkSync(path.join(dir, 'r', 'traces-r0.jsonl'))],
    ['another file has its name', (dir) => {
        fs.writeFileSync(path.join(dir, 'mine'), 'not a trace\n');
        fs.renameSync(path.join(dir, 'mine'), path.join(dir, 'r', 'traces-r0.jsonl'));
        fs.rmSync(path.join(dir, 'r', '.streams'), { recursive: true });
    }]])
    test(`${what}: it is told, and the sender sends all again`, async () => {
        const dir = path.join(t.folder(), 'out');
        const c = await t.listening(['-o', dir, '--status', '0']);
        const f = made();
        const [type, offset] = await half(c, f, () => happens(dir));
        assert.deepStrictEqual([type, offset], ['have', 0]);
        await t.sendAll(() => c.port, [f]);
        const { collector, ranks } = await state(c);
        assert.deepStrictEqual([collector.files_gone, ranks[0].events, ranks[0].state], [1, 400, 'ended']);
        const r = await c.stop();
        assert.strictEqual(r.status, 0, r.stderr);
        assert.strictEqual(r.stderr.match(GONE).length, 1, r.stderr);
        const now = t.collected(dir);
        const name = what.startsWith('another') ? 'r/traces-r0.1.jsonl' : 'r/traces-r0.jsonl';
        assert(now[name].equals(f.bytes));
        if (what.startsWith('another'))
            assert.strictEqual(String(now['r/traces-r0.jsonl']), 'not a trace\n');
    });

test('the file is cut: it goes on behind its last whole line', async () => {
    const dir = t.folder();
    const c = await t.listening(['-o', dir]);
    const f = made();
    const cut = t.borders(f.bytes)[50];
    const [type, offset] = await half(c, f, () => fs.truncateSync(path.join(dir, 'r/traces-r0.jsonl'), cut + 20));
    assert.deepStrictEqual([type, offset], ['have', cut]);
    await t.sendAll(() => c.port, [f]);
    const r = await c.stop();
    assert.strictEqual(r.status, 0, r.stderr);
    assert.match(r.stderr, GONE);
    assert.deepStrictEqual(t.collected(dir), { 'r/traces-r0.jsonl': f.bytes });
});

test('a file that is not open at the moment is removed: no hole is left at its beginning', async () => {
    const dir = t.folder();
    const c = await t.listening(['-o', dir, '--max-files', '16']);
    const f = made(0, 40);
    const others = Array.from({ length: 39 }, (_, i) => made(i + 1, 40, 5));
    const [type, offset] = await half(c, f, async () => {
        await t.sendAll(() => c.port, others);
        fs.unlinkSync(path.join(dir, 'r/traces-r0.jsonl'));
    });
    assert.deepStrictEqual([type, offset], ['have', 0]);
    await t.sendAll(() => c.port, [f]);
    assert.strictEqual((await c.stop()).status, 0);
    assert(t.collected(dir)['r/traces-r0.jsonl'].equals(f.bytes));
});

for (const [what, more, name] of [['one file for all', ['--one-file', 'all.jsonl'], 'all.jsonl'],
                                  ['parts', ['--rotate-size', '10K'], 'traces-r0.part2.jsonl']])
    test(`${what}: nothing is written until it is started again`, async () => {
        const dir = t.folder();
        let c = await t.listening(['-o', dir, '--status', '0', ...more]);
        const f = made();
        const ends = t.borders(f.bytes);
        const s = await t.connect(c.port);
        for (let i = 0; i < 300; i += 100) {
            s.piece(f, ends[i], ends[i + 100]);
            await s.next('ack');
        }
        fs.rmSync(path.join(dir, 'r'), { recursive: true });
        s.piece(f, ends[300], ends[400]);
        await c.until(new RegExp(`${name.replace('.part2', '')} cannot be written \\(it was removed or cut by somebody: start the collector again\\)`));
        assert.strictEqual((await state(c)).collector.failing !== null, true);
        await s.end();
        assert.strictEqual((await c.stop()).status, 4);
        assert.deepStrictEqual(t.collected(dir), {});
        c = await t.listening(['-o', dir, ...more]);
        await t.sendAll(() => c.port, [f]);
        assert.strictEqual((await c.stop()).status, 0);
        const now = Object.entries(t.collected(dir));
        const bytes = now.find(([n]) => n === `r/${name.replace('.part2', '')}`)[1];
        assert.strictEqual(Buffer.compare(bytes, f.bytes.subarray(0, bytes.length)), 0);
    });

test('what was complete is removed: told at the end', async () => {
    const dir = t.folder();
    const c = await t.listening(['-o', dir]);
    await t.sendAll(() => c.port, [made(0, 2), made(1, 2)]);
    fs.unlinkSync(path.join(dir, 'r/traces-r0.jsonl'));
    const r = await c.stop();
    assert.strictEqual(r.status, 1, r.stderr);
    assert.match(r.stderr, /traces-r0\.jsonl was collected, but is there no more: somebody removed or cut it/);
    assert.doesNotMatch(r.stderr, /traces-r1/);
});

const built = !t.run(t.TOOL, ['--nats', 'nats://127.0.0.1:1', '--tls-key', 'x']).stderr.includes('built without');
const skip = !built ? 'built without libnats' : !t.available ? 'nats-server is not installed' : false;

test('from NATS: the server gives all again, to each of several collectors', { skip }, async () => {
    const server = await t.server();
    const c = await t.client(server.port);
    await t.makeStream(c);
    const dir = t.folder();
    const files = [0, 1, 2].map((rank) => made(rank, 3, 2000));
    const args = ['--nats', server.url, '--run', 'r', '-o', dir, '--until-done'];
    const both = [t.collector(args), t.collector(args)];
    const put = async (from, to) => {
        for (const f of files) {
            const all = t.pieces(f, 4000);
            for (const p of all.slice(Math.floor(from * all.length), Math.floor(to * all.length)))
                await t.put(c, f, ...p);
        }
    };
    for (const [from, to] of [[0, 0.3], [0.3, 0.6]]) {
        await put(from, to);
        await t.until(async () => {
            const i = await c.api('CONSUMER.INFO.perftrace_r.collect');
            return i.num_pending === 0 && i.num_ack_pending === 0;
        }, 'all is collected so far');
        fs.rmSync(path.join(dir, 'r'), { recursive: true });
    }
    await put(0.6, 1);
    const ends = [];
    for (const one of both)
        ends.push(await one.ended);
    const said = ends.map((r) => r.stderr).join('');
    assert.match(said, GONE);
    assert.match(said, /the server is asked for all again/);
    const now = t.collected(dir);
    assert.deepStrictEqual(Object.keys(now).sort(), files.map((f) => `r/${f.keys.name}`).sort(), said);
    for (const f of files)
        assert(now[`r/${f.keys.name}`].equals(f.bytes), `${f.keys.name}:\n${said}`);
    assert.deepStrictEqual(ends.map((r) => r.status), [0, 0], said);
    await c.end();
    await server.kill();
});
