// sessions_report.test.js: what perf-trace-sessions says, against the same figures computed here.
// SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const t = require('./sessions_tool.js');

const T = 1760000000;
let seed = 88172645;
const random = () => { seed = (seed * 1103515245 + 12345) % 2147483648; return seed / 2147483648; };

// Four ranks, 50 tasks of 4 samples each; rank 2 is slow. As AReaL writes them.
function make() {
    const records = [];
    for (let rank = 0; rank < 4; rank++) {
        for (let i = 0; i < 200; i++) {
            const submit = T + i * 0.1 + random() * 0.05;
            const queue = 0.001 + random() * 0.01;
            const generate = (0.5 + random() ** 4 * 10) * (rank === 2 ? 1.6 : 1);
            const tool = i % 3 === 0 ? random() : null, reward = 0.01 + random() * 0.1;
            let now = submit + queue;
            const phases = { generate: [{ start_ts: now, end_ts: now += generate }] };
            if (tool !== null)
                phases.toolcall = [{ start_ts: now, end_ts: now += tool }];
            phases.reward = [{ start_ts: now, end_ts: now += reward }];
            const ended = i % 50 !== 49;
            records.push({ task_id: i >> 2, session_id: i, rank,
                           status: !ended ? 'pending' : i % 5 === 0 ? 'rejected' : 'accepted',
                           ...(ended && i % 5 === 0 ? { reason: 'stale' } : {}), submit_ts: submit,
                           ...(ended ? { finalized_ts: now, total_s: now - submit } : {}),
                           ...Object.fromEntries(Object.entries(phases).map(([p, s]) => [`${p}_s`,
                               s.reduce((n, x) => n + x.end_ts - x.start_ts, 0)])),
                           phases, counters: { tokens: i + 1 } });
        }
    }
    return records;
}
const records = make();
const dir = t.files(Object.fromEntries([0, 1, 2, 3].map((rank) => [`sessions-r${rank}.jsonl`,
    records.filter((r) => r.rank === rank).map(t.python)])));
const report = (...args) => {
    const r = t.report([dir, ...args]);
    assert.strictEqual(r.status, 0, r.stderr);
    return r;
};

const sorted = (v) => [...v].sort((a, b) => a - b);
function quantile(values, q) {
    const v = sorted(values), at = q * (v.length - 1), low = Math.floor(at);
    return low + 1 < v.length ? v[low] + (at - low) * (v[low + 1] - v[low]) : v[low];
}
const mean = (v) => v.reduce((n, x) => n + x, 0) / v.length;
const near = (got, want, what) =>
    assert(Math.abs(got - want) <= 1e-9 * Math.max(1, Math.abs(want)), `${what}: ${got}, not ${want}`);

const union = (r) => { // phases follow each other here
    const spans = Object.values(r.phases).flat();
    return spans.reduce((n, s) => n + s.end_ts - s.start_ts, 0);
};
const finished = records.filter((r) => r.finalized_ts !== undefined);
const values = {
    total: finished.map((r) => r.total_s),
    queue: records.map((r) => r.phases.generate[0].start_ts - r.submit_ts),
    generate: records.map((r) => r.generate_s),
    reward: records.map((r) => r.reward_s),
    toolcall: records.filter((r) => r.toolcall_s !== undefined).map((r) => r.toolcall_s),
    '(no phase)': finished.map((r) => Math.max(0, r.total_s - union(r))),
};

test('durations', () => {
    const r = report();
    assert.deepStrictEqual(r.durations.map((d) => d.name), Object.keys(values));
    const total = values.total.reduce((n, x) => n + x, 0);
    for (const d of r.durations) {
        const v = values[d.name];
        assert.strictEqual(d.count, v.length);
        near(d.coverage, v.length / records.length, d.name);
        near(d.mean, mean(v), d.name);
        near(d.sum, v.reduce((n, x) => n + x, 0), d.name);
        for (const [key, q] of [['p50', 0.5], ['p90', 0.9], ['p99', 0.99], ['max', 1], ['min', 0]])
            near(d[key], quantile(v, q), `${key} of ${d.name}`);
    }
    const share = finished.reduce((n, x) => n + x.generate_s, 0) / total;
    near(r.durations.find((d) => d.name === 'generate').share, share, 'share of generate');
});

test('summary, statuses, reasons and counters', () => {
    const r = report();
    const accepted = records.filter((x) => x.status === 'accepted').length;
    const first = Math.min(...records.map((x) => x.submit_ts));
    const last = Math.max(...finished.map((x) => x.finalized_ts), ...records.map((x) => x.submit_ts));
    assert.strictEqual(r.summary.sessions, 800);
    assert.strictEqual(r.summary.tasks, 200);
    assert.strictEqual(r.summary.unfinished, 16);
    near(r.summary.acceptance_rate, accepted / finished.length, 'acceptance');
    near(r.summary.seconds, last - first, 'seconds');
    near(r.summary.sessions_per_s, finished.length / (last - first), 'sessions a second');
    near(r.summary.tokens_per_s, 4 * 200 * 201 / 2 / (last - first), 'tokens a second');
    assert.deepStrictEqual(t.byKey(r.statuses, 'status', 'sessions'),
                           { accepted, rejected: finished.length - accepted, pending: 16 });
    assert.deepStrictEqual(r.reasons.map((x) => [x.status, x.reason, x.sessions]),
                           [['rejected', 'stale', finished.length - accepted]]);
    assert.deepStrictEqual(r.counters.map((c) => [c.counter, c.sessions, c.sum, c.mean]),
                           [['tokens', 800, 80400, 100.5]]);
});

test('the slow rank is a straggler, and no other', () => {
    const r = report();
    assert.deepStrictEqual(r.ranks.map((k) => [k.rank, k.straggler]),
                           [[0, false], [1, false], [2, true], [3, false]]);
    for (const k of r.ranks) {
        const v = finished.filter((x) => x.rank === k.rank).map((x) => x.total_s);
        near(k.mean, mean(v), 'mean');
        near(k.p50, quantile(v, 0.5), 'p50');
        near(k.p99, quantile(v, 0.99), 'p99');
    }
});

test('tasks and their spread', () => {
    const r = report('--top', '200');
    const tasks = {};
    for (const x of finished)
        (tasks[`${x.rank}/${x.task_id}`] = tasks[`${x.rank}/${x.task_id}`] || []).push(x);
    const spread = Object.entries(tasks).filter(([, v]) => v.length > 1).map(([key, v]) => {
        const totals = v.map((x) => x.total_s);
        return [key, Math.max(...totals) - Math.min(...totals), v];
    }).sort((a, b) => b[1] - a[1]);
    assert.strictEqual(r.task_spread.length, spread.length);
    r.task_spread.forEach((row, i) => {
        const [key, seconds, v] = spread[i];
        assert.strictEqual(`${row.rank}/${row.task}`, key);
        near(row.spread, seconds, key);
        const slowest = v.reduce((a, b) => (b.total_s > a.total_s ? b : a));
        assert.strictEqual(row.session, String(slowest.session_id));
        near(row.acceptance_rate, v.filter((x) => x.status === 'accepted').length / v.length, key);
    });
    near(r.tasks.spread_p50, quantile(spread.map((s) => s[1]), 0.5), 'p50 of the spread');
});

test('the slowest, and where their time went', () => {
    const r = report('--top', '25');
    const want = [...finished].sort((a, b) => b.total_s - a.total_s).slice(0, 25);
    assert.strictEqual(r.slowest.length, 25);
    r.slowest.forEach((row, i) => {
        const x = want[i];
        assert.deepStrictEqual([row.rank, row.task, row.session, row.status],
                               [x.rank, String(x.task_id), String(x.session_id), x.status]);
        near(row.total_s, x.total_s, 'total');
        near(row.generate_s, x.generate_s, 'generate');
        assert.strictEqual(row.toolcall_s === null, x.toolcall_s === undefined);
        near(row.no_phase_s, Math.max(0, x.total_s - union(x)), 'no phase');
        assert(row.record.endsWith(`sessions-r${x.rank}.jsonl:${x.session_id + 1}`), row.record);
    });
    assert.strictEqual(report('--top', '0').slowest.length, 0);
});

test('unfinished ones, by age', () => {
    const r = report();
    const last = Math.max(...records.flatMap((x) => [x.submit_ts, x.finalized_ts || 0,
        ...Object.values(x.phases).flat().map((s) => s.end_ts)]));
    const want = records.filter((x) => x.status === 'pending').sort((a, b) => a.submit_ts - b.submit_ts);
    assert.strictEqual(r.unfinished.length, 10);
    const stuck = want.filter((x) => last - x.submit_ts > 2 * quantile(values.total, 0.99));
    assert.deepStrictEqual(r.unfinished_summary, { unfinished: 16, stuck: stuck.length });
    r.unfinished.forEach((row, i) => {
        assert.deepStrictEqual([row.rank, row.session], [want[i].rank, String(want[i].session_id)]);
        near(row.age_s, last - want[i].submit_ts, 'age');
        assert.strictEqual(row.stuck, last - want[i].submit_ts > 2 * quantile(values.total, 0.99));
    });
});

// AReaL's rule, from its description, in another way than the tool does it.
function steps(batch) {
    const kept = records.filter((x) => x.status === 'accepted' && x.finalized_ts !== undefined);
    const ranks = [...new Set(kept.map((x) => x.rank))], quota = Math.floor(batch / ranks.length);
    const ends = ranks.map((rank) => {
        const done = {};
        for (const x of kept.filter((y) => y.rank === rank))
            done[x.task_id] = Math.max(done[x.task_id] || 0, x.finalized_ts);
        return sorted(Object.values(done)).filter((_, i) => (i + 1) % quota === 0);
    });
    return Array.from({ length: Math.min(...ends.map((e) => e.length)) }, (_, k) => ({
        end: Math.max(...ends.map((e) => e[k])), first: Math.min(...ends.map((e) => e[k])) }));
}

for (const batch of [4, 7, 40]) {
    test(`training steps of ${batch} tasks`, () => {
        const r = report('-B', String(batch)), want = steps(batch);
        const start = Math.min(...records.map((x) => x.submit_ts));
        const of = (x) => want.findIndex((s) => s.end >= x.finalized_ts);
        const used = want.map((s, k) => [k, finished.filter((x) => of(x) === k)]).filter(([, v]) => v.length > 0);
        assert.deepStrictEqual(r.steps.map((s) => s.step), used.map(([k]) => k));
        r.steps.forEach((row, i) => {
            const [k, v] = used[i];
            near(row.end_s, want[k].end - start, 'end');
            near(row.gap, want[k].end - want[k].first, 'gap');
            assert.strictEqual(row.sessions, v.length);
            near(row.p99, quantile(v.map((x) => x.total_s), 0.99), 'p99');
        });
        const some = report('-B', String(batch), '--steps', '0-1');
        assert.strictEqual(some.summary.sessions, finished.filter((x) => of(x) === 0 || of(x) === 1).length);
    });
}

test('a batch smaller than the ranks has no steps, and that is said', () => {
    const r = report('-B', '3');
    assert.deepStrictEqual(r.steps, []);
    assert.match(r.stderr, /a training step of 3 tasks gives some ranks none/);
});

test('filters', () => {
    const count = (...args) => report(...args).summary.sessions;
    const start = Math.min(...records.map((x) => x.submit_ts));
    assert.strictEqual(count('--ranks', '0,2-3'), 600);
    assert.strictEqual(count('--status', 'pending'), 16);
    assert.strictEqual(count('--status', 'pending,rejected', '--ranks', '1'), 44);
    assert.strictEqual(count('--task', '7'), 16);
    assert.strictEqual(count('--role', 'actor'), 0);
    assert.strictEqual(count('--from', '5s', '--to', '6s'), records.filter((x) =>
        x.submit_ts - start <= 6 && !(x.finalized_ts - start < 5)).length);
    assert.match(report('--task', 'x').stderr, /no session is left/);
    const part = report('--ranks', '1');
    assert.deepStrictEqual(part.ranks.map((k) => k.rank), [1]);
    assert.strictEqual(part.summary.of, 800);
});

test('CSV and text say what JSON says', () => {
    const r = report();
    const csv = t.run([dir, '--csv']).stdout.toString('utf8').trim().split('\n').map((l) => l.split(','));
    assert.deepStrictEqual(csv[0], ['table', 'row', 'column', 'value']);
    const value = (table, row, column) => csv.find((l) => l[0] === table && l[1] === String(row) && l[2] === column)[3];
    assert.strictEqual(Number(value('summary', 0, 'seconds')), r.summary.seconds);
    assert.strictEqual(Number(value('durations', 2, 'p99')), r.durations[2].p99);
    assert.strictEqual(value('ranks', 2, 'straggler'), 'true');
    const wide = t.run([dir, '--csv', '--table', 'ranks']).stdout.toString('utf8').trim().split('\n');
    assert.strictEqual(wide.length, 5);
    assert.strictEqual(wide[0], Object.keys(r.ranks[0]).join(','));
    const text = t.run([dir]).stdout.toString('utf8');
    for (const word of ['800', 'straggler', 'stale', 'toolcall', 'Unfinished sessions, the oldest'])
        assert(text.includes(word), word);
    assert(!text.includes('\u001b'), 'no colour into a pipe');
});
