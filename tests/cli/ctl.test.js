// ctl.test.js: perf-trace-ctl against servers that behave as vLLM's and as its routers do.
// SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const fs = require('fs');
const http = require('http');
const path = require('path');
const zlib = require('zlib');
const { spawnSync } = require('child_process');
const t = require('./ctl_tool.js');

test.afterEach(() => t.closeAll());

const results = (r) => r.json.workers.map((w) => w.result);
const list = (...workers) => ({ workers });

test('answers that are none of ours', async () => {
    const long = await t.router('/status', 'x'.repeat((16 << 20) + 1));
    const other = await t.router('/status', '{"version": "0.9"}');
    const r = await t.run(['status', '--json', long, other]);
    assert.strictEqual(r.status, 1);
    assert.deepStrictEqual(r.json.workers.map((w) => [w.result, w.message]),
                           [['broken', 'the answer is longer than 16 MiB'], ['ok', '']]);
    assert.deepStrictEqual(r.json.status.map((w) => w.doing), [null]); // nobody says that it records nothing
});

test('a router that does not answer is waited for no longer than a worker', async () => {
    const late = await t.vllm();
    late.server.removeAllListeners('request');
    late.server.on('request', (request, response) => setTimeout(() => response.end('{"workers": []}'), 5000));
    const r = await t.run(['stop', '--rpc-timeout', '300ms', '--router-url', late.url]);
    assert.strictEqual(r.status, 3);
    assert.match(r.stderr, /router .*: no answer in time/); // with its own limit, 10 s, it would have no workers
});

test('closed standard streams', () => {
    for (const [closed, status] of [['<&-', 3], ['<&- 2>&-', 3], ['>&-', 4], ['<&- >&- 2>&-', 4]]) {
        const r = spawnSync('sh', ['-c', `exec "$0" status http://127.0.0.1:1 ${closed}`, t.TOOL]);
        assert.deepStrictEqual([r.status, r.signal], [status, null], closed); // nobody listens; nobody is told
    }
});

test('start and stop reach every worker that the router lists', async () => {
    const workers = [await t.vllm(), await t.vllm(), await t.vllm()];
    const url = await t.router('/workers', list(...workers.map((w, i) => ({ url: w.url, is_healthy: i !== 1 }))));
    for (const action of ['start', 'stop']) {
        const r = await t.run([action, '--router-url', url, '--json']);
        assert.strictEqual(r.status, 0, r.stderr);
        assert.deepStrictEqual(results(r), ['ok', 'ok', 'ok']);
        assert.strictEqual(r.json.workers[1].message, 'the router calls it unhealthy'); // and is asked all the same
        assert.deepStrictEqual(r.json.workers.map((w) => w.url), workers.map((w) => w.url));
    }
    for (const w of workers) {
        assert.deepStrictEqual(w.posts().map((p) => [p.url, p.body]),
                               [['/start_profile', '{}'], ['/stop_profile', '{}']]);
        assert.strictEqual(w.posts()[0].headers['content-type'], 'application/json');
    }
});

test("a router's list in its other shape; entries without a url are told and left out", async () => {
    const w = await t.vllm();
    const old = await t.router('/list_workers', { urls: [w.url, `${w.url}/`] });
    const r = await t.run(['start', '-r', old, '--json']);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.strictEqual(r.json.workers.length, 2);
    const odd = await t.router('/workers', list({ url: w.url }, { is_healthy: true }, { url: '' }, { url: w.url }));
    const s = await t.run(['stop', '-r', odd, '--json']);
    assert.strictEqual(s.status, 0, s.stderr);
    assert.strictEqual(s.json.workers.length, 1);
    assert.strictEqual(s.stderr.match(/without a url/g).length, 2);
});

test('no router, no workers, no list: a message and status 3', async () => {
    const cases = [['http://127.0.0.1:1', /connection refused/],
                   [await t.router('/workers', list()), /has no workers/],
                   [await t.router('/workers', 'hello'), /no list of workers/],
                   [await t.router('/workers', { workers: 5 }), /no list of workers/],
                   [await t.router('/other', {}), /answered with 404/],
                   ['https://router', /https is not spoken/], ['ftp://router', /only http/]];
    for (const [url, message] of cases) {
        const r = await t.run(['start', '--router-url', url]);
        assert.strictEqual(r.status, 3, `${url}: ${r.stderr}`);
        assert.match(r.stderr, message);
        assert.strictEqual(r.stdout, '');
    }
});

test('some fail: each is told, the status says so', async () => {
    const good = await t.vllm(), without = await t.vllm({ profiler: false });
    const hanging = await t.vllm({ hang: true });
    const r = await t.run(['start', '--json', '--rpc-timeout', '300ms', good.url, without.url, hanging.url,
                           'http://127.0.0.1:1', 'http://no-such-host.invalid:1', 'http://x y']);
    assert.strictEqual(r.status, 1);
    assert.deepStrictEqual(results(r), ['ok', 'no route', 'timeout', 'down', 'down', 'bad url']);
    assert.match(r.stderr, /no route: Not Found/);
    const none = await t.run(['start', '--json', without.url]);
    assert.strictEqual(none.status, 3);
});

test('a stop of an idle worker is content, also when its connection broke', async () => {
    const idle = await t.vllm(), broken = await t.vllm({ reset: 1 });
    await t.run(['start', broken.url]);
    const r = await t.run(['stop', '--json', idle.url, broken.url]);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.deepStrictEqual(results(r), ['idle', 'idle']);
    assert.strictEqual(broken.posts().filter((p) => p.url === '/stop_profile').length, 2);
});

test('a stop without an answer names VLLM_RPC_TIMEOUT', async () => {
    const w = await t.vllm({ hang: true });
    const r = await t.run(['stop', '--json', '--rpc-timeout', '0.2s', w.url]);
    assert.strictEqual(r.status, 3);
    assert.match(r.stderr, /VLLM_RPC_TIMEOUT/);
    const s = await t.run(['start', '--json', '--rpc-timeout', '0.2s', w.url]);
    assert.doesNotMatch(s.stderr, /VLLM_RPC_TIMEOUT/);
});

test('the options of start are the body; --body gives the rest', async () => {
    const w = await t.vllm();
    const r = await t.run(['start', w.url, '-n', '3', '--start-step=5', '--delay-iterations', '2',
                           '--max-iterations', '7', '--activities', 'CPU,GPU', '--categories', 'io,comm',
                           '--output-dir', '/data/"x"', '--profile-by-stage', '--with-stack', '--record-shapes',
                           '--body', ' {"own": {"a": [1]}} ']);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.deepStrictEqual(JSON.parse(w.posts()[0].body), {
        own: { a: [1] }, num_steps: 3, start_step: 5, delay_iterations: 2, max_iterations: 7,
        activities: ['CPU', 'GPU'], categories: ['io', 'comm'], output_dir: '/data/"x"',
        profile_by_stage: true, with_stack: true, record_shapes: true });
    await t.run(['start', w.url, '--body', '{}', '--num-steps', '1']);
    assert.strictEqual(w.posts()[1].body, '{"num_steps": 1}');
    for (const body of ['[1]', '{"a": }', '', 'x']) {
        const bad = await t.run(['start', w.url, '--body', body]);
        assert.strictEqual(bad.status, 2, body);
        assert.match(bad.stderr, /--body: no JSON object \(offset \d+\)/);
    }
});

test('the token is sent, from the option or the environment', async () => {
    const w = await t.vllm({ token: 'secret' });
    assert.strictEqual((await t.run(['start', w.url])).status, 3);
    assert.strictEqual((await t.run(['start', w.url, '--token', 'secret'])).status, 0);
    const env = { ...process.env, PERFTRACE_CONTROL_TOKEN: 'secret' };
    assert.strictEqual((await t.run(['stop', w.url], { env })).status, 0);
    const r = await t.run(['check', w.url]);
    assert.match(r.stderr, /refused: Unauthorized/);
});

test('check names the start-up option that is missing', async () => {
    const good = await t.vllm(), without = await t.vllm({ profiler: false, version: '0.14.1' });
    const r = await t.run(['check', '--json', good.url, without.url]);
    assert.strictEqual(r.status, 1);
    assert.deepStrictEqual(results(r), ['ok', 'no route']);
    assert.match(r.stderr, /vLLM 0\.14\.1 without a profiler: start it with --profiler-config .*torch_profiler_dir/);
    assert.deepStrictEqual(good.posts(), []); // nothing was started
});

test('check names the profiler that a process of ours lacks', async () => {
    const ours = async (profiler) => {
        const server = http.createServer((request, response) => {
            const there = { '/': [200, 'libperftrace 0.1.0\n'], '/status': [200, `{"pid": 1, "profiler": ${profiler}}`],
                            '/start_profile': [405, '{}'], '/stop_profile': [405, '{}'] }[request.url] ?? [404, '{}'];
            response.writeHead(there[0]).end(there[1]);
        });
        await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
        return { server, url: `http://127.0.0.1:${server.address().port}` };
    };
    const all = [await ours('null'), await ours('{"state": "idle"}')];
    const r = await t.run(['check', '--json', ...all.map((o) => o.url)]);
    all.forEach((o) => o.server.close());
    assert.strictEqual(r.status, 1);
    assert.deepStrictEqual(results(r), ['no profiler', 'ok']);
    assert.match(r.stderr, /no profiler: start it with PERFTRACE_PROFILER/);
});

test('64 workers are asked at the same time', async () => {
    // Nobody answers before all have been asked.
    const workers = [];
    let asked = 0, open;
    const gate = new Promise((resolve) => { open = resolve; });
    for (let i = 0; i < 64; i++)
        workers.push(await t.vllm({ gate, onRequest: () => ++asked === 64 && open() }));
    const r = await t.run(['start', '--json', '--rpc-timeout', '60s', ...workers.map((w) => w.url)]);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.strictEqual(r.json.workers.length, 64);
});

test('--ranks chooses; a list that is none, or that fits nobody, is told', async () => {
    const workers = [await t.vllm(), await t.vllm(), await t.vllm()];
    const urls = workers.map((w) => w.url);
    const r = await t.run(['start', '--json', '-R', '0,2', ...urls]);
    assert.deepStrictEqual(r.json.workers.map((w) => w.url), [urls[0], urls[2]]);
    assert.strictEqual((await t.run(['start', '-R', '7', ...urls])).status, 3);
    assert.strictEqual((await t.run(['start', '-R', 'x', ...urls])).status, 2);
});

test('--wait-files waits until the traces of this window are complete', async () => {
    const dir = t.folder();
    const trace = zlib.gzipSync(JSON.stringify({ traceEvents: [{ name: 'a', ph: 'X', ts: 1, dur: 1 }] }));
    fs.writeFileSync(path.join(dir, 'old.json.gz'), trace);
    fs.utimesSync(path.join(dir, 'old.json.gz'), 1, 1);
    const file = path.join(dir, 'rank0.pt.trace.json.gz');
    const w = await t.vllm({ onStop: () => {
        fs.writeFileSync(file, trace.subarray(0, trace.length - 9)); // half of it, then the rest
        setTimeout(() => fs.appendFileSync(file, trace.subarray(trace.length - 9)), 1500);
    } });
    await t.run(['start', w.url]);
    const begin = Date.now();
    const r = await t.run(['stop', w.url, '--wait-files', dir, '--timeout', '30s']);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.ok(Date.now() - begin >= 1500);
    assert.deepStrictEqual(zlib.gunzipSync(fs.readFileSync(file)), zlib.gunzipSync(trace));
});

test('traces that stay incomplete are named when the time is over', async () => {
    const footer = '{"name": "perftrace_footer", "ph": "M", "args": {}}\n';
    const dir = t.files({ 'whole.json': '[1]\n', 'cut.json': '{"traceEvents": [', 'lines.jsonl': `{}\n${footer}`,
                          'open.jsonl': '{"name": "a"}\n', 'empty.json': '', '.hidden.json': '{}', 'notes.txt': 'x' });
    const run = (n) => t.run(['wait', '--wait-files', dir, '--files', `${n}`, '--timeout', '1s']);
    const two = await run(2);
    assert.strictEqual(two.status, 0, two.stderr);
    const three = await run(3);
    assert.strictEqual(three.status, 1);
    assert.match(three.stderr, /2 of 3 trace files complete when the time was over/);
    for (const name of ['cut.json', 'open.jsonl', 'empty.json'])
        assert.match(three.stderr, new RegExp(`${name}: \\d+ bytes, not complete`));
    assert.doesNotMatch(three.stderr, /whole|lines|hidden|notes/);
});

test('what cannot be understood is answered with the way out', async () => {
    const cases = [[[], /no action is given/], [['strat', 'http://x:1'], /is start meant\?/],
                   [['start'], /no worker is given/], [['start', 'word'], /no URL of a worker/],
                   [['start', 'http://x:1', '--token', 'a\nb'], /no line ends/],
                   [['start', 'http://x:1', '--num-steps', '0'], /num-steps/]];
    for (const [args, message] of cases) {
        const r = await t.run(args);
        assert.strictEqual(r.status, 2, args.join(' '));
        assert.match(r.stderr, message);
    }
    const help = await t.run(['--help']);
    assert.strictEqual(help.status, 0);
    assert.match(help.stdout, /Examples:/);
});

test('servers that speak no HTTP, or stop in the middle, are outcomes', async () => {
    const net = require('net');
    const say = (text) => new Promise((resolve) => {
        const server = net.createServer((socket) => { socket.on('error', () => {}); socket.end(text); });
        server.listen(0, '127.0.0.1', () => resolve([server, `http://127.0.0.1:${server.address().port}`]));
    });
    const all = [await say('SSH-2.0-x\r\n'), await say(''), await say('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab'),
                 await say('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'),
                 await say('HTTP/1.0 200 OK\r\n\r\nuntil the end')];
    const r = await t.run(['start', '--json', ...all.map(([, url]) => url)]);
    all.forEach(([server]) => server.close());
    assert.deepStrictEqual(results(r), ['broken', 'broken', 'broken', 'ok', 'ok']);
});
