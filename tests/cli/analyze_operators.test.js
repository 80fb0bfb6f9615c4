// analyze_operators.test.js: what operators launch, and hardware counters of theirs, on traces small enough to be
// worked out on paper. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const t = require('./analyze_tool.js');
const { X, kernel, call, torch, near, row } = t;

const of = (events, args = []) => {
    const r = t.report([t.files({ 'rank0.json': torch(0, events) }), ...args]);
    assert.strictEqual(r.status, 0, r.stderr);
    return r;
};
const us = (v) => v / 1e6;
const two = (a, b) => t.files({ 'rank0.json': torch(0, a, { world_size: 2 }),
                                'rank1.json': torch(1, b, { world_size: 2 }) });

// Thread 1: linear [0,20] calls addmm [2,18], which launches gemm and bias; linear [100,130] launches the same;
// linear [200,210] gemm alone; softmax [300,340] three, of which the third runs before the second; inner and outer
// begin together at 500. Call 9 lies in no operator. Thread 2: linear [0,20] launches gemm and bias.
const op = (name, ts, dur, tid = 1) => X('cpu_op', name, ts, dur, { pid: 10, tid });
const ran = (name, ts, dur, correlation) => kernel(name, ts, dur, { correlation });
const operators = [
    op('aten::linear', 0, 20), op('aten::addmm', 2, 16), call(3, 1, 1), call(6, 1, 2),
    ran('gemm', 30, 10, 1), ran('bias', 40, 2, 2),
    op('aten::linear', 100, 30), call(101, 1, 3), call(103, 1, 4), ran('gemm', 140, 10, 3), ran('bias', 150, 3, 4),
    op('aten::linear', 200, 10), call(201, 1, 5), ran('gemm', 210, 4, 5),
    op('aten::softmax', 300, 40), call(301, 1, 6), call(303, 1, 7), call(305, 1, 8),
    ran('max', 350, 1, 6), ran('exp', 370, 2, 7), ran('sum', 360, 3, 8),
    call(450, 1, 9), ran('alone', 460, 1, 9),
    op('aten::inner', 500, 30), op('aten::outer', 500, 40), call(510, 1, 12), call(512, 1, 13),
    ran('a', 550, 1, 12), ran('b', 551, 1, 13),
    op('aten::linear', 0, 20, 2), call(4, 1, 10, 'cudaLaunchKernel', 2), call(5, 1, 11, 'cudaLaunchKernel', 2),
    ran('gemm', 400, 5, 10), ran('bias', 410, 1, 11),
    X('user_annotation', 'layer 1', 0, 250, { pid: 10 }),
];
const sequencesOf = (r) => r.sequences.map((s) => [s.operator, s.sequence, s.count, s.length, s.ranks]);

test('sequences of kernels that operators launch', () => {
    let r = of(operators);
    assert.deepStrictEqual(sequencesOf(r), [['aten::linear', 'gemm | bias', 3, 2, 1],
                                            ['aten::softmax', 'max | sum | exp', 1, 3, 1],
                                            ['aten::outer', 'a | b', 1, 2, 1]]);
    const s = r.sequences[0];
    near(s.device_s, us(12 + 13 + 6), 'of the device');
    near(s.device_mean_s, us(31 / 3), 'mean of the device');
    near(s.host_s, us(20 + 30 + 20), 'of the host');
    near(s.host_mean_s, us(70 / 3), 'mean of the host');
    assert.deepStrictEqual([r.launches[0].sequences, r.launches[0].sequences_left_out], [3, 0]);
    assert.strictEqual(row(r.coverage, { figure: 'sequences' }).recorded_ranks, 1);

    r = of(operators, ['--sequence-min', '1']);
    assert.deepStrictEqual(sequencesOf(r).slice(2), [['aten::linear', 'gemm', 1, 1, 1], ['aten::outer', 'a | b', 1, 2, 1]]);
    r = of(operators, ['--sequences-of', 'addmm']);
    assert.deepStrictEqual(sequencesOf(r), [['aten::addmm', 'gemm | bias', 1, 2, 1]]);
    near(r.sequences[0].host_s, us(16), 'of the operator that was asked for');
    assert.deepStrictEqual(of(operators, ['--sequences-of', 'addmm', '--sequence-min', '3']).sequences, []);
    r = of(operators, ['--sequences-of', 'layer']);
    assert.deepStrictEqual(sequencesOf(r), [['layer 1', 'gemm | bias | gemm | bias | gemm', 1, 5, 1]]);
    assert.deepStrictEqual(sequencesOf(of(operators, ['--sequences-of', 'aten::'])), sequencesOf(of(operators)));
    r = t.report([two(operators, operators.slice(0, 6))]);
    assert.deepStrictEqual(sequencesOf(r)[0], ['aten::linear', 'gemm | bias', 4, 2, 2]);
    near(r.sequences[0].device_s, us(31 + 12), 'of both ranks');
    assert.strictEqual(t.report([two(operators, operators), '--top-n', '1']).sequences.length, 1);
    assert.deepStrictEqual(of([kernel('a', 0, 1), kernel('b', 1, 1), op('aten::mm', 0, 9)]).sequences, []);
    assert.strictEqual(of([kernel('a', 0, 1)]).launches[0].sequences, null);
});

test('of very many sequences the most frequent are kept, and the others counted', () => {
    const events = [];
    for (let i = 0; i < 1001; i++)
        for (let n = 0; n < (i === 1000 ? 2 : 1); n++) {
            const ts = 100 * (i + n), at = 10 * i + 5000 * n;
            events.push(op(`op${i}`, ts, 50), call(ts + 1, 1, at), call(ts + 2, 1, at + 1),
                        ran('a', ts + 10, 1, at), ran('b', ts + 20, 1, at + 1));
        }
    const r = of(events);
    assert.deepStrictEqual([r.launches[0].sequences, r.launches[0].sequences_left_out], [1001, 1]);
    assert.strictEqual(r.sequences.length, 1000);
    assert.deepStrictEqual([r.sequences[0].operator, r.sequences[0].count], ['op1000', 2]);
});

// Launches at 10 (in mm in linear), 65 (in add) and 110 (in mm in linear); a copy is no launch of a kernel. The
// ranges stand in the file in another order than in time.
const ffma = 'smsp__sass_thread_inst_executed_op_ffma_pred_on.sum';
const measured = (name, ts, args) => X('cuda_profiler_range', name, ts, 10, { pid: 0, tid: 0, args });
const counted = [
    op('aten::linear', 0, 50), op('aten::mm', 5, 40), call(10, 2, 1), op('aten::add', 60, 20),
    call(62, 1, 2, 'cudaMemcpyAsync'), call(65, 2, 3), op('aten::linear', 100, 50), op('aten::mm', 105, 40),
    call(110, 2, 4, 'cudaLaunchKernelExC'),
    measured('gemm', 1200, { [ffma]: 3000, 'dram__bytes.sum': 9 }), measured('gemm', 1000, { [ffma]: 1000, 'dram__bytes.sum': 5 }),
    measured('add_kernel', 1100, { [ffma]: 0, 'dram__bytes.sum': 7 }),
];

test('hardware counters of the operators that launched the kernels', () => {
    let r = of(counted);
    const mm = row(r.operator_counters, { counter: ffma, kernel: 'gemm' });
    assert.deepStrictEqual({ ...mm }, {
        counter: ffma, count: 2, total: 4000, mean: 2000, min: 1000, max: 3000, flop: 8000, ranks: 1,
        operator: 'aten::mm', top_operator: 'aten::linear', stack: 'aten::linear > aten::mm', kernel: 'gemm' });
    const add = row(r.operator_counters, { counter: ffma, kernel: 'add_kernel' });
    assert.deepStrictEqual([add.operator, add.top_operator, add.stack, add.total, add.flop],
                           ['aten::add', 'aten::add', 'aten::add', 0, 0]);
    const dram = row(r.operator_counters, { counter: 'dram__bytes.sum', operator: 'aten::mm' });
    assert.deepStrictEqual([dram.count, dram.total, dram.flop], [2, 14, null]);
    assert.strictEqual(r.operator_counters.length, 4);
    assert.strictEqual(row(r.coverage, { figure: 'operator_counters' }).recorded_ranks, 1);

    // A launch more than ranges: nothing tells which is whose.
    r = of([...counted, call(300, 1, 9)]);
    const apart = row(r.operator_counters, { counter: ffma, kernel: 'gemm' });
    assert.deepStrictEqual([apart.operator, apart.top_operator, apart.stack, apart.total], [null, null, null, 4000]);
    // A range without values still is of a launch; a launch in no operator has none.
    r = of([...counted, call(300, 1, 9), measured('empty', 1300, {}), call(400, 1, 10), measured('free', 1400, { x: 1 })]);
    assert.strictEqual(row(r.operator_counters, { counter: ffma, kernel: 'gemm' }).operator, 'aten::mm');
    assert.strictEqual(row(r.operator_counters, { counter: 'x' }).operator, null);

    r = t.report([two(counted, counted.map((e) => e.name === 'gemm' && e.ts === 1000
        ? measured('gemm', 1000, { [ffma]: 500 }) : e))]);
    const both = row(r.operator_counters, { counter: ffma, kernel: 'gemm' });
    assert.deepStrictEqual([both.count, both.total, both.min, both.ranks], [4, 7500, 500, 2]);
    assert.deepStrictEqual(of([kernel('gemm', 0, 10)]).operator_counters, []);
});

test('operations that counters of instructions stand for', () => {
    const counter = (name) => `smsp__sass_thread_inst_executed_op_${name}_pred_on.sum`;
    const args = Object.fromEntries(['hadd', 'dmul', 'dfma', 'fdiv', 'xadd'].map((n) => [counter(n), 10]));
    const r = of([call(0, 1, 1), measured('k', 1, args)]);
    assert.deepStrictEqual(Object.fromEntries(r.operator_counters.map((c) => [c.counter, c.flop])), {
        [counter('hadd')]: 10, [counter('dmul')]: 10, [counter('dfma')]: 20, [counter('fdiv')]: null,
        [counter('xadd')]: null });
});
