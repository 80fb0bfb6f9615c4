// profile.test.js: profiling windows that are asked for over HTTP. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const { start, until } = require('./program.js');

const SELF = { PERFTRACE_PROFILER: 'self', PERFTRACE_PROFILER_CATEGORIES: 'io' };
const post = (p, path, body) => p.ask('POST', path, { body: body === undefined ? '' : JSON.stringify(body) });
const json = (answer) => JSON.parse(answer.body);
const profiler = async (p) => json(await p.ask('GET', '/status')).profiler;
const step = (p, n) => p.say(`step ${n}`, 'stepped');

test('without a profiler a start names the setting to change', async () => {
    const p = await start();
    for (const path of ['/start_profile', '/stop_profile']) {
        const a = await post(p, path, {});
        assert.strictEqual(a.status, 409);
        assert.match(json(a).error, /has no profiler/);
        assert.match(json(a).setting, /PERFTRACE_PROFILER \(perf_tracer\.profiler\.back_ends\)/);
    }
    assert.strictEqual(await profiler(p), null);
    await p.end();
});

test('a window from now to the stop; a second start is told which window is open', async () => {
    const p = await start(SELF);
    assert.deepStrictEqual(await profiler(p), { state: 'idle', saved: 0 });
    const a = await post(p, '/start_profile', { with_stack: true, label: 'by hand' });
    assert.strictEqual(a.status, 200, a.body);
    assert.deepStrictEqual(json(a).ignored, ['with_stack']);
    assert.strictEqual(json(a).profiler.state, 'recording');
    const b = await post(p, '/start_profile');
    assert.strictEqual(b.status, 409);
    assert.match(json(b).error, /a window is open: recording.*by hand/);
    const c = await post(p, '/stop_profile');
    assert.strictEqual(c.status, 200);
    assert.strictEqual(json(c).stopped, true);
    assert.strictEqual(json(c).profiler.saved, 1);
    const d = await post(p, '/stop_profile');
    assert.deepStrictEqual([d.status, json(d).stopped], [200, false]);
    await p.end();
});

test('so many steps from a step on: waiting, recording, saved', async () => {
    const p = await start(SELF);
    await step(p, 4);
    const a = await post(p, '/start_profile', { num_steps: 2, start_step: 6 });
    assert.strictEqual(json(a).profiler.state, 'waiting', a.body);
    await step(p, 5);
    assert.strictEqual((await profiler(p)).state, 'waiting');
    await step(p, 6);
    const now = await profiler(p);
    assert.deepStrictEqual([now.state, now.first_step, now.steps_wanted], ['recording', 6, 2]);
    assert.match(now.window, /recording from step 6.*1 of 2 steps/);
    await step(p, 7);
    assert.strictEqual((await profiler(p)).state, 'recording');
    await step(p, 8);
    const over = await profiler(p);
    assert.deepStrictEqual([over.state, over.saved, over.last_mark], ['idle', 1, undefined]);
    await p.end();
});

test('a stop in the middle saves what there is and marks it', async () => {
    const p = await start(SELF);
    await post(p, '/start_profile', { num_steps: 5 });
    await step(p, 1);
    await step(p, 2);
    const a = await post(p, '/stop_profile', {});
    assert.strictEqual(json(a).stopped, true);
    assert.match(json(a).profiler.last_mark, /^partial [12]\/5$/);
    await p.end();
});

test('a body that cannot be is refused; nothing starts', async () => {
    const p = await start(SELF);
    for (const [body, status] of [['{"num_steps": 0}', 422], ['{"num_steps": 1, "max_iterations": 1}', 422], ['[]', 400],
        ['{"num_steps": ', 400], ['{"start_step": 3}', 422]]) {
        const a = await p.ask('POST', '/start_profile', { body });
        assert.strictEqual(a.status, status, `${body}: ${a.body}`);
        assert.ok(json(a).error.length > 5);
    }
    assert.strictEqual((await p.ask('GET', '/start_profile')).status, 405);
    assert.strictEqual((await profiler(p)).state, 'idle');
    await p.end();
});

test('a start ends a hold', async () => {
    const p = await start({ ...SELF, PERFTRACE_HOLD: '1' });
    p.say('hold 0');
    await until(async () => json(await p.ask('GET', '/status')).hold.waiting.length === 1);
    const a = await post(p, '/start_profile', {});
    assert.strictEqual(json(a).resumed, 1);
    assert.deepStrictEqual(json(await p.ask('GET', '/status')).hold, { on: false, waiting: [] });
    await p.end();
});

test('unknown back ends and schedules are told, and the program goes on', async () => {
    for (const [env, message] of [[{ PERFTRACE_PROFILER: 'nsys' }, /there is no back end nsys/],
        [{ PERFTRACE_PROFILER: 'self', PERFTRACE_PROFILER_SCHEDULE: 'wait=x' }, /profiler_schedule is no list such as/]]) {
        const p = await start(env);
        assert.match(p.stderr, message);
        assert.strictEqual(await profiler(p), null);
        await p.end();
    }
});

test('a window that is open at the end is saved', async () => {
    const p = await start(SELF);
    await post(p, '/start_profile', { num_steps: 100 });
    await step(p, 1);
    await p.end();
    assert.match(p.stderr, /self recorded step 1 \(partial 1\/100\)/);
});
