// stacks_corpus.test.js: every file of stacks of the corpus against the facts of its index, and its
// heaviest functions against the oracle of stacks_tool.js. Uses ../shared. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const t = require('./stacks_tool.js');

const INDEX = t.path.join(t.CORPUS, 'INDEX.tsv');
const here = t.fs.existsSync(INDEX);
const rows = here ? t.fs.readFileSync(INDEX, 'utf8').split('\n').slice(1).filter(Boolean).map((line) => {
    const [file, , , size, kind, facts] = line.split('\t');
    return { file, size: Number(size), kind, facts };
}) : [];
const of = (kind) => rows.filter((row) => row.kind === kind);
const fact = (facts, name) => {
    const found = facts.match(new RegExp(`(?:^|[ [,])${name}=([-\\d.]+)`));
    return found === null ? null : Number(found[1]);
};
const near = (a, b, what) => assert(Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(b)), `${what}: ${a}, not ${b}`);
const total = (threads, what) => threads.reduce((n, thread) => n + thread[what], 0);
const SECONDS = { milliseconds: 1e-3, seconds: 1 };

// ---- speedscope ----

// What the index says of each profile that it lists.
function profilesOf(facts) {
    return [...facts.matchAll(/\[name=(.*?), type=(\w+), unit=(\w+), (.*?)\](?= \[name=| \.\.\.|$)/g)].map(
        ([, name, type, unit, more]) => ({ name, type, unit, more }));
}

// Files of which something is left out, and what.
const WRONG = {
    'speedscope/Brook__profile.speedscope.json': { bad_stack: 26484 },
    'speedscope/speedscope__incomplete-trace.json': { open_at_end: 1 },
};

for (const { file, facts } of of('speedscope')) {
    const path = t.path.join(t.CORPUS, file);
    test(`${file}: what the index says`, () => {
        const r = t.report(['summary', path]);
        assert.strictEqual(r.status, 0, r.stderr);
        assert.deepStrictEqual(t.problems(r), WRONG[file] || {});
        assert.strictEqual(r.inputs[0].format, 'speedscope');
        assert.strictEqual(r.frames.frames, fact(facts, 'frames'));
        assert.strictEqual(r.threads.length, fact(facts, 'n_profiles'));
        profilesOf(facts).forEach((p, i) => {
            const thread = r.threads[i];
            assert.strictEqual(thread.thread, p.name);
            assert.strictEqual(thread.unit, p.unit in SECONDS ? 'seconds' : p.unit);
            assert.strictEqual(thread.max_depth, fact(p.more, 'max_depth'), p.name);
            if (p.type === 'sampled') {
                assert.strictEqual(thread.samples, fact(p.more, 'samples'), p.name);
                assert.strictEqual(thread.without_frames, fact(p.more, 'empty_stacks') || 0, p.name);
                near(thread.weight, fact(p.more, 'total_weight') * (SECONDS[p.unit] || 1), p.name);
            } else if (fact(p.more, 'non_idle_time') !== null) {
                near(thread.weight, fact(p.more, 'non_idle_time'), p.name);
            }
        });
        const all = fact(facts, 'total_weight_all');
        if (all !== null && !(file in WRONG))
            near(total(r.threads, 'weight'), all, 'the total');
    });
}

test('Brook: what is left of the total without the samples that are none', { skip: !here && 'no corpus' }, () => {
    const path = t.path.join(t.CORPUS, 'speedscope/Brook__profile.speedscope.json');
    const document = JSON.parse(t.fs.readFileSync(path, 'utf8'));
    let sound = 0;
    let broken = 0;
    for (const p of document.profiles) {
        p.samples.forEach((stack, i) => {
            if (stack.every(Number.isInteger))
                sound += p.weights[i];
            else
                broken++;
        });
    }
    const r = t.report(['summary', path]);
    assert.strictEqual(broken, 26484);
    near(r.profile.weight, sound * 1e-3, 'the total');
    assert.strictEqual(t.run(['--strict', 'summary', path]).status, 1);
});

test('incomplete-trace: the open frame ends with the profile', { skip: !here && 'no corpus' }, () => {
    const r = t.report([t.path.join(t.CORPUS, 'speedscope/speedscope__incomplete-trace.json')]);
    assert.strictEqual(r.self[0].weight, 100);
});

// ---- collapsed stacks ----

// What the plain reading of the oracle does not read; their own tests are below.
const NOT_PLAIN = new Set(['collapsed/speedscope__simple-utf16-le.txt',
                           'collapsed/inferno__perf-cycles-instructions-01-collapsed-all-diff.txt']);
const TELLS = {
    'collapsed/inferno__bad-lines.txt': { bad_weight: 2 },
    'collapsed/inferno__perf-cycles-instructions-01-collapsed-all-diff.txt': { two_columns: 1 },
};

for (const { file, size, facts } of of('collapsed').filter((row) => row.size > 0)) {
    const path = t.path.join(t.CORPUS, file);
    test(`${file}: what the index says`, () => {
        const r = t.report(['summary', path]);
        assert.strictEqual(r.status, 0, r.stderr);
        assert(size > 0);
        assert.deepStrictEqual(t.problems(r), TELLS[file] || {});
        assert.strictEqual(r.inputs[0].format, 'collapsed');
        assert.strictEqual(r.inputs[0].encoding, facts.includes('encoding=utf-16-le') ? 'UTF-16LE' : 'UTF-8');
        assert.strictEqual(r.inputs[0].lines, fact(facts, 'lines'));
        near(total(r.threads, 'weight'), fact(facts, 'total_weight'), 'the total');
        assert.strictEqual(total(r.threads, 'stacks'), fact(facts, 'unique_stacks'));
        assert.strictEqual(r.threads.length, fact(facts, 'distinct_first_frames'));
        assert.strictEqual(Math.max(...r.threads.map((thread) => thread.max_depth)), fact(facts, 'max_depth'));
        const passed = ['rejected_lines', 'blank_lines', 'comment_lines'].reduce((n, what) => n + (fact(facts, what) || 0), 0);
        assert.strictEqual(total(r.threads, 'samples'), fact(facts, 'lines') - passed);
    });

    if (NOT_PLAIN.has(file))
        continue;
    test(`${file}: its heaviest functions`, () => {
        const oracle = new t.Oracle(t.readCollapsed(path), 'none');
        const expected = oracle.self(1e9);
        assert(t.text(['top', path, '-n', 1000000, '--no-categories']).endsWith(`\n\n${expected}`), expected);
    });
}

test('UTF-16 with CRLF says what the same text in UTF-8 says', { skip: !here && 'no corpus' }, () => {
    const of = (name) => t.report(['top', t.path.join(t.CORPUS, `collapsed/speedscope__simple-${name}.txt`)]);
    assert.deepStrictEqual(of('utf16-le').self, of('crlf').self);
    assert.deepStrictEqual(of('crlf').self.map((row) => [row.function, row.weight]), [['c', 5], ['b', 5], ['d', 4]]);
});

test('two columns: the second one is taken', { skip: !here && 'no corpus' }, () => {
    const r = t.report(['top', t.path.join(t.CORPUS,
        'collapsed/inferno__perf-cycles-instructions-01-collapsed-all-diff.txt')]);
    assert.deepStrictEqual(r.self.map((row) => [row.function, row.weight]),
                           [['main', 415], ['cksum', 93], ['ext4_file_read_iter_[k]', 3], ['[unknown]', 2]]);
});

test('an empty file has no stacks', { skip: !here && 'no corpus' }, () => {
    const empty = of('collapsed').filter((row) => row.size === 0);
    assert.strictEqual(empty.length, 1);
    const r = t.run([t.path.join(t.CORPUS, empty[0].file)]);
    assert.strictEqual(r.status, 3);
    assert.match(r.stderr, /it is empty/);
});

// ---- perf script ----

for (const { file, facts } of of('perf-script')) {
    test(`${file}: what the index says`, () => {
        const r = t.report(['summary', t.path.join(t.CORPUS, file)]);
        const known = JSON.parse(facts.slice(facts.indexOf('{')));
        assert.strictEqual(r.status, 0, r.stderr);
        assert.strictEqual(r.inputs[0].format, 'perf script');
        assert.strictEqual(r.inputs[0].lines, known.lines);
        assert.strictEqual(total(r.threads, 'samples'), known.event_headers);
        // All of these samples have the period 250000.
        assert.strictEqual(total(r.threads, 'weight'), 250000 * known.event_headers);
        assert.deepStrictEqual(t.problems(r), file.includes('weird') ? { bad_header: 1 } : {});
    });
}

test('perf script becomes the collapsed stacks that its makers made of it', { skip: !here && 'no corpus' }, () => {
    const sorted = (text) => text.split('\n').sort().join('\n');
    const made = t.run(['convert', t.path.join(t.CORPUS, 'perf-script/inferno__go-stacks.txt'),
                        '--to', 'collapsed', '-o', '-']);
    assert.strictEqual(sorted(made.stdout.toString()), sorted(t.fs.readFileSync(
        t.path.join(t.CORPUS, 'collapsed/inferno__go-stacks-collapsed.txt'), 'utf8')));
});

// ---- what holds no stacks ----

const REFUSED = {
    'negative/zlib-ng__CVE-2002-0059.gz': /gzip data is damaged at byte/,
    'negative/pyroscope__flamegraph.json': /JSON, but no speedscope file/,
    'negative/TraceLens__cpu_op_map_trace2.json': /JSON, but no speedscope file/,
    'negative/viztracer__manifest.json': /JSON, but no speedscope file/,
    'negative/inferno__unknown-format.txt': /it holds no stacks/,
    'derived/HolisticTraceAnalysis__triton_2members.json.gz': /trace of events, not of stacks/,
    'derived/HolisticTraceAnalysis__triton_gzcut.json.gz': /trace of events, not of stacks/,
};

for (const { file } of [...of('negative'), ...of('derived')]) {
    test(`${file} is refused`, () => {
        for (const command of [[], ['summary'], ['convert', '-o', '-'], ['callers', 'main']]) {
            const r = t.run([...command, t.path.join(t.CORPUS, file)]);
            assert.strictEqual(r.status, 3, r.stderr);
            assert.strictEqual(r.stdout.length, 0);
            assert.match(r.stderr, REFUSED[file]);
        }
    });
}

test('a trace is sent to the tools that read it', { skip: !here && 'no corpus' }, () => {
    const traces = of('chrome').filter((row) => row.size < 1000000).slice(0, 10);
    for (const { file } of traces) {
        const r = t.run([t.path.join(t.CORPUS, file)]);
        assert.strictEqual(r.status, 3, `${file}: ${r.stderr}`);
    }
});

if (!here)
    test('the corpus', { skip: `${INDEX} is not here` }, () => {});
