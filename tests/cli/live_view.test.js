// live_view.test.js: the view that goes on, on a terminal and on a pipe. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const { spawn, spawnSync } = require('child_process');
const { TOOL, folder, environment, rank, end, run, sleep, path } = require('./live_tool.js');

const ENTER = '\x1b[?1049h\x1b[?25l', LEAVE = '\x1b[?25h\x1b[?1049l';

// Runs the tool on a terminal of 10 lines and 40 columns; `key` is typed once that much was drawn.
const python = spawnSync('python3', ['-c', 'import pty']).status === 0;
const skip = python ? false : 'there is no python3 with pty here';
function onTerminal(args, { key = '', env = {} } = {}) {
    const r = spawnSync('python3', [path.join(__dirname, 'live_pty.py'), key, TOOL, ...args],
        { env: environment({ TERM: 'xterm', ...env }), encoding: 'latin1' });
    assert.strictEqual(r.status, 0, r.stderr);
    const [status, ...rest] = r.stdout.split('\n');
    return { status: Number(status), text: rest.join('\n') };
}

test('a screen of its own, and as it was at the end', { skip }, async () => {
    const dir = folder();
    const worker = await rank(dir, 0, 1, ['elsewhere']);
    const { status, text } = onTerminal(['--count', '3', '--interval', '0.01', dir]);
    assert.strictEqual(status, 0);
    assert.ok(text.startsWith(ENTER), JSON.stringify(text.slice(0, 40)));
    assert.ok(text.endsWith(LEAVE), JSON.stringify(text.slice(-40)));
    const views = text.slice(ENTER.length, -LEAVE.length).split('\x1b[H').slice(1);
    assert.strictEqual(views.length, 3);
    for (const view of views) {
        const lines = view.replace(/\x1b\[J$/, '').split('\r\n');
        assert.ok(lines.length <= 10, view);
        for (const line of lines) {
            assert.ok(line.endsWith('\x1b[K'), JSON.stringify(line));
            assert.ok(line.replace(/\x1b\[[0-9;]*[mK]/g, '').length <= 40, line);
        }
        assert.match(view, /\x1b\[1m1 traced process\x1b\[0m/);
    }
    await end(worker);
});

test('Ctrl-C and SIGTERM end it with 130, the terminal as it was', { skip }, async () => {
    const dir = folder();
    const worker = await rank(dir, 0, 1, ['elsewhere']);
    for (const key of ['\x03', 'SIGTERM', 'SIGHUP']) {
        const { status, text } = onTerminal(['--interval', '30', dir], { key });
        assert.strictEqual(status, 130);
        assert.ok(text.startsWith(ENTER) && text.endsWith(LEAVE), JSON.stringify(text.slice(-60)));
    }
    await end(worker);
});

test('NO_COLOR, and a terminal that cannot be steered', { skip }, async () => {
    const dir = folder();
    const worker = await rank(dir, 0, 1, ['elsewhere']);
    const plain = onTerminal(['--count', '2', '--interval', '0.01', dir], { env: { NO_COLOR: '1' } });
    assert.ok(plain.text.startsWith(ENTER) && !/\x1b\[[0-9;]*m/.test(plain.text));
    const dumb = onTerminal(['--count', '2', '--interval', '0.01', dir], { env: { TERM: 'dumb' } });
    assert.strictEqual(dumb.status, 0);
    assert.ok(!dumb.text.includes('\x1b'), JSON.stringify(dumb.text));
    assert.strictEqual(dumb.text.match(/1 traced process/g).length, 2);
    await end(worker);
});

test('on a pipe one block follows another, without escapes', async () => {
    const dir = folder();
    const worker = await rank(dir, 0, 1, ['elsewhere']);
    const r = run(['--count', '3', '--interval', '0.01', dir]);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.ok(!r.stdout.includes('\x1b'));
    assert.strictEqual(r.stdout.match(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\n\n1 traced process$/mg).length, 3);
    const stuck = run(['--count', '2', '--interval', '0.01', '--stuck', '0', dir]);
    assert.strictEqual(stuck.status, 1, stuck.stderr);
    const broken = spawnSync('sh', ['-c', `"${TOOL}" --interval 0.01 "${dir}" | head -n 1; true`], { encoding: 'utf8', env: environment({}) });
    assert.match(broken.stderr, /^perf-trace-live: error: standard output: Broken pipe$/m);
    await end(worker);
});

test('a signal ends it between two views', async () => {
    const dir = folder();
    const worker = await rank(dir, 0, 1, ['elsewhere']);
    const tool = spawn(TOOL, ['--json', '--interval', '20', dir], { env: environment({}), stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = new Promise((resolve) => tool.on('close', (status) => resolve(status)));
    let text = '';
    tool.stdout.on('data', (d) => { text += d; });
    while (!text.includes('\n'))
        await sleep(10);
    tool.kill('SIGINT');
    assert.strictEqual(await ended, 130);
    assert.strictEqual(JSON.parse(text).processes.length, 1);
    await end(worker);
});

test('it ends by itself when the processes that were named are gone', async () => {
    const dir = folder();
    const worker = await rank(dir, 0, 1, ['brief']);
    const tool = spawn(TOOL, ['--json', '--interval', '0.02', '--pid', String(worker.pid)], { env: environment({}), stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = new Promise((resolve) => tool.on('close', (status) => resolve(status)));
    let text = '';
    tool.stdout.on('data', (d) => { text += d; });
    while (!text.includes('\n'))
        await sleep(10);
    worker.stdin.end();
    assert.strictEqual(await ended, 0);
    const views = text.trimEnd().split('\n').map((line) => JSON.parse(line));
    assert.strictEqual(views[0].processes[0].state, 'running');
    assert.ok(views.at(-1).processes.every((p) => p.state === 'ended'), JSON.stringify(views.at(-1)));
});

test('processes that come later are shown', async () => {
    const dir = folder();
    const tool = spawn(TOOL, ['--json', '--interval', '0.02', dir], { env: environment({}), stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = new Promise((resolve) => tool.on('close', (status) => resolve(status)));
    let text = '';
    tool.stdout.on('data', (d) => { text += d; });
    while (!text.includes('\n'))
        await sleep(10);
    const worker = await rank(dir, 0, 1, ['elsewhere']);
    while (!text.includes('load_batch'))
        await sleep(10);
    tool.kill('SIGTERM');
    assert.strictEqual(await ended, 130);
    const sizes = text.trimEnd().split('\n').map((line) => JSON.parse(line).processes.length);
    assert.deepStrictEqual([sizes[0], sizes.at(-1)], [0, 1]);
    await end(worker);
});
