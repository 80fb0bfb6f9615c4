// convert_sessions.test.js: sessions, their phases and tasks as tracks that nest.
// SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const t = require('./convert_tool.js');
const { header, footer, threadName, scope, us, byPhase } = t;

// Lines of one rank, in order of appearance.
class Rank {
    constructor(rank = 0) {
        this.rank = rank;
        this.pid = 70 + rank;
        this.lines = [header({ rank, pid: this.pid }), threadName('main', this.pid)];
    }

    event(name, ph, ns, id, cat = 'session', args = {}) {
        const list = Object.entries({ ...args, rank: this.rank })
            .map(([k, v]) => `"${k}": ${k === 'began' ? us(v) : JSON.stringify(v)}`);
        this.lines.push(`{"name": ${JSON.stringify(name)}, "ph": "${ph}", "ts": ${us(ns)}, ` +
            `"pid": ${this.pid}, "tid": ${this.pid}, "cat": "${cat}", "args": {${list.join(', ')}}, ` +
            `"id": "0x${id.toString(16)}"${ph === 'f' ? ', "bp": "e"' : ''}}`);
        return this;
    }

    session(id, ns, task) {
        return this.event('session', 'b', ns, id, 'session', task === undefined ? {} : { task_id: task });
    }

    end(id, ns, status = null) {
        return this.event('session', 'e', ns, id, 'session', { status, reason: null });
    }

    phase(name, id, from, to) {
        return this.event(name, 'b', from, id).event(name, 'e', to, id, 'session', { began: from });
    }

    task(ph, id, ns, args = {}) {
        return this.event('task', ph, ns, id, 'session.task', args);
    }

    done() {
        return [...this.lines, footer({}, this.pid)];
    }
}

function convert(ranks, args = []) {
    const contents = {};
    for (const r of ranks)
        contents[`traces-r${r.rank}.jsonl`] = r.done();
    const r = t.convert(t.files(contents), args);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.strictEqual(t.complaints(r.out), '');
    return r;
}

const problem = (r, kind) =>
    r.meta.problems.filter((p) => p.kind === kind).reduce((n, p) => n + p.count, 0);
const spans = (events, ph) => byPhase(events, ph).map((e) => e.name).sort().join();

test('equal ids of several ranks are tracks of their own', () => {
    const ranks = [0, 1, 2].map((n) => new Rank(n).task('b', 4, 1000).session(0, 2000, 4)
        .phase('generate', 0, 3000, 4000).end(0, 5000, 'accepted').task('e', 4, 6000));
    const { events, meta } = convert(ranks);
    const tracks = new Map();
    for (const e of byPhase(events, 'b')) {
        const key = `${e.cat} ${e.id}`;
        tracks.set(key, (tracks.get(key) || new Set()).add(e.pid));
    }
    assert.strictEqual(tracks.size, 6);
    for (const pids of tracks.values())
        assert.strictEqual(pids.size, 1);
    assert.deepStrictEqual(meta.sessions, { accepted: 3 });
});

test('what has no end in the file ends with it, and no arrow is missed', () => {
    const rank = new Rank();
    rank.lines.push(scope('loop', 0, 9000, { pid: rank.pid }));
    rank.task('b', 1, 100).session(0, 1000, 1).event('session', 's', 1100, 0).event('stuck', 'b', 2000, 0)
        .session(1, 3000, 2).event('session', 's', 3100, 1).task('e', 2, 4000, { status: 'dropped', reason: null })
        .session(2, 5000);
    const r = convert([rank]);
    const ends = byPhase(r.events, 'e');
    const unfinished = ends.filter((e) => e.args.unfinished === true);
    assert.strictEqual(spans(unfinished, 'e'), 'session,session,stuck,task');
    for (const e of unfinished)
        assert.strictEqual(t.ns(e.ts), 9000);
    const [dropped] = ends.filter((e) => e.args.status === 'dropped');
    assert.strictEqual(t.ns(dropped.ts), 4000);
    assert.deepStrictEqual(r.meta.sessions, { dropped: 1, open: 2 });
    assert.strictEqual(problem(r, 'session_open'), 3);
    assert.strictEqual(problem(r, 'flow_open') + problem(r, 'flow_lone') + problem(r, 'unfinished'), 0);
    assert.match(r.stderr, /3 sessions: 1 dropped, 2 open/);
});

test('a window keeps the sessions and phases that touch it whole, and no halves', () => {
    const rank = new Rank();
    rank.session(1, 1e6).phase('early', 1, 2e6, 3e6).end(1, 4e6, 'accepted')
        .session(2, 5e6).phase('before', 2, 6e6, 7e6).event('during', 'b', 8e6, 2)
        .session(3, 12e6).phase('inside', 3, 13e6, 14e6).end(3, 15e6, 'accepted')
        .session(4, 16e6).event('during', 'e', 17e6, 2, 'session', { began: 8e6 })
        .phase('after', 2, 25e6, 26e6).end(2, 27e6, 'failed').phase('after', 4, 28e6, 29e6).end(4, 30e6, 'failed')
        .session(5, 31e6).phase('late', 5, 32e6, 33e6);
    const r = convert([rank], ['--from', '10ms', '--to', '20ms']);
    assert.strictEqual(spans(r.events, 'b'), 'during,inside,session,session,session');
    assert.strictEqual(spans(r.events, 'e'), 'during,inside,session,session,session');
    const named = convert([rank], ['--name', 'after']);
    assert.strictEqual(spans(named.events, 'b'), 'after,after');
});

test('options change what is written, not how sessions ended', () => {
    const rank = new Rank().session(0, 1000).end(0, 2000, 'rejected').session(1, 3000).end(1, 4000)
        .session(2, 5000).event('stuck', 'b', 6000, 2).end(2, 7000).session(3, 8000).end(3, 9000, 'odd');
    for (const args of [[], ['--no-args'], ['--name', 'nothing']])
        assert.deepStrictEqual(convert([rank], args).meta.sessions,
                               { accepted: 1, rejected: 1, failed: 1, other: 1 });
});

test('a session that a phase ended failed by what was open then, whatever ends before the file does', () => {
    const check = { allow_multiple: true, ready_on_complete: true };
    const rank = new Rank().event('check', 'n', 1, 0, 'session.phase', check);
    for (const id of [0, 1])
        rank.session(id, 1000).event('generate', 'b', 2000, id).phase('check', id, 3000, 4000)
            .event('generate', 'e', 5000, id, 'session', { began: 2000 });
    rank.session(2, 1000).phase('generate', 2, 2000, 2500).phase('check', 2, 3000, 4000).phase('late', 2, 4500, 5000);
    rank.end(1, 6000); // says nothing of how
    assert.deepStrictEqual(convert([rank]).meta.sessions, { accepted: 1, failed: 2 });
});

test('the end of a phase finds its begin, also where its payload has the name of that', () => {
    const rank = new Rank().session(0, 1000).event('generate', 'b', 2000, 0).event('generate', 'b', 2500, 0);
    const args = '"args": {"began": 7, "rank": "mine", "began": ';
    for (const began of [2000, 2500]) {
        rank.event('generate', 'e', 3000 + began, 0, 'session', { began });
        rank.lines[rank.lines.length - 1] = rank.lines[rank.lines.length - 1].replace('"args": {"began": ', args);
    }
    const r = convert([rank.end(0, 9000)]);
    assert.deepStrictEqual(r.meta.sessions, { accepted: 1 });
    const ends = byPhase(r.events, 'e').filter((e) => e.name === 'generate').map((e) => t.ns(e.ts));
    assert.deepStrictEqual(ends.sort((a, b) => a - b), [5000, 5500]);
});

test('a run that stands behind another one in the file has sessions of its own', () => {
    const first = new Rank().session(0, 1000).event('generate', 'b', 2000, 0).session(1, 2500);
    const second = new Rank();
    second.lines[0] = header({ rank: 0, pid: second.pid, mono_ns: '6000000000', epoch_ns: '1790000001000000000' });
    second.session(0, 1000).phase('generate', 0, 2000, 3000).end(0, 4000, 'accepted');
    first.lines.push(...second.lines);
    const r = convert([first]);
    assert.deepStrictEqual(r.meta.sessions, { accepted: 1, open: 2 });
    assert.strictEqual(spans(r.events, 'b'), 'generate,generate,session,session,session');
    const again = byPhase(r.events, 'b').filter((e) => e.name === 'session').map((e) => t.ns(e.ts));
    assert.deepStrictEqual(again.sort((a, b) => a - b), [1000, 2500, 1e9 + 1000]);
    /* A header that only tells a new rank goes on with the same run. */
    const same = new Rank().session(0, 1000);
    same.lines.push(same.lines[0]);
    same.end(0, 2000, 'accepted');
    assert.deepStrictEqual(convert([same]).meta.sessions, { accepted: 1 });
});

test('tasks that are never finalized last as long as their sessions', () => {
    const N = 6000; // more than are kept
    const rank = new Rank();
    for (let i = 0; i < N; i++)
        rank.task('b', i, i * 1000 + 100).session(i, i * 1000 + 200, i).end(i, i * 1000 + 700, 'accepted');
    const r = convert([rank]);
    const ends = byPhase(r.events, 'e').filter((e) => e.name === 'task');
    assert.strictEqual(ends.length, N);
    for (const e of ends)
        assert.strictEqual(t.ns(e.ts) % 1000, 700);
});

test('sessions that end with a phase open are kept within limits', () => {
    const N = 6000;
    const rank = new Rank();
    for (let i = 0; i < N; i++)
        rank.session(i, i * 1000 + 100).event('stuck', 'b', i * 1000 + 200, i).end(i, i * 1000 + 700);
    for (let i = 0; i < N; i++)
        rank.event('stuck', 'e', N * 1000 + i, i, 'session', { began: i * 1000 + 200 });
    const r = convert([rank]);
    assert.deepStrictEqual(r.meta.sessions, { failed: N });
    assert.strictEqual(byPhase(r.events, 'e').filter((e) => e.name === 'session').length, N);
});

test('sessions at random nest on their tracks, and each phase stands there once', () => {
    let seed = 12345;
    const random = (n) => {
        seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
        return (seed >>> 8) % n;
    };
    const rank = new Rank();
    const live = [];
    const late = []; // lines that another thread gives a little later
    const want = { b: 0, e: 0 };
    let now = 1000;
    let sessions = 0;
    const give = (...args) => {
        if (random(10) === 0)
            late.push(args);
        else
            rank.event(...args);
        if (late.length > 3)
            rank.event(...late.splice(random(late.length), 1)[0]);
    };
    while (sessions < 2000) {
        now += random(4);
        const s = live[random(live.length + 1)];
        const dice = random(8);
        if (s === undefined || dice === 0) {
            live.push({ id: sessions, task: sessions >> 2, open: [] });
            rank.session(sessions, now, sessions >> 2);
            sessions++;
            want.b++;
            want.e++;
        } else if (dice < 4) {
            const name = ['generate', 'toolcall', 'reward'][random(3)];
            s.open.push({ name, began: now });
            give(name, 'b', now, s.id);
            want.b++;
            want.e++;
        } else if (dice < 7 && s.open.length > 0) {
            const { name, began } = s.open.splice(random(s.open.length), 1)[0];
            give(name, 'e', now, s.id, 'session', { began });
        } else if (random(3) === 0) {
            live.splice(live.indexOf(s), 1);
            rank.end(s.id, now, 'accepted');
        }
    }
    late.forEach((line) => rank.event(...line));
    const r = convert([rank]);
    assert.strictEqual(byPhase(r.events, 'b').length, want.b);
    assert.strictEqual(byPhase(r.events, 'e').length, want.e);
    assert.strictEqual(r.meta.sessions.accepted + r.meta.sessions.open, sessions);
});
