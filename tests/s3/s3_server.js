// s3_server.js: a bucket on loopback, by s3rver, and perf-trace-fetch with it. SPDX-License-Identifier: MIT
//
// Before the server stands a proxy that passes everything on. It knows what was asked for, can hold
// an answer back half-way, and can add to a list keys that the server's file system cannot hold.
'use strict';
const fs = require('fs');
const http = require('http');
const path = require('path');
const { spawn } = require('child_process');
const tool = require('../cli/tool.js');

const TOOL = tool.toolOf('PERFTRACE_FETCH');
const AWS = process.env.PERFTRACE_TEST_AWS;
const S3rver = require(path.join(process.env.PERFTRACE_NODE_MODULES, 's3rver'));
const BUCKET = 'profiles';

const encode = (key) => key.split('/').map(encodeURIComponent).join('/');

// Starts both. Options: extra, objects {key, size} that are listed besides the real ones.
async function serve({ extra = [] } = {}) {
    const directory = tool.folder();
    const server = new S3rver({ port: 0, address: '127.0.0.1', silent: true, directory, vhostBuckets: false,
                                allowMismatchedSignatures: true, configureBuckets: [{ name: BUCKET }] });
    const { port } = await server.run();
    const got = [];     // keys whose content was asked for
    const held = [];    // answers that wait half-way
    const s3 = { got, held, hold: () => false, listed: async () => {} };

    const proxy = http.createServer((request, response) => {
        const url = new URL(request.url, 'http://s3');
        const isList = url.searchParams.has('list-type');
        const key = decodeURIComponent(url.pathname).slice(BUCKET.length + 2);
        if (request.method === 'GET' && !isList)
            got.push(key);
        const inner = http.request({ host: '127.0.0.1', port, method: request.method, path: request.url,
                                     headers: request.headers }, (answer) => {
            const parts = [];
            answer.on('data', (d) => parts.push(d));
            answer.on('end', async () => {
                let body = Buffer.concat(parts);
                const headers = { ...answer.headers };
                if (isList && answer.statusCode === 200) {
                    if (extra.length && url.searchParams.get('continuation-token') === null)
                        body = Buffer.from(body.toString().replace('</ListBucketResult>',
                            extra.map((o) => `<Contents><Key>${o.key}</Key>` +
                                '<LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>"x"</ETag>' +
                                `<Size>${o.size}</Size><StorageClass>STANDARD</StorageClass></Contents>`)
                                .join('') + '</ListBucketResult>'));
                    delete headers['transfer-encoding'];
                    headers['content-length'] = body.length;
                }
                response.writeHead(answer.statusCode, headers);
                if (request.method === 'GET' && !isList && s3.hold(key)) {
                    const half = body.length >> 1;
                    response.write(body.subarray(0, half));
                    held.push({ key, release: () => response.end(body.subarray(half)) });
                } else {
                    response.end(body);
                }
                if (isList)
                    await s3.listed();
            });
        });
        inner.on('error', () => response.destroy());
        request.pipe(inner);
    });
    await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve));

    s3.url = `http://127.0.0.1:${proxy.address().port}`;
    // Puts an object there, as a job would.
    s3.put = (key, content) => new Promise((resolve, reject) => {
        const request = http.request({ host: '127.0.0.1', port, method: 'PUT', path: `/${BUCKET}/${encode(key)}` },
            (answer) => {
                answer.resume();
                answer.on('end', () => (answer.statusCode === 200 ? resolve()
                                                                  : reject(new Error(`${key}: ${answer.statusCode}`))));
            });
        request.on('error', reject);
        request.end(content);
    });
    s3.close = async () => {
        proxy.close();
        proxy.closeAllConnections();
        await server.close();
    };
    return s3;
}

// The environment that a user of the bucket has; nothing of ours may leak in.
function environment(s3, more) {
    const env = Object.fromEntries(Object.entries(process.env).filter(
        ([name]) => !/^(AWS_|PROFILING_|[a-z]+_proxy$|[A-Z]+_PROXY$)/.test(name)));
    return { ...env, AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER', AWS_DEFAULT_REGION: 'us-east-1',
             AWS_CONFIG_FILE: '/nonexistent', AWS_SHARED_CREDENTIALS_FILE: '/nonexistent', AWS_MAX_ATTEMPTS: '1',
             AWS_EC2_METADATA_DISABLED: 'true', ...(s3 ? { AWS_ENDPOINT_URL: s3.url } : {}),
             PROFILING_S3_BUCKET: BUCKET, ...more };
}

// Starts the tool in cwd; `done` comes true with status, signal, stdout, stderr, json.
function start(s3, cwd, args, env = {}) {
    const child = spawn(TOOL, ['--aws', AWS, ...args], {
        cwd, env: environment(s3, env), stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '', stderr = '';
    child.stdout.setEncoding('utf8').on('data', (d) => { stdout += d; });
    child.stderr.setEncoding('utf8').on('data', (d) => { stderr += d; });
    const done = new Promise((resolve) => child.on('close', (status, signal) => {
        let json = null;
        try {
            json = JSON.parse(stdout);
        } catch { /* tables */ }
        resolve({ status, signal, stdout, stderr, json });
    }));
    return { child, done };
}
const fetch = (s3, cwd, args, env) => start(s3, cwd, args, env).done;

// Waits until something holds; fails after a minute.
async function until(holds, what) {
    for (let i = 0; !holds(); i++) {
        if (i > 6000)
            throw new Error(`still waiting until ${what}`);
        await new Promise((resolve) => setTimeout(resolve, 10));
    }
}

// Files below a folder, by path, as texts.
function tree(dir, prefix = '') {
    const found = {};
    for (const e of fs.readdirSync(path.join(dir, prefix), { withFileTypes: true })) {
        const name = path.join(prefix, e.name);
        if (e.isDirectory())
            Object.assign(found, tree(dir, name));
        else
            found[name] = e.isSymbolicLink() ? `-> ${fs.readlinkSync(path.join(dir, name))}`
                                             : fs.readFileSync(path.join(dir, name), 'utf8');
    }
    return found;
}

module.exports = { ...tool, fs, path, AWS, BUCKET, serve, start, fetch, until, tree };
