// collect_show.test.js: what perf-trace-collect shows while it collects. SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const fs = require('fs');
const http = require('http');
const path = require('path');
const test = require('node:test');
const t = require('./collect_tool.js');

function get(port, target, method = 'GET') {
    return new Promise((resolve) => http.request({ port, path: target, method }, (r) => {
        let body = '';
        r.on('data', (d) => { body += d; });
        r.on('end', () => resolve({ status: r.statusCode, type: r.headers['content-type'], body }));
    }).end());
}

async function withStatus(args) {
    const c = await t.listening(['--status', '0', ...args]);
    c.status = Number((await c.until(/status at http:\/\/127\.0\.0\.1:(\d+)/))[1]);
    return c;
}

test('/status tells how far each rank is', async () => {
    const dir = t.folder();
    const c = await withStatus(['-o', dir]);
    const epoch = String(BigInt(Date.now() - 5000) * 1000000n);
    const files = [0, 1].map((rank) => t.file(t.trace({ rank, world: 3, role: 'actor', events: 100, dropped: 4 * rank, epoch }),
                                              { rank, world_size: 3, role: 'actor' }));
    await t.sendAll(() => c.port, [files[0]]);
    const s = await t.connect(c.port);
    const at = t.borders(files[1].bytes)[103]; // 3 names, 100 events
    s.piece(files[1], 0, at);
    await s.next('ack');
    s.send({ type: 'clock', t1: '1' });
    await s.next('clock');
    const r = await get(c.status, '/status');
    assert.deepStrictEqual([r.status, r.type], [200, 'application/json']);
    const state = JSON.parse(r.body);
    const [done, open] = state.ranks;
    assert(open.lag_s >= 5 && open.lag_s < 60, `${open.lag_s}`);
    const shape = { run: 'r', role: 'actor', host: 'node-1', events: 100, global_step: 9, files: 1 };
    assert.deepStrictEqual({ ...done, events_per_s: 0 }, { ...shape, rank: 0, state: 'ended', events_per_s: 0, lag_s: null, dropped: 0,
                                                           bytes: files[0].bytes.length });
    assert.deepStrictEqual({ ...open, events_per_s: 0 }, { ...shape, rank: 1, state: 'connected', events_per_s: 0, lag_s: open.lag_s,
                                                           dropped: 0, bytes: at });
    assert.deepStrictEqual(state.runs, [{ run: 'r', dir: path.join(dir, 'r'), ranks: 2, ranks_wanted: 3, ranks_ended: 1,
                                          done: 'no', pieces: state.runs[0].pieces, duplicates: 0, gaps: 0, parts_deleted: 0 }]);
    assert.deepStrictEqual(state.collector, { connections: 1, clocks_answered: 1, pieces_held: 0,
                                              files_open: state.collector.files_open, files_gone: 0, failing: null });
    assert.deepStrictEqual(state.pieces_refused, { unpack: 0, line: 0, overlap: 0, garbage: 0, run: 0 });
    await s.end();
    await t.sendAll(() => c.port, [files[1]]);
    const later = JSON.parse((await get(c.status, '/status')).body);
    assert.deepStrictEqual([later.ranks[1].state, later.ranks[1].dropped], ['ended', 4]);
    assert.strictEqual((await get(c.status, '/')).status, 404);
    assert.strictEqual((await get(c.status, '/status', 'POST')).status, 405);
    assert.strictEqual((await get(c.status, '/status', 'HEAD')).status, 200);
    await c.stop();
});

test('/metrics is what Prometheus reads', async () => {
    const c = await withStatus(['-o', t.folder()]);
    const f = t.file(t.trace({ events: 30, dropped: 2 }), { run: 'a "run"', role: '' });
    await t.sendAll(() => c.port, [f], { run: 'a "run"' });
    const r = await get(c.status, '/metrics');
    assert.match(r.type, /^text\/plain; version=0\.0\.4/);
    const lines = r.body.trim().split('\n');
    for (const line of lines)
        assert.match(line, /^(# (HELP|TYPE) perftrace_collect_\w+ .+|perftrace_collect_\w+(\{\w+="([^"\\]|\\.)*"(,\w+="([^"\\]|\\.)*")*\})? -?[\d.e+]+)$/);
    const labels = '{run="a \\"run\\"",role="",rank="0",host="node-1"}';
    for (const text of [`events_total${labels} 30`, `bytes_total${labels} ${f.bytes.length}`, `dropped_total${labels} 2`,
                        `step${labels} 2`, `ended${labels} 1`, `connected${labels} 0`])
        assert(lines.includes(`perftrace_collect_${text}`), text);
    await c.stop();
});

test('--follow prints a block for each interval, and the end', async () => {
    const dir = t.folder();
    const c = await t.listening(['-o', dir, '--follow', '--interval', '100ms', '--until-done']);
    const files = [0, 1].map((rank) => t.file(t.trace({ rank, world: 2, events: 1234 }), { rank, world_size: 2 }));
    await t.sendAll(() => c.port, [files[0]]);
    await t.sleep(500);
    await t.sendAll(() => c.port, [files[1]]);
    const r = await c.ended;
    assert.strictEqual(r.status, 0, r.stderr);
    const blocks = r.stdout.trim().split('\n\n');
    assert(blocks.length >= 3, r.stdout);
    assert.doesNotMatch(r.stdout, /\x1b/);
    assert.match(blocks[0], /Rank\s+Host\s+State\s+Events\/s\s+Lag\s+Events\s+Lost\s+Step\s+Bytes/);
    const last = blocks[blocks.length - 1].split('\n');
    assert.strictEqual(last.filter((l) => /ended/.test(l) && /1,234/.test(l) && /\b123\b/.test(l)).length, 2, last.join('\n'));
});

test('--follow waits for nobody who does not read', async () => {
    const dir = t.folder();
    const fifo = path.join(dir, 'out');
    require('child_process').spawnSync('mkfifo', [fifo]);
    const fd = fs.openSync(fifo, fs.constants.O_RDWR | fs.constants.O_NONBLOCK);
    const c = t.collector(['--listen', '0', '-o', dir, '--follow', '--interval', '50ms', '--until-done'],
                          { stdio: ['ignore', fs.openSync(fifo, 'w'), 'pipe'] });
    const port = Number((await c.until(/listening on 127\.0\.0\.1:(\d+)/))[1]);
    const files = Array.from({ length: 400 }, (_, rank) => t.file(t.trace({ rank, world: 401 }), { rank, world_size: 401 }));
    await t.sendAll(() => port, files);
    await t.sleep(1500); // the pipe is full
    const f = t.file(t.trace({ rank: 400, world: 401 }), { rank: 400, world_size: 401 });
    await t.sendAll(() => port, [f]);
    const r = await c.ended;
    assert.strictEqual(r.status, 0, r.stderr);
    fs.closeSync(fd);
});
