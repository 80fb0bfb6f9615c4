// fetch_logs.test.js: log commands that do well, fail, hang and print what is no text. What was
// uploaded comes in any case. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const t = require('./s3_server.js');
const { fs, path } = t;

let s3;
test.before(async () => {
    s3 = await t.serve();
    await s3.put('pre/result.json', '{}');
});
test.after(() => s3.close());

const run = (dir, command, args = []) => t.fetch(s3, dir, [...args, '--log-command', command, 'job 1', 'pre']);
const files = (dir) => t.tree(path.join(dir, 'job 1'));

function gone(pid) {
    try {
        return /^\d+ \(.*\) [ZX]/s.test(fs.readFileSync(`/proc/${pid}/stat`, 'utf8'));
    } catch {
        return true;
    }
}

test('what it prints is kept as it is; job and folder are its arguments', async () => {
    const dir = t.folder();
    const r = await run(dir, 'printf "%s|%s|%s\\n" "$1" "$2" "$PWD"; printf "\\377\\001"; echo said >&2');
    assert.strictEqual(r.status, 0, r.stderr);
    const log = fs.readFileSync(path.join(dir, 'job 1', 'job_output.log'), 'latin1');
    assert.strictEqual(log, `job 1|${fs.realpathSync(dir)}/job 1|${fs.realpathSync(dir)}\n\xff\x01`);
    assert.strictEqual(files(dir)['result.json'], '{}');
});

test('--directory is where it runs', async () => {
    const dir = t.folder();
    const r = await run(dir, 'mkdir -p "$1" && echo x > "$1/driver.log"', ['-d', 'deep/er']);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.deepStrictEqual(t.tree(dir), { 'deep/er/job 1/driver.log': 'x\n', 'deep/er/job 1/result.json': '{}' });
});

test('it fails: what it printed stays apart, an earlier log stays, the files come', async () => {
    const dir = t.folder();
    assert.strictEqual((await run(dir, 'echo whole')).status, 0);
    const r = await run(dir, 'echo begun; printf "no \\033[31mjob \\377 here\\n" >&2; exit 7');
    assert.strictEqual(r.status, 1);
    assert.match(r.stderr, /log command: no \\x1b\[31mjob .* here/);
    assert.match(r.stderr, /the log command ended with status 7; give another one by --log-command, or --no-logs/);
    assert.match(r.stdout, /logs +failed/);
    assert.deepStrictEqual(files(dir), { 'job_output.log': 'whole\n', 'job_output.incomplete.log': 'begun\n',
                                         'result.json': '{}' });
    // The next good one takes the place of both.
    assert.strictEqual((await run(dir, 'echo new')).status, 0);
    assert.deepStrictEqual(files(dir), { 'job_output.log': 'new\n', 'result.json': '{}' });
});

test('it is not there', async () => {
    const dir = t.folder();
    const r = await run(dir, 'no-such-command-here "$1"');
    assert.strictEqual(r.status, 1);
    assert.match(r.stderr, /no-such-command-here: .*not found/);
    assert.match(r.stderr, /ended with status 127/);
    assert.deepStrictEqual(files(dir), { 'result.json': '{}' });
});

test('it hangs: it and what it started are stopped, the files come', async () => {
    const dir = t.folder();
    const r = await run(dir, 'sleep 600 & echo $$ $! > pids; echo begun; wait', ['--log-timeout', '500ms']);
    assert.strictEqual(r.status, 1);
    assert.match(r.stderr, /the log command did not end within 500 ms and was stopped; --log-timeout/);
    assert.deepStrictEqual(files(dir), { 'job_output.incomplete.log': 'begun\n', 'result.json': '{}' });
    const pids = fs.readFileSync(path.join(dir, 'pids'), 'utf8').trim().split(' ');
    assert.strictEqual(pids.length, 2);
    await t.until(() => pids.every(gone), 'both are gone');
});

test('it hears no SIGTERM', async () => {
    const dir = t.folder();
    const r = await run(dir, 'trap "" TERM; echo $$ > pid; while :; do sleep 600; done', ['--log-timeout', '200ms']);
    assert.strictEqual(r.status, 1);
    assert.ok(gone(fs.readFileSync(path.join(dir, 'pid'), 'utf8').trim()));
});

test('a signal ends it and the run', async () => {
    const dir = t.folder();
    const started = t.start(s3, dir, ['-l', 'echo $$ > pid; exec sleep 600', 'job 1', 'pre']);
    const pid = () => fs.existsSync(path.join(dir, 'pid')) && fs.readFileSync(path.join(dir, 'pid'), 'utf8').trim();
    await t.until(pid, 'it runs');
    started.child.kill('SIGTERM');
    const r = await started.done;
    assert.strictEqual(r.signal, 'SIGTERM', r.stderr);
    assert.ok(gone(pid()));
    assert.strictEqual(r.stdout, '');
});

test('logs alone need no bucket', async () => {
    const dir = t.folder();
    const r = await t.fetch(null, dir, ['--no-copy', '-l', 'echo x', 'job'], { PROFILING_S3_BUCKET: '' });
    assert.strictEqual(r.status, 0, r.stderr);
    assert.deepStrictEqual(t.tree(dir), { 'job/job_output.log': 'x\n' });
});
