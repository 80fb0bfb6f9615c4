/* gzip_header.c: the header of a gzip member, fed in pieces. SPDX-License-Identifier: MIT */
#include "gzip_header.h"

#include "deflate.h"

/* The parts in their order; those from EXTRA_LEN on are there only if a flag says so. */
enum { FIXED, EXTRA_LEN, EXTRA, NAME, COMMENT, HEADER_CRC, COMPLETE };

#define FLAG_HEADER_CRC 0x02u
#define FLAG_EXTRA      0x04u
#define FLAG_NAME       0x08u
#define FLAG_COMMENT    0x10u
#define FLAGS_RESERVED  0xe0u
#define FIXED_LEN       10u

/* Skips parts that the flags leave out, and prepares the next. */
static void enter(pt_gzip_header_t *h, unsigned part) {
    static const unsigned needed[] = {
        0, FLAG_EXTRA, FLAG_EXTRA, FLAG_NAME, FLAG_COMMENT, FLAG_HEADER_CRC, 0};
    while (part < COMPLETE && !(h->flags & needed[part])) {
        part++;
    }
    uint32_t extra_len = h->value;
    h->part = part;
    h->value = 0;
    h->remaining = part == EXTRA ? extra_len : 2;
    if (part == EXTRA && extra_len == 0) {
        enter(h, NAME);
    }
}

/* Takes byte number `index` of the fixed part; false when it cannot be. */
static int fixed_byte(pt_gzip_header_t *h, unsigned index, uint8_t c) {
    switch (index) {
    case 0:
        return c == 0x1f;
    case 1:
        return c == 0x8b;
    case 2:
        return c == 8; /* deflate, the only method */
    case 3:
        h->flags = c;
        return !(c & FLAGS_RESERVED);
    default:
        return 1; /* time, extra flags, system: of no use here */
    }
}

/* False when the byte cannot be part of a header. */
static int take(pt_gzip_header_t *h, uint8_t c) {
    switch (h->part) {
    case FIXED:
        if (!fixed_byte(h, h->remaining, c)) {
            return 0;
        }
        if (++h->remaining == FIXED_LEN) { /* counts up here: a zeroed structure is the start */
            enter(h, EXTRA_LEN);
        }
        return 1;
    case NAME:
    case COMMENT:
        if (c == 0) {
            enter(h, h->part + 1);
        }
        return 1;
    case EXTRA:
        if (--h->remaining == 0) {
            enter(h, NAME);
        }
        return 1;
    default: /* a number of two bytes, low byte first */
        h->value |= (uint32_t)c << (h->remaining == 2 ? 0 : 8);
        if (--h->remaining) {
            return 1;
        }
        if (h->part == HEADER_CRC && h->value != (h->crc & 0xffffu)) {
            return 0;
        }
        enter(h, h->part + 1);
        return 1;
    }
}

pt_gzip_header_result_t pt_gzip_header_feed(pt_gzip_header_t *header, const uint8_t *in, size_t len,
                                            size_t *ret_used) {
    size_t i = 0;
    while (i < len && header->part != COMPLETE) {
        unsigned part = header->part;
        if (!take(header, in[i])) {
            *ret_used = i;
            return PT_GZIP_HEADER_BAD;
        }
        if (part != HEADER_CRC && (header->flags & FLAG_HEADER_CRC || part == FIXED)) {
            header->crc = pt_crc32(header->crc, &in[i], 1);
        }
        i++;
    }
    *ret_used = i;
    return header->part == COMPLETE ? PT_GZIP_HEADER_DONE : PT_GZIP_HEADER_MORE;
}
