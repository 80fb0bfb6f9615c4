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
    assert.match(r.stderr, /2,500 events of 5 ranks in 2 files; 5 dropped/);
    const got = t.collected(dir);
    assert.deepStrictEqual(Object.keys(got).sort(), ['r/sessions-r0.jsonl', `r/${NAME}`]);
    assertHolds(got[`r/${NAME}`], files);
    const jq = spawnSync('jq', ['-s', 'length', path.join(dir, 'r', NAME)]);
    if (!jq.error)
        assert.strictEqual(jq.stdout.toString().trim(), String(lines(got[`r/${NAME}`]).length));
});

// A trace with counters, whose lines tell no rank; those of the events do where it is known.
function withCounters({ rank, start, events = 300 }) {
    const all = t.traceLines({ rank: rank ?? 0, world: 2, pid: 1, events, start, epoch: `1790000000000000${start}00` });
    const own = rank === null ? all.map((l) => l.replace('"rank": 0, "world_size"', '"rank": null, "world_size"')
        .replace(/, "rank": 0}}$/, '}}')) : all;
    const counter = (i) => `{"name": "mem", "ph": "C", "ts": ${i}.000, "pid": 1, "tid": 1, "cat": "memory", ` +
                           `"args": {"gb": ${start}.${i}}}`;
    const mixed = own.flatMap((l, i) => l.includes('"ph": "X"') ? [l, counter(i)] : [l]);
    mixed[mixed.length - 1] = mixed[mixed.length - 1].replace(`"emitted": ${events}, "written": ${events}`,
                                                              `"emitted": ${2 * events}, "written": ${2 * events}`);
    return t.file(Buffer.from(mixed.map((l) => l + '\n').join('')),
                  { rank, world_size: 2, pid: 1, host: `node-${start}`, name: `traces-${start}.jsonl` });
}

// What a reader makes of the one file: a line is of the process that it tells by its rank, or whose line or header
// came last. Copies of headers are left out.
function assertTold(bytes, files) {
    const first = files.map((f) => lines(f.bytes)[0]);
    const got = files.map(() => []);
    let copies = 0;
    let now = -1;
    for (const l of lines(bytes)) {
        const header = first.indexOf(l);
        const rank = /"rank": (\d+)(}}$|, "role")/.exec(l);
        now = header >= 0 ? header : rank ? files.findIndex((f) => f.keys.rank === Number(rank[1])) : now;
        if (header >= 0 && got[now].length > 0)
            copies++;
        else
            got[now].push(l);
    }
    files.forEach((f, i) => assert.strictEqual(got[i].join('\n'), lines(f.bytes).join('\n'), f.keys.name));
    return copies;
}

for (const ranks of [[0, 1], [null, null], [0, null]]) {
    const files = ranks.map((rank, i) => withCounters({ rank, start: i + 1 }));

    test(`lines that do not say whose they are come behind a header of their process: ranks ${JSON.stringify(ranks)}`, async () => {
        const dir = t.folder();
        const args = ['-o', dir, '--one-file', NAME];
        let c = await t.listening(args);
        const at = [0, 0];
        const ends = files.map((f) => t.borders(f.bytes));
        let senders;
        const connect = async () => { senders = [await t.connect(c.port), await t.connect(c.port)]; };
        await connect();
        for (let turn = 0; at.some((a, i) => a < files[i].bytes.length); turn++) {
            if (turn === 200) { // it knows the headers from its journal
                await c.stop('SIGKILL');
                c = await t.listening(args);
                await connect();
            }
            const i = turn % 2;
            const to = ends[i][Math.min(ends[i].indexOf(at[i]) + 1 + turn % 3, ends[i].length - 1)];
            if (to > at[i]) {
                senders[i].piece(files[i], at[i], to);
                assert.strictEqual((await senders[i].next('ack')).offset, to);
                senders[i].piece(files[i], at[i], to); // again: neither it nor a header is there twice
                await senders[i].next('ack');
            }
            at[i] = to;
        }
        await Promise.all(senders.map((s) => s.end()));
        const r = await c.stop();
        assert.strictEqual(r.status, 0, r.stderr); // the accounts of the footers: no copy is counted
        assert.match(r.stderr, /1,200 events of 2 ranks in 1 file;/);
        assert(assertTold(t.collected(dir)[`r/${NAME}`], files) > 20);
    });

    test(`kill -9 with copies of headers: ranks ${JSON.stringify(ranks)}`, async () => {
        const dir = t.folder();
        const args = ['-o', dir, '--one-file', NAME];
        let c = await t.listening(args);
        let done = false;
        const sending = Promise.all(files.map((f) => t.sendAll(() => c.port, [f], { pieceBytes: 200, pause: 1 })))
            .then(() => { done = true; });
        for (let kills = 0; !done && kills < 8; kills++) {
            await t.sleep(30 + kills * 17 % 40);
            await c.stop('SIGKILL');
            c = await t.listening(args);
        }
        await sending;
        const r = await c.stop();
        assert.strictEqual(r.status, 0, r.stderr);
        assertTold(t.collected(dir)[`r/${NAME}`], files);
    });
}

test('the header of a rank that was set late is the one that is copied', async () => {
    const dir = t.folder();
    const c = await t.listening(['-o', dir, '--one-file', NAME]);
    const [late, other] = [withCounters({ rank: null, start: 3 }), withCounters({ rank: 1, start: 4 })];
    const ls = lines(late.bytes);
    const second = ls[0].replace('"rank": null', '"rank": 0');
    ls.splice(9, 0, second);
    late.bytes = Buffer.from(ls.map((l) => l + '\n').join(''));
    const s = await t.connect(c.port);
    const put = async (f, from, to) => {
        s.piece(f, t.borders(f.bytes)[from], t.borders(f.bytes)[to]);
        await s.next('ack');
    };
    await put(late, 0, 4);
    await put(other, 0, 4);
    await put(late, 4, 12); // begins with a counter
    await put(other, 4, 6);
    await put(late, 12, 13);
    await s.end();
    await c.stop();
    const o = lines(other.bytes);
    assert.deepStrictEqual(lines(t.collected(dir)[`r/${NAME}`]),
                           [...ls.slice(0, 4), ...o.slice(0, 4), ls[0], ...ls.slice(4, 12), o[0], ...o.slice(4, 6), second, ls[12]]);
});

test('a stream that was a trace is no sessions file: refused, and its sender goes on', async () => {
    const dir = t.folder();
    const c = await t.listening(['-o', dir, '--one-file', NAME, '--status', '0']);
    const status = Number((await c.until(/status at http:\/\/127\.0\.0\.1:(\d+)/))[1]);
    const [f] = ranks(1);
    const ends = t.borders(f.bytes);
    const s = await t.connect(c.port);
    s.piece(f, 0, ends[50]);
    await s.next('ack');
    const flipped = { ...f, keys: { ...f.keys, kind: 'sessions', name: 'sessions-r0.jsonl' } };
    for (const send of [(x) => x.send({ type: 'have', ...flipped.keys }), (x) => x.piece(flipped, ends[50], ends[60])]) {
        const x = await t.connect(c.port);
        send(x);
        assert.deepStrictEqual(await x.next(), { type: 'error', text: 'a stream that was of another kind before' });
        await x.closed;
    }
    const renamed = await t.connect(c.port);
    assert.strictEqual((await renamed.have({ ...f, keys: { ...f.keys, name: 'other.jsonl', rank: null } })).offset, ends[50]);
    await renamed.end();
    s.piece(f, ends[50], f.bytes.length);
    assert.strictEqual((await s.next()).offset, f.bytes.length);
    await s.end();
    const state = await (await fetch(`http://127.0.0.1:${status}/status`)).json();
    assert.strictEqual(state.connections_ended.garbage, 2);
    assert.strictEqual(state.ranks[0].rank, 0);
    assert.strictEqual((await c.stop()).status, 0);
    assert.deepStrictEqual(t.collected(dir), { [`r/${NAME}`]: f.bytes });
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
