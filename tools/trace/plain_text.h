/* plain_text.h: steps through a plain line. SPDX-License-Identifier: MIT
 *
 * A plain line is printable ASCII without a backslash (see pt_line_end). PT_EVENT_PAD bytes behind
 * its end are readable, so that nothing here looks for the end byte by byte: what ran past it is
 * found out by comparing the final position. Pure; any thread. */
#ifndef PERFTRACE_TRACE_PLAIN_TEXT_H
#define PERFTRACE_TRACE_PLAIN_TEXT_H
#include "compiler.h"

#include <stdbool.h>
#include <string.h>

#if defined(__SSE2__)
#    include <emmintrin.h>
#endif

/* The text at p begins with a literal. */
#define PT_PLAIN_AT(p, literal) (memcmp((p), "" literal, sizeof(literal) - 1) == 0)

/* The next quote at or after p, or a place at or behind end. */
PT_ALWAYS_INLINE const char *pt_plain_quote(const char *p, const char *end) {
#if defined(__SSE2__)
    const __m128i quote = _mm_set1_epi8('"');
    while (p < end) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        unsigned mask = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(v, quote));
        if (mask != 0) {
            return p + __builtin_ctz(mask);
        }
        p += 16;
    }
#else
    while (p < end && *p != '"') {
        p++;
    }
#endif
    return p;
}

PT_ALWAYS_INLINE bool pt_plain_digit(char c) {
    return (unsigned)(c - '0') < 10U;
}

/* An integer of at most 18 digits without leading zeros; the place behind it, or NULL. */
PT_ALWAYS_INLINE const char *pt_plain_int(const char *p, int64_t *ret) {
    bool negative = *p == '-';
    p += negative;
    const char *start = p;
    uint64_t v = 0;
    while (pt_plain_digit(*p)) {
        v = v * 10 + (uint64_t)(*p++ - '0');
    }
    if (p == start || p - start > 18 || (*start == '0' && p - start > 1)) {
        return NULL;
    }
    *ret = negative ? -(int64_t)v : (int64_t)v;
    return p;
}

#endif
