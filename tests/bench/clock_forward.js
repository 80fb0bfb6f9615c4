// clock_forward.js [RUNS [RANKS [SECONDS]]]: how far off aligned times are, of clocks that are 250 ms ahead and run
// 20 ppm fast and were measured over a busy loopback. SPDX-License-Identifier: MIT
//
// A run is one such rank against rank 0; RANKS of them go at once. Must: within the bound that is told in 99 of 100
// runs, and at most 50 us off. Needs PERFTRACE_COLLECT, PERFTRACE_CONVERT, PERFTRACE_CLOCK_WORKER and
// PERFTRACE_CLOCK_SHIM: the built tools, and the worker and the shim of tests/clock.
'use strict';
const { clockRun, worst, middle } = require('../clock/clock_run.js');

const [runs, ranks, seconds] = [100, 5, 15].map((usual, i) => Number(process.argv[2 + i] ?? usual));

async function main() {
    const all = [];
    while (all.length < runs) {
        const r = await clockRun({ seconds, ranks });
        r.off.forEach((off, i) => all.push({ most: worst(off), middle: middle(off), told: r.inputs[i + 1].error_bound_ns }));
        process.stderr.write(`\r${all.length} of ${runs} runs`);
    }
    process.stderr.write('\n');
    const sorted = (key) => all.map((x) => x[key]).sort((x, y) => x - y);
    const us = (ns) => `${(ns / 1000).toFixed(1)} us`;
    const within = all.filter((x) => x.most <= x.told).length, close = all.filter((x) => x.most <= 50000).length;
    const at = (key, part) => us(sorted(key)[Math.min(all.length - 1, Math.floor(part * all.length))]);
    console.log(`${all.length} runs of ${seconds} s, ${ranks} at once`);
    console.log(`within the bound told: ${within} (must be ${Math.ceil(0.99 * all.length)})`);
    console.log(`at most 50 us off, at the worst instant: ${close}`);
    console.log(`off, the middle of a run: median ${at('middle', 0.5)}, largest ${at('middle', 1)}`);
    console.log(`off, the worst of a run: median ${at('most', 0.5)}, largest ${at('most', 1)}`);
    console.log(`bound told: median ${at('told', 0.5)}, largest ${at('told', 1)}`);
    process.exitCode = within >= 0.99 * all.length && close >= 0.99 * all.length ? 0 : 1;
}

main().catch((e) => {
    console.error(e);
    process.exitCode = 1;
});
