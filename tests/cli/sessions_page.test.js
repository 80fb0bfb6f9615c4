// sessions_page.test.js: --html of perf-trace-sessions from the outside; what a browser makes of the
// page is in tests/browser. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const fs = require('fs');
const tool = require('./sessions_tool.js');

const EVIL = '</script><b>x';

// Whether the tool was built with the chart library.
const possible = !/libjs-chart\.js/.test(tool.run(['x', '--html', '-']).stderr);
if (!possible && process.env.PERFTRACE_TEST_REQUIRE_ALL) {
    console.error('the tool was built without its chart library');
    process.exit(1);
}

// The parts between tags of the page, by id or name.
function partsOf(page) {
    const data = page.match(/<script type="application\/json" id="data">\n([^]*?)<\/script>/);
    return { data: JSON.parse(data[1]), markup: page.replace(/<(script|style)[^>]*>[^]*?<\/\1>/g, '') };
}

function pageOf(records, ...args) {
    const dir = tool.files({ 'sessions-r0.jsonl': records.map(tool.record) });
    const r = tool.run(['sessions-r0.jsonl', '--html', '-', ...args], { cwd: dir });
    assert.strictEqual(r.status, 0, r.stderr);
    return r.stdout.toString('utf8');
}

if (possible) {
    tool.golden('sessions_page', tool.TOOL, (text) => text);

    test('the page holds all it needs', () => {
        const page = pageOf([{}]);
        assert.ok(page.startsWith('<!DOCTYPE html>'));
        assert.ok(page.includes("default-src 'none'"));
        const { markup } = partsOf(page);
        const links = [...markup.matchAll(/(?:src|href)="([^"]*)"/g)].map((m) => m[1]);
        assert.deepStrictEqual(links.filter((l) => l !== 'data:,' && !l.startsWith('#')), []);
        assert.ok(page.includes('Chart.js v3'));
        assert.ok(/Permission is hereby granted/.test(page), 'the license of the chart library');
    });

    test('no name becomes markup', () => {
        const { data, markup } = partsOf(pageOf([{
            task_id: EVIL, session_id: EVIL, role: EVIL, status: EVIL, reason: EVIL,
            phases: { [EVIL]: [{ start_ts: 1760000000, end_ts: 1760000001 }] },
        }]));
        assert.ok(!markup.includes('<b>'));
        for (const kind of ['role', 'status', 'reason', 'phase'])
            assert.ok(data.names[kind].includes(EVIL));
        assert.deepStrictEqual(data.scatter.task, [EVIL]);
        assert.deepStrictEqual(data.scatter.session, [EVIL]);
    });

    test('the report is printed besides, but not behind a page on standard output', () => {
        const dir = tool.files({ 'sessions-r0.jsonl': [tool.record({})] });
        const both = tool.run(['sessions-r0.jsonl', '--html', 'page.html'], { cwd: dir });
        assert.strictEqual(both.status, 0);
        assert.match(both.stdout.toString(), /^Sessions/);
        const page = fs.readFileSync(`${dir}/page.html`, 'utf8');
        const alone = tool.run(['sessions-r0.jsonl', '--html', '-'], { cwd: dir });
        assert.strictEqual(alone.stdout.toString(), page);
        const json = tool.run(['sessions-r0.jsonl', '--html', '-', '--json', '-o', 'x.json'],
                              { cwd: dir });
        assert.strictEqual(json.stdout.toString(), page);
        assert.strictEqual(JSON.parse(fs.readFileSync(`${dir}/x.json`)).summary.sessions, 1);
    });

    test('no input is overwritten, and what cannot be written is told', () => {
        const dir = tool.files({ 'sessions-r0.jsonl': [tool.record({})] });
        const input = tool.run(['sessions-r0.jsonl', '--html', './sessions-r0.jsonl'], { cwd: dir });
        assert.strictEqual(input.status, 4);
        assert.match(input.stderr, /is one of the inputs/);
        const missing = tool.run(['sessions-r0.jsonl', '--html', 'no/page.html'], { cwd: dir });
        assert.strictEqual(missing.status, 4);
        assert.match(missing.stderr, /there is no directory no/);
        for (const args of [['--html', ''], ['--html', 'a', '-o', './a'], ['--compare', '--html', 'a', 'x'],
                            ['--phase-style', 'x=red'], ['-N', '0']])
            assert.strictEqual(tool.run(['sessions-r0.jsonl', ...args], { cwd: dir }).status, 2);
        assert.deepStrictEqual(fs.readdirSync(dir), ['sessions-r0.jsonl']);
    });

    test('filters, limits and styles reach the page', () => {
        const records = Array.from({ length: 50 }, (_, i) => ({
            session_id: i, status: i % 2 ? 'failed' : 'accepted', finalized_ts: 1760000001 + i,
            phases: { generate: [{ start_ts: 1760000000, end_ts: 1760000000.5 }] },
        }));
        const { data } = partsOf(pageOf(records, '--status', 'failed', '-N', '3', '--phase-style',
                                        'generate=#123456:Gen'));
        assert.strictEqual(data.about.sessions, 25);
        assert.strictEqual(data.about.of, 50);
        assert.strictEqual(data.scatter.of, 25);
        assert.deepStrictEqual(data.timeline.rows.map((row) => row[3]), [1, 3, 5, 45, 47, 49]);
        assert.deepStrictEqual(data.phaseStyle, [{ color: '#123456', label: 'Gen' }]);
        const none = partsOf(pageOf(records, '--no-lifecycle')).data;
        assert.deepStrictEqual(none.timeline.rows, []);
    });

    test('what makes no sense makes a page all the same', () => {
        const { data } = partsOf(pageOf([
            { submit_ts: -1e308, finalized_ts: 1e308 },
            { submit_ts: 1e308, finalized_ts: -1e308, total_s: -5, session_id: 1 },
            { session_id: 2, phases: { generate: [{ start_ts: 1e200, end_ts: 1e300 },
                                                  { start_ts: 3, end_ts: 2 },
                                                  { start_ts: null, end_ts: null }] } },
            { session_id: 3, rank: null, status: '', submit_ts: null, finalized_ts: null },
            { session_id: 4, rank: 2147483647, submit_ts: 0, finalized_ts: 1e15 },
        ], '-B', '1'));
        assert.strictEqual(data.about.sessions, 5);
        assert.deepStrictEqual(data.ranks, [null, 0, 2147483647]);
    });

    // As a writer records it that was killed between begin and end.
    test('an open phase of which no begin is recorded is in the timeline', () => {
        const { data } = partsOf(pageOf([
            { status: 'pending', finalized_ts: null, unfinished: { reward: 2 },
              phases: { generate: [{ start_ts: 1760000000.5, end_ts: 1760000001 }] } },
            { session_id: 1, phases: { generate: [{ start_ts: 1760000000, end_ts: 1760000001 }] } },
        ]));
        assert.deepStrictEqual(data.names.phase, ['generate', 'reward']);
        assert.deepStrictEqual(data.timeline.rows.map((row) => row[9]),
                               [[0, 0.5, 1, 1, null, null], [0, 0, 1]]);
    });

    // The bins of the reference, whose rule is tested in test_sessions_stats: here that they are
    // those of total, and of each phase.
    test('histograms count all values', () => {
        const records = Array.from({ length: 300 }, (_, i) => ({
            session_id: i, finalized_ts: 1760000001 + i / 100,
            phases: i % 3 ? { reward: [{ start_ts: 1760000000, end_ts: 1760000000.5 + i / 1000 }] } : {},
        }));
        const [total, reward] = partsOf(pageOf(records)).data.histograms.overall;
        const sum = ({ counts }) => counts.reduce((n, c, k) => n + (k % 2 ? c : 0), 0);
        assert.deepStrictEqual([total.kind, total.n, sum(total), total.missing], ['total', 300, 300, 0]);
        assert.deepStrictEqual([reward.n, sum(reward), reward.missing], [200, 200, 100]);
        assert.ok(total.bins >= 96 && total.bins <= 121);
    });
} else {
    test('without the chart library the package is named', () => {
        const dir = tool.files({ 'sessions-r0.jsonl': [tool.record({})] });
        const r = tool.run(['sessions-r0.jsonl', '--html', 'page.html'], { cwd: dir });
        assert.strictEqual(r.status, 4);
        assert.ok(!fs.existsSync(`${dir}/page.html`));
    });
}
