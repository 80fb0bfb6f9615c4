// collect_one.test.js: the traces of all ranks in one file. SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const { spawnSync } = require('child_process');
const test = require('node:test');
const t = require('./collect_tool.js');

const NAME = 'trace_events.jsonl';
const lines = (bytes) => bytes.toString().split('\n').slice(0, -1);

// Each rank's lines stand in it once, in their order.
function assertHolds(bytes, files) {
    assert.strictEqual(bytes[bytes.length - 1], 10);
    const all = lines(bytes);
    assert.strictEqual(all.length, files.reduce((n, f) => n + lines(f.bytes).length, 0));
    for (const f of files) {
        const pid = `"pid": ${f.keys.pid},`;
        assert.strictEqual(all.filter((l) => l.includes(pid)).join('\n'), lines(f.bytes).join('\n'), f.keys.name);
    }
}

const ranks = (n, more = {}) => Array.from({ length: n }, (_, rank) =>
    t.file(t.trace({ rank, world: n, events: 500, ...more }), { rank, world_size: n }));

test('all ranks in one file that jq reads; sessions in their own', async () => {
    const dir = t.folder();
    const c = await t.listening(['-o', dir, '--one-file', NAME, '--until-done']);
    const files = ranks(5, { dropped: 1 });
    const sessions = t.file(Buffer.from('{"session_id": 1}\n'), { kind: 'sessions', name: 'sessions-r0.jsonl' });
    await t.sendAll(() => c.port, [sessions]);
    await Promise.all(files.map((f) => t.sendAll(() => c.port, [f])));
    const r = await c.ended;
    assert.strictEqual(r.status, 0, r.stderr);
    assert.match(r.stderr, /2,500 events of 5 ranks in 6 files; 5 dropped/);
    const got = t.collected(dir);
    assert.deepStrictEqual(Object.keys(got).sort(), ['r/sessions-r0.jsonl', `r/${NAME}`]);
    assertHolds(got[`r/${NAME}`], files);
    const jq = spawnSync('jq', ['-s', 'length', path.join(dir, 'r', NAME)]);
    if (!jq.error)
        assert.strictEqual(jq.stdout.toString().trim(), String(lines(got[`r/${NAME}`]).length));
});

test('kill -9 at random moments: each line once', async () => {
    let x = 5;
    const rand = () => (x = (x * 1103515245 + 12345) % 2147483648) / 2147483648;
    const want = process.env.PERFTRACE_TEST_BRIEF ? 10 : 50;
    for (let kills = 0, round = 0; kills < want; round++) {
        const dir = t.folder();
        const args = ['-o', dir, '--one-file', NAME];
        const files = ranks(4, { events: 8000, pad: 200, start: round + 1 });
        let c = await t.listening(args);
        let done = false;
        const sending = Promise.all(files.map((f) => t.sendAll(() => c.port, [f], { pieceBytes: 20000, pause: 1,
            repeat: () => rand() < 0.2 }))).then(() => { done = true; });
        while (!done && kills < want) {
            await t.sleep(rand() * 40);
            await c.stop('SIGKILL');
            kills++;
            c = await t.listening(args);
        }
        await sending;
        const r = await c.stop();
        assert.strictEqual(r.status, 0, r.stderr);
        assertHolds(t.collected(dir)[`r/${NAME}`], files);
        const again = await t.listening([...args, '--run', 'r', '--until-done']);
        assert.strictEqual((await again.ended).status, 0); // the journal knows the ends and the accounts
    }
});

test('what stands behind the last line of the journal is cut off, a torn line of the journal too', async () => {
    const dir = t.folder();
    const args = ['-o', dir, '--one-file', NAME];
    let c = await t.listening(args);
    const [f] = ranks(1);
    await t.sendAll(() => c.port, [f], { pieceBytes: 3000 });
    await c.stop();
    const file = path.join(dir, 'r', NAME);
    const journal = path.join(dir, 'r/.streams', `journal-${NAME}`);
    fs.appendFileSync(file, '{"half');
    const text = fs.readFileSync(journal, 'utf8');
    fs.writeFileSync(journal, text.slice(0, text.length - 30));
    c = await t.listening(args);
    const s = await t.connect(c.port);
    const { offset } = await s.have(f);
    assert(offset < f.bytes.length && offset > 0);
    await s.end();
    assert.strictEqual(fs.statSync(file).size, offset);
    // The system lost the file's end.
    await c.stop();
    fs.truncateSync(file, 7000);
    c = await t.listening(args);
    await t.sendAll(() => c.port, [f], { pieceBytes: 2000 });
    const r = await c.stop();
    assert.match(r.stderr, /is shorter than it was; what is missing is asked for again/);
    assertHolds(t.collected(dir)[`r/${NAME}`], [f]);
});

test('one collector at a time; the next one goes on when it ends', async () => {
    const dir = t.folder();
    const args = ['-o', dir, '--one-file', NAME];
    const first = await t.listening(args);
    const files = ranks(2);
    await t.sendAll(() => first.port, [files[0]]);
    const second = await t.listening(args);
    const sending = t.sendAll(() => second.port, [files[1]]);
    await second.until('cannot be written \\(another collector has it\\)');
    await first.stop('SIGKILL');
    await sending;
    assert.strictEqual((await second.stop()).status, 0);
    assertHolds(t.collected(dir)[`r/${NAME}`], files);
});

test('a file that is not ours is not touched', async () => {
    const dir = t.files({ [`r/${NAME}`]: '{"mine": 1}\n' });
    const c = await t.listening(['-o', dir, '--one-file', NAME]);
    const [f] = ranks(1);
    const sending = t.sendAll(() => c.port, [f]);
    await c.until('a file that is not ours is there');
    fs.renameSync(path.join(dir, 'r', NAME), path.join(dir, 'r', 'mine.jsonl'));
    await sending;
    assert.strictEqual((await c.stop()).status, 0);
    assert.strictEqual(t.collected(dir)['r/mine.jsonl'].toString(), '{"mine": 1}\n');
});

test('a journal that has become long is made anew', async () => {
    const dir = t.folder();
    const args = ['-o', dir, '--one-file', NAME];
    let c = await t.listening(args);
    const files = ranks(8, { events: 2500 });
    await Promise.all(files.map((f) => t.sendAll(() => c.port, [f], { pieceBytes: 1 })));
    const journal = path.join(dir, 'r/.streams', `journal-${NAME}`);
    assert(fs.statSync(journal).size < 9e6, `${fs.statSync(journal).size}`);
    await c.stop('SIGKILL');
    c = await t.listening([...args, '--until-done', '--run', 'r']);
    assert.strictEqual((await c.ended).status, 0);
    assertHolds(t.collected(dir)[`r/${NAME}`], files);
});
