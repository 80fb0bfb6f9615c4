/* short_text.h: texts of a few dozen bytes, looked at without a call. SPDX-License-Identifier: MIT
 *
 * What these do memcmp, memchr, memrchr and loops over single characters do too. For names of
 * frames and threads the call takes longer than the work, and so does each jump whose way the
 * length of a name decides: the processor guesses it wrong. Here up to 32 bytes go one way. Nothing
 * outside the texts is read. Pure. */
#ifndef PERFTRACE_PROFILE_SHORT_TEXT_H
#define PERFTRACE_PROFILE_SHORT_TEXT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#    include <emmintrin.h>
#endif

static inline uint64_t pt_eight_bytes(const char *text) {
    uint64_t word;
    memcpy(&word, text, sizeof word);
    return word;
}

/* Whether two texts of this length are the same. */
static inline bool pt_short_same(const char *a, const char *b, size_t len) {
    if (len - 16 <= 16) { /* its first and its last 16 bytes */
        size_t last = len - 16;
        return ((pt_eight_bytes(a) ^ pt_eight_bytes(b)) |
                (pt_eight_bytes(a + 8) ^ pt_eight_bytes(b + 8)) |
                (pt_eight_bytes(a + last) ^ pt_eight_bytes(b + last)) |
                (pt_eight_bytes(a + last + 8) ^ pt_eight_bytes(b + last + 8))) == 0;
    }
    if (len - 8 < 8) {
        size_t last = len - 8;
        return ((pt_eight_bytes(a) ^ pt_eight_bytes(b)) |
                (pt_eight_bytes(a + last) ^ pt_eight_bytes(b + last))) == 0;
    }
    return len == 0 || memcmp(a, b, len) == 0;
}

static inline uint64_t pt_short_mix(uint64_t a, uint64_t b) {
    __extension__ unsigned __int128 r = (unsigned __int128)a * b;
    return (uint64_t)r ^ (uint64_t)(r >> 64);
}

/* A hash of a text; seed is a random number, so that nobody can choose texts of one hash. */
static inline uint32_t pt_short_hash(const char *text, size_t len, uint64_t seed) {
    uint64_t h = (seed + len) * 0x9E3779B97F4A7C15u;
    if (len - 16 <= 16) {
        size_t last = len - 16;
        h = pt_short_mix(h ^ pt_eight_bytes(text), seed ^ pt_eight_bytes(text + 8)) ^
            pt_short_mix(seed ^ pt_eight_bytes(text + last), h ^ pt_eight_bytes(text + last + 8));
        return (uint32_t)(h ^ h >> 32);
    }
    size_t i = 0;
    for (; len - i >= 8; i += 8) {
        h = pt_short_mix(h ^ pt_eight_bytes(text + i), 0xA0761D6478BD642Fu);
    }
    uint64_t rest = 0;
    for (; i < len; i++) {
        rest = rest << 8 | (unsigned char)text[i];
    }
    h = pt_short_mix(h ^ rest, 0xE7037ED1A0B428DBu);
    return (uint32_t)(h ^ h >> 32);
}

#ifdef __SSE2__
/* Which of 16 bytes are c: the first byte's is the lowest bit. */
static inline uint32_t pt_sixteen_are(const char *text, char c) {
    __m128i block = _mm_loadu_si128((const __m128i *)(const void *)text);
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(block, _mm_set1_epi8(c)));
}
#endif

/* Where c is first in a text; len when it is not there. */
static inline size_t pt_short_first(const char *text, size_t len, char c) {
#ifdef __SSE2__
    uint32_t mask = len >= 16 ? pt_sixteen_are(text, c) : 0;
    if (mask != 0) {
        return (size_t)__builtin_ctz(mask);
    }
#endif
    const char *at = len > 0 ? memchr(text, c, len) : NULL;
    return at != NULL ? (size_t)(at - text) : len;
}

/* Where c is last in a text; len when it is not there. */
static inline size_t pt_short_last(const char *text, size_t len, char c) {
#ifdef __SSE2__
    if (len >= 32) {
        uint32_t mask = pt_sixteen_are(text + len - 32, c) | pt_sixteen_are(text + len - 16, c)
                                                                 << 16;
        if (mask != 0) {
            return len - 1 - (size_t)__builtin_clz(mask);
        }
    }
#endif
    const char *at = len > 0 ? memrchr(text, c, len) : NULL;
    return at != NULL ? (size_t)(at - text) : len;
}

/* How many of a text's last bytes are digits as %x prints them. */
static inline size_t pt_short_hex_end(const char *text, size_t len) {
#ifdef __SSE2__
    if (len >= 16) {
        /* From 0 to 9 and from 0 to 5 as unsigned numbers: what the smaller one of both is. */
        __m128i block = _mm_loadu_si128((const __m128i *)(const void *)(text + len - 16));
        __m128i digit = _mm_sub_epi8(block, _mm_set1_epi8('0'));
        __m128i letter = _mm_sub_epi8(block, _mm_set1_epi8('a'));
        __m128i hex = _mm_or_si128(_mm_cmpeq_epi8(_mm_min_epu8(digit, _mm_set1_epi8(9)), digit),
                                   _mm_cmpeq_epi8(_mm_min_epu8(letter, _mm_set1_epi8(5)), letter));
        uint32_t others = ~(uint32_t)_mm_movemask_epi8(hex) << 16;
        if (others != 0) {
            return (size_t)__builtin_clz(others);
        }
    }
#endif
    size_t n = 0;
    for (; n < len; n++) {
        char c = text[len - 1 - n];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) {
            break;
        }
    }
    return n;
}

/* How many digits from 1 to 7 a text ends in behind a blank, and their number; 0 where it ends in
 * anything else, or in nothing that is found so. */
static inline unsigned pt_short_number(const char *text, size_t len, uint32_t *ret) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const uint64_t low = 0x7f7f7f7f7f7f7f7fu, zeros = 0x3030303030303030u;
    if (len < 8) {
        return 0;
    }
    uint64_t word = pt_eight_bytes(text + len - 8), other = word ^ 0x2020202020202020u;
    uint64_t blank = ~(((other & low) + low) | other | low); /* the highest bit of each blank */
    if (blank >> 56 != 0 || blank == 0) {
        return 0;
    }
    unsigned bits = (unsigned)__builtin_clzll(blank);          /* a multiple of 8: from 8 to 56 */
    word = word >> (64 - bits) << (64 - bits) | zeros >> bits; /* zeros lead */
    uint64_t wrong = ((word & 0xf0f0f0f0f0f0f0f0u) ^ zeros) |
                     (((word + 0x0606060606060606u) & 0xf0f0f0f0f0f0f0f0u) ^ zeros);
    if (wrong != 0) {
        return 0;
    }
    /* Pairs of digits, of pairs, of fours: the left one of each is the lower byte. */
    word -= zeros;
    word = (word * 10 + (word >> 8)) & 0x00ff00ff00ff00ffu;
    word = (word * 100 + (word >> 16)) & 0x0000ffff0000ffffu;
    *ret = (uint32_t)(word * 10000 + (word >> 32));
    return bits / 8;
#else
    (void)text;
    (void)len;
    (void)ret;
    return 0;
#endif
}

#endif
