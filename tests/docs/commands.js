// commands.js: the commands that pages show: blocks for the shell, by page and heading, and code in the text.
// SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');

const ROOT = path.join(__dirname, '..', '..');
// Pages, and of README.md the part that is about many machines.
const PAGES = ['README.md', 'docs/FORWARD.md', 'docs/COLLECT.md', 'docs/LIVE.md', 'docs/SCALING.md'];
const PARTS = { 'README.md': ['Many machines'] };
const text = Object.fromEntries(PAGES.map((page) => [page, fs.readFileSync(path.join(ROOT, page), 'utf8')]));

// One block's lines, without what is said behind them.
const commands = (block) => block.trimEnd().split('\n').map((l) => l.replace(/ +# .*$/, ''));

// {"PAGE:HEADING": [[line, ...], ...]}. Who asks for one is noted.
const found = {};
for (const page of PAGES) {
    let heading = '';
    for (const [, title, , block] of text[page].matchAll(/^#+ (.*)$|^```(sh|bash)\n([^]*?)^```$/gm)) {
        heading = title ?? heading;
        if (block !== undefined && (PARTS[page] ?? [heading]).includes(heading))
            (found[`${page}:${heading}`] ??= []).push(commands(block));
    }
}
const asked = new Set();
const BLOCKS = new Proxy(found, {
    get(_, name) {
        assert(name in found, `there is no block under ${name}; there are: ${Object.keys(found)}`);
        asked.add(name);
        return found[name];
    } });

// The code in a page's text that fits.
function inline(page, what) {
    const codes = [...text[page].replace(/^```[^]*?^```$/gm, '').matchAll(/`([^`]+)`/g)]
        .map(([, code]) => code.replace(/\n/g, ' ')).filter((code) => what.test(code));
    assert.strictEqual(new Set(codes).size, 1, `${page}: ${what}: ${codes}`);
    return codes[0];
}

// Blocks that nobody asked for.
const rest = () => Object.keys(found).filter((name) => !asked.has(name));

module.exports = { BLOCKS, inline, rest };
