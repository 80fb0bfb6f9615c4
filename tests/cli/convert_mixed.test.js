// convert_mixed.test.js: one file with the lines of several processes. SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const test = require('node:test');
const zlib = require('zlib');
const { spawnSync } = require('child_process');
const t = require('./convert_tool.js');
const { rank, mixed, kinds } = require('./mixed_lines.js');

const files = (ranks) => Object.fromEntries(ranks.map((lines, i) => [`${String.fromCharCode(97 + i)}.jsonl`, lines.map((l) => `${l}\n`).join('')]));

// What a trace says, whatever its files are called and whichever came first.
function told(r) {
    assert.strictEqual(r.status, 0, r.stderr);
    assert.strictEqual(t.complaints(r.out), '');
    return { events: r.events.map((e) => JSON.stringify(e)).sort(),
             inputs: r.meta.inputs.map(({ file, ...rest }) => rest) };
}

for (const [what, ranks] of kinds) {
    test(`processes ${what} are read as from their own files`, () => {
        const apart = told(t.convert(t.files(files(ranks))));
        assert.strictEqual(apart.inputs.length, 3);
        for (const [each, first] of [[1, 0], [17, 40]]) {
            const r = t.convert(t.files({ 'trace_events.jsonl': mixed(ranks, each, first) }), ['-j', '2']);
            assert.deepStrictEqual(told(r), apart);
            assert.match(r.stderr, /trace_events\.jsonl: the lines of 3 processes take turns in it/);
            assert.doesNotMatch(r.stderr, /missing|footer/);
        }
    });
}

test('also when that shows late, and beside files of other ranks', () => {
    const ranks = [rank(0, { count: 3000 }), rank(1, { count: 3000 }), rank(2)];
    const apart = told(t.convert(t.files(files(ranks))));
    const both = mixed(ranks.slice(0, 2), 5, 2500); // 2,500 lines are far more than is looked at first
    const r = t.convert(t.files({ 'trace_events.jsonl': both, 'c.jsonl': files(ranks)['c.jsonl'] }));
    assert.deepStrictEqual(told(r), apart);
    assert.deepStrictEqual(r.meta.inputs.map((i) => path.basename(i.file)),
                           ['trace_events.jsonl (pid 100 of rank 0)', 'trace_events.jsonl (pid 101 of rank 1)', 'c.jsonl']);
    const packed = t.convert(t.files({ 'trace_events.jsonl.gz': zlib.gzipSync(both), 'c.jsonl': files(ranks)['c.jsonl'] }));
    assert.deepStrictEqual(told(packed), apart);
});

test('runs laid end to end stay one file; one that goes on afterwards does not', () => {
    const [a, b] = [rank(0, { count: 20 }), rank(1, { count: 20 })];
    const end = (lines) => t.convert(t.files({ 'x.jsonl': lines.map((l) => `${l}\n`).join('') }));
    assert.strictEqual(told(end([...a, ...b])).inputs.length, 1);
    assert.strictEqual(told(end([...a.slice(0, -1), ...b, a.at(-1)])).inputs.length, 2);
    // The same pid and rank once more, as when a container starts again.
    const next = rank(0, { count: 20, late: 900000000 });
    assert.strictEqual(told(end([...a, ...next])).inputs.length, 1);
});

test('a torn line stays with its neighbours, and is told', () => {
    const text = mixed([rank(0), rank(1)], 3).replace('"name": "work 1"', '"name": "wor');
    const r = t.convert(t.files({ 'x.jsonl': text }));
    assert.strictEqual(r.status, 0, r.stderr);
    assert.match(r.stderr, /x\.jsonl \(pid \d+ of rank \d\):\d+ \(byte \d+\)/);
    assert(r.events.filter((e) => /^work/.test(e.name)).length >= 799);
});

test('what cannot be read twice, or taken apart, is refused with the way out; nothing is left', () => {
    const text = mixed([rank(0), rank(1)], 3);
    const dir = t.files({ 'x.jsonl': text });
    const out = path.join(dir, 'x.json');
    const pipe = t.run(['-', '-o', out], { input: Buffer.from(text) });
    assert.strictEqual(pipe.status, 3);
    assert.match(pipe.stderr, /standard input: .*give it as a file/);
    const fifo = spawnSync('bash', ['-c', 'mkfifo all; cat x.jsonl >all & timeout 60 "$0" all -o x.json; code=$?; rm all; exit $code', t.TOOL],
                           { cwd: dir, encoding: 'utf8' });
    assert.strictEqual(fifo.status, 3, fifo.stderr);
    assert.match(fifo.stderr, /all: .*give it as a file/);
    const full = t.run([path.join(dir, 'x.jsonl'), '-o', out], { env: { ...process.env, TMPDIR: '/nowhere' } });
    assert.strictEqual(full.status, 3);
    assert.match(full.stderr, /cannot be taken apart in \/nowhere: No such file.*TMPDIR/);
    assert(!fs.existsSync(out));
    // Each process has an open file: the limit is raised, and named where that does not help.
    const many = path.join(t.files({ 'many.jsonl': mixed(Array.from({ length: 300 }, (_, r) => rank(r, { count: 2 })), 2) }), 'many.jsonl');
    const limited = (limit) => spawnSync('bash', ['-c', `ulimit ${limit} && exec "$0" "$@"`, t.TOOL, many, '-o', out], { encoding: 'utf8' });
    const raised = limited('-Sn 128');
    assert.strictEqual(raised.status, 0, raised.stderr);
    assert.match(raised.stderr, /the lines of 300 processes/);
    fs.unlinkSync(out);
    const hard = limited('-n 128');
    assert.strictEqual(hard.status, 3);
    assert.match(hard.stderr, /Too many open files; as many as there are processes are needed, see ulimit -n/);
    assert(!fs.existsSync(out));
    const tmp = t.folder();
    const good = t.run([path.join(dir, 'x.jsonl'), '-o', out], { env: { ...process.env, TMPDIR: tmp } });
    assert.strictEqual(good.status, 0, good.stderr);
    assert.deepStrictEqual(fs.readdirSync(tmp), []);
    // The file itself is still an input.
    const same = t.run([path.join(dir, 'x.jsonl'), '-o', path.join(dir, 'x.jsonl')]);
    assert.notStrictEqual(same.status, 0);
    assert.strictEqual(fs.readFileSync(path.join(dir, 'x.jsonl'), 'utf8'), text);
});

test('what ends early is damaged, however it is read', () => {
    const cut = zlib.gzipSync(mixed([rank(0), rank(1)], 3)).subarray(0, -9);
    const dir = t.files({ 'x.jsonl.gz': cut });
    const strict = t.convert(dir, ['--strict']);
    assert.strictEqual(strict.status, 1, strict.stderr);
    const r = t.convert(dir);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.match(r.stderr, /x\.jsonl\.gz \(pid \d+ of rank \d\).*gzip data is cut off at byte/);
    const plain = t.convert(t.files({ 'x.jsonl.gz': zlib.gzipSync(mixed([rank(0), rank(1)], 3)) }), ['--strict']);
    assert.strictEqual(plain.status, 0, plain.stderr);
});

test('a limit of the size of files is told', () => {
    const dir = t.files({ 'x.jsonl': mixed([rank(0, { count: 4000 }), rank(1, { count: 4000 })], 3) });
    const r = spawnSync('bash', ['-c', 'ulimit -f 100 && exec "$0" x.jsonl -o x.json', t.TOOL], { cwd: dir, encoding: 'utf8' });
    assert.strictEqual(r.status, 3, `${r.signal} ${r.stderr}`);
    assert.match(r.stderr, /cannot be taken apart in .*: File too large/);
});
