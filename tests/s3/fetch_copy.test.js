// fetch_copy.test.js: what perf-trace-fetch copies, what it refuses, and what it says when it cannot.
// SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const net = require('net');
const t = require('./s3_server.js');
const { fs, path } = t;

let s3;
test.before(async () => { s3 = await t.serve(); });
test.after(() => s3.close());

const states = (r) => Object.fromEntries(r.json.files.map((f) => [f.path, f.state]));

test('logs and telemetry come into a folder named after the job', async () => {
    const telemetry = { 'pyspy_driver.speedscope.json': '{}', 'perf_gcs_10_0_0_1_collapsed.txt': 'a;b 3\n',
                        'node/gpu_usage_0.csv': 'time,use\n', 'notes.txt': '' };
    for (const [name, content] of Object.entries(telemetry))
        await s3.put(`bench/prodjob_1/${name}`, content);
    await s3.put('bench/prodjob_10/not_ours.txt', 'x');
    const dir = t.folder();
    const logs = 'mkdir -p "$1/logs" && echo driver > "$1/logs/driver.log"';
    const r = await t.fetch(s3, dir, ['prodjob_1', 'bench/prodjob_1'], { PROFILING_LOG_COMMAND: logs });
    assert.strictEqual(r.status, 0, r.stderr);
    assert.deepStrictEqual(t.tree(path.join(dir, 'prodjob_1')), { ...telemetry, 'logs/driver.log': 'driver\n' });
    assert.match(r.stdout, /^ *pyspy +pyspy_\* +1 /m);
    assert.match(r.stdout, /^ *other +\* +1 /m);

    // Once more: nothing is asked for, all is there.
    s3.got.length = 0;
    const again = await t.fetch(s3, dir, ['--json', '--no-logs', 'prodjob_1', `s3://${t.BUCKET}/bench/prodjob_1/`],
                                { PROFILING_S3_BUCKET: '' });
    assert.strictEqual(again.status, 0, again.stderr);
    assert.deepStrictEqual(s3.got, []);
    assert.deepStrictEqual(Object.values(states(again)), ['present', 'present', 'present', 'present']);
    assert.strictEqual(again.json.files.find((f) => f.path === 'node/gpu_usage_0.csv').kind, 'gpu');
});

test('names with blanks, line ends and glob characters arrive as they are', async () => {
    const names = ['sp ace.txt', 'new\nline.txt', '[x]*?.txt', 'ü+%41.txt', '-dash', 'a;b$(c)"\'`.txt', 'tab\t.txt'];
    for (const name of names)
        await s3.put(`odd/${name}`, `content of ${name}`);
    const dir = t.folder();
    const wanted = Object.fromEntries(names.map((name) => [name, `content of ${name}`]));
    const r = await t.fetch(s3, dir, ['--no-logs', 'job', 'odd']);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.deepStrictEqual(t.tree(path.join(dir, 'job')), wanted);
    // The same by name, one by one: others are there already.
    for (const name of names.slice(0, 4)) {
        fs.unlinkSync(path.join(dir, 'job', name));
        s3.got.length = 0;
        const one = await t.fetch(s3, dir, ['--no-logs', 'job', 'odd']);
        assert.strictEqual(one.status, 0, one.stderr);
        assert.deepStrictEqual(s3.got, [`odd/${name}`]);
        assert.deepStrictEqual(t.tree(path.join(dir, 'job')), wanted);
    }
});

test('no key leads out of the folder', async () => {
    const bad = ['../evil.txt', '../../evil.txt', 'a/../../evil.txt', '/etc/evil.txt', '..', './evil.txt',
                 'a//evil.txt', 'evil/', '.perf-trace-fetch/evil', 'job_output.log', 'good.txt/evil', `${'n'.repeat(256)}`,
                 '\u202eevil/../x'];
    const hostile = await t.serve({ extra: bad.map((name) => ({ key: `pre/${name}`, size: 4 })) });
    try {
        await hostile.put('pre/good.txt', 'good');
        await hostile.put('pre/link/secret.txt', 'not through a link');
        const dir = t.files({ 'outside/kept.txt': 'kept' });
        fs.mkdirSync(path.join(dir, 'job'));
        fs.symlinkSync(path.join(dir, 'outside'), path.join(dir, 'job', 'link'));
        const r = await t.fetch(hostile, dir, ['--no-logs', '--json', 'job', 'pre']);
        assert.strictEqual(r.status, 1, r.stderr);
        assert.deepStrictEqual(t.tree(dir), { 'outside/kept.txt': 'kept', 'job/good.txt': 'good',
                                              'job/link': `-> ${path.join(dir, 'outside')}` });
        const got = states(r);
        for (const name of bad)
            assert.strictEqual(got[name], 'refused', name);
        assert.strictEqual(got['good.txt'], 'fetched');
        assert.strictEqual(got['link/secret.txt'], 'failed');
        assert.match(r.stderr, /pre\/\.\.\/evil\.txt: not fetched: /);
        assert.match(r.stderr, /link\/secret\.txt: .*symbolic link/);
        assert.ok(!r.stderr.includes('\u202e'), 'keys do not steer a terminal');
        assert.deepStrictEqual(hostile.got.sort(), ['pre/good.txt', 'pre/link/secret.txt']);
    } finally {
        await hostile.close();
    }
});

test('kinds and patterns choose, pages of the list and many names make no difference', async () => {
    // More than a page of the list, and more than a command line names.
    const put = [];
    for (let i = 0; i < 1100; i++)
        put.push(s3.put(`many/${i % 5 ? 'noise' : 'perf'}_${i}.txt`, `${i}`));
    await Promise.all(put);
    const dir = t.folder();
    const r = await t.fetch(s3, dir, ['--no-logs', '--json', '--kinds', 'perf', 'job', 'many']);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.strictEqual(r.json.files.length, 1100);
    assert.deepStrictEqual(r.json.kinds.map((k) => [k.kind, k.files, k.fetched, k.left_out]),
                           [['perf', 220, 220, 0], ['other', 880, 0, 880]]);
    const there = t.tree(path.join(dir, 'job'));
    assert.strictEqual(Object.keys(there).length, 220);
    assert.strictEqual(there['perf_1095.txt'], '1095');
    const p = await t.fetch(s3, dir, ['--no-logs', '--pattern', 'noise_10?.txt,noise_1.txt', 'job', 'many']);
    assert.strictEqual(p.status, 0, p.stderr);
    assert.strictEqual(Object.keys(t.tree(path.join(dir, 'job'))).length, 220 + 8 + 1);
});

test('a dry run writes nothing and runs no command', async () => {
    await s3.put('dry/perf_a.txt', 'abc');
    const dir = t.folder();
    const r = await t.fetch(s3, dir, ['--dry-run', 'job', 'dry'], { PROFILING_LOG_COMMAND: 'touch ran' });
    assert.strictEqual(r.status, 0, r.stderr);
    assert.match(r.stdout, /perf_a\.txt +perf +3 .* wanted/);
    assert.match(r.stdout, /logs +not run/);
    assert.deepStrictEqual(fs.readdirSync(dir), []);
});

test('without a bucket it says where one comes from', async () => {
    const dir = t.folder();
    const r = await t.fetch(s3, dir, ['job', 'pre'], { PROFILING_S3_BUCKET: undefined });
    assert.strictEqual(r.status, 2);
    assert.match(r.stderr, /set PROFILING_S3_BUCKET, or use --bucket NAME or s3:\/\/BUCKET\/PREFIX/);
    assert.deepStrictEqual(fs.readdirSync(dir), []);
});

test('a bucket or a prefix that is not there', async () => {
    const dir = t.folder();
    const bucket = await t.fetch(s3, dir, ['--no-logs', '--bucket', 'nowhere', 'job', 'pre']);
    assert.strictEqual(bucket.status, 3);
    assert.match(bucket.stderr, /NoSuchBucket/);
    assert.match(bucket.stderr, /s3:\/\/nowhere\/pre\/ could not be listed/);
    const prefix = await t.fetch(s3, dir, ['--no-logs', 'job', 'no/such']);
    assert.strictEqual(prefix.status, 3);
    assert.match(prefix.stderr, /nothing lies under s3:\/\/profiles\/no\/such\//);
});

test('an endpoint that is down, or does not answer', async () => {
    const dir = t.folder();
    const silent = net.createServer((socket) => socket.resume());
    await new Promise((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${silent.address().port}`;
    const hangs = await t.fetch(null, dir, ['--no-logs', '--timeout', '1s', '-e', url, 'job', 'pre']);
    assert.strictEqual(hangs.status, 3);
    assert.match(hangs.stderr, /aws: .*timeout/i);
    await new Promise((resolve) => silent.close(resolve));
    const down = await t.fetch(null, dir, ['--no-logs', '-e', url, 'job', 'pre']);
    assert.strictEqual(down.status, 3);
    assert.match(down.stderr, /Could not connect to the endpoint URL/);
    assert.match(down.stderr, /are bucket, endpoint and credentials right/);
});

test('an aws that is none', async () => {
    await s3.put('one/a', 'a');
    const dir = t.files({ 'aws.sh': '#!/bin/sh\necho hello\n' });
    fs.chmodSync(path.join(dir, 'aws.sh'), 0o755);
    const r = await t.fetch(s3, dir, ['--no-logs', '--aws', './aws.sh', 'job', 'one']);
    assert.strictEqual(r.status, 3);
    assert.match(r.stderr, /its list of objects cannot be read at byte 0: .*is it the aws CLI/);
    const missing = await t.fetch(s3, dir, ['--no-logs', '--aws', './none', 'job', 'one']);
    assert.strictEqual(missing.status, 3);
    assert.match(missing.stderr, /apt install awscli/);
});

test('a folder that cannot be made', async () => {
    const dir = t.files({ job: 'a file' });
    const r = await t.fetch(s3, dir, ['--no-logs', 'job', 'one']);
    assert.strictEqual(r.status, 4);
    assert.match(r.stderr, /job: /);
    assert.strictEqual(fs.readFileSync(path.join(dir, 'job'), 'utf8'), 'a file');
});
