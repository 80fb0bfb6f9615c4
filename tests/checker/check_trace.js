#!/usr/bin/env node
// check_trace.js: an independent strict reader of the Chrome traces we write. Shares no code with
// the library or the tools, needs nothing but node. SPDX-License-Identifier: MIT
'use strict';
const fs = require('fs');
const { inflateOneMember } = require('./gzip_member.js');
const { parseStrict } = require('./strict_json.js');
const { splitEvents } = require('./split_events.js');
const { TraceRules } = require('./trace_rules.js');

const USAGE = `Usage: check_trace.js [--allow-open] [--max N] [--quiet] FILE...
Checks that each FILE (plain or .gz) is one strict JSON object with traceEvents and keeps the rules
of the Trace Event Format. Prints its counts; violations go to standard error, the first N (20).
Exit status: 0 good, 1 violations, 2 wrong usage or unreadable file.
  --allow-open   spans, async spans and flows may lack their end
  --quiet        no counts`;

function parseArguments(argv) {
    const options = { files: [], allowOpen: false, max: 20, quiet: false };
    for (let i = 0; i < argv.length; i++) {
        if (argv[i] === '--allow-open')
            options.allowOpen = true;
        else if (argv[i] === '--quiet')
            options.quiet = true;
        else if (argv[i] === '--max' && /^\d+$/.test(argv[i + 1] || ''))
            options.max = Number(argv[++i]);
        else if (argv[i].startsWith('--'))
            return null;
        else
            options.files.push(argv[i]);
    }
    return options.files.length > 0 ? options : null;
}

function isGzip(path) {
    const head = Buffer.alloc(2);
    const fd = fs.openSync(path, 'r');
    try {
        fs.readSync(fd, head, 0, 2, 0);
    } finally {
        fs.closeSync(fd);
    }
    return head[0] === 0x1f && head[1] === 0x8b;
}

function checkShell(shell, arrays, report) {
    if (shell.length >= 3 && shell[0] === 0xef && shell[1] === 0xbb && shell[2] === 0xbf)
        report('the file starts with a byte order mark');
    const { value, problems } = parseStrict(shell);
    for (const problem of problems)
        report(`the document around the events: ${problem}`);
    if (value === undefined)
        return;
    if (value === null || typeof value !== 'object' || Array.isArray(value))
        report('the document is no object');
    else if (!Array.isArray(value.traceEvents))
        report('no traceEvents array');
    else if (arrays !== 1)
        report(`${arrays} traceEvents arrays`);
    else if (value.displayTimeUnit !== undefined && !['ms', 'ns'].includes(value.displayTimeUnit))
        report(`displayTimeUnit is ${JSON.stringify(value.displayTimeUnit)}`);
}

function countLines(path, bytes, rules, threads) {
    const lines = [`${path}: ${bytes} bytes, ${rules.events} events, ` +
        `${rules.processes.size} processes, ${threads} threads`];
    const phases = [...rules.phases].sort(([a], [b]) => (a < b ? -1 : 1));
    lines.push(`  by ph: ${phases.map(([ph, n]) => `${ph} ${n}`).join(', ')}`);
    const order = ([pidA, a], [pidB, b]) => (a.sortIndex ?? 0) - (b.sortIndex ?? 0) || pidA - pidB;
    for (const [pid, process] of [...rules.processes].sort(order)) {
        const names = [...process.threads].filter(([, t]) => t.events > 0)
            .map(([tid, t]) => `${t.name ?? tid} ${t.events}`);
        lines.push(`  pid ${pid} "${process.name}": ${process.events} events ` +
            `(${names.join(', ')})`);
    }
    return lines.join('\n');
}

// Resolves to the number of violations. options.say(text) is told the first options.max of them,
// options.print(text) the counts.
async function checkFile(path, options) {
    let violations = 0;
    const report = (text) => {
        if (violations++ < options.max)
            options.say(`${path}: ${text}`);
    };
    const rules = new TraceRules({ report, allowOpen: options.allowOpen });
    const file = fs.createReadStream(path, { highWaterMark: 1 << 20 });
    const chunks = isGzip(path) ? inflateOneMember(file) : file;
    let bytes = 0;
    try {
        const document = await splitEvents(chunks, (piece, offset) => {
            const where = `event ${rules.events} at byte ${offset}`;
            const { value, problems } = parseStrict(piece);
            for (const problem of problems)
                report(`${where}: ${problem}`);
            if (value !== undefined)
                rules.event(value, where);
        }, report);
        bytes = document.bytes;
        checkShell(document.shell, document.arrays, report);
    } catch (error) {
        report(error.message);
    }
    const { threads } = rules.finish();
    options.print(countLines(path, bytes, rules, threads));
    if (violations > options.max)
        options.say(`${path}: ${violations - options.max} more violations`);
    return violations;
}

async function main() {
    const options = parseArguments(process.argv.slice(2));
    if (options === null) {
        process.stderr.write(`${USAGE}\n`);
        return 2;
    }
    options.say = (text) => process.stderr.write(`${text}\n`);
    options.print = (text) => options.quiet || process.stdout.write(`${text}\n`);
    let status = 0;
    for (const path of options.files) {
        try {
            fs.accessSync(path, fs.constants.R_OK);
        } catch (error) {
            process.stderr.write(`${error.message}\n`);
            return 2;
        }
        if (await checkFile(path, options) > 0)
            status = 1;
    }
    return status;
}

if (require.main === module)
    main().then((status) => {
        process.exitCode = status;
    });

module.exports = { checkFile };
