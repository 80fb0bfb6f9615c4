// stacks_page.test.js: --html of perf-trace-stacks from the outside; what a browser makes of the page is
// in tests/browser. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const t = require('./stacks_tool.js');

// Whether the tool was built with the library that draws.
const possible = !/libjs-d3/.test(t.run(['x', '--html', '-']).stderr);
if (!possible && process.env.PERFTRACE_TEST_REQUIRE_ALL) {
    console.error('the tool was built without D3');
    process.exit(1);
}

function pageOf(input, ...args) {
    const r = t.run(['-', '--html', '-', '-q', ...args], { input: Buffer.from(input) });
    assert.strictEqual(r.status, 0, r.stderr);
    return r.stdout.toString('utf8');
}
const partOf = (page) => page.match(/<script type="application\/json" id="data">\n([^]*?)<\/script>/)[1];
const dataOf = (page) => JSON.parse(partOf(page));

// Each box as "thread;names" to [self, samples].
function boxesOf(data) {
    const boxes = {};
    for (const thread of data.threads) {
        const path = [`[${thread.name}]`];
        boxes[path[0]] = [thread.self, thread.samples_without_frames];
        thread.name_of.forEach((name, i) => {
            path.push(`${path[thread.parent_of[i]]};${data.names[name]}`);
            boxes[path[i + 1]] = [thread.self_of[i], thread.samples_of[i]];
        });
    }
    return boxes;
}

if (possible) {
    test('the page holds all it needs, and no name is markup', () => {
        const page = pageOf('a;</script><b>x;<!-- 3\n');
        assert(page.startsWith('<!DOCTYPE html>') && page.includes("default-src 'none'"));
        assert(!/<\/script>|<b>|<!--/.test(partOf(page)));
        const markup = page.replace(/<(script|style)[^>]*>[^]*?<\/\1>/g, '');
        assert.deepStrictEqual([...markup.matchAll(/(?:src|href)="([^"]*)"/g)].map((m) => m[1]), ['data:,']);
        assert.deepStrictEqual(dataOf(page).names, ['a', '</script><b>x', '<!--']);
    });

    test('boxes: names under names, with their own weights', () => {
        const frames = [{ name: 'f', line: 1 }, { name: 'f', line: 2 }, { name: 'g' }];
        const input = JSON.stringify({ shared: { frames }, profiles: [
            { type: 'sampled', name: 'x', unit: 'seconds', startValue: 0, endValue: 9,
              samples: [[0], [1, 2], [0, 2], []], weights: [1, 2, 4, 8] },
            { type: 'sampled', name: 'y', unit: 'bytes', startValue: 0, endValue: 9, samples: [[2]], weights: [16] }] });
        const data = dataOf(pageOf(input));
        assert.deepStrictEqual(boxesOf(data), { '[x]': [8, 1], '[x];f': [1, 1], '[x];f;g': [6, 2],
                                                '[y]': [0, 0], '[y];g': [16, 1] });
        assert.deepStrictEqual(data.threads.map((thread) => thread.unit), ['seconds', 'bytes']);
        assert.deepStrictEqual(Object.keys(boxesOf(dataOf(pageOf(input, '-t', 'y')))), ['[y]', '[y];g']);
    });

    test('more boxes than are drawn: the lightest ones are put into their callers, nothing is lost', () => {
        let lines = 'p;heavy;leaf 1000000\n';
        for (let i = 0; i < 130000; i++)
            lines += `p;f${i % 100};g${i} ${1 + i % 3}\n`;
        const data = dataOf(pageOf(lines));
        const [thread] = data.threads;
        assert(thread.name_of.length < 100000);
        assert.match(data.about, /\d+ of the lightest boxes are put into their callers/);
        const sum = (list) => list.reduce((a, b) => a + b, 0);
        const expected = lines.split('\n').filter(Boolean).reduce((n, l) => n + Number(l.split(' ')[1]), 0);
        assert.strictEqual(sum(thread.self_of) + thread.self, expected);
        assert.strictEqual(sum(thread.samples_of), 130001);
        assert.deepStrictEqual(boxesOf(data)['[p];p;heavy;leaf'], [1000000, 1]);
        thread.parent_of.forEach((parent, i) => assert(parent <= i, 'a parent comes first'));
    });

    test('the report comes, too, unless the page takes its place', () => {
        const dir = t.files({ 'a.txt': 'a;b 1\n' });
        const both = t.run(['a.txt', '--html', 'a.html'], { cwd: dir });
        assert.match(both.stdout.toString(), /Self weight/);
        assert(t.fs.readFileSync(`${dir}/a.html`, 'utf8').startsWith('<!DOCTYPE html>'));
        const files = t.run(['a.txt', '--html', '-', '-o', 'a.md'], { cwd: dir });
        assert(files.stdout.toString().startsWith('<!DOCTYPE html>'));
        assert.match(t.fs.readFileSync(`${dir}/a.md`, 'utf8'), /Self weight/);
    });

    test('an input is not overwritten', () => {
        const dir = t.files({ 'a.txt': 'a;b 1\n' });
        assert.strictEqual(t.run(['a.txt', '--html', 'a.txt'], { cwd: dir }).status, 4);
        assert.strictEqual(t.fs.readFileSync(`${dir}/a.txt`, 'utf8'), 'a;b 1\n');
    });
} else {
    test('without D3 the tool says what to install', () => {
        const r = t.run(['x', '--html', '-']);
        assert.strictEqual(r.status, 4);
        assert.match(r.stderr, /libjs-d3.*PERFTRACE_D3_JS/);
    });
}

for (const args of [['convert', 'x', '--html', 'y'], ['diff', 'x', 'y', '--html', 'z'], ['x', '--html', 'y', '-o', 'y'],
                    ['x', '--html=']])
    test(`usage: ${args.join(' ')}`, () => assert.strictEqual(t.run(args).status, 2));
