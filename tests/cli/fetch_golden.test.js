// fetch_golden.test.js: golden tests of the command line; see tool.js. SPDX-License-Identifier: MIT
'use strict';
const tool = require('./tool.js');

for (const name of ['PROFILING_S3_BUCKET', 'PROFILING_LOG_COMMAND', 'AWS_ENDPOINT_URL', 'AWS_ENDPOINT_URL_S3'])
    delete process.env[name];

// The version changes from release to release.
const steady = (text) => text.replace(/^(perf-trace-fetch \(\w+\)) [\d.]+$/gm, '$1 VERSION');

tool.golden('fetch', tool.toolOf('PERFTRACE_FETCH'), steady);
