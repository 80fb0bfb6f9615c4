/* store_args.c: single arguments of an event. SPDX-License-Identifier: MIT */
#include "store_args.h"

#include "event_json.h"

#include <string.h>

#if defined(__SSE2__)
#    include <emmintrin.h>
#endif

/* The first place of a text of at least two bytes, or NULL. */
static const char *find_text(const char *p, const char *end, const char *text, size_t len) {
#if defined(__SSE2__)
    const __m128i first = _mm_set1_epi8(text[1]), last = _mm_set1_epi8(text[len - 1]);
    /* The second byte and the last one where they belong: few places have both. */
    for (; end - p >= (ptrdiff_t)(len + 16); p += 16) {
        __m128i a = _mm_loadu_si128((const __m128i *)(const void *)(p + 1));
        __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(p + len - 1));
        unsigned mask = (unsigned)_mm_movemask_epi8(
            _mm_and_si128(_mm_cmpeq_epi8(a, first), _mm_cmpeq_epi8(b, last)));
        for (; mask != 0; mask &= mask - 1) {
            const char *at = p + __builtin_ctz(mask);
            if (memcmp(at, text, len) == 0) {
                return at;
            }
        }
    }
#endif
    return end > p ? memmem(p, (size_t)(end - p), text, len) : NULL;
}

bool pt_args_find(pt_str_t args, const char *key, perftrace__json_slice_t *ret) {
    size_t key_len = strlen(key);
    const char *p = args.p, *end = args.p + args.len;
    while (p != NULL && p < end && (p = find_text(p, end, key, key_len)) != NULL) {
        const char *q = p + key_len;
        while (q < end && (*q == ' ' || *q == '\n' || *q == '\t' || *q == '\r')) {
            q++;
        }
        if (q < end && *q == ':' && p[-1] != '\\') {
            perftrace__json_cursor_t c;
            perftrace__json_cursor_init(&c, q + 1, (size_t)(end - q) - 1);
            return perftrace__json_next_value(&c, ret) > 0;
        }
        p = q;
    }
    return false;
}

bool pt_args_int(pt_str_t args, const char *key, int64_t *ret) {
    perftrace__json_slice_t value;
    return pt_args_find(args, key, &value) && perftrace__json_to_i64(&value, ret);
}

pt_str_t pt_args_text(pt_str_t args, const char *key) {
    perftrace__json_slice_t value;
    if (!pt_args_find(args, key, &value) || value.type != PERFTRACE__JSON_STRING ||
        value.len == 0) {
        return (pt_str_t){NULL, 0};
    }
    return pt_str_from(&value);
}
