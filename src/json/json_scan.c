/* json_scan.c: the cursor over members, elements and whole values. SPDX-License-Identifier: MIT */
#include "json_scan.h"

#include "json_fast.h"
#include "json_value.h"

void perftrace__json_cursor_init(perftrace__json_cursor_t *c, const char *buf, size_t len) {
    perftrace__json_cursor_init_readable(c, buf, len, len);
}

void perftrace__json_cursor_init_readable(perftrace__json_cursor_t *c, const char *buf, size_t len,
                                          size_t readable) {
    if (!buf) {
        buf = "";
        len = readable = 0;
    }
    c->p = c->base = buf;
    c->end = buf + len;
    c->readable = buf + readable;
    c->error.code = PERFTRACE__JSON_E_OK;
    c->error.offset = 0;
    c->notes = 0;
    c->depth = 0;
    c->keys = 0;
    c->hints = NULL;
    c->closer = 0;
    c->first = false;
}

void perftrace__json_cursor_nested(perftrace__json_cursor_t *c,
                                   const perftrace__json_cursor_t *parent,
                                   const perftrace__json_slice_t *slice) {
    *c = *parent;
    c->p = slice->p;
    c->end = slice->p + slice->len;
    c->error.code = PERFTRACE__JSON_E_OK;
    c->error.offset = 0;
    c->notes = 0;
    c->closer = 0;
    c->first = false;
}

static bool enter(perftrace__json_cursor_t *c, char opener, char closer, int otherwise) {
    if (c->error.code != PERFTRACE__JSON_E_OK) {
        return false;
    }
    const char *p = pt_skip_space(c, c->p);
    if (p >= c->end) {
        bool empty = p == c->base || c->p == c->base;
        perftrace__json_fail(c, empty ? PERFTRACE__JSON_E_EMPTY : PERFTRACE__JSON_E_INCOMPLETE,
                             c->end);
        return false;
    }
    if (*p != opener) {
        perftrace__json_slice_t other;
        if (perftrace__json_value(c, p, &other)) {
            perftrace__json_fail(c, otherwise, p);
        }
        return false;
    }
    if (c->depth >= PERFTRACE__JSON_MAX_DEPTH) {
        perftrace__json_fail(c, PERFTRACE__JSON_E_TOO_DEEP, p);
        return false;
    }
    c->p = p + 1;
    c->closer = closer;
    c->first = true;
    c->depth++;
    return true;
}

bool perftrace__json_enter_object(perftrace__json_cursor_t *c) {
    return enter(c, '{', '}', PERFTRACE__JSON_E_NOT_OBJECT);
}

bool perftrace__json_enter_array(perftrace__json_cursor_t *c) {
    return enter(c, '[', ']', PERFTRACE__JSON_E_NOT_ARRAY);
}

/* Goes to the first byte of the next member or element: its address; NULL at the end (consumed) or
 * on an error. */
PT_ALWAYS_INLINE const char *next_start(perftrace__json_cursor_t *c, char closer) {
    const char *p = pt_skip_space(c, c->p);
    if (PT_UNLIKELY(p >= c->end)) {
        return perftrace__json_fail(c, PERFTRACE__JSON_E_INCOMPLETE, c->end);
    }
    if (*p == closer) {
        c->p = p + 1;
        c->closer = 0;
        c->depth--;
        return NULL;
    }
    if (c->first) {
        c->first = false;
        return p;
    }
    if (PT_UNLIKELY(*p != ',')) {
        return perftrace__json_fail_at(c, p, PERFTRACE__JSON_E_MISSING_COMMA);
    }
    const char *comma = p;
    p = pt_skip_space(c, p + 1);
    if (PT_UNLIKELY(p < c->end && (*p == '}' || *p == ']'))) {
        return perftrace__json_fail(c, PERFTRACE__JSON_E_TRAILING_COMMA, comma);
    }
    return p;
}

PT_ALWAYS_INLINE int end_or_error(const perftrace__json_cursor_t *c) {
    return c->error.code == PERFTRACE__JSON_E_OK ? 0 : -1;
}

/* Exactly, whatever it is; c is fine and inside an object. */
static PT_NOINLINE int next_member_slow(perftrace__json_cursor_t *c,
                                        perftrace__json_slice_t *ret_key,
                                        perftrace__json_slice_t *ret_value) {
    const char *p = next_start(c, '}');
    if (!p) {
        return end_or_error(c);
    }
    if (p >= c->end || *p != '"') {
        perftrace__json_fail_at(c, p, PERFTRACE__JSON_E_KEY_NOT_STRING);
        return -1;
    }
    p = perftrace__json_value_string(c, p, ret_key);
    if (!p) {
        return -1;
    }
    p = pt_skip_space(c, p);
    if (p >= c->end || *p != ':') {
        perftrace__json_fail_at(c, p, PERFTRACE__JSON_E_MISSING_COLON);
        return -1;
    }
    p = perftrace__json_value(c, pt_skip_space(c, p + 1), ret_value);
    if (!p) {
        return -1;
    }
    c->p = p;
    return 1;
}

PT_ALWAYS_INLINE void set_slice(perftrace__json_slice_t *s, const char *p, const char *end,
                                perftrace__json_type_t type) {
    s->p = p;
    s->len = (size_t)(end - p);
    s->type = type;
    s->escaped = false;
    s->notes = 0;
}

/* The value at p, short and plain; returns its end, or NULL with nothing changed. */
PT_ALWAYS_INLINE const char *fast_value(const char *p, const char *end,
                                        perftrace__json_slice_t *ret) {
    const char *stop;
    if (*p == '"') {
        stop = pt_fast_string(p + 1);
        if (PT_LIKELY(stop && stop + 1 < end)) {
            set_slice(ret, p + 1, stop, PERFTRACE__JSON_STRING);
            return stop + 1;
        }
    } else if (pt_is_digit(*p) || *p == '-') {
        stop = pt_fast_number(p);
        if (PT_LIKELY(stop && stop < end)) {
            set_slice(ret, p, stop, PERFTRACE__JSON_NUMBER);
            return stop;
        }
    }
    return NULL;
}

int perftrace__json_next_member(perftrace__json_cursor_t *c, perftrace__json_slice_t *ret_key,
                                perftrace__json_slice_t *ret_value) {
    if (PT_UNLIKELY(c->closer != '}' || c->error.code != PERFTRACE__JSON_E_OK)) {
        return end_or_error(c);
    }
    const char *p = c->p;
    if (PT_LIKELY(c->readable - p >= PT_FAST && (c->first || *p == ','))) {
        p += !c->first;
        p = pt_fast_space(p);
        uint8_t no_hint = PT_RUN;
        const char *quote = pt_fast_key(p, c->hints ? pt_hint(c->hints, c->keys) : &no_hint);
        const char *value = quote ? pt_fast_colon(quote) : NULL;
        if (PT_LIKELY(value && value < c->end)) {
            const char *stop = fast_value(value, c->end, ret_value);
            c->keys++;
            if (PT_UNLIKELY(!stop)) {
                stop = perftrace__json_value(c, value, ret_value);
                if (!stop) {
                    return -1;
                }
            }
            set_slice(ret_key, p + 1, quote, PERFTRACE__JSON_STRING);
            c->first = false;
            c->p = stop;
            return 1;
        }
    }
    return next_member_slow(c, ret_key, ret_value);
}

int perftrace__json_next_element(perftrace__json_cursor_t *c, perftrace__json_slice_t *ret_value) {
    if (PT_UNLIKELY(c->closer != ']' || c->error.code != PERFTRACE__JSON_E_OK)) {
        return end_or_error(c);
    }
    const char *p = next_start(c, ']');
    if (!p) {
        return end_or_error(c);
    }
    const char *stop = c->readable - p >= PT_FAST ? fast_value(p, c->end, ret_value) : NULL;
    if (!stop) {
        stop = perftrace__json_value(c, p, ret_value);
        if (PT_UNLIKELY(!stop)) {
            return -1;
        }
    }
    c->p = stop;
    return 1;
}

int perftrace__json_next_value(perftrace__json_cursor_t *c, perftrace__json_slice_t *ret_value) {
    if (c->closer != 0 || c->error.code != PERFTRACE__JSON_E_OK) {
        return end_or_error(c);
    }
    const char *p = pt_skip_space(c, c->p);
    if (p >= c->end) {
        c->p = c->end;
        return 0;
    }
    p = perftrace__json_value(c, p, ret_value);
    if (!p) {
        return -1;
    }
    c->p = p;
    return 1;
}

bool perftrace__json_at_end(perftrace__json_cursor_t *c) {
    if (c->error.code != PERFTRACE__JSON_E_OK) {
        return false;
    }
    const char *p = pt_skip_space(c, c->p);
    if (p >= c->end) {
        c->p = c->end;
        return true;
    }
    int code = PERFTRACE__JSON_E_TRAILING_BYTES;
    if (*p == '\0') {
        code = PERFTRACE__JSON_E_NUL_BYTE;
    } else if (*p == '/' && c->end - p > 1 && (p[1] == '/' || p[1] == '*')) {
        code = PERFTRACE__JSON_E_COMMENT;
    }
    perftrace__json_fail(c, code, p);
    return false;
}

bool perftrace__json_check(const char *buf, size_t len, perftrace__json_error_t *ret_error,
                           unsigned *ret_notes) {
    perftrace__json_cursor_t c;
    perftrace__json_slice_t value;
    perftrace__json_cursor_init(&c, buf, len);
    int got = perftrace__json_next_value(&c, &value);
    if (got == 0) {
        perftrace__json_fail(&c, PERFTRACE__JSON_E_EMPTY, c.end);
    } else if (got > 0) {
        perftrace__json_at_end(&c);
    }
    if (ret_error) {
        *ret_error = c.error;
    }
    if (ret_notes) {
        *ret_notes = c.notes;
    }
    return c.error.code == PERFTRACE__JSON_E_OK;
}
