// tool.js: runs a command line tool for the tests of this folder. SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const fs = require('fs');
const os = require('os');
const path = require('path');
const { spawnSync } = require('child_process');

const SHARED = path.join(__dirname, '..', '..', '..', 'shared');

// A folder for one test, removed at the end of the process.
const made = [];
process.on('exit', () => made.forEach((dir) => fs.rmSync(dir, { recursive: true, force: true })));
function folder() {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'perftrace-cli-'));
    made.push(dir);
    return dir;
}

// Writes files {name: text, Buffer, or array of lines} into a new folder; returns its path.
function files(contents) {
    const dir = folder();
    for (const [name, content] of Object.entries(contents)) {
        const file = path.join(dir, name);
        fs.mkdirSync(path.dirname(file), { recursive: true });
        fs.writeFileSync(file, Array.isArray(content) ? content.map((l) => l + '\n').join('')
                                                      : content);
    }
    return dir;
}

// The tool that an environment variable names.
function toolOf(variable) {
    const tool = process.env[variable];
    if (!tool) {
        console.error(`${variable} must name the built tool`);
        process.exit(2);
    }
    return tool;
}

// Runs a tool; `input` goes to its standard input.
function run(tool, args, options = {}) {
    const r = spawnSync(tool, args, { encoding: 'buffer', maxBuffer: 1 << 30, ...options });
    return { status: r.status, signal: r.signal, stdout: r.stdout,
             stderr: r.stderr.toString('utf8') };
}

// ---- golden tests: each folder is a case. Its files are the inputs, `command` the arguments of
// each run in turn (a line each, as a shell splits them), `expected` what came of it.
// PERFTRACE_GOLDEN=update writes `expected` anew. ----

function list(dir, prefix = '') {
    return fs.readdirSync(path.join(dir, prefix), { withFileTypes: true }).flatMap((e) => {
        const name = path.join(prefix, e.name);
        return e.isDirectory() ? list(dir, name) : [name];
    }).sort();
}

// What a case comes to; steady takes out what changes from run to run.
function transcript(from, tool, steady) {
    const dir = folder();
    for (const file of list(from).filter((f) => f !== 'command' && f !== 'expected')) {
        fs.mkdirSync(path.dirname(path.join(dir, file)), { recursive: true });
        fs.copyFileSync(path.join(from, file), path.join(dir, file));
    }
    const before = new Set(list(dir));
    let text = '';
    for (const line of fs.readFileSync(path.join(from, 'command'), 'utf8').split('\n').filter(Boolean)) {
        const r = spawnSync('sh', ['-c', line], {
            cwd: dir, encoding: 'utf8',
            env: { ...process.env, PATH: `${path.dirname(tool)}:${process.env.PATH}`, COLUMNS: '100' } });
        text += `$ ${line}\n${steady(r.stdout)}`;
        text += steady(r.stderr).split('\n').filter(Boolean).map((l) => `stderr: ${l}\n`).join('');
        text += `status: ${r.status}\n`;
    }
    for (const file of list(dir).filter((f) => !before.has(f)))
        text += `--- ${file}\n${steady(fs.readFileSync(path.join(dir, file), 'utf8'))}`;
    return text;
}

// Defines a test for each case of tests/golden/NOUN.
function golden(noun, tool, steady) {
    const test = require('node:test');
    const cases = path.join(__dirname, '..', 'golden', noun);
    for (const name of fs.readdirSync(cases).sort()) {
        test(`golden ${name}`, () => {
            const got = transcript(path.join(cases, name), tool, steady);
            const file = path.join(cases, name, 'expected');
            if (process.env.PERFTRACE_GOLDEN === 'update')
                fs.writeFileSync(file, got);
            assert.strictEqual(got, fs.readFileSync(file, 'utf8'));
        });
    }
}

module.exports = { SHARED, folder, files, toolOf, run, golden };
