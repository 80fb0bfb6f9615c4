// convert_tool.js: runs perf-trace-convert for the tests of this folder. SPDX-License-Identifier: MIT
'use strict';
const fs = require('fs');
const path = require('path');
const zlib = require('zlib');
const { spawnSync } = require('child_process');
const tool = require('./tool.js');
const { us, header, scope, threadName, footer } = require('./trace_lines.js');

const { SHARED, folder, files } = tool;
const TOOL = tool.toolOf('PERFTRACE_CONVERT');
const CHECKER = path.join(__dirname, '..', 'checker', 'check_trace.js');

// Runs the tool; `input` goes to its standard input.
const run = (args, options) => tool.run(TOOL, args, options);

function readTrace(file) {
    const bytes = fs.readFileSync(file);
    return JSON.parse(bytes[0] === 0x1f ? zlib.gunzipSync(bytes) : bytes);
}

// Converts all files of a folder (or those named) and returns what came out.
function convert(dir, args = [], names = null) {
    const out = path.join(dir, 'out', 'merged.json');
    fs.mkdirSync(path.dirname(out), { recursive: true });
    const inputs = (names || fs.readdirSync(dir).filter((n) => n !== 'out').sort())
        .map((n) => path.join(dir, n));
    const r = run([...inputs, '-o', out, ...args]);
    r.out = out;
    if (fs.existsSync(out)) {
        r.trace = readTrace(out);
        r.events = r.trace.traceEvents;
        r.meta = r.trace.metadata.perftrace_convert;
    }
    return r;
}

// The strict checker's complaints about one or more files; '' when there are none.
function complaints(file, args = []) {
    const r = spawnSync(process.execPath, [CHECKER, '--quiet', ...args].concat(file));
    return r.status === 0 ? '' : r.stderr.toString('utf8') || `status ${r.status}`;
}

const byPhase = (events, ph) => events.filter((e) => e.ph === ph);
const named = (events, name) => events.filter((e) => e.name === name && e.ph !== 'M');
const ns = (value) => Math.round(value * 1000);

module.exports = { SHARED, TOOL, folder, files, run, convert, complaints, readTrace, header, scope,
                   threadName, footer, byPhase, named, ns, us };
