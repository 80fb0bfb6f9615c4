// fetch_resume.test.js: runs of perf-trace-fetch that are interrupted, and files that are not what
// the bucket says. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const t = require('./s3_server.js');
const { fs, path } = t;

let s3;
test.before(async () => { s3 = await t.serve(); });
test.after(() => s3.close());

const STAGING = '.perf-trace-fetch';
const OBJECTS = { 'a.txt': 'a'.repeat(1000), 'b.txt': 'b'.repeat(200000), 'c/c.txt': 'c'.repeat(3000) };

async function fill(prefix) {
    for (const [name, content] of Object.entries(OBJECTS))
        await s3.put(`${prefix}/${name}`, content);
    s3.got.length = 0;
    s3.held.length = 0;
}

// Starts a copy that stays in the middle of b.txt, the others being complete.
async function startAndHold(dir, prefix) {
    s3.hold = (key) => key === `${prefix}/b.txt`;
    const run = t.start(s3, dir, ['--no-logs', 'job', prefix]);
    const staged = (name) => fs.existsSync(path.join(dir, 'job', STAGING, name));
    await t.until(() => s3.held.length === 1 && staged('a.txt') && staged('c/c.txt'), 'two of three are there');
    return run;
}

const visible = (dir) => Object.keys(t.tree(path.join(dir, 'job'))).filter((f) => !f.startsWith(STAGING)).sort();

test('an interrupted copy goes on where it was', async () => {
    await fill('int');
    const dir = t.folder();
    const run = await startAndHold(dir, 'int');
    run.child.kill('SIGINT');
    const r = await run.done;
    assert.strictEqual(r.signal, 'SIGINT', r.stderr);
    assert.match(r.stderr, /the next run with the same folder goes on/);
    assert.ok(!visible(dir).includes('b.txt'), 'no half file has a name');
    s3.hold = () => false;
    s3.got.length = 0;
    const again = await t.fetch(s3, dir, ['--no-logs', 'job', 'int']);
    assert.strictEqual(again.status, 0, again.stderr);
    assert.deepStrictEqual(s3.got, ['int/b.txt']);
    assert.deepStrictEqual(t.tree(path.join(dir, 'job')), OBJECTS);
});

test('after a kill the copy that goes on is waited for, not disturbed', async () => {
    await fill('kill');
    const dir = t.folder();
    const run = await startAndHold(dir, 'kill');
    run.child.kill('SIGKILL');
    await t.until(() => run.child.signalCode === 'SIGKILL', 'it is killed');
    const meanwhile = await t.fetch(s3, dir, ['--no-logs', 'job', 'kill']);
    assert.strictEqual(meanwhile.status, 4);
    assert.match(meanwhile.stderr, /another perf-trace-fetch, or a copy that it started, is at work/);
    assert.deepStrictEqual(visible(dir), []);
    s3.hold = () => false;
    s3.got.length = 0;
    s3.held.forEach((h) => h.release());
    await t.until(() => fs.existsSync(path.join(dir, 'job', STAGING, 'b.txt')), 'the copy ends');
    let again = { status: 4 };
    for (let i = 0; i < 600 && again.status === 4; i++) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        again = await t.fetch(s3, dir, ['--no-logs', 'job', 'kill']);
    }
    assert.strictEqual(again.status, 0, again.stderr);
    assert.deepStrictEqual(s3.got, [], 'all had come');
    assert.deepStrictEqual(t.tree(path.join(dir, 'job')), OBJECTS);
});

test('a truncated, a longer and an older local file are fetched again', async () => {
    await fill('local');
    const dir = t.folder();
    const file = (name) => path.join(dir, 'job', name);
    assert.strictEqual((await t.fetch(s3, dir, ['--no-logs', 'job', 'local'])).status, 0);
    for (const spoil of [(f) => fs.truncateSync(f, 10), (f) => fs.appendFileSync(f, 'x'),
                         (f) => fs.utimesSync(f, 1000, 1000), (f) => fs.unlinkSync(f)]) {
        spoil(file('c/c.txt'));
        s3.got.length = 0;
        const r = await t.fetch(s3, dir, ['--no-logs', 'job', 'local']);
        assert.strictEqual(r.status, 0, r.stderr);
        assert.deepStrictEqual(s3.got, ['local/c/c.txt']);
        assert.deepStrictEqual(t.tree(path.join(dir, 'job')), OBJECTS);
    }
});

test('an object that was replaced by one of the same size is fetched again, whatever the times say', async (context) => {
    await fill('replaced');
    const dir = t.folder();
    const file = path.join(dir, 'job', 'c/c.txt');
    const run = async () => {
        s3.got.length = 0;
        const r = await t.fetch(s3, dir, ['--no-logs', 'job', 'replaced']);
        assert.strictEqual(r.status, 0, r.stderr);
        return s3.got.slice();
    };
    assert.strictEqual((await run()).length, 3);
    assert.deepStrictEqual(await run(), []);
    await s3.put('replaced/c/c.txt', 'd'.repeat(3000));
    fs.utimesSync(file, 4102444800, 4102444800);    // younger than any object
    const again = await run();
    if (again.length === 0)
        return context.skip('this file system keeps no notes beside a file');
    assert.deepStrictEqual(again, ['replaced/c/c.txt']);
    assert.strictEqual(fs.readFileSync(file, 'utf8'), 'd'.repeat(3000));
    assert.deepStrictEqual(await run(), []);
    // A file of another origin has no note: its size and time count.
    const copy = fs.readFileSync(file);
    fs.unlinkSync(file);
    fs.writeFileSync(file, copy);
    assert.deepStrictEqual(await run(), []);
});

test('an object that grows meanwhile is told and fetched by the next run', async () => {
    await fill('grow');
    const dir = t.folder();
    let lists = 0;
    s3.listed = async () => {
        if (lists++ === 0)
            await s3.put('grow/a.txt', 'a'.repeat(1500));
    };
    // The proxy answers first; the copy begins a program start later.
    const r = await t.fetch(s3, dir, ['--no-logs', '--json', 'job', 'grow']);
    s3.listed = async () => {};
    assert.strictEqual(r.status, 1, r.stderr);
    assert.match(r.stderr, /grow\/a\.txt: what came has another size or time than the bucket says/);
    assert.deepStrictEqual(visible(dir), ['b.txt', 'c/c.txt']);
    assert.deepStrictEqual(r.json.kinds.map((k) => [k.fetched, k.failed]), [[2, 1]]);
    const again = await t.fetch(s3, dir, ['--no-logs', 'job', 'grow']);
    assert.strictEqual(again.status, 0, again.stderr);
    assert.deepStrictEqual(t.tree(path.join(dir, 'job')), { ...OBJECTS, 'a.txt': 'a'.repeat(1500) });
});

test('a copy that is cut short is told', async () => {
    await fill('short');
    // As when the disk of a network file system forgets the end.
    const dir = t.files({ 'aws.sh': `#!/bin/sh
'${t.AWS}' "$@"; status=$?
[ -f job/${STAGING}/b.txt ] && truncate -s 5 job/${STAGING}/b.txt
exit $status
` });
    fs.chmodSync(path.join(dir, 'aws.sh'), 0o755);
    const r = await t.fetch(s3, dir, ['--no-logs', '--aws', './aws.sh', 'job', 'short']);
    assert.strictEqual(r.status, 1, r.stderr);
    assert.match(r.stderr, /short\/b\.txt: what came has another size/);
    assert.deepStrictEqual(visible(dir), ['a.txt', 'c/c.txt']);
});

test('a folder stands where a file is to be', async () => {
    await fill('clash');
    const dir = t.files({ 'job/a.txt/mine': 'mine', 'job/c': 'a file' });
    const r = await t.fetch(s3, dir, ['--no-logs', 'job', 'clash']);
    assert.strictEqual(r.status, 1);
    assert.match(r.stderr, /clash\/a\.txt: a folder has its name here/);
    assert.match(r.stderr, /clash\/c\/c\.txt: a folder in its path is a file or a symbolic link here/);
    assert.deepStrictEqual(t.tree(path.join(dir, 'job')),
                           { 'a.txt/mine': 'mine', c: 'a file', 'b.txt': OBJECTS['b.txt'] });
});
