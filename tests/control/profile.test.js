// profile.test.js: profiling windows that are asked for over HTTP. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const { start, until, folder } = require('./program.js');

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
    const a = await post(p, '/start_profile', { num_steps: 2, start_step: 6, label: 'mine' });
    assert.strictEqual(json(a).profiler.state, 'waiting', a.body);
    const other = await post(p, '/start_profile', {});
    assert.deepStrictEqual([other.status, json(other).error], [409, 'a window is open: waiting for its steps (mine)']);
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

// A program whose profiler writes files to `dir`, below the program's folder.
async function writer(dir = 'profiles', env = {}, options = {}) {
    const p = await start({ PERFTRACE_LOG_STDERR: '1', ...env }, options);
    p.root = path.resolve(p.dir, dir);
    assert.deepStrictEqual(await p.say(`own ${dir}`, 'own'), ['0']);
    return p;
}
const window_in = async (p, body) => {
    const a = await post(p, '/start_profile', body);
    assert.strictEqual(a.status, 200, a.body);
    const b = await post(p, '/stop_profile');
    return { started: json(a), file: json(b).profiler.last_path };
};

test('output_dir: below the configured directory, and nowhere else', async () => {
    const p = await writer();
    const plain = await window_in(p, {});
    assert.strictEqual(path.dirname(plain.file), p.root);
    for (const [asked, below] of [['run1/actor', 'run1/actor'], [path.join(p.root, 'run2'), 'run2'], ['.', '']]) {
        const w = await window_in(p, { output_dir: asked });
        assert.deepStrictEqual(w.started.ignored, []);
        assert.strictEqual(path.dirname(w.file), path.join(p.root, below));
        assert.match(fs.readFileSync(w.file, 'utf8'), /^ -1\n$/);
    }
    fs.symlinkSync('/tmp', path.join(p.root, 'away'));
    fs.symlinkSync('run1', path.join(p.root, 'near'));
    const outside = folder();
    for (const asked of ['..', '../x', 'run1/../../x', '/', '/etc', outside, p.root + '-x', p.root + '/../x', 'away', 'away/x',
        'near/x']) {
        const a = await post(p, '/start_profile', { output_dir: asked });
        assert.strictEqual(a.status, 403, `${asked}: ${a.body}`);
        assert.match(json(a).setting, /PERFTRACE_PROFILER_DIR \(perf_tracer\.profiler\.dir\)/);
        assert.match(json(a).error, /is not below .*profiles, where profiles go/);
    }
    assert.deepStrictEqual(fs.readdirSync(outside), []);
    assert.strictEqual(fs.existsSync(path.join(p.dir, 'x')), false);
    assert.deepStrictEqual((await profiler(p)).state, 'idle');
    const next = await window_in(p, {});
    assert.strictEqual(path.dirname(next.file), p.root); // the one before was that request's
    await p.end();
});

test('a start that is refused makes no directory', async () => {
    const p = await writer();
    await window_in(p, {});
    assert.strictEqual((await post(p, '/start_profile')).status, 200);
    assert.strictEqual((await post(p, '/start_profile', { output_dir: 'never/made' })).status, 409);
    assert.strictEqual((await post(p, '/start_profile', { output_dir: '../x' })).status, 403);
    assert.strictEqual(fs.existsSync(path.join(p.root, 'never')), false);
    await p.end();
});

test('a text with a NUL in it is refused, not cut', async () => {
    const p = await start(SELF);
    for (const body of ['{"output_dir": "a\\u0000/../b"}', '{"num_steps\\u0000": 3}', '{"label": "\\\\\\u0000"}']) {
        const a = await p.ask('POST', '/start_profile', { body });
        assert.strictEqual(a.status, 400, a.body);
        assert.match(json(a).error, /u0000/);
    }
    const b = await p.ask('POST', '/start_profile', { body: '{"label": "\\\\u0000"}' }); // a backslash and letters
    assert.strictEqual(b.status, 200, b.body);
    await p.end();
});

test('output_dir without back ends that write files is looked at, and ignored', async () => {
    const p = await start(SELF);
    const a = await post(p, '/start_profile', { output_dir: 'sub' });
    assert.deepStrictEqual([a.status, json(a).ignored], [200, ['output_dir']]);
    await post(p, '/stop_profile');
    assert.strictEqual(fs.existsSync(path.join(p.dir, 'profiles')), false);
    assert.strictEqual((await post(p, '/start_profile', { output_dir: '/etc' })).status, 403);
    await p.end();
});

test('profile_by_stage: each stage of the asked steps has its file', async () => {
    const p = await writer();
    await step(p, 1);
    const a = await post(p, '/start_profile', { profile_by_stage: true, label: 'asked', output_dir: 'stages' });
    assert.deepStrictEqual([a.status, json(a).profiler.state, json(a).ignored], [200, 'waiting', []]);
    assert.deepStrictEqual(await p.say('stage prefill', 'staged'), ['1']);
    assert.deepStrictEqual(await p.say('stage decode', 'staged'), ['1']);
    assert.strictEqual((await post(p, '/start_profile')).status, 409);
    const b = await post(p, '/stop_profile');
    assert.deepStrictEqual([json(b).stopped, json(b).profiler.saved, json(b).profiler.state], [true, 2, 'idle']);
    assert.deepStrictEqual(await p.say('stage after', 'staged'), ['0']);
    const names = fs.readdirSync(path.join(p.root, 'stages')).map((n) => /_(asked-[a-z]+)\.txt$/.exec(n)[1]).sort();
    assert.deepStrictEqual(names, ['asked-decode', 'asked-prefill']);
    assert.strictEqual((await post(p, '/start_profile', { profile_by_stage: 'yes' })).status, 422);
    await p.end();
});

test('profile_by_stage with num_steps ends by itself', async () => {
    const p = await start(SELF);
    await step(p, 1);
    await post(p, '/start_profile', { profile_by_stage: true, num_steps: 2, start_step: 3 });
    const taken = [];
    for (let i = 1; i < 6; i++) {
        if (i > 1)
            await step(p, i);
        taken.push(Number((await p.say('stage update', 'staged'))[0]));
    }
    assert.deepStrictEqual(taken, [0, 0, 1, 1, 0]); // steps 3 and 4
    const now = await profiler(p);
    assert.deepStrictEqual([now.state, now.saved], ['idle', 2]);
    await p.end();
});

test('categories: those of the configured ones that the window records', async () => {
    const p = await start({ ...SELF, PERFTRACE_PROFILER_CATEGORIES: 'io,comm' });
    for (const categories of ['io', ['comm'], null]) {
        const a = await post(p, '/start_profile', { categories });
        assert.deepStrictEqual([a.status, json(a).ignored], [200, []], a.body);
        await p.say('points', 'pointed');
        await post(p, '/stop_profile');
        await p.say('points', 'pointed');
    }
    await p.end();
    const lines = fs.readFileSync(path.join(p.dir, 'traces-r0.jsonl'), 'utf8').trim().split('\n').map((l) => JSON.parse(l));
    const names = lines.filter((l) => /^point/.test(l.name)).map((l) => l.name);
    assert.deepStrictEqual(names, ['point of io', 'point of comm', 'point of io', 'point of comm']);
});

test('categories without categories that are kept for windows are ignored', async () => {
    const p = await start({ PERFTRACE_PROFILER: 'self' });
    assert.deepStrictEqual(json(await post(p, '/start_profile', { categories: 'io' })).ignored, ['categories']);
    await p.end();
});

test('activities choose back ends; without one the setting is named', async () => {
    const p = await start(SELF);
    const both = await post(p, '/start_profile', { activities: ['CPU', 'GPU'], record_shapes: true });
    assert.deepStrictEqual([both.status, json(both).ignored], [200, ['activities: GPU', 'record_shapes']]);
    await post(p, '/stop_profile');
    const gpu = await post(p, '/start_profile', { activities: ['GPU'] });
    assert.deepStrictEqual([gpu.status, json(gpu).error], [409, 'no back end records the GPU']);
    assert.match(json(gpu).setting, /PERFTRACE_PROFILER /);
    await p.end();
    // cuda is asked for alone: it cannot start here, and self is not started in its place.
    const q = await start({ ...SELF, PERFTRACE_PROFILER: 'self,nvtx', NVTX_INJECTION64_PATH: '/nowhere/tool.so' });
    const a = await post(q, '/start_profile', { activities: ['GPU'] });
    assert.strictEqual(a.status, 503, a.body);
    assert.match(json(a).error, /nvtx does not record: NVTX_INJECTION64_PATH cannot be loaded: \/nowhere\/tool\.so/);
    assert.match((await profiler(q)).problem, /nvtx does not record/);
    const b = await post(q, '/start_profile', {}); // self does; what is absent is in the status
    assert.deepStrictEqual([b.status, json(b).profiler.state], [200, 'recording']);
    assert.match(json(b).profiler.problem, /nvtx does not record/);
    await q.end();
});

// needs PT-42, the start by HTTP.
test('PT-42: the directory is made, or the start says at once why not', async () => {
    const made = await writer('a/b/c');
    assert.strictEqual(path.dirname((await window_in(made, {})).file), path.join(made.dir, 'a/b/c'));
    await made.end();

    const file = await start();
    fs.writeFileSync(path.join(file.dir, 'file'), '');
    await file.say('own file', 'own');
    const a = await post(file, '/start_profile');
    assert.strictEqual(a.status, 503);
    assert.match(json(a).error, /no files can be made in .*\/file: Not a directory/);
    assert.match(json(a).setting, /PERFTRACE_PROFILER_DIR/);
    assert.strictEqual(file.stderr.match(/Not a directory/g).length, 1);
    assert.match((await profiler(file)).problem, /Not a directory/);
    await step(file, 1); // the program goes on
    await file.end();

    // Relative: of the directory that was current then.
    const moved = await writer('relative');
    await moved.say('chdir /', 'moved');
    assert.strictEqual(path.dirname((await window_in(moved, {})).file), path.join(moved.dir, 'relative'));
    await moved.end();
});

test('PT-42: a directory without the right to write', async (t) => {
    const user = process.getuid() === 0 ? 65534 : undefined; // root may write everywhere
    const dir = folder();
    fs.chmodSync(dir, 0o777);
    fs.mkdirSync(path.join(dir, 'closed'));
    fs.chmodSync(path.join(dir, 'closed'), 0o555);
    let p;
    try {
        p = await start({ PERFTRACE_DIR: dir }, { uid: user });
    } catch (e) {
        t.skip(`a program of another user cannot be started here: ${e.message}`);
        return;
    }
    await p.say('own closed', 'own');
    const a = await post(p, '/start_profile');
    assert.strictEqual(a.status, 503, a.body);
    assert.match(json(a).error, /no files can be made in .*\/closed: Permission denied/);
    assert.strictEqual(p.stderr.match(/Permission denied/g).length, 1);
    const b = await post(p, '/start_profile', { output_dir: 'x' });
    assert.deepStrictEqual([b.status, /cannot be used: Permission denied/.test(json(b).error)], [503, true], b.body);
    await step(p, 1);
    await p.end();
});

// needs PT-12: a stop while nothing runs, and two at once.
test('PT-12: stops while idle and two at once: no failure, one file', async () => {
    const p = await writer();
    for (let i = 0; i < 2; i++) {
        const idle = await post(p, '/stop_profile');
        assert.deepStrictEqual([idle.status, json(idle).stopped], [200, false]);
    }
    assert.strictEqual(p.stderr.match(/there is no window to stop/g).length, 1);
    await post(p, '/start_profile', {});
    const both = await Promise.all([post(p, '/stop_profile'), post(p, '/stop_profile')]);
    assert.ok(both.every((a) => a.status === 200 || a.status === 202));
    await until(async () => (await profiler(p)).state === 'idle');
    assert.strictEqual((await profiler(p)).saved, 1);
    assert.strictEqual(fs.readdirSync(p.root).length, 1);
    await p.end();
});
