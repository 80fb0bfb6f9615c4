// analyze_format.test.js: docs/formats/ANALYSIS.md names every table and column that is written, and
// no other. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const t = require('./analyze_tool.js');
const { X, kernel, call, torch, path, fs } = t;

const DOC = fs.readFileSync(path.join(__dirname, '..', '..', 'docs', 'formats', 'ANALYSIS.md'), 'utf8');
const documented = Object.fromEntries([...DOC.matchAll(/^\| `(\w+)` \| [^|]+ \| ([^|]+) \|$/gm)].map(
    ([, table, columns]) => [table, [...columns.replace(/\([^)]*\)/g, '').matchAll(/`(\w+)`/g)].map((c) => c[1])]));

// A trace in which every table has a row.
function rich(rank) {
    return torch(rank, [
        X('user_annotation', 'ProfilerStep#1', 0, 100, { pid: 10 }), X('user_annotation', 'forward', 1, 9, { pid: 10 }),
        call(2, 1, 1), kernel('gemm', 5, 10 + rank, { correlation: 1 }),
        kernel('ncclDevKernel', 40, 10 + rank, { 'Collective name': 'allreduce', 'Process Group Name': '0', Seq: 1 }),
        X('cpu_op', 'aten::mm', 1, 4, { pid: 10 }),
        X('cuda_profiler_range', 'gemm', 200, 1, { pid: 0, args: { 'dram__bytes.sum': 1 } }),
        call(20, 1, 2, 'cudaGraphLaunch'), X('cpu_op', 'aten::copy_', 30, 2),
        X('gpu_memcpy', 'Memcpy HtoD', 60, 2, { pid: 0, args: { bytes: 3 } }),
        { ph: 'B', cat: 'x', name: 'open', pid: 1, tid: 1, ts: 5 },
        { ph: 'C', name: 'c', pid: 1, tid: 1, ts: 5, args: { c: 1 } }, {}], { world_size: 3 });
}

function columnsOf(table) {
    return [...new Set((Array.isArray(table) ? table : [table]).flatMap(Object.keys))];
}

test('every table and column is documented', () => {
    const dir = t.files({ 'rank0.json': rich(0), 'rank1.json': rich(1) });
    const r = JSON.parse(t.run(['--json', '--launches-per-step', '1', '--sequence-min', '1',
                                   dir]).stdout.toString());
    assert.deepStrictEqual(Object.keys(r).sort(), [...Object.keys(documented), 'perftrace_analysis'].sort());
    for (const [table, columns] of Object.entries(documented)) {
        const got = columnsOf(r[table]);
        assert(got.length > 0, `${table} has no row here`);
        const want = table === 'kernels' ? [...documented.kernel_classes.filter((c) => c !== 'group'), ...columns] : columns;
        if (table === 'problems')
            got.forEach((column) => assert(want.includes(column), `${table}: ${column}`));
        else
            assert.deepStrictEqual(got.sort(), [...new Set(want)].sort(), table);
    }
    const diff = JSON.parse(t.run(['diff', '--json', path.join(dir, 'rank0.json'),
                                   path.join(dir, 'rank1.json')]).stdout.toString());
    for (const table of ['diff', 'device_diff', 'host_diff'])
        columnsOf(diff[table]).forEach((column) => assert(DOC.includes(`\`${column}\``), `${table}: ${column}`));
});
