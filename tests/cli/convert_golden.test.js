// convert_golden.test.js: golden tests of the command line. Each folder of tests/golden/convert is a
// case: its files are the inputs, `command` the arguments of each run in turn (a line each, as a
// shell splits them), `expected` what came of it. PERFTRACE_GOLDEN=update writes `expected` anew.
// SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const { spawnSync } = require('child_process');
const t = require('./convert_tool.js');

const CASES = path.join(__dirname, '..', 'golden', 'convert');

function list(dir, prefix = '') {
    return fs.readdirSync(path.join(dir, prefix), { withFileTypes: true }).flatMap((e) => {
        const name = path.join(prefix, e.name);
        return e.isDirectory() ? list(dir, name) : [name];
    }).sort();
}

// Times, rates and the version change from run to run.
const steady = (text) => text
    .replace(/ in \S+ \S+ \(\S+ \S+\/s\)/g, ' in TIME (RATE)')
    .replace(/"version": "[^"]*"/g, '"version": "VERSION"')
    .replace(/^(perf-trace-convert \(\w+\)) [\d.]+$/gm, '$1 VERSION');

function transcript(name) {
    const from = path.join(CASES, name);
    const dir = t.folder();
    for (const file of list(from).filter((f) => f !== 'command' && f !== 'expected')) {
        fs.mkdirSync(path.dirname(path.join(dir, file)), { recursive: true });
        fs.copyFileSync(path.join(from, file), path.join(dir, file));
    }
    const before = new Set(list(dir));
    let text = '';
    for (const line of fs.readFileSync(path.join(from, 'command'), 'utf8').split('\n').filter(Boolean)) {
        const r = spawnSync('sh', ['-c', line], {
            cwd: dir, encoding: 'utf8',
            env: { ...process.env, PATH: `${path.dirname(t.TOOL)}:${process.env.PATH}`, COLUMNS: '100' } });
        text += `$ ${line}\n${steady(r.stdout)}`;
        text += steady(r.stderr).split('\n').filter(Boolean).map((l) => `stderr: ${l}\n`).join('');
        text += `status: ${r.status}\n`;
    }
    for (const file of list(dir).filter((f) => !before.has(f)))
        text += `--- ${file}\n${steady(fs.readFileSync(path.join(dir, file), 'utf8'))}`;
    return text;
}

for (const name of fs.readdirSync(CASES).sort()) {
    test(`golden ${name}`, () => {
        const got = transcript(name);
        const file = path.join(CASES, name, 'expected');
        if (process.env.PERFTRACE_GOLDEN === 'update')
            fs.writeFileSync(file, got);
        assert.strictEqual(got, fs.readFileSync(file, 'utf8'));
    });
}
