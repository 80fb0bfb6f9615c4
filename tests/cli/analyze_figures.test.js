// analyze_figures.test.js: every figure on traces small enough to be worked out on paper.
// SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const t = require('./analyze_tool.js');
const { X, kernel, call, torch, near, row, path } = t;

const of = (events, args = [], more = {}) => {
    const r = t.report([t.files({ 'rank0.json': torch(0, events, more) }), ...args]);
    assert.strictEqual(r.status, 0, r.stderr);
    return r;
};
const us = (v) => v / 1e6;

// A device with two streams, times in us:
//   stream 7: a [0,10] b [10,30] e [60,70]
//   stream 9: c [20,50]
// busy [0,50] and [60,70] = 60 of 70; the one gap is [50,60].
const device = [kernel('gemm_a', 0, 10, { correlation: 1 }), kernel('gemm_b', 10, 20, { correlation: 2 }),
                kernel('ncclDevKernel_AllReduce', 20, 30, { correlation: 3 }, 9),
                kernel('layer_norm', 60, 10, { correlation: 4 })];

test('utilisation is the union of intervals over the span', () => {
    const r = of(device), rank = r.ranks[0];
    near(rank.span_s, us(70), 'span');
    near(rank.busy_s, us(60), 'busy');
    near(rank.utilisation, 60 / 70, 'utilisation');
    near(rank.kernel_s, us(70), 'sum of the kernels');
    near(rank.gemm_s, us(30), 'GEMM');
    near(rank.nccl_s, us(30), 'NCCL');
    near(rank.deepep_s, 0, 'DeepEP');
    assert.strictEqual(rank.work, 4);
});

test('time is split into compute, communication, memory and idle', () => {
    const r = of([...device, X('gpu_memcpy', 'Memcpy DtoD (Device -> Device)', 65, 20,
                               { pid: 0, tid: 7, args: { bytes: 4000 } })]);
    const b = r.breakdown[0];
    near(b.range_s, us(85), 'range');
    near(b.compute_s, us(40), 'compute: [0,30] and [60,70]');
    near(b.communication_s, us(30), 'communication: [20,50]');
    near(b.memory_s, us(20), 'memory: [65,85]');
    near(b.busy_s, us(75), 'busy: [0,50] and [60,85]');
    near(b.idle_s, us(10), 'idle');
    near(b.overlap_s, us(10), 'overlap: [20,30]');
    near(b.exposed_s, us(20), 'exposed');
});

// Gaps: [10,20] before b, launched at 12: host. [30,30.02]: before c, launched at 5: 20 ns, kernel.
// [40.02,50]: before d, launched at 6 and begun late: other.
const idle = [call(0, 1, 1), kernel('a', 0, 10, { correlation: 1 }),
              call(12, 2, 2), kernel('b', 20, 10, { correlation: 2 }),
              call(5, 1, 3), kernel('c', 30.02, 10, { correlation: 3 }),
              call(6, 1, 4), kernel('d', 50, 10, { correlation: 4 })];

test('idle time has its cause', () => {
    let r = of(idle), i = r.idle[0];
    near(i.host_wait_s, us(10), 'host wait');
    near(i.kernel_wait_s, us(0.02), 'kernel wait');
    near(i.other_s, us(9.98), 'other');
    const s = row(r.streams, { stream: '7' });
    near(s.host_wait_s, us(10), 'host wait of the stream');
    near(s.kernel_wait_s, us(0.02), 'kernel wait of the stream');
    near(s.other_idle_s, us(9.98), 'other idle time of the stream');
    r = of(idle, ['--kernel-wait', '10us']);
    near(r.idle[0].kernel_wait_s, us(10), 'kernel wait up to 10 us');
    near(r.idle[0].other_s, 0, 'nothing else then');
});

test('gaps name what ran meanwhile on the host', () => {
    const r = of([...idle, X('python_function', 'train', 0, 60), X('cpu_op', 'aten::item', 9, 12),
                  X('cpu_op', 'short', 13, 2)]);
    assert.deepStrictEqual(r.gaps.map((g) => [g.rank, g.cause]),
                           [[0, 'aten::item'], [0, 'train'], [0, 'train']]);
    near(r.gaps[0].start_s, us(10), 'start of the longest');
    near(r.gaps[0].duration_s, us(10), 'its length');
    assert.strictEqual(r.gaps[0].cause_category, 'cpu_op');
});

test('streams are told apart, whatever their ids are', () => {
    const r = of([...device, { ...kernel('k', 0, 1), tid: 'stream 11' }]);
    assert.deepStrictEqual(r.streams.map((s) => [s.stream, s.events, s.role]),
                           [['7', 3, 'compute'], ['9', 1, 'communication'], ['stream 11', 1, 'compute']]);
    const s = row(r.streams, { stream: '7' });
    near(s.time_s, us(40), 'time');
    near(s.span_s, us(70), 'span');
    near(s.utilisation, 40 / 70, 'utilisation');
});

// Calls of 2 us at 0, 10, 20; kernels of 1, 5, 5 us at 4, 17, 150: delays 2, 5, 128.
// The queue: +1 at 0, -1 at 4, +1 at 10, -1 at 17, +1 at 20, -1 at 150: at most 1, 141 of 150 us.
const launches = [call(0, 2, 1), kernel('a', 4, 1, { correlation: 1 }),
                  call(10, 2, 2), kernel('b', 17, 5, { correlation: 2 }),
                  call(20, 2, 3), kernel('c', 150, 5, { correlation: 3 }),
                  call(30, 60, 4), kernel('lonely', 160, 1)];

test('launches: short kernels, delays and the queue', () => {
    const l = of(launches).launches[0];
    assert.strictEqual(l.linked, 3);
    assert.strictEqual(l.unlinked_work, 1);
    assert.strictEqual(l.unlinked_calls, 1);
    assert.strictEqual(l.short_kernels, 1);
    assert.strictEqual(l.slow_calls, 0);
    assert.strictEqual(l.long_delays, 1);
    near(l.delay_mean_s, us(135 / 3), 'mean delay');
    near(l.delay_p50_s, us(5), 'median delay');
    near(l.delay_max_s, us(128), 'longest delay');
    assert.strictEqual(l.queue_max, 1);
    near(l.queue_mean, 141 / 150, 'mean length of the queue');
});

test('the queue grows while launches run ahead', () => {
    const events = [];
    for (let i = 0; i < 4; i++)
        events.push(call(i, 1, i), kernel('k', 10 + 10 * i, 10, { correlation: i }));
    // Handed over at 0, 1, 2, 3 and begun at 10, 20, 30, 40: 1 2 3 | 4 for 7 | 3 2 1 for 10 each.
    const l = of(events).launches[0];
    assert.strictEqual(l.queue_max, 4);
    near(l.queue_mean, (1 + 2 + 3 + 4 * 7 + 30 + 20 + 10) / 40, 'mean length');
});

test('kernels that one graph launch starts share its correlation', () => {
    const r = of([call(0, 5, 9, 'cudaGraphLaunch'), kernel('a', 10, 1, { correlation: 9 }),
                  kernel('b', 11, 1, { correlation: 9 })]);
    assert.strictEqual(r.launches[0].linked, 2);
    near(r.launches[0].delay_mean_s, us(5), 'the first of them alone waits for the call');
    assert.strictEqual(r.graphs[0].launches, 1);
});

test('bounds: slow calls above 50 us, long delays above 100 us, kernel waits up to 30 ns', () => {
    const l = of([call(0, 50, 1), kernel('a', 150, 1, { correlation: 1 }),
                  call(200, 50.001, 2), kernel('b', 350.002, 1, { correlation: 2 }),
                  call(400, 45, 3), kernel('c', 450, 1, { correlation: 3 })]).launches[0];
    assert.deepStrictEqual([l.slow_calls, l.long_delays], [1, 1]);
    const idle = of([call(0, 1, 1), call(1, 1, 2), call(2, 1, 3), kernel('a', 10, 10, { correlation: 1 }),
                     kernel('b', 20.03, 1, { correlation: 2 }), kernel('c', 21.061, 1, { correlation: 3 })]).idle[0];
    near(idle.kernel_wait_s, 30e-9, 'kernel wait');
    near(idle.other_s, 31e-9, 'other');
    near(idle.host_wait_s, 0, 'host wait');
});

// Six launches, three a step: [0, 1500] and [20000, 32500].
const graph = (ts, dur, i) => call(ts, dur, 100 + i, 'cudaGraphLaunch');
const graphs = [graph(0, 500, 0), graph(600, 400, 1), graph(1100, 400, 2),
                graph(20000, 6000, 3), graph(27000, 2000, 4), graph(30000, 2500, 5)];

test('decode steps of CUDA graphs', () => {
    let r = of(graphs, ['--launches-per-step', '3']), g = r.graphs[0];
    assert.deepStrictEqual([g.launches, g.below_1ms, g.from_1ms, g.from_5ms], [6, 3, 2, 1]);
    assert.strictEqual(g.steps, 2);
    near(g.step_mean_s, (0.0015 + 0.0125) / 2, 'mean step');
    near(g.step_max_s, 0.0125, 'longest step');
    near(g.steps_per_s, 1 / 0.007, 'steps a second', 1e-9);
    assert.deepStrictEqual(r.graph_steps.map((s) => [s.step, s.launches_us, s.slow]),
                           [[1, '500.0 400.0 400.0', false], [2, '6000.0 2000.0 2500.0', true]]);
    assert(r.findings.some((f) => /1 launches of CUDA graphs took 5 ms/.test(f.finding)));

    r = of(graphs);
    assert.strictEqual(r.graphs[0].launches_per_step, null);
    assert.strictEqual(r.graphs[0].steps, null);
    assert.deepStrictEqual(r.graph_steps, []);

    const mark = (name, ts, dur) => X('user_annotation', name, ts, dur, { pid: 10 });
    r = of([...graphs, mark('execute_1', 0, 2000), mark('execute_2', 19000, 14000)]);
    assert.strictEqual(r.graphs[0].launches_per_step, 3);
    r = of([...graphs, mark('execute_1', 0, 1000), mark('execute_2', 19000, 14000)]);
    assert.strictEqual(r.graphs[0].launches_per_step, null);
});

test('bandwidth of copies, over those that tell their bytes', () => {
    const copy = (ts, dur, args) => X('gpu_memcpy', 'Memcpy HtoD (Pinned -> Device)', ts, dur,
                                      { pid: 0, tid: 7, args });
    const r = of([copy(0, 10, { bytes: 40000 }), copy(20, 10, { bytes: 20000 }), copy(40, 5, {}),
                  X('gpu_memset', 'Memset (Device)', 60, 1, { pid: 0, tid: 7, args: {} })]);
    const c = row(r.transfers, { kind: 'Memcpy HtoD' });
    assert.deepStrictEqual([c.count, c.bytes], [3, 60000]);
    near(c.total_s, us(25), 'time');
    near(c.rate_gb_s, 60000 / 20000, 'GB/s: 60 kB in 20 us');
    near(c.best_gb_s, 4, 'best');
    assert.deepStrictEqual([row(r.transfers, { kind: 'Memset' }).bytes,
                            row(r.transfers, { kind: 'Memset' }).rate_gb_s], [null, null]);
});

const two = (a, b, more = {}) => t.files({
    'rank0.json': torch(0, a, { world_size: 2, ...more }),
    'rank1.json': torch(1, b, { world_size: 2, ...more }) });

test('kernels of all ranks, with their spread', () => {
    const r = t.report([two([kernel('gemm', 0, 10), kernel('gemm', 10, 20), kernel('norm', 30, 10)],
                            [kernel('gemm', 0, 30)])]);
    const g = row(r.kernels, { name: 'gemm' });
    assert.deepStrictEqual([g.count, g.ranks], [3, 2]);
    near(g.total_s, us(60), 'total');
    near(g.mean_s, us(20), 'mean');
    near(g.min_s, us(10), 'min');
    near(g.max_s, us(30), 'max');
    near(g.share, 60 / 70, 'share');
    near(g.rank_mean_min_s, us(15), 'lowest mean of a rank');
    near(g.rank_mean_max_s, us(30), 'highest');
    near(g.spread, 15 / 20, 'spread');
    near(g.rank_total_min_s, us(30), 'lowest total');
    assert.strictEqual(row(r.kernel_classes, { class: 'GEMM' }).count, 3);
    assert.strictEqual(row(r.kernel_classes, { class: 'Normalisation' }).count, 1);
});

test('classes of kernels are rules in an order', () => {
    const names = {
        ncclDevKernel_AllReduce: 'NCCL', 'deep_ep::dispatch': 'DeepEP dispatch',
        'deep_ep::combine': 'DeepEP combine', 'deep_ep::cached_clean': 'DeepEP clean',
        'deep_ep::other': 'DeepEP other', FlashAttnFwd: 'Flash attention', sparse_attn_x: 'Sparse attention',
        fp8_paged_mqa_logits: 'Paged MQA', fmha_v2: 'Attention', sm90_fp8_gemm_1d2d: 'DeepGEMM',
        nvjet_tst_64: 'nvjet GEMM', cutlass_80: 'GEMM', topk_softmax: 'Routing', quant_fp8: 'Quantisation',
        rms_norm: 'Normalisation', triton_poi_0: 'Triton and fused', vectorized_elementwise: 'Elementwise',
        reduce_kernel: 'Reduction and softmax', embedding_bag: 'Embedding', memcpy32: 'Copy and set',
        gather_rows: 'Index and scatter', CatArrayBatchedCopy: 'Concatenation', mystery: 'Other',
    };
    let r = of(Object.keys(names).map((name, i) => kernel(name, i, 1)));
    for (const [name, want] of Object.entries(names))
        assert.strictEqual(row(r.kernels, { name }).class, want, name);
    const rules = path.join(t.files({ rules: '# mine\ncommunication\tMine\tmystery | gather + rows\n' }), 'rules');
    r = of(Object.keys(names).map((name, i) => kernel(name, i, 1)), ['--rules', rules]);
    assert.strictEqual(row(r.kernels, { name: 'mystery' }).class, 'Mine');
    assert.strictEqual(row(r.kernels, { name: 'gather_rows' }).class, 'Mine');
    assert.strictEqual(row(r.kernels, { name: 'rms_norm' }).class, 'Normalisation');
    near(r.breakdown[0].communication_s, us(7), 'what a rule calls communication counts as such');
    const bad = path.join(t.files({ rules: 'compute\tok\tx\nnonsense\n' }), 'rules');
    const refused = t.run([t.files({ 'rank0.json': torch(0, device) }), '--rules', bad]);
    assert.strictEqual(refused.status, 3);
    assert.match(refused.stderr, /line 2: expected GROUP, CLASS and PATTERN/);
});

test('communication: kernels, and gloo on the host', () => {
    const r = of([...device, X('user_annotation', 'gloo:all_gather', 0, 40)]);
    const nccl = row(r.communication, { name: 'ncclDevKernel_AllReduce' });
    near(nccl.share, 30 / 70, 'share');
    assert.strictEqual(nccl.where, 'device');
    const gloo = row(r.communication, { name: 'gloo:all_gather' });
    assert.deepStrictEqual([gloo.where, gloo.share], ['host', null]);
    assert.strictEqual(r.communication.length, 2);
});

const collective = (ts, dur, seq, name = 'allreduce') =>
    kernel('ncclDevKernel_AllReduce', ts, dur, {
        'Collective name': name, 'Process Group Name': 'tp', 'Group size': 2, dtype: 'Float',
        'In msg nelems': 1000, ...(seq === null ? {} : { Seq: seq }) });

test('who waits for whom in collectives', () => {
    // Seq 1: rank 1 comes last (10 of 40 us), so rank 0 waits 30. Seq 2: rank 0 last, rank 1 waits 5.
    // Seq 3 is of rank 0 alone.
    const r = t.report([two([collective(0, 40, 1), collective(50, 10, 2), collective(70, 7, 3)],
                            [collective(0, 10, 1), collective(50, 15, 2)])]);
    const c = row(r.collectives, { group: 'tp', name: 'allreduce' });
    assert.deepStrictEqual([c.count, c.matched, c.matched_by], [5, 2, 'number']);
    near(c.wait_s, us(35), 'waited');
    near(c.transfer_s, us(20), 'without waits');
    assert.strictEqual(c.bytes, 20000);
    near(c.rate_gb_s, 20000 / 82000, 'rate', 1e-9);
    const s0 = row(r.stragglers, { rank: 0 }), s1 = row(r.stragglers, { rank: 1 });
    near(s0.waited_s, us(30), 'rank 0 waited');
    near(s0.caused_s, us(5), 'rank 0 caused');
    near(s1.waited_s, us(5), 'rank 1 waited');
    near(s1.caused_s, us(30), 'rank 1 caused');
    assert.deepStrictEqual([s0.last, s1.last, s0.matched], [1, 1, 2]);
});

test('a number that a rank tells twice is matched with nothing', () => {
    const r = t.report([two([collective(0, 40, 1), collective(50, 30, 1), collective(90, 8, 2)],
                            [collective(0, 10, 1), collective(50, 5, 2)])]);
    const c = row(r.collectives, { group: 'tp', name: 'allreduce' });
    assert.deepStrictEqual([c.count, c.matched], [5, 1]);
    near(c.wait_s, us(3), 'waited');
    assert.deepStrictEqual(r.stragglers.map((k) => k.matched), [1, 1]);
});

test('collectives without numbers are matched by their order', () => {
    const r = t.report([two([collective(0, 40, null), collective(50, 10, null)],
                            [collective(0, 10, null), collective(50, 15, null)])]);
    const c = row(r.collectives, { group: 'tp' });
    assert.deepStrictEqual([c.matched, c.matched_by], [2, 'order']);
    near(c.wait_s, us(35), 'waited');
});

test('parts of a step are on its own thread', () => {
    const note = (name, ts, dur, tid) => X('user_annotation', name, ts, dur, { pid: 10, tid });
    const r = of([note('ProfilerStep#1', 0, 100, 1), note('forward', 10, 30, 1), note('loader', 45, 40, 2)]);
    assert.deepStrictEqual(r.step_parts.map((p) => [p.part, Math.round(p.duration_s * 1e6)]),
                           [['forward', 30], ['(unknown)', 70]]);
});

test('steps, their parts, and the same step on two ranks', () => {
    const step = (n, ts, dur) => X('user_annotation', `ProfilerStep#${n}`, ts, dur);
    const a = [step(4, 0, 100), step(5, 100, 50), X('user_annotation', 'forward', 10, 30),
               X('user_annotation', 'inner', 15, 5), X('user_annotation', 'forward', 60, 10),
               kernel('gemm', 20, 40), kernel('gemm', 90, 30)];
    const b = [step(4, 0, 60), step(5, 100, 50)];
    const r = t.report([two(a, b)]);
    assert.strictEqual(r.status, 0, r.stderr);
    const s = row(r.steps, { rank: 0, step: 4 });
    near(s.duration_s, us(100), 'duration');
    near(s.busy_s, us(50), 'busy: [20,60] and [90,100]');
    near(row(r.steps, { rank: 0, step: 5 }).busy_s, us(20), 'the rest of the kernel: [100,120]');
    assert.strictEqual(row(r.steps, { rank: 1, step: 4 }).busy_s, null);
    near(row(r.step_parts, { rank: 0, step: 4, part: 'forward' }).duration_s, us(40), 'forward');
    near(row(r.step_parts, { rank: 0, step: 4, part: '(unknown)' }).duration_s, us(60), 'unknown');
    assert.strictEqual(r.step_parts.some((p) => p.part === 'inner'), false);
    assert.strictEqual(row(r.step_parts, { rank: 1, step: 4, part: 'forward' }).duration_s, null);
    const both = row(r.step_ranks, { step: 4 });
    assert.deepStrictEqual([both.ranks, both.fastest_rank, both.slowest_rank], [2, 1, 0]);
    near(both.mean_s, us(80), 'mean');
    near(both.imbalance, 0.2, 'imbalance: (100 - 80) / 100');
});

test('steps of our own traces are told by global_step', () => {
    const line = (name, ts, dur, step) =>
        `{"name": "${name}", "ph": "X", "ts": ${ts.toFixed(3)}, "dur": ${dur.toFixed(3)}, "pid": 1, ` +
        `"tid": 1, "cat": "compute", "args": {"global_step": ${step}, "rank": 0}}`;
    const r = t.report([t.files({ 'traces-r0.jsonl': [
        line('forward', 0, 30, 7), line('backward', 30, 50, 7), line('train.step', 0, 100, 7),
        line('forward', 100, 35, 8), line('train.step', 100, 90, 8)] })]);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.deepStrictEqual(r.steps.map((s) => [s.step, s.name]), [[7, 'train.step'], [8, 'train.step']]);
    near(row(r.step_parts, { step: 7, part: 'forward' }).duration_s, us(30), 'forward');
    near(row(r.step_parts, { step: 7, part: '(unknown)' }).duration_s, us(20), 'unknown');
    assert.strictEqual(row(r.step_parts, { step: 8, part: 'backward' }).duration_s, null);
});

// The step [0,100] on thread 1: a call [0,5] starts a [10,40]; b waits behind it [42,60]; a wait for
// the device [50,65] ends 5 us after b does; the host goes on to 100. Backwards: host 35, return 5,
// b 18, behind other work 2, a 30, launch delay 5, host 5.
test('the critical path', () => {
    const r = of([X('user_annotation', 'ProfilerStep#1', 0, 100, { pid: 10 }),
                  call(0, 5, 1), kernel('a', 10, 30, { correlation: 1 }),
                  call(6, 2, 2), kernel('b', 42, 18, { correlation: 2 }),
                  call(50, 15, 3, 'cudaDeviceSynchronize')]);
    const got = Object.fromEntries(r.critical_path.map((p) =>
        [p.name === null ? p.kind : `${p.kind} ${p.name}`, Math.round(p.total_s * 1e9) / 1e3]));
    assert.deepStrictEqual(got, { 'host code': 40, 'return of a wait cudaDeviceSynchronize': 5,
                                  'device work a': 30, 'device work b': 18,
                                  'queued behind other work': 2, 'launch delay': 5 });
    near(r.critical_path.reduce((n, p) => n + p.share, 0), 1, 'all of the step', 1e-9);
    assert.deepStrictEqual(of([kernel('a', 0, 10)]).critical_path, []);
});

// The call for b ends at 39.5, a at 40, and b begins at 40.5: it was a that b waited for.
test('the critical path goes by what ended last', () => {
    const r = of([X('user_annotation', 'ProfilerStep#1', 0, 100, { pid: 10 }),
                  call(0, 5, 1), kernel('a', 10, 30, { correlation: 1 }),
                  call(36, 3.5, 2), kernel('b', 40.5, 19.5, { correlation: 2 }),
                  call(50, 15, 3, 'cudaDeviceSynchronize')]);
    const got = Object.fromEntries(r.critical_path.map((p) =>
        [p.name === null ? p.kind : `${p.kind} ${p.name}`, Math.round(p.total_s * 1e9) / 1e3]));
    assert.deepStrictEqual(got, { 'host code': 40, 'return of a wait cudaDeviceSynchronize': 5,
                                  'device work a': 30, 'device work b': 19.5,
                                  'queued behind other work': 0.5, 'launch delay': 5 });
});

test('counters, and torch\'s memory', () => {
    const c = (ts, args) => ({ ph: 'C', name: 'queue', pid: 1, tid: 1, ts, args });
    const r = of([X('x', 'work', 0, 100), c(0, { depth: 2 }), c(50, { depth: 6, busy: 1 }), c(100, { depth: 1 }),
                  { ph: 'i', name: '[memory]', pid: 1, tid: 1, ts: 10, s: 't',
                    args: { 'Total Allocated': 4096, 'Device Id': 0, 'Device Type': 1, Bytes: 4 } }]);
    const d = row(r.counters, { name: 'queue depth' });
    assert.deepStrictEqual([d.count, d.min, d.mean, d.max, d.last], [3, 1, 3, 6, 1]);
    assert.strictEqual(row(r.counters, { name: 'queue busy' }).count, 1);
    assert.strictEqual(row(r.counters, { name: 'memory allocated on device 0' }).max, 4096);
});

// A range is a kernel, whose times CUPTI makes up: no work and no scope of the host.
test('hardware counters that torch reads through CUPTI', () => {
    const op = 'smsp__sass_thread_inst_executed_op_ffma_pred_on.sum', long = 'x'.repeat(120);
    const range = (ts, args) => X('cuda_profiler_range', 'gemm', ts, 10, { pid: 0, tid: 0, args });
    const r = of([X('cpu_op', 'aten::mm', 0, 100), range(0, { [op]: 1000, [`${long}a`]: 1, note: 'no number' }),
                  range(50, { [op]: 3000, [`${long}b`]: 2 }), range(100, { [op]: 500 })]);
    const c = row(r.counters, { name: op });
    assert.deepStrictEqual([c.process, c.count, c.min, c.mean, c.max, c.last], ['0', 3, 500, 1500, 3000, 500]);
    assert.deepStrictEqual(r.counters.map((k) => k.name).sort(), [op, `${long}a`, `${long}b`]);
    assert.strictEqual(r.ranks[0].work, 0);
    assert.deepStrictEqual(r.kernels, []);
    assert.deepStrictEqual(r.host.map((h) => h.name), ['aten::mm']);
    const over = r.counters_over_time.filter((p) => p.name === op);
    assert.deepStrictEqual(over.map((p) => p.mean), [1000, 3000, 500]);
});

// Each against all others would take minutes.
test('an event with very many arguments, of which the first is there twice', () => {
    const args = `{"d":1,"d":2,${Array.from({ length: 100000 }, (_, i) => `"a${i}":1`).join(',')}}`;
    for (const head of ['"ph":"C"', '"ph":"X","dur":1,"cat":"cuda_profiler_range"']) {
        const dir = t.files({ 'rank0.json': `[{${head},"name":"c","pid":1,"tid":1,"ts":1,"args":${args}}]` });
        const r = t.report([dir], { timeout: 60000 });
        assert.strictEqual(r.status, 0, r.stderr);
        assert.strictEqual(r.counters.length, 100001);
        const [d] = r.counters.filter((k) => /(^| )d$/.test(k.name));
        assert.deepStrictEqual([d.count, d.last], [1, 2]);
        assert.deepStrictEqual(r.problems.map((p) => p.kind), ['mended_DUPLICATE_KEY']);
    }
});

test('names of counters are texts, however long', () => {
    const c = (name, args) => ({ ph: 'C', name, pid: 1, tid: 1, ts: 1, args });
    const long = 'n'.repeat(150);
    const r = of([c('a"b\u00e9', { 'k\\': 1 }), c(`${long}1`, { value: 1 }), c(`${long}2`, { value: 2 })]);
    assert.deepStrictEqual(r.counters.map((k) => k.name).sort(), ['a"b\u00e9 k\\', `${long}1`, `${long}2`].sort());
});

test('copies on the host', () => {
    const r = of([X('cpu_op', 'aten::copy_', 0, 60000), X('cpu_op', 'aten::copy_', 70000, 50000)]);
    assert.deepStrictEqual([r.copies[0].count, r.copies[0].total_s], [2, 0.11]);
    assert(r.findings.some((f) => /aten::copy_ takes 110 ms/.test(f.finding)));
    assert.deepStrictEqual(of(device).copies, []);
});

// Whether anything is found of which this is a part, and how much it weighs.
const weightOf = (r, text) => r.findings.find((f) => text.test(f.finding))?.weight ?? null;

test('findings begin where they should', () => {
    // One kernel of the time that is busy, one at the end of 1000 us.
    const busy = (part) => of([kernel('gemm', 0, part - 10), kernel('gemm', 990, 10)]);
    assert.deepStrictEqual([799, 800, 899, 900].map((part) => weightOf(busy(part), /busy for/)),
                           ['high', 'medium', 'medium', null]);
    const copies = (ms) => weightOf(of([X('cpu_op', 'aten::copy_', 0, ms * 1000)]), /aten::copy_/);
    assert.deepStrictEqual([copies(100), copies(100.001)], [null, 'medium']);
    const launch = (us_) => weightOf(of([call(0, us_, 1, 'cudaGraphLaunch')]), /CUDA graphs took/);
    assert.deepStrictEqual([launch(4999), launch(5000)], [null, 'high']);
    const part = (name, n) => of([kernel(name, 0, n), kernel('gemm', n, 1000 - n)]);
    assert.deepStrictEqual([150, 151].map((n) => weightOf(part('deep_ep dispatch', n), /DeepEP dispatch/)), [null, 'medium']);
    assert.deepStrictEqual([50, 51].map((n) => weightOf(part('topk', n), /routing/)), [null, 'medium']);
    const tiny = (n, dur) => of(Array.from({ length: n }, (_, i) => kernel(`k${i}`, i * 4, dur)));
    assert.deepStrictEqual([weightOf(tiny(5, 2), /less than 3 us/), weightOf(tiny(6, 3), /less than 3 us/),
                            weightOf(tiny(6, 2.9), /less than 3 us/)], [null, null, 'low']);
    // Rank 0 is busy all the time, rank 1 for 950 or 949 of 1000 us.
    const uneven = (dur) => t.report([two([kernel('a', 0, 1000)], [kernel('a', 0, dur - 10), kernel('a', 990, 10)])]);
    assert.deepStrictEqual([950, 949].map((dur) => weightOf(uneven(dur), /utilisation differs/)), [null, 'medium']);
});

// Busy [0,15] of compute, [20,25] and [30,35] of copies, one half each of [40,60], and a stream that does nothing.
test('what streams carry', () => {
    const on = (cat, name, ts, dur, tid) => X(cat, name, ts, dur, { pid: 0, tid });
    const r = of([on('kernel', 'gemm', 0, 15, 1), on('gpu_memcpy', 'Memcpy HtoD', 20, 5, 2),
                  on('kernel', 'gemm', 40, 10, 3), on('gpu_memset', 'Memset', 50, 10, 3),
                  on('kernel', 'gemm', 0, 1, 4), on('kernel', 'gemm', 99, 0.9, 4), on('kernel', 'empty', 50, 0, 5),
                  on('kernel', 'nccl', 60, 9, 6), on('kernel', 'gemm', 70, 8, 6)]);
    assert.deepStrictEqual(Object.fromEntries(r.streams.map((s) => [s.stream, s.role])),
                           { 1: 'compute', 2: 'copies', 3: 'mixed', 4: 'rare', 5: 'empty', 6: 'communication' });
});

test('the 15 longest gaps are kept, and 20 kernels unless more are asked for', () => {
    const events = Array.from({ length: 25 }, (_, i) => kernel(`k${i}`, i * (i + 1) / 2 * 10, 1 + i / 100));
    const r = of(events), [shown] = [t.run([t.files({ 'rank0.json': torch(0, events) }), '--json'])];
    assert.deepStrictEqual(r.gaps.map((g) => Math.round(g.duration_s * 1e8)),
                           Array.from({ length: 15 }, (_, i) => (24 - i) * 1000 - 100 - (23 - i)));
    assert.strictEqual(r.kernels.length, 25);
    assert.strictEqual(JSON.parse(shown.stdout.toString()).kernels.length, 20);
});

test('findings are ranked', () => {
    const r = of([kernel('gemm', 0, 10), kernel('topk', 100, 10), kernel('deep_ep dispatch', 200, 10)]);
    assert.strictEqual(r.findings[0].weight, 'high');
    assert.match(r.findings[0].finding, /busy for 14\.3 % of its span/);
    assert(r.findings.some((f) => /DeepEP dispatch takes 33\.3 %/.test(f.finding)));
    assert(r.findings.some((f) => /routing \(top-k\) takes 33\.3 %/.test(f.finding)));
    const order = ['high', 'medium', 'low'];
    const weights = r.findings.map((f) => order.indexOf(f.weight));
    assert.deepStrictEqual(weights, [...weights].sort());
    const uneven = t.report([two([kernel('a', 0, 10)], [kernel('a', 0, 9), kernel('a', 10, 0.5)])]);
    assert(uneven.findings.some((f) => /utilisation differs by 9\.5 points/.test(f.finding)));
    const tiny = of(Array.from({ length: 6 }, (_, i) => kernel(`k${i}`, i * 2, 2)));
    assert(tiny.findings.some((f) => /6 of the 30 kernels/.test(f.finding)));
});

test('work of a stream that overlaps counts once in its utilisation', () => {
    const s = of([kernel('a', 0, 10), kernel('b', 5, 10), kernel('c', 6, 2), kernel('d', 20, 5)]).streams[0];
    near(s.time_s, us(27), 'sum');
    near(s.span_s, us(25), 'span');
    near(s.utilisation, 20 / 25, 'utilisation');
});

test('two runs compared', () => {
    const dir = t.files({
        'before/rank0.json': torch(0, [kernel('gemm', 0, 10), kernel('gemm', 10, 10), kernel('old', 20, 5)]),
        'after/rank0.json': torch(0, [kernel('gemm', 0, 15), kernel('new', 20, 3), kernel('new', 30, 4)]) });
    const r = t.report(['diff', path.join(dir, 'before'), path.join(dir, 'after')]);
    assert.strictEqual(r.status, 0, r.stderr);
    const d = Object.fromEntries(r.device_diff.map((k) => [k.name, k]));
    assert.deepStrictEqual([d.gemm.state, d.old.state, d.new.state], ['changed', 'removed', 'added']);
    assert.deepStrictEqual([d.gemm.before_count, d.gemm.after_count], [2, 1]);
    near(d.gemm.change, -0.25, 'change of gemm');
    near(d.gemm.before_mean_s, us(10), 'mean before');
    near(d.gemm.after_mean_s, us(15), 'mean after');
    near(d.new.change_s, us(7), 'change of new');
    assert.strictEqual(d.old.after_total_s, null);
    const busy = row(r.diff, { figure: 'busy' });
    near(busy.before_s, us(25), 'busy before');
    near(busy.after_s, us(22), 'busy after');
    near(busy.change, -3 / 25, 'change of busy');
    const same = t.report(['diff', path.join(dir, 'before'), path.join(dir, 'before')]);
    same.device_diff.forEach((k) => assert.strictEqual(k.state, 'same'));
});

test('utilisation over time', () => {
    // 120 pieces of 1 us: busy in the first and the last 30.
    const r = of([kernel('gemm', 0, 30), kernel('nccl', 90, 30)]);
    assert.strictEqual(r.utilisation.length, 120);
    near(r.utilisation[0].length_s, us(1), 'length of a piece');
    // The queue: handed over at 10 and 20, begun at 40 and 50: 1, 2, 1.
    const q = of([call(10, 1, 1), call(20, 1, 2), kernel('a', 0, 1), kernel('b', 40, 1, { correlation: 1 }),
                  kernel('c', 50, 1, { correlation: 2 }), kernel('d', 119, 1)]).utilisation;
    assert.deepStrictEqual([10, 20, 40, 50].map((i) => q[i].queue_max), [1, 2, 1, 0]);
    r.utilisation.forEach((b, i) => {
        near(b.busy, i < 30 || i >= 90 ? 1 : 0, `piece ${i}`, 1e-9);
        near(b.communication, i >= 90 ? 1 : 0, `communication in piece ${i}`, 1e-9);
    });
});

// The same, drawn: 60 characters of 2 us. A piece with work for half of its time counts as busy.
test('the time line', () => {
    const copy = (ts, dur) => X('gpu_memcpy', 'Memcpy HtoD', ts, dur, { pid: 0, tid: 8 });
    const r = of([kernel('gemm', 0, 20), kernel('nccl', 30, 10), kernel('gemm', 50, 1), kernel('gemm', 60, 0.5),
                  kernel('gemm', 70, 0.09), copy(90, 6), kernel('nccl', 100, 2, {}, 9), kernel('gemm', 100, 1),
                  kernel('norm', 118, 2)]);
    const line = [['#', 10], ['.', 5], ['=', 5], ['.', 5], ['#', 1], ['.', 4], ['-', 1], ['.', 14], ['+', 3], ['.', 2],
                  ['=', 1], ['.', 8], ['#', 1]].map(([c, n]) => c.repeat(n)).join('');
    assert.deepStrictEqual(r.timeline.map((l) => [l.rank, l.line]), [[0, line]]);
    near(r.timeline[0].length_s, us(2), 'length of a character');
    assert.deepStrictEqual(of([X('cpu_op', 'aten::add', 0, 10)]).timeline, []);
});

test('hardware and versions', () => {
    const r = of(device, [], { deviceProperties: [{ id: 0, name: 'NVIDIA H200', totalGlobalMem: 150754820096,
                                                    numSms: 132 }, { id: 1, name: 'NVIDIA H200' }],
                               cuda_runtime_version: 12080, cuda_driver_version: 12090, cupti_version: 26,
                               host_name: 'node-1' });
    assert.deepStrictEqual({ ...r.hardware }, {
        device: 'NVIDIA H200', devices: 2, memory_bytes: 150754820096, multiprocessors: 132, backend: 'nccl',
        process_groups: null, nccl_version: null, runtime_version: '12080', driver_version: '12090', profiler_version: '26',
        host: 'node-1' });
    const info = { backend: 'nccl', rank: 0, world_size: 1, pg_count: 3, nccl_version: '2.21.5' };
    const groups = of(device, [], { distributedInfo: info }).hardware;
    assert.deepStrictEqual([groups.process_groups, groups.nccl_version], [3, '2.21.5']);
});

test('what was not recorded is null, never 0', () => {
    const r = of([X('cpu_op', 'aten::add', 0, 10)]);
    assert.deepStrictEqual([r.summary.utilisation_mean, r.ranks[0].busy_s, r.ranks[0].kernel_s,
                            r.breakdown[0].idle_s, r.idle[0].host_wait_s, r.launches[0].linked,
                            r.launches[0].queue_max], Array(7).fill(null));
    for (const table of ['gaps', 'streams', 'kernels', 'kernel_classes', 'graphs', 'steps', 'collectives'])
        assert.deepStrictEqual(r[table], [], table);
    const unlinked = of([kernel('a', 0, 10)]).launches[0];
    assert.deepStrictEqual([unlinked.linked, unlinked.delay_mean_s], [null, null]);
});
