/* common_gzip.h: gzip data for tests, made by zlib alone. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TESTS_COMMON_GZIP_H
#define PERFTRACE_TESTS_COMMON_GZIP_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Appends one member with the plain bytes to out (which must be large enough); returns the length.
 * name (may be NULL) goes into the header. */
static inline size_t gzip_member(uint8_t *out, size_t cap, const void *plain, size_t len, int level,
                                 const char *name) {
    z_stream zlib;
    memset(&zlib, 0, sizeof(zlib));
    deflateInit2(&zlib, level, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
    gz_header header;
    memset(&header, 0, sizeof(header));
    if (name) {
        static Bytef extra[] = "extra";
        static Bytef comment[] = "a comment";
        header.extra = extra;
        header.extra_len = sizeof(extra);
        header.name = (Bytef *)(uintptr_t)name;
        header.comment = comment;
        header.hcrc = 1;
        deflateSetHeader(&zlib, &header);
    }
    zlib.next_in = (Bytef *)(uintptr_t)plain;
    zlib.avail_in = (uInt)len;
    zlib.next_out = out;
    zlib.avail_out = (uInt)cap;
    deflate(&zlib, Z_FINISH);
    deflateEnd(&zlib);
    return cap - zlib.avail_out;
}

/* Lines like a trace's; deterministic. Returns the length, at most size. */
static inline size_t trace_text(char *out, size_t size, unsigned seed) {
    size_t len = 0;
    uint32_t x = seed * 2654435761u + 1;
    while (len + 160 < size) {
        x = x * 1664525u + 1013904223u;
        char line[160];
        int n = snprintf(line, sizeof(line),
                         "{\"name\": \"step%u\", \"ph\": \"X\", \"ts\": %u.%03u, \"dur\": %u.%03u, "
                         "\"pid\": 71, \"tid\": 71}\n",
                         x >> 30, (unsigned)len, (x >> 8) % 1000, (x >> 20) % 50, x % 1000);
        memcpy(out + len, line, (size_t)n);
        len += (size_t)n;
    }
    return len;
}

#endif
