/* json_repair.c: damaged but recognisable JSON to strict JSON. SPDX-License-Identifier: MIT
 *
 * One pass with an explicit stack. Output is written as the input is read; only duplicate keys
 * change what has been written, when their object closes. */
#include "json_repair.h"

#include "json_lex.h"
#include "json_mend.h"
#include "json_split.h"
#include "json_value.h"

#include <stdlib.h>

#define TOO_DEEP_TEXT "\"\xE2\x80\xA6(nested too deep)\""

/* Objects with more members than this are not searched for duplicates: the search is quadratic. */
#define MEMBERS_COMPARED 256

/* A member of an object that is still open, by its places in the output. */
typedef struct member {
    size_t start; /* the key's opening quote */
    size_t key_len;
    bool key_escaped;
    bool dropped;
} member_t;

typedef struct level {
    size_t first_member; /* index of the object's first member */
    bool object;
} level_t;

typedef struct repair {
    perftrace__json_mend_t m;
    unsigned depth;
    level_t levels[PERFTRACE__JSON_MAX_DEPTH];
    member_t *members;
    size_t member_count, member_cap;
} repair_t;

const char *perftrace__json_repair_text(unsigned index) {
    static const char *const texts[] = {
#define TEXT(name, text) text,
        PERFTRACE__JSON_REPAIR_LIST(TEXT)
#undef TEXT
    };
    return index < PT_ARRAY_LEN(texts) ? texts[index] : "";
}

static const char *skip_space(const repair_t *r, const char *p) {
    return pt_skip_space(&r->m.c, p);
}

/* ---- members and levels ---- */

static bool add_member(repair_t *r, size_t start) {
    if (r->member_count == r->member_cap) {
        size_t cap = r->member_cap ? r->member_cap * 2 : 32;
        member_t *grown = realloc(r->members, cap * sizeof(*grown));
        if (!grown) {
            r->m.out->failed = true;
            return false;
        }
        r->members = grown;
        r->member_cap = cap;
    }
    member_t *m = &r->members[r->member_count++];
    m->start = start;
    m->key_len = 0;
    m->key_escaped = false;
    m->dropped = false;
    return true;
}

static bool same_key(const repair_t *r, const member_t *a, const member_t *b) {
    const char *base = r->m.out->data + 1; /* behind the quote */
    if (!a->key_escaped && !b->key_escaped) {
        return a->key_len == b->key_len &&
               memcmp(base + a->start, base + b->start, a->key_len) == 0;
    }
    return perftrace__json_same_string(base + a->start, a->key_len, base + b->start, b->key_len);
}

/* Removes all but the last of equal keys from the object that closes now. */
static void drop_duplicates(repair_t *r, size_t first) {
    size_t n = r->member_count - first;
    size_t dropped = 0;
    if (n < 2 || n > MEMBERS_COMPARED || r->m.out->failed) {
        return;
    }
    member_t *m = r->members + first;
    for (size_t i = 0; i + 1 < n; i++) {
        for (size_t j = i + 1; j < n && !m[i].dropped; j++) {
            m[i].dropped = same_key(r, &m[i], &m[j]);
        }
        dropped += m[i].dropped;
    }
    if (dropped == 0) {
        return;
    }
    /* A dropped member is never the last one: it goes with the comma behind it. */
    char *data = r->m.out->data;
    size_t to = m[0].start;
    for (size_t i = 0; i < n; i++) {
        size_t end = i + 1 < n ? m[i + 1].start : r->m.out->len;
        if (!m[i].dropped) {
            memmove(data + to, data + m[i].start, end - m[i].start);
            to += end - m[i].start;
        }
    }
    r->m.out->len = to;
    data[to] = 0;
    r->m.done |= PERFTRACE__JSON_REPAIR_DUPLICATE_KEY;
}

static void open_level(repair_t *r, bool object) {
    r->levels[r->depth].object = object;
    r->levels[r->depth].first_member = r->member_count;
    r->depth++;
    perftrace__strbuf_putc(r->m.out, object ? '{' : '[');
}

static void close_level(repair_t *r) {
    const level_t *l = &r->levels[--r->depth];
    if (l->object) {
        drop_duplicates(r, l->first_member);
        r->member_count = l->first_member;
    }
    perftrace__strbuf_putc(r->m.out, l->object ? '}' : ']');
}

/* A container that must not be opened any more; p is its bracket. */
static const char *replace_deep(repair_t *r, const char *p) {
    perftrace__json_split_t s = PERFTRACE__JSON_SPLIT_INIT;
    bool done;
    size_t len = perftrace__json_split(&s, p, (size_t)(r->m.c.end - p), &done);
    if (!done) {
        return perftrace__json_fail(&r->m.c, PERFTRACE__JSON_E_INCOMPLETE, r->m.c.end);
    }
    perftrace__strbuf_puts(r->m.out, TOO_DEEP_TEXT);
    r->m.done |= PERFTRACE__JSON_REPAIR_TOO_DEEP;
    return p + len;
}

/* A key with its colon; p is the first byte. */
static const char *put_key(repair_t *r, const char *p) {
    if (p >= r->m.c.end || *p != '"') {
        return perftrace__json_fail_at(&r->m.c, p, PERFTRACE__JSON_E_KEY_NOT_STRING);
    }
    size_t start = r->m.out->len;
    if (!add_member(r, start)) {
        return perftrace__json_fail(&r->m.c, PERFTRACE__JSON_E_NO_MEMORY, p);
    }
    p = perftrace__json_mend_string(&r->m, p);
    if (!p) {
        return NULL;
    }
    if (!r->m.out->failed) {
        member_t *m = &r->members[r->member_count - 1];
        m->key_len = r->m.out->len - start - 2;
        m->key_escaped = memchr(r->m.out->data + start, '\\', r->m.out->len - start) != NULL;
    }
    p = skip_space(r, p);
    if (p >= r->m.c.end || *p != ':') {
        return perftrace__json_fail_at(&r->m.c, p, PERFTRACE__JSON_E_MISSING_COLON);
    }
    perftrace__strbuf_append(r->m.out, ": ", 2);
    return skip_space(r, p + 1);
}

/* One value that opens no level here; p is its first byte. */
static const char *put_leaf(repair_t *r, const char *p) {
    if (p >= r->m.c.end) {
        return perftrace__json_fail(&r->m.c, PERFTRACE__JSON_E_INCOMPLETE, r->m.c.end);
    }
    if (*p == '"') {
        return perftrace__json_mend_string(&r->m, p);
    }
    if (*p == '{' || *p == '[') {
        return replace_deep(r, p);
    }
    return perftrace__json_mend_scalar(&r->m, p);
}

/* The value at p with all that lies in it. */
static const char *put_value(repair_t *r, const char *p) {
    do {
        /* p is where a value begins. */
        if (p < r->m.c.end && (*p == '{' || *p == '[') && r->depth < PERFTRACE__JSON_MAX_DEPTH) {
            open_level(r, *p == '{');
            p = skip_space(r, p + 1);
            if (p >= r->m.c.end || *p != (r->levels[r->depth - 1].object ? '}' : ']')) {
                if (r->levels[r->depth - 1].object) {
                    p = put_key(r, p);
                }
                continue;
            }
        } else {
            p = put_leaf(r, p);
        }
        /* p is behind a value, or at the bracket that closes an empty container. */
        while (p && r->depth > 0) {
            bool object = r->levels[r->depth - 1].object;
            p = skip_space(r, p);
            bool comma = p < r->m.c.end && *p == ',';
            const char *next = comma ? skip_space(r, p + 1) : p;
            if (next < r->m.c.end && *next == (object ? '}' : ']')) {
                r->m.done |= comma ? PERFTRACE__JSON_REPAIR_TRAILING_COMMA : 0u;
                close_level(r);
                p = next + 1;
                continue;
            }
            if (!comma) {
                return perftrace__json_fail_at(&r->m.c, p, PERFTRACE__JSON_E_MISSING_COMMA);
            }
            perftrace__strbuf_append(r->m.out, ", ", 2);
            p = object ? put_key(r, next) : next;
            break;
        }
    } while (p && r->depth > 0);
    return p;
}

/* What may stand in front of a value and is no part of it. */
static const char *skip_front(repair_t *r) {
    const char *p = r->m.c.p;
    for (;;) {
        p = skip_space(r, p);
        if (p < r->m.c.end && *p == '\0') {
            p++;
            r->m.done |= PERFTRACE__JSON_REPAIR_NUL_BLOCK;
        } else if (r->m.c.end - p >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0) {
            p += 3;
            r->m.done |= PERFTRACE__JSON_REPAIR_BYTE_ORDER_MARK;
        } else {
            return p;
        }
    }
}

static void note_rest(repair_t *r, const char *p) {
    p = skip_space(r, p);
    if (p == r->m.c.end) {
        return;
    }
    bool comment = *p == '#' || (*p == '/' && r->m.c.end - p > 1 && (p[1] == '/' || p[1] == '*'));
    r->m.done |= comment ? PERFTRACE__JSON_REPAIR_COMMENT : PERFTRACE__JSON_REPAIR_TRAILING_BYTES;
}

bool perftrace__json_repair(const char *buf, size_t len, perftrace__strbuf_t *out,
                            unsigned *ret_repairs, size_t *ret_used,
                            perftrace__json_error_t *ret_error) {
    repair_t r;
    size_t before = out->len;
    perftrace__json_cursor_init(&r.m.c, buf, len);
    r.m.out = out;
    r.m.done = 0;
    r.depth = 0;
    r.members = NULL;
    r.member_count = r.member_cap = 0;

    const char *p = skip_front(&r);
    if (p == r.m.c.end) {
        perftrace__json_fail(&r.m.c, PERFTRACE__JSON_E_EMPTY, p);
    } else {
        p = put_value(&r, p);
        if (p && !out->failed) {
            note_rest(&r, p);
        }
    }
    if (out->failed) {
        r.m.c.error.code = PERFTRACE__JSON_E_NO_MEMORY;
    }
    free(r.members);
    bool good = r.m.c.error.code == PERFTRACE__JSON_E_OK;
    if (!good && out->len > before) {
        out->len = before;
        out->data[before] = 0;
    }
    *ret_repairs = good ? r.m.done : 0;
    if (ret_used) {
        *ret_used = good ? (size_t)(p - r.m.c.base) : 0;
    }
    if (ret_error) {
        *ret_error = r.m.c.error;
    }
    return good;
}
