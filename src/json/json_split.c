/* json_split.c: where a value ends, over chunks of any size. SPDX-License-Identifier: MIT
 *
 * A block of 64 bytes becomes four bit masks. Quotes that no backslash escapes are folded by a
 * prefix XOR into a mask of the bytes that lie in strings; brackets outside of it change the depth.
 */
#include "json_split.h"

#include "json_lex.h"

#define BLOCK 64

typedef struct block {
    uint64_t quote;
    uint64_t backslash;
    uint64_t open;
    uint64_t close;
} block_t;

/* The two kinds of bracket differ by this bit only, so one comparison finds both. */
#define OPEN_BYTE  '{'
#define CLOSE_BYTE '}'
#define FOLD       0x20

PT_ALWAYS_INLINE uint64_t prefix_xor_shifts(uint64_t m) {
    m ^= m << 1;
    m ^= m << 2;
    m ^= m << 4;
    m ^= m << 8;
    m ^= m << 16;
    m ^= m << 32;
    return m;
}

/* The bytes that a backslash escapes; *carry tells whether the first one is, and then whether the
 * first one of the next block is. */
PT_ALWAYS_INLINE uint64_t escaped_bytes(uint64_t backslash, bool *carry) {
    uint64_t escaped = *carry;
    *carry = false;
    backslash &= ~escaped;
    while (PT_UNLIKELY(backslash != 0)) {
        uint64_t first = backslash & (0 - backslash);
        uint64_t next = first << 1;
        escaped |= next;
        *carry = next == 0;
        backslash &= ~(first | next);
    }
    return escaped;
}

/* Goes through one block; returns how many of its bytes belong to the value, BLOCK when it goes on.
 */
PT_ALWAYS_INLINE unsigned scan_block(perftrace__json_split_t *s, const block_t *b,
                                     uint64_t (*prefix_xor)(uint64_t)) {
    uint64_t escaped = escaped_bytes(b->backslash, &s->after_backslash);
    uint64_t inside = prefix_xor(b->quote & ~escaped) ^ (s->in_string ? ~UINT64_C(0) : 0);
    uint64_t open = b->open & ~inside;
    uint64_t close = b->close & ~inside;
    s->in_string = inside >> (BLOCK - 1);
    unsigned closes = (unsigned)__builtin_popcountll(close);
    unsigned opens = (unsigned)__builtin_popcountll(open);
    if (s->depth > closes || closes == 0) {
        s->depth += opens;
        s->depth -= closes;
        return BLOCK;
    }
    for (uint64_t both = open | close; both; both &= both - 1) {
        unsigned at = (unsigned)__builtin_ctzll(both);
        if (open >> at & 1) {
            s->depth++;
        } else if (--s->depth == 0) {
            return at + 1;
        }
    }
    return BLOCK;
}

/* The loop over blocks, to be compiled for each instruction set. */
PT_ALWAYS_INLINE size_t scan_blocks(perftrace__json_split_t *s, const char *buf, size_t len,
                                    bool *ret_done, void (*classify)(const char *, block_t *),
                                    uint64_t (*prefix_xor)(uint64_t)) {
    perftrace__json_split_t state = *s;
    block_t b;
    size_t pos = 0;
    *ret_done = true;
    for (; len - pos >= BLOCK; pos += BLOCK) {
        classify(buf + pos, &b);
        unsigned used = scan_block(&state, &b, prefix_xor);
        if (used < BLOCK || state.depth == 0) {
            return pos + used;
        }
    }
    if (pos < len) {
        /* The rest, followed by bytes that mean nothing. */
        char rest[BLOCK] = {0};
        size_t left = len - pos;
        memcpy(rest, buf + pos, left);
        classify(rest, &b);
        bool escape = state.after_backslash;
        uint64_t escaped = escaped_bytes(b.backslash, &escape);
        unsigned used = scan_block(&state, &b, prefix_xor);
        if (state.depth == 0) {
            return pos + used;
        }
        state.after_backslash = escaped >> left & 1;
    }
    *ret_done = false;
    *s = state;
    return len;
}

/* ---- portable ---- */

static void classify_portable(const char *p, block_t *b) {
    b->quote = b->backslash = b->open = b->close = 0;
    for (unsigned i = 0; i < BLOCK; i++) {
        uint64_t bit = UINT64_C(1) << i;
        switch (p[i]) {
        case '"':
            b->quote |= bit;
            break;
        case '\\':
            b->backslash |= bit;
            break;
        case '{':
        case '[':
            b->open |= bit;
            break;
        case '}':
        case ']':
            b->close |= bit;
            break;
        default:
            break;
        }
    }
}

static uint64_t prefix_xor_portable(uint64_t m) {
    return prefix_xor_shifts(m);
}

static size_t blocks_portable(perftrace__json_split_t *s, const char *buf, size_t len,
                              bool *ret_done) {
    return scan_blocks(s, buf, len, ret_done, classify_portable, prefix_xor_portable);
}

typedef size_t (*blocks_fn)(perftrace__json_split_t *, const char *, size_t, bool *);

/* ---- x86 ---- */

#if defined(__SSE2__)
#    include <immintrin.h>

static inline void classify_sse2(const char *p, block_t *b) {
    const __m128i fold = _mm_set1_epi8(FOLD);
    b->quote = b->backslash = b->open = b->close = 0;
    for (unsigned i = 0; i < BLOCK; i += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
        __m128i f = _mm_or_si128(v, fold);
        b->quote |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')))
                    << i;
        b->backslash |=
            (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8('\\'))) << i;
        b->open |=
            (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(f, _mm_set1_epi8(OPEN_BYTE))) << i;
        b->close |=
            (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(f, _mm_set1_epi8(CLOSE_BYTE)))
            << i;
    }
}

static size_t blocks_sse2(perftrace__json_split_t *s, const char *buf, size_t len, bool *ret_done) {
    return scan_blocks(s, buf, len, ret_done, classify_sse2, prefix_xor_portable);
}

#    if defined(__x86_64__)
#        define PT_AVX2 __attribute__((target("avx2,pclmul,popcnt,bmi")))

PT_AVX2 static inline uint64_t mask_avx2(__m256i low, __m256i high, char byte) {
    __m256i want = _mm256_set1_epi8(byte);
    unsigned a = (unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, want));
    unsigned b = (unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, want));
    return a | (uint64_t)b << 32;
}

PT_AVX2 static inline void classify_avx2(const char *p, block_t *b) {
    const __m256i fold = _mm256_set1_epi8(FOLD);
    __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)p);
    __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(p + 32));
    b->quote = mask_avx2(low, high, '"');
    b->backslash = mask_avx2(low, high, '\\');
    low = _mm256_or_si256(low, fold);
    high = _mm256_or_si256(high, fold);
    b->open = mask_avx2(low, high, OPEN_BYTE);
    b->close = mask_avx2(low, high, CLOSE_BYTE);
}

PT_AVX2 static inline uint64_t prefix_xor_avx2(uint64_t m) {
    /* Multiplying by all ones without carries adds each bit to all above it. */
    __m128i product = _mm_clmulepi64_si128(_mm_set_epi64x(0, (long long)m), _mm_set1_epi8(-1), 0);
    return (uint64_t)_mm_cvtsi128_si64(product);
}

PT_AVX2 static size_t blocks_avx2(perftrace__json_split_t *s, const char *buf, size_t len,
                                  bool *ret_done) {
    return scan_blocks(s, buf, len, ret_done, classify_avx2, prefix_xor_avx2);
}
#    endif

/* ---- arm ---- */

#elif defined(__aarch64__) && defined(__ARM_NEON)

/* One bit a byte out of four vectors of 0x00 or 0xFF: weights within each eight, then pairwise
 * sums. */
static inline uint64_t mask_neon(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d) {
    const uint8x16_t weight = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t ab = vpaddq_u8(vandq_u8(a, weight), vandq_u8(b, weight));
    uint8x16_t cd = vpaddq_u8(vandq_u8(c, weight), vandq_u8(d, weight));
    ab = vpaddq_u8(ab, cd);
    ab = vpaddq_u8(ab, ab);
    return vgetq_lane_u64(vreinterpretq_u64_u8(ab), 0);
}

static inline void classify_neon(const char *p, block_t *b) {
    const uint8_t *u = (const uint8_t *)p;
    const uint8x16_t fold = vdupq_n_u8(FOLD);
    uint8x16_t v0 = vld1q_u8(u);
    uint8x16_t v1 = vld1q_u8(u + 16);
    uint8x16_t v2 = vld1q_u8(u + 32);
    uint8x16_t v3 = vld1q_u8(u + 48);
#    define PT_MASK(byte)                                                                          \
        mask_neon(vceqq_u8(v0, vdupq_n_u8(byte)), vceqq_u8(v1, vdupq_n_u8(byte)),                  \
                  vceqq_u8(v2, vdupq_n_u8(byte)), vceqq_u8(v3, vdupq_n_u8(byte)))
    b->quote = PT_MASK('"');
    b->backslash = PT_MASK('\\');
    v0 = vorrq_u8(v0, fold);
    v1 = vorrq_u8(v1, fold);
    v2 = vorrq_u8(v2, fold);
    v3 = vorrq_u8(v3, fold);
    b->open = PT_MASK(OPEN_BYTE);
    b->close = PT_MASK(CLOSE_BYTE);
#    undef PT_MASK
}

static size_t blocks_neon(perftrace__json_split_t *s, const char *buf, size_t len, bool *ret_done) {
    return scan_blocks(s, buf, len, ret_done, classify_neon, prefix_xor_portable);
}
#endif

/* ---- the choice ---- */

static blocks_fn best_blocks(const char **ret_name) {
#if defined(__SSE2__)
#    if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("pclmul") &&
        __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("bmi")) {
        *ret_name = "avx2";
        return blocks_avx2;
    }
#    endif
    *ret_name = "sse2";
    return blocks_sse2;
#elif defined(__aarch64__) && defined(__ARM_NEON)
    *ret_name = "neon";
    return blocks_neon;
#else
    *ret_name = "portable";
    return blocks_portable;
#endif
}

const char *perftrace__json_split_path(void) {
    const char *name;
    best_blocks(&name);
    return name;
}

static bool ends_scalar(char ch) {
    return pt_is_space(ch) || ch == ',' || ch == ':' || ch == '{' || ch == '}' || ch == '[' ||
           ch == ']' || ch == '"';
}

/* A value that is no container. */
static size_t split_plain(perftrace__json_split_t *s, const char *buf, size_t len, bool *ret_done) {
    size_t i = 0;
    if (s->scalar) {
        while (i < len && !ends_scalar(buf[i])) {
            i++;
        }
        *ret_done = i < len;
        return i;
    }
    while (i < len) {
        char ch = buf[i++];
        if (s->after_backslash) {
            s->after_backslash = false;
        } else if (ch == '\\') {
            s->after_backslash = true;
        } else if (ch == '"') {
            *ret_done = true;
            return i;
        }
    }
    *ret_done = false;
    return i;
}

static size_t split_with(blocks_fn blocks, perftrace__json_split_t *s, const char *buf, size_t len,
                         bool *ret_done) {
    size_t first = 0;
    *ret_done = false;
    if (len == 0) {
        return 0;
    }
    if (!s->started) {
        s->started = true;
        if (*buf == '"') {
            s->in_string = true;
            first = 1;
        } else {
            s->scalar = *buf != '{' && *buf != '[';
        }
    }
    size_t used;
    if (s->scalar || (s->depth == 0 && s->in_string)) {
        used = first + split_plain(s, buf + first, len - first, ret_done);
    } else {
        used = blocks(s, buf, len, ret_done);
    }
    if (*ret_done) {
        *s = (perftrace__json_split_t)PERFTRACE__JSON_SPLIT_INIT;
    }
    return used;
}

size_t perftrace__json_split(perftrace__json_split_t *s, const char *buf, size_t len,
                             bool *ret_done) {
    const char *name;
    return split_with(best_blocks(&name), s, buf, len, ret_done);
}

size_t perftrace__json_split_portable(perftrace__json_split_t *s, const char *buf, size_t len,
                                      bool *ret_done) {
    return split_with(blocks_portable, s, buf, len, ret_done);
}

size_t perftrace__json_line_end(const char *buf, size_t len, bool *ret_found) {
    const char *newline = len ? memchr(buf, '\n', len) : NULL;
    if (ret_found) {
        *ret_found = newline != NULL;
    }
    return newline ? (size_t)(newline - buf) : len;
}

size_t perftrace__json_skip_separators(const char *buf, size_t len) {
    size_t i = 0;
    while (i < len && (pt_is_space(buf[i]) || buf[i] == ',')) {
        i++;
    }
    return i;
}

const char *perftrace__json_restart(const char *p, const char *end) {
    while (p < end && (p = memchr(p, '\n', (size_t)(end - p))) != NULL) {
        const char *q = ++p;
        q += perftrace__json_skip_separators(q, (size_t)(end - q));
        if (end - q > 2 && q[0] == '{' && (q[1] == '"' || q[1] == ' ' || q[1] == '\n')) {
            return q;
        }
    }
    return NULL;
}
