#!/usr/bin/env node
// open_stacks_in_speedscope.js TOOL FOLDER: speedscope files that perf-trace-stacks writes are valid by
// speedscope's published schema, and the viewer, in headless Chromium, holds what they are to say: each
// thread with its unit, its stacks and their weights. Exit status 0 good, 1 not.
// SPDX-License-Identifier: MIT
'use strict';
const assert = require('assert');
const { spawnSync } = require('child_process');
const fs = require('fs');
const path = require('path');
const { createRequire } = require('module');
const { modules, withBrowser } = require('./browser.js');
const { startServer } = require('./page_server.js');

const [tool, folder] = process.argv.slice(2);
const viewer = path.join(modules, 'speedscope', 'dist', 'release');

// What goes in, and the stacks that must come out: thread, unit, {stack: weight}.
const COLLAPSED = 'main thread;f(int, char);g 3\nmain thread;f(int, char) 1.5\nmain thread;f(int, char);g 4\n' +
    'other;<lambda>;größe 日本 2\nother 7\n';
const CASES = {
    counts: { args: ['--unit', 'none'], input: COLLAPSED, threads: [
        ['main thread', 'none', { 'main thread;f(int, char);g': 7, 'main thread;f(int, char)': 1.5 }],
        ['other', 'none', { 'other;<lambda>;größe 日本': 2, other: 7 }]] },
    seconds: { args: ['--freq', '10'], input: COLLAPSED, threads: [
        ['main thread', 'seconds', { 'main thread;f(int, char);g': 0.7, 'main thread;f(int, char)': 0.15 }],
        ['other', 'seconds', { 'other;<lambda>;größe 日本': 0.2, other: 0.7 }]] },
    bytes: { args: ['--unit', 'bytes'], input: 'a;b 1024\n', threads: [['a', 'bytes', { 'a;b': 1024 }]] },
    recursion: { args: ['--unit', 'none'], input: 'a;b;a;b 2\na;b 1\n',
                 threads: [['a', 'none', { 'a;b;a;b': 2, 'a;b': 1 }]] },
    perf: { args: ['--unit', 'auto'], input: 'x 1/2 [000] 3.5: 2000000 cycles:\n\tff g+0x1 (o)\n\tfe f+0x2 (o)\n\n',
            threads: [['x', 'seconds', { 'x;f;g': 0.002 }]] },
};
const EVENTED = JSON.stringify({ shared: { frames: [{ name: 'f0', file: 'a.py', line: 3 }, { name: 'f1' }] }, profiles: [
    { type: 'evented', name: 'p', unit: 'milliseconds', startValue: 0, endValue: 10, events: [
        { type: 'O', frame: 0, at: 0 }, { type: 'O', frame: 1, at: 2 }, { type: 'C', frame: 1, at: 5 },
        { type: 'C', frame: 0, at: 10 }] }] });
CASES.evented = { args: ['--to', 'speedscope'], input: EVENTED,
                  threads: [['p', 'seconds', { f0: 0.007, 'f0;f1': 0.003 }]] };

function validator() {
    const Ajv = createRequire(path.join(modules, 'x'))('ajv');
    const name = fs.readdirSync(viewer).find((each) => /^file-format-schema.*\.json$/.test(each));
    assert.ok(name, 'the package has the schema');
    const schema = JSON.parse(fs.readFileSync(path.join(viewer, name), 'utf8'));
    delete schema.$schema; // the validator knows its own drafts by their names
    return new Ajv({ strict: false }).compile(schema);
}

// Runs in the page: each profile with its stacks.
function readViewer() {
    return window.loadedProfiles.get().profiles.map(({ profile }) => {
        const stacks = {};
        const waiting = profile.getAppendOrderCalltreeRoot().children.map((node) => [node, '']);
        while (waiting.length > 0) {
            const [node, outer] = waiting.pop();
            const stack = outer + node.frame.name;
            if (node.getSelfWeight() > 0)
                stacks[stack] = (stacks[stack] || 0) + node.getSelfWeight();
            for (const child of node.children)
                waiting.push([child, `${stack};`]);
        }
        return [profile.getName(), profile.getWeightUnit(), stacks];
    });
}

function compare(loaded, expected, what) {
    assert.deepStrictEqual(loaded.map(([name, unit]) => [name, unit]),
                           expected.map(([name, unit]) => [name, unit]), what);
    loaded.forEach(([name, , stacks], i) => {
        const [, , other] = expected[i];
        assert.deepStrictEqual(Object.keys(stacks).sort(), Object.keys(other).sort(), `${what}: ${name}`);
        for (const [stack, weight] of Object.entries(other))
            assert.ok(Math.abs(stacks[stack] - weight) < 1e-9, `${what}: ${stack} ${stacks[stack]}, not ${weight}`);
    });
}

async function main() {
    fs.mkdirSync(folder, { recursive: true });
    const isValid = validator();
    assert.ok(!isValid({ profiles: [] }), 'the validator refuses something');
    const server = await startServer(viewer);
    try {
        await withBrowser({ width: 1280, height: 640 }, async (browser) => {
            for (const [name, { args, input, threads }] of Object.entries(CASES)) {
                const file = path.join(folder, `${name}.speedscope.json`);
                const r = spawnSync(tool, ['convert', '-', '-o', file, ...args], { input: Buffer.from(input) });
                assert.strictEqual(r.status, 0, r.stderr.toString());
                const text = fs.readFileSync(file);
                assert.ok(isValid(JSON.parse(text)), `${name}: ${JSON.stringify(isValid.errors)}`);
                server.files.set('trace.json', text);
                const page = await browser.newPage();
                const complaints = [];
                page.on('pageerror', (error) => complaints.push(String(error)));
                page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
                await page.goto(`${server.url}#profileURL=${encodeURIComponent(`${server.url}trace.json`)}`);
                await page.waitForFunction(() => window.loadedProfiles && window.loadedProfiles.get() !== null,
                                           null, { timeout: 60000 });
                compare(await page.evaluate(readViewer), threads, name);
                assert.deepStrictEqual(complaints, [], `${name}: the viewer has nothing to complain about`);
                await page.waitForTimeout(500);
                await page.screenshot({ path: path.join(folder, `${name}.png`) });
                await page.close();
                console.log(`${name}: valid, and ${threads.length} threads are shown`);
            }
        });
    } finally {
        server.close();
    }
}

main().catch((error) => {
    console.error(error.stack || error);
    process.exitCode = 1;
});
