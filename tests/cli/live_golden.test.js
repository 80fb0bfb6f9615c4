// live_golden.test.js: golden tests of the command line; see tool.js. SPDX-License-Identifier: MIT
'use strict';
const tool = require('./tool.js');

delete process.env.PERFTRACE_RING_DIR;

// The version changes from release to release.
const steady = (text) => text.replace(/^(perf-trace-live \(\w+\)) [\d.]+$/gm, '$1 VERSION');

tool.golden('live', tool.toolOf('PERFTRACE_LIVE'), steady);
