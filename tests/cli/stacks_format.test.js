// stacks_format.test.js: docs/formats/STACKS.md names every table and column that is written, and no
// other. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const t = require('./stacks_tool.js');

const DOC = t.fs.readFileSync(t.path.join(__dirname, '..', '..', 'docs', 'formats', 'STACKS.md'), 'utf8');
// [{table, columns}]; `threads` is there twice.
const documented = [...DOC.matchAll(/^\| `(\w+)` \| [^|]+ \| ([^|]+) \|$/gm)].map(([, table, columns]) => ({
    table, columns: [...columns.replace(/\([^)]*\)/g, '').matchAll(/`(\w+)`/g)].map((c) => c[1]).sort() }));
const OBJECTS = ['profile', 'callgraph', 'frames', 'totals'];

// A line of which every kind of problem's place is known, and one that cannot be read.
const PROFILE = 'main;work;read 3\nmain;work 1\nno weight\nother;read 2\n';
const COMMANDS = [['top'], ['threads'], ['inclusive'], ['callers', 'read'], ['callgraph', 'work'], ['full'], ['summary'],
                  ['--callers=read', '--call-graph=work', '--full', '--inclusive=read,nowhere']];

function columnsOf(name, table) {
    assert.strictEqual(Array.isArray(table), !OBJECTS.includes(name), name);
    return [...new Set([table].flat().flatMap(Object.keys))].sort();
}

// What JSON.parse would not tell: a member that is there twice. Tables stand one a line.
function members(text) {
    return [...text.matchAll(/^\{?"(\w+)": /gm)].map((m) => m[1]);
}

test('every table and column is documented', () => {
    const dir = t.files({ 'a.txt': PROFILE, 'b.txt': 'main;work 5\nbad\n' });
    const a = t.path.join(dir, 'a.txt');
    const seen = new Set();
    for (const command of [...COMMANDS.map((c) => [...c, a]), ['diff', a, t.path.join(dir, 'b.txt')]]) {
        const text = t.text(['--json', ...command]);
        const r = JSON.parse(text);
        assert.deepStrictEqual(members(text), Object.keys(r), command.join(' '));
        assert.deepStrictEqual(Object.keys(r.perftrace_stacks), ['version']);
        delete r.perftrace_stacks;
        for (const [table, content] of Object.entries(r)) {
            const columns = columnsOf(table, content);
            const at = documented.findIndex((d) => d.table === table && String(d.columns) === String(columns));
            assert(at >= 0, `${command.join(' ')}: ${table}: ${columns}`);
            seen.add(at);
        }
    }
    assert.deepStrictEqual([...seen].sort((x, y) => x - y), documented.map((_, i) => i));
});

test('a function that is nowhere: zeros, and lists without rows', () => {
    const a = t.path.join(t.files({ 'a.txt': PROFILE }), 'a.txt');
    const r = t.report(['--callers=x', '--call-graph=x', '--inclusive=x', a]);
    assert.deepStrictEqual([r.callers, r.callgraph_callers, r.callgraph_callees], [[], [], []]);
    assert.deepStrictEqual(r.callgraph, { function: 'x', inclusive_samples: 0, inclusive_weight: 0,
                                          inclusive_share_of_all: 0, self_samples: 0, self_weight: 0,
                                          self_share_of_all: 0 });
    assert.deepStrictEqual(r.inclusive, [{ samples: 0, share_of_all: 0, weight: 0, function: 'x' }]);
    assert(r.stderr.includes("'x' is in no stack"));
});

test('callers and the call graph of one report stay apart', () => {
    const a = t.path.join(t.files({ 'a.txt': PROFILE }), 'a.txt');
    const r = t.report(['--callers=read', '--call-graph=work', a]);
    assert.deepStrictEqual(r.callers.map((row) => [row.stack, row.weight]), [['main;work;read', 3], ['other;read', 2]]);
    assert.deepStrictEqual(r.callgraph_callers.map((row) => [row.stack, row.weight]), [['main;work', 4]]);
});
