// opened_page.js: a page that a tool wrote, opened in a browser. SPDX-License-Identifier: MIT
'use strict';
const assert = require('assert');
const fs = require('fs');
const path = require('path');
const { pathToFileURL } = require('url');

const WAIT_MS = 120000; // for machines that are busy with other tests

// Until it is drawn, in the colours of a theme if one is named.
function drawn(page, theme) {
    const colours = theme ? `[data-theme=${theme}]` : '';
    return page.waitForSelector(`html[data-drawn]${colours}`, { state: 'attached' });
}

// Opens a page; what it complains of or asks for is collected until close.
async function open(browser, file) {
    const page = await browser.newPage();
    const opened = { page, file, complaints: [], requests: [] };
    page.setDefaultTimeout(WAIT_MS);
    page.on('console', (message) => opened.complaints.push(message.text()));
    page.on('pageerror', (error) => opened.complaints.push(error.stack || String(error)));
    page.on('dialog', (dialog) => {
        opened.complaints.push(dialog.message());
        dialog.dismiss();
    });
    page.on('request', (request) => opened.requests.push(request.url()));
    const started = Date.now();
    await page.goto(pathToFileURL(file).href);
    await drawn(page);
    console.log(`${path.basename(file)}: ${(fs.statSync(file).size / 1e6).toFixed(1)} MB, ` +
        `drawn after ${Date.now() - started} ms`);
    return opened;
}

async function close({ page, file, complaints, requests }) {
    assert.deepStrictEqual(complaints, [], 'the page has nothing to complain about');
    assert.deepStrictEqual(requests, [pathToFileURL(file).href], 'nothing else is requested');
    await page.close();
}

module.exports = { WAIT_MS, open, drawn, close };
