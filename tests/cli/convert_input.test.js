// convert_input.test.js: inputs that can be read once only, that begin with a hole, or that hold
// more than a trace; what is not written is told. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const zlib = require('zlib');
const { spawnSync } = require('child_process');
const t = require('./convert_tool.js');
const { header, scope, footer, byPhase } = t;

const event = (name, more = {}) => JSON.stringify({ name, ph: 'X', ts: 1, dur: 1, pid: 1, tid: 1, ...more });
const names = (r) => byPhase(r.events, 'X').map((e) => e.name);
const told = (r) => r.meta.problems.map((p) => p.kind).sort();

// More than a pipe holds and than a tool looks at before it decides.
const COUNT = 5000;
const own = [header({}), ...Array.from({ length: COUNT }, (_, i) => scope(`s${i}`, i * 1000, i * 1000 + 500)),
             footer()].map((l) => l + '\n').join('');
const foreign = Array.from({ length: COUNT }, (_, i) => event(`f${i}`, { ts: i * 10 }) + '\n').join('');

test('pipes that have names are read whole: FIFOs, what a shell substitutes, /dev/stdin', () => {
    const dir = t.files({ 'own.jsonl': own, 'foreign.jsonl': foreign, 'packed.gz': zlib.gzipSync(foreign) });
    for (const [file, name] of [['own.jsonl', 's'], ['foreign.jsonl', 'f'], ['packed.gz', 'f']]) {
        const out = path.join(dir, 'out.json');
        const ways = { fifo: `mkfifo r0; cat ${file} >r0 & timeout 60 "$0" r0 -o out.json; code=$?; rm r0; exit $code`,
                       substituted: `timeout 60 "$0" <(cat ${file}) -o out.json`,
                       stdin: `cat ${file} | timeout 60 "$0" /dev/stdin -o out.json`,
                       dash: `cat ${file} | timeout 60 "$0" - -o out.json` };
        for (const [way, command] of Object.entries(ways)) {
            const r = spawnSync('bash', ['-c', command, t.TOOL], { cwd: dir, encoding: 'utf8' });
            assert.strictEqual(r.status, 0, `${way} of ${file}: ${r.stderr}`);
            const got = byPhase(t.readTrace(out).traceEvents, 'X').map((e) => e.name);
            assert.deepStrictEqual(got, Array.from({ length: COUNT }, (_, i) => `${name}${i}`), way);
            fs.rmSync(out);
        }
    }
});

test('two pipes are merged like two files', () => {
    const dir = t.files({ 'traces-r0.jsonl': own, 'traces-r1.jsonl': own.replace(/"rank":0/g, '"rank":1') });
    const all = ['traces-r0.jsonl', 'traces-r1.jsonl'];
    const files = spawnSync(t.TOOL, [...all, '-o', 'files.json'], { cwd: dir });
    const pipes = spawnSync('bash', ['-c', `timeout 60 "$0" <(cat ${all[0]}) <(cat ${all[1]}) -o pipes.json`, t.TOOL],
                            { cwd: dir });
    assert.strictEqual(files.status, 0);
    assert.strictEqual(pipes.status, 0, pipes.stderr.toString());
    const [a, b] = ['files.json', 'pipes.json'].map((f) => t.readTrace(path.join(dir, f)).traceEvents);
    assert.deepStrictEqual(b, a);
});

test('a hole at the start, longer than what is looked at, costs nothing', () => {
    const hole = '\0'.repeat(200000);
    const cases = { 'lines-r0.jsonl': `${hole}${event('a')}\n${event('b')}\n`,
                    'array-r0.json': `${hole}[${event('a')},${event('b')}]`,
                    'object-r0.json': `${hole}{"traceEvents":[${event('a')},${event('b')}]}`,
                    'blanks-r0.jsonl': `${' \n'.repeat(100000)}${event('a')}\n${event('b')}\n` };
    for (const [name, text] of Object.entries(cases)) {
        for (const content of [text, zlib.gzipSync(text)]) {
            const r = t.convert(t.files({ [name]: content }));
            assert.strictEqual(r.status, 0, r.stderr);
            assert.deepStrictEqual(names(r), ['a', 'b'], name);
        }
    }
    const r = t.convert(t.files({ 'x-r0.jsonl': hole }));
    assert.strictEqual(r.status, 3);
    assert.match(r.stderr, /nothing but blanks or NUL bytes/);
});

test('what stands behind the end of a trace is taken or told', () => {
    const cases = [
        [`[${event('a')}]\n[${event('b')},${event('c')}]`, ['a', 'b', 'c'], ['more_documents']],
        [`{"traceEvents":[${event('a')}]}\n{"traceEvents":[${event('b')}]}`, ['a', 'b'], ['more_documents']],
        [`{"traceEvents":[${event('a')}]}[${event('b')}`, ['a', 'b'], ['more_documents', 'not_closed']],
        [`[${event('a')}]]} rest`, ['a'], ['junk']],
        [`{"traceEvents":[${event('a')}], rest "x": 1}`, ['a'], ['junk']],
        [`[${event('a')}]\n\n \n`, ['a'], []],
        [`\uFEFF[${event('a')}]`, ['a'], ['mended_BYTE_ORDER_MARK']]];
    for (const [text, expected, kinds] of cases) {
        const dir = t.files({ 'x-r0.json': text });
        const r = t.convert(dir);
        assert.strictEqual(r.status, 0, r.stderr);
        assert.deepStrictEqual(names(r), expected, text);
        assert.deepStrictEqual(told(r), kinds, text);
        assert.strictEqual(t.complaints(r.out), '');
    }
});

test('a counter without a value is told', () => {
    const counter = (args) => JSON.stringify({ name: 'c', ph: 'C', ts: 1, pid: 1, tid: 1, args });
    const r = t.convert(t.files({ 'x-r0.jsonl': [counter({}), counter(undefined), counter({ v: 1 })] }));
    assert.strictEqual(r.status, 0, r.stderr);
    assert.strictEqual(byPhase(r.events, 'C').length, 1);
    const [p] = r.meta.problems.filter((q) => q.kind === 'no_value');
    assert.strictEqual(p.count, 2);
    assert.strictEqual(p.line, 1);
});

test('a merged trace keeps its ranks when it is converted again, and can be cut by rank', () => {
    const file = (rank) => [header({ rank, world_size: 3, pid: 70 + rank }),
                            scope(`s${rank}`, 1000, 5000, { pid: 70 + rank, args: { rank } }), footer({}, 70 + rank)];
    const dir = t.files(Object.fromEntries([0, 1, 2].map((r) => [`traces-r${r}.jsonl`, file(r)])));
    const ranks = (r) => r.events.filter((e) => e.name === 'process_name').map((e) => [e.args.name, e.args.rank]);
    const sorts = (r) => r.events.filter((e) => e.name === 'process_sort_index').map((e) => e.args.sort_index);
    const first = t.convert(dir);
    assert.deepStrictEqual(ranks(first), [['Rank 0', 0], ['Rank 1', 1], ['Rank 2', 2]]);
    // Of another writer, too: a name without a rank gets the rank of its events.
    const other = [10, 11].flatMap((pid) => [
        { name: 'process_name', ph: 'M', pid, args: { name: `worker ${pid}` } },
        { name: `w${pid}`, ph: 'X', ts: 1, dur: 1, pid, tid: 1, args: { rank: pid - 8 } }]);
    other.push({ name: 'w', ph: 'X', ts: 1, dur: 1, pid: 99, tid: 1 });
    const cases = [
        [fs.readFileSync(first.out), ['Rank 0', 'Rank 1', 'Rank 2'], [0, 1, 2], ['s2'], '2'],
        [JSON.stringify(other), ['Rank 2: worker 10', 'Rank 3: worker 11', 'Process 99'],
         [2, 3, undefined], ['w11'], '3']];
    for (const [content, labels, expected, kept, list] of cases) {
        const again = t.convert(t.files({ 'merged.json': content }));
        assert.strictEqual(again.status, 0, again.stderr);
        assert.deepStrictEqual(ranks(again), labels.map((label, i) => [label, expected[i]]));
        assert.deepStrictEqual(sorts(again).slice(0, 2), expected.slice(0, 2));
        assert.strictEqual(again.meta.inputs[0].rank, null);
        assert.strictEqual(t.complaints(again.out), '');
        const cut = t.convert(t.files({ 'merged.json': content }), ['--ranks', list]);
        assert.strictEqual(cut.status, 0, cut.stderr);
        assert.deepStrictEqual(names(cut), kept);
        assert.strictEqual(cut.meta.filtered, 2);
        assert.strictEqual(ranks(cut).length, 1);
    }
    const none = t.convert(t.files({ 'merged.json': JSON.stringify(other) }), ['--ranks', '7']);
    assert.strictEqual(none.status, 3);
});

test('an event that breaks over lines is written on one', () => {
    const dir = t.files({ 'torch.json': JSON.stringify({ traceEvents: [
        { name: 'a', ph: 'X', ts: 1, dur: 5, pid: 1, tid: 1, args: { 'External id': 7, dims: [[1, 2], []] }, more: { x: [1] } },
        { name: 'line\nend', ph: 'i', s: 't', ts: 2, pid: 1, tid: 1, args: { text: 'x\r\n  y' } },
        { name: 'c', ph: 'C', ts: 3, pid: 1, tid: 1, args: { v: 1 }, more: [] },
        { name: 'n', ph: 'N', ts: 4, pid: 1, tid: 1, id: { inner: [1] } }] }, null, 4).replace(/\n/g, '\r\n') });
    const r = t.convert(dir);
    assert.strictEqual(r.status, 0, r.stderr);
    const lines = fs.readFileSync(r.out, 'utf8').split('\n').filter((l) => /^\{"name"/.test(l));
    assert.deepStrictEqual(lines.map((l) => JSON.parse(l.replace(/,$/, ''))), r.events);
    const of = (name) => r.events.find((e) => e.name === name);
    assert.deepStrictEqual(of('a').args, { 'External id': 7, dims: [[1, 2], []] });
    assert.deepStrictEqual(of('a').more, { x: [1] });
    assert.strictEqual(of('line\nend').args.text, 'x\r\n  y');
    assert.deepStrictEqual(of('n').id, { inner: [1] });
});
