// convert_extremes.test.js: more of something than a trace usually has, and outputs that cannot be.
// SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const zlib = require('zlib');
const { spawnSync } = require('child_process');
const t = require('./convert_tool.js');
const { header, scope, footer, byPhase } = t;

test('scopes that cross on more than 1024 lanes nest, each is there, and the rest is async', () => {
    const crossing = Array.from({ length: 1500 }, (_, i) => scope(`s${i}`, i * 1000, (i + 5000) * 1000));
    for (const [name, lines] of [['traces-r0.jsonl', [header({}), ...crossing, footer()]], ['x-r0.jsonl', crossing]]) {
        const r = t.convert(t.files({ [name]: lines }));
        assert.strictEqual(r.status, 0, r.stderr);
        assert.strictEqual(byPhase(r.events, 'X').length, 1024, name);
        assert.strictEqual(byPhase(r.events, 'b').length, 476, name);
        assert.strictEqual(r.meta.overlaps_moved, 1023, name);
        assert(r.meta.problems.some((p) => p.kind === 'no_lane' && p.count === 476), r.stderr);
        assert.strictEqual(t.complaints(r.out), '', name);
    }
});

test('a first record longer than what is looked at is an event like any other', () => {
    const event = (name, args) => JSON.stringify({ name, ph: 'X', ts: 1, dur: 1, pid: 1, tid: 1, args });
    const long = 'y'.repeat(300000);
    for (const first of [event(long, {}), event('a', { long }), event('a', { long }).replace('{', '{ '),
                         `{"args":{"long":"${long}"},"name":"a","ph":"X","ts":1,"dur":1,"pid":1,"tid":1}`]) {
        const r = t.convert(t.files({ 'x-r0.jsonl': [first, event('second', {})] }));
        assert.strictEqual(r.status, 0, r.stderr);
        assert.strictEqual(byPhase(r.events, 'X').length, 2);
    }
});

test('a record that is too long is named with its line', () => {
    const event = (name, args) => JSON.stringify({ name, ph: 'X', ts: 1, dur: 1, pid: 1, tid: 1, args });
    const lines = [event('a', {}), event('b', { long: 'y'.repeat(65 << 20) }), event('c', {})];
    const r = t.convert(t.files({ 'x-r0.jsonl': lines }));
    assert.strictEqual(r.status, 0, r.stderr);
    assert.deepStrictEqual(byPhase(r.events, 'X').map((e) => e.name), ['a', 'c']);
    const [p] = r.meta.problems.filter((q) => q.kind === 'too_long');
    assert.strictEqual(p.line, 2);
    assert.strictEqual(p.offset, lines[0].length + 1);
});

test('files without anything say what they lack', () => {
    const packed = zlib.gzipSync(Buffer.from('{"name":"a"}'));
    const cases = [['', /it is empty/], ['\0'.repeat(100), /nothing but blanks or NUL bytes/],
                   [packed.subarray(0, 2), /nothing can be unpacked/], [packed.subarray(0, 10), /nothing can be unpacked/]];
    for (const [content, message] of cases) {
        const r = t.convert(t.files({ 'x.jsonl': content }));
        assert.strictEqual(r.status, 3);
        assert.match(r.stderr, message);
    }
});

test('names of outputs that cannot be made are refused with the reason', () => {
    const dir = t.files({ 'traces-r0.jsonl': [header({}), scope('s', 0, 1000), footer()] });
    const input = path.join(dir, 'traces-r0.jsonl');
    const empty = t.run([input, '-o', '']);
    assert.strictEqual(empty.status, 2);
    assert.match(empty.stderr, /--output needs the name of a file/);
    if (fs.existsSync('/proc/self')) {
        const proc = t.run([input, '-o', '/proc/x.json']);
        assert.strictEqual(proc.status, 4);
        assert.match(proc.stderr, /no file can be made in \/proc/);
    }
    const parts = t.run([input, '-o', path.join(dir, 'q.json'), '--split', '1M']);
    assert.strictEqual(parts.status, 0);
    assert.match(parts.stderr, /wrote .*q\.json in 1 part:/);
});

test('with too little memory there is a message, the right status, and nothing left', () => {
    const lines = [header({}), ...Array.from({ length: 2000 }, (_, i) => scope(`s${i}`, i * 1000, i * 1000 + 500)), footer()];
    const foreign = lines.slice(1, -1).map((l) => l.replace('"ph": "X"', '"ph":"X"'));
    const dir = t.files({ 'own/traces-r0.jsonl': lines, 'own/traces-r1.jsonl': lines, 'other/x-r0.jsonl': foreign });
    const seen = new Set();
    for (const more of [['own'], ['own', '-z'], ['own', '--bundle'], ['other']]) {
        for (let kib = 4000; kib <= 60000; kib += kib < 12000 ? 400 : 4000) {
            fs.mkdirSync(path.join(dir, 'out'));
            const r = spawnSync('bash', ['-c', 'ulimit -v "$1"; shift; exec "$@"', '-', String(kib), t.TOOL, '-q', '-j2',
                                         '-o', 'out/x', ...more], { cwd: dir, encoding: 'utf8', timeout: 60000 });
            const what = `${kib} KiB, ${more}: ${r.status} ${r.signal} ${r.stderr}`;
            assert([0, 5, 127].includes(r.status), what); // 127: the loader's, which had too little itself
            assert(r.status === 0 || r.stderr.trim() !== '', what);
            assert.deepStrictEqual(fs.readdirSync(path.join(dir, 'out')), r.status === 0 ? ['x'] : [], what);
            seen.add(r.status);
            fs.rmSync(path.join(dir, 'out'), { recursive: true });
        }
    }
    assert(seen.has(0) && seen.has(5), `${[...seen]}`);
});

test('600 small files of many hosts, and 32 descriptors: all is there, however many threads', () => {
    const RANKS = 600, EVENTS = 7;
    const names = Array.from({ length: RANKS }, (_, rank) => `traces-r${rank}.jsonl`);
    const dir = t.files(Object.fromEntries(names.map((name, rank) => [name, [
        header({ rank, world_size: RANKS, boot_id: `boot-${rank >> 3}`, host: `node${rank >> 3}`, pid: 1000 + rank }),
        ...Array.from({ length: rank === 17 ? 0 : EVENTS }, (_, i) => scope(`e${i}`, i * 1000, i * 1000 + 500)),
        footer()]])));
    const outs = ['1', '4'].map((jobs) => {
        const out = path.join(dir, `merged-${jobs}.json`);
        const r = spawnSync('bash', ['-c', 'ulimit -n 32; exec "$@"', '-', t.TOOL, '-q', `-j${jobs}`, '-o', out,
                                     ...names.map((n) => path.join(dir, n))], { encoding: 'utf8' });
        assert.strictEqual(r.status, 0, r.stderr);
        return fs.readFileSync(out);
    });
    assert(outs[0].equals(outs[1]), 'it depends on the number of threads');
    const merged = JSON.parse(outs[0]);
    assert.strictEqual(byPhase(merged.traceEvents, 'X').length, (RANKS - 1) * EVENTS);
    assert.strictEqual(new Set(byPhase(merged.traceEvents, 'X').map((e) => e.pid)).size, RANKS - 1);
    assert.strictEqual(merged.metadata.perftrace_convert.inputs.length, RANKS);
});
