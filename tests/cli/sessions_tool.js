// sessions_tool.js: runs perf-trace-sessions for the tests of this folder. SPDX-License-Identifier: MIT
'use strict';
const path = require('path');
const tool = require('./tool.js');

const TOOL = tool.toolOf('PERFTRACE_SESSIONS');
const run = (args, options) => tool.run(TOOL, args, options);

// The report of some inputs as JSON, with what was run.
function report(args, options) {
    const r = run(['--json', ...args], options);
    if (r.status === 0)
        Object.assign(r, JSON.parse(r.stdout.toString('utf8')));
    return r;
}

const problems = (r) => Object.fromEntries(
    [...new Set(r.problems.map((p) => p.kind))].map((kind) => [
        kind, r.problems.filter((p) => p.kind === kind).reduce((n, p) => n + p.count, 0)]));
const byKey = (rows, key, value) => Object.fromEntries(rows.map((row) => [row[key], row[value]]));

// A record as Python's json writes it.
function python(value) {
    if (Array.isArray(value))
        return `[${value.map(python).join(', ')}]`;
    if (value !== null && typeof value === 'object')
        return `{${Object.entries(value).map(([k, v]) => `${JSON.stringify(k)}: ${python(v)}`).join(', ')}}`;
    return JSON.stringify(value);
}
function record(fields) {
    return python({ task_id: 0, session_id: 0, rank: 0, status: 'accepted',
                    submit_ts: 1760000000, finalized_ts: 1760000001, ...fields });
}

module.exports = { ...tool, TOOL, run, report, problems, byKey, python, record, path };
