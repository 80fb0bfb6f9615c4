// analyze_input.test.js: what is given to the tool, and what must not trip it. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const zlib = require('zlib');
const { spawn, spawnSync } = require('child_process');
const t = require('./analyze_tool.js');
const { rank, mixed, kinds } = require('./mixed_lines.js');
const { X, kernel, call, torch, row, path, fs } = t;

const device = [kernel('gemm', 0, 10), kernel('norm', 20, 10)];
const ok = (r) => { assert.strictEqual(r.status, 0, r.stderr); return r; };
const ranks = (r) => r.ranks.map((k) => k.rank);

test('a trace without kernels is analysed', () => {
    const r = ok(t.report([t.files({ 'rank0.json': torch(0, [X('cpu_op', 'aten::add', 0, 10)]) })]));
    assert.strictEqual(r.summary.device_note, 'no GPU events');
});

test('stream ids that are texts are analysed', () => {
    const r = ok(t.report([t.files({ 'rank0.json': torch(0, [{ ...device[0], tid: 'stream 7' }]) })]));
    assert.strictEqual(r.streams[0].stream, 'stream 7');
    assert.match(t.run([t.files({ 'rank0.json': torch(0, [{ ...device[0], pid: 'gpu', tid: 'x' }]) })])
        .stdout.toString(), /gpu +x/);
});

test('--rank 1 is rank 1 and not ranks 10 to 19', () => {
    const files = {};
    for (let n = 0; n < 12; n++)
        files[`1712345-TP-${n}.trace.json.gz`] = zlib.gzipSync(torch(null, device));
    const dir = t.files(files);
    assert.deepStrictEqual(ranks(ok(t.report(['--profile-dir', dir]))), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    const r = ok(t.report(['--profile-dir', dir, '--rank', '1']));
    assert.deepStrictEqual(r.ranks.map((k) => path.basename(k.file)), ['1712345-TP-1.trace.json.gz']);
    assert.deepStrictEqual(ranks(ok(t.report([dir, '--rank', '0,10-11']))), [0, 10, 11]);
    assert.deepStrictEqual(ranks(ok(t.report([dir, '--all-ranks']))).length, 12);
    const none = t.run([dir, '--rank', '99']);
    assert.strictEqual(none.status, 3);
    assert.match(none.stderr, /no input is of a rank in 99/);
});

test('--rank: what is missing is of the ranks that it lists', () => {
    const ranks = (...list) => t.files(Object.fromEntries(list.map(
        (n) => [`${n}.json`, torch(n, [kernel('a', 0, 10)], { world_size: 4 })])));
    const all = ranks(0, 1, 2, 3), page = path.join(all, 'page.html');
    const missing = (dir, ...args) => {
        const r = t.report([dir, '--rank', ...args]), { missing_ranks: which } = r.summary;
        const [, told] = /missing ranks? ([\d, ]+) of/.exec(r.stderr) || [null, null];
        assert.strictEqual(r.status, 0, r.stderr);
        assert.strictEqual(told, which);
        assert.strictEqual(r.summary.missing, which === null ? 0 : which.split(', ').length);
        assert.strictEqual(r.findings.some((f) => /missing/.test(f.finding)), which !== null);
        return which;
    };
    assert.deepStrictEqual([missing(all, '3'), missing(all, '0-1'), missing(all, '0-99'), missing(all, '0,7'),
                            missing(ranks(0, 2), '0-1,2-9')], [null, null, null, '7', '1, 3']);
    assert.strictEqual(t.run([all, '--rank', '0,7', '--require-all']).status, 1);
    assert.strictEqual(t.run([all, '--rank', '0', '--require-all']).status, 0);
    if (t.run([all, '--rank', '0,7', '--html', page, '-o', path.join(all, 'text')]).status === 0)
        assert.match(fs.readFileSync(page, 'utf8'), /"chosen": true, "missing_ranks": "7"/);
    // One result of many is meant to lack the others.
    const one = t.run([path.join(all, '0.json'), '--partial', path.join(all, 'one.result')]);
    assert.deepStrictEqual([one.status, one.stderr], [0, '']);
    assert.strictEqual(t.run([path.join(all, '0.json'), '--partial', page, '--require-all']).status, 1);
});

test('names of vLLM and of torch tell ranks, too', () => {
    for (const [name, rank] of [['rank3.1690000.pt.trace.json', 3], ['host_rank-12.pt.trace.json', 12],
                                ['dp0_pp0_tp5.trace.json', 5], ['traces-r7.jsonl', 7],
                                ['1712345-TP-4-DECODE.trace.json', 4]]) {
        const text = name.endsWith('l') ? device.map((e) => JSON.stringify(e)) : torch(null, device);
        const r = ok(t.report([t.files({ [name]: text })]));
        assert.deepStrictEqual([r.ranks[0].rank, r.ranks[0].rank_source], [rank, 'file name'], name);
    }
    const r = ok(t.report([t.files({ '1-TP-4-DP-1.trace.json': torch(null, device) })]));
    assert.strictEqual(r.ranks[0].rank_source, 'made up');
});

test('ranks: the map before distributedInfo, that before the name', () => {
    const dir = t.files({ 'rank5.json': torch(2, device) });
    assert.deepStrictEqual(ranks(ok(t.report([dir]))), [2]);
    const r = ok(t.report([dir, '--rank-map', 'rank5.json=9']));
    assert.deepStrictEqual([r.ranks[0].rank, r.ranks[0].rank_source], [9, '--rank-map']);
});

test('ranks: the header before the events, these before the name', () => {
    const event = (rank) => ({ ph: 'X', cat: 'compute', name: 'a', pid: 1, tid: 1, ts: 0, dur: 1, args: { rank } });
    const header = { name: 'perftrace_header', ph: 'M', pid: 1, tid: 1,
                     args: { version: 1, run_id: 'r', rank: 3, world_size: 8, epoch_ns: '1790000000000000000' } };
    const told = (lines, args = []) => {
        const [k] = ok(t.report([t.files({ 'traces-r5.jsonl': lines.map((e) => JSON.stringify(e)) }), ...args])).ranks;
        return [k.rank, k.rank_source];
    };
    assert.deepStrictEqual(told([header, event(4)]), [3, 'header']);
    assert.deepStrictEqual(told([event(4)]), [4, 'events']);
    assert.deepStrictEqual(told([event('none')]), [5, 'file name']);
    assert.deepStrictEqual(told([header, event(4)], ['--rank-map', 'traces-r5.jsonl=7']), [7, '--rank-map']);
});

test('exit statuses', () => {
    const dir = t.files({ 'rank0.json': torch(0, device), 'bad.json': '{"traceEvents": [{"ph": "X", "name": ',
                          'nothing/x.txt': '' });
    for (const [args, status, text] of [
        [[], 2, /no input is given/], [[path.join(dir, 'no.json')], 3, /No such file/],
        [['--profile-dir', path.join(dir, 'nothing')], 3, /\*\.json/],
        [[path.join(dir, 'rank0.json'), '--json', '--csv'], 2, /exclude each other/],
        [['diff', dir], 2, /diff takes two inputs/],
        [[path.join(dir, 'rank0.json'), '--rank', 'x'], 2, /--rank takes a list/],
        [[path.join(dir, 'rank0.json'), '--rank-map', 'x'], 2, /--rank-map takes FILE=RANK/],
        [[path.join(dir, 'rank0.json'), '--table', 'nonsense'], 2, /there is no table nonsense here; there are summary/],
        [[path.join(dir, 'rank0.json'), '-o', path.join(dir, 'no', 'x')], 4, /there is no directory/],
        [[path.join(dir, 'rank0.json'), '-o', path.join(dir, 'rank0.json')], 4, /is one of the inputs/],
        [[path.join(dir, 'rank0.json'), '--partial', 'x', '--json'], 2, /--partial/]]) {
        const r = t.run(args);
        assert.strictEqual(r.status, status, `${args}: ${r.stderr}`);
        assert.match(r.stderr, text);
    }
});

test('damaged files: what can be read is analysed, and what cannot is told once', () => {
    const cut = torch(0, [...device, ...device]).slice(0, -60);
    const cases = {
        'array that is never closed': [`[${device.map((e) => JSON.stringify(e)).join(',')},`, 2, 'not_closed'],
        'object that is never closed': [cut, 3, 'damaged'],
        'bare words': [`[{"ph":"X","name":"a","ts":1,"dur":NaN,"pid":1,"tid":1}]`, 1, 'NONFINITE'],
        'equal keys': ['[{"ph":"X","name":"a","name":"b","ts":1,"dur":2,"pid":1,"tid":1}]', 1, 'DUPLICATE_KEY'],
        'equal keys in args': ['[{"ph":"X","cat":"kernel","name":"a","ts":1,"dur":2,"pid":1,"tid":1,"args":' +
                               '{"correlation":1,"correlation":2}}]', 1, 'DUPLICATE_KEY'],
        'equal counters': ['[{"ph":"C","name":"a","ts":1,"pid":1,"args":{"v":1,"v":2}}]', 1, 'DUPLICATE_KEY'],
        'a megabyte of arguments': [JSON.stringify([{ ...device[0], args: { text: 'x'.repeat(1 << 20) } }]), 1, null],
        'a list in args': ['[{"ph":"X","name":"a","ts":1,"dur":2,"pid":1,"tid":1,"args":[1,2]}]', 1, 'bad_args'],
        'times as texts': ['[{"ph":"X","name":"a","ts":"1.5","dur":"2","pid":"1","tid":"1"}]', 1, null],
        'a negative duration': ['[{"ph":"X","name":"a","ts":1,"dur":-2,"pid":1,"tid":1}]', 1, 'negative_duration'],
        'no time': ['[{"ph":"X","name":"a","pid":1,"tid":1}]', 1, 'no_time'],
        'an end alone': ['[{"ph":"E","ts":1,"pid":1,"tid":1}]', 1, 'stray_end'],
        'a begin alone': ['[{"ph":"B","name":"a","ts":1,"pid":1,"tid":1}]', 1, 'unfinished'],
        'an unknown phase': ['[{"ph":"?","name":"a","ts":1,"pid":1,"tid":1}]', 1, 'bad_phase'],
        'bytes that are not UTF-8': [Buffer.concat([Buffer.from('[{"ph":"X","name":"a'), Buffer.from([0xff, 0xfe]),
            Buffer.from('","ts":1,"dur":2,"pid":1,"tid":1}]')]), 1, 'UTF8'],
    };
    for (const [what, [text, events, kind]] of Object.entries(cases)) {
        const r = ok(t.report([t.files({ 'rank0.json': text })]));
        assert.strictEqual(r.summary.events, events, what);
        const kinds = r.problems.map((p) => p.kind);
        if (kind !== null)
            assert(kinds.some((k) => k.includes(kind)), `${what}: ${kinds}`);
        assert.strictEqual(new Set(kinds).size, kinds.length, `${what}: ${kinds}`);
    }
    const strict = t.run([t.files({ 'rank0.json': cut }), '--strict']);
    assert.strictEqual(strict.status, 1);
    assert.strictEqual(strict.stdout.length, 0);
    assert.match(strict.stderr, /nothing is written/);
});

// As other readers of JSON do, and as perf-trace-convert writes it.
test('of equal keys the last one counts, and only the own keys of args', () => {
    const event = (members, args) => `{"ph":"X","pid":1,"tid":1,"dur":1,${members},"args":${args}}`;
    const text = `[${[
        event('"cat":"cuda_runtime","name":"cudaLaunchKernel","ts":0', '{"correlation":8,"correlation":4}'),
        event('"cat":"kernel","name":"x","name":"k","ts":9,"ts":10', '{"nested":{"correlation":8},"correlation":4}'),
        event('"cat":"gpu_memcpy","name":"Memcpy HtoD","ts":20', '{"nested":[{"bytes":7}],"bytes":5}'),
        event('"cat":"gpu_memcpy","name":"Memcpy DtoH","ts":30', '{"nested":[{"bytes":7}]}'),
        '{"ph":"C","pid":1,"name":"c","ts":1,"args":{"v":1,"w":2,"v":3}}'].join(',')}]`;
    const r = ok(t.report([t.files({ 'rank0.json': text })]));
    assert.deepStrictEqual(r.problems.map((p) => [p.kind, p.count]), [['mended_DUPLICATE_KEY', 3]]);
    assert.deepStrictEqual(r.kernels.map((k) => k.name), ['k']);
    assert.strictEqual(r.launches[0].linked, 1);
    t.near(r.launches[0].delay_max_s, 9e-6, 'from the end of its call');
    assert.strictEqual(row(r.transfers, { kind: 'Memcpy HtoD' }).bytes, 5);
    assert.strictEqual(row(r.transfers, { kind: 'Memcpy DtoH' }).bytes, null);
    assert.deepStrictEqual(r.counters.map((c) => [c.name, c.count, c.last]).sort(), [['c v', 1, 3], ['c w', 1, 2]]);
});

test('gzip: several members, cut off, and hostile', () => {
    const text = torch(0, device), half = Math.floor(text.length / 2);
    const members = Buffer.concat([zlib.gzipSync(text.slice(0, half)), zlib.gzipSync(text.slice(half))]);
    assert.strictEqual(ok(t.report([t.files({ 'rank0.json.gz': members })])).summary.events, 2);
    const long = zlib.gzipSync(torch(0, Array.from({ length: 5000 }, (_, i) => kernel(`k${i * 7919 % 997}`, i, 1))));
    const r = ok(t.report([t.files({ 'rank0.json.gz': long.subarray(0, long.length / 2) })]));
    assert(r.summary.events > 1000 && r.summary.events < 5000);
    assert(r.problems.some((p) => p.kind === 'input_damaged'));
    const bad = t.run([t.files({ 'rank0.json.gz': Buffer.from([0x1f, 0x8b, 8, 0, 1, 2, 3]) })]);
    assert.strictEqual(bad.status, 3);
});

test('standard input, JSON lines and arrays give the same', () => {
    const lines = device.map((e) => JSON.stringify(e) + '\n').join(''), array = JSON.stringify(device);
    const figures = (r) => { ok(r); return [r.summary.scopes, r.ranks[0].busy_s, r.kernels]; };
    const want = figures(t.report([t.files({ 'rank0.json': array })]));
    assert.deepStrictEqual(figures(t.report(['-'], { input: Buffer.from(lines) })), want);
    assert.deepStrictEqual(figures(t.report(['-'], { input: Buffer.from(array) })), want);
    assert.deepStrictEqual(figures(t.report([t.files({ 'rank0.jsonl': lines.replace(/\n/g, '\r\n') })])), want);
});

test('--table, --csv and --top-n', () => {
    const dir = t.files({ 'rank0.json': torch(0, device) });
    const csv = t.run([dir, '--csv', '--table', 'kernels']).stdout.toString().split('\n');
    assert.match(csv[0], /^share,total_s,mean_s/);
    assert.strictEqual(csv.length, 4);
    assert.strictEqual(t.report([dir, '--top-n', '1']).kernels.length, 1);
    const r = JSON.parse(t.run([dir, '--json', '--table', 'ranks,kernels']).stdout.toString());
    assert.deepStrictEqual(Object.keys(r), ['perftrace_analysis', 'ranks', 'kernels', 'problems']);
});

test('many launches on many ids that are large', () => {
    const big = 2 ** 53 - 10;
    const r = ok(t.report([t.files({ 'rank0.json': torch(0, [
        call(0, 1, big), kernel('a', 5, 1, { correlation: big }),
        kernel('b', 9, 1, { correlation: 7, 'Collective name': 'x', Seq: '99999999999999999999' })]) })]));
    assert.strictEqual(row(r.launches, { rank: 0 }).linked, 1);
});

test('a terminal is not steered by names', () => {
    const r = t.run([t.files({ 'rank0.json': torch(0, [kernel('a\u001b[31mred', 0, 10)]) })]);
    assert(!r.stdout.toString().includes('\u001b'));
});

test('no output takes the place of a file that is read', () => {
    const before = torch(0, [kernel('a', 0, 10)]), rules = 'compute\tclass\ta\n';
    const dir = t.files({ 'a.json': before, 'b.json': before, rules });
    const at = (name) => path.join(dir, name);
    for (const args of [['diff', at('a.json'), at('b.json'), '-o', at('a.json')],
                        ['diff', at('a.json'), at('b.json'), '-o', at('b.json')],
                        [at('a.json'), '--rules', at('rules'), '-o', at('rules')],
                        [at('a.json'), '--rules', at('rules'), '--partial', at('rules')]]) {
        const r = t.run(args);
        assert.strictEqual(r.status, 4, args.join(' '));
        assert.match(r.stderr, /is one of the inputs/);
    }
    assert.deepStrictEqual(['a.json', 'b.json', 'rules'].map((name) => t.fs.readFileSync(at(name), 'utf8')),
                           [before, before, rules]);
});

// ---- one file in which processes take turns, as perf-trace-collect --one-file makes it ----

const lines = (rank) => rank.map((l) => `${l}\n`).join('');
// What a report says, whatever the files are called.
const told = (r) => JSON.parse(JSON.stringify({ ...ok(r), stdout: 0, stderr: 0 }, (key, value) => key === 'file' || key === 'files' ? undefined : value));

for (const [what, ranks] of kinds)
    test(`processes ${what} that take turns in one file are analysed as from their own files`, () => {
        const apart = told(t.report([t.files(Object.fromEntries(ranks.map((r, i) => [`${'abc'[i]}.jsonl`, lines(r)])))]));
        assert.strictEqual(apart.ranks.length, 3);
        // At once, and behind what is looked at first; beside another file, too.
        for (const [each, first] of [[1, 0], [17, 390]]) {
            const r = t.report([t.files({ 'trace_events.jsonl': mixed(ranks, each, first) })]);
            assert.deepStrictEqual(told(r), apart);
            assert.match(r.stderr, /trace_events\.jsonl: the lines of 3 processes take turns in it/);
        }
        const two = t.files({ 'a.jsonl': mixed(ranks.slice(0, 2), 3), 'c.jsonl': lines(ranks[2]) });
        assert.deepStrictEqual(told(t.report([two, '-j', '2'])), apart);
    });

test('a file in which processes take turns is not taken where it can be read only once', () => {
    const text = mixed([rank(0), rank(1)], 3);
    const r = t.run(['-'], { input: Buffer.from(text) });
    assert.strictEqual(r.status, 3);
    assert.match(r.stderr, /standard input: .*give it as a file/);
    const fifo = spawnSync('bash', ['-c', 'mkfifo all; cat x.jsonl >all & timeout 60 "$0" all; code=$?; rm all; exit $code', t.TOOL],
                           { cwd: t.files({ 'x.jsonl': text }), encoding: 'utf8' });
    assert.strictEqual(fifo.status, 3, fifo.stderr);
    assert.match(fifo.stderr, /all: .*give it as a file/);
});

test('one that is exchanged while it is read is told', () => {
    const dir = t.files({ 'good': mixed([rank(0), rank(1)], 3), 'other': '{"a": 1}\n', 'all.jsonl': '' });
    const swap = spawn('bash', ['-c', 'while :; do cp good new; mv new all.jsonl; cp other new; mv new all.jsonl; done'], { cwd: dir });
    try {
        for (let i = 0; i < 60; i++) {
            const r = t.run([path.join(dir, 'all.jsonl')]);
            assert([0, 3].includes(r.status), `${r.status} ${r.signal} ${r.stderr}`);
        }
    } finally {
        swap.kill('SIGKILL');
    }
});

test('what ends early is damaged, however it is read', () => {
    const dir = t.files({ 'x.jsonl.gz': zlib.gzipSync(mixed([rank(0), rank(1)], 3)).subarray(0, -9) });
    assert.strictEqual(t.run([dir, '--strict']).status, 1);
    const r = t.report([dir]);
    assert.strictEqual(r.status, 0, r.stderr);
    assert.match(r.stderr, /x\.jsonl\.gz \(pid \d+ of rank \d\).*gzip data is cut off at byte/);
});
