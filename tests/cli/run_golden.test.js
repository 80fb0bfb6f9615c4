// run_golden.test.js: golden tests of the command line; see tool.js. SPDX-License-Identifier: MIT
'use strict';
const { golden, TOOL, environment } = require('./run_tool.js');

for (const name of Object.keys(process.env))
    if (!(name in environment({})) && name !== 'PERFTRACE_GOLDEN')
        delete process.env[name];

delete process.env.TMPDIR; // the plan of a perf with steps has it

// The version changes from release to release, the folder from run to run.
const steady = (text) => text
    .replace(/^.*PERFTRACE_GOLDEN.*\n/gm, '')
    .replace(/^(perf-trace-run \(\w+\)) [\d.]+$/gm, '$1 VERSION')
    .replace(/[^\s'"=]*\/perftrace-cli-\w+/g, 'FOLDER');

golden('run', TOOL, steady);
