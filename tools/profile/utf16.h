/* utf16.h: UTF-16 text to UTF-8, piece by piece. SPDX-License-Identifier: MIT
 *
 * Pure. A piece may end within a character. */
#ifndef PERFTRACE_PROFILE_UTF16_H
#define PERFTRACE_PROFILE_UTF16_H
#include "compiler.h"

#include <stdbool.h>

typedef struct pt_utf16 {
    bool big_endian;
    bool has_byte; /* the first half of a unit was seen */
    uint8_t byte;
    uint32_t high;   /* the first half of a pair that was seen; 0: none */
    uint64_t mended; /* halves of pairs alone, each now U+FFFD */
} pt_utf16_t;

/* So much room does out need for len bytes. */
#define PT_UTF16_ROOM(len) (((len) / 2 + 2) * 3)

/* Turns len bytes at in into UTF-8 at out; returns how many bytes that is. */
size_t pt_utf16_feed(pt_utf16_t *u, const uint8_t *in, size_t len, char *out);
/* What is left at the end of the text: at most 3 bytes. */
size_t pt_utf16_end(pt_utf16_t *u, char *out);

#endif
