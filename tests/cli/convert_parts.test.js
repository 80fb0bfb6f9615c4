// convert_parts.test.js: a trace that lies in several files. SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const test = require('node:test');
const zlib = require('zlib');
const t = require('./convert_tool.js');
const tool = require('./tool.js');
const { header, scope, threadName, footer } = require('./trace_lines.js');

const ANALYZE = tool.toolOf('PERFTRACE_ANALYZE');
const SESSIONS = tool.toolOf('PERFTRACE_SESSIONS');

const names = (run) => [header({ run_id: run }), threadName('main')];
const scopes = (from, to) => Array.from({ length: to - from }, (_, i) => (
    scope('work', (from + i) * 1000000, (from + i) * 1000000 + 1000 * (from + i + 1), { args: { n: from + i, rank: 0 } })));
const end = footer({ emitted: 1200, written: 1200 });
const text = (...lines) => lines.flat().map((l) => `${l}\n`).join('');

const WHOLE = text(names('a'), scopes(0, 1200), end);
// Twelve parts: their order is no matter of letters.
const parts = (run = 'a', ending = '') => Object.fromEntries(Array.from({ length: 12 }, (_, i) => {
    const lines = text(names(run), scopes(i * 100, (i + 1) * 100), i === 11 ? [end] : []);
    return [`traces-r0${i === 0 ? '' : `.part${i + 1}`}.jsonl${ending}`, ending ? zlib.gzipSync(lines) : lines];
}));

function whole() {
    const r = t.convert(t.files({ 'traces-r0.jsonl': WHOLE }));
    assert.strictEqual(r.status, 0, r.stderr);
    return r;
}

function assertWhole(r) {
    assert.strictEqual(r.status, 0, r.stderr);
    assert.deepStrictEqual(r.events, whole().events);
    assert.strictEqual(r.meta.inputs.length, 1);
    assert.deepStrictEqual([r.meta.inputs[0].complete, r.meta.inputs[0].runs], [true, undefined]);
    assert.doesNotMatch(r.stderr, /footer|warning/);
}

test('its parts, named one by one in any order or by their folder, are the trace', () => {
    const plain = Object.entries(parts());
    const packed = Object.entries(parts('a', '.gz'));
    // The older ones may have been packed.
    for (const some of [plain, packed, [...packed.slice(0, 5), ...plain.slice(5)]]) {
        const dir = t.files(Object.fromEntries(some));
        const all = fs.readdirSync(dir).sort().reverse();
        assert.strictEqual(all.length, 12);
        assertWhole(t.convert(dir, ['-j', '2'], all));
        const out = path.join(t.folder(), 'all.json');
        const r = t.run([dir, '-o', out, '--strict']);
        assert.strictEqual(r.status, 0, r.stderr);
        assert.deepStrictEqual(JSON.parse(fs.readFileSync(out)).traceEvents, whole().events);
    }
});

test('the first ones may be deleted; what is missing in between is told', () => {
    const some = parts();
    for (const gone of ['traces-r0.jsonl', 'traces-r0.part2.jsonl'])
        delete some[gone];
    const late = t.convert(t.files(some));
    assert.strictEqual(late.status, 0, late.stderr);
    assert.doesNotMatch(late.stderr, /goes on/);
    assert.strictEqual(t.named(late.events, 'work').length, 1000);
    assert.strictEqual(late.meta.inputs.length, 1);
    delete some['traces-r0.part7.jsonl'];
    const holed = t.convert(t.files(some));
    assert.strictEqual(holed.status, 0, holed.stderr);
    assert.match(holed.stderr, /traces-r0\.part3\.jsonl: goes on with part 8; what stood between is not there/);
    assert.strictEqual(t.named(holed.events, 'work').length, 900);
});

test('a part of another run, or of another directory, is none of the trace', () => {
    const mixed = { ...parts(), 'traces-r0.part5.jsonl': parts('b')['traces-r0.part5.jsonl'] };
    const two = t.convert(t.files(mixed));
    assert.strictEqual(two.status, 0, two.stderr);
    assert.strictEqual(two.meta.inputs.length, 2);
    assert.strictEqual(t.named(two.events, 'work').length, 1200);
    const apart = Object.fromEntries(Object.entries(parts()).map(([n, b], i) => [`${i % 2}/${n}`, b]));
    const dir = t.files(apart);
    const out = path.join(dir, 'apart.json');
    const r = t.run([path.join(dir, '0'), path.join(dir, '1'), '-o', out]);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.strictEqual(JSON.parse(fs.readFileSync(out)).metadata.perftrace_convert.inputs.length, 2);
});

test('names that only look like it are files of their own', () => {
    const odd = ['traces-r0.part1', 'traces-r0.part02', 'traces-r0.part', 'traces-r0part2', 'traces-r0.part2x', '.part2'];
    const dir = t.files({ 'traces-r0.jsonl': WHOLE, ...Object.fromEntries(odd.map((n) => [`${n}.jsonl`, WHOLE])) });
    const r = t.convert(dir, [], ['traces-r0.jsonl', ...odd.map((n) => `${n}.jsonl`)]);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.strictEqual(r.meta.inputs.length, 1 + odd.length);
});

test('a part is never replaced by the output, and one that cannot be read is told', () => {
    const dir = t.files(parts());
    const victim = path.join(dir, 'traces-r0.part7.jsonl');
    const before = fs.readFileSync(victim);
    const r = t.run([path.join(dir, 'traces-r0.jsonl'), victim, '-o', victim]);
    assert.notStrictEqual(r.status, 0);
    assert.match(r.stderr, /part7\.jsonl: is one of the inputs/);
    assert(fs.readFileSync(victim).equals(before));
    const cut = t.files(parts('a', '.gz'));
    const file = path.join(cut, 'traces-r0.part6.jsonl.gz');
    fs.writeFileSync(file, fs.readFileSync(file).subarray(0, 700));
    const damaged = t.convert(cut);
    assert.strictEqual(damaged.status, 0);
    assert.match(damaged.stderr, /ends early: \S*traces-r0\.part6\.jsonl\.gz: the gzip data is cut off at byte 700/);
    // Only what was in the part that is cut off is lost.
    const got = t.named(damaged.events, 'work').map((e) => e.args.n);
    assert.strictEqual(got.filter((n) => n < 500 || n >= 600).length, 1100);
    assert(got.some((n) => n >= 500 && n < 600));
    assert.notStrictEqual(t.convert(cut, ['--strict']).status, 0);
});

test('the other tools take them together as well', () => {
    const analysis = (dir) => {
        const r = tool.run(ANALYZE, [dir, '--json']);
        assert.strictEqual(r.status, 0, r.stderr);
        const { summary, names: by } = JSON.parse(r.stdout);
        return { summary: { ...summary, events: null }, by }; // each part names things again
    };
    assert.deepStrictEqual(analysis(t.files(parts())), analysis(t.files({ 'traces-r0.jsonl': WHOLE })));
    const edge = (ph, ts, args) => `{"name": "session", "ph": "${ph}", "ts": ${ts}.000, "pid": 71, "tid": 71, ` +
        `"cat": "session", "id": "0x1", "args": ${JSON.stringify({ ...args, rank: 0 }).replace(/([:,])/g, '$1 ')}}`;
    const session = [edge('b', 10, { task_id: 5 }), edge('e', 5000000, { status: 'accepted', reason: null })];
    const list = (dir) => {
        const r = tool.run(SESSIONS, [dir, '--json']);
        assert.strictEqual(r.status, 0, r.stderr);
        return String(r.stdout).replace(/"record": "[^"]*"/g, '');
    };
    const one = list(t.files({ 'traces-r0.jsonl': text(names('a'), session, end) }));
    assert.match(one, /accepted/);
    assert.deepStrictEqual(list(t.files({ 'traces-r0.jsonl': text(names('a'), session[0]),
                                          'traces-r0.part2.jsonl': text(names('a'), session[1], end) })), one);
});
