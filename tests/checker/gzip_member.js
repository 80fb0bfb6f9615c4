// gzip_member.js: reads a gzip file that must hold exactly one member. SPDX-License-Identifier: MIT
'use strict';
const zlib = require('zlib');

const table = new Uint32Array(256).map((_, n) => {
    let c = n;
    for (let k = 0; k < 8; k++)
        c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
    return c;
});

function crcUpdate(crc, bytes) {
    for (let i = 0; i < bytes.length; i++)
        crc = table[(crc ^ bytes[i]) & 255] ^ (crc >>> 8);
    return crc;
}

// Length of the header at the start of bytes (RFC 1952), 0 when more bytes are needed.
function headerLength(bytes) {
    if (bytes.length < 10)
        return 0;
    if (bytes[0] !== 0x1f || bytes[1] !== 0x8b || bytes[2] !== 8)
        throw new Error('no gzip header');
    const flags = bytes[3];
    if (flags & 0xe0)
        throw new Error('gzip header: reserved flags');
    let at = 10;
    if (flags & 4) {
        if (bytes.length < at + 2)
            return 0;
        at += 2 + bytes.readUInt16LE(at);
    }
    for (const flag of [8, 16]) {
        if (flags & flag) {
            const zero = bytes.indexOf(0, at);
            if (zero < 0)
                return 0;
            at = zero + 1;
        }
    }
    if (flags & 2)
        at += 2;
    return bytes.length >= at ? at : 0;
}

// Yields the inflated pieces of an async iterable of Buffers. Throws on anything but one member
// with a right checksum and length and nothing behind it: some viewers stop after the first.
async function* inflateOneMember(chunks) {
    const raw = zlib.createInflateRaw();
    let head = Buffer.alloc(0);
    let headBytes = 0;
    let fileBytes = 0;
    let tail = Buffer.alloc(0);
    const feed = (async () => {
        for await (const chunk of chunks) {
            fileBytes += chunk.length;
            tail = Buffer.concat([tail, chunk]).subarray(-8);
            let body = chunk;
            if (headBytes === 0) {
                head = Buffer.concat([head, chunk]);
                headBytes = headerLength(head);
                if (headBytes === 0)
                    continue;
                body = head.subarray(headBytes);
            }
            if (!raw.writableEnded && !raw.write(body))
                await new Promise((wake) => {
                    raw.once('drain', wake);
                    raw.once('end', wake);
                    raw.once('close', wake);
                });
        }
        if (headBytes === 0)
            throw new Error('gzip header is cut');
        raw.end();
    })();
    feed.catch((error) => raw.destroy(error));
    let crc = 0xffffffff;
    let size = 0;
    for await (const piece of raw) {
        crc = crcUpdate(crc, piece);
        size += piece.length;
        yield piece;
    }
    await feed;
    const behind = fileBytes - headBytes - raw.bytesWritten - 8;
    if (behind !== 0)
        throw new Error(behind > 0 ? `gzip: ${behind} bytes behind the first member`
                                   : 'gzip: the trailer is cut');
    if (tail.readUInt32LE(0) !== ((crc ^ 0xffffffff) >>> 0))
        throw new Error('gzip: wrong checksum');
    if (tail.readUInt32LE(4) !== size % 4294967296)
        throw new Error('gzip: wrong length');
}

module.exports = { inflateOneMember };
