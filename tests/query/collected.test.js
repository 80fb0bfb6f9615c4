// collected.test.js: the queries on what perf-trace-collect writes: a file a rank, parts, one file for all ranks.
// SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const test = require('node:test');
const t = require('./query_tool.js');
const f = require('./figures.js');
const c = require('../cli/collect_tool.js');
const { everything } = require('./checks.js');

const from = t.folder();
t.example(from, 'out', 'train', ['--ranks', '3', '--steps', '10']);
const names = fs.readdirSync(path.join(from, 'out')).filter((n) => n.startsWith('traces-')).sort();

// Sends the run to a collector that writes DIR/perftrace-out.
async function collect(args) {
    const dir = t.folder();
    const collector = await c.listening(['-o', path.join(dir, 'perftrace-out'), '--until-done', ...args]);
    const files = names.map((name, rank) => c.file(fs.readFileSync(path.join(from, 'out', name)),
                                                   { name, rank, world_size: names.length }));
    await c.sendAll(() => collector.port, files);
    const ended = await collector.ended;
    assert.strictEqual(ended.status, 0, ended.stderr);
    return dir;
}

// Rows are those of the files that were sent, but for where their lines stand.
function same(got, want, what) {
    assert.strictEqual(got.length, want.length, what);
    got.forEach((row, i) => Object.entries(row).forEach(([column, value]) => {
        if (!['file', 'files'].includes(column))
            t.near(value, want[i][column], `${what} ${i} ${column}`);
    }));
}

function allSame(rows) {
    assert.deepStrictEqual(Object.keys(rows), Object.keys(sent));
    Object.keys(rows).forEach((name) => same(rows[name], sent[name], name));
}

let sent;
test('the files that are sent', async () => {
    const dir = t.folder();
    fs.cpSync(path.join(from, 'out'), path.join(dir, 'perftrace-out'), { recursive: true });
    const q = await t.open(dir);
    await q.setup('setup');
    sent = await everything(q, f.load(path.join(dir, 'perftrace-out')));
    q.close();
});

test('a file a rank', async () => {
    const dir = await collect([]);
    const q = await t.open(dir);
    await q.setup('setup');
    const rows = await everything(q, f.load(path.join(dir, 'perftrace-out')));
    allSame(rows);
    q.close();
});

test('in parts', async () => {
    const dir = await collect(['--rotate-size', '20k']);
    const truth = f.load(path.join(dir, 'perftrace-out'));
    assert(new Set(truth.lines.map((l) => l.file)).size > 6);
    const q = await t.open(dir);
    await q.setup('setup');
    const rows = await everything(q, truth);
    allSame(rows);
    assert(rows.account.every((r) => r.files > 2 && r.state === 'complete'));
    q.close();
});

test('one file, by DuckDB and by jq', async () => {
    const dir = await collect(['--one-file', 'trace_events.jsonl']);
    const out = path.join(dir, 'perftrace-out');
    const run = path.join(out, fs.readdirSync(out).find((n) => fs.existsSync(path.join(out, n, 'trace_events.jsonl'))));
    const truth = f.load(out, /^trace_events\.jsonl/);
    const q = await t.open(dir, (text) => {
        assert(text.includes(t.GLOB));
        return text.replace(t.GLOB, 'perftrace-out/**/trace_events.jsonl*');
    });
    await q.setup('setup');
    const rows = await everything(q, truth);
    allSame(rows);
    q.close();

    // jq's block names the folder of the run.
    fs.renameSync(path.join(run, 'trace_events.jsonl'), path.join(out, 'trace_events.jsonl'));
    t.sh(dir, 'jq one array');
    const all = JSON.parse(fs.readFileSync(path.join(dir, 'trace.json'), 'utf8'));
    assert.deepStrictEqual(all, truth.lines.map(({ line }) => JSON.parse(line)));
});
