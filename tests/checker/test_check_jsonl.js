// test_check_jsonl.js: the strict checker of rank files accepts what is right and names what is
// not. SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { spawnSync } = require('node:child_process');
const { test, after } = require('node:test');

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'check_jsonl-'));
after(() => fs.rmSync(folder, { recursive: true }));

const HEAD = '{"name": "perftrace_header", "ph": "M", "pid": 7, "tid": 7, "args": ' +
    '{"version": 1, "epoch_ns": "1790000000123456789"}}';
const NAME = '{"name": "thread_name", "ph": "M", "pid": 7, "tid": 7, "args": {"name": "main"}}';
const SCOPE = '{"name": "a", "ph": "X", "ts": 1.000, "dur": 0.001, "pid": 7, "tid": 7, ' +
    '"cat": "misc", "args": {}}';
const FLOW = '{"name": "f", "ph": "s", "ts": 1.000, "pid": 7, "tid": 7, "cat": "misc", ' +
    '"args": {}, "id": "0x1f"}';
const DROP = '{"name": "perftrace_drop", "ph": "M", "pid": 7, "tid": 7, "args": ' +
    '{"cause": "ring_full", "count": 2}}';
const foot = (emitted, written, dropped = '{}', unfinished = 0) =>
    '{"name": "perftrace_footer", "ph": "M", "pid": 7, "tid": 7, "args": ' +
    `{"emitted": ${emitted}, "written": ${written}, "dropped": ${dropped}, ` +
    `"unfinished": ${unfinished}}}`;

function check(lines, ...flags) {
    const file = path.join(folder, 'traces-r0.jsonl');
    fs.writeFileSync(file, typeof lines === 'string' ? lines : `${lines.join('\n')}\n`);
    return spawnSync(process.execPath, [path.join(__dirname, 'check_jsonl.js'), ...flags, file],
                     { encoding: 'utf8' });
}

test('accepts a whole file', () => {
    const run = check([HEAD, NAME, SCOPE, FLOW, DROP, foot(4, 2, '{"ring_full": 2}')]);
    assert.strictEqual(run.status, 0, run.stderr);
});

test('accepts scopes that were open at the end, marked, and counts them', () => {
    const open = SCOPE.replace('"X"', '"B"').replace('"dur": 0.001, ', '')
        .replace('"args": {}', '"args": {"unfinished": true}');
    assert.strictEqual(check([HEAD, NAME, SCOPE, open, foot(1, 1, '{}', 1)]).status, 0);
    assert.strictEqual(check([HEAD, NAME, SCOPE, open, foot(1, 1, '{}', 0)]).status, 1);
    assert.strictEqual(check([HEAD, NAME, open.replace('true', '1'), foot(1, 1)]).status, 1);
});

test('accepts a scope that was left open and is counted as unfinished', () => {
    const open = '{"name": "a", "ph": "B", "ts": 1.000, "pid": 7, "tid": 7, "cat": "misc", ' +
        '"args": {"unfinished": true}}';
    const run = check([HEAD, NAME, open, foot(0, 0, '{}', 1)]);
    assert.strictEqual(run.status, 0, run.stderr);
    assert.match(check([HEAD, NAME, open, foot(0, 0)]).stderr, /0 unfinished/);
});

test('accepts a file without footer only when asked to', () => {
    assert.strictEqual(check([HEAD, NAME, SCOPE]).status, 1);
    assert.strictEqual(check([HEAD, NAME, SCOPE], '--no-footer').status, 0);
});

const BAD = {
    'an empty file': ['', /empty file/],
    'a torn last line': [`${HEAD}\n${NAME}\n{"na`, /no end/],
    'a line that is no JSON': [[HEAD, NAME, '{', foot(0, 0)], /not JSON/],
    'an empty line': [[HEAD, NAME, '', foot(0, 0)], /not JSON/],
    'a first line that is no header': [[NAME, HEAD, foot(0, 0)], /no header/],
    'keys in another order': [[HEAD, NAME, SCOPE.replace('"ph": "X", "ts": 1.000',
                                                         '"ts": 1.000, "ph": "X"'),
                               foot(1, 1)], /keys ts|keys name, ts/],
    'two decimals': [[HEAD, NAME, SCOPE.replace('1.000', '1.00'), foot(1, 1)], /three decimals/],
    'a duration of nothing': [[HEAD, NAME, SCOPE.replace('0.001', '0.000'), foot(1, 1)],
                              /dur 0/],
    'a flow without id': [[HEAD, NAME, FLOW.replace(', "id": "0x1f"', ''), foot(1, 1)], /with id/],
    'an event before its thread is named': [[HEAD, SCOPE, NAME, foot(1, 1)], /no thread_name/],
    'an event of another process': [[HEAD, NAME, SCOPE.replace('"pid": 7', '"pid": 8'),
                                     foot(1, 1)], /pid 8/],
    'a wrong count': [[HEAD, NAME, SCOPE, foot(2, 2)], /the file holds 1/],
    'an account that does not add up': [[HEAD, NAME, SCOPE, foot(3, 1)], /3 emitted/],
    'drop records beside the footer': [[HEAD, NAME, DROP, foot(3, 0, '{"ring_full": 3}')],
                                       /2 in drop records/],
    'a line behind the footer': [[HEAD, NAME, foot(1, 1), SCOPE], /behind the footer/],
};

for (const [title, [lines, expected]] of Object.entries(BAD)) {
    test(`rejects ${title}`, () => {
        const run = check(lines);
        assert.strictEqual(run.status, 1, run.stdout);
        assert.match(run.stderr, expected);
    });
}

test('wrong usage and a missing file exit with 2', () => {
    const main = path.join(__dirname, 'check_jsonl.js');
    assert.strictEqual(spawnSync(process.execPath, [main]).status, 2);
    assert.strictEqual(spawnSync(process.execPath, [main, '--what', 'x']).status, 2);
    assert.strictEqual(spawnSync(process.execPath, [main, path.join(folder, 'none')]).status, 2);
});
