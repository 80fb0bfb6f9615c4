/* json_double.c: decimal text to the nearest double, fast. SPDX-License-Identifier: MIT
 *
 * Up to 19 digits are an integer w, the number is w / 10^k = (w / 5^k) / 2^k. Instead of dividing,
 * w is multiplied by the first 128 bits of 1 / 5^k (after Eisel and Lemire, "Number parsing at a
 * gigabyte per second", 2021): 64 bits of the product decide in all but few cases what the nearest
 * double is, and the few are divided out. Numbers outside of that go the slow way (json_number.c).
 * The most frequent ones do not come here: json_fraction.c. */
#include "json_lex.h"

#define MAX_DIGITS 19                  /* any number of so many digits is below 2^64 */
#define MAX_FIVES  27                  /* 5^27 is below 2^63 */
#define MAX_TENS   19                  /* w * 10^19 is below 2^128 */
#define EXACT      ((uint64_t)1 << 53) /* integers up to here are doubles */

__extension__ typedef unsigned __int128 u128_t;

static const uint64_t five[MAX_FIVES + 1] = {
    1u,
    5u,
    25u,
    125u,
    625u,
    3125u,
    15625u,
    78125u,
    390625u,
    1953125u,
    9765625u,
    48828125u,
    244140625u,
    1220703125u,
    6103515625u,
    30517578125u,
    152587890625u,
    762939453125u,
    3814697265625u,
    19073486328125u,
    95367431640625u,
    476837158203125u,
    2384185791015625u,
    11920928955078125u,
    59604644775390625u,
    298023223876953125u,
    1490116119384765625u,
    7450580596923828125u,
};

/* high and low: 2^e / 5^k rounded down, where e makes it 128 bits long. */
static const struct {
    uint64_t high, low;
    int e;
} reciprocal[MAX_FIVES + 1] = {
    {0x8000000000000000u, 0x0000000000000000u, 127},
    {0xCCCCCCCCCCCCCCCCu, 0xCCCCCCCCCCCCCCCCu, 130},
    {0xA3D70A3D70A3D70Au, 0x3D70A3D70A3D70A3u, 132},
    {0x83126E978D4FDF3Bu, 0x645A1CAC083126E9u, 134},
    {0xD1B71758E219652Bu, 0xD3C36113404EA4A8u, 137},
    {0xA7C5AC471B478423u, 0x0FCF80DC33721D53u, 139},
    {0x8637BD05AF6C69B5u, 0xA63F9A49C2C1B10Fu, 141},
    {0xD6BF94D5E57A42BCu, 0x3D32907604691B4Cu, 144},
    {0xABCC77118461CEFCu, 0xFDC20D2B36BA7C3Du, 146},
    {0x89705F4136B4A597u, 0x31680A88F8953030u, 148},
    {0xDBE6FECEBDEDD5BEu, 0xB573440E5A884D1Bu, 151},
    {0xAFEBFF0BCB24AAFEu, 0xF78F69A51539D748u, 153},
    {0x8CBCCC096F5088CBu, 0xF93F87B7442E45D3u, 155},
    {0xE12E13424BB40E13u, 0x2865A5F206B06FB9u, 158},
    {0xB424DC35095CD80Fu, 0x538484C19EF38C94u, 160},
    {0x901D7CF73AB0ACD9u, 0x0F9D37014BF60A10u, 162},
    {0xE69594BEC44DE15Bu, 0x4C2EBE687989A9B3u, 165},
    {0xB877AA3236A4B449u, 0x09BEFEB9FAD487C2u, 167},
    {0x9392EE8E921D5D07u, 0x3AFF322E62439FCFu, 169},
    {0xEC1E4A7DB69561A5u, 0x2B31E9E3D06C32E5u, 172},
    {0xBCE5086492111AEAu, 0x88F4BB1CA6BCF584u, 174},
    {0x971DA05074DA7BEEu, 0xD3F6FC16EBCA5E03u, 176},
    {0xF1C90080BAF72CB1u, 0x5324C68B12DD6338u, 179},
    {0xC16D9A0095928A27u, 0x75B7053C0F178293u, 181},
    {0x9ABE14CD44753B52u, 0xC4926A9672793542u, 183},
    {0xF79687AED3EEC551u, 0x3A83DDBD83F52204u, 186},
    {0xC612062576589DDAu, 0x95364AFE032A819Du, 188},
    {0x9E74D1B791E07E48u, 0x775EA264CF55347Du, 190},
};

/* The decimal digits at p, at most eight of them: how many, and w followed by them. */
PT_ALWAYS_INLINE unsigned take_some(const char *p, uint64_t *w) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    static const uint32_t ten[9] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    uint64_t v;
    memcpy(&v, p, 8);
    /* A byte is a digit when it is 0x3X and stays so with 6 added. Carries out of other bytes only
     * reach bytes behind them. */
    uint64_t other =
        ((v & 0xF0F0F0F0F0F0F0F0u) | ((v + 0x0606060606060606u) & 0xF0F0F0F0F0F0F0F0u) >> 4) ^
        0x3333333333333333u;
    unsigned n = other == 0 ? 8 : (unsigned)__builtin_ctzll(other) / 8;
    if (n == 0) {
        return 0;
    }
    v <<= 64 - 8 * n; /* zeros in front */
    v = (v & 0x0F0F0F0F0F0F0F0Fu) * 2561 >> 8;
    v = (v & 0x00FF00FF00FF00FFu) * 6553601 >> 16;
    v = (v & 0x0000FFFF0000FFFFu) * 42949672960001u >> 32;
    *w = *w * ten[n] + v;
    return n;
#else
    unsigned n = 0;
    for (; n < 8 && pt_is_digit(p[n]); n++) {
        *w = *w * 10 + (uint64_t)(p[n] - '0');
    }
    return n;
#endif
}

/* Wraps around where digits are many: the caller counts them. */
PT_ALWAYS_INLINE const char *take_digits(const char *p, uint64_t *w) {
    unsigned n;
    do {
        n = take_some(p, w);
        p += n;
    } while (n == 8);
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

/* m * 2^e, where m has 62 bits or more and the result is far from the ends of the range. Its last
 * bit counts only as 0 or not, so it may be joined with the one before it: signed integers are
 * converted by one instruction. */
PT_ALWAYS_INLINE double shifted(uint64_t m, int e) {
    uint64_t bits = (uint64_t)(1023 + 1 + e) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return (double)(int64_t)(m >> 1 | (m & 1)) * power;
}

/* w / 5^k / 2^k. The quotient of two 64-bit integers is taken to 62 bits or more, the remainder is
 * or-ed into the lowest one, and the one rounding is left to the conversion. */
static PT_NOINLINE double divide(uint64_t w, int k) {
    int up = __builtin_clzll(w), down = __builtin_clzll(five[k]);
    uint64_t divisor = five[k] << down;
    u128_t dividend = (u128_t)(w << up) << 63;
    uint64_t quotient = (uint64_t)(dividend / divisor);
    uint64_t rest = (uint64_t)dividend - quotient * divisor;
    return shifted(quotient | (rest != 0), down - up - 63 - k);
}

/* The same. With x the first 128 bits of the product of w and the reciprocal, the true product lies
 * in [x, x + 2): the conversion of its upper half, with anything but 0 behind it, rounds rightly
 * unless the lower half is next to 0. */
PT_ALWAYS_INLINE double multiply(uint64_t w, int k) {
    int up = __builtin_clzll(w);
    w <<= up;
    u128_t x = (u128_t)w * reciprocal[k].high + (uint64_t)((u128_t)w * reciprocal[k].low >> 64);
    if (PT_UNLIKELY((uint64_t)x + 2 < 4)) {
        return divide(w >> up, k);
    }
    return shifted((uint64_t)(x >> 64) | 1, 128 - up - reciprocal[k].e - k);
}

/* w * 10^e; false when that is not for here. */
PT_ALWAYS_INLINE bool scale(uint64_t w, int e, double *ret) {
    static const double ten[MAX_TENS + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,
                                             1e7,  1e8,  1e9,  1e10, 1e11, 1e12, 1e13,
                                             1e14, 1e15, 1e16, 1e17, 1e18, 1e19};
    if (e < 0 && e >= -MAX_FIVES && w > EXACT) {
        *ret = multiply(w, -e);
    } else if (w <= EXACT && e >= -MAX_TENS && e <= MAX_TENS) {
        /* Both operands are exact, so that the one operation rounds rightly. */
        *ret = e < 0 ? (double)(int64_t)w / ten[-e] : (double)(int64_t)w * ten[e];
    } else if (e >= 0 && e <= MAX_TENS) {
        *ret = (double)((u128_t)w * (uint64_t)ten[e]);
    } else if (e < 0 && e >= -MAX_FIVES) {
        *ret = w == 0 ? 0 : divide(w, -e);
    } else {
        return false;
    }
    return true;
}

/* Any number; p is behind its sign. */
static PT_NOINLINE const char *read_long(const char *p, double *ret) {
    uint64_t w = 0;
    int e = 0;
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
    return p == NULL || digits > MAX_DIGITS || !scale(w, e, ret) ? NULL : p;
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

/* The n decimal digits at p, 1 to 8 of them. */
PT_ALWAYS_INLINE uint64_t digits_at(const char *p, unsigned n) {
    uint64_t v;
    memcpy(&v, p, 8);
    v <<= 64 - 8 * n; /* zeros in front */
    v = (v & 0x0F0F0F0F0F0F0F0Fu) * 2561 >> 8;
    v = (v & 0x00FF00FF00FF00FFu) * 6553601 >> 16;
    return (v & 0x0000FFFF0000FFFFu) * 42949672960001u >> 32;
}

/* Less than 16 digits before the point, at most 24 behind it, no exponent: how long the runs of
 * digits are is known before any of them is looked at. NULL for any other number. */
PT_ALWAYS_INLINE const char *read_short(const char *p, double *ret) {
    static const uint64_t ten[MAX_DIGITS + 1] = {1u,
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
    unsigned n = pt_run_digits(p);
    if (PT_UNLIKELY(n - 1 >= PT_RUN - 1 || (*p == '0' && n > 1))) {
        return NULL;
    }
    uint64_t w = n <= 8 ? digits_at(p, n) : digits_at(p, n - 8) * ten[8] + digits_at(p + n - 8, 8);
    p += n;
    unsigned f = 0;
    if (*p == '.') {
        p++;
        f = pt_run_digits(p);
        unsigned more = f == PT_RUN ? pt_run_digits(p + PT_RUN) : 0;
        if (PT_UNLIKELY(f == 0 || more > 8 || (n + f > MAX_DIGITS && w != 0))) {
            return NULL;
        }
        uint64_t part =
            f <= 8 ? digits_at(p, f) : digits_at(p, 8) * ten[f - 8] + digits_at(p + 8, f - 8);
        w = w * ten[f] + part;
        if (more > 0) {
            /* Durations below a second have as many zeros in front as places more. */
            if (PT_UNLIKELY(w >= ten[MAX_DIGITS - more])) {
                return NULL;
            }
            w = w * ten[more] + digits_at(p + PT_RUN, more);
            f += more;
        }
        p += f;
    }
    if (PT_UNLIKELY(*p == 'e' || *p == 'E') || !scale(w, -(int)f, ret)) {
        return NULL;
    }
    return p;
}

#else

PT_ALWAYS_INLINE const char *read_short(const char *p, double *ret) {
    (void)p;
    (void)ret;
    return NULL;
}

#endif

const char *perftrace__json_read_any_double(const char *p, double *ret) {
    bool negative = *p == '-';
    p += negative;
    const char *end = read_short(p, ret);
    if (PT_UNLIKELY(end == NULL)) {
        end = read_long(p, ret);
        if (end == NULL) {
            return NULL;
        }
    }
    if (negative) {
        *ret = -*ret;
    }
    return end;
}
