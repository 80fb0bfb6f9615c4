// stacks_convert.test.js: profiles written again: convert, merge, diff, batch. Uses ../shared.
// SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const zlib = require('zlib');
const { execFileSync } = require('child_process');
const t = require('./stacks_tool.js');

const here = t.fs.existsSync(t.CORPUS);
const corpus = (name) => t.path.join(t.CORPUS, name);
const read = (...parts) => t.fs.readFileSync(t.path.join(...parts), 'utf8');
const near = (a, b, what = '') => assert(Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(b)), `${what} ${a}, not ${b}`);
const files = (folder, end) => (here ? t.fs.readdirSync(corpus(folder)).sort() : [])
    .filter((name) => end.test(name) && t.fs.statSync(corpus(`${folder}/${name}`)).size > 0)
    .map((name) => `${folder}/${name}`);

// What the reference makes of collapsed stacks: see REFERENCE.
function reference(profiles, frequency) {
    const weights = profiles.flatMap((p) => p.samples.map((s) => s.weight)).sort((a, b) => a - b);
    const times = weights[Math.floor(weights.length / 2)] > 100000;
    const scale = times ? 1e-9 : 1 / frequency;
    const numbers = new Map();
    return { times, numbers, profiles: profiles.map((p) => ({
        name: p.name,
        samples: p.samples.map((s) => s.stack.map(({ name }) => {
            if (!numbers.has(name))
                numbers.set(name, numbers.size);
            return numbers.get(name);
        })),
        weights: p.samples.map((s) => s.weight * scale) })) };
}

const NOT_PLAIN = /utf16|all-diff/;
for (const name of files('collapsed', /./).filter((each) => !NOT_PLAIN.test(each))) {
    test(`${name}: as the reference converts it`, () => {
        for (const frequency of [99, 1000]) {
            const out = t.path.join(t.folder(), 'out.json');
            const r = t.run(['convert', corpus(name), '-o', out, '--freq', frequency]);
            assert.strictEqual(r.status, 0, r.stderr);
            const expected = reference(t.readCollapsed(corpus(name)), frequency);
            assert(r.stderr.includes(expected.times ? 'taken for nanoseconds'
                                                    : `counts of samples at ${frequency} Hz`), r.stderr);
            const made = JSON.parse(read(out));
            assert.deepStrictEqual(made.shared.frames, [...expected.numbers.keys()].map((f) => ({ name: f })));
            assert.strictEqual(made.profiles.length, expected.profiles.length);
            made.profiles.forEach((p, i) => {
                const other = expected.profiles[i];
                assert.deepStrictEqual([p.type, p.unit, p.startValue, p.name], ['sampled', 'seconds', 0, other.name]);
                assert.deepStrictEqual(p.samples, other.samples);
                other.weights.forEach((w, k) => near(p.weights[k], w));
                near(p.endValue, other.weights.reduce((a, b) => a + b, 0));
            });
        }
    });

    test(`${name}: to speedscope and back`, () => {
        const dir = t.folder();
        const straight = t.path.join(dir, 'a.txt');
        const back = t.path.join(dir, 'b.txt');
        assert.strictEqual(t.run(['convert', corpus(name), '-o', straight]).status, 0);
        assert.strictEqual(t.run(['convert', corpus(name), '-o', `${dir}/x.json`, '--unit', 'none']).status, 0);
        assert.strictEqual(t.run(['convert', `${dir}/x.json`, '-o', back]).status, 0);
        assert.strictEqual(read(back), read(straight));
        const total = (path) => t.report(['summary', path]).profile.weight;
        near(total(straight), total(corpus(name)));
    });
}

for (const name of files('speedscope', /json$/)) {
    test(`${name}: to collapsed stacks`, () => {
        const dir = t.folder();
        const r = t.run(['convert', corpus(name), '-o', `${dir}/a.txt`]);
        assert.strictEqual(r.status, 0, r.stderr);
        const before = t.report(['summary', corpus(name)]);
        const lines = read(dir, 'a.txt').split('\n').filter(Boolean);
        const weights = lines.map((line) => Number(line.slice(line.lastIndexOf(' ') + 1)));
        const total = before.threads.reduce((n, each) => n + each.weight, 0);
        const scale = before.profile.unit === 'seconds' ? 1e9 : 1;
        assert(Math.abs(weights.reduce((a, b) => a + b, 0) - total * scale) <= lines.length, 'each is rounded');
        const sorted = lines.map((line) => line.slice(0, line.lastIndexOf(' ')));
        assert.strictEqual(new Set(sorted).size, lines.length, 'no stack twice');
        for (const line of lines)
            assert(before.threads.some((each) => line.startsWith(each.thread)), 'the thread comes first');
    });

    test(`${name}: speedscope again is the same`, () => {
        const dir = t.folder();
        const flags = ['--to', 'speedscope', '-o', `${dir}/a.json`];
        assert.strictEqual(t.run(['convert', corpus(name), ...flags]).status, 0);
        const of = (path) => {
            const r = t.report(['full', path]);
            return [r.stacks.map((row) => [row.stack, row.samples]), r.profile.samples];
        };
        assert.deepStrictEqual(of(`${dir}/a.json`), of(corpus(name)));
    });
}

// ---- names, units ----

test('names of outputs', () => {
    const dir = t.files({ 'a.collapsed.txt': 'p;f 1\n', 'b_collapsed.txt': 'p;f 1\n', 'c.txt': 'p;f 1\n',
                          'd.folded': 'p;f 1\n', 'e.txt.gz': zlib.gzipSync('p;f 1\n') });
    for (const name of t.fs.readdirSync(dir))
        assert.strictEqual(t.run(['convert', name], { cwd: dir }).status, 0);
    const made = t.fs.readdirSync(dir).filter((name) => name.includes('.speedscope.json'));
    assert.deepStrictEqual(made, ['a.speedscope.json', 'b.speedscope.json', 'c.speedscope.json',
                                  'd.folded.speedscope.json', 'e.speedscope.json']);
    const named = (name) => JSON.parse(read(dir, name)).name;
    assert.deepStrictEqual(made.map(named), ['a.collapsed', 'b_collapsed', 'c', 'd', 'e']);
    t.run(['convert', 'a.speedscope.json', '--name', 'ignored'], { cwd: dir });
    assert.strictEqual(read(dir, 'a.collapsed.txt'), 'p;f 10101010\n');
});

test('an input is never overwritten', () => {
    const dir = t.files({ 'a.txt': 'p;f 1\n', 'b.txt': 'p;f 2\n' });
    for (const args of [['convert', 'a.txt', '-o', 'a.txt'], ['merge', 'a.txt', 'b.txt', '-o', './b.txt'],
                        ['diff', 'a.txt', 'b.txt', '-o', 'b.txt'], ['top', 'a.txt', '-o', 'a.txt']]) {
        const r = t.run(args, { cwd: dir });
        assert.strictEqual(r.status, 4, args.join(' '));
        assert.match(r.stderr, /is one of the inputs/);
    }
    assert.deepStrictEqual([read(dir, 'a.txt'), read(dir, 'b.txt')], ['p;f 1\n', 'p;f 2\n']);
});

test('the boundary of the median: exactly 100000 is a count', () => {
    const of = (lines) => JSON.parse(t.text(['convert', '-', '-o', '-'], { input: Buffer.from(lines) })).profiles[0].weights;
    near(of('p;f 100000\n')[0], 100000 / 99);
    near(of('p;f 100001\n')[0], 100001e-9);
    near(of('p;f 1\np;g 100001\n')[0], 1e-9, 'the upper one of two');
    near(of('p;f 1\np;g 2\np;h 100001\n')[0], 1 / 99, 'the middle one of three');
});

test('units as they are told', () => {
    const of = (unit) => {
        const [p] = JSON.parse(t.text(['convert', '-', '-o', '-', '--unit', unit],
                                      { input: Buffer.from('p;f 200000.5\n') })).profiles;
        return [p.unit, p.weights[0]];
    };
    assert.deepStrictEqual(of('none'), ['none', 200000.5]);
    assert.deepStrictEqual(of('bytes'), ['bytes', 200000.5]);
    assert.deepStrictEqual(of('seconds'), ['seconds', 200000.5]);
    near(of('milliseconds')[1], 200.0005);
    near(of('microseconds')[1], 0.2000005);
    near(of('nanoseconds')[1], 0.0002000005);
    near(of('auto')[1], 0.0002000005);
});

test('speedscope to collapsed stacks with weights as they are wanted', () => {
    const dir = t.files({ 'a.json': JSON.stringify({ shared: { frames: [{ name: 'a;b\nc' }, { name: '#d' }] }, profiles: [
        { type: 'sampled', name: 'm', unit: 'seconds', startValue: 0, endValue: 1, samples: [[0, 1], [0, 1], []],
          weights: [0.25, 0.5, 0.01] }] }) });
    const of = (...args) => t.text(['convert', `${dir}/a.json`, '-o', '-', '--to', 'collapsed', ...args]);
    assert.strictEqual(of(), 'm;a:b c;#d 750000000\nm 10000000\n');
    assert.strictEqual(of('--unit', 'milliseconds'), 'm;a:b c;#d 750\nm 10\n');
    assert.strictEqual(of('--unit', 'seconds'), 'm;a:b c;#d 0.75\nm 0.01\n');
    assert.strictEqual(of('--freq', 100), 'm;a:b c;#d 75\nm 1\n');
});

test('a thread whose name begins with # is not lost as a comment', () => {
    const dir = t.files({ 'a.json': JSON.stringify({ shared: { frames: [{ name: 'f' }] }, profiles: [
        { type: 'sampled', name: '#1', unit: 'none', startValue: 0, endValue: 1, samples: [[0]], weights: [3] }] }) });
    t.run(['convert', `${dir}/a.json`, '-o', `${dir}/a.txt`]);
    assert.strictEqual(read(dir, 'a.txt'), ' #1;f 3\n');
    assert.strictEqual(t.report(['top', `${dir}/a.txt`]).profile.weight, 3);
});

test('only the threads that are wanted, and none that is empty', () => {
    const dir = t.files({ 'a.txt': 'm;f 1\nn;g 2\no;h 3\n' });
    const made = JSON.parse(t.text(['convert', `${dir}/a.txt`, '-o', '-', '-t', 'n']));
    assert.deepStrictEqual(made.profiles.map((p) => p.name), ['n']);
    assert.deepStrictEqual(made.shared.frames, [{ name: 'n' }, { name: 'g' }]);
    assert.strictEqual(t.run(['convert', `${dir}/a.txt`, '-o', '-', '-t', 'x']).status, 1);
});

// ---- merge ----

test('merge: all weights, threads of one name as one', () => {
    const dir = t.files({ 'a.txt': 'm;f 1\nn;g 2\n', 'b.txt': 'm;f 10\nm;h 20\n' });
    assert.strictEqual(t.text(['merge', `${dir}/a.txt`, `${dir}/b.txt`, '--to', 'collapsed']), 'm;f 11\nm;h 20\nn;g 2\n');
    const made = JSON.parse(t.text(['merge', `${dir}/a.txt`, `${dir}/b.txt`, '--to', 'speedscope', '--unit', 'none']));
    assert.deepStrictEqual(made.profiles.map((p) => [p.name, p.weights]), [['m', [1, 10, 20]], ['n', [2]]]);
});

test('merge of formats', { skip: !here && 'no corpus' }, () => {
    const inputs = ['collapsed/inferno__before.txt', 'perf-script/inferno__go-stacks.txt',
                    'collapsed/speedscope__simple-utf16-le.txt'].map(corpus);
    const r = t.run(['merge', ...inputs, '--to', 'collapsed', '-o', '-']);
    const total = r.stdout.toString().split('\n').filter(Boolean)
        .reduce((n, line) => n + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
    assert.strictEqual(total, 65 + 1250000 + 14);
});

// ---- diff ----

test('diff: self and inclusive changes', () => {
    const dir = t.files({ 'a.txt': 'p;f;g 10\np;f 5\np;old 1\n', 'b.txt': 'p;f;g 4\np;f 9\np;new 2\n' });
    const r = t.report(['diff', `${dir}/a.txt`, `${dir}/b.txt`]);
    assert.deepStrictEqual([r.totals.before, r.totals.after, r.totals.change], [16, 15, -1]);
    assert.deepStrictEqual(r.functions.map((f) => [f.function, f.self_before, f.self_after, f.self_change,
                                                   f.inclusive_before, f.inclusive_after, f.inclusive_change]), [
        ['g', 10, 4, -6, 10, 4, -6], ['f', 5, 9, 4, 15, 13, -2], ['new', 0, 2, 2, 0, 2, 2],
        ['old', 1, 0, -1, 1, 0, -1], ['p', 0, 0, 0, 16, 15, -1]]);
    assert(t.text(['diff', `${dir}/a.txt`, `${dir}/b.txt`, '-n', 1]).endsWith(t.table(
        ['Self before', 'Self after', 'Self change', 'Inclusive before', 'Inclusive after', 'Inclusive change', 'Function'],
        'rrrrrrl', [['10', '4', '-6', '10', '4', '-6', 'g']])));
    const twice = t.files({ 'a.txt': 'p;f 2\n', 'b.txt': 'p;f 8\n' });
    const scaled = t.report(['diff', '--normalize', `${twice}/a.txt`, `${twice}/b.txt`]);
    assert.deepStrictEqual([scaled.totals.before, scaled.totals.scale_of_before, scaled.functions[0].self_change], [8, 4, 0]);
});

test('diff: collapsed stacks with two weights, as others make them', { skip: !here && 'no corpus' }, () => {
    const a = corpus('collapsed/inferno__before.txt');
    const other = read(a).replace(/(\d+)$/gm, (n) => String(2 * Number(n))) + 'dd;new 7\n';
    const b = t.path.join(t.files({ 'b.txt': other }), 'b.txt');
    const made = t.text(['diff', a, b, '--to', 'collapsed']);
    const weights = (path) => new Map(read(path).split('\n').filter(Boolean).map((line) => {
        const at = line.lastIndexOf(' ');
        return [line.slice(0, at), Number(line.slice(at + 1))];
    }));
    const [before, after] = [weights(a), weights(b)];
    const expected = [...new Set([...before.keys(), ...after.keys()])]
        .map((stack) => `${stack} ${before.get(stack) || 0} ${after.get(stack) || 0}`);
    assert.deepStrictEqual(made.split('\n').filter(Boolean).sort(), expected.sort());
    assert.strictEqual(t.report(['top', '-'], { input: Buffer.from(made) }).profile.weight, 137);
});

test('diff: units must be the same', () => {
    const dir = t.files({ 'a.txt': 'p;f 1\n', 'b.json': JSON.stringify({ shared: { frames: [{ name: 'f' }] }, profiles: [
        { type: 'sampled', name: 'm', unit: 'seconds', startValue: 0, endValue: 1, samples: [[0]], weights: [1] }] }) });
    const r = t.run(['diff', `${dir}/a.txt`, `${dir}/b.json`]);
    assert.strictEqual(r.status, 3);
    assert.match(r.stderr, /of unit none, those of the other of unit seconds/);
    assert.strictEqual(t.run(['diff', `${dir}/a.txt`, `${dir}/b.json`, '--unit', 'seconds']).status, 0);
});

// ---- batch ----

function batchFolder() {
    const inputs = { 'perf_a_10_0_0_1_collapsed.txt': 'gcs;f 1\ngcs;g 2\nraylet;f 4\n',
                     'perf_b_collapsed.txt': 'x;y 2000000\n', 'other_collapsed.txt': 'no;no 1\n',
                     'perf_c_collapsed.txt.gz': zlib.gzipSync('z;w 99\n'), 'perf_d.txt': 'no;no 1\n' };
    for (let i = 0; i < 20; i++)
        inputs[`perf_many${i}_collapsed.txt`] = Array.from({ length: 50 }, (_, k) => `t${k % 3};f${i} ${k}\n`).join('');
    return t.files(inputs);
}
const contents = (dir) => t.fs.readdirSync(dir).sort().map((name) => [name, t.fs.readFileSync(t.path.join(dir, name)).toString('latin1')]);

test('batch: each file, and the summary of threads', () => {
    const dir = batchFolder();
    const r = t.run(['batch'], { cwd: dir });
    assert.strictEqual(r.status, 0, r.stderr);
    const summary = read(dir, 'perf_thread_summary.txt');
    const bases = [...summary.matchAll(/^=== (.*) ===$/gm)].map((m) => m[1]);
    assert.deepStrictEqual(bases.slice(0, 3), ['perf_a_10_0_0_1', 'perf_b', 'perf_c']);
    assert.strictEqual(bases.length, 23);
    assert(summary.startsWith(`=== perf_a_10_0_0_1 ===\n\nThreads in ./perf_a_10_0_0_1.speedscope.json:\n\n` +
        t.table(['Samples', 'CPU time', '% total', 'Thread name'], 'rrrl',
                [['1', '0.04s', '57.1%', 'raylet'], ['2', '0.03s', '42.9%', 'gcs']]) + '\n=== perf_b ==='));
    for (const base of bases)
        assert.strictEqual(JSON.parse(read(dir, `${base}.speedscope.json`)).profiles[0].unit, 'seconds');
    assert.strictEqual(t.fs.readdirSync(dir).length, 25 + 23 + 1);
    // A directory is read without the summary, which holds no stacks.
    const inputs = t.report(['summary', dir]).inputs.map((each) => t.path.basename(each.input));
    assert(inputs.length > 40 && !inputs.includes('perf_thread_summary.txt'));
});

test('batch: what is no plain file costs itself, and nothing is written over', () => {
    const dir = t.files({ 'perf_a_collapsed.txt': 'plain;f 1\n', 'perf_a_collapsed.txt.gz': zlib.gzipSync('gz;f 1\n'),
                          'perf_b_collapsed.txt': 'b;f 1\n' });
    execFileSync('mkfifo', [`${dir}/perf_c_collapsed.txt`]);
    const r = t.run(['batch', dir], { timeout: 60000 });
    assert.strictEqual(r.status, 3);
    assert.match(r.stderr, /perf_a_collapsed\.txt\.gz: left out: .* as perf_a_collapsed\.txt/);
    assert.match(r.stderr, /perf_c_collapsed\.txt: is no plain file/);
    const made = JSON.parse(t.fs.readFileSync(`${dir}/perf_a.speedscope.json`, 'utf8'));
    assert.deepStrictEqual(made.profiles.map((p) => p.name), ['plain']);
    const summary = t.fs.readFileSync(`${dir}/perf_thread_summary.txt`, 'utf8');
    assert.deepStrictEqual(summary.match(/^=== .*/gm), ['=== perf_a ===', '=== perf_a ===', '=== perf_b ===', '=== perf_c ===']);
    assert.match(summary, /perf_a_collapsed\.txt\.gz could not be read/);
});

test('batch: without a match an empty summary; one bad file costs itself', () => {
    const none = t.files({ 'x.txt': 'a;b 1\n' });
    assert.strictEqual(t.run(['batch', none]).status, 0);
    assert.strictEqual(read(none, 'perf_thread_summary.txt'), '');
    const one = t.files({ 'perf_a_collapsed.txt': 'a;b 1\n' });
    assert.strictEqual(t.run(['batch', `${one}/`]).status, 0);
    assert.match(read(one, 'perf_thread_summary.txt'), /Threads in [^ ]*[^/]\/perf_a\.speedscope\.json:/);
    const bad = t.files({ 'perf_a_collapsed.txt': 'nothing\n', 'perf_b_collapsed.txt': 'a;b 1\n' });
    const r = t.run(['batch', bad]);
    assert.strictEqual(r.status, 3);
    assert.match(read(bad, 'perf_thread_summary.txt'), /=== perf_a ===\n\nperf_a_collapsed.txt could not be read\n\n=== perf_b ===/);
    assert(t.fs.existsSync(`${bad}/perf_b.speedscope.json`) && !t.fs.existsSync(`${bad}/perf_a.speedscope.json`));
    assert.strictEqual(t.run(['batch', `${bad}/nowhere`]).status, 3);
});

// ---- workers ----

test('1, 2 and 8 workers: the same output, to the byte', () => {
    let seed = 1;
    const random = (n) => {
        seed = (seed * 1103515245 + 12345) % 2147483648;
        return Math.floor(seed / 2147483648 * n);
    };
    let lines = '';
    for (let i = 0; i < 250000; i++) {
        const depth = 1 + random(12);
        lines += `thread ${random(5)};${Array.from({ length: depth }, (_, d) => `function_${d}_${random(9)}`).join(';')} ` +
            `${random(1000)}.${random(10)}\n`;
    }
    const bad = `${lines.slice(0, 9e6)}\nbad line\n${lines.slice(9e6)}`;
    const dir = t.files({ 'a.txt': lines, 'b.txt': bad, 'c.txt.gz': zlib.gzipSync(lines) });
    for (const args of [['a.txt'], ['top', 'b.txt', '--json'], ['full', 'c.txt.gz', '-n', 500], ['callers', 'function_2_3', 'a.txt'],
                        ['a.txt', 'b.txt', 'c.txt.gz', '--json', '--inclusive', 'function_0_1'],
                        ['convert', 'b.txt', '-o', '-', '--to', 'speedscope'], ['diff', 'a.txt', 'b.txt'],
                        ['merge', 'a.txt', 'b.txt', '--to', 'collapsed']]) {
        const of = (jobs) => {
            const r = t.run([...args, '-j', jobs], { cwd: dir });
            return [r.status, r.stdout.toString('latin1'), r.stderr];
        };
        const one = of(1);
        assert.strictEqual(one[0], 0, one[2]);
        for (const jobs of [2, 8])
            assert.deepStrictEqual(of(jobs), one, `${args.join(' ')} with ${jobs} workers`);
    }
    const batches = [1, 2, 8].map((jobs) => {
        const folder = batchFolder();
        t.run(['batch', '-j', jobs], { cwd: folder });
        return contents(folder);
    });
    assert.deepStrictEqual(batches[1], batches[0]);
    assert.deepStrictEqual(batches[2], batches[0]);
});

if (!here)
    test('the corpus', { skip: `${t.CORPUS} is not here` }, () => {});
