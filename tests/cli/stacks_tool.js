// stacks_tool.js: runs perf-trace-stacks for the tests of this folder, and works out by itself what it
// has to print: the tables and stacks of Ray Data's analysis scripts, from the files as JSON.parse and
// plain string functions read them. SPDX-License-Identifier: MIT
'use strict';
const fs = require('fs');
const path = require('path');
const tool = require('./tool.js');

const TOOL = tool.toolOf('PERFTRACE_STACKS');
const CORPUS = path.join(tool.SHARED, 'corpus');
const run = (args, options) => tool.run(TOOL, args.map(String), options);
const text = (args, options) => run(args, options).stdout.toString('utf8');

// A report as JSON, with what was run.
function report(args, options) {
    const r = run(['--json', ...args], options);
    if (r.stdout.length > 0)
        Object.assign(r, JSON.parse(r.stdout.toString('utf8')));
    return r;
}
const problems = (r) => Object.fromEntries(r.problems.map((p) => [p.kind, p.count]));

// ---- the files ----

const SCALES = { none: 1, bytes: 1, seconds: 1, milliseconds: 1e-3, microseconds: 1e-6, nanoseconds: 1e-9 };

// A speedscope file of sampled profiles as [{name, samples: [{stack: [frame], weight}]}].
function readSpeedscope(file) {
    const document = JSON.parse(fs.readFileSync(file, 'utf8'));
    const { frames } = document.shared;
    return document.profiles.map((p) => ({
        name: p.name,
        samples: p.samples.map((s, i) => ({ stack: s.map((n) => frames[n]),
                                            weight: p.weights[i] * SCALES[p.unit] })) }));
}

// Collapsed stacks as the reference reads them: threads sorted by name.
function readCollapsed(file, scale = 1) {
    const threads = new Map();
    for (const line of fs.readFileSync(file, 'utf8').split('\n').map((l) => l.trimEnd())) {
        const at = line.lastIndexOf(' ');
        if (line === '' || line.startsWith('#') || at < 0 || !/^\d+(\.\d*)?$/.test(line.slice(at + 1)))
            continue;
        const stack = line.slice(0, at).split(';').map((name) => ({ name: name.replace(/\+0x[0-9a-f]+$/, '') }));
        if (!threads.has(stack[0].name))
            threads.set(stack[0].name, []);
        threads.get(stack[0].name).push({ stack, weight: Number(line.slice(at + 1)) * scale });
    }
    const order = [...threads.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    return order.map((name) => ({ name, samples: threads.get(name) }));
}

// ---- what is to be printed ----

const UNITS = {
    seconds: { put: (w) => `${w.toFixed(2)}s`, word: 'time', thread: 'CPU time' },
    none: { put: (w) => (Number.isInteger(w) ? String(w) : w.toFixed(2)), word: 'weight', thread: 'Weight' } };
const thousands = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ',');
const percent = (a, b) => `${(b ? 100 * a / b : 0).toFixed(1)}%`;
const sum = (list, what) => list.reduce((n, each) => n + what(each), 0);
// Sorted by weight; equal ones, but for what rounding adds to sums, stay as they are.
const heaviest = (rows) => [...rows].sort((a, b) =>
    (Math.abs(b.weight - a.weight) < 1e-9 ? 0 : b.weight - a.weight));

function table(titles, align, rows) {
    const width = titles.map((t, i) => Math.max(t.length, ...rows.map((r) => [...r[i]].length)));
    const pad = (cell, i) => {
        const blanks = ' '.repeat(width[i] - [...cell].length);
        return align[i] === 'r' ? blanks + cell : cell + blanks;
    };
    const rule = width.map((w, i) => (align[i] === 'r' ? `${'-'.repeat(w - 1)}:` : '-'.repeat(w)));
    return [titles.map(pad), rule, ...rows.map((r) => r.map(pad))]
        .map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

// Groups samples by a key; in the order of their first one.
function group(samples, keyOf) {
    const groups = new Map();
    for (const sample of samples) {
        const what = keyOf(sample);
        if (what === null)
            continue;
        const key = JSON.stringify(what);
        if (!groups.has(key))
            groups.set(key, { what, samples: 0, weight: 0 });
        groups.get(key).samples++;
        groups.get(key).weight += sample.weight;
    }
    return [...groups.values()];
}

class Oracle {
    constructor(profiles, unit = 'seconds') {
        this.profiles = profiles;
        this.unit = UNITS[unit];
        this.samples = profiles.flatMap((p) => p.samples.map((s) => ({ ...s, thread: p.name })));
        this.total = sum(this.samples, (s) => s.weight);
    }

    filtered(part) {
        const unit = Object.keys(UNITS).find((name) => UNITS[name] === this.unit);
        return new Oracle(this.profiles.filter((p) => p.name.toLowerCase().includes(part.toLowerCase())), unit);
    }

    threads() {
        const rows = this.profiles.map((p) => ({ ...p, weight: sum(p.samples, (s) => s.weight) }));
        return table(['Samples', this.unit.thread, '% total', 'Thread name'], 'rrrl',
                     heaviest(rows).map((p) => [String(p.samples.length), this.unit.put(p.weight),
                                                percent(p.weight, this.total), p.name]));
    }

    selfRows() {
        const place = (f) => [f.name, f.file || '', f.line === undefined || f.line === null ? '?' : f.line];
        return group(this.samples, (s) => (s.stack.length ? place(s.stack[s.stack.length - 1]) : null));
    }

    self(top = 20) {
        const rows = heaviest(this.selfRows()).slice(0, top).map(({ what: [name, file, line], ...g }) => [
            thousands(g.samples), percent(g.weight, this.total), this.unit.put(g.weight), name,
            `${file.split('/').pop()}:${line}`]);
        return table(['Samples', 'Self %', `Self ${this.unit.word}`, 'Function', 'Location'], 'rrrll', rows);
    }

    categories(categories) {
        const of = new Map();
        for (const [category, names] of Object.entries(categories))
            names.forEach((name) => of.set(name, category));
        const rows = new Map();
        let other = 0;
        for (const { what: [name], weight } of this.selfRows()) {
            if (!of.has(name)) {
                other += weight;
                continue;
            }
            if (!rows.has(of.get(name)))
                rows.set(of.get(name), { weight: 0, names: [] });
            const row = rows.get(of.get(name));
            row.weight += weight;
            if (!row.names.includes(name))
                row.names.push(name);
        }
        if (other > 0)
            rows.set('Other', { weight: other, names: [] });
        const list = heaviest([...rows].map(([category, row]) => ({ category, ...row })));
        return table(['Self %', `Self ${this.unit.word}`, 'Category', 'Functions'], 'rrll', list.map((r) => [
            percent(r.weight, this.total), this.unit.put(r.weight), r.category,
            r.names.slice(0, 6).join(', ') + (r.names.length > 6 ? ', ...' : '')]));
    }

    inclusive(list) {
        const wanted = new Set(list.split(','));
        const once = this.samples.flatMap((s) => [...new Set(s.stack.map((f) => f.name))]
            .filter((name) => wanted.has(name)).map((name) => ({ name, weight: s.weight })));
        const found = heaviest(group(once, (s) => s.name));
        const missing = [...wanted].filter((name) => !found.some((g) => g.what === name)).sort();
        return table(['Samples', 'Inclusive %', `Inclusive ${this.unit.word}`, 'Function'], 'rrrl', [
            ...found.map((g) => [thousands(g.samples), percent(g.weight, this.total),
                                 this.unit.put(g.weight), g.what]),
            ...missing.map((name) => ['0', '0.0%', this.unit.put(0), `${name} (not found)`])]);
    }

    // Parts of stacks that cut(names) gives (null: none), apart by thread where that is asked for.
    chains(cut, byThread = false) {
        return heaviest(group(this.samples, (s) => {
            const chain = cut(s.stack.map((f) => f.name));
            return chain === null ? null : { chain, thread: byThread ? s.thread : null };
        }));
    }

    count(g) {
        return `${thousands(g.samples)} sample${g.samples === 1 ? '' : 's'}, ${this.unit.put(g.weight)}`;
    }

    callers(name, depth = 5, top = 5) {
        const groups = this.chains((names) => {
            const at = names.lastIndexOf(name);
            return at < 0 ? null : names.slice(depth ? Math.max(0, at + 1 - depth) : 0, at + 1);
        }, true);
        const weight = sum(groups, (g) => g.weight);
        return groups.slice(0, top).map((g, i) => {
            const quoted = g.what.thread.split('"');
            const thread = quoted.length > 2 ? quoted[quoted.length - 2] : g.what.thread;
            return `--- Stack #${i + 1}: ${this.count(g)} (${percent(g.weight, this.total)} of all, ` +
                `${percent(g.weight, weight)} of '${name}') [${thread}] ---\n${frames(g.what.chain, 4)}\n`;
        }).join('');
    }

    callgraph(name, depth = 5, top = 5) {
        const above = this.chains((names) => {
            const at = names.indexOf(name);
            return at < 0 ? null : names.slice(depth ? Math.max(0, at + 1 - depth) : 0, at + 1);
        });
        const below = this.chains((names) => {
            const at = names.indexOf(name);
            return at < 0 ? null : names.slice(at, depth ? at + depth : undefined);
        });
        const inclusive = { samples: sum(above, (g) => g.samples), weight: sum(above, (g) => g.weight) };
        const leaves = this.samples.filter((s) => s.stack.length && s.stack[s.stack.length - 1].name === name);
        const self = { samples: leaves.length, weight: sum(leaves, (s) => s.weight) };
        const of = (g) => `${this.count(g)} (${percent(g.weight, inclusive.weight)} of '${name}')\n`;
        const alone = below.filter((g) => g.what.chain.length === 1);
        const callees = below.filter((g) => g.what.chain.length > 1);
        const shown = (list) => `(${list.length} distinct chains, top ${Math.min(top, list.length)})`;
        return `Inclusive: ${this.count(inclusive)} (${percent(inclusive.weight, this.total)} of all)\n` +
            `Self: ${this.count(self)} (${percent(self.weight, this.total)} of all)\n\n` +
            `--- Callers ${shown(above)} ---\n\n` +
            above.slice(0, top).map((g, i) => `  #${i + 1}: ${of(g)}${frames(g.what.chain, 6)}\n`).join('') +
            `--- Callees ${shown(callees)} ---\n\n` +
            alone.map((g) => `  (self): ${of(g)}\n`).join('') +
            callees.slice(0, top).map((g, i) => `  #${i + 1}: ${of(g)}${frames(g.what.chain, 6, true)}\n`).join('');
    }

    full(top = Infinity) {
        return this.chains((names) => names).slice(0, top).map((g, i) =>
            `--- Stack #${i + 1}: ${this.count(g)} (${percent(g.weight, this.total)} of all) ---\n` +
            `${frames(g.what.chain, 4)}\n`).join('');
    }
}

// Frames one a line; the last one is marked, or of callees the first one.
function frames(names, indent, callees = false) {
    return names.map((name, i) => {
        const last = i === names.length - 1;
        const marked = callees ? i === 0 : last;
        return `${' '.repeat(indent + 2 * i)}${marked ? `** ${name} **` : callees && last ? `-> ${name}` : name}\n`;
    }).join('');
}

module.exports = { ...tool, TOOL, CORPUS, run, text, report, problems, readSpeedscope, readCollapsed, Oracle,
                   table, fs, path };
