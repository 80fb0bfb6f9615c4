/* json_digits.h: decimal digits, inline, for the writer's hot loop. SPDX-License-Identifier: MIT
 *
 * What makes these fast is that where the next byte goes depends only on comparisons, which a
 * processor predicts (neighbouring times have as many digits), while the digits themselves are
 * computed beside the chain. Each may write up to 8 bytes behind the end it returns. */
#ifndef PERFTRACE_BASE_JSON_DIGITS_H
#define PERFTRACE_BASE_JSON_DIGITS_H

#include "compiler.h"

#include <string.h>

/* "00" to "99". */
extern const char perftrace__digit_pairs[201];
/* ".000" to ".999". */
extern const char perftrace__decimals[1000][4];

/* The eight digits of v < 10^8 as bytes, first digit in the lowest byte: each step splits every
 * lane in two by a multiplication (the reciprocals are exact in these ranges). */
PT_ALWAYS_INLINE uint64_t perftrace__eight_digits(uint32_t v) {
    uint64_t hi = v / 10000;
    uint64_t lo = v - (uint32_t)hi * 10000;
    uint64_t fours = hi | lo << 32;
    uint64_t hundreds = ((fours * 10486) >> 20) & 0x7F0000007Full;
    uint64_t twos = hundreds | (fours - hundreds * 100) << 16;
    uint64_t tens = ((twos * 103) >> 10) & 0x000F000F000F000Full;
    return (tens | (twos - tens * 10) << 8) + 0x3030303030303030ull;
}

PT_ALWAYS_INLINE unsigned perftrace__digits_below_1e8(uint32_t v) {
    if (v >= 10000) {
        return v >= 1000000 ? (v >= 10000000 ? 8 : 7) : (v >= 100000 ? 6 : 5);
    }
    return v >= 100 ? (v >= 1000 ? 4 : 3) : (v >= 10 ? 2 : 1);
}

/* v < 10^8 without leading zeros. */
PT_ALWAYS_INLINE char *perftrace__put_below_1e8(char *dst, uint32_t v) {
    if (v < 100) {
        if (v < 10) {
            *dst = (char)('0' + v);
            return dst + 1;
        }
        memcpy(dst, perftrace__digit_pairs + 2 * (size_t)v, 2);
        return dst + 2;
    }
    unsigned n = perftrace__digits_below_1e8(v);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t text = perftrace__eight_digits(v) >> (8 * (8 - n));
    memcpy(dst, &text, 8);
#else
    for (char *p = dst + n; p > dst; v /= 10) {
        *--p = (char)('0' + v % 10);
    }
#endif
    return dst + n;
}

/* v < 10^8 with leading zeros, eight bytes. */
PT_ALWAYS_INLINE char *perftrace__put_eight(char *dst, uint32_t v) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t text = perftrace__eight_digits(v);
    memcpy(dst, &text, 8);
#else
    for (char *p = dst + 8; p > dst; v /= 10) {
        *--p = (char)('0' + v % 10);
    }
#endif
    return dst + 8;
}

PT_ALWAYS_INLINE char *perftrace__put_digits(char *dst, uint64_t v) {
    if (PT_LIKELY(v < 100000000)) {
        return perftrace__put_below_1e8(dst, (uint32_t)v);
    }
    uint64_t high = v / 100000000;
    if (high < 100000000) {
        dst = perftrace__put_below_1e8(dst, (uint32_t)high);
    } else {
        dst = perftrace__put_below_1e8(dst, (uint32_t)(high / 100000000));
        dst = perftrace__put_eight(dst, (uint32_t)(high % 100000000));
    }
    return perftrace__put_eight(dst, (uint32_t)(v % 100000000));
}

/* ns as microseconds with three decimals; at most one byte behind the end is touched. */
PT_ALWAYS_INLINE char *perftrace__put_micros(char *dst, uint64_t ns) {
    uint64_t us = ns / 1000;
    dst = perftrace__put_digits(dst, us);
    memcpy(dst, perftrace__decimals[ns - us * 1000], 4);
    return dst + 4;
}

#endif
