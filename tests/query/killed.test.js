// killed.test.js: the queries on the files of processes that were killed, before and after perf-trace-recover.
// SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const test = require('node:test');
const { spawn } = require('child_process');
const t = require('./query_tool.js');
const f = require('./figures.js');
const { everything } = require('./checks.js');

const [HANG, RECOVER] = [t.toolOf('PERFTRACE_TEST_HANG'), t.toolOf('PERFTRACE_RECOVER')];
const OUT = 'perftrace-out';

// Two ranks that hang in their fourth step, all they emitted written, and are killed.
async function killed(dir) {
    const env = Object.fromEntries(Object.entries(process.env).filter(([k]) => !/^PERFTRACE_/.test(k)));
    const ranks = [0, 2].map((rank) => spawn(HANG, [], { stdio: 'ignore', env: {
        ...env, RANK: String(rank), WORLD_SIZE: '3', PERFTRACE_DIR: path.join(dir, OUT) } }));
    const want = { 0: 10, 2: 9 };
    for (const rank of [0, 2])
        for (let seen = 0; seen < want[rank]; await new Promise((r) => setTimeout(r, 20))) {
            const file = path.join(dir, OUT, `traces-r${rank}.jsonl`);
            seen = fs.existsSync(file) ? (fs.readFileSync(file, 'utf8').match(/"ph": "X".*\n/g) ?? []).length : 0;
        }
    await Promise.all(ranks.map((child) => new Promise((r) => child.on('close', r) && child.kill('SIGKILL'))));
}

test('killed, then recovered', async () => {
    const dir = t.folder();
    await killed(dir);
    const states = async () => {
        const q = await t.open(dir);
        await q.setup('setup');
        const rows = await everything(q, f.load(path.join(dir, OUT)));
        q.close();
        return rows;
    };
    const before = await states();
    assert.deepStrictEqual(before.account.map((r) => [r.rank, r.events, r.state]), [
        [0, 10, 'no footer: it runs or was killed'], [2, 9, 'no footer: it runs or was killed']]);
    const r = t.run(RECOVER, [path.join(dir, OUT)]);
    assert.strictEqual(r.status, 0, r.stderr);
    const after = await states();
    assert.deepStrictEqual(after.account.map((row) => [row.rank, row.events, row.state]),
                           [[0, 10, 'complete'], [2, 9, 'complete']]);
    assert.deepStrictEqual(after.unfinished.map((row) => [row.rank, row.name, row.step]), [
        [0, 'train.step', 3], [0, 'all_reduce', 3], [2, 'train.step', 3], [2, 'load_batch', 3]]);
    const said = t.said('analyze', ['--json', path.join(dir, OUT)]);
    t.agree(after.unfinished, said.unfinished.map((row) => ({ rank: row.rank, name: row.name, cat: row.category,
                                                             open_s: row.so_far_s })), ['rank', 'name'], 'unfinished');
});
