// sessions_corpus.test.js: every sessions file of the corpus gives the facts that its index states,
// one test a file. Uses ../shared. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const zlib = require('zlib');
const t = require('./sessions_tool.js');

const CORPUS = path.join(t.SHARED, 'corpus');
const INDEX = path.join(CORPUS, 'INDEX.tsv');
const here = fs.existsSync(INDEX);
const index = here ? fs.readFileSync(INDEX, 'utf8').split('\n').map((l) => l.split('\t'))
    .filter((f) => f[0].startsWith('sessions/')) : [];

// "lines=193 by_status={...} ..." to an object; values are JSON.
function facts(text) {
    const found = {};
    for (const [, key, value] of text.matchAll(/([\w+]+)=(\{.*?\}(?=\s+\w[\w+]*=|$)|\[[^\]]*\]|\S+)/gs))
        found[key] = JSON.parse(value);
    return found;
}

const near = (got, want, what, slack = 1e-9) =>
    assert(Math.abs(got - want) <= slack, `${what}: ${got}, not ${want}`);

function check(r, f) {
    assert.strictEqual(r.status, 0, r.stderr);
    assert.strictEqual(r.summary.sessions, f.objects);
    assert.strictEqual(r.summary.tasks, f.tasks);
    assert.deepStrictEqual(t.byKey(r.statuses, 'status', 'sessions'), f.by_status);
    assert.deepStrictEqual(t.byKey(r.reasons, 'reason', 'sessions'), f.by_reason);
    assert.deepStrictEqual(r.ranks.map((k) => k.rank), f.ranks);
    const durations = Object.fromEntries(r.durations.map((d) => [d.name, d]));
    const total = durations.total;
    assert.strictEqual(total.count, f.total_s.n);
    assert.strictEqual(total.min, f.total_s.min);
    assert.strictEqual(total.max, f.total_s.max);
    assert.strictEqual(total.median_low, f.total_s.median_low);
    near(total.sum, f.total_s.sum, 'sum of the totals');
    assert.deepStrictEqual(r.durations.filter((d) => d.kind === 'phase').map((d) => d.name),
                           Object.keys(f.phases));
    for (const [name, want] of Object.entries(f.phases)) {
        assert.strictEqual(durations[name].sessions, want.sessions, name);
        assert.strictEqual(durations[name].spans, want.spans, name);
        assert.strictEqual(durations[name].open_spans, want.open_spans_end_null, name);
        // The index adds up spans of seven decimals.
        near(durations[name].sum, want.sum_s, `sum of ${name}`, 0.5e-7 * (want.spans + 1));
    }
    const known = ['mended_', 'damaged', 'not_', 'duplicate', 'conflict', 'negative', 'bad_'];
    assert(!r.problems.some((p) => known.some((k) => p.kind.startsWith(k))), r.stderr);
}

for (const [name, , , , , text] of index) {
    if (!text.includes('total_s='))
        continue;
    test(`${name} gives the facts of its index`, () => {
        const file = path.join(CORPUS, name);
        check(t.report([file]), facts(text));
        // The same packed, through a pipe, and with other threads.
        const bytes = fs.readFileSync(file);
        const dir = t.files({ 'sessions-r0.jsonl.gz': zlib.gzipSync(bytes) });
        check(t.report([dir]), facts(text));
        check(t.report(['-', '-j1'], { input: bytes }), facts(text));
        // And as a pretty-printed array.
        const array = JSON.stringify(bytes.toString('utf8').split('\n').filter(Boolean)
            .map((l) => JSON.parse(l)), null, 2);
        check(t.report([t.files({ 'sessions.json': array })]), facts(text));
    });
}

test('a whole folder is one report', { skip: here ? false : `${INDEX} is not here` }, () => {
    const r = t.report([path.join(CORPUS, 'sessions')]);
    const each = index.filter((f) => f[5].includes('total_s=')).map((f) => facts(f[5]));
    const sum = (get) => each.reduce((n, f) => n + get(f), 0);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.strictEqual(r.summary.sessions, sum((f) => f.objects) + 1);
    assert.strictEqual(r.summary.runs, 2); // the sample of the documentation has another clock
    assert.deepStrictEqual(r.runs.map((run) => run.clock), ['epoch', 'monotonic']);
    const accepted = r.statuses.find((s) => s.status === 'accepted').sessions;
    assert.strictEqual(accepted, sum((f) => f.by_status.accepted) + 1);
});

test('the sample of the documentation, over many lines', { skip: here ? false : 'not here' }, () => {
    const r = t.report([path.join(CORPUS, 'sessions', 'AReaL__doc_sample_record.json')]);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.strictEqual(r.summary.sessions, 1);
    assert.strictEqual(r.runs[0].clock, 'monotonic');
    const d = t.byKey(r.durations, 'name', 'sum');
    assert.strictEqual(d.total, 2.957864078693092);
    assert.strictEqual(d.generate, 2.65427936706692);
    assert.strictEqual(d.reward, 0.133724981918931);
    assert.strictEqual(d.toolcall, 0.156789012345678);
});
