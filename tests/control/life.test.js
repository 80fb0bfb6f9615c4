// life.test.js: the control server's beginning and end: addresses, endpoint files, forks, kills,
// shutdown, what it costs. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const { spawn, spawnSync } = require('child_process');
const { start, connect, ask, listens, until, sleep, folder, SANITIZED } = require('./program.js');

const GET = 'GET /health HTTP/1.1\r\nHost: localhost\r\n';

test('addresses: the URL is one that can be asked', async () => {
    for (const [control, url] of [['127.0.0.1:0', /^http:\/\/127\.0\.0\.1:\d+$/], ['127.0.0.2:0', /^http:\/\/127\.0\.0\.2:\d+$/],
        ['localhost:0', /^http:\/\/127\.0\.0\.1:\d+$/], ['[::1]:0', /^http:\/\/\[::1\]:\d+$/], ['0', /^http:\/\/127\.0\.0\.1:\d+$/]]) {
        if (control.includes('::') && !fs.existsSync('/proc/net/if_inet6'))
            continue;
        const p = await start({ PERFTRACE_CONTROL: control });
        assert.match(p.url, url, p.stderr);
        assert.strictEqual((await p.ask('GET', '/health')).status, 200);
        assert.match(p.stderr, new RegExp(`controlled at ${p.url.replace(/[[\]]/g, '\\$&')}`));
        await p.end();
        assert.strictEqual(await listens(p.at), false);
    }
});

test('a relative socket path is of the directory where it began', async () => {
    const dir = folder();
    const p = await start({ PERFTRACE_CONTROL: 'unix:sock' }, { cwd: dir });
    assert.strictEqual(fs.realpathSync(p.at.path), fs.realpathSync(path.join(dir, 'sock')));
    const other = folder();
    fs.writeFileSync(path.join(other, 'sock'), 'not ours');
    await p.say(`chdir ${other}`, 'moved');
    assert.strictEqual((await p.ask('GET', '/health')).status, 200);
    await p.end();
    assert.deepStrictEqual([fs.existsSync(path.join(dir, 'sock')), fs.existsSync(path.join(other, 'sock'))], [false, true]);
});

test('other machines: only with a token', async () => {
    for (const control of ['0.0.0.0:0', '[::]:0']) {
        if (control.includes('::') && !fs.existsSync('/proc/net/if_inet6'))
            continue;
        const p = await start({ PERFTRACE_CONTROL: control });
        assert.doesNotMatch(p.url, /http/);
        assert.match(p.stderr, /error: control is off: other machines can reach .* needs a token \(PERFTRACE_CONTROL_TOKEN\)/);
        assert.deepStrictEqual(p.endpoints(), []);
        await p.end();
    }
    const p = await start({ PERFTRACE_CONTROL: '0.0.0.0:0', PERFTRACE_CONTROL_TOKEN: 'x' });
    assert.doesNotMatch(p.url, /0\.0\.0\.0/);
    const at = { host: '127.0.0.1', port: p.at.port };
    assert.strictEqual((await ask(at, 'GET', '/health')).status, 401);
    assert.strictEqual((await ask(at, 'GET', '/health', { headers: { Authorization: 'Bearer x' } })).status, 200);
    await p.end();
});

test('an address that cannot be had is told, and the program goes on', async () => {
    const dir = folder();
    const first = await start({ PERFTRACE_CONTROL: `unix:${dir}/sock` });
    const tcp = await start();
    fs.writeFileSync(`${dir}/plain`, 'x');
    for (const [control, message] of [[String(tcp.at.port), /address already in use/], [`unix:${dir}/sock`, /address already in use/],
        [`unix:${dir}/plain`, /address already in use/], [`unix:${dir}/none/sock`, /no such file/], ['192.0.2.1:0', /token/],
        ['here', /a port is a number/], ['localhost', /a port is a number/], [`unix:${'x'.repeat(200)}`, /107 bytes/]]) {
        const p = await start({ PERFTRACE_CONTROL: control });
        assert.strictEqual(p.status, 0);
        assert.doesNotMatch(p.url, /http|unix/);
        assert.match(p.stderr, /error: control is off: /);
        assert.match(p.stderr, message);
        await p.say('step 1', 'stepped');
        await p.end();
        assert.deepStrictEqual(p.endpoints(), []);
    }
    assert.strictEqual(fs.readFileSync(`${dir}/plain`, 'utf8'), 'x');
    assert.strictEqual((await first.ask('GET', '/health')).status, 200);
    await first.end();
    await tcp.end();
});

test('a killed process leaves a file and a socket, which the next one replaces', async () => {
    const dir = folder();
    const env = { PERFTRACE_DIR: dir, PERFTRACE_CONTROL: `unix:${dir}/sock` };
    for (let i = 0; i < 3; i++) {
        const p = await start(env);
        assert.strictEqual((await p.ask('GET', '/health')).status, 200);
        p.child.kill('SIGKILL');
        await p.ended;
        assert.deepStrictEqual(p.endpoints(), ['control-r0.endpoint']);
        assert.ok(fs.existsSync(`${dir}/sock`));
    }
    const p = await start(env);
    assert.strictEqual(JSON.parse(fs.readFileSync(`${dir}/control-r0.endpoint`)).pid, p.pid);
    const second = await start({ PERFTRACE_DIR: dir });
    assert.deepStrictEqual(p.endpoints(), ['control-r0.1.endpoint', 'control-r0.endpoint']);
    await p.end();
    await second.end();
    assert.deepStrictEqual(p.endpoints(), []);
});

test('a directory that cannot be written is told; the server is there all the same', async () => {
    const dir = folder();
    fs.writeFileSync(`${dir}/file`, '');
    const p = await start({ PERFTRACE_DIR: `${dir}/file/below`, PERFTRACE_RING_DIR: dir }, { cwd: dir });
    assert.match(p.stderr, /warning: no endpoint file can be made in .*; controlled at http/);
    assert.strictEqual((await p.ask('GET', '/health')).status, 200);
    await p.end();
});

test('a forked child holds no socket', async () => {
    const p = await start();
    const c = connect(p.at);
    await c.open;
    c.socket.write(GET); // a request in flight
    await sleep(20);
    await p.say('hold parent 0');
    await p.ask('POST', '/hold');
    const [pid, sockets, held, status] = (await p.say('fork', 'child')).map(Number);
    assert.strictEqual(sockets, 0);
    assert.strictEqual(held, 0); // nobody could end it
    assert.ok(status < 0);
    c.socket.write('\r\n');
    await until(() => / 200 /.test(c.text()));
    c.socket.destroy();
    p.child.kill('SIGKILL');
    await new Promise((done) => p.child.on('exit', done));
    assert.doesNotThrow(() => process.kill(pid, 0));
    assert.strictEqual(await listens(p.at), false);
    process.kill(pid, 'SIGKILL');
});

test('forks while clients come and go: no child keeps a socket', async () => {
    const p = await start();
    let on = true;
    const client = async () => {
        while (on) {
            const c = connect(p.at);
            c.socket.write(`${GET}${Math.random() < 0.5 ? 'Connection: close\r\n' : ''}\r\n`);
            await c.open;
            await sleep(Math.random() * 3);
            c.socket.destroy();
        }
    };
    const clients = Array.from({ length: 16 }, client);
    const [n, bad] = (await p.say(`forks ${SANITIZED ? 100 : 1000}`, 'forked', 120000)).map(Number);
    on = false;
    await Promise.all(clients);
    assert.strictEqual(bad, 0, `${bad} of ${n}`);
    await p.end();
});

test('started and stopped again and again, nothing is left', async () => {
    const p = await start();
    await p.say('cycle 10', 'cycled', 60000);
    const before = (await p.say('cost', 'cost')).map(Number);
    assert.deepStrictEqual(await p.say('cycle 100', 'cycled', 120000), ['0']);
    const after = (await p.say('cost', 'cost')).map(Number);
    assert.deepStrictEqual(after.slice(0, 2), before.slice(0, 2), 'descriptors and threads');
    if (!SANITIZED)
        assert.ok(after[2] - before[2] < 8192, `${after[2] - before[2]} KiB`);
    await p.say('url');
    await p.look();
    assert.strictEqual((await p.ask('GET', '/health')).status, 200);
    assert.deepStrictEqual(p.endpoints(), ['control-r0.endpoint']);
    await p.end();
});

test('shutdown ends holds, connections and requests; from several threads at once', async () => {
    const p = await start();
    const idle = connect(p.at), half = connect(p.at);
    await idle.open;
    half.socket.write(GET);
    await p.ask('POST', '/hold');
    await p.say('hold here 0', 'holding');
    await until(async () => (await p.ask('GET', '/status')).json.hold.waiting.length === 1);
    const [status, ms] = (await p.say('shutdown 8', 'shut')).map(Number);
    assert.strictEqual(status, 0);
    assert.ok(ms < 3000);
    assert.strictEqual((await p.line('held'))[1], '1');
    await idle.over;
    await half.over;
    assert.strictEqual(await listens(p.at), false);
    assert.deepStrictEqual(p.endpoints(), []);
    await p.say('hold after 0');
    assert.ok(Number((await p.line('held'))[1]) <= 0);
    assert.deepStrictEqual(await p.say('init', 'init'), ['0']); // and again
    await p.say('url');
    await p.look();
    assert.strictEqual((await p.ask('GET', '/health')).status, 200);
    assert.strictEqual((await p.ask('GET', '/status')).json.hold.on, false);
    await p.end();
});

test('a flush that hangs in the disk: others are served, and shutdown is bounded', async (t) => {
    const shim = process.env.CONTROL_SHIM;
    if (!shim || SANITIZED) {
        t.skip('the shim that stops the disk is not in this build');
        return;
    }
    const dir = folder();
    const block = `${dir}/block`;
    const p = await start({ LD_PRELOAD: shim, FAULT_BLOCK: block, PERFTRACE_SHUTDOWN_MS: '500', PERFTRACE_FLUSH_MS: '60000' });
    fs.writeFileSync(block, '');
    await p.say('step 1', 'stepped'); // written by nobody any more
    const hung = Array.from({ length: 10 }, () => {
        const c = connect(p.at);
        c.socket.write('POST /flush HTTP/1.1\r\nHost: localhost\r\nContent-Length: 15\r\n\r\n{"force": true}');
        return c;
    });
    await sleep(100);
    assert.ok(hung.every((c) => c.data.length === 0));
    for (const route of ['/health', '/status', '/stats', '/metrics', '/scopes'])
        assert.strictEqual((await p.ask('GET', route)).status, 200);
    hung[0].socket.destroy();
    const [status, ms] = (await p.say('shutdown', 'shut')).map(Number);
    assert.ok(status < 0); // a timeout is told
    assert.ok(ms >= 400 && ms < 2000, `${ms} ms`);
    await Promise.all(hung.map((c) => c.over));
    fs.rmSync(block);
    await sleep(200); // the jobs end on their own
    await p.end();
});

test('a program that closes all descriptors lives on', async (t) => {
    if (SANITIZED === 'thread') {
        t.skip('closing what other threads use is a race, as ThreadSanitizer rightly says');
        return;
    }
    // To look for leaks its threads would be stopped, which ends libuv's sleep.
    const p = await start({ ASAN_OPTIONS: 'detect_leaks=0' });
    const c = connect(p.at);
    c.socket.write(`${GET}\r\n`);
    await until(() => / 200 /.test(c.text()));
    await sleep(200); // it sleeps again
    await p.say('closefds', 'closed');
    await p.say('step 1', 'stepped');
    c.socket.destroy();
    p.child.stdin.end();
    const end = await Promise.race([p.ended, sleep(20000).then(() => 'it hangs')]);
    assert.notStrictEqual(end, 'it hangs');
    assert.deepStrictEqual(end, { code: 0, signal: null }, p.stderr);
});

test('a program whose standard streams are closed', () => {
    for (const closed of ['<&-', '<&- >&-', '<&- >&- 2>&-']) {
        const dir = folder();
        const r = spawnSync('sh', ['-c', `exec "$0" ${closed}`, process.env.CONTROL_PROG], {
            env: { ...process.env, PERFTRACE_DIR: dir, PERFTRACE_RING_DIR: dir, PERFTRACE_RANK: '0', PERFTRACE_CONTROL: 'on' } });
        assert.deepStrictEqual([r.status, r.signal], [0, null], `${closed}: ${r.stderr}`);
        assert.deepStrictEqual(fs.readdirSync(dir), ['traces-r0.jsonl']);
    }
});

test('an idle server makes no system call for 5 s', { timeout: 60000 }, async (t) => {
    if (spawnSync('strace', ['-V']).error) {
        t.skip('strace is not installed');
        return;
    }
    const p = await start();
    assert.strictEqual((await p.ask('GET', '/health')).status, 200);
    const idle = connect(p.at);
    idle.socket.write(`${GET}\r\n`); // a connection that stays
    await until(() => / 200 /.test(idle.text()));
    const tids = fs.readdirSync(`/proc/${p.pid}/task`);
    const tid = tids.find((id) => fs.readFileSync(`/proc/${p.pid}/task/${id}/comm`, 'utf8') === 'perftrace-ctl\n');
    assert.ok(tid);
    const file = path.join(p.dir, 'strace');
    const strace = spawn('strace', ['-f', '-o', file, '-p', String(p.pid)], { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    strace.stderr.on('data', (d) => { said += d; });
    await until(() => /attached/.test(said) || strace.exitCode !== null);
    if (!/attached/.test(said)) {
        t.skip(`strace may not look here: ${said}`);
        return p.end();
    }
    await sleep(5000);
    const calls = () => fs.readFileSync(file, 'utf8').split('\n').filter((l) => l.split(' ')[0] === tid);
    // What it sleeps in is shown once, when strace comes.
    assert.ok(calls().length <= 1 && calls().every((l) => /epoll_(p?wait|pwait2)|restart_syscall/.test(l)), calls().join('\n'));
    await p.ask('GET', '/health');
    await until(() => calls().length > 3); // it does see them
    strace.kill('SIGINT');
    idle.socket.destroy();
    await p.end();
});

test('an idle server takes no more than 1 MB', async (t) => {
    if (SANITIZED) {
        t.skip('a sanitizer takes memory of its own');
        return;
    }
    const rss = async (PERFTRACE_CONTROL) => {
        const p = await start({ PERFTRACE_CONTROL });
        if (PERFTRACE_CONTROL === 'on')
            for (const route of ['/', '/health', '/status', '/stats', '/metrics', '/scopes'])
                await p.ask('GET', route);
        const [, , kb] = (await p.say('cost', 'cost')).map(Number);
        await p.end();
        return kb;
    };
    const all = [];
    for (let i = 0; i < 5; i++)
        all.push(await rss('on') - await rss('off'));
    const middle = all.sort((a, b) => a - b)[2];
    t.diagnostic(`${middle} KiB`);
    assert.ok(middle <= 1024, `${all} KiB`);
});
