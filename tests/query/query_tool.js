// query_tool.js: runs the blocks of docs/QUERY.md as they stand there, and makes the folders that they read.
// SPDX-License-Identifier: MIT
'use strict';
const assert = require('node:assert');
const fs = require('fs');
const path = require('path');
const zlib = require('zlib');
const { spawnSync } = require('child_process');
const { DuckDBInstance } = require(path.join(process.env.PERFTRACE_NODE_MODULES, '@duckdb/node-api'));
const tool = require('../cli/tool.js');
const { BLOCKS, ROOT, block } = require('./blocks.js');

const BIN = { convert: tool.toolOf('PERFTRACE_CONVERT'), analyze: tool.toolOf('PERFTRACE_ANALYZE'),
              sessions: tool.toolOf('PERFTRACE_SESSIONS'), train: tool.toolOf('PERFTRACE_TEST_TRAIN'),
              rollout: tool.toolOf('PERFTRACE_TEST_ROLLOUT') };
const GLOB = 'perftrace-out/**/traces-*.jsonl*'; // in setup

// A database whose queries see `dir` as the folder they run in. edit(text) changes setup, as the page says.
async function open(dir, edit = (text) => text) {
    process.chdir(dir);
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    const q = {
        run: (sql) => connection.run(sql),
        all: async (sql) => {
            const r = await connection.runAndReadAll(sql);
            const types = Object.fromEntries(r.columnNames().map((n, i) => [n, String(r.columnTypes()[i])]));
            return r.getRowObjectsJson().map((row) => Object.fromEntries(Object.entries(row).map(([k, v]) =>
                [k, v !== null && /INT|DECIMAL|DOUBLE/.test(types[k]) && typeof v === 'string' ? Number(v) : v])));
        },
        rows: (name) => q.all(block(name, 'sql')),
        setup: async (name) => connection.run(edit(block(name, 'sql'))),
        close: () => connection.closeSync() };
    return q;
}

// Runs a block for the shell in a folder, our tools in its path.
function sh(dir, name) {
    const r = spawnSync('bash', ['-euo', 'pipefail', '-c', block(name, 'sh')], {
        cwd: dir, encoding: 'utf8', maxBuffer: 1 << 28,
        env: { ...process.env, PATH: `${path.dirname(BIN.convert)}:${process.env.PATH}` } });
    assert.strictEqual(r.status, 0, `${name}: ${r.stderr}`);
    return r.stdout;
}

// What a tool of ours says as JSON.
function said(name, args) {
    const r = tool.run(BIN[name], args);
    assert.strictEqual(r.status, 0, `${name} ${args}: ${r.stderr}`);
    return JSON.parse(r.stdout);
}

// Runs an example with its files in DIR/name.
function example(dir, name, command, args) {
    const env = Object.fromEntries(Object.entries(process.env).filter(([k]) => !/^PERFTRACE_(?!TEST_)/.test(k)));
    const include = path.join(ROOT, 'include', 'perftrace');
    const texts = fs.readdirSync(include).filter((f) => f.endsWith('.h')).map((f) => path.join(include, f));
    const r = spawnSync(BIN[command], [...args, ...texts, path.join(ROOT, 'LICENSE')],
                        { cwd: dir, env: { ...env, PERFTRACE_DIR: path.join(dir, name) }, encoding: 'utf8' });
    assert.strictEqual(r.status, 0, `${command}: ${r.stderr}`);
}

// Puts a file's gzip in its place.
function pack(file) {
    fs.writeFileSync(`${file}.gz`, zlib.gzipSync(fs.readFileSync(file)));
    fs.rmSync(file);
}

// ---- comparing ----

function near(got, want, what) {
    if (typeof want === 'number' && typeof got === 'number')
        assert(Math.abs(got - want) <= 1e-9 * Math.max(1, Math.abs(want)), `${what}: ${got}, not ${want}`);
    else
        assert.deepStrictEqual(got, want, what);
}

// Rows agree in the columns that the wanted ones have; in any order, told apart by `keys`.
function agree(got, want, keys, what) {
    const key = (row) => JSON.stringify(keys.map((k) => row[k] ?? null),
                                     (_, v) => (typeof v === 'number' ? Number(v.toPrecision(12)) : v));
    const order = (rows) => new Map(rows.map((r) => [key(r), r]));
    const [a, b] = [order(got), order(want)];
    assert.strictEqual(a.size, got.length, `${what}: two rows of one ${keys}`);
    assert.deepStrictEqual([...a.keys()].sort(), [...b.keys()].sort(), what);
    for (const [k, row] of b)
        for (const [column, value] of Object.entries(row))
            near(a.get(k)[column], value ?? null, `${what} ${k} ${column}`);
}

module.exports = { ...tool, ROOT, BIN, GLOB, BLOCKS, open, sh, said, example, pack, near, agree };
