#!/usr/bin/env node
// open_stacks_page.js TOOL FOLDER: opens pages of perf-trace-stacks --html in headless Chromium: a
// small one with names that are markup, one with deep recursion, and one of 300,000 distinct stacks.
// Nothing is requested, nothing complains, names stay text, boxes are as wide as their weights, and
// zoom, search and threads do what they say. Screenshots in light and dark colours go to FOLDER. Exit
// status 0 good, 1 not. SPDX-License-Identifier: MIT
'use strict';
const assert = require('assert');
const { spawnSync } = require('child_process');
const fs = require('fs');
const path = require('path');
const { withBrowser } = require('./browser.js');
const { open, close } = require('./opened_page.js');
const { EVIL } = require('./invented_sessions.js');

const [tool, folder] = process.argv.slice(2);

function makePage(name, input) {
    const file = path.join(folder, `${name}.html`);
    const r = spawnSync(tool, ['-', '--html', file, '-q'], { input: Buffer.from(input), encoding: 'utf8',
                                                             maxBuffer: 1 << 28 });
    assert.strictEqual(r.status, 0, r.stderr);
    return file;
}

// The boxes that are drawn: name, where, how wide, which row.
const boxes = (page) => page.evaluate(() => [...document.querySelectorAll('#flame g')].map((g) => {
    const [x, y] = g.getAttribute('transform').match(/-?\d[\d.e+-]*/g).map(Number);
    return { name: g.__data__.node.name, x, row: y / 18, width: Number(g.querySelector('rect').getAttribute('width')),
             weight: g.__data__.node.weight, found: g.classList.contains('found'),
             text: (g.querySelector('text') || { textContent: '' }).textContent };
}));
const named = (list, name) => list.filter((box) => box.name === name);
const near = (a, b) => assert(Math.abs(a - b) < 0.01, `${a}, not ${b}`);

// Small ones whose graph can be checked on paper. The first thread: main 10 of its own, step 30, of
// which read 20; the second: wait 60.
function smallInput() {
    const frames = ['main', 'step', 'read', 'wait', ...EVIL];
    const evil = EVIL.map((_, i) => [0, 4 + i]);
    return JSON.stringify({ shared: { frames: frames.map((name) => ({ name })) }, profiles: [
        { type: 'sampled', name: 'one', unit: 'seconds', startValue: 0, endValue: 46,
          samples: [[0], [0, 1], [0, 1, 2], ...evil], weights: [10, 10, 20, ...EVIL.map(() => 1)] },
        { type: 'sampled', name: '</script><b>two', unit: 'seconds', startValue: 0, endValue: 60, samples: [[3]],
          weights: [60] }] });
}

async function checkSmall(page) {
    let list = await boxes(page);
    const whole = named(list, 'all threads')[0];
    const scale = whole.width / (46 + 60);
    near(named(list, 'wait')[0].width, 60 * scale);
    near(named(list, 'step')[0].width, 30 * scale);
    near(named(list, 'read')[0].width, 20 * scale);
    assert.deepStrictEqual(['all threads', 'one', 'main', 'step', 'read'].map((name) => named(list, name)[0].row),
                           [0, 1, 2, 3, 4]);
    assert.strictEqual(named(list, 'read')[0].text, 'read');

    // Names are text, each in full in the table.
    const found = await page.evaluate(() => ({
        markup: document.querySelectorAll('main b, main img, footer b, svg b').length,
        cells: [...document.querySelectorAll('#functions td:last-child')].map((td) => td.textContent),
        title: document.title,
        options: [...document.querySelectorAll('#thread option')].map((option) => option.textContent) }));
    assert.strictEqual(found.markup, 0, 'no name has become an element');
    assert.strictEqual(found.cells.length, 4 + EVIL.length, 'threads are no functions');
    for (const name of EVIL) {
        const shown = name.replace(/[\0-\x1f]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`);
        assert(found.cells.includes(shown), `${shown} is listed`);
    }
    assert.deepStrictEqual(found.options, ['all threads', 'one: 46.00 s', '</script><b>two: 60.00 s']);
    assert.match(await page.textContent('#functions'), /Shares are of all threads, 106\.00 s/);

    // A click shows a box alone, with its callers over the whole width; Escape all again.
    await page.evaluate(() => [...document.querySelectorAll('#flame g')]
        .find((g) => g.__data__.node.name === 'step').dispatchEvent(new MouseEvent('click', { bubbles: true })));
    list = await boxes(page);
    near(named(list, 'step')[0].width, whole.width);
    near(named(list, 'read')[0].width, whole.width * 2 / 3);
    near(named(list, 'main')[0].width, whole.width);
    assert.strictEqual(named(list, 'wait').length, 0);
    assert.match(await page.textContent('#detail'), /^step: 30\.00 s \(28\.3 % of all threads, 100\.0 % of step\), self 10\.00 s, 2 samples/);
    assert.deepStrictEqual(await page.evaluate(() => [...document.querySelectorAll('#functions tbody tr')]
        .map((tr) => [...tr.children].map((td) => td.textContent))),
        [['66.7 %', '20.00 s', '66.7 %', '20.00 s', 'read'], ['33.3 %', '10.00 s', '100.0 %', '30.00 s', 'step']]);
    await page.keyboard.press('Escape');
    near(named(await boxes(page), 'wait')[0].width, 60 * scale);

    // Search.
    await page.fill('#search', 'EA');
    list = await boxes(page);
    assert.deepStrictEqual(list.filter((box) => box.found).map((box) => box.name).sort(), ['read']);
    await page.fill('#search', 'read');
    assert.match(await page.textContent('#found'), /found: 20\.00 s, 18\.9 % of all threads/);
    await page.fill('#search', '');
    assert.strictEqual(await page.textContent('#found'), '');

    // One thread.
    await page.selectOption('#thread', '0');
    list = await boxes(page);
    near(named(list, 'one')[0].width, whole.width);
    near(named(list, 'step')[0].width, whole.width * 30 / 46);
    assert.strictEqual(named(list, 'wait').length, 0);

    // By keys alone.
    await page.evaluate(() => [...document.querySelectorAll('#flame g')].find((g) => g.__data__.node.name === 'step').focus());
    assert.match(await page.textContent('#detail'), /^step: /);
    await page.keyboard.press('Enter');
    near(named(await boxes(page), 'step')[0].width, whole.width);
    await page.click('#reset');
    near(named(await boxes(page), 'one')[0].width, whole.width);
    await page.selectOption('#thread', '-1');
}

function largeInput() {
    let state = 7;
    const below = (n) => {
        state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
        return Math.floor(state / 0x80000000 * n);
    };
    let text = '';
    for (let i = 0; i < 300000; i++)
        text += `thread ${below(4)};${Array.from({ length: 8 }, (_, d) => `f${d}_${below(below(40) + 1)}`).join(';')} ${1 + below(9)}\n`;
    return text;
}

async function main() {
    fs.mkdirSync(folder, { recursive: true });
    const small = makePage('small', smallInput());
    const deep = makePage('deep', `t;${Array.from({ length: 30000 }, (_, i) => `f${i % 3}`).join(';')} 5\nt;g 1\n`);
    const large = makePage('large', largeInput());
    await withBrowser({ width: 1360, height: 900 }, async (browser) => {
        let opened = await open(browser, small);
        await checkSmall(opened.page);
        await opened.page.screenshot({ path: path.join(folder, 'small-light.png'), fullPage: true });
        await opened.page.click('#theme');
        await opened.page.screenshot({ path: path.join(folder, 'small-dark.png'), fullPage: true });
        await close(opened);

        opened = await open(browser, deep);
        let list = await boxes(opened.page);
        assert(list.length > 100 && list.length < 1000, `${list.length} boxes`);
        assert.match(await opened.page.textContent('#flame'), /There are deeper ones/);
        await close(opened);

        opened = await open(browser, large);
        list = await boxes(opened.page);
        assert(list.length > 500, `${list.length} boxes`);
        assert.match(await opened.page.textContent('#about'), /lightest boxes are put into their callers/);
        await opened.page.screenshot({ path: path.join(folder, 'large.png') });
        await opened.page.fill('#search', 'f3_1');
        assert.match(await opened.page.textContent('#found'), /of all threads/);
        await opened.page.screenshot({ path: path.join(folder, 'large-search.png') });
        await close(opened);
    });
}

main().catch((error) => {
    console.error(error.stack || error);
    process.exitCode = 1;
});
