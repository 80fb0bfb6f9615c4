// analyze_tool.js: runs perf-trace-analyze for the tests of this folder. SPDX-License-Identifier: MIT
'use strict';
const fs = require('fs');
const path = require('path');
const zlib = require('zlib');
const assert = require('node:assert');
const tool = require('./tool.js');

const TOOL = tool.toolOf('PERFTRACE_ANALYZE');
const run = (args, options) => tool.run(TOOL, args, options);

// The report of some inputs as JSON, with what was run.
function report(args, options) {
    const r = run(['--json', '--top-n', '0', ...args], options);
    if (r.status === 0)
        Object.assign(r, JSON.parse(r.stdout.toString('utf8')));
    return r;
}

// A scope; times in microseconds, as files have them.
const X = (cat, name, ts, dur, more = {}) =>
    ({ ph: 'X', cat, name, pid: 1, tid: 1, ts, dur, ...more });
const kernel = (name, ts, dur, args = {}, tid = 7) =>
    X('kernel', name, ts, dur, { pid: 0, tid, args: { stream: tid, ...args } });
const call = (ts, dur, correlation, name = 'cudaLaunchKernel', tid = 1) =>
    X('cuda_runtime', name, ts, dur, { pid: 10, tid, args: { correlation } });
// A torch trace of one rank.
function torch(rank, events, more = {}) {
    const info = rank === null ? {} : { distributedInfo: { backend: 'nccl', rank,
                                                           world_size: more.world_size ?? 1 } };
    delete more.world_size;
    return JSON.stringify({ schemaVersion: 1, ...info, ...more, traceEvents: events });
}

const near = (got, want, what, slack = 1e-12) =>
    assert(got !== null && Math.abs(got - want) <= slack, `${what}: ${got}, not ${want}`);
// The one row of a table in which these cells are as told.
function row(table, cells) {
    const found = table.filter((r) => Object.entries(cells).every(([k, v]) => r[k] === v));
    assert.strictEqual(found.length, 1,
                       `${found.length} rows with ${JSON.stringify(cells)} in ${JSON.stringify(table)}`);
    return found[0];
}
// The plain bytes of a file of the corpus.
function plain(file) {
    const bytes = fs.readFileSync(file);
    return bytes[0] === 0x1f && bytes[1] === 0x8b
        ? zlib.gunzipSync(bytes, { finishFlush: zlib.constants.Z_SYNC_FLUSH }) : bytes;
}

module.exports = { ...tool, TOOL, run, report, X, kernel, call, torch, near, row, plain, path, fs };
