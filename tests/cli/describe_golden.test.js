// describe_golden.test.js: golden tests of the command line; see tool.js. SPDX-License-Identifier: MIT
'use strict';
const tool = require('./tool.js');

process.env.TZ = 'UTC'; // names have local times

// The version changes from release to release.
const steady = (text) => text
    .replace(/"version": "[^"]*"/g, '"version": "VERSION"')
    .replace(/^(perf-trace-describe \(\w+\)) [\d.]+$/gm, '$1 VERSION');

tool.golden('describe', tool.toolOf('PERFTRACE_DESCRIBE'), steady);
