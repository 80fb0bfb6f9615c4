// live_state.test.js: what perf-trace-live tells of running, stopped, dead and damaged processes.
// SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const crypto = require('crypto');
const fs = require('fs');
const { spawnSync } = require('child_process');
const { TOOL, WORKER, folder, environment, start, rank, end, run, look, stackOf, sleep, path } = require('./live_tool.js');

const only = (view) => {
    assert.strictEqual(view.processes.length, 1, JSON.stringify(view));
    return view.processes[0];
};

test('rank, step, scopes with their ages, nothing lost', async () => {
    const dir = folder();
    const worker = await rank(dir, 1, 4, ['elsewhere'], { PERFTRACE_ROLE: 'actor' });
    const p = only(look([dir]));
    assert.deepStrictEqual([p.rank, p.world_size, p.role, p.pid, p.state, p.step, p.lost, p.problem],
                           [1, 4, 'actor', worker.pid, 'running', 12, {}, null]);
    assert.strictEqual(p.trace, path.join(dir, 'traces-r1.jsonl'));
    const [thread] = p.threads;
    assert.strictEqual(p.threads.length, 1);
    assert.deepStrictEqual([thread.tid, thread.whole, thread.moved, thread.events_per_s], [worker.pid, true, false, 0]);
    assert.deepStrictEqual(thread.scopes.map((s) => [s.name, s.category, s.step]),
                           [['train.step', 'compute', 12], ['load_batch', 'io', 12]]);
    // The outer scope began before the inner one; the instant came after both.
    const [outer, inner] = thread.scopes;
    assert.ok(outer.age_s >= inner.age_s && inner.age_s >= thread.still_s && thread.still_s > 0);
    assert.strictEqual(thread.still_exact, true);
    assert.ok(p.ran_s >= outer.age_s);
    await end(worker);
});

test('the same process by its number, its ring, its link, its trace and its directory', async () => {
    const top = folder(), rings = folder(), dir = path.join(top, 'run', 'actor');
    const worker = await rank(dir, 0, 1, ['elsewhere'], { PERFTRACE_RING_DIR: rings });
    const ring = path.join(rings, fs.readdirSync(rings).find((f) => f.endsWith('.ring')));
    for (const args of [['--ring-dir', rings, '--pid', String(worker.pid)], [ring], [path.join(dir, 'traces-r0.ring')],
        [path.join(dir, 'traces-r0.jsonl')], [dir], [rings], ['-r', top],
        [dir, rings, ring, '--ring-dir', rings]]) {
        const found = look(args).processes.filter((p) => p.pid === worker.pid);
        assert.strictEqual(found.length, 1, args.join(' '));
        assert.deepStrictEqual(stackOf(found[0].threads[0]), ['train.step', 'load_batch']);
    }
    // With nothing named it is among all of this user's.
    const all = run(['--once', '--json', '--ring-dir', rings]);
    assert.ok(JSON.parse(all.stdout).processes.some((p) => p.pid === worker.pid), all.stderr);
    await end(worker);
});

test('a process that was stopped, and goes on', async () => {
    const dir = folder();
    const worker = await rank(dir, 0, 1, ['elsewhere']);
    worker.kill('SIGSTOP');
    while (!/^\d+ \(.*\) T/s.test(fs.readFileSync(`/proc/${worker.pid}/stat`, 'utf8')))
        await sleep(5);
    const p = only(look([dir]));
    assert.strictEqual(p.state, 'stopped');
    assert.deepStrictEqual(stackOf(p.threads[0]), ['train.step', 'load_batch']);
    worker.kill('SIGCONT');
    while (/^\d+ \(.*\) T/s.test(fs.readFileSync(`/proc/${worker.pid}/stat`, 'utf8')))
        await sleep(5);
    assert.strictEqual(only(look([dir])).state, 'running');
    await end(worker);
});

test('a killed process is shown as it ended, and does not grow older', async () => {
    const dir = folder();
    const worker = await rank(dir, 0, 1, ['elsewhere']);
    await end(worker);
    const first = only(look([dir])), second = only(look(['--stuck', '0', dir]));
    assert.strictEqual(first.state, 'dead');
    assert.deepStrictEqual(stackOf(first.threads[0]), ['train.step', 'load_batch']);
    assert.deepStrictEqual(second, { ...first, threads: second.threads });
    assert.deepStrictEqual(second.threads[0].scopes, first.threads[0].scopes);
    assert.strictEqual(second.threads[0].stuck, false); // what is dead is not stuck
});

test('a process that ended well has left nothing to be seen', async () => {
    const dir = folder();
    const worker = await rank(dir, 0, 1, ['brief']);
    assert.deepStrictEqual(stackOf(only(look([dir])).threads[0]), ['brief']);
    const ring = fs.readlinkSync(path.join(dir, 'traces-r0.ring'));
    worker.stdin.end();
    assert.deepStrictEqual(await worker.ended, { status: 0, signal: null });
    for (const args of [[dir], [ring], [path.join(dir, 'traces-r0.jsonl')], ['--pid', String(worker.pid)]])
        assert.strictEqual(run(['--once', ...args]).status, 3, args.join(' '));
});

test('parent and child are two processes', async () => {
    const dir = folder();
    const worker = await rank(dir, 0, 1, ['forked']);
    const view = look([dir]);
    const stacks = Object.fromEntries(view.processes.map((p) => [p.pid, stackOf(p.threads.find((t) => t.tid === p.pid))]));
    assert.strictEqual(view.processes.length, 2);
    assert.deepStrictEqual(stacks[worker.pid], ['parent']);
    delete stacks[worker.pid];
    const [[child, stack]] = Object.entries(stacks);
    assert.deepStrictEqual(stack, ['child']);
    process.kill(Number(child), 'SIGKILL');
    await end(worker);
});

test('losses by cause', async () => {
    const dir = folder();
    const worker = await rank(dir, 0, 1, ['losses'], { PERFTRACE_MAX_THREADS: '1' });
    assert.deepStrictEqual(only(look([dir])).lost, { no_slot: 7 });
    assert.match(run(['--once', dir]).stdout, / no_slot 7 /);
    await end(worker);
});

test('a scope in which events come is not stuck, however long it is open', async () => {
    const dir = folder();
    const worker = await rank(dir, 0, 1, ['beating']);
    const view = look(['--stuck', '0', '--interval', '0.5', dir]);
    const [thread] = only(view).threads;
    assert.deepStrictEqual([thread.moved, thread.stuck, view.stuck], [true, false, []]);
    assert.ok(thread.events_per_s > 0 && thread.events_per_s < 60, String(thread.events_per_s));
    assert.ok(thread.still_s <= 0.6 && thread.scopes[0].age_s > thread.still_s);
    await end(worker);
});

// ---- what is looked at is not touched ----

test('the ring file of a stopped process is the same after a hundred looks', async () => {
    const dir = folder();
    const worker = await rank(dir, 0, 1, ['elsewhere'], { PERFTRACE_MAX_THREADS: '8' });
    worker.kill('SIGSTOP');
    const ring = fs.realpathSync(path.join(dir, 'traces-r0.ring'));
    const state = () => {
        const st = fs.statSync(ring);
        return [st.size, st.blocks, st.mtimeMs, st.ctimeMs, crypto.createHash('sha256').update(fs.readFileSync(ring)).digest('hex')];
    };
    const before = state();
    const r = run(['--count', '100', '--interval', '0.001', '--json', dir]);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.strictEqual(r.stdout.trimEnd().split('\n').length, 100);
    assert.deepStrictEqual(state(), before);
    await end(worker);
});

const traces = spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0;
const skip = traces ? false : 'strace does not work here';

test('a watched process makes no system call of its own for it', { skip }, async () => {
    const dir = folder(), log = path.join(dir, 'strace');
    // Its drain sleeps for a minute, so that nothing else is to be seen.
    const worker = await rank(dir, 0, 1, ['elsewhere'], { PERFTRACE_FLUSH_MS: '60000' },
                              ['strace', '-f', '-o', log, WORKER]);
    const calls = () => fs.readFileSync(log, 'utf8').split('\n').length;
    let before = -1;
    while (before !== calls()) { // until both threads are asleep
        before = calls();
        await sleep(300);
    }
    const r = run(['--count', '200', '--interval', '0.001', '--json', dir]);
    assert.strictEqual(r.status, 0, r.stderr);
    const last = JSON.parse(r.stdout.trimEnd().split('\n').pop());
    assert.deepStrictEqual(stackOf(only(last).threads[0]), ['train.step', 'load_batch']);
    assert.strictEqual(calls(), before);
    process.kill(only(last).pid, 'SIGKILL'); // and strace ends with it
    await worker.ended;
});

test('the tool opens and maps for reading, and sends nothing', { skip }, async () => {
    const dir = folder(), log = path.join(dir, 'strace');
    const worker = await rank(dir, 0, 1, ['elsewhere']);
    const r = spawnSync('strace', ['-f', '-o', log, TOOL, '--once', dir], { encoding: 'utf8', env: environment({ ASAN_OPTIONS: 'detect_leaks=0' }) });
    assert.strictEqual(r.status, 0, r.stderr);
    const calls = fs.readFileSync(log, 'utf8').split('\n');
    assert.ok(calls.some((l) => /openat\(.*\.ring/.test(l)));
    assert.deepStrictEqual(calls.filter((l) => /open(at)?\(/.test(l) && /O_(WRONLY|RDWR|CREAT|TRUNC)/.test(l)), []);
    const shared = calls.filter((l) => /mmap\(/.test(l) && /MAP_SHARED/.test(l));
    assert.ok(shared.length > 0);
    assert.deepStrictEqual(shared.filter((l) => !/PROT_READ, MAP_SHARED/.test(l)), []);
    assert.deepStrictEqual(calls.filter((l) => /\b(t?g?kill|ptrace|process_vm_\w+|futex_wake|flock|unlink\w*|rename\w*|f?truncate|pidfd_\w+)\(/.test(l)), []);
    assert.deepStrictEqual(calls.filter((l) => /fcntl\(.*F_(OFD_)?SETLK/.test(l)), []);
    await end(worker);
});

// ---- files that are no good ----

// A copy of a ring, changed.
function copyOf(ring, name, change) {
    const file = path.join(folder(), name);
    spawnSync('cp', ['--sparse=always', ring, file]);
    const fd = fs.openSync(file, 'r+');
    change(fd);
    fs.closeSync(fd);
    return file;
}

test('files of other versions, cut and foreign ones are told, and the rest is shown', async () => {
    const dir = folder();
    const worker = await rank(dir, 3, 4, ['elsewhere']);
    const ring = fs.realpathSync(path.join(dir, 'traces-r3.ring'));
    const put = (at, ...bytes) => (fd) => fs.writeSync(fd, Buffer.from(bytes), 0, bytes.length, at);
    const bad = [
        [copyOf(ring, 'version.ring', put(8, 2)), 'it was written by another version of the library'],
        [copyOf(ring, 'order.ring', put(12, 1, 2, 3, 4)), 'it was written by a machine of the other byte order'],
        [copyOf(ring, 'magic.ring', put(0, 0)), 'it is no ring file, or its creation was not finished'],
        [copyOf(ring, 'short.ring', (fd) => fs.ftruncateSync(fd, 1000)), 'it is too short for a ring file'],
        [copyOf(ring, 'log.ring', (fd) => fs.ftruncateSync(fd, 70000)), 'its log does not lie where it should'],
    ];
    const view = look([...bad.map(([file]) => file), dir], 3);
    assert.deepStrictEqual(view.problems, bad.map(([file, text]) => ({ ring: file, text })));
    assert.deepStrictEqual([only(view).rank, only(view).problem], [3, null]);
    const text = run(['--once', ...bad.map(([file]) => file), dir]);
    assert.strictEqual(text.status, 3);
    for (const [file, why] of bad)
        assert.ok(text.stderr.includes(`${file}: ${why}\n`), text.stderr);
    assert.match(text.stdout, /load_batch/);
    // Without its slots there are no threads; it is said that it was cut.
    const cut = copyOf(ring, 'slots.ring', (fd) => fs.ftruncateSync(fd, 65536 + (16 << 20) + 100));
    assert.deepStrictEqual([only(look([cut])).threads, only(look([cut])).problem],
                           [[], 'it was cut short; some threads are missing']);
    await end(worker);
});

test('a ring that may not be read', { skip: process.getuid() === 0 ? false : 'only root can be two users' }, async () => {
    const dir = folder(), rings = folder();
    fs.chmodSync(dir, 0o755);
    fs.chmodSync(rings, 0o755);
    const worker = await rank(dir, 0, 1, ['elsewhere'], { PERFTRACE_RING_DIR: rings });
    const ring = path.join(rings, fs.readdirSync(rings)[0]);
    const other = { uid: 65534, gid: 65534 };
    if (spawnSync(TOOL, ['--version'], other).status !== 0)
        return; // another user cannot reach the tool where it was built
    for (const args of [[ring], ['--ring-dir', rings, '--all-users'], ['--ring-dir', rings, '--pid', String(worker.pid)]]) {
        const r = run(['--once', ...args], other);
        assert.strictEqual(r.status, 3, args.join(' '));
        assert.ok(r.stderr.includes(`${ring}: Permission denied`), r.stderr);
    }
    await end(worker);
});
