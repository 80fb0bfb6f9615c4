// ctl_tool.js: fake servers for the tests of perf-trace-ctl, with the routes, bodies and answers of
// vLLM's API server and of the routers before it. SPDX-License-Identifier: MIT
'use strict';
const http = require('http');
const { spawn } = require('child_process');
const tool = require('./tool.js');

const TOOL = tool.toolOf('PERFTRACE_CTL');

// Runs the tool without blocking this process, which serves it.
function run(args, options = {}) {
    return new Promise((resolve) => {
        const child = spawn(TOOL, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
        let stdout = '', stderr = '';
        child.stdout.on('data', (d) => { stdout += d; });
        child.stderr.on('data', (d) => { stderr += d; });
        child.on('close', (status) => {
            let json = null;
            try {
                json = JSON.parse(stdout);
            } catch { /* a table */ }
            resolve({ status, stdout, stderr, json });
        });
    });
}

const listening = [];
function listen(server, port = 0) {
    return new Promise((resolve) => server.listen(port, '127.0.0.1', () => {
        listening.push(server);
        resolve(`http://127.0.0.1:${server.address().port}`);
    }));
}

// A vLLM server. profiler: it was started with --profiler-config; otherwise the routes are not
// there. Options: gate (answers wait for this promise), hang, reset (times a stop breaks off), status.
async function vllm({ profiler = true, version = '0.13.0', gate = null, hang = false, reset = 0, port = 0,
                      token = null, onStop = () => {}, onRequest = () => {} } = {}) {
    const seen = [];
    let running = false;
    const server = http.createServer((request, response) => {
        let body = '';
        request.on('data', (d) => { body += d; });
        request.on('end', () => {
            onRequest();
            seen.push({ method: request.method, url: request.url, body, headers: request.headers });
            const answer = async (status, text) => {
                await gate;
                response.writeHead(status, { 'content-type': 'application/json', server: 'uvicorn' });
                response.end(text);
            };
            const route = ['/start_profile', '/stop_profile'].includes(request.url) && profiler;
            if (token !== null && request.headers.authorization !== `Bearer ${token}`) {
                answer(401, '{"error":"Unauthorized"}');
            } else if (request.url === '/health') {
                answer(200, '');
            } else if (request.url === '/version') {
                answer(200, JSON.stringify({ version }));
            } else if (!route) {
                answer(404, '{"detail":"Not Found"}');
            } else if (request.method !== 'POST') {
                answer(405, '{"detail":"Method Not Allowed"}');
            } else if (hang) {
                // never
            } else if (request.url === '/stop_profile' && reset-- > 0) {
                running = false;
                request.socket.destroy();
            } else if (request.url === '/stop_profile' && !running) {
                answer(500, '{"error":{"message":"Profiler is not running","code":500}}');
            } else {
                running = request.url === '/start_profile';
                if (!running)
                    onStop();
                answer(200, '');
            }
        });
    });
    const url = await listen(server, port);
    return { url, seen, server, posts: () => seen.filter((r) => r.method === 'POST') };
}

// A router: GET path gives body.
async function router(path, body) {
    const server = http.createServer((request, response) => {
        const good = request.url === path;
        response.writeHead(good ? 200 : 404, { 'content-type': 'application/json' });
        response.end(good ? (typeof body === 'string' ? body : JSON.stringify(body)) : '{"detail":"Not Found"}');
    });
    return listen(server);
}

function closeAll() {
    for (const server of listening.splice(0)) {
        server.close();
        server.closeAllConnections?.();
    }
}

module.exports = { ...tool, TOOL, run, vllm, router, closeAll };
