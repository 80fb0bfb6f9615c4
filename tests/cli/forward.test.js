// forward.test.js: which files perf-trace-forward sends, and as whose, to a collector of the test's own.
// SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const test = require('node:test');
const t = require('./forward_tool.js');

const text = (c) => Object.fromEntries(Object.entries(c.files()).map(([n, f]) => [n, f.bytes.toString()]));

test('traces and sessions arrive as they are, with the keys of their process', async () => {
    const c = await t.collecting();
    const dir = t.files({
        'traces-r0.jsonl': t.trace({ rank: 0, pid: 11, host: 'node-a' }),
        'sessions-r0.jsonl': t.sessions({ rank: 0 }),
        'rollout/traces-r1.jsonl': t.trace({ rank: 1, role: 'rollout', pid: 12 }),
        'rollout/sessions-r1.jsonl': t.sessions({ rank: 1, role: 'rollout' }),
        'notes.txt': 'not mine\n', 'other.jsonl': '{"a": 1}\n' });
    const r = await t.run([dir, '--to', c.to]);
    assert.strictEqual(r.status, 0, r.stderr);
    const all = c.files();
    assert.deepStrictEqual(Object.keys(all).sort(), ['job/rollout/sessions-r1.jsonl', 'job/rollout/traces-r1.jsonl',
                                                     'job/sessions-r0.jsonl', 'job/traces-r0.jsonl']);
    for (const [name, f] of Object.entries(all)) {
        assert.strictEqual(f.bytes.toString(), fs.readFileSync(path.join(dir, name.slice(4)), 'utf8'));
        assert(f.last, name);
    }
    const { bytes, last, ...keys } = all['job/sessions-r0.jsonl'];
    assert.deepStrictEqual(keys, { run: 'job', kind: 'sessions', name: 'sessions-r0.jsonl', rank: 0, world_size: 4,
                                   role: keys.role, host: 'node-a', pid: 11 });
    assert(!keys.role);
    assert.strictEqual(all['job/rollout/traces-r1.jsonl'].pid, 12);
    const size = Object.values(all).reduce((n, f) => n + f.bytes.length, 0);
    assert.deepStrictEqual(r.json.total, { files: 4, sent: size, there: 0, left_files: 0, left: 0, incomplete: 0,
                                           no_trace: 0, failed: 0 });
    assert.strictEqual(c.bytes, size);
    assert.strictEqual(c.connections, 1);
    const again = await t.run([dir, '--to', c.to]);
    assert.strictEqual(again.status, 0);
    assert.strictEqual(again.json.total.sent, 0);
    assert.strictEqual(again.json.total.there, size);
    assert(again.json.files.every((f) => f.state === 'there'));
    assert.strictEqual(c.bytes, size);
    assert.match(again.stderr, /4 files are there: 0 bytes sent/);
    await c.close();
});

test('the layout of AReaL: sessions find their trace in perf_tracer', async () => {
    const c = await t.collecting();
    const dir = t.files({
        'exp/trial/perf_tracer/actor/traces-r0.jsonl': t.trace({ role: 'actor', pid: 5 }),
        'exp/trial/session_tracer/actor/sessions-r0.jsonl': t.sessions({ role: 'actor' }) });
    const r = await t.run([dir, '--to', c.to]);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.strictEqual(c.files()['job/actor/sessions-r0.jsonl'].pid, 5);
    await c.close();
});

test('sessions belong to the trace of their run that began before them', async () => {
    const c = await t.collecting();
    const dir = t.files({
        'traces-r0.jsonl': t.trace({ run: 'job', pid: 1, start: 10 }),
        'traces-r0.1.jsonl': t.trace({ run: 'job', pid: 2, start: 100 }),
        'traces-r0.2.jsonl': t.trace({ run: 'other', pid: 3, start: 200 }),
        'sessions-r0.jsonl': t.sessions({ run: 'job', start: 120 }),
        'sessions-r0.1.jsonl': t.sessions({ run: 'other', start: 250 }) });
    assert.strictEqual((await t.run([dir, '--to', c.to])).status, 0);
    const all = c.files();
    assert.strictEqual(all['job/sessions-r0.jsonl'].pid, 2);
    assert.strictEqual(all['other/sessions-r0.1.jsonl'].pid, 3);
    assert.strictEqual(c.connections, 2); // one a run
    await c.close();
});

test('files that are not complete are left out and named', async () => {
    const c = await t.collecting();
    const dir = t.files({
        'traces-r0.jsonl': t.trace({ footer: false }),
        'sessions-r0.jsonl': t.sessions({}),
        'traces-r1.jsonl': t.trace({ rank: 1 }),
        'traces-r2.jsonl': '',
        'traces-r3.jsonl': t.trace({ rank: 3 }).slice(0, 40),
        'traces-r4.jsonl': t.trace({ rank: 4 }).slice(0, -5),
        'sessions-r5.jsonl': t.sessions({ rank: 5 }),
        'sessions-r1.jsonl': t.sessions({ rank: 1 }).slice(0, -5) });
    const r = await t.run([dir, '--to', c.to]);
    assert.strictEqual(r.status, 1, r.stderr);
    assert.deepStrictEqual(Object.keys(c.files()), ['job/traces-r1.jsonl']);
    assert.match(r.file('traces-r0.jsonl').why, /no footer, and no ring/);
    assert.match(r.file('sessions-r0.jsonl').why, /no footer, and no ring/);
    assert.match(r.file('traces-r2.jsonl').why, /is empty/);
    assert.match(r.file('traces-r3.jsonl').why, /first line is not complete/);
    assert.match(r.file('traces-r4.jsonl').why, /no footer/);
    assert.match(r.file('sessions-r5.jsonl').why, /--run-id/);
    assert.match(r.file('sessions-r1.jsonl').why, /last line is not complete/);
    assert.strictEqual(r.json.total.incomplete, 7);
    assert.match(r.stderr, /traces-r0\.jsonl: left out: it has no footer/);

    const more = await t.run([dir, '--to', c.to, '--unfinished']);
    assert.strictEqual(more.status, 1, more.stderr); // the empty ones
    const all = text(c);
    assert.strictEqual(all['job/traces-r0.jsonl'], t.trace({ footer: false }));
    const cut = (s) => s.slice(0, s.lastIndexOf('\n', s.length - 2) + 1);
    assert.strictEqual(all['job/traces-r4.jsonl'], cut(t.trace({ rank: 4 })));
    assert.strictEqual(all['job/sessions-r1.jsonl'], cut(t.sessions({ rank: 1 })));
    assert.strictEqual(all['job/sessions-r5.jsonl'], t.sessions({ rank: 5 }));
    assert.deepStrictEqual(more.json.files.filter((f) => f.state === 'incomplete').map((f) => path.basename(f.file)),
                           ['traces-r2.jsonl', 'traces-r3.jsonl']);
    await c.close();
});

test('--run-id is for those that do not tell', async () => {
    const c = await t.collecting();
    const dir = t.files({ 'sessions-r0.jsonl': t.sessions({ run: null }), 'traces-r1.jsonl': t.trace({ rank: 1 }),
                          'traces-r2.jsonl': t.trace({ rank: 2, run: '' }) });
    const r = await t.run([dir, '--to', c.to]);
    assert.strictEqual(r.status, 1);
    assert.match(r.file('traces-r2.jsonl').why, /does not tell its run/);
    assert.strictEqual((await t.run([dir, '--to', c.to, '--run-id', 'given'])).status, 0);
    assert.deepStrictEqual(Object.keys(c.files()).sort(), ['given/sessions-r0.jsonl', 'given/traces-r2.jsonl',
                                                           'job/traces-r1.jsonl']);
    await c.close();
});

test('a rank that became known later', async () => {
    const c = await t.collecting();
    const late = t.trace({ rank: null, world: null, events: 3000, footer: false, pad: 8 }) +
                 t.trace({ rank: 7, world: 16, events: 5 });
    const dir = t.files({ 'traces-u77.jsonl': late });
    assert.strictEqual((await t.run([dir, '--to', c.to])).status, 0);
    const f = c.files()['job/traces-u77.jsonl'];
    assert.strictEqual(f.rank, 7);
    assert.strictEqual(f.world_size, 16);
    assert.strictEqual(f.bytes.toString(), late);
    await c.close();
});

test('what is no trace is told and skipped; named, it is an error', async () => {
    const c = await t.collecting();
    const dir = t.files({
        'traces-r0.jsonl': t.trace({}),
        'traces-r1.jsonl': '{"name": "x", "ph": "X"}\n',
        'traces-r2.jsonl': 'no json\n',
        'traces-r3.jsonl': Buffer.from([0, 1, 2, 255, 10]),
        'traces-r4.jsonl': `{"name": "perftrace_header", "args": {"run_id": "${'x'.repeat(65)}"}}\n`,
        'traces-r5.jsonl': '{"name": "perftrace_header", "args": {"run_id": "a\\u0000b"}}\n',
        'traces-r6.jsonl': `{"x": "${'y'.repeat(5 << 20)}"}\n`,
        'traces-r7.jsonl': t.trace({}) });
    const r = await t.run([dir, '--to', c.to]);
    assert.strictEqual(r.status, 1, r.stderr);
    assert.strictEqual(r.json.total.no_trace, 7);
    assert.match(r.file('traces-r1.jsonl').why, /neither a header/);
    assert.match(r.file('traces-r2.jsonl').why, /no JSON/);
    assert.match(r.file('traces-r4.jsonl').why, /run's id/);
    assert.match(r.file('traces-r5.jsonl').why, /run's id/);
    assert.match(r.file('traces-r6.jsonl').why, /4 MiB/);
    assert.match(r.file('traces-r7.jsonl').why, /begins as .*traces-r0\.jsonl does/);
    assert.deepStrictEqual(Object.keys(c.files()), ['job/traces-r0.jsonl']);
    assert.strictEqual((await t.run([path.join(dir, 'traces-r2.jsonl'), '--to', c.to])).status, 3);
    assert.strictEqual((await t.run([path.join(dir, 'none.jsonl'), '--to', c.to])).status, 3);
    assert.strictEqual((await t.run([t.folder(), '--to', c.to])).status, 3);
    await c.close();
});

test('hostile headers are cut to what a collector may be told', async () => {
    const c = await t.collecting();
    const dir = t.files({
        'traces-r0.jsonl': t.trace({ role: '../../etc', host: 'h'.repeat(500), rank: -5, world: 1e30, pid: 'x' }),
        'traces-r1.jsonl': t.trace({ role: '.hidden', host: 'a\nb', rank: 2.5, start: 2 }),
        'traces-r2.jsonl': t.trace({ role: { a: 1 }, host: null, start: 3 }),
        'traces-r3.jsonl': t.trace({ role: 'r'.repeat(400), start: 4 }) });
    const r = await t.run([dir, '--to', c.to]);
    assert.strictEqual(r.status, 0, r.stderr);
    const all = c.files();
    assert(!all['job/traces-r0.jsonl'].role);
    assert(all['job/traces-r0.jsonl'].host.length < 64);
    assert.strictEqual(all['job/traces-r0.jsonl'].rank, null);
    assert.strictEqual(all['job/traces-r0.jsonl'].world_size, null);
    assert(!all['job/traces-r1.jsonl'].role);
    assert(!all['job/traces-r2.jsonl'].role);
    assert.strictEqual(all[`job/${'r'.repeat(63)}/traces-r3.jsonl`].role, 'r'.repeat(63));
    await c.close();
});

test('a file that is reached by several ways is sent once', async () => {
    const c = await t.collecting();
    const dir = t.files({ 'real/traces-r0.jsonl': t.trace({}) });
    const real = path.join(dir, 'real', 'traces-r0.jsonl');
    fs.symlinkSync(real, path.join(dir, 'traces-link.jsonl'));
    fs.linkSync(real, path.join(dir, 'traces-hard.jsonl'));
    fs.symlinkSync('real', path.join(dir, 'folder'));
    fs.symlinkSync('nowhere', path.join(dir, 'traces-dangling.jsonl'));
    const r = await t.run([dir, real, path.join(dir, 'traces-link.jsonl'), '--to', c.to]);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.strictEqual(r.json.files.length, 1);
    assert.strictEqual(c.pieces, 1);
    await c.close();
});

test('only a link: the file is found, under its own name', async () => {
    const c = await t.collecting();
    const dir = t.files({ 'far/traces-r0.jsonl': t.trace({}) });
    const near = t.folder();
    fs.symlinkSync(path.join(dir, 'far', 'traces-r0.jsonl'), path.join(near, 'traces-r5.jsonl'));
    assert.strictEqual((await t.run([near, '--to', c.to])).status, 0);
    assert.deepStrictEqual(Object.keys(c.files()), ['job/traces-r0.jsonl']);
    await c.close();
});

test('token: by file, by environment; a wrong one is refused', async () => {
    const c = await t.collecting({ token: 'secret' });
    const dir = t.files({ 'traces-r0.jsonl': t.trace({}), token: 'secret\nmore\n', wrong: 'wrong\n', empty: '\n' });
    const file = path.join(dir, 'traces-r0.jsonl');
    const bad = await t.run([file, '--to', c.to, '--token-file', path.join(dir, 'wrong'), '--timeout', '300ms']);
    assert.strictEqual(bad.status, 4);
    assert.match(bad.stderr, /refused: wrong token/);
    assert.match(bad.stderr, /1 file with [\d,]+ bytes are left/);
    assert.match(bad.file('traces-r0.jsonl').why, /wrong token/);
    assert.strictEqual((await t.run([file, '--to', c.to, '--token-file', path.join(dir, 'empty')])).status, 3);
    assert.strictEqual((await t.run([file, '--to', c.to, '--token-file', path.join(dir, 'none')])).status, 3);
    assert.strictEqual((await t.run([file, '--to', c.to, '--token-file', path.join(dir, 'token')])).status, 0);
    assert.strictEqual((await t.run([file], { PERFTRACE_FORWARD: c.to, PERFTRACE_FORWARD_TOKEN: 'secret' })).status, 0);
    assert.strictEqual(c.pieces, 1);
    await c.close();
});

test('a run that is refused does not keep others back', async () => {
    const c = await t.collecting({ runs: ['job'] });
    const dir = t.files({ 'traces-r0.jsonl': t.trace({ run: 'a' }), 'traces-r1.jsonl': t.trace({ rank: 1 }),
                          'traces-r2.jsonl': t.trace({ run: 'z', rank: 2 }) });
    const r = await t.run([dir, '--to', c.to, '--timeout', '300ms']);
    assert.strictEqual(r.status, 4);
    assert.deepStrictEqual(Object.keys(c.files()), ['job/traces-r1.jsonl']);
    assert.match(r.file('traces-r0.jsonl').why, /another run/);
    assert.match(r.file('traces-r2.jsonl').why, /another run/);
    assert.strictEqual(r.json.total.left_files, 2);
    // The last connection was a good one; what is left is so for the reason of another.
    fs.rmSync(path.join(dir, 'traces-r2.jsonl'));
    const again = await t.run([dir, '--to', c.to, '--timeout', '300ms']);
    assert.strictEqual(again.status, 4);
    assert.match(again.stderr, /error: .*: 1 file with [\d,]+ bytes are left: refused: another run/);
    await c.close();
});

test('nobody there, nobody who answers: it gives up after --timeout and tells what is left', async () => {
    const c = await t.collecting({ deaf: true });
    const dir = t.files({ 'traces-r0.jsonl': t.trace({}) });
    const size = fs.statSync(path.join(dir, 'traces-r0.jsonl')).size;
    for (const to of [c.to, 'tcp:127.0.0.1:1', `tcp:unix:${dir}/none`]) {
        const r = await t.run([dir, '--to', to, '--timeout', '500ms']);
        assert.strictEqual(r.status, 4, r.stderr);
        assert.strictEqual(r.json.total.left, size);
        assert.strictEqual(r.file('traces-r0.jsonl').state, 'left');
    }
    await c.close();
});

test('a socket file', async () => {
    const dir = t.files({ 'traces-r0.jsonl': t.trace({}) });
    const c = await t.collecting({}, path.join(dir, 'socket'));
    assert.strictEqual((await t.run([dir, '--to', c.to])).status, 0);
    assert.strictEqual(text(c)['job/traces-r0.jsonl'], t.trace({}));
    await c.close();
});

test('connections that break again and again: nothing twice, everything there', async () => {
    const c = await t.collecting({ cut: 60000 });
    const contents = {};
    for (let rank = 0; rank < 3; rank++)
        contents[`traces-r${rank}.jsonl`] = t.trace({ rank, events: 12000, pad: 20 });
    const dir = t.files(contents);
    const r = await t.run([dir, '--to', c.to]);
    assert.strictEqual(r.status, 0, r.stderr);
    assert(c.connections >= 3, String(c.connections));
    assert.strictEqual(c.twice, 0);
    assert.deepStrictEqual(text(c), Object.fromEntries(Object.entries(contents).map(([n, s]) => [`job/${n}`, s])));
    await c.close();
});

test('an interrupt ends it; the next run goes on', async () => {
    const c = await t.collecting({ delay: 30 });
    const all = t.trace({ events: 60000, pad: 20 });
    const dir = t.files({ 'traces-r0.jsonl': all });
    const r = t.start([dir, '--to', c.to, '--json']);
    await r.until(() => c.pieces > 3);
    r.child.kill('SIGINT');
    const end = await r.ended;
    assert.strictEqual(end.status, 130, end.stderr);
    assert.match(end.stderr, /1 file with [\d,]+ bytes are left/);
    c.delay = 0;
    const rest = await t.run([dir, '--to', c.to]);
    assert.strictEqual(rest.status, 0);
    assert(rest.json.total.there > 0);
    assert.strictEqual(c.twice, 0);
    assert.strictEqual(text(c)['job/traces-r0.jsonl'], all);
    await c.close();
});

test('many files: few descriptors at a time', async () => {
    const c = await t.collecting();
    const contents = {};
    for (let rank = 0; rank < 2000; rank++)
        contents[`traces-r${rank}.jsonl`] = t.trace({ rank, start: rank, events: 1 });
    const dir = t.files(contents);
    const r = t.start(['-c', 'ulimit -n 100; exec "$0" "$@"', t.TOOL, dir, '--to', c.to, '--json'], {}, 'sh');
    const end = await r.ended;
    assert.strictEqual(end.status, 0, end.stderr);
    assert.strictEqual(Object.keys(c.files()).length, 2000);
    assert.strictEqual(c.pieces, 2000);
    assert.strictEqual(c.connections, 2); // none asks for more than a collector lets it
    await c.close();
});
