// stacks_edges.test.js: what is odd about stacks, each on its own. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const zlib = require('zlib');
const t = require('./stacks_tool.js');

// A speedscope file of profiles; frames are named by their letters.
const NAMES = 'abcdefgh';
function speedscope(profiles, more = {}) {
    return JSON.stringify({ $schema: 'https://www.speedscope.app/file-format-schema.json',
                            shared: { frames: [...NAMES].map((name) => ({ name })) },
                            profiles: profiles.map((p) => ({ type: 'sampled', name: 'w', unit: 'seconds',
                                                             startValue: 0, endValue: 1, ...p })), ...more });
}
const stack = (letters) => [...letters].map((c) => NAMES.indexOf(c));
const sampled = (name, samples, more = {}) => ({
    name, samples: samples.map(([letters]) => stack(letters)), weights: samples.map(([, w]) => w), ...more });
const file = (content, name = 'p.json') => t.path.join(t.files({ [name]: content }), name);
const rows = (table, ...keys) => table.map((row) => keys.map((key) => row[key]));

// ---- depth ----

// Frame k is open from k to 2 * DEEP - 1 - k; every stack between has 1 in each direction.
const DEEP = 100000;
function deep(functions) {
    const events = [];
    for (let k = 0; k < DEEP; k++)
        events.push({ type: 'O', frame: k % functions, at: k });
    for (let k = DEEP - 1; k >= 0; k--)
        events.push({ type: 'C', frame: k % functions, at: 2 * DEEP - 1 - k });
    return file(JSON.stringify({ shared: { frames: Array.from({ length: functions }, (_, k) => ({ name: `f${k}` })) },
                                 profiles: [{ type: 'evented', name: 'w', unit: 'none', startValue: 0,
                                              endValue: 2 * DEEP - 1, events }] }));
}

test('100,000 frames deep: self, inclusive, callers, call graph, diff', () => {
    const path = deep(DEEP), total = 2 * DEEP - 1, at = 50000, open = total - 2 * at;
    const r = t.report(['--inclusive', `f0,f${at},f${DEEP - 1}`, path]);
    assert.deepStrictEqual(rows(r.inclusive, 'function', 'samples', 'weight'),
                           [['f0', total, total], [`f${at}`, open, open], [`f${DEEP - 1}`, 1, 1]]);
    const top = t.report(['top', '-n', '2', path]);
    assert.deepStrictEqual(rows(top.self, 'function', 'weight'), [['f0', 2], ['f1', 2]]);
    const names = (from, to) => Array.from({ length: to - from + 1 }, (_, i) => `f${from + i}`).join(';');
    assert.deepStrictEqual(rows(t.report(['callers', `f${at}`, path]).callers, 'stack', 'weight'), [[names(at - 4, at), open]]);
    const all = t.report(['callers', `f${at}`, '--depth', '0', path]).callers;
    assert.deepStrictEqual(rows(all, 'stack', 'weight'), [[names(0, at), open]]);
    const graph = t.report(['callgraph', `f${at}`, path]);
    assert.deepStrictEqual(rows(graph.callgraph_callers, 'stack', 'weight'), [[names(at - 4, at), open]]);
    assert.deepStrictEqual(rows(graph.callgraph_callees, 'stack', 'weight'),
                           [[`f${at}`, 2], [names(at, at + 4), open - 8],
                            ...[1, 2, 3].map((n) => [names(at, at + n), 2])]);
    assert.deepStrictEqual([graph.callgraph.inclusive_weight, graph.callgraph.self_weight], [open, 2]);
    const diff = t.report(['diff', path, path, '-n', '1']).functions;
    assert.deepStrictEqual(rows(diff, 'function', 'self_after', 'inclusive_after', 'self_change', 'inclusive_change'),
                           [['f0', 2, total, 0, 0]]);
});

test('100,000 frames of one recursion: counted once, and what would fill a disk is refused', () => {
    const path = deep(1), total = 2 * DEEP - 1;
    const r = t.report(['inclusive', path]);
    assert.deepStrictEqual(rows(r.inclusive, 'function', 'samples', 'weight', 'share_of_all'), [['f0', total, total, 1]]);
    for (const [args, frames] of [[['full'], '268435456'], [['callers', 'f0', '--depth', '0'], '268435456'],
                                  [['convert', '--to', 'speedscope', '-o', '-'], '1073741824'],
                                  [['convert', '--to', 'collapsed', '-o', '-'], '268435456'],
                                  [['diff', '--to', 'collapsed', path], '268435456']]) {
        const refused = t.run([...args, path]);
        assert.strictEqual(refused.status, 1, refused.stderr);
        assert.match(refused.stderr, new RegExp(`too deep .*more than ${frames}`));
        assert.strictEqual(refused.stdout.length, 0);
    }
});

// ---- recursion ----

const RECURSION = 'abcb';
test('recursion: callers take the deepest occurrence, the call graph the shallowest', () => {
    const path = file(speedscope([sampled('w', [[RECURSION, 2], ['ab', 1]])]));
    const callers = t.report(['callers', 'b', path]);
    assert.deepStrictEqual(rows(callers.callers, 'stack', 'weight'), [['a;b;c;b', 2], ['a;b', 1]]);
    const graph = t.report(['callgraph', 'b', path]);
    assert.deepStrictEqual(rows(graph.callgraph_callers, 'stack', 'weight'), [['a;b', 3]]);
    assert.deepStrictEqual(rows(graph.callgraph_callees, 'stack', 'weight'), [['b', 1], ['b;c;b', 2]]);
    assert.strictEqual(graph.callgraph.inclusive_weight, 3);
    assert.strictEqual(graph.callgraph.self_weight, 3);
});

test('recursion: inclusive counts a sample once', () => {
    const r = t.report(['--inclusive', 'b', file(speedscope([sampled('w', [['abbb', 10], ['a', 90]])]))]);
    assert.deepStrictEqual(rows(r.inclusive, 'function', 'samples', 'weight', 'share_of_all'), [['b', 1, 10, 0.1]]);
});

test('depth: so many frames nearest to the function, 0 all of them', () => {
    const path = file(speedscope([sampled('w', [['abcdefgh', 1]])]));
    const of = (depth) => t.report(['callers', 'g', path, ...depth]).callers[0].stack;
    assert.strictEqual(of([]), 'c;d;e;f;g');
    assert.strictEqual(of(['--depth', 2]), 'f;g');
    assert.strictEqual(of(['--depth', 0]), 'a;b;c;d;e;f;g');
    const below = t.report(['callgraph', 'b', path, '--depth', 3]).callgraph_callees[0].stack;
    assert.strictEqual(below, 'b;c;d');
});

test('depth 1: nothing is called self that is not', () => {
    const path = file(speedscope([sampled('w', [['ab', 1]])]));
    const out = t.text(['callgraph', 'a', path, '--depth', 1]);
    assert(!out.includes('(self)'));
    assert(out.includes('Self: 0 samples'));
});

// ---- weights ----

test('empty stacks count in the total, not in self time', () => {
    const r = t.report([file(speedscope([sampled('w', [['', 3], ['a', 1]])]))]);
    assert.strictEqual(r.profile.weight, 4);
    assert.deepStrictEqual(rows(r.self, 'function', 'weight', 'share_of_all'), [['a', 1, 0.25]]);
});

test('an empty file, and one of blank lines: told, exit status 3, nothing printed', () => {
    for (const content of ['', '\n  \r\n']) {
        const r = t.run(['top', file(content, 'empty.txt')]);
        assert.strictEqual(r.status, 3);
        assert.match(r.stderr, /empty\.txt: it is empty: there are no stacks/);
        assert.strictEqual(r.stdout.length, 0);
    }
});

test('a total of zero is no division by zero', () => {
    const path = file(speedscope([sampled('w', [['ab', 0], ['a', 0]])]));
    for (const args of [[path], ['threads', path], ['callers', 'a', path], ['callgraph', 'a', path],
                        ['full', path], [path, '--inclusive', 'a']]) {
        const r = t.run(args);
        assert.strictEqual(r.status, 0, r.stderr);
        assert(!/nan|inf(?!er)/i.test(r.stdout.toString().replace(/[Ii]nclusive/g, '')), r.stdout.toString());
        assert(r.stdout.toString().includes('0.0%'));
        assert(!r.stdout.toString().match(/[1-9]\.\d%/));
    }
});

test('frames without a file and a line; the base name of a file', () => {
    const frames = [{ name: 'none' }, { name: 'file', file: '/x/y/z.py' }, { name: 'line', line: 7 },
                    { name: 'both', file: 'C:/w.py', line: 3, col: 9 }, { name: 'none', file: 'o.py', line: 1 }];
    const path = file(JSON.stringify({ shared: { frames }, profiles: [{
        type: 'sampled', name: 'w', unit: 'none', startValue: 0, endValue: 5,
        samples: frames.map((f, i) => [i]), weights: frames.map((f, i) => 5 - i) }] }));
    const places = t.text(['top', path, '--no-categories']).split('\n')
        .map((line) => line.match(/^\|.*\| (\w+) +\| (\S+) +\|$/)).filter(Boolean).map((m) => [m[1], m[2]]);
    assert.deepStrictEqual(places.slice(1), [['none', ':?'], ['file', 'z.py:?'], ['line', ':7'],
                                             ['both', 'w.py:3'], ['none', 'o.py:1']]);
});

test('several threads match: their samples follow each other', () => {
    const path = file(speedscope([sampled('One "x"', [['a', 1]]), sampled('other', [['b', 2]]),
                                  sampled('one "y"', [['ac', 3]])]));
    const r = t.report([path, '-t', 'oNe']);
    assert.strictEqual(r.profile.matching, 2);
    assert.strictEqual(r.profile.weight, 4);
    assert.deepStrictEqual(rows(r.self, 'function', 'weight'), [['c', 3], ['a', 1]]);
    const callers = t.text(['callers', 'a', path, '-t', 'one']);
    assert.match(callers, /of all, 75\.0% of 'a'\) \[y\] ---/);
    assert.match(callers, /of all, 25\.0% of 'a'\) \[x\] ---/);
});

test('no thread matches: exit status 1, and how to list them', () => {
    const r = t.run([file(speedscope([sampled('w', [['a', 1]])])), '-t', 'nobody']);
    assert.strictEqual(r.status, 1);
    assert.match(r.stderr, /no thread's name holds 'nobody'\n.*threads lists/);
});

test('a function that is nowhere is told, and is no failure', () => {
    for (const command of ['callers', 'callgraph']) {
        const r = t.run([command, 'nowhere', file(speedscope([sampled('w', [['a', 1]])]))]);
        assert.strictEqual(r.status, 0);
        assert.match(r.stderr, /'nowhere' is in no stack/);
    }
});

test('no share is above 100 % of its base, whatever the threads', () => {
    const path = file(speedscope([sampled('x', [['aab', 70], ['a', 30]]), sampled('y', [['abab', 100]])]));
    for (const args of [['inclusive', path], [path, '--inclusive', 'a,b', '--callers', 'a', '--call-graph', 'a', '--full']]) {
        const shares = [...t.text(args).matchAll(/([\d.]+)%/g)].map((m) => Number(m[1]));
        assert(shares.length >= 2 && Math.max(...shares) === 100, shares.join(' '));
    }
});

// ---- units ----

test('units are converted', () => {
    for (const [unit, weight] of [['nanoseconds', 5e8], ['microseconds', 5e5], ['milliseconds', 500], ['seconds', 0.5]]) {
        const r = t.report([file(speedscope([sampled('w', [['a', weight]], { unit })]))]);
        assert.strictEqual(r.profile.unit, 'seconds');
        assert.strictEqual(r.profile.weight, 0.5);
    }
});

test('threads of several units are not summed up together', () => {
    const path = file(speedscope([sampled('x', [['a', 1]]), sampled('y', [['b', 1000]], { unit: 'bytes' })]));
    const r = t.report([path]);
    assert.strictEqual(r.profile.weight, 1);
    assert.match(r.stderr, /1 thread is left out of the sums/);
    assert.deepStrictEqual(rows(t.report(['threads', path]).threads, 'unit', 'share_of_total').sort(),
                           [['bytes', 1], ['seconds', 1]]);
});

test('an unknown unit costs its profile', () => {
    const r = t.report([file(speedscope([sampled('x', [['a', 1]], { unit: 'weeks' }), sampled('y', [['b', 1]])]))]);
    assert.deepStrictEqual(t.problems(r), { bad_profile: 1 });
    assert.deepStrictEqual(rows(r.self, 'function'), [['b']]);
});

test('old py-spy: weights of 1 without a unit are counts, --freq makes them time', () => {
    const path = file(speedscope([sampled('w', [['a', 1], ['b', 1]], { unit: 'none' })]));
    assert.strictEqual(t.report([path]).profile.unit, 'none');
    const r = t.report([path, '--freq', 100]);
    assert.deepStrictEqual([r.profile.unit, r.profile.weight], ['seconds', 0.02]);
});

// ---- broken files ----

test('bad samples cost themselves', () => {
    const p = { name: 'w', samples: [[0], [[1]], [99], ['x'], 5, [1.5], [1], [0]], weights: [1, 1, 1, 1, 1, 1, -1, null] };
    const r = t.report([file(speedscope([p]))]);
    assert.deepStrictEqual(t.problems(r), { bad_stack: 5, bad_weight: 2 });
    assert.strictEqual(r.profile.weight, 1);
    assert.strictEqual(t.run(['--strict', file(speedscope([p]))]).status, 1);
});

test('a file that is cut off gives what is whole', () => {
    const whole = speedscope([sampled('x', [['a', 1]]), sampled('y', [['b', 2]]), sampled('z', [['c', 3]])]);
    const r = t.report([file(whole.slice(0, whole.indexOf('"z"') + 8))]);
    assert.strictEqual(r.profile.weight, 3);
    assert.strictEqual(t.problems(r).cut_json, 1);
    for (let n = 1; n < whole.length; n += 7)
        assert([0, 3].includes(t.run([file(whole.slice(0, n))]).status), `cut at ${n}`);
});

test('JSON as Python writes it: NaN weights cost themselves', () => {
    const text = speedscope([sampled('x', [['a', 1], ['b', 12345]])]).replace('12345', 'NaN');
    const r = t.report([file(text)]);
    assert.deepStrictEqual(t.problems(r), { bad_weight: 1, mended_json: 1 });
    assert.strictEqual(r.profile.weight, 1);
});

test('gzip, standard input, and both', () => {
    const text = speedscope([sampled('x', [['a', 1]])]);
    const expected = t.report([file(text)]).self;
    assert.deepStrictEqual(t.report([file(zlib.gzipSync(text), 'p.json.gz')]).self, expected);
    assert.deepStrictEqual(t.report(['-'], { input: Buffer.from(text) }).self, expected);
    assert.deepStrictEqual(t.report(['-'], { input: zlib.gzipSync(text) }).self, expected);
    assert.deepStrictEqual(t.report(['-'], { input: Buffer.from('\ufeff' + text) }).self, expected);
    assert.deepStrictEqual(t.report(['-'], { input: Buffer.from('\ufeff' + text, 'utf16le') }).self, expected);
    assert.deepStrictEqual(t.report(['-'], { input: Buffer.from(text, 'utf16le') }).self, expected);
    assert.deepStrictEqual(t.report(['-'], { input: Buffer.from('\ufeff' + text, 'utf16le').swap16() }).self, expected);
});

test('a gzip file that is cut off gives what is there', () => {
    const lines = Array.from({ length: 20000 }, (_, i) => `main;f${i * 7919 % 1000};g${i} 1`).join('\n');
    const packed = zlib.gzipSync(lines);
    const r = t.report([file(packed.subarray(0, packed.length / 2), 'p.txt.gz')]);
    assert.strictEqual(r.status, 0);
    assert.strictEqual(t.problems(r).input_damaged, 1);
    assert(r.profile.weight > 1000 && r.profile.weight < 20000);
});

// ---- collapsed stacks ----

test('upper-case offsets stay, lower-case ones go', () => {
    const path = file('p;f+0x1f;g+0xAB 1\np;f;g+0xab 2\np;f+0x;g 4\n', 'p.txt');
    const r = t.report(['full', path]);
    assert.deepStrictEqual(rows(r.stacks, 'stack', 'weight').sort(),
                           [['p;f+0x;g', 4], ['p;f;g', 2], ['p;f;g+0xAB', 1]].sort());
});

test('weights of collapsed stacks: what is a number and what is not', () => {
    const good = ['0', '1', '007', '1.5', '2.', '1e3', '0.25', '12345678901234567890'];
    const bad = ['-1', '+1', '.5', 'nan', 'inf', '1x', '1_0', '0x10', '1e999', '1.2.3'];
    const r = t.report([file([...good, ...bad].map((w, i) => `p;f${i} ${w}\n`).join(''), 'p.txt')]);
    assert.deepStrictEqual(t.problems(r), { bad_weight: bad.length });
    assert.deepStrictEqual(new Map(rows(r.self, 'function', 'weight')),
        new Map([['f7', 12345678901234567000], ['f5', 1000], ['f2', 7], ['f4', 2], ['f3', 1.5], ['f1', 1],
                 ['f6', 0.25], ['f0', 0]]));
});

test('one number alone is a stack without a weight', () => {
    const r = t.report([file('5\np 1\n', 'p.txt')]);
    assert.deepStrictEqual(t.problems(r), { no_weight: 1 });
});

test('a comment is a line that begins with #, nothing else', () => {
    const r = t.report([file('# a;b 1\n  #c;d 2\ne;#f 4\n', 'p.txt')]);
    assert.deepStrictEqual(rows(r.self, 'function'), [['#f'], ['d']]);
    assert.deepStrictEqual(r.problems, []);
});

test('two columns are not taken for that when one line has only one', () => {
    const r = t.report([file('p;f 1 2\np;g 3\n', 'p.txt')]);
    assert.deepStrictEqual(rows(r.self, 'function', 'weight'), [['g', 3], ['f 1', 2]]);
});

test('a long line and a deep stack', () => {
    const deep = Array.from({ length: 100000 }, (_, i) => `f${i}`).join(';');
    const r = t.report(['summary', file(`p;${'x'.repeat(9 << 20)} 1\n${deep} 2\n`, 'p.txt')]);
    assert.deepStrictEqual(rows(r.threads, 'weight', 'max_depth'), [[2, 100000], [1, 2]]);
    assert.strictEqual(t.run(['callers', 'f99999', file(`${deep} 2\n`, 'p.txt'), '--depth', 0]).status, 0);
});

// ---- perf script ----

test('perf script: names with blanks, processors, missing periods, inlined frames', () => {
    const text = 'Thread Pool 1 71/72 [003] 5.000001: 10 cycles:u:\n\t401b97 f+0x1f (/a b/c (deleted))\n' +
        '\t401b98 ns::g(int, char) (inlined)\n\t0 [unknown] ([unknown])\n\n' +
        'x 5 6.25: cycles:\n\tffff h+0x1 (k)\n\n:0     0 7.5:   3 e: ffffffff sym+0x9 (dso)\n';
    const r = t.report(['full', file(text, 'p.txt')]);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.deepStrictEqual(rows(r.stacks, 'stack', 'weight'), [
        ['Thread Pool 1;[unknown];ns::g(int, char);f', 10], [':0;sym', 3], ['x;h', 1]]);
});

// ---- the command line ----

test('a word that is a file is a file', () => {
    const dir = t.files({ top: speedscope([sampled('w', [['a', 1]])]) });
    assert.match(t.text(['top'], { cwd: dir }), /Profile: top\n/);
    assert.match(t.text(['top', 'top'], { cwd: dir }), /Profile: top\n/);
});

test('several inputs: threads of one name are one', () => {
    const dir = t.files({ 'a.json': speedscope([sampled('m', [['a', 1]]), sampled('x', [['b', 2]])]),
                          'b.txt': 'm;a 4\n', 'c.json': speedscope([sampled('m', [['a', 8]]), sampled('m', [['a', 16]])]) });
    const r = t.report(['threads', `${dir}/a.json`, `${dir}/c.json`]);
    assert.deepStrictEqual(rows(r.threads, 'thread', 'weight'), [['m', 16], ['m', 9], ['x', 2]]);
    const mixed = t.report([dir]);
    assert.match(mixed.stderr, /left out of the sums/);
});

test('what cannot be read does not keep the rest from being shown', () => {
    const dir = t.files({ 'a.txt': 'm;a 4\n', 'b.txt': 'nothing\n' });
    const r = t.report([`${dir}/a.txt`, `${dir}/b.txt`, `${dir}/c.txt`]);
    assert.strictEqual(r.status, 3);
    assert.strictEqual(r.profile.weight, 4);
    assert.match(r.stderr, /b\.txt: it holds no stacks/);
    assert.match(r.stderr, /c\.txt: No such file/);
});

for (const [what, args] of Object.entries({
    'no input': [], 'no function': ['callers'], 'one side': ['diff', 'a'], 'two directories': ['batch', 'a', 'b'],
    'two forms': ['x', '--json', '--csv'], 'a frequency of nothing': ['x', '--freq', '0'],
    'a frequency and a unit': ['x', '--freq', '9', '--unit', 'seconds'], 'two to convert': ['convert', 'a', 'b'] }))
    test(`usage: ${what}`, () => assert.strictEqual(t.run(args).status, 2));

test('Other is a row only where there is other weight', () => {
    const dir = t.files({ 'a.txt': 'm;a 3\n', 'b.txt': 'm;a 3\nm;b 1\n', categories: '{"x": ["a"]}' });
    const of = (name) => rows(t.report([`${dir}/${name}`, '-c', `${dir}/categories`]).categories, 'category', 'weight');
    assert.deepStrictEqual([of('a.txt'), of('b.txt')], [[['x', 3]], [['x', 3], ['Other', 1]]]);
});

// f0 [0, 12], f1 opened at 10 and closed at 4, which counts as 10.
test('--mend: after a time that goes back it goes on where it was', () => {
    const event = (type, frame, at) => ({ type, frame, at });
    const path = file(JSON.stringify({ shared: { frames: [{ name: 'f0' }, { name: 'f1' }] }, profiles: [
        { type: 'evented', name: 'p', unit: 'none', startValue: 0, endValue: 12,
          events: [event('O', 0, 0), event('O', 1, 10), event('C', 1, 4), event('C', 0, 12)] }] }));
    const r = t.report([path, '--mend', '--inclusive', 'f0,f1']);
    assert.strictEqual(r.profile.weight, 12);
    assert.deepStrictEqual(rows(r.inclusive, 'function', 'weight'), [['f0', 12], ['f1', 0]]);
});

test('diff --normalize scales both self and inclusive weights of the first profile', () => {
    const dir = t.files({ 'a.txt': 'm;a 10\nm;b 10\n', 'b.txt': 'm;a 30\nm;b 10\n' });
    const r = t.report(['diff', `${dir}/a.txt`, `${dir}/b.txt`, '--normalize']);
    assert.deepStrictEqual([r.totals.before, r.totals.after, r.totals.scale_of_before], [40, 40, 2]);
    const cells = ['function', 'self_before', 'self_after', 'inclusive_before', 'inclusive_after', 'inclusive_change'];
    assert.deepStrictEqual(rows(r.functions, ...cells).sort(),
                           [['a', 20, 30, 20, 30, 10], ['b', 20, 10, 20, 10, -10], ['m', 0, 0, 40, 40, 0]]);
});

test('no output takes the place of a file that is read', () => {
    const contents = { 'perf_a_collapsed.txt': 'm;a 4\n', 'b.txt': 'm;a 5\n', categories: '{"x": ["a"]}' };
    const dir = t.files(contents);
    t.fs.symlinkSync('b.txt', `${dir}/perf_b_collapsed.txt`);
    t.fs.symlinkSync('b.txt', `${dir}/perf_a.speedscope.json`);
    const one = `${dir}/perf_a_collapsed.txt`, other = `${dir}/b.txt`;
    for (const args of [[one, '-o', one], [one, other, '--html', other, '-o', '-'], ['diff', one, other, '-o', one],
                        ['diff', one, other, '-o', other, '--to', 'collapsed'], ['convert', one, '-o', one],
                        [one, '-c', `${dir}/categories`, '-o', `${dir}/categories`],
                        [one, '-c', `${dir}/categories`, '-o', '-', '--html', `${dir}/categories`],
                        ['batch', dir], ['batch', dir, '-o', one]]) {
        const r = t.run(args);
        if (args.includes('--html') && /libjs-d3/.test(r.stderr)) // the build has no pages
            continue;
        assert.strictEqual(r.status, 4, `${args.join(' ')}: ${r.stderr}`);
        assert.match(r.stderr, /is one of the inputs/);
    }
    for (const [name, text] of Object.entries(contents))
        assert.strictEqual(t.fs.readFileSync(`${dir}/${name}`, 'utf8'), text, name);
});

test('names do not steer a terminal, and bars do not break a table', () => {
    const path = file(speedscope([sampled('w', [['a', 1]])]).replace('"name":"a"', '"name":"\\u001b[31m|x\\n"'));
    const out = t.text([path, '--no-categories']);
    assert(out.includes('\\x1b[31m\\|x\\x0a'), out);
    assert(!out.includes('\u001b'));
});

// ---- a NUL ----

test('a NUL in a name does not end it, whatever file it is in', () => {
    const shown = 'a\u2400x';
    const names = ['a\0x', 'a\0y', 'a'];
    const json = JSON.stringify({ shared: { frames: names.map((name) => ({ name, file: 'f\0g.py', line: 1 })) },
                                  profiles: [{ type: 'sampled', name: 'w\0v', unit: 'none',
                                               samples: [[2, 0], [2, 1], [2]], weights: [4, 2, 1] }] });
    const texts = { 'p.json': json, 'p.txt': 'w\0v;a;a\0x 3\nw\0v;a;a\0y 2\nw\0v;a 1\nw\0v;a;a\0x 1\n' };
    for (const [name, content] of Object.entries(texts)) {
        const path = file(content, name);
        const r = t.report(['top', path]);
        assert.deepStrictEqual(rows(r.self, 'function', 'weight'), [[shown, 4], ['a\u2400y', 2], ['a', 1]], name);
        assert.strictEqual(t.problems(r).nul, 4); // frames and a profile, or lines
        if (name === 'p.json')
            assert.deepStrictEqual(r.self.map((row) => row.file), Array(3).fill('f\u2400g.py'));
        assert.deepStrictEqual(rows(t.report(['threads', path]).threads, 'thread', 'weight'), [['w\u2400v', 7]]);
        assert.strictEqual(t.report(['top', '-t', '\u2400V', path]).profile.matching, 1);
        assert.deepStrictEqual(rows(t.report(['callers', shown, path]).callers, 'weight'), [[4]]);
        const diff = t.report(['diff', path, path]).functions.filter((row) => row.self_before > 0);
        assert.deepStrictEqual(rows(diff, 'function', 'self_after').sort(), [['a', 1], [shown, 4], ['a\u2400y', 2]].sort());
        assert.strictEqual(t.text(['merge', '--to', 'collapsed', path]),
                           'w\u2400v;a;a\u2400x 4\nw\u2400v;a;a\u2400y 2\nw\u2400v;a 1\n');
        assert.strictEqual(t.run(['top', '--strict', path]).status, 1);
    }
});

// ---- weights without bounds, and JSON of another kind ----

test('weights whose sum would have no end are left out', () => {
    const events = [{ type: 'O', frame: 0, at: -1e300 }, { type: 'C', frame: 0, at: 1e300 }];
    const files = {
        'p.txt': 'a;b 1e308\na;b 1e281\na;b 1e280\na;b 2e280\n',
        'p.json': speedscope([sampled('a', [['b', 1e308], ['b', 1e281], ['b', 1e280], ['b', 2e280]])]) };
    for (const [name, content] of Object.entries(files)) {
        const r = t.report(['top', file(content, name)]);
        assert.strictEqual(r.profile.weight, 1e280, name);
        assert.deepStrictEqual(rows(r.self, 'function', 'weight', 'share_of_all'), [['b', 1e280, 1]]);
        assert.deepStrictEqual(t.problems(r), { bad_weight: 3 });
    }
    const evented = t.run(['top', file(speedscope([{ type: 'evented', events }]))]);
    assert.strictEqual(evented.status, 3);
    assert.match(evented.stderr, /profile left out/);
});

test('JSON that is a list, whole or cut off, is told for what it is', () => {
    for (const text of ['[[[1', '[[1]]', '[{}]', '["a"]', '['.repeat(100000)]) {
        const r = t.run(['top', file(text)]);
        assert.strictEqual(r.status, 3);
        assert.match(r.stderr, /it is JSON, but no speedscope file/, text.slice(0, 20));
        assert(!r.stderr.includes('no error'), r.stderr);
    }
});
