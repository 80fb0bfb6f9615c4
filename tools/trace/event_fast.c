/* event_fast.c: lines in the layout of our own writer. SPDX-License-Identifier: MIT
 *
 * Texts are compared without a look at the end of the line: bytes behind it are readable, and what
 * ran past the end is found out by comparing the final position with it. */
#include "event_fast.h"

#include "plain_text.h"

#include <string.h>

/* Steps over a literal or gives up. */
#define TAKE(p, literal)                                                                           \
    do {                                                                                           \
        if (memcmp((p), "" literal, sizeof(literal) - 1) != 0) {                                   \
            return NULL;                                                                           \
        }                                                                                          \
        (p) += sizeof(literal) - 1;                                                                \
    } while (0)

#define AT(p, literal) PT_PLAIN_AT((p), literal)

const char *pt_line_end(const char *p, const char *end, bool *ret_plain) {
    *ret_plain = true;
#if defined(__SSE2__)
    const __m128i blank = _mm_set1_epi8(0x20), backslash = _mm_set1_epi8('\\');
    while (p < end) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        /* The signed comparison takes bytes above 0x7F along. */
        __m128i odd = _mm_or_si128(_mm_cmplt_epi8(v, blank), _mm_cmpeq_epi8(v, backslash));
        unsigned mask = (unsigned)_mm_movemask_epi8(odd);
        if (mask != 0) {
            p += __builtin_ctz(mask);
            break;
        }
        p += 16;
    }
#else
    while (p < end && (signed char)*p >= 0x20 && *p != '\\') {
        p++;
    }
#endif
    if (p >= end) {
        return end;
    }
    if (*p != '\n') {
        *ret_plain = false;
        p = memchr(p, '\n', (size_t)(end - p));
    }
    return p != NULL ? p : end;
}

/* A value of args that holds no other values. */
PT_ALWAYS_INLINE const char *take_scalar(const char *p, const char *end, unsigned *has) {
    if (*p == '"') {
        *has &= ~(unsigned)PT_EVENT_ARGS_NUMERIC;
        return pt_plain_quote(p + 1, end) + 1;
    }
    if (*p == '-' || pt_plain_digit(*p)) {
        return pt_plain_number(p);
    }
    *has &= ~(unsigned)PT_EVENT_ARGS_NUMERIC;
    if (AT(p, "true") || AT(p, "null")) {
        return p + 4;
    }
    return AT(p, "false") ? p + 5 : NULL;
}

/* Whether a key of args (from `start`) stands in it once more before `key`. */
static PT_COLD bool is_twin(const char *start, const char *key, size_t len) {
    for (const char *p = start; p < key - 1; p++) {
        if (p[0] == '"' && (size_t)(key - p) > len + 2 && memcmp(p + 1, key, len + 1) == 0) {
            return true;
        }
    }
    return false;
}

/* The args object at p (behind its opening brace); the place behind its closing one. */
PT_ALWAYS_INLINE const char *take_args(const char *p, const char *end, unsigned *has) {
    const char *start = p;
    uint64_t seen = 0; /* a bit for a hash of each key */
    *has |= PT_EVENT_ARGS_NUMERIC;
    if (*p == '}') {
        return p + 1;
    }
    for (;;) {
        if (p >= end || *p != '"') {
            return NULL;
        }
        const char *key = p + 1;
        p = pt_plain_quote(key, end);
        if (p - key == 11 && (AT(key, "correlation") || AT(key, "External id"))) {
            *has |= PT_EVENT_ARGS_LINKS;
        }
        if (p >= end || p[1] != ':' || p[2] != ' ') {
            return NULL;
        }
        uint64_t bit = UINT64_C(1) << (((size_t)(p - key) * 5 + (unsigned char)key[0] +
                                        (size_t)(unsigned char)p[-1] * 3) &
                                       63);
        if (PT_UNLIKELY((seen & bit) != 0) && is_twin(start, key, (size_t)(p - key))) {
            return NULL;
        }
        seen |= bit;
        p = take_scalar(p + 3, end, has);
        if (p == NULL || p >= end) {
            return NULL;
        }
        if (*p == '}') {
            return p + 1;
        }
        if (p[0] != ',' || p[1] != ' ') {
            return NULL;
        }
        p += 2;
    }
}

/* An integer of at most 18 digits without leading zeros or a sign. */
PT_ALWAYS_INLINE const char *take_int(const char *p, pt_ident_t *ret) {
    const char *start = p;
    p = *p == '-' ? NULL : pt_plain_int(p, &ret->num);
    if (p != NULL) {
        ret->kind = PT_IDENT_INT;
        ret->text = (pt_str_t){start, (size_t)(p - start)};
    }
    return p;
}

/* The members behind tid. */
PT_ALWAYS_INLINE const char *take_rest(const char *p, const char *end, pt_event_t *ev) {
    const char *value;
    while (p < end && *p == ',') {
        if (AT(p, ", \"cat\": \"") && ev->cat.len == 0) {
            value = p + 9;
            p = pt_plain_quote(value + 1, end) + 1;
            ev->cat = (pt_str_t){value, (size_t)(p - value)};
        } else if (AT(p, ", \"args\": {") && ev->args.len == 0) {
            value = p + 10;
            p = take_args(value + 1, end, &ev->has);
            if (p == NULL) {
                return NULL;
            }
            ev->args = (pt_str_t){value, (size_t)(p - value)};
        } else if (AT(p, ", \"s\": \"") && ev->s.len == 0 && p[8] != '"' && p[9] == '"') {
            ev->s = (pt_str_t){p + 7, 3};
            p += 10;
        } else if (AT(p, ", \"bp\": \"e\"") && ev->bp.len == 0) {
            ev->bp = (pt_str_t){p + 8, 3};
            p += 11;
            ev->has &= ~(unsigned)PT_EVENT_VERBATIM;
        } else if (AT(p, ", \"id\": ") && ev->id.len == 0) {
            pt_ident_t id;
            value = p + 8;
            p = *value == '"' ? pt_plain_quote(value + 1, end) + 1 : take_int(value, &id);
            if (p == NULL) {
                return NULL;
            }
            ev->id = (pt_str_t){value, (size_t)(p - value)};
            ev->has &= ~(unsigned)PT_EVENT_VERBATIM;
        } else {
            return NULL;
        }
    }
    return p;
}

/* The phases that our writer uses, as bits from '@' on. */
PT_ALWAYS_INLINE bool is_fast_phase(char ph) {
#define BIT(c) (UINT64_C(1) << ((c) - '@'))
    const uint64_t known = BIT('X') | BIT('i') | BIT('C') | BIT('s') | BIT('t') | BIT('f') |
                           BIT('b') | BIT('n') | BIT('e');
#undef BIT
    return ph >= '@' && (known >> (ph - '@') & 1) != 0;
}

static const char *read_line(const char *p, const char *end, pt_event_t *ev) {
    const char *start = p;
    TAKE(p, "{\"name\": \"");
    ev->name.p = p - 1;
    p = pt_plain_quote(p, end) + 1;
    ev->name.len = (size_t)(p - ev->name.p);
    TAKE(p, ", \"ph\": \"");
    ev->ph = p[0];
    if (!is_fast_phase(ev->ph)) {
        return NULL;
    }
    p++;
    TAKE(p, "\", \"ts\": ");
    ev->head = (pt_str_t){start, (size_t)(p - start)};
    p = pt_plain_time(p, &ev->ts);
    if (p == NULL) {
        return NULL;
    }
    ev->has = PT_EVENT_HAS_TS | PT_EVENT_VERBATIM;
    if (ev->ph == 'X') {
        TAKE(p, ", \"dur\": ");
        ev->dur_text.p = p;
        p = pt_plain_time(p, &ev->dur);
        if (p == NULL || ev->dur == 0) {
            return NULL;
        }
        ev->dur_text.len = (size_t)(p - ev->dur_text.p);
        ev->has |= PT_EVENT_HAS_DUR;
    }
    TAKE(p, ", \"pid\": ");
    p = take_int(p, &ev->pid);
    if (p == NULL) {
        return NULL;
    }
    TAKE(p, ", \"tid\": ");
    p = take_int(p, &ev->tid);
    if (p == NULL) {
        return NULL;
    }
    ev->tail.p = p;
    p = take_rest(p, end, ev);
    if (p == NULL || *p != '}') {
        return NULL;
    }
    p++;
    ev->tail.len = (size_t)(p - ev->tail.p);
    return p;
}

bool pt_event_read_fast(const char *p, const char *end, pt_event_t *ret_event) {
    static const pt_str_t none = {NULL, 0};
    ret_event->cat = ret_event->args = ret_event->id = ret_event->id2 = none;
    ret_event->scope = ret_event->bp = ret_event->s = ret_event->bind_id = ret_event->rest = none;
    ret_event->dur_text = none;
    return read_line(p, end, ret_event) == end;
}
