/* json_fraction.c: the fractions that programs print, to doubles. SPDX-License-Identifier: MIT
 *
 * Durations and times as a program prints them have 15 to 19 digits with a point between them. How
 * many stand before and behind it changes from number to number, so nothing here branches on it:
 * the digits are filled up with zeros to 19 and the number is w / 10^k, where k follows from the
 * place of the point. Everything else goes to perftrace__json_read_any_double. */
#include "json_lex.h"

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

#    define DIGITS 19 /* any number of so many digits is below 2^64 */
#    define BEFORE 16 /* digits before the point, at most */

__extension__ typedef unsigned __int128 u128_t;

/* Row n is for n digits before the point, row 0 for a single 0 there: high and low are the first
 * 128 bits of 1 / 5^k, rounded down, and power is the power of two that makes the upper half of
 * their product with w (less its lowest bit) the number. */
static const struct {
    uint64_t high, low;
    double power;
} scale[BEFORE + 1] = {
    {0x9392EE8E921D5D07u, 0x3AFF322E62439FCFu, 0x1p-62},
    {0x9392EE8E921D5D07u, 0x3AFF322E62439FCFu, 0x1p-58},
    {0xB877AA3236A4B449u, 0x09BEFEB9FAD487C2u, 0x1p-55},
    {0xE69594BEC44DE15Bu, 0x4C2EBE687989A9B3u, 0x1p-52},
    {0x901D7CF73AB0ACD9u, 0x0F9D37014BF60A10u, 0x1p-48},
    {0xB424DC35095CD80Fu, 0x538484C19EF38C94u, 0x1p-45},
    {0xE12E13424BB40E13u, 0x2865A5F206B06FB9u, 0x1p-42},
    {0x8CBCCC096F5088CBu, 0xF93F87B7442E45D3u, 0x1p-38},
    {0xAFEBFF0BCB24AAFEu, 0xF78F69A51539D748u, 0x1p-35},
    {0xDBE6FECEBDEDD5BEu, 0xB573440E5A884D1Bu, 0x1p-32},
    {0x89705F4136B4A597u, 0x31680A88F8953030u, 0x1p-28},
    {0xABCC77118461CEFCu, 0xFDC20D2B36BA7C3Du, 0x1p-25},
    {0xD6BF94D5E57A42BCu, 0x3D32907604691B4Cu, 0x1p-22},
    {0x8637BD05AF6C69B5u, 0xA63F9A49C2C1B10Fu, 0x1p-18},
    {0xA7C5AC471B478423u, 0x0FCF80DC33721D53u, 0x1p-15},
    {0xD1B71758E219652Bu, 0xD3C36113404EA4A8u, 0x1p-12},
    {0x83126E978D4FDF3Bu, 0x645A1CAC083126E9u, 0x1p-8},
};

/* From index DIGITS - n on, the first n bytes are set. */
static const uint8_t set[DIGITS + 20] = {
    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
};

/* Likewise, for the bits that make a digit a number. */
static const uint8_t value_of[DIGITS + 20] = {
    0x0F, 0x0F, 0x0F, 0x0F, 0x0F, 0x0F, 0x0F, 0x0F, 0x0F, 0x0F,
    0x0F, 0x0F, 0x0F, 0x0F, 0x0F, 0x0F, 0x0F, 0x0F, 0x0F,
};

#    if defined(__SSE2__)

PT_ALWAYS_INLINE __m128i load(const void *p) {
    return _mm_loadu_si128((const __m128i *)p);
}

/* The first 16 of `digits` digits at p, with a point behind n of them, and zeros where there are no
 * more. */
PT_ALWAYS_INLINE uint64_t first_digits(const char *p, size_t n, size_t digits) {
    const __m128i by_10 = _mm_set1_epi32(1 << 16 | 10), by_100 = _mm_set1_epi32(1 << 16 | 100);
    const __m128i by_10000 = _mm_set1_epi32(1 << 16 | 10000), zero = _mm_setzero_si128();
    __m128i whole = load(set + DIGITS - n);
    __m128i v = _mm_or_si128(_mm_and_si128(whole, load(p)), _mm_andnot_si128(whole, load(p + 1)));
    v = _mm_and_si128(v, load(value_of + DIGITS - digits));
    /* By twos, by fours, by eights. */
    __m128i left = _mm_madd_epi16(_mm_unpacklo_epi8(v, zero), by_10);
    __m128i right = _mm_madd_epi16(_mm_unpackhi_epi8(v, zero), by_10);
    v = _mm_madd_epi16(_mm_packs_epi32(left, right), by_100);
    v = _mm_madd_epi16(_mm_packs_epi32(v, v), by_10000);
    uint64_t both = (uint64_t)_mm_cvtsi128_si64(v);
    return (both & UINT32_MAX) * 100000000 + (both >> 32);
}

#    else

PT_ALWAYS_INLINE uint64_t load(const void *p) {
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

PT_ALWAYS_INLINE uint64_t eight_digits(const char *p, const uint8_t *whole, const uint8_t *value) {
    uint64_t v = ((load(p) & load(whole)) | (load(p + 1) & ~load(whole))) & load(value);
    v = v * 2561 >> 8;
    v = (v & 0x00FF00FF00FF00FFu) * 6553601 >> 16;
    return (v & 0x0000FFFF0000FFFFu) * 42949672960001u >> 32;
}

PT_ALWAYS_INLINE uint64_t first_digits(const char *p, size_t n, size_t digits) {
    const uint8_t *whole = set + DIGITS - n, *value = value_of + DIGITS - digits;
    return eight_digits(p, whole, value) * 100000000 + eight_digits(p + 8, whole + 8, value + 8);
}

#    endif

/* The three digits behind those, likewise. */
PT_ALWAYS_INLINE uint32_t last_digits(const char *p, size_t digits) {
    uint32_t v, value;
    memcpy(&v, p + 17, sizeof v);
    memcpy(&value, value_of + DIGITS - digits + 16, sizeof value);
    v = (v & value) << 8; /* a zero in front makes them four */
    v = (v * 2561 >> 8) & 0x00FF00FF;
    return v * 6553601 >> 16;
}

/* A number that has no point behind its n digits. */
PT_ALWAYS_INLINE const char *read_whole(const char *p, size_t n, double *ret) {
    uint64_t v;
    if (PT_UNLIKELY(n - 1 >= sizeof v || (*p == '0' && n > 1) || (p[n] | 0x20) == 'e')) {
        return perftrace__json_read_any_double(p, ret);
    }
    memcpy(&v, p, sizeof v);
    v <<= 64 - 8 * n; /* zeros in front */
    v = (v & 0x0F0F0F0F0F0F0F0Fu) * 2561 >> 8;
    v = (v & 0x00FF00FF00FF00FFu) * 6553601 >> 16;
    v = (v & 0x0000FFFF0000FFFFu) * 42949672960001u >> 32;
    *ret = (double)(int64_t)v;
    return p + n;
}

const char *perftrace__json_read_double(const char *p, double *ret) {
    size_t n, digits;
    unsigned zero = *p == '0';
    PT_KEEP_BRANCH(zero);
    if (PT_UNLIKELY(!pt_two_runs(p, &n, &digits))) {
        return perftrace__json_read_any_double(p, ret);
    }
    if (p[n] != '.') {
        return read_whole(p, n, ret);
    }
    if (PT_UNLIKELY(n - 1 >= BEFORE || digits == n || digits > DIGITS || (zero & (n > 1)) != 0 ||
                    (p[digits + 1] | 0x20) == 'e')) {
        return perftrace__json_read_any_double(p, ret);
    }
    uint64_t w = first_digits(p, n, digits) * 1000 + last_digits(p, digits);
    w <<= 4 * zero; /* then it is below 10^18 */
    n -= zero;
    u128_t product = (u128_t)w * scale[n].high;
    uint64_t more = (uint64_t)((u128_t)w * scale[n].low >> 64);
    uint64_t low = (uint64_t)product + more, high = (uint64_t)(product >> 64) + (low < more);
    /* The true product lies in [product, product + 2), see json_double.c. Of `high` 56 bits are
     * needed: those of a double, the next one, one that is set because what follows is not zero,
     * and the one that is lost to make it a signed integer. */
    if (PT_UNLIKELY(w < (uint64_t)1 << 56 || low + 2 < 4)) {
        return perftrace__json_read_any_double(p, ret);
    }
    *ret = (double)(int64_t)(high >> 1 | 1) * scale[n].power;
    return p + digits + 1;
}

#else

const char *perftrace__json_read_double(const char *p, double *ret) {
    return perftrace__json_read_any_double(p, ret);
}

#endif
