// sessions_clocks.test.js: sessions of ranks whose machines' clocks disagree. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const t = require('./sessions_tool.js');
const { S, machine, rank, seconds } = require('./clock_ranks.js');

const a = machine('boot-a');
const b = machine('boot-b', { mono0: 900n * S, ppm: 20n, wall: () => 3600n * S });
const c = machine('boot-c', { mono0: 77n * S });
const us = (ns) => `${Math.floor(ns / 1000)}.${String(ns % 1000).padStart(3, '0')}`;
const at = (m, s) => Number(m.own(BigInt(Math.round(s * 1e9))));

// A session from true second `from` to `to`, as lines of a trace.
const session = (m, r, id, from, to) => ['b', 'e'].map((ph, i) =>
    `{"name": "session", "ph": "${ph}", "ts": ${us(at(m, i ? to : from))}, "pid": ${70 + r}, "tid": ${70 + r}, ` +
    `"cat": "session", "args": {${i ? '"status": "accepted", "reason": null, ' : '"task_id": 1, '}"rank": ${r}}, "id": "0x${id}"}`);
const trace = (r, m, options, ...list) => rank(r, m, { ...options, events: list.flat() }).join('\n') + '\n';

// Rank 0 from second 10 to 20, rank 1 from 30 to 40: 30 s together, whatever the wall clocks say.
const both = (options) => ({
    'traces-r0.jsonl': trace(0, a, options, session(a, 0, 1, 10, 20)),
    'traces-r1.jsonl': trace(1, b, options, session(b, 1, 1, 30, 40)) });

test('measured clocks: sessions of all ranks on one axis', () => {
    const r = t.report([t.files(both({ ref: c, asks: seconds }))]);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.strictEqual(r.runs.length, 1);
    assert(Math.abs(r.summary.seconds - 30) < 1e-3, `${r.summary.seconds}`);
});

test('without readings the wall clocks count, an hour apart', () => {
    const r = t.report([t.files(both({}))]);
    assert(Math.abs(r.summary.seconds - 3630) < 1e-2, `${r.summary.seconds}`);
});

test('records are moved by what the traces beside them know', () => {
    const record = (r, m, from, to) => JSON.stringify({
        task_id: 1, session_id: 1, rank: r, status: 'accepted', reason: null, run_id: 'run-1',
        submit_ts: 1790000000 + Number(m.wall(0n)) / 1e9 + at(m, from) / 1e9,
        finalized_ts: 1790000000 + Number(m.wall(0n)) / 1e9 + at(m, to) / 1e9, total_s: (at(m, to) - at(m, from)) / 1e9 }) + '\n';
    const files = { ...both({ ref: c, asks: seconds }), 'sessions-r0.jsonl': record(0, a, 10, 20),
                    'sessions-r1.jsonl': record(1, b, 30, 40) };
    const r = t.report([t.files(files), '-v']);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.strictEqual(r.summary.sessions, 2);
    assert(Math.abs(r.summary.seconds - 30) < 1e-3, `${r.summary.seconds} ${r.stderr}`);
});
