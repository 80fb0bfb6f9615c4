// analyze_golden.test.js: golden tests of the command line; see tool.js. SPDX-License-Identifier: MIT
'use strict';
const tool = require('./tool.js');

// The version changes from release to release.
const steady = (text) => text
    .replace(/"version": "[^"]*"/g, '"version": "VERSION"')
    .replace(/^(perf-trace-analyze \(\w+\)) [\d.]+$/gm, '$1 VERSION');

tool.golden('analyze', tool.toolOf('PERFTRACE_ANALYZE'), steady);
