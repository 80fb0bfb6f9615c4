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

/* The closing quote of a string that goes on at p and is plain, or NULL. */
PT_ALWAYS_INLINE const char *pt_plain_string(const char *p, const char *end) {
#if defined(__SSE2__)
    const __m128i quote = _mm_set1_epi8('"'), blank = _mm_set1_epi8(0x20);
    const __m128i backslash = _mm_set1_epi8('\\');
    for (; p < end; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        /* The signed comparison takes bytes above 0x7F along. */
        __m128i odd = _mm_or_si128(_mm_cmplt_epi8(v, blank), _mm_cmpeq_epi8(v, backslash));
        unsigned mask = (unsigned)_mm_movemask_epi8(_mm_or_si128(odd, _mm_cmpeq_epi8(v, quote)));
        if (mask != 0) {
            p += __builtin_ctz(mask);
            break;
        }
    }
#else
    while (p < end && (signed char)*p >= 0x20 && *p != '\\' && *p != '"') {
        p++;
    }
#endif
    return p < end && *p == '"' ? p : NULL;
}

PT_ALWAYS_INLINE bool pt_plain_digit(char c) {
    return (unsigned)(c - '0') < 10U;
}

/* Which of the 16 bytes at p are digits, the first in the lowest bit; right up to the second byte
 * that is none. */
PT_ALWAYS_INLINE uint32_t pt_plain_digits(const char *p) {
#if defined(__SSE2__)
    const __m128i zero = _mm_set1_epi8('0'), nine = _mm_set1_epi8(9);
    __m128i v = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)(const void *)p), zero);
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(v, nine), v));
#else
    uint32_t mask = 0;
    for (unsigned i = 0, others = 0; i < 16 && others < 2; i++) {
        mask |= (uint32_t)pt_plain_digit(p[i]) << i;
        others += !pt_plain_digit(p[i]);
    }
    return mask;
#endif
}

/* The same for 32 bytes. */
PT_ALWAYS_INLINE uint32_t pt_plain_digits32(const char *p) {
    return pt_plain_digits(p) | pt_plain_digits(p + 16) << 16;
}

/* The number that the `count` (1 to 8) digits at p make; 8 bytes are readable. */
PT_ALWAYS_INLINE uint64_t pt_plain_digits_value(const char *p, unsigned count) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t v;
    memcpy(&v, p, 8);
    /* The first digit goes to the highest byte but `count` ones; zeros stand before it. */
    v = (v - UINT64_C(0x3030303030303030)) << (64 - 8 * count);
    v = v * 10 + (v >> 8);
    return ((v & UINT64_C(0x000000FF000000FF)) * UINT64_C(0x000F424000000064) +
            (v >> 16 & UINT64_C(0x000000FF000000FF)) * UINT64_C(0x0000271000000001)) >>
           32;
#else
    uint64_t v = 0;
    for (unsigned i = 0; i < count; i++) {
        v = v * 10 + (uint64_t)(p[i] - '0');
    }
    return v;
#endif
}

/* Microseconds with three decimals, as our writer has times, in ns; the place behind them, or NULL
 * for another form or more than 15 digits before the point. */
PT_ALWAYS_INLINE const char *pt_plain_time(const char *p, int64_t *ret_ns) {
    uint32_t digits = pt_plain_digits(p);
    if (PT_UNLIKELY((digits & 0xFFF) == 0xFFF)) {
        digits = pt_plain_digits32(p);
    }
    unsigned n = (unsigned)__builtin_ctz(~digits | UINT32_C(1) << 31);
    if (PT_UNLIKELY(n == 0 || n > 15 || p[n] != '.' || (digits >> n & 0x1F) != 0xE ||
                    (*p == '0' && n > 1))) {
        return NULL;
    }
    uint64_t us =
        n <= 8 ? pt_plain_digits_value(p, n)
               : pt_plain_digits_value(p, n - 8) * 100000000 + pt_plain_digits_value(p + n - 8, 8);
    *ret_ns = (int64_t)(us * 1000 + pt_plain_digits_value(p + n + 1, 3));
    return p + n + 4;
}

/* A number as JSON has it, not longer than 31 bytes and with an exponent of at most two digits, so
 * that it is in a double's range; the place behind it, or NULL. */
PT_ALWAYS_INLINE const char *pt_plain_number(const char *p) {
    p += *p == '-';
    /* Bits of bytes that are no digits. */
    uint32_t other = pt_plain_digits(p) ^ 0xFFFF;
    if (PT_UNLIKELY((other & (other - 1)) == 0)) { /* not two of them: a long number */
        other = ~pt_plain_digits32(p);
        if (PT_UNLIKELY((other & (other - 1)) == 0)) {
            return NULL;
        }
    }
    unsigned n = (unsigned)__builtin_ctz(other);
    if (n == 0 || (*p == '0' && n > 1)) {
        return NULL;
    }
    if (p[n] == '.') {
        unsigned point = n;
        n = (unsigned)__builtin_ctz(other & (other - 1));
        if (n == point + 1) {
            return NULL;
        }
    }
    p += n;
    if (PT_UNLIKELY((*p | 0x20) == 'e')) {
        p++;
        p += *p == '-' || *p == '+';
        if (!pt_plain_digit(*p)) {
            return NULL;
        }
        p += pt_plain_digit(p[1]) ? 2 : 1;
        return pt_plain_digit(*p) ? NULL : p;
    }
    return p;
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
