// forward_golden.test.js: golden tests of the command line; see tool.js. SPDX-License-Identifier: MIT
'use strict';
const tool = require('./tool.js');

for (const name of Object.keys(process.env).filter((n) => /^PERFTRACE_(FORWARD|RING_DIR)/.test(n)))
    delete process.env[name];

// The version changes from release to release.
const steady = (text) => text.replace(/^(perf-trace-forward \(\w+\)) [\d.]+$/gm, '$1 VERSION');

tool.golden('forward', tool.toolOf('PERFTRACE_TEST_FORWARD'), steady);
