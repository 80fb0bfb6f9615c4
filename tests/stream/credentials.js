// credentials.js: an operator, accounts and users of a NATS server, each with its key and JWT (docs.nats.io, "JWTs"), and
// the credentials files that users have. Written with node's own Ed25519. SPDX-License-Identifier: MIT
'use strict';
const crypto = require('crypto');
const fs = require('fs');
const path = require('path');

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const KINDS = { operator: 14 << 3, account: 0, user: 20 << 3 };
const SEED = 18 << 3;

// RFC 4648, without padding.
function base32(bytes) {
    const bits = [...bytes].map((b) => b.toString(2).padStart(8, '0')).join('');
    return bits.match(/.{1,5}/g).map((b) => LETTERS[parseInt(b.padEnd(5, '0'), 2)]).join('');
}

// CRC-16/XMODEM, least byte first.
function sum(bytes) {
    let crc = 0;
    for (const b of bytes) {
        crc ^= b << 8;
        for (let i = 0; i < 8; i++)
            crc = (crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1) & 0xffff;
    }
    return Buffer.from([crc & 255, crc >> 8]);
}

const checked = (bytes) => base32(Buffer.concat([bytes, sum(bytes)]));

// A key of a kind: what names it, what signs for it, and its seed.
function key(kind) {
    const { publicKey, privateKey } = crypto.generateKeyPairSync('ed25519');
    const raw = (k, type) => k.export({ format: 'der', type }).subarray(-32);
    return { kind, privateKey, name: checked(Buffer.concat([Buffer.from([KINDS[kind]]), raw(publicKey, 'spki')])),
             seed: checked(Buffer.concat([Buffer.from([SEED | KINDS[kind] >> 5, (KINDS[kind] & 31) << 3]),
                                          raw(privateKey, 'pkcs8')])) };
}

// What the signer says of another key.
function jwt(signer, of, name, claims) {
    const encoded = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const text = `${encoded({ typ: 'JWT', alg: 'ed25519-nkey' })}.${encoded({
        jti: crypto.randomUUID(), iat: Math.floor(Date.now() / 1000), iss: signer.name, name, sub: of.name,
        nats: { ...claims, type: of.kind, version: 2 } })}`;
    return `${text}.${crypto.sign(null, Buffer.from(text), signer.privateKey).toString('base64url')}`;
}

const NO_LIMITS = { subs: -1, data: -1, payload: -1 };
const ACCOUNT = { limits: { ...NO_LIMITS, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 }, default_permissions: { pub: {}, sub: {} } };
const JETSTREAM = { limits: { ...ACCOUNT.limits, mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 }, default_permissions: { pub: {}, sub: {} } };

// The text of a credentials file.
function credentials(token, seed) {
    const section = (what, text) => `-----BEGIN ${what}-----\n${text}\n------END ${what}------\n`;
    return section('NATS USER JWT', token) + (seed ? `\n${section('USER NKEY SEED', seed)}` : '');
}

// Makes an operator with an account and writes the server's configuration into a folder. user(name, permissions) writes
// the credentials of a new user of it and returns the file's name; permissions as in a JWT: {pub, sub}.
function authority(dir) {
    const [operator, system, account] = [key('operator'), key('account'), key('account')];
    const config = path.join(dir, 'server.conf');
    fs.writeFileSync(config, `operator: ${jwt(operator, operator, 'operator', {})}\nresolver: MEMORY\nresolver_preload: {\n` +
        `${system.name}: ${jwt(operator, system, 'system', ACCOUNT)}\n${account.name}: ${jwt(operator, account, 'traces', JETSTREAM)}\n}\n` +
        `system_account: ${system.name}\n`);
    return { config, user: (name, permissions = {}, { seed = true } = {}) => {
        const its = key('user');
        const file = path.join(dir, `${name}.creds`);
        fs.writeFileSync(file, credentials(jwt(account, its, name, { pub: {}, sub: {}, ...NO_LIMITS, ...permissions }),
                                           seed ? its.seed : ''), { mode: 0o600 });
        return file;
    } };
}

module.exports = { authority };
