#!/usr/bin/env node
// open_in_speedscope.js TRACE FOLDER [PROFILE]: opens a Chrome trace in speedscope in headless
// Chromium and compares what the viewer holds with what the file says: every thread is a profile,
// with all its scopes, their durations and what is in what. Screenshots go to FOLDER; PROFILE names
// (in part) the profile that is shown. Exit status 0 good, 1 not. SPDX-License-Identifier: MIT
'use strict';
const assert = require('assert');
const fs = require('fs');
const path = require('path');
const zlib = require('zlib');
const { modules, withBrowser } = require('./browser.js');
const { startServer } = require('./page_server.js');

const [tracePath, folder, shown] = process.argv.slice(2);
const viewer = path.join(modules, 'speedscope', 'dist', 'release');

const sorted = (scopes) => scopes.sort(([a, x], [b, y]) => (a < b ? -1 : a > b ? 1 : x - y));

// What the viewer takes for the same scope again.
const keyOf = (event) => `${event.name} ${JSON.stringify(event.args)}`;

// The scopes of one thread that the viewer draws, as [name, ns], sorted: those that have a length.
// It shows two scopes of one name and the same arguments as one where the second begins as the first
// ends, for its doubles; so do we.
function scopesOf(events) {
    const first = events.reduce((least, event) => Math.min(least, event.ts), Infinity);
    const scopes = events.filter((event) => Math.round(event.dur * 1000) > 0).map((event) => ({
        name: event.name,
        key: keyOf(event),
        start: Math.round(event.ts * 1000),
        end: Math.round(event.ts * 1000) + Math.round(event.dur * 1000),
        seenStart: event.ts - first,
        seenEnd: event.ts - first + event.dur,
        last: null, // the scope in it that ended last
    })).sort((a, b) => a.start - b.start || b.end - a.end);
    const open = [{ end: Infinity, last: null }];
    const kept = [];
    for (const scope of scopes) {
        while (open[open.length - 1].end <= scope.start)
            open.pop();
        const parent = open[open.length - 1];
        const before = parent.last;
        if (before !== null && before.key === scope.key && before.seenEnd >= scope.seenStart) {
            before.end = scope.end;
            before.seenEnd = scope.seenEnd;
            open.push(before);
        } else {
            parent.last = scope;
            open.push(scope);
            kept.push(scope);
        }
    }
    return sorted(kept.map((scope) => [scope.name, scope.end - scope.start]));
}

// How often a scope of one thread lies in which other ones: "outer > inner" to a number, those without
// a length too. The viewer puts a scope into one of the same key that ends as it begins.
function nestingOf(events) {
    const first = events.reduce((least, event) => Math.min(least, event.ts), Infinity);
    const open = [];
    const found = {};
    const over = (outer, event) => {
        const end = outer.ts - first + outer.dur;
        const start = event.ts - first;
        return end < start || (end === start && keyOf(outer) !== keyOf(event));
    };
    for (const event of [...events].sort((a, b) => a.ts - b.ts || b.dur - a.dur)) {
        while (open.length > 0 && over(open[open.length - 1], event))
            open.pop();
        open.push(event);
        const path = open.map((each) => each.name).join(' > ');
        found[path] = (found[path] || 0) + 1;
    }
    return found;
}

function readDocument() {
    const bytes = fs.readFileSync(tracePath);
    return JSON.parse(bytes[0] === 0x1f ? zlib.gunzipSync(bytes) : bytes);
}

// What the file says: the threads that have scopes, with names and scopes.
function readTrace(document) {
    const threads = new Map();
    const processes = new Map();
    const thread = (event) => {
        const key = `${event.pid}:${event.tid}`;
        if (!threads.has(key))
            threads.set(key, { pid: event.pid, tid: event.tid, name: '', events: [] });
        return threads.get(key);
    };
    for (const event of document.traceEvents) {
        if (event.ph === 'X')
            thread(event).events.push(event);
        else if (event.ph === 'M' && event.name === 'thread_name')
            thread(event).name = event.args.name;
        else if (event.ph === 'M' && event.name === 'process_name')
            processes.set(event.pid, event.args.name);
    }
    const found = [...threads.values()].filter((t) => t.events.length > 0);
    for (const t of found) {
        t.process = processes.get(t.pid);
        t.scopes = scopesOf(t.events);
        t.nesting = nestingOf(t.events);
    }
    return found;
}

// Runs in the page: what the viewer has loaded, in the same form.
function readViewer() {
    const group = window.loadedProfiles.get();
    return group.profiles.map(({ profile }) => {
        const open = [];
        const scopes = [];
        // With its arguments the viewer calls a frame "name {...}".
        const nameOf = (node) => node.frame.name.replace(/ \{(".*)?\}$/s, '');
        profile.forEachCall((node, at) => open.push(at), (node, at) => {
            scopes.push([nameOf(node), (at - open.pop()) * 1000]);
        });
        // The tree of all calls, those without a length too.
        const nesting = {};
        const waiting = profile.getAppendOrderCalltreeRoot().children.map((node) => [node, '']);
        while (waiting.length > 0) {
            const [node, outer] = waiting.pop();
            const path = outer + nameOf(node);
            nesting[path] = (nesting[path] || 0) + 1;
            for (const child of node.children)
                waiting.push([child, `${path} > `]);
        }
        return { name: profile.getName(), unit: profile.getWeightUnit(), scopes, nesting };
    });
}

// How many scopes of each name.
function countNames(scopes) {
    const counts = {};
    for (const [name] of scopes)
        counts[name] = (counts[name] || 0) + 1;
    return counts;
}

// Durations to half a nanosecond: the viewer computes with doubles, which are far finer.
function compare(expected, loaded) {
    assert.strictEqual(loaded.length, expected.length, 'as many profiles as threads');
    for (const thread of expected) {
        const title = `${thread.process} (pid ${thread.pid}), ${thread.name} (tid ${thread.tid})`;
        const profile = loaded.find((p) => p.name === title);
        assert.ok(profile, `no profile "${title}"; there are: ` +
            loaded.map((p) => p.name).join(' | '));
        assert.strictEqual(profile.unit, 'microseconds');
        sorted(profile.scopes);
        assert.deepStrictEqual(countNames(profile.scopes), countNames(thread.scopes), `scopes of ${title}`);
        thread.scopes.forEach(([name, ns], i) => {
            const seen = profile.scopes[i][1];
            assert.ok(Math.abs(seen - ns) < 0.5, `${title}: ${name} ${seen} ns, not ${ns} ns`);
        });
        assert.deepStrictEqual(profile.nesting, thread.nesting, `what is in what in ${title}`);
    }
}

// Loads a trace into the viewer as a user would and returns what it then holds.
async function load(page, url, name) {
    await page.goto('about:blank');
    await page.goto(`${url}#profileURL=${encodeURIComponent(url + name)}`);
    await page.waitForFunction(
        () => window.loadedProfiles && window.loadedProfiles.get() !== null,
        null, { timeout: 60000 });
    return page.evaluate(readViewer);
}

async function view(page, server) {
    const expected = readTrace(readDocument());
    const loaded = await load(page, server.url, 'trace.json');
    compare(expected, loaded);
    for (const { name, scopes } of loaded)
        console.log(`${name}: ${scopes.length} scopes`);
    const index = shown === undefined ? 0 : loaded.findIndex((p) => p.name.includes(shown));
    assert.ok(index >= 0, `no profile is called ${shown}`);
    await page.evaluate((i) => window.loadedProfiles.setProfileIndexToView(i), index);
    await page.waitForTimeout(1000);
    await page.screenshot({ path: path.join(folder, 'speedscope.png') });
}

async function main() {
    const server = await startServer(viewer);
    server.files.set('trace.json', fs.readFileSync(tracePath));
    fs.mkdirSync(folder, { recursive: true });
    try {
        await withBrowser({ width: 1280, height: 640 }, async (browser) => {
            const page = await browser.newPage();
            const complaints = [];
            page.on('console', (message) => {
                // Of scopes that cross, or do not end, the viewer only warns.
                if (message.type() === 'error' || /Tried to end|still open/.test(message.text()))
                    complaints.push(message.text());
            });
            page.on('pageerror', (error) => complaints.push(String(error)));
            page.on('dialog', (dialog) => {
                complaints.push(dialog.message());
                dialog.dismiss();
            });
            await view(page, server);
            assert.deepStrictEqual(complaints, [], 'the viewer has nothing to complain about');
            assert.deepStrictEqual(server.missing, [], 'the page asks for nothing that is not there');
        });
    } finally {
        server.close();
    }
}

main().catch((error) => {
    console.error(error.message);
    process.exitCode = 1;
});
