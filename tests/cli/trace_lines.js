// trace_lines.js: lines as our writer writes them. SPDX-License-Identifier: MIT
'use strict';

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

module.exports = { us, header, scope, threadName, footer };
