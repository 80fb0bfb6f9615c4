// bench_stream.js DIR ROUNDS QUICK FIGURE...: figures of forwarding, between real parts: a traced process or simulated
// ranks, nats-server, perf-trace-collect. SPDX-License-Identifier: MIT
//
// Names of programs come by the environment, as for the tests of tests/stream; STREAM_BENCH is the folder of bench_*.
// Figures: forward, rate, ranks, many (docs/PERFORMANCE.md). QUICK: the work is divided by it.
'use strict';
const fs = require('fs');
const http = require('http');
const path = require('path');
const s = require('../stream/parts.js');

const BENCH = process.env.STREAM_BENCH;
const [dir, rounds, quick, ...figures] = process.argv.slice(2);
const ROUNDS = Number(rounds), QUICK = Number(quick);
const some = (n) => Math.max(1, Math.round(n / QUICK));

const middle = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];
const result = (figure, values) =>
    console.log(['RESULT', figure, ...values.map((v) => Number(v.toPrecision(4)))].join('\t'));
const detail = (figure, text) => console.log(`DETAIL\t${figure}\t${text}`);
const skip = (figure, text) => console.log(`SKIP\t${figure}\t${text}`);
const say = (text) => process.stderr.write(`${text}\n`);

function fresh(name) {
    const made = path.join(dir, name);
    fs.rmSync(made, { recursive: true, force: true });
    fs.mkdirSync(made, { recursive: true });
    return made;
}

async function good(p, what) {
    const r = await p.done;
    if (r.status !== 0)
        throw new Error(`${what}: ${r.status} ${r.signal || ''}\n${r.stderr}`);
    return r;
}

// ---- what a process takes ----

// Looks at a process until it ends: the peak of its memory in MB and the largest number of descriptors seen.
function watch(pid) {
    const seen = { mb: 0, descriptors: 0, cpu: 0 };
    const look = () => {
        try {
            const [, kb] = fs.readFileSync(`/proc/${pid}/status`, 'utf8').match(/VmHWM:\s+(\d+)/) || [0, 0];
            seen.mb = Math.max(seen.mb, kb / 1024);
            seen.descriptors = Math.max(seen.descriptors, fs.readdirSync(`/proc/${pid}/fd`).length);
            const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/.*\) /, '').split(' ');
            seen.cpu = (Number(stat[11]) + Number(stat[12])) / 100;
        } catch { /* it has ended */ }
    };
    const timer = setInterval(look, 100);
    seen.stop = () => clearInterval(timer);
    return seen;
}

const status = (port) => new Promise((resolve) => {
    http.get({ port, host: '127.0.0.1', path: '/status', timeout: 5000 }, (r) => {
        let text = '';
        r.on('data', (d) => { text += d; });
        r.on('end', () => resolve(JSON.parse(text)));
    }).on('error', () => resolve(null));
});

// Where a collector takes from.
const from = (way, port) => (way === 'nats' ? ['--nats', `nats://127.0.0.1:${port}`] : ['--listen', String(port)]);

// ---- what forwarding costs the producer ----

async function forward() {
    for (const way of s.NATS ? ['tcp', 'nats'] : ['tcp']) {
        const figure = `stream.forward.${way}`;
        const port = await s.freePort();
        say(`forward, ${way}`);
        const server = way === 'nats' ? await s.nats(port, fresh('nats')) : null;
        const c = s.start(s.COLLECT, [...from(way, port), '--run', 'bench', '-o', fresh('there')]);
        await c.told(/listening|connected/);
        const r = await good(s.start(path.join(BENCH, 'bench_forward'), [
            '--to', server ? `nats://127.0.0.1:${port}` : `127.0.0.1:${port}`, '--name', figure, '--rounds', rounds,
            '--count', String(some(500000)), '--dir', fresh('here')], environment()), 'bench_forward');
        process.stdout.write(r.stdout);
        await c.kill('SIGTERM');
        if (server)
            await server.kill();
    }
}

const environment = () => (s.NATS_LIBRARY ? { PERFTRACE_TEST_NATS_LIBRARY: s.NATS_LIBRARY } : {});

// ---- events a second ----

// All that was emitted is in both files, which are the same.
function written(here, there, events) {
    const [from] = s.find(here, /^traces/), [to] = s.find(there, /^traces/);
    if (s.spawnSync('cmp', [from, to]).status !== 0)
        throw new Error(`${from} and ${to} differ`);
    const last = fs.openSync(to), size = fs.fstatSync(last).size, tail = Buffer.alloc(4096);
    fs.readSync(last, tail, 0, 4096, size - 4096);
    fs.closeSync(last);
    const footer = JSON.parse(tail.toString().trim().split('\n').pop());
    if (footer.name !== 'perftrace_footer' || footer.args.emitted !== events || footer.args.written !== events)
        throw new Error(`${to}: not all of ${events} events: ${JSON.stringify(footer)}`);
    return size;
}

async function rate() {
    const events = some(5000000), requests = some(10000);
    const rates = [], ratios = [], blocking = [], bytes = [];
    for (let round = 0; round < ROUNDS; round++) {
        say(`rate, round ${round + 1}`);
        const port = await s.freePort(), url = `nats://127.0.0.1:${port}`;
        const here = fresh('here'), there = fresh('there');
        const server = await s.nats(port, fresh('nats'));
        const c = s.start(s.COLLECT, ['--nats', url, '--run', 'run', '-o', there, '--until-done']);
        await c.told(/connected/);
        await s.sleep(500);
        const begin = process.hrtime.bigint();
        const w = await good(s.worker([events, 0, 1], { dir: here, rank: 0, world_size: 1, forward: url,
                                                        overflow: 'block', forward_wait_ms: 60000 }), 'the worker');
        await good(c, 'the collector');
        rates.push(events / (Number(process.hrtime.bigint() - begin) / 1e9));
        bytes.push(written(here, there, events) / events);
        const [, packed] = w.stderr.match(/\((\d+) packed\)/);
        bytes.packed = Number(packed) / events;
        const r = await good(s.start(path.join(BENCH, 'bench_request'), [url, `r${round}`, `r${round}`,
                                                                         String(requests)]), 'bench_request');
        blocking.push(Number(r.stdout));
        ratios.push(rates[round] / blocking[round]);
        await server.kill();
        ['here', 'there', 'nats'].forEach(fresh);
    }
    result('stream.rate', rates.map((v) => v / 1e6));
    detail('stream.rate', `${events} events of ${middle(bytes).toFixed(0)} bytes, ${bytes.packed.toFixed(1)} packed; ` +
           'from the start of the process to the end of the collector; all there, byte for byte');
    result('stream.request', ratios);
    detail('stream.request', `${middle(rates).toFixed(0)} events/s; ${middle(blocking).toFixed(0)} requests/s`);
}

// ---- many ranks ----

// Simulated ranks and a collector. Tells what it took; throws unless all files are there, byte for byte.
async function simulate(way, { ranks, eventsPerSecond, seconds, flushMs }) {
    const port = await s.freePort(), statusPort = await s.freePort();
    const there = fresh('there'), sums = path.join(fresh('sums'), 'sums');
    const server = way === 'nats' ? await s.nats(port, fresh('nats')) : null;
    const c = s.start(s.COLLECT, [...from(way, port), '--max-connections', '20000', '--run', 'bench', '-o', there,
                                  '--until-done', '--status', String(statusPort)]);
    await c.told(/listening|connected/);
    await s.sleep(1000); /* it makes the server's stream */
    const seen = watch(c.child.pid), of_server = server && watch(server.child.pid);
    const lags = [];
    const sim = s.start(path.join(BENCH, 'bench_ranks'), [way, port, 'bench', ranks, eventsPerSecond, seconds, flushMs,
                                                          sums].map(String));
    while (!c.over) {
        const st = await status(statusPort);
        const lag = st ? Math.max(...st.ranks.map((r) => r.lag_s ?? 0)) : 0;
        if (st && st.ranks.length === ranks && lag > 0)
            lags.push(lag);
        await s.sleep(500);
        if (sim.over && (await sim.done).status !== 0)
            await good(sim, 'bench_ranks');
    }
    seen.stop();
    await good(c, 'the collector');
    const told = JSON.parse((await good(sim, 'bench_ranks')).stdout);
    const of = of_server ? ` nats-server: ${of_server.mb.toFixed(0)} MB, ${of_server.cpu.toFixed(0)} s of CPU` : '';
    if (server) {
        of_server.stop();
        await server.kill();
    }
    const check = s.spawnSync(path.join(BENCH, 'bench_rank_files'), ['--check', path.join(there, 'bench'), sums],
                              { encoding: 'utf8' });
    if (check.status !== 0)
        throw new Error(`something is missing: ${check.stderr}`);
    ['there', 'nats'].forEach(fresh);
    return { ...told, ...seen, lag: Math.max(0, ...lags), usual: lags.length ? middle(lags) : 0, of };
}

async function ranks() {
    const plan = { ranks: some(1000), eventsPerSecond: 200, seconds: some(60), flushMs: 200 };
    for (const way of s.NATS ? ['nats', 'tcp'] : ['tcp']) {
        say(`ranks, ${way}`);
        const r = await simulate(way, plan);
        const figure = `stream.ranks.${way}`;
        result(`${figure}.lost`, [0]); /* simulate has compared them */
        detail(`${figure}.lost`, `${r.events} events of ${plan.ranks} ranks, ${r.pieces} pieces, ${plan.seconds} s; ` +
               'each file byte for byte');
        result(`${figure}.memory`, [r.mb]);
        detail(`${figure}.memory`, `${r.descriptors} descriptors at most, ${r.cpu.toFixed(0)} s of CPU.${r.of}`);
        result(`${figure}.lag`, [r.lag]);
        detail(`${figure}.lag`, `of the rank that is most behind, twice a second; usually ${r.usual.toFixed(2)} s; a ` +
               `piece's acknowledgement ${r.ack_ms} ms (${r.ack_max_ms} at most); ` +
               `${(r.bytes / r.events).toFixed(0)} bytes an event, ${(r.packed / r.events).toFixed(1)} packed`);
    }
}

async function many() {
    const plan = { ranks: some(10000), eventsPerSecond: 10, seconds: some(30), flushMs: 1000 };
    for (const way of s.NATS ? ['nats', 'tcp'] : ['tcp']) {
        say(`many, ${way}`);
        const r = await simulate(way, plan);
        result(`stream.many.${way}.memory`, [r.mb]);
        detail(`stream.many.${way}.memory`, `${plan.ranks} ranks, ${r.events} events in ${r.pieces} pieces, ` +
               `${plan.seconds} s; none lost; lag usually ${r.usual.toFixed(2)} s, ${r.lag.toFixed(2)} at most; ` +
               `${r.cpu.toFixed(0)} s of CPU.${r.of}`);
        result(`stream.many.${way}.descriptors`, [r.descriptors]);
    }
}

const all = { forward, rate, ranks, many };
const names = { forward: ['stream.forward.nats'], rate: ['stream.rate', 'stream.request'],
                ranks: ['lost', 'memory', 'lag'].map((n) => `stream.ranks.nats.${n}`),
                many: ['stream.many.nats.memory'] };

(async () => {
    for (const figure of figures) {
        if (!s.NATS)
            names[figure].forEach((n) => skip(n, 'no nats-server, or built without libnats'));
        if (s.NATS || figure !== 'rate')
            await all[figure]();
    }
    process.exit(0);
})().catch((e) => {
    say(String(e.stack || e));
    process.exit(1);
});
