// text.test.js: each block of docs/QUERY.md is run by a test. SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const test = require('node:test');
const { BLOCKS, ROOT, GLOB } = require('./query_tool.js');

test('every block of code has a name and is run', () => {
    const page = fs.readFileSync(path.join(ROOT, 'docs', 'QUERY.md'), 'utf8');
    assert.strictEqual((page.match(/^```\w/gm) ?? []).length, Object.keys(BLOCKS).length);
    assert(Object.values(BLOCKS).filter((b) => b.kind === 'sql').length >= 10);
    const tests = fs.readdirSync(__dirname).filter((f) => f.endsWith('.js'))
        .map((f) => fs.readFileSync(path.join(__dirname, f), 'utf8')).join('\n');
    for (const name of Object.keys(BLOCKS))
        assert(new RegExp(`\\b(rows|setup|take|sh|lines)\\((dir, )?'${name}'\\)`).test(tests),
               `no test runs "${name}"`);
    assert(BLOCKS.setup.text.includes(`'${GLOB}'`));
});
