/* json_lex.h: runs of bytes and the lexing of strings and numbers. SPDX-License-Identifier: MIT
 *
 * Only for the files of this room. The three pt_run_ functions look at 16 bytes at once and tell
 * how many of the first ones belong to a class: what they cost does not depend on the answer, so
 * short strings and numbers of changing length do not mispredict. */
#ifndef PERFTRACE_JSON_LEX_H
#define PERFTRACE_JSON_LEX_H

#include "json_scan.h"

#if defined(__SSE2__)
#    include <emmintrin.h>
#elif defined(__aarch64__) && defined(__ARM_NEON)
#    include <arm_neon.h>
#endif

/* Bytes that a pt_run_ function loads. */
#define PT_RUN 16

/* Keeps the compiler from turning the branch it stands in into arithmetic on v: a predicted branch
 * costs nothing, arithmetic would make every later byte wait for this one to be loaded. */
#define PT_KEEP_BRANCH(v) __asm__("" : "+r"(v))

#if defined(__SSE2__)

/* Leading bytes that a string holds as they are: no quote, backslash, control byte or byte >= 0x80
 * (these two are one signed comparison). */
PT_ALWAYS_INLINE unsigned pt_run_plain(const char *p) {
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i stop = _mm_or_si128(
        _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')), _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'))),
        _mm_cmplt_epi8(v, _mm_set1_epi8(0x20)));
    return (unsigned)__builtin_ctz((unsigned)_mm_movemask_epi8(stop) | 1u << PT_RUN);
}

/* A bit for each of the 16 bytes, set where it is a digit. */
PT_ALWAYS_INLINE unsigned pt_all_digits(const char *p) {
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    /* '0' to '9' become -128 to -119. */
    __m128i moved = _mm_add_epi8(v, _mm_set1_epi8((char)(0x80 - '0')));
    return (unsigned)_mm_movemask_epi8(_mm_cmplt_epi8(moved, _mm_set1_epi8(-118)));
}

PT_ALWAYS_INLINE unsigned pt_no_digits(const char *p) {
    return pt_all_digits(p) ^ 0xFFFF;
}

PT_ALWAYS_INLINE unsigned pt_run_digits(const char *p) {
    return (unsigned)__builtin_ctz(pt_no_digits(p) | 1u << PT_RUN);
}

/* Digits, one other byte, digits: *ret_first has how many stand before that byte and *ret_both how
 * many there are of both. False when they do not end within 32 bytes. */
#    define PT_TWO_RUNS 1
PT_ALWAYS_INLINE bool pt_two_runs(const char *p, size_t *ret_first, size_t *ret_both) {
    uint32_t stops = ~(pt_all_digits(p) | pt_all_digits(p + PT_RUN) << PT_RUN);
    uint32_t others = stops & (stops - 1);
    if (PT_UNLIKELY(others == 0)) {
        return false;
    }
    *ret_first = (size_t)__builtin_ctz(stops);
    *ret_both = (size_t)__builtin_ctz(others) - 1;
    return true;
}

/* The same in two steps, for a number with a fraction out of one load: the leading digits, and the
 * digits from index `from` (at most 15) on. */
typedef unsigned pt_digits_t;
PT_ALWAYS_INLINE pt_digits_t pt_digits_load(const char *p) {
    return pt_no_digits(p) | 1u << PT_RUN;
}
PT_ALWAYS_INLINE unsigned pt_digits_from(pt_digits_t digits, unsigned from) {
    return (unsigned)__builtin_ctz(digits >> from);
}

PT_ALWAYS_INLINE unsigned pt_run_space(const char *p) {
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i space = _mm_or_si128(
        _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8(' ')), _mm_cmpeq_epi8(v, _mm_set1_epi8('\n'))),
        _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('\r')),
                     _mm_cmpeq_epi8(v, _mm_set1_epi8('\t'))));
    return (unsigned)__builtin_ctz(~(unsigned)_mm_movemask_epi8(space));
}

#elif defined(__aarch64__) && defined(__ARM_NEON)

/* Index of the first byte of m that is set (0xFF), 16 when none is. */
PT_ALWAYS_INLINE unsigned pt_first_set(uint8x16_t m) {
    uint8x8_t nibbles = vshrn_n_u16(vreinterpretq_u16_u8(m), 4);
    uint64_t bits = vget_lane_u64(vreinterpret_u64_u8(nibbles), 0);
    return bits ? (unsigned)__builtin_ctzll(bits) / 4 : PT_RUN;
}

PT_ALWAYS_INLINE unsigned pt_run_plain(const char *p) {
    uint8x16_t v = vld1q_u8((const uint8_t *)p);
    uint8x16_t stop = vorrq_u8(vceqq_u8(v, vdupq_n_u8('"')), vceqq_u8(v, vdupq_n_u8('\\')));
    return pt_first_set(vorrq_u8(stop, vcltq_s8(vreinterpretq_s8_u8(v), vdupq_n_s8(0x20))));
}

PT_ALWAYS_INLINE uint64_t pt_no_digits(const char *p) {
    uint8x16_t v = vld1q_u8((const uint8_t *)p);
    uint8x16_t stop = vcgtq_u8(vsubq_u8(v, vdupq_n_u8('0')), vdupq_n_u8(9));
    return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(stop), 4)), 0);
}

PT_ALWAYS_INLINE unsigned pt_run_digits(const char *p) {
    uint64_t stop = pt_no_digits(p);
    return stop ? (unsigned)__builtin_ctzll(stop) / 4 : PT_RUN;
}

typedef uint64_t pt_digits_t;
PT_ALWAYS_INLINE pt_digits_t pt_digits_load(const char *p) {
    return pt_no_digits(p);
}
PT_ALWAYS_INLINE unsigned pt_digits_from(pt_digits_t digits, unsigned from) {
    uint64_t stop = digits >> (4 * from);
    return stop ? (unsigned)__builtin_ctzll(stop) / 4 : PT_RUN - from;
}

PT_ALWAYS_INLINE unsigned pt_run_space(const char *p) {
    uint8x16_t v = vld1q_u8((const uint8_t *)p);
    uint8x16_t space =
        vorrq_u8(vorrq_u8(vceqq_u8(v, vdupq_n_u8(' ')), vceqq_u8(v, vdupq_n_u8('\n'))),
                 vorrq_u8(vceqq_u8(v, vdupq_n_u8('\r')), vceqq_u8(v, vdupq_n_u8('\t'))));
    return pt_first_set(vmvnq_u8(space));
}

#else

PT_ALWAYS_INLINE unsigned pt_run_plain(const char *p) {
    unsigned n = 0;
    while (n < PT_RUN && (signed char)p[n] >= 0x20 && p[n] != '"' && p[n] != '\\') {
        n++;
    }
    return n;
}

PT_ALWAYS_INLINE unsigned pt_run_digits(const char *p) {
    unsigned n = 0;
    while (n < PT_RUN && p[n] >= '0' && p[n] <= '9') {
        n++;
    }
    return n;
}

typedef const char *pt_digits_t;
PT_ALWAYS_INLINE pt_digits_t pt_digits_load(const char *p) {
    return p;
}
PT_ALWAYS_INLINE unsigned pt_digits_from(pt_digits_t digits, unsigned from) {
    unsigned n = from;
    while (n < PT_RUN && digits[n] >= '0' && digits[n] <= '9') {
        n++;
    }
    return n - from;
}

PT_ALWAYS_INLINE unsigned pt_run_space(const char *p) {
    unsigned n = 0;
    while (n < PT_RUN && (p[n] == ' ' || p[n] == '\n' || p[n] == '\r' || p[n] == '\t')) {
        n++;
    }
    return n;
}

#endif

#if !defined(PT_TWO_RUNS)
PT_ALWAYS_INLINE bool pt_two_runs(const char *p, size_t *ret_first, size_t *ret_both) {
    size_t first = pt_run_digits(p);
    const char *behind = p + first + 1;
    size_t more = pt_run_digits(behind);
    more += more == PT_RUN ? pt_run_digits(behind + PT_RUN) : 0;
    *ret_first = first;
    *ret_both = first + more;
    return first + 1 + more < 2 * PT_RUN;
}
#endif

PT_ALWAYS_INLINE bool pt_is_space(char ch) {
    return ch == ' ' || ch == '\n' || ch == '\r' || ch == '\t';
}

PT_ALWAYS_INLINE bool pt_is_digit(char ch) {
    return ch >= '0' && ch <= '9';
}

PT_ALWAYS_INLINE bool pt_is_plain(char ch) {
    return (signed char)ch >= 0x20 && ch != '"' && ch != '\\';
}

/* A letter, digit, sign, point or underscore: what a number or word can be made of, well or ill
 * formed. */
PT_ALWAYS_INLINE bool pt_is_word(char ch) {
    return pt_is_digit(ch) || ((ch | 0x20) >= 'a' && (ch | 0x20) <= 'z') || ch == '+' ||
           ch == '-' || ch == '.' || ch == '_';
}

/* Four hex digits at p; -1 when they are not. */
int perftrace__json_hex4(const char *p);

/* Reads one backslash escape at p (p[0] is the backslash). Returns how many bytes it takes and sets
 * *ret_code_point; a valid surrogate pair counts as one (12 bytes). 0: unknown or cut off. A lone
 * surrogate: 6, with the surrogate itself as code point. */
unsigned perftrace__json_escape(const char *p, const char *end, uint32_t *ret_code_point);

/* Writes a code point (below 0x110000) as UTF-8; returns its length. Surrogates become U+FFFD. */
unsigned perftrace__json_put_utf8(char *out, uint32_t code_point);

/* Two strings without their quotes are the same when decoded. */
bool perftrace__json_same_string(const char *a, size_t a_len, const char *b, size_t b_len);

/* perftrace__json_read_double for all that it takes, whatever its form. */
const char *perftrace__json_read_any_double(const char *p, double *ret);

/* True when a valid number lies outside the range of a double. */
bool perftrace__json_number_is_huge(const char *p, size_t len);

#endif
