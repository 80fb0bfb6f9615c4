#!/usr/bin/env node
// open_analysis_page.js TOOL FOLDER: opens pages of perf-trace-analyze --html in headless Chromium:
// one of four ranks of five, with names that are markup, and one without a device. Nothing is
// requested, nothing complains, every chart has its data in the places where it should be, names stay
// text, missing ranks are told, and pointer and keys are answered. Screenshots in light and dark
// colours go to FOLDER. Exit status 0 good, 1 not. SPDX-License-Identifier: MIT
'use strict';
const assert = require('assert');
const { spawnSync } = require('child_process');
const fs = require('fs');
const path = require('path');
const { withBrowser } = require('./browser.js');
const { open, drawn, close } = require('./opened_page.js');

const [tool, folder] = process.argv.slice(2);
const EVIL = '</script><script>alert(1)</script><img src=x onerror=alert(2)>';

// A rank whose steps take 10 ms, the last rank's 14 ms; kernels, communication under them, and gaps.
function traceOf(rank, kernel) {
    const events = [], length = rank === 3 ? 14000 : 10000;
    for (let step = 0; step < 12; step++) {
        const at = step * 15000;
        events.push({ ph: 'X', cat: 'user_annotation', name: `ProfilerStep#${step}`, pid: 9, tid: 9, ts: at,
                      dur: length });
        for (let i = 0; i < 8; i++) {
            const ts = at + i * length / 8;
            events.push({ ph: 'X', cat: 'kernel', name: i % 2 ? kernel : `gemm_${i}`, pid: 0, tid: 7, ts,
                          dur: length / 12, args: { stream: 7 } });
        }
        events.push({ ph: 'X', cat: 'kernel', name: 'ncclDevKernel_AllReduce', pid: 0, tid: 9,
                      ts: at + length * 0.7, dur: length / 4,
                      args: { 'Collective name': 'allreduce', 'Process Group Name': 'dp', Seq: step } });
    }
    return { distributedInfo: { backend: 'nccl', rank, world_size: 5 }, traceEvents: events };
}

function makePage(name, traces) {
    const inputs = path.join(folder, `${name}-traces`), file = path.join(folder, `${name}.html`);
    fs.rmSync(inputs, { recursive: true, force: true });
    fs.mkdirSync(inputs, { recursive: true });
    traces.forEach((trace, i) => fs.writeFileSync(path.join(inputs, `rank${i}.json`), JSON.stringify(trace)));
    const r = spawnSync(tool, [inputs, '--html', file, '-q', '-o', path.join(folder, `${name}.txt`)],
                        { encoding: 'utf8' });
    assert.strictEqual(r.status, 0, r.stderr);
    return file;
}

async function shoot(page, name) {
    await page.screenshot({ path: path.join(folder, `${name}.png`), fullPage: true });
}

// In the page: what each chart holds, and how much of its canvas is drawn on.
function lookAtCharts() {
    return charts.map((chart) => {
        const { canvas } = chart, { width, height } = canvas;
        const copy = Object.assign(document.createElement('canvas'), { width, height });
        const read = copy.getContext('2d', { willReadFrequently: true });
        read.drawImage(canvas, 0, 0);
        const { data: pixels } = read.getImageData(0, 0, width, height);
        let shown = 0;
        for (let i = 3; i < pixels.length; i += 4)
            shown += pixels[i] > 60;
        return { label: canvas.getAttribute('aria-label'), shown: shown / (width * height),
                 sets: chart.data.datasets.map((set) => ({
                     label: set.label, data: set.data.map((d) => (typeof d === 'number' ? d : d.y)) })) };
    });
}

async function checkFull(browser) {
    const file = makePage('analysis', [0, 1, 2, 3].map((rank) => traceOf(rank, rank === 0 ? EVIL : 'rms_norm')));
    const opened = await open(browser, file), { page } = opened;
    const looked = await page.evaluate(lookAtCharts);
    assert.strictEqual(looked.length, 5, 'charts');
    looked.forEach((chart) => assert(chart.shown > 0.004, `${chart.label}: hardly anything is drawn`));
    const [utilisation, breakdown, overlap, kernels, steps] = looked;
    assert.deepStrictEqual(utilisation.sets.map((set) => set.label), ['rank 0', 'rank 1', 'rank 2', 'rank 3']);
    utilisation.sets.forEach((set) => assert.strictEqual(set.data.length, 120));
    assert.strictEqual(breakdown.sets.length, 5);
    // Twelve steps of rank 0: kernels of 10/12 ms eight times a step, communication of 2.5 ms.
    const sum = (chart, rank) => chart.sets.reduce((n, set) => n + set.data[rank], 0);
    assert(Math.abs(sum(overlap, 0) - 12 * 0.0025) < 1e-9, 'communication of rank 0');
    assert(Math.abs(breakdown.sets[0].data[0] + breakdown.sets[1].data[0] - 12 * 8 * 0.01 / 12) < 1e-7,
           'compute of rank 0');
    assert.strictEqual(kernels.sets[0].data.length, 7);
    assert(Math.abs(kernels.sets[0].data[0] - 12 * 4 * (0.01 + 0.01 + 0.014) / 12) < 1e-7, 'rms_norm');
    assert(Math.abs(kernels.sets[0].data[1] - 12 * (3 * 0.0025 + 0.0035)) < 1e-7, 'the communication kernel');
    assert.deepStrictEqual(steps.sets.map((set) => set.data[5]), [0.01, 0.01, 0.01, 0.014]);
    const text = await page.evaluate(() => document.body.innerText);
    assert(text.includes(EVIL.slice(0, 30)), 'a name that is markup stays text');
    assert.match(await page.textContent('#banner'), /Missing: rank 4 of 5/);
    const heat = await page.evaluate(() => Array.from(document.querySelectorAll('.heat td'), (td) => td.title));
    assert.strictEqual(heat.length, 48);
    assert.match(heat[heat.length - 1], /rank 3, step 11: 14 ms, \+27\.3 % of the mean/);
    // A chart answers the keys, a legend hides a rank.
    await page.focus('#utilisation canvas');
    await page.keyboard.press('ArrowRight');
    assert.match(await page.textContent('#announce'), /rank 0: [\d.]+ % at/);
    await page.click('#utilisation button.key');
    assert.strictEqual(await page.evaluate(() => charts[0].isDatasetVisible(0)), false);
    await page.click('#utilisation button.key');
    await shoot(page, 'analysis-light');
    await page.click('#theme');
    await drawn(page, 'dark');
    await shoot(page, 'analysis-dark');
    await close(opened);
}

async function checkBare(browser) {
    const file = makePage('bare', [{ traceEvents: [
        { ph: 'X', cat: 'cpu_op', name: 'aten::add', pid: 1, tid: 1, ts: 0, dur: 5 }] }]);
    const opened = await open(browser, file), { page } = opened;
    assert.strictEqual(await page.evaluate(() => charts.length), 0);
    assert.deepStrictEqual(await page.evaluate(() => Array.from(
        document.querySelectorAll('main > section:not([hidden])'), (part) => part.id)), ['summary', 'details']);
    assert.match(await page.evaluate(() => document.body.innerText), /no GPU events/);
    await shoot(page, 'bare');
    await close(opened);
}

fs.mkdirSync(folder, { recursive: true });
withBrowser({ width: 1280, height: 900 }, async (browser) => {
    await checkFull(browser);
    await checkBare(browser);
}).then(() => console.log('good'), (error) => {
    console.error(error);
    process.exit(1);
});
