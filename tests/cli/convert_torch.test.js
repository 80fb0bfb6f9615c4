// convert_torch.test.js: a profile of torch beside the trace of its rank, as the Python package leaves
// it there (docs/PYTHON.md). SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const t = require('./convert_tool.js');
const { byPhase, named, ns } = t;

// An invented profile with the fields that Kineto writes: process 71 on the host, device 0 with the
// streams 7 and 20, times from baseTimeNanoseconds.
const KINETO = JSON.parse(fs.readFileSync(path.join(__dirname, '..', 'data', 'torch', 'kineto.json')));
const BASE = BigInt('1790000000000000000');

// The rank's own trace begins 1 ms after the profile's zero; its scope lies around the work.
const own = [t.header({ rank: 3, world_size: 4, epoch_ns: String(BASE + 1000000n) }),
             t.scope('train', 0, 950000, { args: { rank: 3 } }), t.threadName('main'), t.footer()];

function merge(document) {
    const dir = t.files({ 'traces-r3.jsonl': own, 'traces-r3.torch-step1.json': JSON.stringify(document) });
    const r = t.convert(dir);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.strictEqual(t.complaints(r.out), '');
    return r;
}

function tracks(r) {
    const of = (kind) => new Map(r.events.filter((e) => e.ph === 'M' && e.name === kind)
        .map((e) => [`${e.pid}:${kind === 'thread_name' ? e.tid : ''}`, e.args]));
    const processes = of('process_name');
    const threads = of('thread_name');
    return (e) => ({ process: processes.get(`${e.pid}:`), thread: threads.get(`${e.pid}:${e.tid}`).name.trim() });
}

function check(r) {
    const track = tracks(r);
    const train = named(r.events, 'train')[0];
    const device = KINETO.traceEvents.filter((e) => e.ph === 'X' && e.pid === 0);
    assert.strictEqual(device.length, 5);
    for (const want of device) {
        // Zero of the profile is 1 ms before the scope begins.
        const [got] = named(r.events, want.name).filter((e) =>
            ns(e.ts - train.ts) === Math.round(want.ts * 1000) - 1000000 && e.cat === want.cat);
        assert.ok(got, `${want.name} at ${want.ts}`);
        assert.strictEqual(ns(got.dur), Math.round(want.dur * 1000), want.name);
        const { process, thread } = track(got);
        assert.strictEqual(thread, `stream ${want.tid}`);
        assert.strictEqual(process.rank, 3);
        assert.match(process.name, /^Rank 3\b/);
    }
    assert.deepStrictEqual([...new Set(byPhase(r.events, 'X').map((e) => track(e).thread))].sort(),
                           ['PyTorch Profiler', 'main', 'stream 20', 'stream 7', 'thread 71 (trainer)',
                            'thread 80 (autograd)']);
    // Each arrow from a launch to its kernel.
    const ends = new Map(byPhase(r.events, 'f').map((e) => [e.id, e]));
    const at = (e) => byPhase(r.events, 'X').filter((x) => x.pid === e.pid && x.tid === e.tid && x.ts <= e.ts &&
        e.ts <= x.ts + x.dur && 'correlation' in (x.args || {})).map((x) => x.args.correlation);
    const starts = byPhase(r.events, 's');
    assert.strictEqual(starts.length, 4);
    for (const s of starts) {
        assert.match(track(ends.get(s.id)).thread, /^stream/);
        assert.deepStrictEqual(at(ends.get(s.id)), at(s));
    }
}

test('streams are named tracks under their rank, at their true time', () => {
    check(merge(KINETO));
    check(merge({ distributedInfo: { backend: 'nccl', rank: 3, world_size: 4 }, ...KINETO }));
});

test('the same where times count from the epoch, as older profiles have it', () => {
    const { baseTimeNanoseconds, ...rest } = KINETO;
    // Whole microseconds: a double of that size has no finer steps than a quarter.
    const whole = (e) => ({ ...e, ts: Math.floor(e.ts) + baseTimeNanoseconds / 1000,
                            ...(e.ph === 'X' && { dur: Math.floor(e.dur) }) });
    const r = merge({ ...rest, traceEvents: rest.traceEvents.map(whole) });
    const track = tracks(r);
    const train = named(r.events, 'train')[0];
    const kernels = byPhase(r.events, 'X').filter((e) => e.cat === 'kernel');
    assert.deepStrictEqual(kernels.map((e) => [track(e).thread, ns(e.ts - train.ts)]),
                           [['stream 7', 30000], ['stream 7', 230000], ['stream 7', 450000]]);
});
