// live_busy.test.js: threads at full speed are watched: no stack is shown that never was.
// SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const { WORKER, folder, rank, end, run, look, stackOf } = require('./live_tool.js');

const LOOKS = 1000;
// They take all the processors there are, but not from the one who looks.
const KIND = ['nice', '-n', '19', WORKER];

// What may lie in what; see live_worker.c. "": at the bottom.
const IN = { '': 'a', a: 'bc', b: 'd', c: 'e', d: '', e: '' };
const IN_INLINE = { '': 'a', a: 'bc', b: 'd', c: 'ef', d: '', e: '', f: '' };

// Checks a thread of the busy worker; its digit, or null when it is in nothing.
function checkThread(thread) {
    const stack = stackOf(thread);
    const digit = stack.length > 0 ? stack[0].slice(1) : '';
    let below = '', age = Infinity;
    for (const scope of thread.scopes) {
        assert.strictEqual(scope.name.slice(1), digit, stack.join('>'));
        assert.ok((digit ? IN : IN_INLINE)[below].includes(scope.name[0]), stack.join('>'));
        assert.strictEqual(scope.category, 'busy');
        assert.ok(scope.age_s <= age, stack.join('>'));
        below = scope.name[0];
        age = scope.age_s;
    }
    return digit;
}

test(`eight threads, looked at ${LOOKS} times`, async () => {
    const dir = folder();
    const worker = await rank(dir, 0, 1, ['busy', '8'], {}, KIND);
    const r = run(['--json', '--count', String(LOOKS), '--interval', '0.001', dir]);
    assert.strictEqual(r.status, 0, r.stderr);
    const views = r.stdout.trimEnd().split('\n').map((line) => JSON.parse(line));
    assert.strictEqual(views.length, LOOKS);
    const digits = new Map(), depths = new Set();
    let whole = 0, moved = 0, written = 0, rate = 0;
    for (const view of views) {
        const [p] = view.processes;
        const busy = p.threads.filter((t) => t.tid !== worker.pid);
        assert.strictEqual(busy.length, 8);
        for (const thread of busy) {
            const digit = checkThread(thread);
            if (thread.scopes.length > 0) // a thread has one digit all its life
                assert.strictEqual(digits.get(thread.tid) ?? digit, digit);
            if (thread.scopes.length > 0)
                digits.set(thread.tid, digit);
            depths.add(thread.scopes.length);
            whole += thread.whole;
            moved += thread.moved;
        }
        assert.ok(p.written >= written);
        written = p.written;
        rate = Math.max(rate, p.events_per_s);
        assert.deepStrictEqual([view.problems, p.problem], [[], null]);
    }
    assert.strictEqual(digits.size, 8);
    assert.ok(depths.has(3), [...depths].join());
    assert.ok(whole > 0 && moved > 0);
    // Alone, each look is a process of its own.
    for (let i = 0; i < 20; i++) {
        const [p] = look(['--interval', '0', dir]).processes;
        p.threads.filter((t) => t.tid !== worker.pid).forEach(checkThread);
        assert.deepStrictEqual(p.threads.map((t) => t.events_per_s), p.threads.map(() => null));
    }
    assert.ok(rate > 1000, String(rate));
    await end(worker);
});

test('threads that come and go are not taken for each other', async () => {
    const dir = folder();
    const worker = await rank(dir, 0, 1, ['coming'], {}, KIND);
    const r = run(['--json', '--count', String(LOOKS), '--interval', '0.001', dir]);
    assert.strictEqual(r.status, 0, r.stderr);
    const names = new Set();
    for (const line of r.stdout.trimEnd().split('\n')) {
        const [p] = JSON.parse(line).processes;
        for (const thread of p.threads.filter((t) => t.scopes.length > 0)) {
            assert.deepStrictEqual(stackOf(thread), [thread.name]);
            names.add(thread.name);
        }
    }
    assert.ok(names.size > 1, `${names.size} were met in a scope`);
    await end(worker);
});
