// nvtx.test.js: programs with NVTX ranges are traced without a change to them.
// SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const { spawnSync } = require('child_process');
const { folder, toolOf } = require('../cli/tool.js');

const CLIENT = toolOf('NVTX_CLIENT'), LIBRARY = toolOf('NVTX_LIBRARY');
const CHECKER = path.join(__dirname, '..', 'checker', 'check_jsonl.js');

function run(program, env = {}) {
    const dir = folder();
    const clean = Object.fromEntries(Object.entries(process.env).filter(([k]) => !k.startsWith('PERFTRACE_')));
    const r = spawnSync(program, [], { encoding: 'utf8', env: {
        ...clean, NVTX_INJECTION64_PATH: LIBRARY, PERFTRACE_DIR: dir, PERFTRACE_RANK: '0', ...env } });
    assert.strictEqual(r.status, 0, `${r.signal} ${r.stderr}`);
    const file = path.join(dir, 'traces-r0.jsonl');
    const lines = fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim().split('\n').map((l) => JSON.parse(l)) : [];
    if (lines.length > 0) {
        const check = spawnSync(process.execPath, [CHECKER, file], { encoding: 'utf8' });
        assert.strictEqual(check.status, 0, check.stderr);
    }
    return { ...r, lines, events: lines.filter((l) => l.ph !== 'M') };
}

const of = (r, name) => r.events.filter((e) => e.name === name);
const footer = (r) => r.lines.find((l) => l.name === 'perftrace_footer').args;

test('a child that is forked while other threads make names', () => {
    const dir = folder();
    const r = spawnSync(CLIENT, ['forks'], { encoding: 'utf8', env: {
        ...process.env, NVTX_INJECTION64_PATH: LIBRARY, PERFTRACE_DIR: dir, PERFTRACE_RANK: '0' } });
    assert.strictEqual(r.status, 0, `${r.signal} ${r.stderr}`);
    assert.match(r.stdout, /^loaded 1\nchildren 30$/m);
});

test('ranges, marks and domains of a program that knows nothing of us', () => {
    const r = run(CLIENT);
    assert.match(r.stdout, /^loaded 1$/m);
    assert.match(r.stdout, /^levels 0 1 1 0 -1$/m);
    assert.match(r.stdout, /^same 1 1$/m);
    assert.match(r.stdout, /^taken 256 after 0$/m);
    assert.strictEqual(footer(r).emitted, footer(r).written);
    const [outer] = of(r, 'outer'), [wide] = of(r, 'wide ä€😀');
    assert.deepStrictEqual([outer.ph, outer.cat, wide.ph], ['X', 'nvtx', 'X']);
    assert.ok(outer.ts <= wide.ts && wide.ts + wide.dur <= outer.ts + outer.dur);
    assert.deepStrictEqual([of(r, 'buffer 1').length, of(r, 'buffer 2').length, of(r, '(no name)').length], [1, 1, 2]);
    // What stands at an address counts, not what stood there; nothing is read behind the last page.
    for (const text of ['', 'a', 'abcd', 'abcdefg', 'abcdefgh', 'abcdefghi', 'abcdefgX', 'abcdefghijklmno',
        'abcdefghijklmnop', 'abcdefghijklmnopq'])
        assert.strictEqual(of(r, text).length, 9, text);
    assert.deepStrictEqual(of(r, 'mark "quoted"').map((e) => e.ph), ['i']);
    assert.deepStrictEqual(of(r, 'step').map((e) => [e.cat, e.args.payload]), [['PyTorch', -7]]);
    assert.deepStrictEqual(of(r, 'ratio').map((e) => [e.ph, e.args.payload]), [['i', 0.5]]);
    const text = JSON.stringify(of(r, 'allreduce').map((e) => [e.ph, e.cat]));
    assert.strictEqual(text, '[["X","NCCL"],["b","NCCL"],["e","NCCL"]]');
    const [, begin, end] = of(r, 'allreduce');
    assert.strictEqual(begin.id, end.id);
    assert.strictEqual(of(r, 'deep').length, 256);
    // Begun by one thread, ended by another.
    const [b, e] = of(r, 'crossing');
    assert.deepStrictEqual([b.ph, e.ph, b.id === e.id, b.tid === e.tid], ['b', 'e', true, false]);
    const name = r.lines.find((l) => l.name === 'thread_name' && l.args.name === 'loader');
    assert.strictEqual(of(r, 'load')[0].tid, name.tid);
});

test('domains are categories: one can be left out, one alone taken', () => {
    assert.deepStrictEqual([...new Set(run(CLIENT, { PERFTRACE_CATEGORIES: 'NCCL' }).events.map((e) => e.cat))], ['NCCL']);
    const cats = new Set(run(CLIENT, { PERFTRACE_CATEGORIES: '-nvtx' }).events.map((e) => e.cat));
    assert.deepStrictEqual([...cats].sort(), ['NCCL', 'PyTorch']);
});

test('switched off, the program runs all the same', () => {
    const r = run(CLIENT, { PERFTRACE_ENABLED: '0' });
    assert.match(r.stdout, /^levels 0 1 1 0 -1$/m);
    assert.deepStrictEqual(r.lines, []);
});

test("a program with NVTX's own headers", (t) => {
    if (!process.env.NVTX_REAL) {
        t.skip("NVTX's headers are not here (nvtx3/nvToolsExt.h of CUDA)");
        return;
    }
    const r = run(process.env.NVTX_REAL);
    assert.deepStrictEqual(of(r, 'pushed').map((e) => e.ph), ['X']);
    assert.deepStrictEqual(of(r, 'registered').map((e) => [e.cat, e.args.payload]), [['real', -5]]);
    assert.deepStrictEqual(of(r, 'marked').map((e) => e.ph), ['i']);
    assert.deepStrictEqual(of(r, 'started').map((e) => e.ph), ['b', 'e']);
});
