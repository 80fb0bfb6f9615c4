// bench_query.js VIEW|TABLE: asks DuckDB the question "names" of docs/QUERY.md of ./perftrace-out and prints the
// seconds of setup and of the question. TABLE: the lines are read into tables first. PERFTRACE_NODE_MODULES says where
// DuckDB is. SPDX-License-Identifier: MIT
'use strict';
const path = require('path');
const { DuckDBInstance } = require(path.join(process.env.PERFTRACE_NODE_MODULES, '@duckdb/node-api'));
const { block } = require('../query/blocks.js');

async function main() {
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    const took = async (work) => {
        const begin = process.hrtime.bigint();
        await work();
        return Number(process.hrtime.bigint() - begin) / 1e9;
    };
    const setup = await took(() => connection.run(block('setup', 'sql').replace(/\bVIEW\b/g, process.argv[2])));
    const asked = await took(() => connection.runAndReadAll(block('names', 'sql')));
    console.log(`${setup.toFixed(3)}\t${asked.toFixed(3)}`);
}

main();
