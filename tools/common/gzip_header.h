/* gzip_header.h: the header of a gzip member, fed in pieces. SPDX-License-Identifier: MIT
 *
 * Source: RFC 1952, 2.3. Pure. A header has no bound (file name and comment), so nothing is kept.
 */
#ifndef PERFTRACE_COMMON_GZIP_HEADER_H
#define PERFTRACE_COMMON_GZIP_HEADER_H

#include "compiler.h"

typedef enum pt_gzip_header_result {
    PT_GZIP_HEADER_MORE, /* all input used, not complete */
    PT_GZIP_HEADER_DONE,
    PT_GZIP_HEADER_BAD
} pt_gzip_header_result_t;

typedef struct pt_gzip_header {
    unsigned part;      /* which part comes next; 0 at the start */
    unsigned flags;     /* FLG */
    uint32_t remaining; /* bytes left of a part of known length */
    uint32_t value;     /* the number being put together */
    uint32_t crc;       /* of the header's bytes so far */
} pt_gzip_header_t;

/* Start with a zeroed structure. Takes bytes from in; *ret_used of them belong to the header. */
pt_gzip_header_result_t pt_gzip_header_feed(pt_gzip_header_t *header, const uint8_t *in, size_t len,
                                            size_t *ret_used);

#endif
