// clock_forward.test.js: a clock that is 250 ms ahead and 20 ppm fast, measured over a busy loopback.
// SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const { clockRun, worst, middle } = require('./clock_run.js');

for (const counter of ['1', '0'])
    test(`aligned times are within the bound that is told (counter_clock ${counter})`, { timeout: 120000 }, async (t) => {
        const r = await clockRun({ seconds: 7, ranks: 2, env: { PERFTRACE_COUNTER_CLOCK: counter } });
        r.inputs.slice(1).forEach((input, i) => {
            const off = r.off[i];
            t.diagnostic(`rank ${input.rank}: ${middle(off)} ns off in the middle, ${worst(off)} at most; ` +
                         `told: ${input.error_bound_ns} ns, ${input.readings} readings`);
            assert.strictEqual(input.alignment, 'reference clock');
            assert(input.readings >= 2, r.stderr);
            assert(Math.abs(input.offset_ns - 250e6) < 5e6, `${input.offset_ns}`);
            assert(worst(off) <= input.error_bound_ns, `${worst(off)} > ${input.error_bound_ns}`);
        });
    });

// Neither the times of the rank whose wall clock is set nor its forwarding care.
for (const hour of [3600, -3600])
    test(`somebody sets a wall clock by ${hour} s meanwhile`, { timeout: 120000 }, async () => {
        const r = await clockRun({ seconds: 7, ranks: 1, load: false,
                                   later: { CLOCK_SHIM_STEP_S: String(hour), CLOCK_SHIM_STEP_AFTER_MS: '3000' } });
        const [input] = r.inputs.slice(1);
        assert.strictEqual(input.alignment, 'reference clock');
        assert.ok(worst(r.off[0]) <= input.error_bound_ns, `${worst(r.off[0])} > ${input.error_bound_ns}`);
        assert.ok(Math.abs(input.offset_ns - 250e6) < 5e6, `${input.offset_ns}`);
        assert.ok(Math.abs(input.wall_clock_set_ns - hour * 1e9) < 1e9, JSON.stringify(input));
        assert.match(r.stderr, /wall clock was set/);
    });
