// routes.test.js: what each route of the control server answers. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const { spawn, spawnSync } = require('child_process');
const { start, ask, until, folder } = require('./program.js');

const ROUTES = { GET: ['/', '/health', '/status', '/stats', '/metrics', '/scopes'], POST: ['/flush', '/hold', '/resume'] };

test('every route answers, HEAD without a body, other methods with 405', async () => {
    const p = await start();
    for (const route of ROUTES.GET) {
        const get = await p.ask('GET', route);
        const head = await p.ask('HEAD', route);
        assert.strictEqual(get.status, 200, route);
        assert.strictEqual(head.status, 200, route);
        assert.strictEqual(head.body, '');
        assert.strictEqual(Number(get.headers['content-length']), Buffer.byteLength(get.body));
        assert.ok(Number(head.headers['content-length']) > 0);
        const json = route !== '/' && route !== '/metrics';
        assert.match(get.headers['content-type'], json ? /^application\/json$/ : /^text\/plain; /);
        assert.strictEqual(get.headers['cache-control'], 'no-store');
        for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']) {
            const a = await p.ask(method, route);
            assert.strictEqual(a.status, 405, `${method} ${route}`);
            assert.strictEqual(a.headers.allow, 'GET, HEAD');
            assert.match(a.json.error, /takes GET, HEAD$/);
        }
    }
    for (const route of ROUTES.POST) {
        assert.strictEqual((await p.ask('POST', route)).status, 200, route);
        for (const method of ['GET', 'HEAD', 'PUT', 'OPTIONS']) {
            const a = await p.ask(method, route);
            assert.strictEqual(a.status, 405);
            assert.strictEqual(a.headers.allow, 'POST');
        }
    }
    for (const target of ['/nothing', '/status/', '/STATUS', '/../status', '//', '/%00', '/a"b\\c\xff']) {
        const a = await p.ask('GET', target);
        assert.strictEqual(a.status, 404, target);
        assert.match(a.json.error, /^there is no \//);
        assert.strictEqual(a.headers.allow, undefined);
    }
    assert.match((await p.ask('GET', '/')).body, /GET +\/health .*\n/);
    assert.strictEqual((await p.ask('GET', '/health?x=1')).json.status, 'ok');
    assert.strictEqual((await p.ask('GET', 'http://localhost/health')).json.status, 'ok');
    await p.end();
});

test('curl is served, over TCP and over a socket file', async (t) => {
    if (spawnSync('curl', ['--version']).error) {
        t.skip('curl is not installed');
        return;
    }
    const dir = folder();
    for (const control of ['on', `unix:${dir}/sock`]) {
        const p = await start({ PERFTRACE_CONTROL: control });
        const where = control === 'on' ? [p.url] : ['--unix-socket', p.at.path, 'http://localhost'];
        const curl = (route, ...more) => {
            const last = where[where.length - 1] + route;
            const r = spawnSync('curl', ['-sS', '-m', '20', '-w', '\\n%{http_code}', ...more, ...where.slice(0, -1), last], { encoding: 'utf8' });
            assert.strictEqual(r.status, 0, r.stderr);
            const [, body, code] = /^([^]*)\n(\d+)$/.exec(r.stdout);
            return { body, code: Number(code) };
        };
        assert.deepStrictEqual(curl('/health'), { body: '{"status": "ok"}\n', code: 200 });
        assert.strictEqual(JSON.parse(curl('/flush', '-d', '{"force": true}').body).flushed, true);
        assert.strictEqual(curl('/flush', '-H', 'Transfer-Encoding: chunked', '-d', '{}').code, 200);
        assert.strictEqual(curl('/flush', '--http2', '-d', '{}').code, 200);
        assert.strictEqual(curl('/flush', '-H', 'Expect: 100-continue', '-d', '{}').code, 200);
        assert.strictEqual(curl('/health', '-I').code, 200);
        fs.writeFileSync(path.join(dir, 'big'), Buffer.alloc(3 << 20, ' '));
        assert.strictEqual(curl('/flush', '--data-binary', `@${dir}/big`).code, 413);
        if (control !== 'on')
            assert.strictEqual(fs.statSync(p.at.path).mode & 0o777, 0o600);
        await p.end();
    }
    assert.ok(!fs.existsSync(`${dir}/sock`), 'the socket file is left');
});

test('wrk asks for all that it can; the program goes on meanwhile', async (t) => {
    if (spawnSync('wrk', ['--version']).error) {
        t.skip('wrk is not installed');
        return;
    }
    const p = await start();
    // Few enough for the limit of 64 while those of the wrk before are being closed.
    let steps = 0;
    for (const route of ['/status', '/scopes', '/metrics']) {
        const child = spawn('wrk', ['-t', '2', '-c', '16', '-d', '1s', p.url + route]);
        let out = '';
        child.stdout.setEncoding('utf8').on('data', (s) => { out += s; });
        const over = new Promise((done) => child.on('close', (status) => done(status)));
        let status;
        over.then((s) => { status = s; });
        for (; status === undefined; steps++)
            await p.say(`step ${steps}`, 'stepped');
        assert.strictEqual(status, 0, out);
        assert.ok(Number(/^ +(\d+) requests in/m.exec(out)[1]) > 32, out);
        assert.doesNotMatch(out, /Non-2xx|Socket errors/);
    }
    assert.strictEqual((await p.ask('GET', '/status')).json.global_step, steps - 1);
    await p.end();
});

test('bodies: JSON objects or nothing', async () => {
    const p = await start();
    for (const route of ROUTES.POST) {
        for (const body of ['', '{}', ' {"x": [1, {"y": null}]} ', '\uFEFF{}'])
            assert.strictEqual((await p.ask('POST', route, { body })).status, 200, `${route} ${body}`);
        for (const body of ['{', '}', '{"force": tru}', "{'force': true}", '{"a": 1,}', '{} {}', '\0', 'x'.repeat(1000),
                            '['.repeat(100000), '{"a":'.repeat(50000), '"\\ud800', '[]', '1', '"force"', 'null']) {
            const a = await p.ask('POST', route, { body });
            assert.strictEqual(a.status, 400, `${route} ${body.slice(0, 20)}`);
            assert.match(a.json.error, /^the body is no JSON/);
        }
    }
    for (const force of ['1', '"true"', 'null', '{}'])
        assert.strictEqual((await p.ask('POST', '/flush', { body: `{"force": ${force}}` })).status, 422);
    await p.end();
});

test('a flush writes what was recorded', async () => {
    const p = await start({ PERFTRACE_FLUSH_MS: '60000' });
    for (let i = 0; i < 5; i++)
        await p.say(`step ${i}`, 'stepped');
    const trace = (await p.ask('GET', '/status')).json.trace;
    const steps = () => fs.readFileSync(trace, 'utf8').split('\n').filter((l) => l && JSON.parse(l).name === 'step').length;
    assert.strictEqual(steps(), 0);
    assert.strictEqual((await p.ask('POST', '/flush')).json.flushed, true);
    assert.strictEqual(steps(), 5);
    await p.end();
});

test('status says who this is', async () => {
    const p = await start({ PERFTRACE_RANK: '3', PERFTRACE_WORLD_SIZE: '8', PERFTRACE_ROLE: 'a"\\\n\xff' });
    await p.say('step 42', 'stepped');
    const s = (await p.ask('GET', '/status')).json;
    assert.strictEqual(s.pid, p.pid);
    assert.strictEqual(s.rank, 3);
    assert.strictEqual(s.world_size, 8);
    assert.strictEqual(s.active, true);
    assert.strictEqual(s.enabled, true);
    assert.strictEqual(s.dir, p.dir);
    assert.strictEqual(s.global_step, 42);
    assert.ok(s.seconds >= 0 && s.seconds < 60);
    assert.ok(fs.existsSync(s.trace));
    assert.deepStrictEqual(s.hold, { on: false, waiting: [] });
    const [file] = p.endpoints();
    assert.strictEqual(file, 'control-r3.endpoint');
    const e = JSON.parse(fs.readFileSync(path.join(p.dir, file), 'utf8'));
    assert.deepStrictEqual([e.url, e.rank, e.world_size, e.pid, e.token, e.role, e.host],
                           [p.url, 3, 8, p.pid, false, s.role, s.host]);
    await p.end();
    assert.deepStrictEqual(p.endpoints(), []);
});

// ---- Prometheus' text form, version 0.0.4 ----

// Strict: names, labels, escapes, order (HELP, TYPE, samples together), no sample twice.
function prometheus(text) {
    assert.ok(text.endsWith('\n'));
    const samples = new Map(), types = new Map(), helped = new Set();
    let family = null;
    for (const line of text.slice(0, -1).split('\n')) {
        let m = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/.exec(line);
        if (m && m[1] === 'HELP') {
            assert.ok(!helped.has(m[2]), line);
            assert.ok(!/\\(?![\\n])/.test(m[3]), line);
            helped.add(m[2]);
            family = m[2];
        } else if (m) {
            assert.strictEqual(m[2], family, line);
            assert.ok(['counter', 'gauge'].includes(m[3]) && !types.has(m[2]), line);
            assert.strictEqual(m[3] === 'counter', m[2].endsWith('_total'), line);
            types.set(m[2], m[3]);
        } else {
            m = /^([a-zA-Z_:][a-zA-Z0-9_:]*)\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*",?)*)\} (\d+)$/.exec(line);
            assert.ok(m, `no sample: ${line}`);
            assert.ok(m[1] === family && types.has(family), line);
            const key = `${m[1]}{${m[2]}}`;
            assert.ok(!m[2].endsWith(',') && !samples.has(key), line);
            samples.set(key, Number(m[3]));
        }
    }
    assert.strictEqual(types.size, helped.size);
    return samples;
}

test('metrics are valid and say what stats say', async () => {
    // Bytes that are no UTF-8, by a shell: node's strings have none.
    const p = await start({ PERFTRACE_PROG: process.env.CONTROL_PROG },
                          { command: 'bash', args: ['-c', 'export PERFTRACE_ROLE=$\'q"b\\\\n\\n\\xff\\r\'; exec "$PERFTRACE_PROG"'] });
    for (let i = 0; i < 7; i++)
        await p.say(`step ${i}`, 'stepped');
    await p.ask('POST', '/flush');
    const stats = (await p.ask('GET', '/stats')).json;
    const a = await p.ask('GET', '/metrics');
    assert.strictEqual(a.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
    const samples = prometheus(a.body);
    const labels = 'rank="0",role="q\\"b\\\\n\\n\uFFFD\r"';
    const value = (name, more = '') => {
        const [key] = [...samples.keys()].filter((k) => k.startsWith(`${name}{${labels}`) && k.endsWith(`${labels}${more}}`));
        assert.ok(key, `${name} ${more} in\n${a.body}`);
        return samples.get(key);
    };
    assert.strictEqual(stats.written, 7);
    assert.strictEqual(value('perftrace_written_total'), stats.written);
    assert.strictEqual(value('perftrace_emitted_total'), stats.emitted);
    assert.strictEqual(value('perftrace_threads'), stats.threads);
    assert.strictEqual(value('perftrace_active'), 1);
    for (const [cause, n] of Object.entries(stats.dropped))
        assert.strictEqual(value('perftrace_dropped_total', `,cause="${cause}"`), n);
    assert.strictEqual(samples.size, Object.keys(stats).length - 1 + 1 + Object.keys(stats.dropped).length);
    await p.end();
});

test('scopes are told as they are', async () => {
    const p = await start();
    await p.say('stand first', 'standing');
    await p.say('stand second', 'standing');
    const [one, two] = [(await p.ask('GET', '/scopes')).json, (await p.ask('GET', '/scopes')).json];
    for (const name of ['first', 'second']) {
        const [a, b] = [one, two].map((s) => s.threads.find((t) => t.name === name));
        assert.deepStrictEqual(a.scopes.map((s) => [s.name, s.category]), [['outer', 'compute'], ['in"ner\\\uFFFD', 'comm']]);
        assert.strictEqual(a.moving, false);
        assert.deepStrictEqual(b.scopes.map((s) => s.since), a.scopes.map((s) => s.since));
        assert.ok(a.scopes[1].since >= a.scopes[0].since);
        for (const [s, all] of [...a.scopes.map((x) => [x, one]), ...b.scopes.map((x) => [x, two])])
            assert.ok(Math.abs(s.since + s.seconds - all.now) < 1e-6);
    }
    assert.ok(two.now > one.now);
    await p.say('halt', 'halted');
    await until(async () => (await p.ask('GET', '/scopes')).json.threads.every((t) => t.scopes.length === 0));
    await p.end();
});

test('scopes are right while threads run at full speed', async () => {
    const p = await start({ PERFTRACE_CATEGORIES: '', PERFTRACE_FLUSH_MS: '20' });
    await p.say('spin 2', 'spinning');
    const stacks = new Set();
    const outside = { b: 'a', c: 'b' };
    for (let i = 0; i < 400; i++) {
        const { threads, now } = (await p.ask('GET', '/scopes')).json;
        for (const t of threads.filter((x) => x.name === 'spin' && !x.moving)) {
            const names = t.scopes.map((s) => s.name);
            stacks.add(names.join('>'));
            names.forEach((n, k) => assert.strictEqual(outside[n], names[k - 1], names.join('>')));
            t.scopes.forEach((s, k) => {
                assert.strictEqual(s.category, { a: 'compute', b: 'comm', c: 'io' }[s.name]);
                assert.ok(k === 0 || s.since >= t.scopes[k - 1].since);
                assert.ok(s.seconds >= 0 && s.seconds <= now, JSON.stringify(t));
            });
        }
    }
    assert.ok(stacks.size >= 2, [...stacks].join(' '));
    await p.say('halt', 'halted');
    await p.end();
});

test('a hold holds until it is ended', async () => {
    const p = await start({ PERFTRACE_HOLD: '1' });
    const waiting = async () => (await p.ask('GET', '/status')).json.hold;
    assert.deepStrictEqual(await waiting(), { on: true, waiting: [] });
    await p.say('hold train 0', 'holding');
    await p.say('hold - 0', 'holding');
    await until(async () => (await waiting()).waiting.length === 2);
    assert.deepStrictEqual((await waiting()).waiting.map((w) => w.where).sort(), ['hold', 'train']);
    await p.say('hold short 30', 'holding');
    const [, code, ms] = await p.line('held');
    assert.strictEqual(code, '-' + Math.abs(Number(code))); // a status
    assert.ok(Number(ms) >= 29 && Number(ms) < 5000, ms);
    assert.strictEqual((await waiting()).waiting.length, 2);
    const resumed = (await p.ask('POST', '/resume')).json;
    assert.deepStrictEqual(resumed, { hold: { on: false, waiting: [] }, resumed: 2 });
    for (let i = 0; i < 2; i++)
        assert.strictEqual((await p.line('held'))[1], '1');
    await p.say('hold passes 0');
    assert.deepStrictEqual((await p.line('held')).slice(0, 2), ['passes', '0']);
    assert.strictEqual((await p.ask('POST', '/resume')).json.resumed, 0);
    // Again and again: whoever waits goes on, however soon the next hold is on.
    for (let i = 0; i < 50; i++) {
        assert.strictEqual((await p.ask('POST', '/hold')).json.hold.on, true);
        await p.say('hold again 20000', 'holding');
        await until(async () => (await waiting()).waiting.length === 1);
        assert.strictEqual((await p.ask('POST', '/resume')).json.resumed, 1);
        await p.ask('POST', '/hold');
        assert.strictEqual((await p.line('held'))[1], '1');
        await p.ask('POST', '/resume');
    }
    await p.end();
});

test('a token is asked for', async () => {
    const p = await start({ PERFTRACE_CONTROL_TOKEN: 'secret' });
    for (const Authorization of ['', 'Bearer', 'Bearer Secret', 'Basic secret', 'Bearer secretsecret', 'secret']) {
        for (const [method, route] of [['GET', '/status'], ['POST', '/flush'], ['GET', '/nothing'], ['PUT', '/']]) {
            const a = await p.ask(method, route, { headers: Authorization ? { Authorization } : {} });
            assert.strictEqual(a.status, 401, Authorization);
            assert.strictEqual(a.headers['www-authenticate'], 'Bearer');
            assert.strictEqual(a.headers.allow, undefined);
            assert.match(a.json.setting, /PERFTRACE_CONTROL_TOKEN/);
        }
    }
    const headers = { Authorization: 'Bearer secret' };
    assert.strictEqual((await p.ask('GET', '/status', { headers })).status, 200);
    assert.strictEqual((await p.ask('GET', '/status', { headers: { ...headers, Origin: 'http://page' }, host: 'name' })).status, 200);
    const e = fs.readFileSync(path.join(p.dir, p.endpoints()[0]), 'utf8');
    assert.strictEqual(JSON.parse(e).token, true);
    assert.ok(!e.includes('secret'));
    await p.end();
    assert.ok(!p.stderr.includes('secret'), p.stderr);
});

test('web pages are turned away', async () => {
    const p = await start();
    for (const more of [{ headers: { Origin: 'http://localhost' } }, { headers: { Origin: 'null' } }, { host: 'evil.example' },
                        { host: 'localhost.evil.example:80' }]) {
        const a = await p.ask('POST', '/hold', more);
        assert.strictEqual(a.status, 403);
        assert.match(a.json.error, /token/);
    }
    assert.strictEqual((await p.ask('GET', '/status')).json.hold.on, false);
    await p.end();
});

test('a rank that records nothing is controlled all the same', async () => {
    for (const env of [{ PERFTRACE_RANKS: 'none' }, { PERFTRACE_ENABLED: '0' }]) {
        const p = await start(env);
        assert.strictEqual((await p.ask('GET', '/health')).status, 200);
        const s = (await p.ask('GET', '/status')).json;
        assert.strictEqual(s.active, false);
        assert.strictEqual(s.enabled, false);
        assert.strictEqual(s.rank, 0);
        for (const [method, route] of [['GET', '/scopes'], ['POST', '/flush']]) {
            const a = await p.ask(method, route);
            assert.strictEqual(a.status, 409);
            assert.match(a.json.setting, /PERFTRACE_ENABLED/);
        }
        assert.strictEqual((await p.ask('GET', '/stats')).json.written, 0);
        assert.match((await p.ask('GET', '/metrics')).body, /^perftrace_active\{.*\} 0$/m);
        assert.deepStrictEqual(p.endpoints(), ['control-r0.endpoint']);
        await p.ask('POST', '/hold');
        await p.say('hold here 0', 'holding');
        await until(async () => (await p.ask('POST', '/resume')).json.resumed === 1 || void await p.ask('POST', '/hold'));
        assert.strictEqual((await p.line('held'))[1], '1');
        await p.end();
        assert.deepStrictEqual(p.endpoints(), []);
    }
});

test('off is off', async () => {
    for (const PERFTRACE_CONTROL of ['', 'off']) {
        const p = await start({ PERFTRACE_CONTROL, PERFTRACE_HOLD: '1' });
        assert.match(p.url, /disabled|off|not/i);
        assert.deepStrictEqual(p.endpoints(), []);
        await p.say('hold here 0');
        assert.ok(Number((await p.line('held'))[1]) < 0); // at once: nobody could end it
        await p.end();
        assert.match(p.stderr, /hold does nothing/);
    }
});
