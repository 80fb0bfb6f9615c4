// test_check_trace.js: the strict checker accepts what is right and names what is not.
// SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const zlib = require('node:zlib');
const { spawnSync } = require('node:child_process');
const { test, after } = require('node:test');
const { checkFile } = require('./check_trace.js');

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'check_trace-'));
after(() => fs.rmSync(folder, { recursive: true }));

const NAMES = [
    { name: 'process_name', ph: 'M', pid: 1, tid: 1, args: { name: 'rank 0' } },
    { name: 'thread_name', ph: 'M', pid: 1, tid: 1, args: { name: 'main' } },
];
const x = (name, ts, dur, more) => ({ name, ph: 'X', ts, dur, pid: 1, tid: 1, ...more });

// What the checker says to a file of these bytes, in this process.
async function check(bytes, options = {}) {
    const file = path.join(folder, 'trace.json');
    fs.writeFileSync(file, bytes);
    const run = { stderr: '', stdout: '' };
    run.violations = await checkFile(file, {
        max: 20,
        say: (text) => { run.stderr += `${text}\n`; },
        print: (text) => { run.stdout += `${text}\n`; },
        ...options,
    });
    return run;
}

const document = (events) => JSON.stringify({ traceEvents: events, displayTimeUnit: 'ms' });
const trace = (...events) => document([...NAMES, ...events]);

const GOOD = {
    'no events at all': '{"traceEvents": []}',
    'white space everywhere': ' {\n"a" : [1, {"b":[]}] , "traceEvents"\n: [\n]\r\n}\n',
    'nested and touching scopes': trace(x('a', 0, 10), x('b', 0, 4.5), x('c', 4.5, 5.5),
                                        x('d', 10, 1)),
    'children before their parents': trace(x('b', 1, 1), x('a', 0, 10)),
    'scopes that touch, a little apart': trace(x('a', 16383.779, 0.23),
                                               x('b', 16384.00900000001, 0.00199999999)),
    'one nanosecond between scopes': trace(x('a', 1.001, 0.001), x('b', 1.002, 0.001)),
    'brackets and commas in strings': trace(x('a,]}[{"\\', 0, 1)),
    'names beyond ASCII, raw': trace(x('шаг 步 🚀', 0, 1)),
    'an escaped backslash before u': trace(x('\\ud83d', 0, 1)),
    'begin and end': trace({ ...x('a', 0), ph: 'B' }, { ...x('a', 2), ph: 'E' }),
    'a flow between two slices': trace(
        x('a', 0, 2), x('b', 5, 2), { ...x('f', 1), ph: 's', id: 1 },
        { ...x('f', 6), ph: 'f', id: 1, bp: 'e' }),
    'an async span with a step': trace(
        { ...x('a', 0), ph: 'b', id: 7 }, { ...x('s', 1), ph: 'n', id: 7 },
        { ...x('a', 2), ph: 'e', id: 7 }),
    'async spans that nest and touch': trace(
        { ...x('a', 0), ph: 'b', id: 7 }, { ...x('b', 0), ph: 'b', id: 7 },
        { ...x('b', 1), ph: 'e', id: 7 }, { ...x('c', 1), ph: 'b', id: 7 },
        { ...x('c', 2), ph: 'e', id: 7 }, { ...x('a', 2), ph: 'e', id: 7 }),
    'async spans that cross under two ids': trace(
        { ...x('a', 0), ph: 'b', id: 7 }, { ...x('b', 1), ph: 'b', id: 8 },
        { ...x('a', 2), ph: 'e', id: 7 }, { ...x('b', 3), ph: 'e', id: 8 }),
    'the arrow of a session that does not end': trace(
        x('a', 0, 2), { ...x('session', 1), cat: 'session', ph: 's', id: 1 }),
    'a counter of two series': trace({ ...x('c', 0), ph: 'C', args: { a: 1, b: -2.5 } }),
    'an instant': trace({ ...x('c', 0), ph: 'i', s: 't' }),
};

for (const [title, bytes] of Object.entries(GOOD)) {
    test(`accepts ${title}`, async () => {
        const run = await check(bytes);
        assert.strictEqual(run.violations, 0, run.stderr);
    });
}

const BAD = {
    'a byte order mark': ['\ufeff{"traceEvents": []}', /byte order mark/],
    'an array': ['[]', /no object/],
    'no traceEvents': ['{"a": []}', /no traceEvents/],
    'two traceEvents': ['{"traceEvents": [], "traceEvents": []}', /twice|2 traceEvents/],
    'a second document': ['{"traceEvents": []}{}', /not JSON/],
    'an array that never ends': ['{"traceEvents": [{}', /never ends/],
    'a trailing comma': [document(NAMES).replace(']', ',]'), /comma with no event/],
    'a leading comma': [document(NAMES).replace('[', '[,'), /comma with no event/],
    'NaN': [trace(x('a', 0, 1, { args: { v: 77 } })).replace('77', 'NaN'), /not JSON/],
    'a number past the doubles': [trace(x('a', 0, 1, { args: { v: 77 } })).replace('77', '1e999'),
                                  /too large/],
    'bytes that are no UTF-8': [Buffer.from(trace(x('a\x01b', 0, 1)).replace('\\u0001', '\xff'),
                                            'latin1'), /not UTF-8/],
    'a control byte in a name': [trace(x('a@', 0, 1)).replace('@', '\x01'), /not JSON/],
    'a lone surrogate escape': [trace(x('a@', 0, 1)).replace('@', '\\ud83d'), /surrogate/],
    'a surrogate pair as escapes': [trace(x('a@', 0, 1)).replace('@', '\\ud83d\\ude80'),
                                    /surrogate/],
    'a key that stands twice': [trace(x('a', 0, 1)).replace('"dur":1', '"dur":1,"ts":3'),
                                /"ts" stands twice/],
    'an event that is no object': [trace(5), /no object/],
    'an unknown phase': [trace({ ...x('a', 0, 1), ph: 'Z' }), /unknown ph/],
    'a string as pid': [trace({ ...x('a', 0, 1), pid: '1' }), /pid "1"/],
    'a pid past 2^31': [trace({ ...x('a', 0, 1), pid: 2 ** 31 }), /pid 2147483648/],
    'a tid of 0': [trace({ ...x('a', 0, 1), tid: 0 }), /tid 0/],
    'ts on metadata': [document(NAMES.map((m) => ({ ...m, ts: 0 }))), /ts on metadata/],
    'a time before 0': [trace(x('a', -1, 1)), /ts -1/],
    'a time as string': [trace(x('a', '1', 1)), /ts "1"/],
    'a time finer than a nanosecond': [trace(x('a', 1.0005, 1)), /ts 1.0005/],
    'an epoch in microseconds': [trace(x('a', 1790000000123456.7, 1)), /keeps its nanoseconds/],
    'a scope with no duration': [trace(x('a', 1)), /dur undefined/],
    'scopes that cross in doubles': [trace(x('a', 16383.779, 0.23), x('b', 16384.009, 1)),
                                     /"a" .* crosses "b" .* ts - 0 in doubles/],
    'scopes that cross in doubles from the first time on': [
        trace(x('a', 0.1, 0.1), x('b', 1.006, 0.101), x('c', 1.107, 0.1)), /ts - 0.1 in doubles/],
    'a scope that ends after its parent in doubles': [
        trace(x('a', 16383.478, 0.548), x('b', 16383.796, 0.23)), /"b" .* crosses "a"/],
    'a duration finer than a nanosecond': [trace(x('a', 1, 0.0015)), /dur 0.0015/],
    'crossing scopes': [trace(x('a', 0, 5), x('b', 3, 5)), /"b" \[3000, 8000\] ns crosses "a"/],
    'a crossing of one nanosecond': [trace(x('a', 0, 5.001), x('b', 5, 5)), /crosses/],
    'a begin with no end': [trace({ ...x('a', 0), ph: 'B' }), /B of "a" has no E/],
    'an end with no begin': [trace({ ...x('a', 0), ph: 'E' }), /E with no B/],
    'an end of another name': [trace({ ...x('a', 0), ph: 'B' }, { ...x('b', 1), ph: 'E' }),
                               /closes B/],
    'a counter with a string': [trace({ ...x('c', 0), ph: 'C', args: { a: '1' } }), /no number/],
    'a counter with null': [trace({ ...x('c', 0), ph: 'C', args: { a: null } }), /no number/],
    'a counter with nothing': [trace({ ...x('c', 0), ph: 'C' }), /no series/],
    'a flow in no slice': [trace(x('a', 0, 2), { ...x('f', 1), ph: 's', id: 1 },
                                 { ...x('f', 6), ph: 'f', id: 1, bp: 'e' }), /in no slice/],
    'a flow that ends before it starts': [
        trace(x('a', 0, 9), { ...x('f', 6), ph: 's', id: 1 },
              { ...x('f', 1), ph: 'f', id: 1, bp: 'e' }), /before it starts/],
    'a flow with no start': [trace(x('a', 0, 9), { ...x('f', 1), ph: 'f', id: 1, bp: 'e' }),
                             /0 starts/],
    'a flow that starts twice': [
        trace(x('a', 0, 9), { ...x('f', 1), ph: 's', id: 1 }, { ...x('f', 2), ph: 's', id: 1 },
              { ...x('f', 3), ph: 'f', id: 1, bp: 'e' }), /2 starts/],
    'a flow end that binds to the next slice': [
        trace(x('a', 0, 9), { ...x('f', 1), ph: 's', id: 1 }, { ...x('f', 3), ph: 'f', id: 1 }),
        /"bp": "e"/],
    'an id past 2^31': [trace({ ...x('a', 0), ph: 'b', id: 2 ** 31 },
                              { ...x('a', 1), ph: 'e', id: 2 ** 31 }), /below 2\^31/],
    'an async end with no begin': [trace({ ...x('a', 0), ph: 'e', id: 1 }), /no begin/],
    'an async begin with no end': [trace({ ...x('a', 0), ph: 'b', id: 1 }), /no end/],
    'async spans of one id that cross': [
        trace({ ...x('a', 0), ph: 'b', id: 1 }, { ...x('b', 1), ph: 'b', id: 1 },
              { ...x('a', 2), ph: 'e', id: 1 }, { ...x('b', 3), ph: 'e', id: 1 }),
        /async "a" .* ends while "b" is open in it/],
    'async spans that begin together, the inner one first': [
        trace({ ...x('b', 0), ph: 'b', id: 1 }, { ...x('a', 0), ph: 'b', id: 1 },
              { ...x('b', 1), ph: 'e', id: 1 }, { ...x('a', 2), ph: 'e', id: 1 }),
        /async "b" .* ends while "a" is open in it/],
    'an arrow that does not end': [
        trace(x('a', 0, 2), { ...x('f', 1), ph: 's', id: 1 }), /never ends/],
    'a thread with no name': [document([NAMES[0], x('a', 0, 1)]), /no thread_name/],
    'a process with no name': [document([NAMES[1], x('a', 0, 1)]), /no process_name/],
    'two names for one process': [
        document([...NAMES, { ...NAMES[0], args: { name: 'other' } }]), /second process_name/],
    'cut gzip': [zlib.gzipSync(trace()).subarray(0, -3), /trailer is cut/],
    'gzip of two members': [Buffer.concat([zlib.gzipSync(trace()), zlib.gzipSync(' ')]),
                            /behind the first member/],
};

for (const [title, [bytes, expected]] of Object.entries(BAD)) {
    test(`rejects ${title}`, async () => {
        const run = await check(bytes);
        assert.notStrictEqual(run.violations, 0);
        assert.match(run.stderr, expected);
    });
}

test('a damaged gzip checksum is a violation', async () => {
    const bytes = zlib.gzipSync(trace());
    bytes[bytes.length - 8] ^= 1;
    const run = await check(bytes);
    assert.strictEqual(run.violations, 1);
    assert.match(run.stderr, /wrong checksum/);
});

test('gzip with a name, an extra field and a comment in its header is read', async () => {
    const plain = zlib.gzipSync(trace(x('a', 0, 1)));
    const head = Buffer.from([0x1f, 0x8b, 8, 4 | 8 | 16, 0, 0, 0, 0, 0, 3, 2, 0, 65, 66]);
    const run = await check(Buffer.concat([head, Buffer.from('name\0comment\0'), plain.subarray(10)]));
    assert.strictEqual(run.violations, 0, run.stderr);
});

test('--allow-open accepts what never ends', async () => {
    const open = trace({ ...x('a', 0), ph: 'B' }, { ...x('b', 0), ph: 'b', id: 1 });
    assert.strictEqual((await check(open)).violations, 2);
    assert.strictEqual((await check(open, { allowOpen: true })).violations, 0);
});

test('only the first violations are printed, the rest are counted', async () => {
    const run = await check(trace(...Array.from({ length: 30 }, () => 5)), { max: 3 });
    assert.strictEqual(run.stderr.trim().split('\n').length, 4);
    assert.match(run.stderr, /27 more violations/);
});

test('a file of many chunks gives the same counts, plain and compressed', async () => {
    const events = Array.from({ length: 60000 }, (_, i) => x(`scope "${i}" é`, i * 10, 7.125));
    for (const bytes of [Buffer.from(trace(...events)), zlib.gzipSync(trace(...events))]) {
        const run = await check(bytes);
        assert.strictEqual(run.violations, 0, run.stderr);
        assert.match(run.stdout, /60002 events/);
        assert.match(run.stdout, /X 60000/);
    }
});

test('the program tells good, bad and unusable input by its exit status', () => {
    const main = path.join(__dirname, 'check_trace.js');
    const run = (...args) => spawnSync(process.execPath, [main, ...args], { encoding: 'utf8' });
    const [good, bad] = ['good.json', 'bad.json'].map((name) => path.join(folder, name));
    fs.writeFileSync(good, trace(x('a', 0, 1)));
    fs.writeFileSync(bad, trace(5));
    assert.strictEqual(run(good).status, 0);
    assert.match(run(good).stdout, /by ph: M 2, X 1/);
    assert.strictEqual(run('--quiet', good).stdout, '');
    assert.strictEqual(run(good, bad).status, 1);
    assert.match(run(bad).stderr, /no object/);
    assert.strictEqual(run().status, 2);
    assert.strictEqual(run('--nonsense', good).status, 2);
    assert.strictEqual(run(path.join(folder, 'none')).status, 2);
});
