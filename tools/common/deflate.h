/* deflate.h: gzip made by several threads, as one member. SPDX-License-Identifier: MIT
 *
 * Each piece of the plain bytes becomes a run of deflate blocks that ends on a byte boundary and
 * refers to nothing before it, so that pieces are packed independently and laid end to end. The
 * joiner gives the header, sums up the check sum, and ends the member. One member, because some
 * viewers stop after the first. Formats: RFC 1951 (3.2.4 for the byte boundary) and RFC 1952. */
#ifndef PERFTRACE_COMMON_DEFLATE_H
#define PERFTRACE_COMMON_DEFLATE_H

#include "compiler.h"

#include <stdbool.h>

typedef enum pt_deflate_backend {
    PT_DEFLATE_AUTO, /* ISA-L where it was built in and the level is at most 3, else zlib */
    PT_DEFLATE_ZLIB,
    PT_DEFLATE_ISAL
} pt_deflate_backend_t;

bool pt_deflate_backend_available(pt_deflate_backend_t backend);
/* "zlib 1.2.13", "ISA-L 2.30": for --version and the account. */
const char *pt_deflate_backend_name(pt_deflate_backend_t backend);

/* One packed piece's sums. */
typedef struct pt_deflate_block {
    size_t packed_len; /* bytes written to out */
    size_t plain_len;
    uint32_t crc; /* of the plain bytes, as in gzip */
} pt_deflate_block_t;

typedef struct pt_deflater pt_deflater_t;

/* State for one thread, used again for every piece. level 0 to 9 as in gzip; ISA-L knows 0 to 3
 * (higher: 3). A back end that is not built in: zlib is taken. NULL without memory or for a wrong
 * level. */
pt_deflater_t *pt_deflater_new(int level, pt_deflate_backend_t backend);
void pt_deflater_free(pt_deflater_t *deflater); /* accepts NULL */

/* How large out must be for any input of len bytes, whatever the back end. Pure. */
size_t pt_deflate_bound(size_t len);

/* Packs one piece (len up to 1 GiB; 0 gives 0 bytes). cap must be at least pt_deflate_bound(len).
 * False only when that is not so, len is too large, or the back end reports an error it never
 * should. */
bool pt_deflater_pack(pt_deflater_t *deflater, const void *in, size_t len, void *out, size_t cap,
                      pt_deflate_block_t *ret_block);

/* The check sum alone, with the fastest implementation that was built in; crc is 0 at the start. */
uint32_t pt_crc32(uint32_t crc, const void *data, size_t len);

/* Joins pieces into one gzip member. Pure: the caller writes the bytes. */
typedef struct pt_gzip_joiner {
    uint32_t crc;
    uint64_t plain_len;
    uint64_t packed_len; /* header and end included */
} pt_gzip_joiner_t;

#define PT_GZIP_HEADER_LEN 10
#define PT_GZIP_END_LEN    10 /* an empty last block and the trailer */

/* Fills out with what the file starts with (no name, no time: the same input gives the same file).
 */
void pt_gzip_joiner_begin(pt_gzip_joiner_t *joiner, uint8_t out[PT_GZIP_HEADER_LEN]);
/* Counts the piece that is written next. */
void pt_gzip_joiner_add(pt_gzip_joiner_t *joiner, const pt_deflate_block_t *block);
/* Fills out with what the file ends with. */
void pt_gzip_joiner_end(pt_gzip_joiner_t *joiner, uint8_t out[PT_GZIP_END_LEN]);

#endif
