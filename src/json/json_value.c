/* json_value.c: skipping one value, validated. SPDX-License-Identifier: MIT
 *
 * The inner loop of every tool. A string or number costs a few vector operations over 16 bytes, the
 * rest is a state machine with an explicit stack of one bit a level. */
#include "json_value.h"

#include "json_fast.h"

/* ---- containers ---- */

/* One bit a level: set for an object. */
typedef struct levels {
    uint64_t bits[(PERFTRACE__JSON_MAX_DEPTH + 63) / 64];
    unsigned depth;
    unsigned limit;
} levels_t;

PT_ALWAYS_INLINE bool push_level(levels_t *l, bool object) {
    if (l->depth >= l->limit) {
        return false;
    }
    uint64_t bit = (uint64_t)1 << (l->depth % 64);
    uint64_t *word = &l->bits[l->depth / 64];
    *word = object ? *word | bit : *word & ~bit;
    l->depth++;
    return true;
}

PT_ALWAYS_INLINE bool in_object(const levels_t *l) {
    return l->bits[(l->depth - 1) / 64] >> ((l->depth - 1) % 64) & 1;
}

/* A key and its colon, exactly; returns the first byte of the value, or NULL. */
static PT_NOINLINE const char *skip_key(perftrace__json_cursor_t *c, const char *p,
                                        unsigned *notes) {
    if (p >= c->end || *p != '"') {
        return perftrace__json_fail_at(c, p, PERFTRACE__JSON_E_KEY_NOT_STRING);
    }
    p = perftrace__json_token_string(c, p + 1, notes);
    if (!p) {
        return NULL;
    }
    p = pt_skip_space(c, p + 1);
    if (p >= c->end || *p != ':') {
        return perftrace__json_fail_at(c, p, PERFTRACE__JSON_E_MISSING_COLON);
    }
    return pt_skip_space(c, p + 1);
}

/* White space from p on, with the vector path where it may be taken. */
PT_ALWAYS_INLINE const char *skip_some_space(const perftrace__json_cursor_t *c, const char *p) {
    if (PT_LIKELY(c->readable - p >= PT_FAST)) {
        p = pt_fast_space(p);
        if (PT_LIKELY((unsigned char)*p > ' ')) {
            return p;
        }
    }
    return pt_skip_space(c, p);
}

/* Objects this deep in a container are taken as records of one kind, whose keys are counted from
 * the start: the events of a trace lie in an array, which may lie in an object. */
#define EVENT_DEPTH 2

/* p is an opening bracket; returns the byte after its partner, or NULL. Anything short and plain
 * goes the fast way; what does not, or what that way found behind the end of the text, goes the
 * exact one. */
static const char *skip_container(perftrace__json_cursor_t *c, const char *p, unsigned *notes) {
    const char *end = c->end;
    const char *next;
    levels_t l = {{0}, 0, 0};
    perftrace__json_type_t type;
    l.limit = c->depth < PERFTRACE__JSON_MAX_DEPTH ? PERFTRACE__JSON_MAX_DEPTH - c->depth : 0;
    bool object = *p == '{';
    perftrace__json_hints_t own = {{0}};
    perftrace__json_hints_t *hints = c->hints ? c->hints : &own;
    unsigned keys = c->keys;
open:
    if (PT_UNLIKELY(!push_level(&l, object))) {
        return perftrace__json_fail(c, PERFTRACE__JSON_E_TOO_DEEP, p);
    }
    p = skip_some_space(c, p + 1);
    if (p < end && *p == (object ? '}' : ']')) {
        goto close;
    }
    if (!object) {
        goto value;
    }
key:
    next = NULL;
    if (PT_LIKELY(c->readable - p >= PT_FAST)) {
        next = pt_fast_key(p, pt_hint(hints, keys++));
        next = next ? pt_fast_colon(next) : NULL;
    }
    if (PT_UNLIKELY(!next || next >= end)) {
        next = skip_key(c, p, notes);
        if (!next) {
            return NULL;
        }
    }
    p = next;
value:
    next = NULL;
    if (PT_LIKELY(c->readable - p >= PT_FAST)) {
        if (*p == '"') {
            next = pt_fast_string(p + 1);
            next = next ? next + 1 : NULL;
        } else if (pt_is_digit(*p) || *p == '-') {
            next = pt_fast_number(p);
        }
    }
    if (PT_UNLIKELY(!next || next >= end)) {
        if (p < end && (*p == '{' || *p == '[')) {
            object = *p == '{';
            if (object && l.depth <= EVENT_DEPTH) {
                keys = c->keys;
            }
            goto open;
        }
        next = perftrace__json_token_scalar(c, p, &type, notes);
        if (!next) {
            return NULL;
        }
    }
    p = next;
after:
    if (p >= end || PT_UNLIKELY((unsigned char)*p <= ' ')) {
        p = skip_some_space(c, p);
        if (PT_UNLIKELY(p >= end)) {
            return perftrace__json_fail(c, PERFTRACE__JSON_E_INCOMPLETE, end);
        }
    }
    if (*p == ',') {
        next = p;
        p = skip_some_space(c, p + 1);
        if (PT_UNLIKELY((p < end && (*p == '}' || *p == ']')))) {
            return perftrace__json_fail(c, PERFTRACE__JSON_E_TRAILING_COMMA, next);
        }
        if (object) {
            goto key;
        }
        goto value;
    }
    if (PT_UNLIKELY(*p != (object ? '}' : ']'))) {
        return perftrace__json_fail_at(c, p, PERFTRACE__JSON_E_MISSING_COMMA);
    }
close:
    p++;
    if (--l.depth == 0) {
        return p;
    }
    object = in_object(&l);
    goto after;
}

/* ---- one value ---- */

const char *perftrace__json_value_string(perftrace__json_cursor_t *c, const char *p,
                                         perftrace__json_slice_t *ret) {
    unsigned notes = 0;
    const char *close = perftrace__json_token_string(c, p + 1, &notes);
    if (PT_UNLIKELY(!close)) {
        return NULL;
    }
    ret->p = p + 1;
    ret->len = (size_t)(close - p - 1);
    ret->type = PERFTRACE__JSON_STRING;
    ret->escaped = (notes & PERFTRACE__JSON_NOTE_ESCAPE) != 0;
    ret->notes = (uint16_t)notes;
    c->notes |= notes;
    return close + 1;
}

const char *perftrace__json_value(perftrace__json_cursor_t *c, const char *p,
                                  perftrace__json_slice_t *ret) {
    unsigned notes = 0;
    const char *stop;
    if (p < c->end && *p == '"') {
        return perftrace__json_value_string(c, p, ret);
    }
    if (p < c->end && (*p == '{' || *p == '[')) {
        ret->type = *p == '{' ? PERFTRACE__JSON_OBJECT : PERFTRACE__JSON_ARRAY;
        stop = skip_container(c, p, &notes);
    } else {
        stop = perftrace__json_token_scalar(c, p, &ret->type, &notes);
    }
    if (PT_UNLIKELY(!stop)) {
        return NULL;
    }
    ret->p = p;
    ret->len = (size_t)(stop - p);
    ret->escaped = false;
    ret->notes = (uint16_t)notes;
    c->notes |= notes;
    return stop;
}
