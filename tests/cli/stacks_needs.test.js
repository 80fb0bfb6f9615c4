// stacks_needs.test.js: what users of such tools have asked for. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const t = require('./stacks_tool.js');

const file = (name, content) => t.path.join(t.files({ [name]: content }), name);
const speedscope = (frames, profiles) => JSON.stringify({
    $schema: 'https://www.speedscope.app/file-format-schema.json',
    shared: { frames: frames.map((name) => ({ name })) }, profiles });
const byFunction = (rows) => Object.fromEntries(rows.map((row) => [row.function, row]));

test('PT-15: blanks, comments, decimals and bad lines of collapsed stacks', () => {
    const path = file('p.txt', 'main;load data;read 3\nmain;f(int, char) 2\nmain;x 1.5\n# note\n\n' +
        'main;load data;read 4\r\nmain;y\nmain;z -4\nmain;größe;日本 1\n');
    const r = t.report(['full', path]);
    assert.strictEqual(r.status, 0);
    assert.strictEqual(r.profile.weight, 11.5);
    assert.deepStrictEqual(r.stacks.map((row) => [row.stack, row.weight]), [
        ['main;load data;read', 7], ['main;f(int, char)', 2], ['main;x', 1.5], ['main;größe;日本', 1]]);
    assert.match(r.stderr, /p\.txt:7 .*no blank and weight at its end: main;y\n/);
    assert.match(r.stderr, /p\.txt:8 .*its weight is no number from 0 up: -4\n/);
    assert.strictEqual(r.stderr.split('\n').filter(Boolean).length, 2, 'the rest is silent');
    const made = JSON.parse(t.text(['convert', path, '-o', '-', '--unit', 'none']));
    assert.strictEqual(made.profiles[0].samples.length, made.profiles[0].weights.length);
    assert.strictEqual(made.profiles[0].weights.reduce((a, b) => a + b), 11.5);
});

test('PT-38: recursive functions count once', () => {
    const one = file('p.txt', 'a;b;b;b 10\na 90\n');
    const r = t.report([one, '--inclusive', 'a,b']);
    const inclusive = byFunction(r.inclusive);
    const self = byFunction(r.self);
    assert.deepStrictEqual([inclusive.b.weight, inclusive.b.share_of_all, self.b.weight], [10, 0.1, 10]);
    assert.deepStrictEqual([inclusive.a.weight, inclusive.a.share_of_all, self.a.weight], [100, 1, 90]);
    const two = file('q.txt', 'x;a 100\ny;a 100\n');
    const out = t.text([two, '--inclusive', 'a']);
    assert.match(out, /Weight: 200, the base of all shares that name no other/);
    const both = byFunction(t.report([two, '--inclusive', 'a']).inclusive);
    assert.deepStrictEqual([both.a.weight, both.a.share_of_all], [200, 1]);
    for (const each of t.report(['threads', two]).threads)
        assert.strictEqual(each.share_of_total, 0.5);
});

test('PT-45: one bad profile does not spoil the others', () => {
    const sampled = (name, unit, samples, weights, more) => ({ type: 'sampled', name, unit, samples, weights, ...more });
    const bounds = { startValue: 0, endValue: 3 };
    const path = file('p.json', speedscope(['f'], [
        sampled('p1', 'seconds', [[0], [0], [0]], [1, 1, 1], bounds),
        sampled('p2', 'seconds', [[0], [0]], [1, 1, 1], bounds),
        sampled('p3', 'seconds', [], [], bounds),
        sampled('p4', 'milliseconds', [[0]], [500])]));
    const r = t.report(['threads', path]);
    assert.strictEqual(r.status, 0);
    assert.deepStrictEqual(r.threads.map((each) => [each.thread, each.weight, each.unit]),
                           [['p1', 3, 'seconds'], ['p4', 0.5, 'seconds'], ['p3', 0, 'seconds']]);
    assert.match(r.stderr, /"p2": 2 samples, 3 weights/);
    assert(!t.text(['threads', path]).includes('NaN'));
    const none = t.run([file('p.json', speedscope(['f'], []))]);
    assert.strictEqual(none.status, 3);
    assert.match(none.stderr, /no profiles/);
});

test('PT-57: evented profiles out of order', () => {
    const evented = (events, endValue) => speedscope(['f0', 'f1'], [
        { type: 'evented', name: 'p', unit: 'none', startValue: 0, endValue, events }]);
    const event = (type, frame, at) => ({ type, frame, at });
    const crossed = file('p.json', evented([event('O', 0, 0), event('O', 1, 2), event('C', 0, 5), event('C', 1, 6)], 6));
    const refused = t.run([crossed]);
    assert.strictEqual(refused.status, 3);
    assert.match(refused.stderr, /"p": event 2 closes a frame that is not the innermost one/);
    const back = t.run([file('p.json', evented([event('O', 0, 10), event('C', 0, 9)], 10))]);
    assert.strictEqual(back.status, 3);
    assert.match(back.stderr, /"p": event 1 goes back in time/);
    const mended = t.report([crossed, '--mend', '--inclusive', 'f0,f1']);
    assert.strictEqual(mended.status, 0);
    assert.strictEqual(t.problems(mended).mended_event, 2);
    const inclusive = byFunction(mended.inclusive);
    const self = byFunction(mended.self);
    assert.deepStrictEqual([inclusive.f0.weight, self.f0.weight, inclusive.f1.weight], [5, 2, 3]);
    const open = t.report([file('p.json', evented([event('O', 0, 1), event('O', 1, 2), event('C', 1, 5)], 8)),
                           '--inclusive', 'f0']);
    assert.strictEqual(open.status, 0);
    assert.strictEqual(open.inclusive[0].weight, 7);
    assert.match(open.stderr, /frame still open at the end.*closed at 8/);
    assert.strictEqual(t.run(['--strict', file('p.json', evented([event('O', 0, 1)], 8))]).status, 0, 'a note');
});
