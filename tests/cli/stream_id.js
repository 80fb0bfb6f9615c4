// stream_id.js: the number of a file, for the tests of both ends of a stream: FNV-1a with 64 bits, written from
// docs/formats/STREAM.md. SPDX-License-Identifier: MIT
'use strict';

function fnv1a(bytes) {
    let hash = 0xcbf29ce484222325n;
    for (const b of bytes)
        hash = BigInt.asUintN(64, (hash ^ BigInt(b)) * 0x100000001b3n);
    return hash.toString(16).padStart(16, '0');
}

module.exports = { fnv1a };
