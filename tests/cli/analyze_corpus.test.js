// analyze_corpus.test.js: every trace of the corpus gives the facts that its index states, and sums
// by name as they are added up here, one test a file. Uses ../shared. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const t = require('./analyze_tool.js');
const { fs, path } = t;

const CORPUS = path.join(t.SHARED, 'corpus');
const INDEX = path.join(CORPUS, 'INDEX.tsv');
const here = fs.existsSync(INDEX);
const index = here ? fs.readFileSync(INDEX, 'utf8').split('\n').map((l) => l.split('\t')) : [];

// "events=193 by_ph={...} ..." to an object.
function facts(text) {
    const found = {};
    for (const [, key, value] of text.matchAll(/([\w+]+)=(\{.*?\}(?=\s+\w[\w+]*=|$)|\S+)/gs)) {
        try {
            found[key] = JSON.parse(value);
        } catch {
            found[key] = value;
        }
    }
    return found;
}

// The whole objects of a text that is no document: lines, or a list that is cut off.
function objectsOf(text) {
    const found = [], list = text.indexOf('"traceEvents"');
    let depth = 0, quoted = false, from = 0;
    for (let i = list < 0 ? 0 : text.indexOf('[', list); i < text.length; i++) {
        const c = text[i];
        if (quoted) {
            i += c === '\\';
            quoted = c !== '"';
        } else if (c === '"') {
            quoted = true;
        } else if (c === '{') {
            from = depth++ === 0 ? i : from;
        } else if (c === '}' && --depth === 0) {
            found.push(JSON.parse(text.slice(from, i + 1)));
        }
    }
    return found;
}

function eventsOf(file) {
    const text = t.plain(file).toString('utf8');
    try {
        const document = JSON.parse(text);
        return Array.isArray(document) ? document : document.traceEvents;
    } catch {
        return objectsOf(text);
    }
}

// Microseconds as our reader has them: to the nanosecond.
const us = (v) => Math.round(Number(v) * 1000) / 1000;

// Scopes by name, with begins and ends of a thread joined innermost first: {name: [count, sum]}.
function scopesOf(events) {
    const sums = new Map(), open = new Map();
    let last = -Infinity;
    const add = (name, dur) => {
        const sum = sums.get(name) ?? [0, 0];
        sums.set(name, [sum[0] + 1, sum[1] + dur]);
    };
    const stack = (e) => {
        const key = `${e.pid}/${e.tid}`;
        if (!open.has(key))
            open.set(key, []);
        return open.get(key);
    };
    for (const e of events) {
        if (e.ph === 'X') {
            const dur = Math.max(us(e.dur ?? 0), 0);
            add(e.name ?? '(no name)', dur);
            last = Math.max(last, us(e.ts) + dur);
        } else if (e.ph === 'B') {
            stack(e).push({ name: e.name ?? '(no name)', ts: us(e.ts) });
            last = Math.max(last, us(e.ts));
        } else if (e.ph === 'E' && stack(e).length > 0) {
            const begun = stack(e).pop();
            add(begun.name, Math.max(us(e.ts) - begun.ts, 0));
            last = Math.max(last, us(e.ts));
        }
    }
    // Scopes without an end are told apart: they end at the last time, and are in no sum.
    const unfinished = [...open.values()].flat().map((b) => [b.name, Math.max(last - b.ts, 0)]);
    return { sums, unfinished };
}

function checkFacts(r, f, name) {
    const phases = {};
    r.phases.filter((p) => p.rank === r.ranks[0].rank).forEach((p) => { phases[p.ph] = p.count; });
    assert.strictEqual(r.summary.events, f.events, `${name}: events`);
    assert.deepStrictEqual(phases, f.by_ph, `${name}: events by phase`);
}

function checkNames(r, events, f) {
    const { sums: want, unfinished } = scopesOf(events), got = new Map();
    const inOrder = (list) => list.sort((a, b) => a[1] - b[1] || (a[0] < b[0] ? -1 : 1));
    const open = inOrder(r.unfinished.map((u) => [u.name, u.so_far_s * 1e6]));
    assert.strictEqual(open.length, unfinished.length, 'scopes without an end');
    inOrder(unfinished).forEach(([name, so_far], i) => {
        assert.strictEqual(open[i][0], name);
        t.near(open[i][1], so_far, `how long ${name} ran`, 1e-3);
    });
    for (const row of r.names) {
        const sum = got.get(row.name) ?? [0, 0];
        got.set(row.name, [sum[0] + row.count, sum[1] + row.total_s * 1e6]);
    }
    for (const [name, [count, sum]] of want) {
        assert(got.has(name), `${name} is missing`);
        assert.strictEqual(got.get(name)[0], count, `count of ${name}`);
        t.near(got.get(name)[1], sum, `sum of ${name}`, 1e-3 + Math.abs(sum) * 1e-9);
    }
    assert.strictEqual(got.size, want.size);
    if (f.by_ph?.B === undefined && f.x_dur_total !== undefined) {
        const total = [...got.values()].reduce((n, s) => n + s[1], 0);
        t.near(total, f.x_dur_total, 'sum of all', 1e-3 * f.events + f.x_dur_total * 1e-9);
        assert.strictEqual(got.size, f.x_distinct_names);
    }
}

for (const [name, , , , kind, text] of index) {
    const told = kind === 'torch' || kind === 'chrome' || kind === 'jsonl' ||
        (/^(derived|negative)/.test(kind ?? '') && /by_ph=/.test(text));
    if (!told || !/by_ph=/.test(text))
        continue;
    test(`${name} gives the facts of its index`, () => {
        const file = path.join(CORPUS, name), f = facts(text);
        const r = t.report(['--keep-outliers', file]);
        assert.strictEqual(r.status, 0, r.stderr);
        checkFacts(r, f, name);
        const events = eventsOf(file);
        assert.strictEqual(events.length, f.events);
        checkNames(r, events, f);
    });
}

for (const [name, , , , kind, text] of index) {
    if (kind !== 'negative' && !(kind === 'jsonl' && !/by_ph=/.test(text)))
        continue;
    test(`${name} is no trace`, () => {
        const r = t.run([path.join(CORPUS, name)]);
        assert.strictEqual(r.status, 3, r.stderr);
        assert.match(r.stderr, new RegExp(path.basename(name).replace(/[.*+]/g, '.')));
    });
}

test('the corpus is there', { skip: here ? false : 'the shared corpus is not there' }, () => {
    assert(index.length > 100);
});
