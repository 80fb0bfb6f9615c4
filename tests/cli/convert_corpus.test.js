// convert_corpus.test.js: traces of many tools go through with the counts that the corpus' index
// gives. Uses ../shared. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const t = require('./convert_tool.js');

const CORPUS = path.join(t.SHARED, 'corpus');
const INDEX = path.join(CORPUS, 'INDEX.tsv');
const here = fs.existsSync(INDEX);

// Files that hold no trace events, whatever their folder.
const NO_TRACE = new Set(['jsonl/tritonparse__dedicated_log_triton_trace_findhao_.ndjson',
                          'negative/zlib-ng__CVE-2002-0059.gz', 'negative/pyroscope__flamegraph.json',
                          'negative/TraceLens__cpu_op_map_trace2.json', 'negative/viztracer__manifest.json',
                          'negative/inferno__unknown-format.txt']);

const fact = (facts, name) => {
    const m = facts.match(new RegExp(`(?:^| )${name}=(\\{[^}]*\\}|\\S+)`));
    return m === null ? null : m[1].startsWith('{') ? JSON.parse(m[1]) : Number(m[1]);
};
const problem = (meta, kind) => meta.problems.filter((p) => p.kind === kind)
    .reduce((sum, p) => sum + p.count, 0);

// What the counts by phase must be: B with E become X, I becomes i, flow events that belong to no
// arrow are left out, and so is what is named as such.
function expected(read, meta) {
    const want = { ...read };
    delete want.M;
    const stray = problem(meta, 'stray_end');
    want.X = (want.X || 0) + (want.B || 0);
    assert.strictEqual((want.E || 0) - stray, (want.B || 0) - meta.unfinished);
    want.i = (want.i || 0) + (want.I || 0);
    for (const gone of ['B', 'E', 'I'])
        delete want[gone];
    return want;
}

function check(file, facts) {
    const dir = t.folder();
    const out = path.join(dir, 'merged.json');
    const r = t.run([path.join(CORPUS, file), '-o', out]);
    if (NO_TRACE.has(file)) {
        assert.strictEqual(r.status, 3, r.stderr);
        assert.match(r.stderr, /skipped: /);
        assert(!fs.existsSync(out));
        return;
    }
    assert.strictEqual(r.status, 0, r.stderr);
    const { traceEvents, metadata } = t.readTrace(out);
    const meta = metadata.perftrace_convert;
    const read = fact(facts, 'by_ph');
    const { M: unused, ...timed } = read;
    assert.deepStrictEqual(meta.events_read, Object.fromEntries(Object.entries(timed).sort()));
    const got = {};
    for (const e of traceEvents.filter((x) => x.ph !== 'M'))
        got[e.ph] = (got[e.ph] || 0) + 1;
    const want = expected(read, meta);
    const lone = problem(meta, 'flow_lone');
    const flows = (o) => (o.s || 0) + (o.t || 0) + (o.f || 0);
    assert.strictEqual(flows(got), flows(want) - lone);
    for (const phase of new Set([...Object.keys(want), ...Object.keys(got)]))
        if (!'stf'.includes(phase))
            assert.strictEqual(got[phase] || 0, want[phase] || 0, `phase ${phase}`);
    const total = fact(facts, 'x_dur_total');
    if (total !== null && !read.B) {
        const sum = traceEvents.reduce((s, e) => s + (e.ph === 'X' ? e.dur : 0), 0);
        assert(Math.abs(sum - total) <= 0.001 * (read.X || 0) + 1e-9 * total, `${sum} for ${total}`);
    }
    if (/INVALID-JSON|bad_lines=[1-9]|gzip_error/.test(facts))
        assert(meta.problems.length > 0, 'damage that is not named');
    const open = /chrome\/(speedscope__Chrome69|catapult__async_begin_end|catapult__nestable_async)/;
    if (!open.test(file)) // these have async events without a partner
        assert.strictEqual(t.complaints(out, ['--allow-open']), '');
}

for (const line of here ? fs.readFileSync(INDEX, 'utf8').split('\n') : []) {
    const [file, , , , , facts] = line.split('\t');
    if (/^(chrome|torch|jsonl|derived|negative)\//.test(file))
        test(`corpus ${file}`, () => check(file, facts));
}

test('corpus: ranks of AReaL merge', { skip: !here }, () => {
    const dir = t.folder();
    const out = path.join(dir, 'merged.json');
    const r = t.run([path.join(CORPUS, 'jsonl', 'AReaL__norole_traces-r*.jsonl'), '-o', out]);
    assert.strictEqual(r.status, 0, r.stderr);
    const { traceEvents, metadata } = t.readTrace(out);
    const meta = metadata.perftrace_convert;
    assert.deepStrictEqual(meta.inputs.map((i) => i.rank), [0, 1, 2, 3]);
    assert.match(meta.inputs[1].alignment, /own zero/);
    assert.deepStrictEqual(traceEvents.filter((e) => e.name === 'process_name').map((e) => e.args.name).sort(),
                           [0, 1, 2, 3].map((n) => `Rank ${n}, Process`));
    assert.strictEqual(t.byPhase(traceEvents, 'X').length, 414 + 417 + 424 + 408);
    assert.strictEqual(t.complaints(out, ['--allow-open']), '');
});

test('corpus: torch ranks merge on their base times', { skip: !here }, () => {
    const dir = t.folder();
    const out = path.join(dir, 'merged.json.gz');
    const r = t.run([path.join(CORPUS, 'torch', 'HolisticTraceAnalysis__sampled_rank-*.json.gz'), '-o', out]);
    assert.strictEqual(r.status, 0, r.stderr);
    const { traceEvents, metadata } = t.readTrace(out);
    assert.deepStrictEqual(metadata.perftrace_convert.inputs.map((i) => i.rank), [0, 1]);
    assert.strictEqual(metadata.perftrace_convert.base_epoch_ns, '1682725897226747000');
    assert.strictEqual(t.byPhase(traceEvents, 'X').length, 4811 + 4676);
    assert.strictEqual(t.complaints(out), '');
});
