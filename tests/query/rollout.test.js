// rollout.test.js: the queries of sessions on what the rollout example leaves, against perf-trace-sessions.
// SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const path = require('path');
const test = require('node:test');
const t = require('./query_tool.js');
const f = require('./figures.js');
const { everything } = require('./checks.js');

const dir = t.folder();
const out = path.join(dir, 'perftrace-out');
t.example(dir, 'perftrace-out', 'rollout', ['--ranks', '2', '--tasks', '6']);
const truth = f.load(out);
const records = f.records(out, /^sessions-/);
const said = t.said('sessions', ['--json', '--top', '20', ...new Set(records.map((r) => path.join(out, r.file)))]);
t.pack(path.join(out, 'sessions-r1.jsonl'));
t.pack(path.join(out, 'traces-r0.jsonl'));

let q;
test('every query of traces says what the lines say', async () => {
    q = await t.open(dir);
    await q.setup('setup');
    const rows = await everything(q, f.load(out));
    assert.deepStrictEqual(rows.account.map((r) => r.state), ['complete', 'complete']);
    const analysis = t.said('analyze', ['--json', '--top-n', '0', out]);
    t.agree(rows.names.map((r) => ({ name: r.name, n: r.n, total_s: r.total_s })),
            analysis.names.map((r) => ({ name: r.name, n: r.count, total_s: r.total_s })), ['name'], 'names');
    assert.strictEqual(f.sum(rows.account.map((r) => r.events)), truth.events.length);
});

test('percentiles', async () => {
    await q.setup('sessions setup');
    const got = await q.rows('session percentiles');
    const want = said.durations.filter((d) => d.name !== '(no phase)').map((d) => ({
        what: d.name, sessions: d.count, mean_s: d.mean, p50_s: d.p50, p90_s: d.p90, p99_s: d.p99, max_s: d.max }));
    t.agree(got, want, ['what'], 'percentiles');
    // Once more from the records alone.
    const total = records.filter((r) => 'total_s' in r).map((r) => r.total_s);
    t.agree(got.filter((r) => r.what === 'total'), [{ what: 'total', sessions: total.length,
        p50_s: f.quantile(total, 0.5), p99_s: f.quantile(total, 0.99) }], ['what'], 'total');
});

test('ends and reasons', async () => {
    const got = await q.rows('session ends');
    t.agree(f.groups(got, (r) => r.status).map((g) => ({ status: g[0].status, sessions: f.sum(g.map((r) => r.sessions)),
                                                         share: f.sum(g.map((r) => r.share)) })),
            said.statuses.filter((s) => s.sessions), ['status'], 'statuses');
    t.agree(got.filter((r) => r.reason !== null),
            said.reasons.filter((r) => got.some((g) => g.reason === r.reason)), ['status', 'reason'], 'reasons');
    assert.strictEqual(got.filter((r) => r.reason !== null).length, new Set(records.filter((r) => 'reason' in r)
        .map((r) => `${r.status} ${r.reason}`)).size);
    t.agree(got, f.groups(records, (r) => [r.status, r.reason ?? null]).map((g) => ({
        status: g[0].status, reason: g[0].reason ?? null, sessions: g.length,
        seconds: g.some((r) => 'total_s' in r) ? f.sum(g.map((r) => r.total_s ?? 0)) : null })),
            ['status', 'reason'], 'ends');
});

test('the slowest', async () => {
    const got = await q.rows('slowest sessions');
    assert.strictEqual(got.length, 20);
    got.forEach((r, i) => {
        // Of equally slow ones either may come first, or be the twentieth.
        t.near(r.total_s, said.slowest[i].total_s, `slowest ${i}`);
        const want = said.slowest.find((w) => w.session === String(r.session_id) && w.rank === r.rank && w.role === r.role);
        if (!want) {
            t.near(r.total_s, said.slowest[19].total_s, `slowest ${i} is not among ours`);
            return;
        }
        t.agree([{ ...r, session: String(r.session_id), task: String(r.task_id) }], [{
            role: want.role, rank: want.rank, session: want.session, task: want.task, status: want.status,
            total_s: want.total_s }], ['rank'], `slowest ${i}`);
        const phases = Object.fromEntries(r.phase_s.map((e) => [e.key, e.value]));
        for (const phase of ['generate', 'reward', 'toolcall'])
            t.near(phases[phase] ?? null, want[`${phase}_s`] ?? null, `slowest ${i} ${phase}`);
        // Times since 1970 are doubles here and there.
        assert(Math.abs(r.no_phase_s - want.no_phase_s) < 1e-5, `slowest ${i}: ${r.no_phase_s} ${want.no_phase_s}`);
    });
    q.close();
});
