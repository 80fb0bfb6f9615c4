// convert_golden.test.js: golden tests of the command line; see tool.js. SPDX-License-Identifier: MIT
'use strict';
const tool = require('./tool.js');

// Times, rates and the version change from run to run.
const steady = (text) => text
    .replace(/ in \S+ \S+ \(\S+ \S+\/s\)/g, ' in TIME (RATE)')
    .replace(/"version": "[^"]*"/g, '"version": "VERSION"')
    .replace(/^(perf-trace-convert \(\w+\)) [\d.]+$/gm, '$1 VERSION');

tool.golden('convert', tool.toolOf('PERFTRACE_CONVERT'), steady);
