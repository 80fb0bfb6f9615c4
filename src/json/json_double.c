/* json_double.c: decimal text to the nearest double, fast. SPDX-License-Identifier: MIT
 *
 * Up to 19 digits are an integer w, the number is w / 10^k = (w / 5^k) / 2^k with 5^k below 2^63.
 * The quotient of two 64-bit integers is taken to 62 bits or more, the remainder is or-ed into the
 * lowest one, and the one rounding is left to the conversion: the result is the nearest double,
 * ties to even. Numbers outside of that go the slow way (json_number.c). */
#include "json_lex.h"

#include <math.h>

#define MAX_DIGITS 19 /* any number of so many digits is below 2^64 */
#define MAX_FIVES  27 /* 5^27 is below 2^63 */
#define MAX_TENS   19 /* w * 10^19 is below 2^128 */

/* Eight decimal digits at p; false when there are fewer. */
PT_ALWAYS_INLINE bool take_eight(const char *p, uint64_t *w) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t v;
    memcpy(&v, p, 8);
    /* A byte is a digit when it is 0x3X and stays so with 6 added. */
    if (((v & 0xF0F0F0F0F0F0F0F0u) | ((v + 0x0606060606060606u) & 0xF0F0F0F0F0F0F0F0u) >> 4) !=
        0x3333333333333333u) {
        return false;
    }
    v = (v & 0x0F0F0F0F0F0F0F0Fu) * 2561 >> 8;
    v = (v & 0x00FF00FF00FF00FFu) * 6553601 >> 16;
    v = (v & 0x0000FFFF0000FFFFu) * 42949672960001u >> 32;
    *w = *w * 100000000 + v;
    return true;
#else
    (void)p;
    (void)w;
    return false;
#endif
}

/* Wraps around where digits are many: the caller counts them. */
PT_ALWAYS_INLINE const char *take_digits(const char *p, uint64_t *w) {
    while (take_eight(p, w)) {
        p += 8;
    }
    while (pt_is_digit(*p)) {
        *w = *w * 10 + (uint64_t)(*p++ - '0');
    }
    return p;
}

/* An exponent of up to three digits; NULL for anything else. */
static const char *take_exponent(const char *p, int *e) {
    bool negative = *p == '-';
    int v = 0;
    p += *p == '-' || *p == '+';
    const char *from = p;
    while (pt_is_digit(*p) && p - from < 4) {
        v = v * 10 + (*p++ - '0');
    }
    *e += negative ? -v : v;
    return p == from || p - from == 4 ? NULL : p;
}

static double divide(uint64_t w, int k) {
    static const uint64_t five[MAX_FIVES + 1] = {1,
                                                 5,
                                                 25,
                                                 125,
                                                 625,
                                                 3125,
                                                 15625,
                                                 78125,
                                                 390625,
                                                 1953125,
                                                 9765625,
                                                 48828125,
                                                 244140625,
                                                 1220703125,
                                                 6103515625,
                                                 30517578125,
                                                 152587890625,
                                                 762939453125,
                                                 3814697265625,
                                                 19073486328125,
                                                 95367431640625,
                                                 476837158203125,
                                                 2384185791015625,
                                                 11920928955078125,
                                                 59604644775390625,
                                                 298023223876953125,
                                                 1490116119384765625,
                                                 7450580596923828125};
    int up = __builtin_clzll(w), down = __builtin_clzll(five[k]);
    uint64_t divisor = five[k] << down;
    w <<= up;
    /* Both are at least 2^63, and the divident's upper half is below 2^63: 62 to 64 bits. */
    __extension__ unsigned __int128 dividend = (unsigned __int128)w << 63;
    uint64_t quotient = (uint64_t)(dividend / divisor);
    uint64_t rest = (uint64_t)dividend - quotient * divisor;
    return ldexp((double)(quotient | (rest != 0)), down - up - 63 - k);
}

/* w * 10^e; false when that is not for here. */
static bool scale(uint64_t w, int e, double *ret) {
    static const uint64_t ten[MAX_TENS + 1] = {1u,
                                               10u,
                                               100u,
                                               1000u,
                                               10000u,
                                               100000u,
                                               1000000u,
                                               10000000u,
                                               100000000u,
                                               1000000000u,
                                               10000000000u,
                                               100000000000u,
                                               1000000000000u,
                                               10000000000000u,
                                               100000000000000u,
                                               1000000000000000u,
                                               10000000000000000u,
                                               100000000000000000u,
                                               1000000000000000000u,
                                               10000000000000000000u};
    if (w == 0) {
        *ret = 0;
    } else if (e >= 0 && e <= MAX_TENS) {
        __extension__ unsigned __int128 product = (unsigned __int128)w * ten[e];
        *ret = (double)product;
    } else if (e < 0 && e >= -MAX_FIVES) {
        *ret = divide(w, -e);
    } else {
        return false;
    }
    return true;
}

const char *perftrace__json_read_double(const char *p, double *ret) {
    uint64_t w = 0;
    int e = 0;
    bool negative = *p == '-';
    p += negative;
    const char *first = p;
    p = take_digits(p, &w);
    ptrdiff_t digits = p - first;
    if (digits == 0 || (digits > 1 && *first == '0')) {
        return NULL;
    }
    if (*p == '.') {
        const char *from = ++p;
        p = take_digits(p, &w);
        if (p == from) {
            return NULL;
        }
        digits += p - from;
        e = p - from > 400 ? -400 : (int)(from - p);
        if (digits > MAX_DIGITS && *first == '0') {
            digits--;
            for (const char *q = from; *q == '0'; q++) {
                digits--;
            }
        }
    }
    if (*p == 'e' || *p == 'E') {
        p = take_exponent(p + 1, &e);
    }
    if (p == NULL || digits > MAX_DIGITS || !scale(w, e, ret)) {
        return NULL;
    }
    *ret = negative ? -*ret : *ret;
    return p;
}
