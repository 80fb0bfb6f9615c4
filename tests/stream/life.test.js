// life.test.js: what programs do while their trace is forwarded. SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const fs = require('fs');
const net = require('net');
const path = require('path');
const s = require('./parts.js');
const { test } = s;

const LIFE = process.env.STREAM_LIFE;
const sanitized = process.env.STREAM_SANITIZED === '1';
const threads = process.env.STREAM_THREAD_SANITIZER === '1';
// Left out where ThreadSanitizer watches, and told: what is skipped makes ctest say so of the whole file.
const notOfThreads = (name, why, body) => threads ? console.log(`# left out, ${why}: ${name}`) : test(name, body);
// In a forked child a thread may get the number of one that only the parent has: ThreadSanitizer takes them for one
// ("dup thread with used id") and ends the child.
const children = 'ThreadSanitizer ends children that start threads';

async function scene(more = []) {
    const here = s.folder();
    const there = s.folder();
    const port = await s.freePort();
    const collector = await s.collector(port, there, more);
    const env = { PERFTRACE_LOG_STDERR: '1', PERFTRACE_RUN_ID: 'run', PERFTRACE_DIR: here, PERFTRACE_RANK: '0',
                  PERFTRACE_WORLD_SIZE: '1', PERFTRACE_FORWARD: `tcp:127.0.0.1:${port}` };
    return { here, there, port, collector, env };
}

async function life(env, ...args) {
    const r = await s.start(LIFE, args, env).done;
    assert.strictEqual(r.status, 0, `${r.signal} ${r.stderr}`);
    const told = JSON.parse(r.stdout.trim().split('\n').pop());
    assert.strictEqual(told.status, 0, r.stderr);
    return { ...told, stderr: r.stderr };
}

notOfThreads('all descriptors are closed: others that take their numbers get nothing of the trace',
             'ThreadSanitizer tells that a program does that', async () => {
    const { here, there, env } = await scene();
    const r = await life(env, 'close');
    assert.strictEqual(r.strays, 0, 'bytes that came to sockets of the program');
    assert.match(r.stderr, /is reached again/);
    assert.strictEqual(s.account(s.same(here, there)[0]).written, 10000);
});

test('the trace is removed: both files are there, to the event', async () => {
    const { here, there, env } = await scene();
    const r = await life(env, 'remove');
    assert.match(r.stderr, /note: forwarded \d+ bytes/);
    const files = s.find(there, /^traces/);
    assert.deepStrictEqual(files.map((f) => path.basename(f)), ['traces-r0.1.jsonl', 'traces-r0.jsonl']);
    const [second, first] = files.map((f) => fs.readFileSync(f, 'utf8').trimEnd().split('\n').map((l) => JSON.parse(l)));
    assert.strictEqual(first[0].args.part, undefined);
    assert.strictEqual(second[0].args.part, 2);
    assert.strictEqual(fs.readFileSync(files[0], 'utf8'), fs.readFileSync(s.find(here, /^traces/)[0], 'utf8'));
    const work = [...first, ...second].filter((l) => l.name === 'work').map((l) => l.args.i);
    assert.deepStrictEqual(work, Array.from({ length: 10000 }, (_, i) => i));
    assert.deepStrictEqual(second.at(-1).args.dropped, { file_gone: 5000 });
});

test('the trace is removed while nobody is reached: the second file is there whole', async () => {
    const { here, there, port, collector, env } = await scene();
    await collector.kill();
    const r = await life({ ...env, PERFTRACE_FORWARD_WAIT_MS: '300' }, 'remove');
    assert.match(r.stderr, /has not acknowledged \d+ bytes/);
    await s.collector(port, there);
    const f = await s.start(s.FORWARD, [here, '--to', `tcp:127.0.0.1:${port}`]).done;
    assert.strictEqual(f.status, 0, f.stderr);
    s.same(here, there);
});

// A run leaves two pages, which late threads may look at (docs/THREADING.md), and the addresses of its ring.
test('init and shutdown again and again: nothing is left but that, and nothing hangs', async () => {
    const { here, there, env } = await scene();
    // glibc counts what a thread keeps at hand for its next malloc, 60 kB of it, as allocated: it is told to keep nothing.
    const r = await life({ ...env, PERFTRACE_SESSION_ENABLED: '1', GLIBC_TUNABLES: 'glibc.malloc.tcache_count=0' }, 'cycles', '210');
    assert.strictEqual(r.descriptors, 0);
    if (!sanitized) {
        assert.ok(r.resident < 3 * 200, `${r.resident} pages more in memory after 200 runs`);
        assert.ok(r.allocated < 20000, `${r.allocated} bytes more allocated`);
        assert.ok(r.mapped * 4096 < 200 * 3e6, `${r.mapped} pages of addresses more`);
    }
    assert.strictEqual(s.same(here, there, /^traces/).length, 210);
});

notOfThreads('many children, some of which end without a word', children, async () => {
    const { here, there, port, env } = await scene();
    assert.strictEqual((await life(env, 'forks', '80')).failed, 0);
    const f = await s.start(s.FORWARD, [here, '--to', `tcp:127.0.0.1:${port}`]).done;
    assert.strictEqual(f.status, 0, f.stderr);
    const files = s.same(here, there);
    assert.strictEqual(files.length, 81);
    const counts = files.map((f) => s.account(f)).map((a) => a.written + a.lost);
    assert.deepStrictEqual(counts.sort((a, b) => a - b), [...Array(80).fill(10), 8000]);
});

test('runs begin and end while another thread forks: nothing hangs', async () => {
    const { here, there, env } = await scene();
    await life(env, 'race', '60');
    assert.strictEqual(s.same(here, there).length, 60);
});

notOfThreads('a fork while it connects', children, async () => {
    const { here, there, env } = await scene();
    await life(env, 'early');
    assert.deepStrictEqual(s.same(here, there).map((f) => s.account(f).written), [5000, 5000]);
});

test('the look-up of a name hangs: the run ends without it, and a later one forwards', async () => {
    const { here, there, env } = await scene();
    const r = await life({ ...env, PERFTRACE_FORWARD_WAIT_MS: '100' }, 'hang');
    assert.match(r.stderr, /error: the thread that forwards to \S+ hangs; what is not acknowledged stays in \S+traces-r0\.jsonl/);
    assert.match(r.stderr, /error: nothing is forwarded: the thread of the run before still hangs/);
    assert.match(r.stderr, /note: forwarded \d+ bytes/);
    assert.strictEqual(r.stderr.match(/hangs/g).length, 2, r.stderr);
    const [last] = s.find(there, /^traces/);
    assert.strictEqual(path.basename(last), 'traces-r0.2.jsonl');
    assert.strictEqual(fs.readFileSync(last, 'utf8'), fs.readFileSync(path.join(here, 'traces-r0.2.jsonl'), 'utf8'));
});

// A collector that says of each file that it has more than there will ever be.
function liar(port) {
    const lines = (c, d) => d.toString('latin1').split('\n').filter((l) => l.startsWith('{')).map((l) => JSON.parse(l))
        .forEach((m) => {
            if (m.type === 'hello')
                c.write('{"type": "hello", "v": 1, "ref": "here"}\n');
            else if (m.type === 'have')
                c.write(`{"type": "have", "stream": "${m.stream}", "offset": 1000000000, "last": false}\n`);
        });
    return new Promise((resolve) => {
        const server = net.createServer((c) => c.on('data', (d) => lines(c, d)).on('error', () => {}));
        server.listen(port, '127.0.0.1', () => resolve(server));
    });
}

test('the other side has more of a file than there is: it stays, also where files do not', async (t) => {
    const { here, port, collector, env } = await scene();
    await collector.kill();
    const server = await liar(port);
    t.after(() => server.close());
    const rings = s.folder();
    const r = await life({ ...env, PERFTRACE_FORWARD_LOCAL: '0', PERFTRACE_RING_DIR: rings }, 'rank');
    assert.match(r.stderr, /warning: not forwarded any more: \S+: the other side has more of it than there is/);
    assert.match(r.stderr, /has not acknowledged \d+ bytes of \S+; perf-trace-forward sends them/);
    assert.deepStrictEqual(s.find(here, /^traces/), []);
    assert.strictEqual(s.account(s.find(rings, /^traces.*\.jsonl$/)[0]).written, 10000);
});

test('the rank becomes known later', async () => {
    const { here, there, env, collector } = await scene(['--until-done', '--world-size', '1']);
    delete env.PERFTRACE_RANK;
    delete env.PERFTRACE_WORLD_SIZE;
    await life(env, 'rank');
    assert.strictEqual((await collector.done).status, 0, collector.err);
    assert.strictEqual(s.account(s.same(here, there)[0]).written, 10000);
});

test('the standard streams are closed', async () => {
    const { here, there, env } = await scene();
    const r = await s.start('sh', ['-c', 'exec "$0" rank <&- >&- 2>&-', LIFE], env).done;
    assert.strictEqual(r.status, 0);
    assert.strictEqual(s.account(s.same(here, there)[0]).written, 10000);
});

test('a collector that stands still for a while', async () => {
    const { here, there, collector, env } = await scene();
    const w = s.start(s.WORKER, ['200000', '100000', '1'], { ...env, PERFTRACE_FORWARD_WAIT_MS: '120000' });
    await s.until(() => s.bytes(there) > 100000, 'a part has arrived');
    collector.child.kill('SIGSTOP');
    await s.until(() => s.bytes(here) > 20e6, 'the worker goes on');
    collector.child.kill('SIGCONT');
    const r = await w.done;
    assert.match(r.stderr, /note: forwarded \d+ bytes/);
    assert.strictEqual(s.account(s.same(here, there)[0]).emitted, 200000);
});

test('the library for NATS cannot be loaded: told, and the trace is written', async () => {
    const { here, env } = await scene();
    const r = await life({ ...env, PERFTRACE_FORWARD: 'nats://rank:secret@127.0.0.1:1',
                           PERFTRACE_TEST_NATS_LIBRARY: '/nowhere/libperftrace-nats.so' }, 'rank');
    assert.match(r.stderr, /error: nothing is forwarded to nats:\/\/\.\.\.@127\.0\.0\.1:1: .*\/nowhere\/libperftrace-nats\.so/);
    assert.doesNotMatch(r.stderr, /secret/);
    assert.strictEqual(s.account(s.find(here, /^traces/)[0]).written, 10000);
});

// What torchrun and Slurm set; the collector ends when all ranks of it have.
for (const [launcher, of] of [
    ['torchrun', (rank) => ({ RANK: rank, WORLD_SIZE: 3, LOCAL_RANK: rank, LOCAL_WORLD_SIZE: 3, MASTER_ADDR: '127.0.0.1',
                              MASTER_PORT: 29500, TORCHELASTIC_RUN_ID: 'job-17', TORCHELASTIC_RESTART_COUNT: 0 })],
    ['Slurm', (rank) => ({ SLURM_PROCID: rank, SLURM_NTASKS: 3, SLURM_STEP_NUM_TASKS: 3, SLURM_LOCALID: rank,
                           SLURM_JOB_ID: 17, SLURM_STEP_ID: 0, SLURM_NODEID: 0 })]])
    test(`ranks of ${launcher} are found, and the collector ends with the last`, async () => {
        const { there, collector, env } = await scene(['--until-done']);
        for (const name of ['PERFTRACE_RANK', 'PERFTRACE_WORLD_SIZE', 'PERFTRACE_RUN_ID'])
            delete env[name];
        const ranks = [0, 1, 2].map((rank) => s.start(s.WORKER, ['1000', '0', '1'], { ...env,
            ...Object.fromEntries(Object.entries(of(rank)).map(([k, v]) => [k, String(v)])) }));
        for (const r of ranks)
            assert.match((await r.done).stderr, /note: forwarded \d+ bytes/);
        const r = await collector.done;
        assert.strictEqual(r.status, 0, r.stderr);
        assert.match(r.stderr, /3,000 events of 3 ranks in 3 files/);
        const files = s.find(there, /^traces/);
        assert.deepStrictEqual(files.map((f) => path.basename(f)), [0, 1, 2].map((i) => `traces-r${i}.jsonl`));
        assert.strictEqual(new Set(files.map((f) => path.dirname(f))).size, 1, 'one run, one folder');
        files.forEach((f, i) => {
            const header = s.account(f).lines[0].args;
            assert.deepStrictEqual([header.rank, header.world_size], [i, 3]);
        });
    });

test('a collector that is started again when all was collected ends at once, if it knows of which run', async () => {
    for (const [more, rank] of [[[], '0'], [['--one-file', 'trace_events.jsonl'], '0'], [['--rotate-size', '100K'], '0'],
                                [[], undefined]]) {
        const { there, port, collector, env } = await scene(['--until-done', '--run', 'run', ...more]);
        if (rank === undefined) {
            delete env.PERFTRACE_RANK;
            delete env.PERFTRACE_WORLD_SIZE;
        }
        await s.start(s.WORKER, ['10000', '0', '1', 'sessions'], { ...env, PERFTRACE_SESSION_ENABLED: '1',
                                                                   PERFTRACE_ROLE: 'actor' }).done;
        assert.strictEqual((await collector.done).status, 0, collector.err);
        const again = s.start(s.COLLECT, ['--listen', String(port), '-o', there, '--until-done', '--run', 'run', ...more]);
        await s.until(() => again.over, () => `it ends (${more}); so far:\n${again.err}`, 20);
        assert.strictEqual((await again.done).status, 0, again.err);
        assert.match(again.err, /run run: [\d,]+ events of 1 rank in \d files?/);
    }
});

test('perf-trace-run hands on where to forward to, also to workers that inherit nothing', async () => {
    for (const [more, given] of [[[], true], [['--forward'], false]]) {
        const { there, port, collector, env } = await scene(['--until-done', '--token', 'secret']);
        const url = env.PERFTRACE_FORWARD;
        const own = { PERFTRACE_LOG_STDERR: '1', PERFTRACE_DIR: env.PERFTRACE_DIR, PERFTRACE_FORWARD_TOKEN: 'secret',
                      ...(given ? { PERFTRACE_FORWARD: url } : { PERFTRACE_FORWARD: 'off' }) };
        const r = await s.start(process.env.STREAM_RUN, ['-n', '2', '--clean-env', '1', ...more, ...(given ? [] : [url]), '--',
                                                         s.WORKER, '1000', '0', '1'], own).done;
        assert.strictEqual(r.status, 0, r.stderr);
        assert.strictEqual(r.stderr.match(/note: forwarded \d+ bytes/g).length, 2, r.stderr);
        assert.doesNotMatch(r.stderr, /secret/);
        const c = await collector.done;
        assert.match(c.stderr, /2,000 events of 2 ranks in 2 files/, `${port}`);
        assert.strictEqual(c.status, 0);
        s.same(env.PERFTRACE_DIR, there);
    }
});
