// collect_parts.test.js: files in parts, and which of them are kept. SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const test = require('node:test');
const t = require('./collect_tool.js');

const CONVERT = t.toolOf('PERFTRACE_CONVERT');

// The parts of a file in their order.
function partsOf(dir, name = 'r/traces-r0') {
    const got = t.collected(dir);
    const parts = [];
    for (const [file, bytes] of Object.entries(got)) {
        const m = file.slice(name.length).match(/^(?:\.part(\d+))?\.jsonl$/);
        if (file.startsWith(name) && m)
            parts.push([Number(m[1] ?? 1), bytes]);
    }
    return parts.sort((a, b) => a[0] - b[0]);
}

const isName = (line) => /^\{"name": "(perftrace_header|process_name|process_sort_index|thread_name)", "ph": "M"/.test(line);
const lines = (bytes) => bytes.toString().split('\n').slice(0, -1);

// The parts without their copies are the file.
function assertWhole(parts, f) {
    const seen = [];
    const all = [];
    parts.forEach(([, bytes], i) => {
        const mine = lines(bytes);
        if (i > 0)
            assert.deepStrictEqual(mine.splice(0, seen.length), seen);
        seen.push(...mine.filter(isName));
        all.push(...mine);
    });
    assert.strictEqual(all.join('\n') + '\n', f.bytes.toString());
}

// A trace with threads that are named on the way.
function longTrace(more = {}) {
    const all = t.traceLines({ events: 3000, ...more });
    for (const [at, tid] of [[2500, 9], [1200, 8], [700, 7]])
        all.splice(at, 0, `{"name": "thread_name", "ph": "M", "pid": 1000, "tid": ${tid}, "args": {"name": "t${tid}", "rank": 0}}`,
                   `{"name": "of ${tid}", "ph": "X", "ts": ${at}.250, "dur": 1.000, "pid": 1000, "tid": ${tid}, "cat": "c", "args": {"rank": 0}}`);
    const footer = all.length - 1;
    all[footer] = all[footer].replace(/"emitted": \d+, "written": \d+/, '"emitted": 3003, "written": 3003');
    return t.file(Buffer.from(all.map((l) => l + '\n').join('')));
}

function convert(files) {
    const r = t.run(CONVERT, ['-o', '-', ...files]);
    assert.strictEqual(r.status, 0, r.stderr);
    return JSON.parse(r.stdout).traceEvents;
}

// The events of a trace, in an order that does not depend on files.
const events = (list) => list.map((e) => JSON.stringify(e)).sort();

test('by size: each part can be read alone, all of them are the whole, also for perf-trace-convert', async () => {
    const dir = t.folder();
    const c = await t.listening(['-o', dir, '--rotate-size', '60k', '--until-done']);
    const f = longTrace();
    await t.sendAll(() => c.port, [f]);
    const r = await c.ended;
    assert.strictEqual(r.status, 0, r.stderr);
    const parts = partsOf(dir);
    assert(parts.length > 4 && parts.every(([, b]) => b.length < 70000), `${parts.map(([n, b]) => [n, b.length])}`);
    assertWhole(parts, f);
    const both = t.files({ 'a/traces-r0.jsonl': f.bytes, 'b/traces-r0.jsonl': Buffer.concat(parts.map(([, b]) => b)) });
    assert.deepStrictEqual(events(convert([path.join(both, 'b/traces-r0.jsonl')])),
                           events(convert([path.join(both, 'a/traces-r0.jsonl')])));
    // Also as they lie there: one trace, with its footer.
    const files = Object.keys(t.collected(dir)).map((p) => path.join(dir, p));
    assert.deepStrictEqual(convert(files), convert([path.join(both, 'a/traces-r0.jsonl')]));
    // Each alone: threads have their names.
    for (const p of Object.keys(t.collected(dir))) {
        const own = convert([path.join(dir, p)]);
        assert(own.some((e) => e.ph === 'M' && e.name === 'thread_name' && e.args.name === 'main'), p);
    }
});

test('kill -9 at random moments', async () => {
    let x = 9;
    const rand = () => (x = (x * 1103515245 + 12345) % 2147483648) / 2147483648;
    const want = process.env.PERFTRACE_TEST_BRIEF ? 10 : 50;
    for (let kills = 0; kills < want;) {
        const dir = t.folder();
        const args = ['-o', dir, '--rotate-size', '20k'];
        const f = longTrace({ pad: 30 });
        let c = await t.listening(args);
        let done = false;
        const sending = t.sendAll(() => c.port, [f], { pause: 2, pieceBytes: 3000 }).then(() => { done = true; });
        while (!done && kills < want) {
            await t.sleep(rand() * 60);
            await c.stop('SIGKILL');
            kills++;
            c = await t.listening(args);
        }
        await sending;
        const r = await c.stop();
        assert.strictEqual(r.status, 0, r.stderr);
        assertWhole(partsOf(dir), f);
        assert(partsOf(dir).length > 5);
    }
});

test('by time', async () => {
    const dir = t.folder();
    const c = await t.listening(['-o', dir, '--rotate-time', '200ms', '--until-done']);
    const f = longTrace();
    await t.sendAll(() => c.port, [f], { pieceBytes: 10000, pause: 30 });
    assert.strictEqual((await c.ended).status, 0);
    assert(partsOf(dir).length >= 3, `${partsOf(dir).length}`);
    assertWhole(partsOf(dir), f);
});

test('old parts are deleted, and counted; a restart goes on', async () => {
    const dir = t.folder();
    const args = ['-o', dir, '--rotate-size', '20k', '--keep', '3'];
    const f = longTrace();
    let c = await t.listening(args);
    const s = await t.connect(c.port);
    const half = t.borders(f.bytes)[1500];
    await s.have(f);
    for (let at = 0; at < half;) {
        const to = t.borders(f.bytes).find((e) => e - at > 3000);
        s.piece(f, at, to);
        await s.next('ack');
        at = to;
    }
    await s.end();
    const first = await c.stop();
    const deleted = Number(first.stderr.match(/(\d+) parts with [\d.]+ kB were deleted/)[1]);
    assert.deepStrictEqual(partsOf(dir).map(([n]) => n), [1, 2, 3].map((n) => n + deleted));
    c = await t.listening(args);
    const again = await t.connect(c.port);
    const { offset } = await again.have(f);
    assert(offset >= half);
    await again.end();
    await t.sendAll(() => c.port, [f], { pieceBytes: 3000 });
    const r = await c.stop();
    assert.strictEqual(r.status, 0, r.stderr);
    const parts = partsOf(dir);
    assert.strictEqual(parts.length, 3);
    // What is left is the end of the file, with the names before it.
    const names = lines(f.bytes).filter(isName);
    const own = parts.flatMap(([, b]) => lines(b).filter((l) => !isName(l)));
    const all = lines(f.bytes).filter((l) => !isName(l));
    assert.deepStrictEqual(own, all.slice(-own.length));
    assert.deepStrictEqual(lines(parts[2][1]).filter(isName), names);
});

test('by bytes', async () => {
    const dir = t.folder();
    const c = await t.listening(['-o', dir, '--rotate-size', '20k', '--keep-bytes', '70k', '--until-done']);
    const f = longTrace();
    await t.sendAll(() => c.port, [f]);
    const r = await c.ended;
    assert.strictEqual(r.status, 0, r.stderr);
    const sizes = partsOf(dir).map(([, b]) => b.length);
    const kept = sizes.slice(0, -1).reduce((a, b) => a + b, 0);
    assert(kept <= 70000 && kept > 35000, `${sizes}`);
});

test('one collector at a time writes parts', async () => {
    const dir = t.folder();
    const args = ['-o', dir, '--rotate-size', '20k'];
    const first = await t.listening(args);
    const f = longTrace();
    const s = await t.connect(first.port);
    await s.have(f);
    const second = await t.listening(args);
    const sending = t.sendAll(() => second.port, [f]);
    await second.until('another collector has it');
    await s.end();
    await first.stop();
    await sending;
    assert.strictEqual((await second.stop()).status, 0);
    assertWhole(partsOf(dir), f);
});
