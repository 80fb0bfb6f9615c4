// blocks.js: the blocks of code of docs/QUERY.md. SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');

const ROOT = path.join(__dirname, '..', '..');

// The blocks of the page: {name: {kind, text}}. The first line is a comment that names the block.
function blocks() {
    const found = {};
    const page = fs.readFileSync(path.join(ROOT, 'docs', 'QUERY.md'), 'utf8');
    for (const [, kind, name, text] of page.matchAll(/^```(sql|sh)\n(?:--|#) (.*)\n([^]*?)^```$/gm)) {
        assert(!(name in found), `two blocks of docs/QUERY.md are called ${name}`);
        found[name] = { kind, text };
    }
    return found;
}
const BLOCKS = blocks();

function block(name, kind) {
    assert.strictEqual(BLOCKS[name]?.kind, kind, `docs/QUERY.md has no ${kind} block "${name}"`);
    return BLOCKS[name].text;
}

module.exports = { BLOCKS, ROOT, block };
