// convert_viewer.test.js: what comes out keeps its order for a reader that sees a thread as a row of
// begins and ends, as speedscope does. Uses ../shared. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const t = require('./convert_tool.js');

const TORCH = path.join(t.SHARED, 'corpus', 'torch');
const SIZE_MAX = 3 << 20; // of a packed trace: the larger ones hold nothing new

// Such a reader: times in doubles from the thread's first; of two at the same time the end comes first,
// unless it is that of the next begin; of several ends at one time that of the innermost scope, by name
// and arguments, else by name. Returns the ends that it could not place and the scopes left open.
function astray(events) {
    const first = events.reduce((least, e) => Math.min(least, e.ts), Infinity);
    const scopes = events.map((e) => ({ name: e.name, key: e.name + JSON.stringify(e.args), start: e.ts - first,
                                        end: e.ts - first + e.dur, dur: e.dur }))
        .sort((a, b) => a.start - b.start || b.dur - a.dur);
    const ends = [...scopes].sort((a, b) => a.end - b.end);
    const open = [];
    const wrong = [];
    for (let b = 0, e = 0; b < scopes.length || e < ends.length;) {
        if (b < scopes.length && (scopes[b].start < ends[e].end ||
            (scopes[b].start === ends[e].end && scopes[b].key === ends[e].key))) {
            open.push(scopes[b++]);
            continue;
        }
        const top = open[open.length - 1];
        const among = (same) => {
            for (let i = e + 1; top && i < ends.length && ends[i].end === ends[e].end; i++)
                if (same(ends[i]))
                    return i;
            return -1;
        };
        let i = among((end) => end.key === top.key);
        i = i < 0 ? among((end) => end.name === top.name) : i;
        if (i >= 0)
            [ends[e], ends[i]] = [ends[i], ends[e]];
        const end = ends[e++];
        if (top === undefined || top.name !== end.name)
            wrong.push(end);
        else
            open.pop();
    }
    return [...wrong, ...open];
}

function check(r, what) {
    assert.strictEqual(r.status, 0, r.stderr);
    const threads = new Map();
    for (const e of t.byPhase(r.events, 'X')) {
        if (!threads.has(e.tid))
            threads.set(e.tid, []);
        threads.get(e.tid).push(e);
    }
    for (const [tid, events] of threads)
        assert.deepStrictEqual(astray(events), [], `${what}, thread ${tid}`);
}

// Numbers at random, the same in each run.
function generator(seed) {
    return (below) => {
        seed = (seed * 1103515245 + 12345) % 2147483648;
        return Math.floor(seed / 65536) % below;
    };
}

// Scopes as a profiler with whole microseconds has them: many begin or end together, or have no length.
function some(random) {
    const events = [];
    const add = (ts, dur) => events.push({ name: 'abcd'[random(4)], ph: 'X', ts, dur, pid: 1, tid: 1,
                                           args: random(2) ? {} : { n: random(3) } });
    const grow = (start, end, depth) => {
        add(start, end - start);
        for (let at = start + random(2); depth > 0 && at <= end && events.length < 300;) {
            const length = Math.min(random(4) === 0 ? 0 : random(5), end - at);
            grow(at, at + length, length > 0 ? depth - 1 : 0);
            at += length + (random(3) === 0 ? 0 : random(3)) + (length === 0 ? random(2) : 0);
        }
    };
    let at = random(4000) * 1000000 + random(1000000);
    for (let tree = 0; tree < 4; tree++) {
        const length = random(30);
        grow(at, at + length, 4);
        at += length + random(3);
        for (let crossing = random(4); crossing > 0; crossing--)
            add(at - random(30), random(6));
    }
    return events;
}

test('the reader sees what is wrong', () => {
    const x = (name, ts, dur, args = {}) => ({ name, ph: 'X', ts, dur, args });
    assert.deepStrictEqual(astray([x('a', 0, 9), x('b', 0, 5), x('c', 5, 4)]), []);
    assert.notDeepEqual(astray([x('a', 0, 9), x('b', 0, 0)]), []);
    assert.notDeepEqual(astray([x('a', 0, 9), x('b', 4, 0, { n: 1 }), x('b', 4, 0, { n: 2 })]), []);
    assert.notDeepEqual(astray([x('a', 0, 9), x('b', 5, 9)]), []);
});

test('scopes that touch, cross, or have no length', () => {
    const random = generator(1);
    for (let round = 0; round < 300; round++)
        check(t.convert(t.files({ 'x-r0.json': JSON.stringify({ traceEvents: some(random) }) })), `round ${round}`);
});

for (const file of fs.existsSync(TORCH) ? fs.readdirSync(TORCH).sort() : []) {
    const from = path.join(TORCH, file);
    if (fs.statSync(from).size <= SIZE_MAX)
        test(`corpus ${file}`, () => check(t.convert(t.folder(), [from]), file));
}
