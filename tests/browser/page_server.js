// page_server.js: serves speedscope and traces on localhost. SPDX-License-Identifier: MIT
'use strict';
const fs = require('fs');
const http = require('http');
const path = require('path');

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css',
                '.png': 'image/png', '.ico': 'image/x-icon', '.woff2': 'font/woff2' };

// The viewer keeps what it has loaded in one state object; the test reads it there instead of
// trusting pixels. Nothing else of the viewer is touched.
function exposeLoadedProfiles(script) {
    const state = /([\w$]+)=new ([\w$]+)\(null,"profileGroup"\)/g;
    const found = script.match(state);
    if (found === null || found.length !== 1)
        throw new Error('this version of speedscope keeps its profiles elsewhere');
    return script.replace(state, '$1=window.loadedProfiles=new $2(null,"profileGroup")');
}

// Starts the server; resolves to {url, files, missing, close}. files holds what is served beside the
// viewer, by name; missing lists paths asked for in vain.
function startServer(folder) {
    const files = new Map();
    const missing = [];
    const server = http.createServer((request, response) => {
        const name = path.basename(new URL(request.url, 'http://localhost').pathname) ||
            'index.html';
        const file = path.join(folder, name);
        if (!files.has(name) && !fs.existsSync(file)) {
            missing.push(name);
            response.writeHead(404).end();
            return;
        }
        let bytes = files.has(name) ? files.get(name) : fs.readFileSync(file);
        if (/^speedscope-.*\.js$/.test(name))
            bytes = exposeLoadedProfiles(bytes.toString('utf8'));
        response.writeHead(200, {
            'Content-Type': TYPES[path.extname(name)] || 'application/octet-stream',
        });
        response.end(bytes);
    });
    return new Promise((resolve) => {
        server.listen(0, '127.0.0.1', () => resolve({
            url: `http://127.0.0.1:${server.address().port}/`,
            files,
            missing,
            close: () => server.close(),
        }));
    });
}

module.exports = { startServer };
