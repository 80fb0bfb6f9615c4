// convert_tool.js: runs perf-trace-convert for the tests of this folder. SPDX-License-Identifier: MIT
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');
const zlib = require('zlib');
const { spawnSync } = require('child_process');

const TOOL = process.env.PERFTRACE_CONVERT;
if (!TOOL) {
    console.error('PERFTRACE_CONVERT must name the built perf-trace-convert');
    process.exit(2);
}
const CHECKER = path.join(__dirname, '..', 'checker', 'check_trace.js');
const SHARED = path.join(__dirname, '..', '..', '..', 'shared');

// A folder for one test, removed at the end of the process.
const made = [];
process.on('exit', () => made.forEach((dir) => fs.rmSync(dir, { recursive: true, force: true })));
function folder() {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'perftrace-cli-'));
    made.push(dir);
    return dir;
}

// Writes files {name: text, Buffer, or array of lines} into a new folder; returns its path.
function files(contents) {
    const dir = folder();
    for (const [name, content] of Object.entries(contents)) {
        const file = path.join(dir, name);
        fs.mkdirSync(path.dirname(file), { recursive: true });
        fs.writeFileSync(file, Array.isArray(content) ? content.map((l) => l + '\n').join('')
                                                      : content);
    }
    return dir;
}

// Runs the tool; `input` goes to its standard input.
function run(args, options = {}) {
    const r = spawnSync(TOOL, args, { encoding: 'buffer', maxBuffer: 1 << 30, ...options });
    return { status: r.status, signal: r.signal, stdout: r.stdout,
             stderr: r.stderr.toString('utf8') };
}

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

// A line of our writer.
const us = (ns) => `${Math.floor(ns / 1000)}.${String(ns % 1000).padStart(3, '0')}`;
function header(args) {
    const all = { version: 1, run_id: 'run-1', rank: 0, world_size: 1, host: 'node-1',
                  boot_id: 'boot-1', pid: 71, epoch_ns: '1790000000000000000',
                  mono_ns: '5000000000', clock: 'tsc', ...args };
    return JSON.stringify({ name: 'perftrace_header', ph: 'M', pid: all.pid, tid: all.pid, args: all })
        .replace(/^\{"name":"/, '{"name": "');
}
function scope(name, startNs, endNs, { pid = 71, tid = pid, args = { rank: 0 }, cat = 'compute' } = {}) {
    const list = Object.entries(args).map(([k, v]) => `${JSON.stringify(k)}: ${JSON.stringify(v)}`);
    return `{"name": ${JSON.stringify(name)}, "ph": "X", "ts": ${us(startNs)}, ` +
        `"dur": ${us(endNs - startNs)}, "pid": ${pid}, "tid": ${tid}, "cat": "${cat}", ` +
        `"args": {${list.join(', ')}}}`;
}
function threadName(name, pid = 71, tid = pid) {
    return `{"name": "thread_name", "ph": "M", "pid": ${pid}, "tid": ${tid}, ` +
        `"args": {"name": "${name}", "rank": 0}}`;
}
function footer(args = {}, pid = 71) {
    return JSON.stringify({ name: 'perftrace_footer', ph: 'M', pid, tid: pid,
                            args: { emitted: 0, written: 0, dropped: {}, ...args } })
        .replace(/^\{"name":"/, '{"name": "');
}

const byPhase = (events, ph) => events.filter((e) => e.ph === ph);
const named = (events, name) => events.filter((e) => e.name === name && e.ph !== 'M');
const ns = (value) => Math.round(value * 1000);

module.exports = { SHARED, TOOL, folder, files, run, convert, complaints, readTrace, header, scope,
                   threadName, footer, byPhase, named, ns, us };
