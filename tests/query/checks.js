// checks.js: runs every query that reads traces and compares it with figures.js. SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const { agree, near } = require('./query_tool.js');
const f = require('./figures.js');

const WHO = ['role', 'rank'];

// The rows of each query by name; q has its setup, t the lines it reads.
async function everything(q, t) {
    const rows = {};
    const take = async (name) => (rows[name] = await q.rows(name));
    agree(await take('account'), f.account(t), [...WHO, 'pid'], 'account');
    agree(await take('losses'), f.losses(t), [...WHO, 'cause'], 'losses');
    agree(await take('names'), f.names(t), ['name', 'cat'], 'names');
    agree(await take('steps'), f.steps(t), ['role', 'step'], 'steps');
    agree(await take('stragglers'), f.stragglers(t), WHO, 'stragglers');
    agree(await take('overlap'), f.overlap(t), WHO, 'overlap');
    agree(await take('threads'), f.threads(t), [...WHO, 'tid'], 'threads');
    agree(await take('counters'), f.counters(t), [...WHO, 'name', 'series'], 'counters');
    agree(await take('counters over time'), f.countersOverTime(t), [...WHO, 'name', 'series', 'second'], 'over time');
    agree(await take('unfinished'), f.unfinished(t), [...WHO, 'thread', 'name', 'from_s'], 'unfinished');
    agree(await take('flows'), f.flows(t), [...WHO, 'name'], 'flows');

    const clocks = await take('wall clock');
    const pad = (s) => s.replace(/(\.\d*)?$/, (x) => (x || '.').padEnd(10, '0'));
    agree(clocks.map((r) => ({ ...r, first: pad(r.first), last: pad(r.last) })), f.wallClock(t), WHO, 'wall clock');

    const slow = await take('slowest scopes');
    const want = f.slowest(t);
    assert.strictEqual(slow.length, Math.min(20, want.length));
    slow.forEach((r, i) => {
        near(r.ms, want[i].ms, `slowest ${i}`);
        // Of several that took as long, any may stand here.
        assert(want.some((w) => ['role', 'rank', 'name', 'step', 'thread'].every((k) => w[k] === r[k]) &&
                         Math.abs(w.ms - r.ms) < 1e-9 && Math.abs(r.times_usual - w.times) < 0.00501),
               `slowest ${i}: there is no ${JSON.stringify(r)}`);
    });

    const gaps = await take('gaps');
    const long = f.gaps(t);
    assert.strictEqual(gaps.length, long.length);
    gaps.forEach((r, i) => near(r.gap_ms, long[i].gap / 1e6, `gap ${i}`));
    if (new Set(long.map((g) => g.gap)).size === long.length) // else their order is open
        gaps.forEach((r, i) => agree([r], [{ role: long[i].role, rank: long[i].rank, thread: long[i].thread,
                                             before: long[i].before, step: long[i].step }], WHO, `gap ${i}`));
    return rows;
}

module.exports = { everything };
