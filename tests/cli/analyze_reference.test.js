// analyze_reference.test.js: the tables of vime's and slime's analyze_profile on three traces of the
// corpus. What that script computes is computed here again, from its rules and in plain JavaScript,
// and compared, as JSON and as people are shown it. Uses ../shared. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const t = require('./analyze_tool.js');
const { fs, path, near } = t;

const CORPUS = path.join(t.SHARED, 'corpus', 'torch');
const FILES = ['HolisticTraceAnalysis__nccl_data.json.gz', 'HolisticTraceAnalysis__negq_rank0.json.gz',
               'TraceLens__mi300_resnet_act_checkpoint.json.gz'];
const here = FILES.every((f) => fs.existsSync(path.join(CORPUS, f)));

// The first that fits the lower-cased name counts.
const CLASSES = [
    ['NCCL', (n) => n.includes('nccl')],
    ['DeepEP', (n) => n.includes('deep_ep')],
    ['Flash attention', (n) => n.includes('flash') && n.includes('attn')],
    ['Sparse attention', (n) => n.includes('sparse_attn')],
    ['Paged MQA', (n) => n.includes('paged_mqa')],
    ['Attention', (n) => n.includes('attention') || n.includes('fmha')],
    ['DeepGEMM', (n) => n.includes('deep_gemm') || n.includes('sm90_fp8_gemm')],
    ['nvjet GEMM', (n) => n.includes('nvjet')],
    ['GEMM', (n) => ['gemm', 'cutlass', 'matmul', 'cublas'].some((p) => n.includes(p))],
    ['Routing', (n) => n.includes('topk')],
    ['Quantisation', (n) => n.includes('quant')],
    ['Normalisation', (n) => n.includes('norm')],
    ['Triton and fused', (n) => n.includes('triton') || n.includes('fused')],
    ['Elementwise', (n) => n.includes('elementwise')],
    ['Reduction and softmax', (n) => n.includes('reduce') || n.includes('softmax')],
    ['Embedding', (n) => n.includes('embedding')],
    ['Copy and set', (n) => n.includes('memcpy') || n.includes('memset')],
    ['Index and scatter', (n) => ['index', 'scatter', 'gather'].some((p) => n.includes(p))],
    ['Concatenation', (n) => n.includes('cat') && n.includes('batched')],
    ['Other', () => true],
];
const classOf = (name) => CLASSES.find(([, fits]) => fits(name.toLowerCase()))[0];

const sumBy = (events, key) => {
    const sums = new Map();
    for (const e of events) {
        const sum = sums.get(key(e)) ?? { count: 0, total: 0 };
        sums.set(key(e), { count: sum.count + 1, total: sum.total + e.dur });
    }
    return sums;
};

function reference(events) {
    const x = events.filter((e) => e.ph === 'X');
    const gpu = x.filter((e) => ['kernel', 'gpu_memcpy', 'gpu_memset'].includes(e.cat))
        .sort((a, b) => a.ts - b.ts);
    const merged = [];
    for (const e of gpu) {
        const last = merged[merged.length - 1];
        if (last && e.ts <= last[1])
            last[1] = Math.max(last[1], e.ts + e.dur);
        else
            merged.push([e.ts, e.ts + e.dur]);
    }
    const kernels = x.filter((e) => e.cat === 'kernel');
    const streams = new Map();
    for (const e of gpu) {
        const key = `${e.pid}/${e.tid}`;
        const s = streams.get(key) ?? { count: 0, total: 0, from: Infinity, to: -Infinity };
        streams.set(key, { count: s.count + 1, total: s.total + e.dur, from: Math.min(s.from, e.ts),
                           to: Math.max(s.to, e.ts + e.dur) });
    }
    return {
        busy: merged.reduce((n, [a, b]) => n + b - a, 0),
        span: merged[merged.length - 1][1] - merged[0][0],
        gaps: merged.slice(1).map(([a], i) => a - merged[i][1]).sort((a, b) => b - a).slice(0, 15),
        classes: sumBy(kernels, (e) => classOf(e.name)),
        names: sumBy(kernels, (e) => e.name),
        kernels: kernels.reduce((n, e) => n + e.dur, 0),
        streams,
        graphs: x.filter((e) => e.name === 'cudaGraphLaunch').length,
        copies: sumBy(x.filter((e) => e.name === 'aten::copy_'), () => 'all').get('all'),
    };
}

for (const file of FILES) {
    test(`the tables of ${file}`, { skip: here ? false : 'the shared corpus is not there' }, () => {
        const want = reference(JSON.parse(t.plain(path.join(CORPUS, file)).toString('utf8')).traceEvents);
        const r = t.report([path.join(CORPUS, file)]);
        assert.strictEqual(r.status, 0, r.stderr);
        const slack = 1e-9 * 20 + want.span * 1e-15 + 1e-6; // doubles at 1e15 us keep a quarter of a us
        const us = (seconds, microseconds, what) => near(seconds * 1e6, microseconds, what,
                                                         microseconds * 1e-6 + 0.6 + slack);
        us(r.ranks[0].busy_s, want.busy, 'busy');
        us(r.ranks[0].span_s, want.span, 'span');
        near(r.ranks[0].utilisation, want.busy / want.span, 'utilisation', 1e-5);
        us(r.ranks[0].kernel_s, want.kernels, 'kernels');
        r.gaps.forEach((g, i) => us(g.duration_s, want.gaps[i], `gap ${i}`));
        assert.strictEqual(r.gaps.length, want.gaps.length);

        assert.deepStrictEqual(r.kernel_classes.map((c) => c.class).sort(), [...want.classes.keys()].sort());
        for (const c of r.kernel_classes) {
            assert.strictEqual(c.count, want.classes.get(c.class).count, c.class);
            us(c.total_s, want.classes.get(c.class).total, c.class);
            near(c.share, want.classes.get(c.class).total / want.kernels, `share of ${c.class}`, 1e-6);
        }
        assert.strictEqual(r.kernels.length, want.names.size);
        r.kernels.forEach((k, i) => {
            assert.strictEqual(k.count, want.names.get(k.name).count, k.name);
            us(k.total_s, want.names.get(k.name).total, k.name);
            us(k.mean_s, want.names.get(k.name).total / k.count, k.name);
            assert(i === 0 || k.total_s <= r.kernels[i - 1].total_s, 'not sorted by total');
        });
        assert.strictEqual(r.streams.length, want.streams.size);
        for (const s of r.streams) {
            const w = want.streams.get(`${s.device}/${s.stream}`);
            assert.strictEqual(s.events, w.count, s.stream);
            us(s.time_s, w.total, s.stream);
            us(s.span_s, w.to - w.from, s.stream);
        }
        assert.strictEqual(r.graphs[0]?.launches ?? 0, want.graphs);
        assert.strictEqual(r.copies[0]?.count, want.copies?.count);
        if (want.copies)
            us(r.copies[0].total_s, want.copies.total, 'aten::copy_');
    });
}

// ---- the same as they are printed ----

// A duration in microseconds with three digits, as people are shown it.
function shown(us) {
    const [unit, size] = [['s', 1e6], ['ms', 1e3], ['us', 1]].find(([, n]) => Number((us / n).toPrecision(3)) >= 1) ??
        ['ns', 1e-3];
    const value = us / size;
    return us === 0 ? '0 s' : `${value.toFixed(Math.max(0, 2 - Math.floor(Math.log10(Number(value.toPrecision(3))))))} ${unit}`;
}

// The rows of a printed table: cells stand two blanks apart.
function printed(text, title) {
    const lines = text.slice(text.indexOf(`\n${title}\n`) + title.length + 2).split('\n');
    const rows = lines.slice(1, lines.findIndex((line) => line === ''));
    return rows.map((row) => row.trim().split(/ {2,}/)).filter((cells) => cells.length > 2); // no notes
}

const ordered = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ',');

for (const file of FILES) {
    test(`what is printed of ${file}`, { skip: here ? false : 'the shared corpus is not there' }, () => {
        const events = JSON.parse(t.plain(path.join(CORPUS, file)).toString('utf8')).traceEvents;
        const want = reference(events);
        const text = t.run([path.join(CORPUS, file)]).stdout.toString('utf8');
        // Where two come to the same, either may stand first: compared by what they weigh.
        const kernels = [...want.names].sort((a, b) => b[1].total - a[1].total).slice(0, 20);
        const rows = printed(text, 'Top kernels');
        assert.strictEqual(rows.length, kernels.length);
        rows.forEach(([share, total, mean, , , count, , , , name], i) => {
            assert.strictEqual(share, `${(100 * kernels[i][1].total / want.kernels).toFixed(1)} %`, name);
            assert.strictEqual(total, shown(kernels[i][1].total), name);
            const own = kernels.filter(([full]) => full.startsWith(name.replace(/\u2026$/, '').trimEnd()));
            assert(own.some(([, k]) => count === ordered(k.count) && mean === shown(k.total / k.count)), name);
        });
        const classes = [...want.classes].sort((a, b) => b[1].total - a[1].total);
        const [byClass, streams] = ['Kernels by class', 'Streams'].map((title) => printed(text, title));
        assert.deepStrictEqual([byClass.length, streams.length], [classes.length, want.streams.size]);
        byClass.forEach(([name, , share, total, , count], i) => {
            assert.strictEqual(share, `${(100 * classes[i][1].total / want.kernels).toFixed(1)} %`, name);
            assert.strictEqual(total, shown(classes[i][1].total), name);
            assert.strictEqual(count, ordered(want.classes.get(name).count), name);
        });
        const [[rank, , span, busy, util, kernel]] = printed(text, 'Ranks');
        assert.deepStrictEqual([span, busy, util, kernel],
                               [shown(want.span), shown(want.busy), `${(100 * want.busy / want.span).toFixed(1)} %`,
                                shown(want.kernels)], rank);
        for (const [, device, stream, count, time, length] of streams) {
            const s = want.streams.get(`${device}/${stream}`);
            assert.deepStrictEqual([count, time, length], [ordered(s.count), shown(s.total), shown(s.to - s.from)], stream);
        }
    });
}

// Three launches make a step there, whatever the model.
test('decode steps of three launches', { skip: here ? false : 'the shared corpus is not there' }, () => {
    const file = path.join(CORPUS, FILES[1]);
    const launches = JSON.parse(t.plain(file).toString('utf8')).traceEvents
        .filter((e) => e.ph === 'X' && e.name === 'cudaGraphLaunch').sort((a, b) => a.ts - b.ts);
    const steps = [];
    for (let i = 0; i + 3 <= launches.length; i += 3)
        steps.push(launches[i + 2].ts + launches[i + 2].dur - launches[i].ts);
    assert.strictEqual(steps.length, 23);
    const r = t.report(['--launches-per-step', '3', file]);
    const mean = steps.reduce((n, s) => n + s, 0) / steps.length;
    const [graphs] = r.graphs;
    assert.strictEqual(graphs.steps, steps.length);
    near(graphs.step_mean_s * 1e6, mean, 'mean', 1);
    near(graphs.steps_per_s, 1e6 / mean, 'steps a second', 1e-3);
    assert.deepStrictEqual([graphs.below_1ms, graphs.from_1ms, graphs.from_5ms],
                           [launches.filter((e) => e.dur < 1e3).length,
                            launches.filter((e) => e.dur >= 1e3 && e.dur < 5e3).length,
                            launches.filter((e) => e.dur >= 5e3).length]);
    r.graph_steps.forEach((step, i) => {
        near(step.span_s * 1e6, steps[i], `step ${i}`, 1);
        assert.strictEqual(step.slow, steps[i] > 10e3);
        const own = launches.slice(3 * i, 3 * i + 3).map((e) => e.dur);
        step.launches_us.split(' ').forEach((us, k) => near(Number(us), own[k], `launch ${k} of ${i}`, 0.06));
    });
});

// The table over all ranks, and who is busiest.
const PAIR = ['HolisticTraceAnalysis__sampled_rank-0.json.gz', 'HolisticTraceAnalysis__sampled_rank-1.json.gz'];
const pairHere = PAIR.every((f) => fs.existsSync(path.join(CORPUS, f)));
test('the table over all ranks', { skip: pairHere ? false : 'the shared corpus is not there' }, () => {
    const files = PAIR.map((f) => path.join(CORPUS, f));
    const wants = files.map((f) => reference(JSON.parse(t.plain(f).toString('utf8')).traceEvents));
    const rows = printed(t.run(['--all-ranks', ...files]).stdout.toString('utf8'), 'Ranks');
    assert.strictEqual(rows.length, 2);
    rows.forEach(([rank, , span, busy, util, kernel, deepep, gemm, nccl], i) => {
        const of = (...names) => shown(names.reduce((n, name) => n + (wants[i].classes.get(name)?.total ?? 0), 0));
        assert.deepStrictEqual([rank, span, busy, util, kernel, deepep, gemm, nccl],
                               [String(i), shown(wants[i].span), shown(wants[i].busy),
                                `${(100 * wants[i].busy / wants[i].span).toFixed(1)} %`, shown(wants[i].kernels),
                                of('DeepEP'), of('DeepGEMM', 'nvjet GEMM', 'GEMM'), of('NCCL')]);
    });
});
