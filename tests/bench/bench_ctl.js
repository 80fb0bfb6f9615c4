// bench_ctl.js TOOL ROUNDS: how long perf-trace-ctl start takes for 64 workers, the slowest of which
// answers after a quarter of a second, divided by what that one takes when it is asked alone.
// SPDX-License-Identifier: MIT
'use strict';
process.env.PERFTRACE_CTL = process.argv[2];
const t = require('../cli/ctl_tool.js');

const WORKERS = 64, SLOWEST_MS = 250, FASTEST_MS = 50;

// Milliseconds that "start" takes for these URLs, the process included.
async function start(urls) {
    const begin = process.hrtime.bigint();
    const done = await t.run(['start', '--json', ...urls]);
    const ms = Number(process.hrtime.bigint() - begin) / 1e6;
    if (done.status !== 0 || done.json.workers.some((w) => w.result !== 'ok'))
        throw new Error(`perf-trace-ctl start: ${done.status}: ${done.stderr}`);
    return ms;
}

async function main() {
    const urls = [];
    for (let i = 0; i < WORKERS; i++) {
        const ms = FASTEST_MS + (SLOWEST_MS - FASTEST_MS) * i / (WORKERS - 1);
        const gate = { then: (resolve) => setTimeout(resolve, ms) };
        urls.push((await t.vllm({ gate })).url);
    }
    const ratios = [], all = [], alone = [];
    for (let round = 0; round < Number(process.argv[3]); round++) {
        alone.push(await start(urls.slice(-1)));
        all.push(await start(urls));
        ratios.push((all[round] / alone[round]).toPrecision(4));
    }
    const middle = (list) => [...list].sort((a, b) => a - b)[list.length >> 1].toFixed(0);
    console.log(['RESULT', 'ctl', ...ratios].join('\t'));
    console.log(`DETAIL\tctl\t${WORKERS} workers ${middle(all)} ms, the slowest alone ${middle(alone)} ms`);
    t.closeAll();
}

main();
