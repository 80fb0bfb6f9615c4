#!/usr/bin/env node
// check_jsonl.js: an independent strict reader of the rank files the library writes: each line one
// strict JSON object in the order of keys and the form of numbers that docs/formats promises, a
// header first, a footer last, and the footer's account true. SPDX-License-Identifier: MIT
'use strict';
const fs = require('fs');
const { parseStrict } = require('./strict_json.js');

const USAGE = `Usage: check_jsonl.js [--no-footer] [--max N] FILE...
Exit status: 0 good, 1 violations, 2 wrong usage or unreadable file.
  --no-footer   the file may end without its footer, as that of a running or killed process does`;

const KEYS = ['name', 'ph', 'ts', 'dur', 'pid', 'tid', 'cat', 'args', 'id', 's', 'bp'];
const PHASES = new Set(['X', 'i', 'C', 's', 't', 'f', 'b', 'n', 'e']);
const WITH_ID = new Set(['s', 't', 'f', 'b', 'n', 'e']);

function* lines(path) {
    const fd = fs.openSync(path, 'r');
    try {
        let rest = Buffer.alloc(0);
        for (;;) {
            const chunk = Buffer.alloc(1 << 20);
            const got = fs.readSync(fd, chunk, 0, chunk.length, null);
            if (got === 0)
                break;
            const bytes = Buffer.concat([rest, chunk.subarray(0, got)]);
            let from = 0;
            for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
                yield bytes.subarray(from, end);
                from = end + 1;
            }
            rest = Buffer.from(bytes.subarray(from));
        }
        if (rest.length > 0)
            yield null; // the last line has no end
    } finally {
        fs.closeSync(fd);
    }
}

class RankFile {
    constructor(report) {
        this.report = report;
        this.lines = 0;
        this.events = 0;
        this.unfinished = 0;
        this.dropped = {};
        this.footer = null;
        this.pid = null;
        this.named = new Set();
    }

    line(bytes) {
        this.lines++;
        const say = (text) => this.report(`line ${this.lines}: ${text}`);
        if (bytes === null) {
            say('the last line has no end');
            return;
        }
        const { value, problems } = parseStrict(bytes);
        problems.forEach(say);
        if (value === undefined)
            return;
        if (value === null || typeof value !== 'object' || Array.isArray(value)) {
            say('no object');
            return;
        }
        if (this.footer !== null)
            say('a line behind the footer');
        const places = Object.keys(value).map((key) => KEYS.indexOf(key));
        if (places.some((place, i) => place < 0 || (i > 0 && place < places[i - 1])))
            say(`keys ${Object.keys(value).join(', ')}`);
        if (this.pid === null)
            this.pid = value.pid;
        if (!Number.isInteger(value.pid) || value.pid !== this.pid || !Number.isInteger(value.tid))
            say(`pid ${value.pid}, tid ${value.tid}`);
        if (this.lines === 1 && value.name !== 'perftrace_header')
            say('the first line is no header');
        if (value.ph === 'M')
            this.metadata(value, say);
        else
            this.event(value, bytes.toString('utf8'), say);
    }

    metadata(value, say) {
        const { args } = value;
        if ('ts' in value || args === null || typeof args !== 'object') {
            say('metadata with ts or without args');
            return;
        }
        if (value.name === 'perftrace_header') {
            if (args.version !== 1 || !/^\d{19}$/.test(args.epoch_ns))
                say(`header version ${args.version}, epoch_ns ${args.epoch_ns}`);
        } else if (value.name === 'perftrace_drop') {
            this.dropped[args.cause] = (this.dropped[args.cause] || 0) + args.count;
        } else if (value.name === 'perftrace_footer') {
            this.footer = args;
        } else if (value.name === 'thread_name') {
            this.named.add(value.tid);
        }
    }

    event(value, text, say) {
        const { ph, args } = value;
        // A scope that was open at the end: a begin that is marked, and no event of the account.
        const open = ph === 'B' && args !== null && typeof args === 'object' &&
            args.unfinished === true;
        if (open)
            this.unfinished++;
        else
            this.events++;
        if (!open && !PHASES.has(ph))
            say(`ph ${JSON.stringify(ph)}`);
        if (typeof value.name !== 'string' || typeof value.cat !== 'string')
            say('an event without name or cat');
        if (!/, "ts": \d+\.\d{3}, /.test(text))
            say('ts has not three decimals');
        if (ph === 'X' && (!/, "dur": \d+\.\d{3}, /.test(text) || !(value.dur >= 0.001)))
            say(`dur ${value.dur}`);
        if (WITH_ID.has(ph) !== (typeof value.id === 'string' && /^0x[0-9a-f]+$/.test(value.id)))
            say(`ph ${ph} with id ${JSON.stringify(value.id)}`);
        if (ph === 'f' && value.bp !== 'e')
            say('flow end without "bp": "e"');
        if (ph === 'i' && value.s !== 't')
            say('instant without "s": "t"');
        if (!this.named.has(value.tid))
            say(`tid ${value.tid} has no thread_name yet`);
    }

    finish(wantFooter) {
        if (this.lines === 0)
            this.report('an empty file');
        if (this.footer === null) {
            if (wantFooter)
                this.report('no footer');
            return;
        }
        const { emitted, written, dropped, unfinished } = this.footer;
        const lost = Object.values(dropped).reduce((sum, n) => sum + n, 0);
        if (emitted !== written + lost)
            this.report(`footer: ${emitted} emitted, ${written} written, ${lost} dropped`);
        if (written !== this.events)
            this.report(`footer: ${written} written, the file holds ${this.events}`);
        if (unfinished !== this.unfinished)
            this.report(`footer: ${unfinished} unfinished, the file holds ${this.unfinished}`);
        // What a file that is gone has said about losses is gone with it.
        const gone = dropped.file_gone > 0;
        for (const [cause, count] of Object.entries(this.dropped))
            if (gone ? count > dropped[cause] : count !== dropped[cause])
                this.report(`${cause}: ${count} in drop records, ${dropped[cause]} in the footer`);
    }
}

function main(argv) {
    const files = [];
    let footer = true;
    let max = 20;
    for (let i = 0; i < argv.length; i++) {
        if (argv[i] === '--no-footer')
            footer = false;
        else if (argv[i] === '--max' && /^\d+$/.test(argv[i + 1] || ''))
            max = Number(argv[++i]);
        else if (argv[i].startsWith('--'))
            files.length = argv.length = 0;
        else
            files.push(argv[i]);
    }
    if (files.length === 0) {
        process.stderr.write(`${USAGE}\n`);
        return 2;
    }
    let total = 0;
    for (const path of files) {
        if (!fs.existsSync(path)) {
            process.stderr.write(`${path}: no such file\n`);
            return 2;
        }
        let violations = 0;
        const file = new RankFile((text) => {
            if (violations++ < max)
                process.stderr.write(`${path}: ${text}\n`);
        });
        for (const line of lines(path))
            file.line(line);
        file.finish(footer);
        process.stdout.write(`${path}: ${file.lines} lines, ${file.events} events, ` +
            `${violations} violations\n`);
        total += violations;
    }
    return total > 0 ? 1 : 0;
}

process.exitCode = main(process.argv.slice(2));
