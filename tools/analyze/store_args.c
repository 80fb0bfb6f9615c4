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
    const size_t reach = len + 15; /* bytes that a block of places looks at */
    /* The second byte and the last one where they belong: few places have both. What is left behind
     * whole blocks is looked through as a block that overlaps the one before. */
    for (size_t left = end > p ? (size_t)(end - p) : 0, step; left >= reach; left -= step) {
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
        if (left == reach) {
            return NULL;
        }
        step = PT_MIN(left - reach, (size_t)16);
        p += step;
    }
#endif
    return end > p ? memmem(p, (size_t)(end - p), text, len) : NULL;
}

/* Where the key's value begins: behind its next occurrence from p on that is followed by a colon.
 * NULL: there is none. A quote that is escaped begins no key. */
static const char *find_key(const char *p, const char *end, const char *key, size_t len) {
    while (p < end && (p = find_text(p, end, key, len)) != NULL) {
        const char *q = p + len;
        while (q < end && (*q == ' ' || *q == '\n' || *q == '\t' || *q == '\r')) {
            q++;
        }
        if (q < end && *q == ':' && p[-1] != '\\') {
            return q + 1;
        }
        p = q;
    }
    return NULL;
}

/* Member by member: where objects are in it, a key may be theirs. */
static bool walk(pt_args_t *args, const char *key, size_t len, perftrace__json_slice_t *ret) {
    perftrace__json_cursor_t c;
    perftrace__json_slice_t name, value;
    bool found = false;
    perftrace__json_cursor_init(&c, args->text.p, args->text.len);
    if (!perftrace__json_enter_object(&c)) {
        return false;
    }
    while (perftrace__json_next_member(&c, &name, &value) > 0) {
        if (name.len + 2 == len && memcmp(name.p, key + 1, name.len) == 0) {
            args->twice |= found;
            found = true;
            *ret = value;
        }
    }
    return found;
}

bool pt_args_find(pt_args_t *args, const char *key, perftrace__json_slice_t *ret) {
    size_t len = strlen(key);
    const char *begin = args->text.p, *end = begin + args->text.len, *value = NULL;
    if (args->text.len < len) {
        return false;
    }
    for (const char *p = begin + 1; (p = find_key(p, end, key, len)) != NULL;) {
        if (memchr(begin + 1, '{', (size_t)(p - begin) - 1) != NULL) {
            return walk(args, key, len, ret);
        }
        args->twice |= value != NULL;
        value = p;
    }
    if (value == NULL) {
        return false;
    }
    perftrace__json_cursor_t c;
    perftrace__json_cursor_init(&c, value, (size_t)(end - value));
    return perftrace__json_next_value(&c, ret) > 0;
}

bool pt_args_int(pt_args_t *args, const char *key, int64_t *ret) {
    perftrace__json_slice_t value;
    return pt_args_find(args, key, &value) && perftrace__json_to_i64(&value, ret);
}

pt_str_t pt_args_text(pt_args_t *args, const char *key) {
    perftrace__json_slice_t value;
    if (!pt_args_find(args, key, &value) || value.type != PERFTRACE__JSON_STRING ||
        value.len == 0) {
        return (pt_str_t){NULL, 0};
    }
    return pt_str_from(&value);
}
