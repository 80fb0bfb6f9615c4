// describe.test.js: what names and headers tell. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const zlib = require('zlib');
const { spawnSync } = require('child_process');
const tool = require('./tool.js');

const TOOL = tool.toolOf('PERFTRACE_DESCRIBE');
const NAME = process.env.PERFTRACE_TEST_NAME;
// Names have local times: the answers must be those of this zone.
const env = { ...process.env, TZ: 'Asia/Tokyo' };

const run = (args, cwd, more = {}) => {
    const r = tool.run(TOOL, args, { cwd, env, ...more });
    return { status: r.status, stdout: r.stdout.toString('utf8'), stderr: r.stderr };
};
const json = (args, cwd, more) => {
    const r = run(['--json', ...args], cwd, more);
    return { ...r, files: r.stdout ? JSON.parse(r.stdout).files : [] };
};

// 2026-09-21 16:53:20.123 in Tokyo.
const MS = 1789977200123;
// As our writer has it: blanks behind commas and colons.
const line = (object) => JSON.stringify(object).replace(/(":|,(?="))/g, '$1 ');
const header = (args) => line({ name: 'perftrace_header', ph: 'M', pid: args.pid, tid: args.pid,
    args: { version: 1, run_id: 'f00d', rank: args.rank, world_size: args.world_size, role: args.role,
            host: args.host, epoch_ns: `${MS}000000`, mono_ns: '5', pid: args.pid } });
const scope = (step, ts) => line({ name: 'train', ph: 'X', ts, dur: 1.5, pid: 42, tid: 42, cat: 'compute',
    args: { ...(step === null ? {} : { global_step: step }), rank: 3 } });
const trace = [header({ pid: 42, rank: 3, world_size: 8, role: 'actor/ref v2', host: 'node-1' }),
               scope(null, 1), scope(11, 2), scope(10, 3), scope(12, 4)];

test('a name that the library made, and the file renamed (needs PT-29)', (t) => {
    if (!NAME)
        return t.skip('the program that makes names was not built');
    const made = spawnSync(NAME, ['actor/ref v2', '3', '8', 'node-1', '42', '10', '12', String(MS), '.jsonl'],
                           { env, encoding: 'utf8' });
    assert.strictEqual(made.status, 0, made.stderr);
    const name = made.stdout.trim();
    const dir = tool.folder();

    const [byName] = json(['--names-only', name], dir).files;
    const known = { rank: 3, world_size: 8, host: 'node-1', pid: 42, first_step: 10, last_step: 12, start_ms: MS };
    for (const [key, value] of Object.entries(known))
        assert.strictEqual(byName[key], value, key);
    assert.strictEqual(byName.role, 'actor-ref-v2'); // safe in a file name
    assert.strictEqual(byName.known_by, 'name');

    // The file, under the name and under another.
    fs.writeFileSync(path.join(dir, name), trace.map((l) => l + '\n').join(''));
    const [both] = json([name], dir).files;
    assert.strictEqual(both.known_by, 'name, header');
    fs.renameSync(path.join(dir, name), path.join(dir, 'x.jsonl'));
    const [byHeader] = json(['x.jsonl'], dir).files;
    assert.strictEqual(byHeader.known_by, 'header');
    for (const file of [both, byHeader]) {
        for (const [key, value] of Object.entries(known))
            assert.strictEqual(file[key], value, key);
        assert.strictEqual(file.role, 'actor/ref v2');
        assert.strictEqual(file.run_id, 'f00d');
        assert.strictEqual(file.size, fs.statSync(path.join(dir, 'x.jsonl')).size);
    }
    const text = run(['x.jsonl'], dir);
    assert.strictEqual(text.status, 0, text.stderr);
    for (const line of ['x.jsonl', '  rank      3 of 8', '  role      actor/ref v2', '  steps     10 to 12',
                        '  host      node-1', '  process   42', '  start     2026-09-21 07:53:20.123Z'])
        assert.ok(text.stdout.split('\n').includes(line), `${line} in\n${text.stdout}`);
});

test('the names of the documentation', () => {
    const names = ['actor_train_step7_rank5-of-16_tp1-pp0-dp2-cp0_pid4242_20260721155825123.json.gz',
                   'critic_step3_ranku_pid7_20260721155825123.2_mb3-4_cycle1_part2_aborted2-of-3_by-hand.collapsed.txt'];
    const { files, status, stderr } = json(['-n', ...names], tool.folder());
    assert.strictEqual(status, 0, stderr);
    const [a, b] = files;
    assert.deepStrictEqual([a.prefix, a.role, a.first_step, a.last_step, a.rank, a.world_size, a.tp, a.pp, a.dp, a.cp, a.ep, a.pid],
                           ['actor', 'train', 7, 7, 5, 16, 1, 0, 2, 0, null, 4242]);
    assert.strictEqual(a.start_ms, Date.UTC(2026, 6, 21, 6, 58, 25, 123)); // 9 hours behind Tokyo's
    assert.deepStrictEqual([b.role, b.rank, b.world_size, b.number, b.mb_first, b.mb_last, b.cycle, b.part, b.steps_done,
                            b.steps_wanted, b.aborted, b.suffix], ['critic', null, null, 2, 3, 4, 1, 2, 2, 3, 1, 'by-hand']);
    const text = run(['-n', ...names], tool.folder()).stdout;
    assert.match(text, /^ {2}parallel {2}tp1 pp0 dp2 cp0$/m);
    assert.match(text, /^ {2}window {4}mini-batch 3 to 4, cycle 1, part 2, aborted 2\/3$/m);
    assert.match(text, /^ {2}label {5}by-hand$/m);
});

test('directories, packed traces, standard input', () => {
    const name = 'actor_step7_rank5_pid1_20260721155825123.collapsed.txt';
    const dir = tool.files({ 'd/traces-r3.jsonl.gz': zlib.gzipSync(trace.join('\n') + '\n'), [`d/${name}`]: 'a;b 1\n',
                             'd/notes.txt': 'not looked at', 'd/deep/traces-r3.jsonl': trace });
    const all = json(['d'], dir);
    assert.strictEqual(all.status, 0, all.stderr);
    assert.deepStrictEqual(all.files.map((f) => f.file), [`d/${name}`, 'd/deep/traces-r3.jsonl', 'd/traces-r3.jsonl.gz']);
    assert.deepStrictEqual(all.files.map((f) => f.rank), [5, 3, 3]);
    assert.deepStrictEqual(all.files.map((f) => f.last_step), [7, 12, 12]);
    const input = json(['-'], dir, { input: Buffer.from(trace.join('\n')) });
    assert.deepStrictEqual(input.files.map((f) => [f.file, f.rank, f.role, f.size]), [['-', 3, 'actor/ref v2', null]]);
});

test('what does not fit, and what is not known', () => {
    const wrong = 'actor_rank4-of-8_pid42_20260721155825123.jsonl';
    const dir = tool.files({ [wrong]: trace, 'x.bin': 'nothing', 'cut.jsonl.gz': zlib.gzipSync(trace.join('\n').repeat(400)).subarray(0, 300) });
    const r = json([wrong], dir);
    assert.strictEqual(r.status, 0);
    assert.match(r.stderr, /actor_rank4-of-8.*: name and header tell another rank: was it renamed\?/);
    assert.strictEqual(r.files[0].rank, 3); // what the process said of itself
    const unknown = run(['x.bin'], dir);
    assert.strictEqual(unknown.status, 1);
    assert.match(unknown.stderr, /x\.bin: its name is of another form, and it has no header of libperftrace/);
    assert.match(unknown.stdout, /known by {2}nothing/);
    const name = run(['-n', 'x.bin'], dir);
    assert.strictEqual(name.status, 1);
    const missing = run(['none', wrong], dir);
    assert.strictEqual(missing.status, 3);
    assert.match(missing.stderr, /none: No such file/);
    assert.match(missing.stdout, /actor_rank4/); // the others are told all the same
    const cut = run(['cut.jsonl.gz'], dir);
    assert.match(cut.stderr, /cut\.jsonl\.gz: .*: later steps are not known/);
    assert.match(cut.stdout, /rank {6}3 of 8/);
    // Nothing in a name or header steers a terminal.
    const nasty = tool.files({ 'n.jsonl': [header({ pid: 1, rank: 0, world_size: 1, role: '\u001b[31mred', host: 'h' })] });
    assert.ok(!run(['n.jsonl'], nasty).stdout.includes('\u001b'));
    assert.strictEqual(json(['n.jsonl'], nasty).files[0].role, '\u001b[31mred');
});
