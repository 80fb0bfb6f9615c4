// ctl_gather.test.js: perf-trace-ctl gather, traces of rollout replicas side by side.
// SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const zlib = require('zlib');
const { test } = require('node:test');
const t = require('./ctl_tool.js');

const TRACE = zlib.gzipSync(JSON.stringify({ traceEvents: [{ name: 'a', ph: 'X', ts: 1, dur: 1 }] }));
const replica = (n) => `agent_loop_rollout_replica_${n}`;
const listed = (dir) => fs.readdirSync(dir).sort();

// Two replicas of two ranks, named as vLLM and SGLang name their traces.
function outputs(more = {}) {
    return t.files({
        [`${replica(0)}/dp0_pp0_tp0_dcp0_ep0_rank0.1.pt.trace.json.gz`]: TRACE,
        [`${replica(0)}/dp0_pp0_tp1_dcp0_ep0_rank1.1.pt.trace.json.gz`]: TRACE,
        [`${replica(1)}/1768-TP-0.trace.json.gz`]: TRACE,
        [`${replica(1)}/1768-TP-1.trace.json.gz`]: TRACE,
        'actor_rank0.json.gz': TRACE,
        ...more,
    });
}

test('every trace is named after its replica and its rank among all', async () => {
    const dir = outputs();
    const r = await t.run(['gather', dir, '--replica-size', '2', '--json']);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.deepStrictEqual(listed(dir), [
        'actor_rank0.json.gz',
        'rollout-replica0-globalrank0_dp0_pp0_tp0_dcp0_ep0_rank0.1.pt.trace.json.gz',
        'rollout-replica0-globalrank1_dp0_pp0_tp1_dcp0_ep0_rank1.1.pt.trace.json.gz',
        'rollout-replica1-globalrank2_1768-TP-0.trace.json.gz',
        'rollout-replica1-globalrank3_1768-TP-1.trace.json.gz']);
    assert.strictEqual(r.json.action, 'gather');
    assert.deepStrictEqual(r.json.gathered.map((row) => [row.replica, row.rank, path.basename(row.from)]), [
        [0, 0, 'dp0_pp0_tp0_dcp0_ep0_rank0.1.pt.trace.json.gz'],
        [0, 1, 'dp0_pp0_tp1_dcp0_ep0_rank1.1.pt.trace.json.gz'],
        [1, 2, '1768-TP-0.trace.json.gz'], [1, 3, '1768-TP-1.trace.json.gz']]);
    assert.deepStrictEqual(r.json.left, []);
    listed(dir).forEach((name) => assert.deepStrictEqual(fs.readFileSync(path.join(dir, name)), TRACE));
    // A second time there is nothing.
    const again = await t.run(['gather', dir, '--replica-size', '2']);
    assert.strictEqual(again.status, 3);
    assert.match(again.stderr, /there are no folders agent_loop_rollout_replica_<n> in it/);
});

test('ranks of all are chosen; files whose rank is not readable are always gathered', async () => {
    const dir = outputs({ [`${replica(1)}/engine.json.gz`]: TRACE,
                          [`${replica(1)}/1768-TP-0-DP-1.trace.json.gz`]: TRACE,
                          [`${replica(1)}/rank7.json.gz`]: TRACE }); // a replica has ranks 0 and 1
    const r = await t.run(['gather', dir, '--replica-size', '2', '--ranks', '3', '--json']);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.deepStrictEqual(listed(dir), [
        'actor_rank0.json.gz', replica(0), replica(1),
        'rollout-replica1-globalrank3_1768-TP-1.trace.json.gz',
        'rollout-replica1_1768-TP-0-DP-1.trace.json.gz', 'rollout-replica1_engine.json.gz',
        'rollout-replica1_rank7.json.gz'].sort());
    assert.deepStrictEqual(r.json.left.map((row) => [path.basename(row.file), row.why]), [
        ['dp0_pp0_tp0_dcp0_ep0_rank0.1.pt.trace.json.gz', 'of another rank'],
        ['dp0_pp0_tp1_dcp0_ep0_rank1.1.pt.trace.json.gz', 'of another rank'],
        ['1768-TP-0.trace.json.gz', 'of another rank']]);
    assert.strictEqual(r.json.gathered.filter((row) => row.rank === null).length, 3);
});

test('nothing is replaced, and what is not complete stays', async () => {
    const taken = 'rollout-replica0-globalrank0_rank0.json.gz';
    const dir = t.files({ [taken]: 'mine', [`${replica(0)}/rank0.json.gz`]: TRACE,
                          [`${replica(0)}/rank1.json.gz`]: TRACE.subarray(0, TRACE.length - 9),
                          [`${replica(0)}/rank2.json`]: '', [`${replica(0)}/.rank3.json.gz`]: TRACE,
                          [`${replica(0)}/folder/rank4.json.gz`]: TRACE,
                          [`${replica(0)}/odd\nname rank5.json.gz`]: TRACE });
    fs.symlinkSync('/etc/passwd', path.join(dir, replica(0), 'rank6.json'));
    const r = await t.run(['gather', dir, '--replica-size', '8', '--json']);
    assert.strictEqual(r.status, 1);
    assert.deepStrictEqual(r.json.left.map((row) => [path.basename(row.file), row.why]), [
        ['folder', 'no file'], ['rank0.json.gz', 'its new name is taken'],
        ['rank1.json.gz', 'not a complete trace'], ['rank2.json', 'not a complete trace'],
        ['rank6.json', 'no file']]);
    assert.strictEqual(fs.readFileSync(path.join(dir, taken), 'utf8'), 'mine');
    assert.deepStrictEqual(listed(dir), [replica(0), taken,
        'rollout-replica0-globalrank5_odd\nname rank5.json.gz'].sort());
    assert.strictEqual(fs.existsSync(path.join(dir, replica(0), '.rank3.json.gz')), true);
});

test('a command line that is wrong is told', async () => {
    const bad = [[['gather'], /gather takes one directory/], [['gather', 'a', 'b'], /gather takes one directory/],
                 [['gather', '.', '--replica-size', '0'], /replica-size/]];
    for (const [args, why] of bad) {
        const r = await t.run(args);
        assert.strictEqual(r.status, 2, args.join(' '));
        assert.match(r.stderr, why);
    }
    const none = await t.run(['gather', path.join(t.folder(), 'none')]);
    assert.strictEqual(none.status, 3);
    assert.match(none.stderr, /none: No such file or directory/);
});
