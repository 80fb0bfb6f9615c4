// credentials.test.js: a NATS server that knows its users by JWT and key. SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const s = require('./parts.js');
const { authority } = require('./credentials.js');
const { test } = s;

const skip = s.NATS ? false : 'no nats-server, or built without libnats';

// What docs/FORWARD.md says a sender needs.
const SENDER = { pub: { allow: ['perftrace.run.data.>', 'perftrace.run.clock', 'perftrace.run.clock.>', '$JS.API.STREAM.INFO.perftrace_run',
                                '$JS.API.STREAM.CREATE.perftrace_run', '$JS.API.STREAM.MSG.GET.perftrace_run'] },
                 sub: { allow: ['_INBOX.>'] } };
// And a collector of the run, which makes its consumer and takes from it.
const COLLECTOR = { pub: { allow: ['$JS.API.STREAM.INFO.perftrace_run', '$JS.API.STREAM.CREATE.perftrace_run',
                                   '$JS.API.CONSUMER.INFO.perftrace_run.collect', '$JS.API.CONSUMER.DURABLE.CREATE.perftrace_run.collect',
                                   '$JS.API.CONSUMER.MSG.NEXT.perftrace_run.collect', '$JS.ACK.perftrace_run.>', '_INBOX.>'] },
                    sub: { allow: ['_INBOX.>', 'perftrace.run.clock', 'perftrace.run.clock.>'] } };

async function scene() {
    const dir = s.folder();
    const known = authority(dir);
    const port = await s.freePort();
    await s.nats(port, s.folder(), { args: ['-c', known.config] });
    return { dir, known, url: `nats://127.0.0.1:${port}` };
}

const worker = (url, creds, more = {}) => s.worker([10000, 0, 2], { rank: 0, world_size: 1, forward: url, forward_creds: creds,
                                                                    overflow: 'block', ...more });
const forward = (dir, url, creds, more = []) => s.start(s.FORWARD, [dir, '--to', url, ...more], {
    PERFTRACE_TEST_NATS_LIBRARY: s.NATS_LIBRARY, PERFTRACE_FORWARD_CREDS: creds });
const collect = (url, dir, creds, more = []) => s.start(s.COLLECT, ['--nats', url, '--run', 'run', '-o', dir, '--until-done', '--creds', creds, ...more]);

async function ended(p, status, what) {
    await s.until(() => p.over, () => `${what} ends; so far:\n${p.err}`, 60);
    const r = await p.done;
    assert.strictEqual(r.status, status, r.stderr);
    return r;
}

test('credentials files: process, perf-trace-forward and collector, with what the documents say they need', { skip }, async () => {
    const { known, url } = await scene();
    const [here, there] = [s.folder(), s.folder()];
    const sender = known.user('sender', SENDER);
    const seed = fs.readFileSync(sender, 'utf8').match(/SU[A-Z2-7]{56}/)[0];
    const c = collect(url, there, known.user('collector', COLLECTOR));
    const w = await ended(worker(url, sender, { dir: here, world_size: 2 }), 0, 'the worker');
    assert.match(w.stderr, /note: forwarded \d+ bytes/);
    const killed = s.worker([1000000, 20000, 1], { dir: here, rank: 1, world_size: 2, forward: 'off' });
    await s.until(() => s.find(here, /^traces-r1/).some((f) => fs.statSync(f).size > 100000), 'it has written some');
    await killed.kill();
    const f = await ended(forward(here, url, sender), 0, 'perf-trace-forward');
    const r = await ended(c, 0, 'the collector');
    for (const text of [w.stderr, f.stderr, r.stderr])
        assert(!text.includes(seed));
    s.same(here, there).forEach((file) => assert.strictEqual(s.account(file).lost, 0));
});

test('credentials of somebody else, none, a file without a seed, one that is not there: said, and the file waits', { skip }, async () => {
    const { dir, known, url } = await scene();
    const good = known.user('sender');
    const junk = path.join(dir, 'junk');
    fs.writeFileSync(junk, 'nothing of use\n');
    const missing = path.join(dir, 'nowhere');
    for (const [creds, cause, atOnce] of [[authority(s.folder()).user('other'), 'Authorization Violation'],
                                          [known.user('bare', {}, { seed: false }), "no nkey user seed found in '.*bare.creds'"],
                                          [junk, "no nkey user seed found in '.*junk'"],
                                          [missing, 'nowhere.*No such file or directory', true]]) {
        const [here, there] = [s.folder(), s.folder()];
        const w = await ended(worker(url, creds, { dir: here, forward_wait_ms: 300 }), 0, 'the worker');
        assert.match(w.stderr, new RegExp(`warning: .* cannot be reached \\(.*${cause}`));
        assert.strictEqual(w.stderr.match(/cannot be reached/g).length, 1, w.stderr);
        assert.match(w.stderr, /has not acknowledged \d+ bytes/);
        assert.strictEqual(s.account(s.find(here, /^traces/)[0]).written, 20000);
        const f = await ended(forward(here, url, creds, ['--timeout', '1s']), atOnce ? 3 : 4, 'perf-trace-forward');
        assert.match(f.stderr, new RegExp(atOnce ? `error: --creds .*${cause}` : `error: .* are left: .*${cause}`));
        const c = await ended(collect(url, there, creds, ['--timeout', '1s']), 3, 'the collector');
        assert.match(c.stderr, new RegExp(atOnce ? `error: --creds .*${cause}` : `no NATS server is reached \\(.*${cause}`));
        // What waited arrives once the credentials are right.
        await ended(forward(here, url, good), 0, 'perf-trace-forward');
    }
    const nobody = await ended(worker(url, '', { dir: s.folder(), forward_wait_ms: 300 }), 0, 'the worker');
    assert.match(nobody.stderr, /cannot be reached \(.*Authorization Violation/);
});

const without = (...names) => ({ ...SENDER, pub: { allow: SENDER.pub.allow.filter((n) => !names.some((name) => n.includes(name))) } });

test('a permission that is missing: the warning names it, whoever sends', { skip }, async () => {
    const { known, url } = await scene();
    const sender = known.user('sender', SENDER);
    const good = known.user('everything');
    const no = (what) => new RegExp(`Permissions Violation for ${what}`);
    for (const [creds, what, run] of [
        [sender, /the stream cannot be used: Permissions Violation for Publish to "\$JS\.API\.STREAM\.INFO\.perftrace_other"/, 'other'],
        [known.user('create', without('STREAM.CREATE')), no('Publish to "\\$JS\\.API\\.STREAM\\.CREATE\\.perftrace_run"'), 'run'],
        [known.user('deaf', { ...SENDER, sub: { allow: ['elsewhere'] } }), no('Subscription to "_INBOX'), 'run'],
        [known.user('get', without('MSG.GET')), no('Publish to "\\$JS\\.API\\.STREAM\\.MSG\\.GET\\.perftrace_run"'), 'run'],
        [known.user('data', without('.data.')), /: a piece was not taken: Permissions Violation for Publish to "perftrace\.run\.data\./, 'run']]) {
        const here = s.folder();
        const w = await ended(worker(url, creds, { dir: here, forward_wait_ms: 1500, run_id: run }), 0, 'the worker');
        assert.match(w.stderr, what);
        assert.match(w.stderr, /has not acknowledged \d+ bytes/);
        assert.doesNotMatch(w.stderr, /hangs|\([Tt]imeout/);
        assert.strictEqual(w.stderr.match(/Violation/g).length, 1, w.stderr);
        const f = await ended(forward(here, url, creds, ['--timeout', '1s']), 4, 'perf-trace-forward');
        assert.match(/error: .* are left: .*/.exec(f.stderr)?.[0] ?? `no error in: ${f.stderr}`, what);
        await ended(forward(here, url, good), 0, 'perf-trace-forward');
    }
    // Without the time everything else goes on.
    const w = await ended(worker(url, known.user('timeless', without('.clock')), { dir: s.folder() }), 0, 'the worker');
    assert.match(w.stderr, /note: forwarded \d+ bytes/);
    assert.doesNotMatch(w.stderr, /Violation/);
});

test('credentials that come late, and others in the file meanwhile', { skip }, async () => {
    const { dir, known, url } = await scene();
    const [here, there] = [s.folder(), s.folder()];
    const creds = path.join(dir, 'mounted.creds');
    fs.copyFileSync(known.user('bare', {}, { seed: false }), creds);
    const w = s.worker([20000, 0, 1, 'hold'], { dir: here, rank: 0, world_size: 1, forward: url, forward_creds: creds,
                                                forward_wait_ms: 120000, overflow: 'block' });
    const c = collect(url, there, creds);
    await w.told(/cannot be reached \(.*no nkey user seed/);
    await c.told(/no NATS server is reached \(.*no nkey user seed/);
    fs.copyFileSync(known.user('sender'), creds);
    w.child.stdin.end();
    assert.match((await ended(w, 0, 'the worker')).stderr, /note: forwarded \d+ bytes/);
    await ended(c, 0, 'the collector');
    assert.strictEqual(s.account(s.same(here, there)[0]).written, 20000);
});
