// clock_run.js: ranks with skewed clocks, one collector, a busy loopback; how far off their aligned times are.
// SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const fs = require('fs');
const os = require('os');
const path = require('path');
const { spawn, spawnSync } = require('child_process');

const of = (name) => {
    assert(process.env[name], `${name} is not set`);
    return process.env[name];
};

// Whoever reads and writes as fast as the loopback allows, in two processes; stop() ends it.
const PUMP = `
const net = require('net');
process.stdin.on('end', () => process.exit()).resume();
const server = net.createServer((s) => s.on('error', () => {}).pipe(s));
server.listen(0, '127.0.0.1', () => {
    for (let i = 0; i < 4; i++) {
        const s = net.connect(server.address().port, '127.0.0.1');
        const some = Buffer.alloc(1 << 16);
        s.on('data', () => {});
        const write = () => { while (s.write(some)); s.once('drain', write); };
        write();
    }
    console.log('busy');
});`;
function busy() {
    const child = spawn(process.execPath, ['-e', PUMP], { stdio: ['pipe', 'pipe', 'inherit'] });
    return new Promise((resolve) => child.stdout.once('data', () => resolve({ stop: () => child.kill('SIGKILL') })));
}

// Starts a collector and ranks 1 to `ranks`, 250 ms ahead and 20 ppm fast, beside rank 0; each on a machine of its
// own, by its boot id. Returns the alignment of all ranks and, for each but rank 0, how far off (ns) its aligned
// times are from those of rank 0 at the same true time.
async function clockRun({ seconds = 5, ranks = 1, env = {}, later = {}, load = true } = {}) {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'perftrace-clock-'));
    const collected = path.join(dir, 'collected');
    // A disk of its own, too: to the others, of the same host name, a ring of another boot id is a dead process'.
    const machine = (rank) => path.join(dir, `machine-${rank}`);
    for (let rank = 0; rank <= ranks; rank++)
        fs.mkdirSync(machine(rank));
    const collector = spawn(of('PERFTRACE_COLLECT'), ['--listen', '0', '-o', collected], { stdio: ['ignore', 'ignore', 'pipe'] });
    const pump = load ? await busy() : { stop: () => {} };
    try {
        let said = '';
        const port = await new Promise((resolve, reject) => {
            collector.stderr.on('data', (d) => {
                said += d;
                const found = said.match(/listening on 127\.0\.0\.1:(\d+)/);
                if (found)
                    resolve(found[1]);
            });
            collector.on('error', reject);
            collector.on('close', () => reject(new Error(said)));
        });
        const ends = [];
        for (let rank = 0; rank <= ranks; rank++)
            ends.push(new Promise((resolve, reject) => {
                let text = '';
                const child = spawn(of('PERFTRACE_CLOCK_WORKER'), [String(seconds)], { stdio: ['ignore', 'inherit', 'pipe'], env: {
                    ...process.env, LD_PRELOAD: of('PERFTRACE_CLOCK_SHIM'), CLOCK_SHIM_BOOT: `machine-${rank}`,
                    CLOCK_SHIM_OFFSET_NS: rank ? '250000000' : '0', CLOCK_SHIM_PPB: rank ? '20000' : '0',
                    PERFTRACE_DIR: machine(rank), PERFTRACE_RUN_ID: 'clock', RANK: String(rank), WORLD_SIZE: String(ranks + 1),
                    PERFTRACE_ENABLED: '1', PERFTRACE_RING_DIR: machine(rank), PERFTRACE_FORWARD: `tcp://127.0.0.1:${port}`,
                    PERFTRACE_FORWARD_WAIT_MS: '60000', ...env, ...(rank ? later : {}) } });
                child.stderr.on('data', (d) => { text += d; });
                child.on('error', reject);
                child.on('close', (status) => resolve({ status, text }));
            }));
        for (const end of await Promise.all(ends))
            assert.strictEqual(end.status, 0, end.text);
    } finally {
        pump.stop();
        if (collector.kill('SIGTERM'))
            await new Promise((resolve) => collector.on('close', resolve));
    }
    for (let rank = 0; rank <= ranks; rank++) {
        const name = `traces-r${rank}.jsonl`;
        assert(fs.readFileSync(path.join(machine(rank), name)).equals(fs.readFileSync(path.join(collected, 'clock', name))), name);
    }
    const out = path.join(dir, 'merged.json');
    const r = spawnSync(of('PERFTRACE_CONVERT'), [collected, '-o', out], { encoding: 'utf8' });
    assert.strictEqual(r.status, 0, r.stderr);
    const trace = JSON.parse(fs.readFileSync(out));
    fs.rmSync(dir, { recursive: true });
    return { inputs: trace.metadata.perftrace_convert.inputs, stderr: r.stderr, off: residuals(trace.traceEvents, ranks) };
}

// True time is known to within what passed between its readings before and after the event. Of the events those count
// for which that was short: 5 us, or on a busy machine the shortest tenth; where it was longer, half of it is left out of
// what an event is off, since that may be the reading's.
function residuals(events, ranks) {
    const lists = Array.from({ length: ranks + 1 }, () => []);
    const before = new Map();
    for (const e of events) {
        const key = `${e.args?.rank} ${e.args?.n}`;
        if (e.name === 'before') {
            before.set(key, e);
        } else if (e.name === 'after' && before.has(key)) {
            const b = before.get(key);
            lists[e.args.rank].push({ gap: e.args.true_ns - b.args.true_ns,
                                      off: b.ts * 1000 - (b.args.true_ns + e.args.true_ns) / 2 });
        }
    }
    const median = (list) => list.map((x) => x.off).sort((x, y) => x - y)[list.length >> 1];
    const chosen = lists.map((l) => {
        const sorted = l.sort((x, y) => x.gap - y.gap);
        return sorted.filter((x, i) => x.gap < 5000 || i < Math.max(20, sorted.length / 10));
    });
    assert(chosen.every((l) => l.length >= 20), `${lists.map((l) => l.length)}`);
    const zero = median(chosen[0]);
    const without = (x, slack) => Math.sign(x) * Math.max(0, Math.abs(x) - slack);
    return chosen.slice(1).map((l) => l.map((x) => without(x.off - zero, x.gap < 5000 ? 0 : x.gap / 2)));
}

const worst = (list) => Math.max(...list.map(Math.abs));
const middle = (list) => list.map(Math.abs).sort((x, y) => x - y)[list.length >> 1];

module.exports = { clockRun, worst, middle };
