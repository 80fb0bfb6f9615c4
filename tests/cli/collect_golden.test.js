// collect_golden.test.js: golden tests of the command line; see tool.js. SPDX-License-Identifier: MIT
'use strict';
const tool = require('./tool.js');

delete process.env.PERFTRACE_FORWARD_TOKEN;

// The version changes from release to release, the port from run to run.
const steady = (text) => text.replace(/^(perf-trace-collect \(\w+\)) [\d.]+$/gm, '$1 VERSION')
    .replace(/(listening on 127\.0\.0\.1):\d+/g, '$1:PORT');

tool.golden('collect', tool.toolOf('PERFTRACE_COLLECT'), steady);
