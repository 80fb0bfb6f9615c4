// browser.js: headless Chromium for a test. SPDX-License-Identifier: MIT
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');
const { createRequire } = require('module');

// The npm packages lie in the build folder, not beside this file.
const modules = process.env.PERFTRACE_NODE_MODULES || path.join(__dirname, 'node_modules');
const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
    .find((candidate) => fs.existsSync(candidate));
const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
               '--disable-background-networking', '--disable-component-update', '--disable-sync',
               '--enable-unsafe-swiftshader'];

// Runs work(context) in a browser of its own with a window of this size.
async function withBrowser(viewport, work) {
    const { chromium } = createRequire(path.join(modules, 'x'))('playwright-core');
    const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'chromium-'));
    const context = await chromium.launchPersistentContext(profile, {
        executablePath: CHROMIUM, args: FLAGS, headless: true, viewport, timeout: 120000,
        colorScheme: 'light',
    });
    try {
        return await work(context);
    } finally {
        await context.close();
        fs.rmSync(profile, { recursive: true, force: true });
    }
}

module.exports = { modules, withBrowser };
