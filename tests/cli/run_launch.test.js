// run_launch.test.js: ranks, variables, output and statuses of workers. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const http = require('http');
const { spawn, spawnSync } = require('child_process');
const { TOOL, run, start, folder, files, withFakes, until, sleep, alive } = require('./run_tool.js');

const sh = (script) => ['--', 'sh', '-c', script];

test('ranks are told who they are', async () => {
    const r = await run(['-n', '3', '-q', ...sh(
        'echo $RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE $MASTER_ADDR $MASTER_PORT')]);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.deepStrictEqual(r.stdout.trim().split('\n').sort(), [
        '[rank 0] 0 3 0 3 127.0.0.1 29500', '[rank 1] 1 3 1 3 127.0.0.1 29500',
        '[rank 2] 2 3 2 3 127.0.0.1 29500']);
});

test('closed standard streams', () => {
    for (const closed of ['<&-', '<&- >&-', '<&- >&- 2>&-']) {
        const r = spawnSync('sh', ['-c', `exec "$0" -n 2 -- sh -c 'exit 0' ${closed}`, TOOL]);
        assert.deepStrictEqual([r.status, r.signal], [0, null], `${closed}: ${r.stderr}`);
    }
});

test('the second of two nodes', async () => {
    const r = await run(['-n', '2', '--nodes', '2', '--node-rank', '1', '--master-addr', 'node0',
                         '--master-port', '1234', '--no-prefix', ...sh(
        'echo $RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE $MASTER_ADDR $MASTER_PORT')]);
    assert.deepStrictEqual(r.stdout.trim().split('\n').sort(),
                           ['2 4 0 2 node0 1234', '3 4 1 2 node0 1234']);
});

test('nodes that forward and have no run id in common are told', async () => {
    const args = ['-n', '2', '--nodes', '2', '--forward', 'tcp:127.0.0.1:1', ...sh('echo "$PERFTRACE_RUN_ID"')];
    const alone = await run(args);
    assert.match(alone.stderr, /warning: .*set the same PERFTRACE_RUN_ID on all nodes/);
    const together = await run(args, { env: { PERFTRACE_RUN_ID: 'job-17' } });
    assert.doesNotMatch(together.stderr, /RUN_ID/);
    assert.deepStrictEqual(together.stdout.trim().split('\n').sort(), ['[rank 0] job-17', '[rank 1] job-17']);
    const one = await run(['-n', '2', '--forward', 'tcp:127.0.0.1:1', ...sh('true')]);
    assert.doesNotMatch(one.stderr, /RUN_ID/);
});

test('one worker below another launcher keeps its rank', async () => {
    const env = { OMPI_COMM_WORLD_RANK: '5', OMPI_COMM_WORLD_SIZE: '8' };
    const r = await run(['-b', 'rocprof_sys', '-O', '/p', '--dry-run', '-v', '--', 'train'], { env });
    assert.match(r.stdout, /rlinf_profile_worker_5_%p/);
    assert.doesNotMatch(r.stdout, / RANK=| WORLD_SIZE=/);
    const mine = await run(['-n', '2', ...sh('env')], { env: { RANK: '7', PERFTRACE_RANK: '7' } });
    assert.match(mine.stdout, /^\[rank 1\] RANK=1$/m);
    assert.doesNotMatch(mine.stdout, /PERFTRACE_RANK/);
});

test('what would be started is shown without secrets, and a shell takes it', async () => {
    const env = { PERFTRACE_FORWARD: 'nats://rank:hunter2@10.0.0.1:4222,b', PERFTRACE_FORWARD_TOKEN: 'hunter2',
                  PERFTRACE_CONTROL_TOKEN: 'hunter2' };
    const more = ['WANDB_API_KEY', 'AWS_SECRET_ACCESS_KEY', 'DB_PASSWORD'].flatMap((n) => ['-e', `${n}=hunter2`]);
    const plain = ['-e', 'TOKENIZERS_PARALLELISM=false', '-e', 'HTTPS_PROXY=http://me:hunter2@proxy:3128'];
    const r = await run([...more, ...plain, '--dry-run', '-v', '--', 'train'], { env });
    assert.strictEqual(r.status, 0, r.stderr);
    assert.doesNotMatch(r.stdout + r.stderr, /hunter2/);
    assert.match(r.stdout, / PERFTRACE_FORWARD=nats:\/\/\.\.\.@10\.0\.0\.1:4222,b /);
    for (const name of ['PERFTRACE_FORWARD_TOKEN', 'PERFTRACE_CONTROL_TOKEN', 'WANDB_API_KEY', 'AWS_SECRET_ACCESS_KEY', 'DB_PASSWORD'])
        assert(r.stdout.includes(` ${name}="$${name}" `), `${name} in ${r.stdout}`);
    assert.match(r.stdout, / TOKENIZERS_PARALLELISM=false HTTPS_PROXY=http:\/\/\.\.\.@proxy:3128 /);
});

test('what workers print stays in lines', async () => {
    const script = 'for i in 1 2 3 4 5 6 7 8 9; do printf "%s" "$RANK-" ; printf "%s\\n" $i; done; ' +
                   'printf end; echo problem >&2';
    const r = await run(['-n', '4', ...sh(script)]);
    assert.strictEqual(r.status, 0);
    for (let rank = 0; rank < 4; rank++) {
        const lines = r.stdout.split('\n').filter((l) => l.startsWith(`[rank ${rank}] `))
            .map((l) => l.slice(9));
        assert.deepStrictEqual(lines, [...'123456789'].map((i) => `${rank}-${i}`).concat('end'));
        assert.match(r.stderr, new RegExp(`^\\[rank ${rank}\\] problem$`, 'm'));
    }
    assert.strictEqual(r.stdout.trimEnd().split('\n').length, 40);
});

test('much output through a slow reader', async () => {
    const p = start(['-n', '2', ...sh('head -c 8000000 /dev/zero | tr "\\0" x | fold -w 99; exit 4')]);
    p.child.stdout.pause();
    await sleep(700);
    assert.strictEqual(p.child.exitCode, null);
    p.child.stdout.resume();
    const r = await p.done;
    assert.strictEqual(r.status, 4);
    // The first to fail ends the other, which has perhaps not written all.
    assert.ok(r.stdout.split('\n').filter((l) => /^\[rank [01]\] x{99}$/.test(l)).length >= 80808);
    assert.strictEqual(r.stdout.split('\n').filter((l) => l && !/^\[rank [01]\] x+$/.test(l)).length, 0);
});

test('output goes to files', async () => {
    const dir = folder();
    const r = await run(['-n', '2', '-g', 'Actor', '--log-dir', 'logs/a', ...sh(
        'echo out $RANK; echo err $RANK >&2')], { cwd: dir });
    assert.strictEqual(r.status, 0, r.stderr);
    assert.strictEqual(r.stdout, '');
    for (const rank of [0, 1]) {
        const log = (end) => fs.readFileSync(path.join(dir, 'logs', 'a', `Actor-r${rank}.${end}`), 'utf8');
        assert.strictEqual(log('out'), `out ${rank}\n`);
        assert.strictEqual(log('err'), `err ${rank}\n`);
    }
});

test('only the first worker can read', async () => {
    const p = start(['-n', '2', ...sh('read line; echo "got $line"')]);
    p.child.stdin.end('hello\n');
    const r = await p.done;
    assert.deepStrictEqual(r.stdout.split('\n').filter(Boolean).sort(), ['[rank 0] got hello', '[rank 1] got ']);
});

test('statuses are those of the worker', async () => {
    assert.strictEqual((await run(sh('exit 7'))).status, 7);
    assert.strictEqual((await run(sh('kill -SEGV $$'))).status, 128 + 11);
    assert.strictEqual((await run(sh('kill -9 $$'))).status, 128 + 9);
    assert.strictEqual((await run(['--', '/no/such/program'])).status, 127);
    assert.strictEqual((await run(['--', '/etc/passwd'])).status, 126);
    assert.strictEqual((await run(['true', '--x', '-n'])).status, 0); // options of the command
});

test('when a rank fails the others are asked to end, and then killed', async () => {
    const dir = folder();
    const script = 'if [ $RANK = 1 ]; then sleep 0.3; exit 9; fi; ' +
                   'trap "echo asked > asked$RANK; exit 0" TERM; while :; do sleep 0.05; done';
    const r = await run(['-n', '3', ...sh(script)], { cwd: dir });
    assert.strictEqual(r.status, 9);
    assert.match(r.stderr, /rank 1 has failed \(status 9\): the other workers are asked to end/);
    assert.ok(fs.existsSync(path.join(dir, 'asked0')) && fs.existsSync(path.join(dir, 'asked2')));

    const stubborn = 'if [ $RANK = 1 ]; then exit 9; fi; trap "" TERM; while :; do sleep 0.05; done';
    const k = await run(['-n', '2', '--kill-after', '500ms', ...sh(stubborn)]);
    assert.strictEqual(k.status, 9);
    assert.match(k.stderr, /rank 0: the worker does not end, it is killed/);
    assert.ok(k.seconds < 10);
});

test('each rank that fails is named once, who was ended is not', async () => {
    const named = (r) => [...r.stderr.matchAll(/rank (\d+) has (failed \(status \d+\))/g)]
        .map(([, rank, how]) => `${rank} ${how}`);
    const killed = await run(['-k', '-n', '3', ...sh('[ $RANK = 1 ] && kill -9 $$; exit 0')]);
    assert.strictEqual(killed.status, 137);
    assert.deepStrictEqual(named(killed), ['1 failed (status 137)']);
    const all = await run(['-k', '-n', '3', ...sh('exit $((3 + RANK))')]);
    assert.deepStrictEqual(named(all).sort(), ['0 failed (status 3)', '1 failed (status 4)', '2 failed (status 5)']);
    assert.doesNotMatch(all.stderr, /asked to end/);
    assert.deepStrictEqual(named(await run(sh('exit 7'))), ['0 failed (status 7)']);

    // The last that runs: the other one has been waited for.
    const last = await run(['-n', '2', ...sh('[ $RANK = 0 ] && { echo $$ > pid; exit 0; }; ' +
        'until [ -s pid ]; do sleep 0.05; done; while kill -0 $(cat pid) 2>/dev/null; do sleep 0.05; done; exit 9')],
                           { cwd: folder() });
    assert.strictEqual(last.status, 9);
    assert.deepStrictEqual(named(last), ['1 failed (status 9)']);

    // Those that are asked to end, and answer as they like, or have to be killed.
    const waiting = 'touch up$RANK; while :; do sleep 0.05; done';
    const others = await run(['-n', '4', '--kill-after', '500ms', ...sh(
        'case $RANK in 1) until [ -e up0 -a -e up2 -a -e up3 ]; do sleep 0.05; done; exit 9;; ' +
        `2) trap "exit 3" TERM;; 3) trap "" TERM;; esac; ${waiting}`)], { cwd: folder() });
    assert.strictEqual(others.status, 9);
    assert.deepStrictEqual(named(others), ['1 failed (status 9)']);
    for (const more of [[], ['-k']]) {
        const p = start(['-n', '2', ...more, ...sh('trap "exit 3" TERM; echo ready; while :; do sleep 0.05; done')]);
        await until(() => (p.stdout().match(/ready/g) ?? []).length === 2, 'both are ready');
        p.child.kill('SIGTERM');
        const r = await p.done;
        assert.strictEqual(r.status, 3);
        assert.deepStrictEqual(named(r), []);
    }
    // A signal that is none to end is no excuse, but for who dies of it.
    const p = start(['-k', '-n', '2', ...sh('[ $RANK = 0 ] && trap "exit 6" USR1; echo ready; while :; do sleep 0.05; done')]);
    await until(() => (p.stdout().match(/ready/g) ?? []).length === 2, 'both are ready');
    p.child.kill('SIGUSR1');
    assert.deepStrictEqual(named(await p.done), ['0 failed (status 6)']);
});

test('--keep-going lets them', async () => {
    const r = await run(['-n', '2', '-k', ...sh('[ $RANK = 0 ] && exit 3; sleep 0.5; echo through')]);
    assert.strictEqual(r.status, 3);
    assert.match(r.stdout, /\[rank 1\] through/);
});

test('signals go to the workers', async () => {
    for (const [signal, number] of [['SIGTERM', 15], ['SIGINT', 2], ['SIGUSR1', 10], ['SIGHUP', 1]]) {
        const p = start(['-n', '2', ...sh('echo ready; while :; do sleep 0.05; done')]);
        await until(() => (p.stdout().match(/ready/g) ?? []).length === 2, 'both are ready');
        p.child.kill(signal);
        assert.strictEqual((await p.done).status, 128 + number, signal);
    }
});

test('the tracer is told, whatever is inherited (needs PT-27)', async (t) => {
    if (!process.env.PERFTRACE_TEST_WORKER)
        return t.skip('the traced worker was not built');
    const worker = process.env.PERFTRACE_TEST_WORKER;
    const dir = files({ 'run.yaml': 'perf_tracer: {dir: from-file, categories: [compute]}\n' +
                                    'profiling: {backend: none}\n' });
    // Worker 1 starts with nothing in its environment.
    const env = { PERFTRACE_DIR: 'traces' };
    const r = await run(['-n', '2', '--clean-env', '1', '--', worker], { cwd: dir, env });
    assert.strictEqual(r.status, 0, r.stderr);
    const lines = (d, rank) => fs.readFileSync(path.join(dir, d, `traces-r${rank}.jsonl`), 'utf8')
        .trimEnd().split('\n').map((l) => JSON.parse(l));
    const header = [];
    for (const rank of [0, 1]) {
        const all = lines('traces', rank);
        assert.strictEqual(all.filter((e) => e.name === 'work').length, 10);
        header.push(all[0].args);
    }
    assert.strictEqual(header[1].rank, 1);
    assert.strictEqual(header[1].world_size, 2);
    assert.strictEqual(header[0].run_id, header[1].run_id);
    assert.ok(!fs.readdirSync(dir).includes('perftrace-out'));
    // From the file, and from the command line.
    for (const [args, d] of [[['-c', 'run.yaml'], 'from-file'],
                             [['-c', 'run.yaml', '--trace-dir', 'own'], 'own']]) {
        const f = await run(['-n', '2', '--clean-env', 'all', ...args, '--', worker], { cwd: dir });
        assert.strictEqual(f.status, 0, f.stderr);
        assert.strictEqual(lines(d, 1).filter((e) => e.name === 'work').length, 10);
    }
    // A bad variable is named before anything starts.
    const bad = await run(['--', 'true'], { env: { PERFTRACE_FLUSH_MS: 'soon' } });
    assert.match(bad.stderr, /PERFTRACE_FLUSH_MS/);
});

test('a worker says at its start what it goes by (needs PT-27)', async (t) => {
    const worker = process.env.PERFTRACE_TEST_STEPS_WORKER;
    if (!worker)
        return t.skip('the worker was not built');
    const dir = folder();
    const told = await run(['-n', '2', '--clean-env', '1', '--trace-dir', 'traces', '--', worker],
                           { cwd: dir, env: { PERFTRACE_CATEGORIES: 'compute' } });
    for (const rank of [0, 1]) {
        const lines = told.stderr.split('\n').filter((l) => l.startsWith(`[rank ${rank}] log: `));
        const at = lines.findIndex((l) => l.includes('log: settings: '));
        assert.match(lines[at], /dir=\S*\/traces, .*categories=compute \(environment\); rank=\d, world_size=2/);
        assert.ok(at < lines.findIndex((l) => l.includes('tracing to')), 'before anything is recorded');
    }
    // Nothing reached this one: one line at the start tells it.
    const alone = spawnSync(worker, [], { cwd: dir, env: {}, encoding: 'utf8' });
    const lines = alone.stderr.trim().split('\n');
    assert.strictEqual(lines.filter((l) => l.includes('settings: none was given')).length, 1, alone.stderr);
    assert.ok(lines.findIndex((l) => l.includes('settings:')) < lines.findIndex((l) => l.includes('tracing to')));
});

// Sends a JSON body; the answer's status and object.
const post = (url, body) => new Promise((resolve, reject) => {
    const request = http.request(url, { method: 'POST', headers: { 'Content-Type': 'application/json' } }, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (s) => { text += s; }).on('end', () => resolve({ status: answer.statusCode,
                                                                                              object: JSON.parse(text) }));
    });
    request.on('error', reject).end(JSON.stringify(body));
});

test('a start by HTTP puts files where it asks, without any environment (needs PT-27)', async (t) => {
    const worker = process.env.PERFTRACE_TEST_HTTP_WORKER;
    if (!worker)
        return t.skip('the worker was not built');
    const check = async (url, dir, asked) => {
        const begun = await post(`${url}/start_profile`, { output_dir: asked });
        assert.strictEqual(begun.status, 200, JSON.stringify(begun.object));
        const ended = await post(`${url}/stop_profile`, {});
        const file = ended.object.profiler.last_path;
        assert.strictEqual(path.dirname(file), path.join(fs.realpathSync(dir), 'profiles', asked));
        assert.strictEqual(fs.readFileSync(file, 'utf8'), 'recorded\n');
        return path.basename(file);
    };
    // Two workers of a run, of which the second inherits nothing.
    const dir = folder();
    const p = start(['-n', '2', '--clean-env', '1', '--trace-dir', 'traces', '--', worker], { cwd: dir });
    const urls = () => [...p.stdout().matchAll(/^\[rank (\d)\] url (\S+)$/gm)].sort((a, b) => a[1] - b[1]);
    await until(() => urls().length === 2, 'both are controlled');
    const names = [];
    for (const [, rank, url] of urls())
        names.push(await check(url, dir, `asked-${rank}`));
    assert.notStrictEqual(names[0], names[1]);
    p.child.kill('SIGTERM');
    assert.strictEqual((await p.done).status, 0);
    assert.deepStrictEqual(fs.readdirSync(path.join(dir, 'traces')).filter((f) => f.endsWith('.jsonl')).sort(),
                           ['traces-r0.jsonl', 'traces-r1.jsonl']);
    // One that nobody started for us, with no environment at all.
    const alone = folder();
    const child = spawn(worker, [], { cwd: alone, env: {}, stdio: ['ignore', 'pipe', 'inherit'] });
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (s) => { out += s; });
    await until(() => /url \S+\n/.test(out), 'it is controlled');
    await check(/url (\S+)/.exec(out)[1], alone, 'asked');
    child.kill('SIGTERM');
    await new Promise((resolve) => child.on('close', resolve));
});

test('nothing is made where nothing is profiled', async () => {
    const dir = withFakes({ 'run.yaml': 'backend: nsight\nenabled: false\nworker_groups: all\noutput_dir: made\n' });
    const off = await run(['-c', 'run.yaml', '-g', 'A', '--', 'true'], { cwd: dir });
    assert.strictEqual(off.status, 0, off.stderr);
    const other = await run(['-b', 'nsight', '-O', 'made', '--worker-groups', 'B', '-g', 'A', '--', 'true'],
                            { cwd: dir });
    assert.strictEqual(other.status, 0);
    assert.match(other.stderr, /worker group A is not among worker_groups/);
    const no = await run(['-b', 'nsight', '-O', 'made', '--no-profile', '--', 'true'], { cwd: dir });
    assert.strictEqual(no.status, 0);
    const dry = await run(['-b', 'nsight', '-O', 'made', '--dry-run', '--', 'true'], { cwd: dir });
    assert.strictEqual(dry.status, 0);
    assert.deepStrictEqual(fs.readdirSync(dir).sort(), ['bin', 'run.yaml']);
});

test('a profiler that is not there stops before the start', async () => {
    const dir = folder();
    const r = await run(['-b', 'nsight', '-O', 'made', '--', 'touch', 'started'],
                        { cwd: dir, env: { PATH: '/bin:/usr/bin' } });
    assert.strictEqual(r.status, 127);
    assert.match(r.stderr, /nsys: was not found; needed by backend nsight/);
    assert.deepStrictEqual(fs.readdirSync(dir), []);
    const c = await run(['-b', 'nsight', '-O', 'made', '--', 'no-such-command'], { cwd: withFakes() });
    assert.strictEqual(c.status, 127);
    assert.match(c.stderr, /no-such-command: was not found/);
});

test('a directory that cannot be made', async () => {
    const dir = withFakes({ 'file': 'x' });
    const r = await run(['-b', 'nsight', '-O', 'file/reports', '--', 'true'], { cwd: dir });
    assert.strictEqual(r.status, 4);
    assert.match(r.stderr, /file\/reports: Not a directory/);
});

test('vllm gets its configuration and its time', async () => {
    const dir = folder();
    fs.mkdirSync(path.join(dir, 'bin'));
    fs.writeFileSync(path.join(dir, 'bin', 'vllm'),
                     '#!/bin/sh\nprintf "%s\\n" "$@" "$VLLM_RPC_TIMEOUT"\n', { mode: 0o755 });
    const args = ['-b', 'vllm', '-O', '/data/prof', '-o', 'max_iterations=3', '--', 'vllm', 'serve', 'M'];
    const r = await run(args, { cwd: dir, env: { TMPDIR: dir } });
    // /data/prof cannot be made by everybody: then the words are those of --dry-run.
    const out = r.status === 0 ? r.stdout : (await run(['--dry-run', ...args], { cwd: dir })).stdout;
    assert.match(out, /"torch_profiler_dir": "\/data\/prof"/);
    const own = await run(['-b', 'vllm', '-O', 'prof', '--', 'vllm', 'serve', 'M'], { cwd: dir });
    const words = own.stdout.trimEnd().split('\n');
    assert.deepStrictEqual(words.slice(0, 3), ['serve', 'M', '--profiler-config']);
    assert.deepStrictEqual(JSON.parse(words[3]), { profiler: 'torch',
                                                   torch_profiler_dir: path.join(fs.realpathSync(dir), 'prof') });
    assert.strictEqual(words[4], '1800000');
    const given = await run(['-b', 'vllm', '-O', 'prof', '--', 'vllm', 'serve'],
                            { cwd: dir, env: { VLLM_RPC_TIMEOUT: '77' } });
    assert.match(given.stdout, /\n77\n$/);
});

test('workers do not outlive a run that is over', async () => {
    const p = start(['-n', '2', ...sh('echo pid $$; [ $RANK = 1 ] && exit 1; sleep 100; :')]);
    const r = await p.done;
    for (const [, pid] of r.stdout.matchAll(/pid (\d+)/g))
        assert.ok(!alive(Number(pid)));
});
