// forward_life.test.js: perf-trace-forward beside processes that run and are killed, killed itself, and with the
// real perf-trace-collect. SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const test = require('node:test');
const { spawn, spawnSync } = require('child_process');
const t = require('./forward_tool.js');

const WORKER = t.toolOf('PERFTRACE_TEST_LIVE_WORKER');
const COLLECT = t.toolOf('PERFTRACE_COLLECT');

const workers = new Set();
process.on('exit', () => workers.forEach((w) => w.kill('SIGKILL')));

// Ranks of a launcher around the tests would be taken for ours; so would settings of the tracer.
const environment = (more) => ({ ...Object.fromEntries(Object.entries(process.env).filter(([name]) =>
    !/^(RANK|WORLD_SIZE|LOCAL_.*|OMPI_.*|PMIX?_.*|SLURM_.*|PERFTRACE_.*|TORCH.*)$/.test(name))), ...more });

// A traced process that stands in a scope until it is killed: its last events are in its ring only.
async function worker(dir, rings, rank) {
    const w = spawn(WORKER, ['elsewhere'], { stdio: ['pipe', 'pipe', 'inherit'],
        env: environment({ RANK: String(rank), WORLD_SIZE: '2', PERFTRACE_DIR: dir, PERFTRACE_RING_DIR: rings,
                           PERFTRACE_RUN_ID: 'live' }) });
    workers.add(w);
    await new Promise((resolve) => w.stdout.once('data', resolve));
    w.end = () => new Promise((resolve) => {
        w.once('close', resolve);
        w.kill('SIGKILL');
    });
    const file = path.join(dir, `traces-r${rank}.jsonl`);
    while (!fs.existsSync(file) || fs.statSync(file).size === 0)
        await t.sleep(10);
    return w;
}

const onDisk = (dir, name) => fs.readFileSync(path.join(dir, name), 'utf8');

test('a running process is left out; once it is killed its trace is finished and sent', async () => {
    const c = await t.collecting();
    const [dir, rings] = [t.folder(), t.folder()];
    const env = { PERFTRACE_RING_DIR: rings };
    const w = await worker(dir, rings, 0);
    const r = await t.run([dir, '--to', c.to], env);
    assert.strictEqual(r.status, 1, r.stderr);
    assert.match(r.file('traces-r0.jsonl').why, /process is running/);
    assert.strictEqual(c.connections, 0);
    await w.end();
    const kept = await t.run([dir, '--to', c.to, '--no-recover'], env);
    assert.strictEqual(kept.status, 1, kept.stderr);
    assert.match(kept.file('traces-r0.jsonl').why, /was killed; perf-trace-recover/);
    assert.strictEqual(c.connections, 0);
    const done = await t.run([dir, '--to', c.to], env);
    assert.strictEqual(done.status, 0, done.stderr);
    assert.match(done.stderr, /was killed; \d+ events? (was|were) recovered/);
    const f = c.files()['live/traces-r0.jsonl'];
    assert.strictEqual(f.bytes.toString(), onDisk(dir, 'traces-r0.jsonl'));
    assert(f.last);
    const lines = f.bytes.toString().trimEnd().split('\n').map((l) => JSON.parse(l));
    assert.strictEqual(lines.at(-1).name, 'perftrace_footer');
    assert.strictEqual(lines.at(-1).args.recovered, true);
    assert(lines.some((l) => l.name === 'load_batch' && l.args.unfinished));
    assert.strictEqual(f.pid, w.pid);
    assert.strictEqual(f.world_size, 2);
    await c.close();
});

test('--follow sends what becomes complete, an outage between, until it is told to end', async () => {
    let c = await t.collecting();
    const [dir, rings] = [t.folder(), t.folder()];
    const port = c.port;
    const r = t.start([dir, '--to', c.to, '--follow', '--json'], { PERFTRACE_RING_DIR: rings });
    fs.writeFileSync(path.join(dir, 'traces-r7.jsonl'), t.trace({ rank: 7 }));
    await r.until(() => c.streams.size === 1 && [...c.streams.values()][0].last);
    const w = await worker(dir, rings, 0);
    const first = c.files();
    await c.close();
    fs.mkdirSync(path.join(dir, 'sub'));
    fs.writeFileSync(path.join(dir, 'sub', 'traces-r8.jsonl'), t.trace({ rank: 8 }));
    await r.until(() => /tried again/.test(r.stderr));
    c = new (c.constructor)();
    c.server = require('net').createServer((s) => c.connected(s));
    await new Promise((resolve) => c.server.listen(port, '127.0.0.1', resolve));
    c.server.unref();
    await w.end();
    await r.until(() => c.streams.size === 2 && [...c.streams.values()].every((s) => s.last));
    r.child.kill('SIGTERM');
    const end = await r.ended;
    assert.strictEqual(end.status, 0, end.stderr);
    assert.strictEqual(JSON.parse(end.stdout).total.files, 3);
    assert.strictEqual(first['job/traces-r7.jsonl'].bytes.toString(), t.trace({ rank: 7 }));
    const rest = c.files();
    assert.strictEqual(rest['job/traces-r8.jsonl'].bytes.toString(), t.trace({ rank: 8 }));
    assert.strictEqual(rest['live/traces-r0.jsonl'].bytes.toString(), onDisk(dir, 'traces-r0.jsonl'));
    await c.close();
});

test('--until-idle ends by itself', async () => {
    const c = await t.collecting();
    const dir = t.files({ 'traces-r0.jsonl': t.trace({}) });
    const r = await t.run([dir, '--to', c.to, '--until-idle', '300ms']);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.strictEqual(r.json.total.files, 1);
    assert.strictEqual((await t.run([t.folder(), '--to', c.to, '--until-idle', '100ms'])).status, 0);
    await c.close();
});

test('a file that vanishes or is cut while it is sent is told, others arrive', async () => {
    const c = await t.collecting({ delay: 5 });
    const dir = t.files({ 'traces-r0.jsonl': t.trace({ events: 200000, pad: 20 }),
                          'traces-r1.jsonl': t.trace({ rank: 1, events: 30000, pad: 20 }) });
    const r = t.start([dir, '--to', c.to, '--json']);
    await r.until(() => c.pieces > 3);
    fs.truncateSync(path.join(dir, 'traces-r0.jsonl'), 1000);
    const end = await r.ended;
    assert.strictEqual(end.status, 3, end.stderr);
    assert.match(end.stderr, /traces-r0\.jsonl: shorter than it was/);
    assert(c.files()['job/traces-r1.jsonl'].last);
    await c.close();
});

test('killed fifty times: nothing is lost, nothing is sent that is there', async () => {
    const c = await t.collecting({ delay: 2 });
    const contents = {};
    for (let rank = 0; rank < 6; rank++) {
        contents[`traces-r${rank}.jsonl`] = t.trace({ rank, events: 30000 * (1 + rank % 3), pad: 12 });
        contents[`sessions-r${rank}.jsonl`] = t.sessions({ rank, count: 500 });
    }
    const dir = t.files(contents);
    let killed = 0;
    for (let i = 0; i < 50; i++) {
        const r = t.start([dir, '--to', c.to]);
        await t.sleep(1 + (i * 7919) % 60);
        r.child.kill('SIGKILL');
        killed += (await r.ended).signal === 'SIGKILL';
    }
    assert(killed > 20, `${killed} were killed while they ran`);
    c.delay = 0;
    const r = await t.run([dir, '--to', c.to]);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.strictEqual(c.twice, 0);
    const came = c.files();
    assert.deepStrictEqual(Object.keys(came).sort(), Object.keys(contents).map((n) => `job/${n}`).sort());
    for (const [name, bytes] of Object.entries(contents)) {
        assert.strictEqual(came[`job/${name}`].bytes.toString(), bytes);
        assert(came[`job/${name}`].last);
    }
    await c.close();
});

test('perf-trace-collect gets it all, and knows that it is all', async () => {
    const out = t.folder();
    const collect = spawn(COLLECT, ['--listen', '0', '-o', out, '--until-done'],
                          { stdio: ['ignore', 'ignore', 'pipe'], env: environment({ PERFTRACE_FORWARD_TOKEN: 's3' }) });
    workers.add(collect);
    let told = '';
    collect.stderr.on('data', (d) => { told += d; });
    const ended = new Promise((resolve) => collect.on('close', resolve));
    while (!/127\.0\.0\.1:(\d+)/.test(told))
        await t.sleep(10);
    const to = `tcp:127.0.0.1:${/127\.0\.0\.1:(\d+)/.exec(told)[1]}`;
    const contents = {};
    for (let rank = 0; rank < 4; rank++)
        contents[`traces-r${rank}.jsonl`] = t.trace({ rank, events: 20000, start: rank + 1, pad: 8 });
    contents['sessions-r0.jsonl'] = t.sessions({ start: 2 });
    const dir = t.files(contents);
    // Without the last rank's, or one of them might be through, and the collector have ended.
    const some = Object.keys(contents).filter((name) => name !== 'traces-r3.jsonl').map((name) => path.join(dir, name));
    for (let i = 0; i < 5; i++)
        spawnSync(t.TOOL, [...some, '--to', to], { timeout: 20 + i * 15, killSignal: 'SIGKILL',
                                               env: environment({ PERFTRACE_FORWARD_TOKEN: 's3' }) });
    const r = await t.run([dir, '--to', to], { PERFTRACE_FORWARD_TOKEN: 's3' });
    assert.strictEqual(r.status, 0, r.stderr);
    assert.strictEqual(await ended, 0, told);
    for (const [name, bytes] of Object.entries(contents))
        assert.strictEqual(onDisk(path.join(out, 'job'), name), bytes);
});
