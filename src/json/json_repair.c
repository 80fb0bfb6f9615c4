/* json_repair.c: damaged but recognisable JSON to strict JSON. SPDX-License-Identifier: MIT
 *
 * One pass with an explicit stack. Output is written as the input is read; only duplicate keys
 * change what has been written, when their object closes. */
#include "json_repair.h"

#include "json_lex.h"
#include "json_split.h"
#include "json_value.h"
#include "utf8.h"

#include <stdlib.h>

#define REPLACEMENT   "\xEF\xBF\xBD"
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
    perftrace__json_cursor_t c; /* for its text, its end and its error */
    perftrace__strbuf_t *out;
    unsigned done; /* PERFTRACE__JSON_REPAIR_ bits */
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
    return pt_skip_space(&r->c, p);
}

/* ---- strings ---- */

static void put_control(repair_t *r, unsigned char ch) {
    switch (ch) {
    case '\n':
        perftrace__strbuf_append(r->out, "\\n", 2);
        break;
    case '\r':
        perftrace__strbuf_append(r->out, "\\r", 2);
        break;
    case '\t':
        perftrace__strbuf_append(r->out, "\\t", 2);
        break;
    default:
        perftrace__strbuf_printf(r->out, "\\u%04x", (unsigned)ch);
        break;
    }
    r->done |= PERFTRACE__JSON_REPAIR_CONTROL_BYTE;
}

/* The escape at p; returns its end, or NULL when the text ends in it. */
static const char *put_escape(repair_t *r, const char *p) {
    uint32_t cp;
    if (r->c.end - p < 2) {
        return perftrace__json_fail(&r->c, PERFTRACE__JSON_E_UNTERMINATED_STRING, r->c.end);
    }
    unsigned used = perftrace__json_escape(p, r->c.end, &cp);
    if (used == 0) {
        perftrace__strbuf_append(r->out, "\\\\", 2);
        r->done |= PERFTRACE__JSON_REPAIR_BAD_ESCAPE;
        return p + 1;
    }
    if (cp >= 0xD800 && cp <= 0xDFFF) {
        perftrace__strbuf_append(r->out, REPLACEMENT, 3);
        r->done |= PERFTRACE__JSON_REPAIR_LONE_SURROGATE;
    } else if (used == 12) {
        char utf8[4];
        perftrace__strbuf_append(r->out, utf8, perftrace__json_put_utf8(utf8, cp));
        r->done |= PERFTRACE__JSON_REPAIR_PAIR_ESCAPE;
    } else {
        perftrace__strbuf_append(r->out, p, used);
    }
    return p + used;
}

static const char *put_non_ascii(repair_t *r, const char *p) {
    const unsigned char *u = (const unsigned char *)p;
    size_t left = (size_t)(r->c.end - p);
    unsigned n = perftrace__utf8_sequence(u, left);
    if (n > 0) {
        perftrace__strbuf_append(r->out, p, n);
        return p + n;
    }
    perftrace__strbuf_append(r->out, REPLACEMENT, 3);
    r->done |= PERFTRACE__JSON_REPAIR_BAD_UTF8;
    return p + perftrace__utf8_bad_prefix(u, left);
}

/* p is the opening quote; returns the byte after the closing one, or NULL. */
static const char *put_string(repair_t *r, const char *p) {
    const char *end = r->c.end;
    perftrace__strbuf_putc(r->out, '"');
    p++;
    while (p && p < end) {
        const char *run = p;
        while (p < end && pt_is_plain(*p)) {
            p++;
        }
        perftrace__strbuf_append(r->out, run, (size_t)(p - run));
        if (p == end) {
            break;
        }
        if (*p == '"') {
            perftrace__strbuf_putc(r->out, '"');
            return p + 1;
        }
        if (*p == '\\') {
            p = put_escape(r, p);
        } else if ((unsigned char)*p >= 0x80) {
            p = put_non_ascii(r, p);
        } else {
            put_control(r, (unsigned char)*p++);
        }
    }
    return perftrace__json_fail(&r->c, PERFTRACE__JSON_E_UNTERMINATED_STRING, end);
}

/* ---- numbers and words ---- */

static bool same_word(const char *p, size_t len, const char *lower) {
    if (len != strlen(lower)) {
        return false;
    }
    for (size_t i = 0; i < len; i++) {
        if ((p[i] | 0x20) != lower[i]) {
            return false;
        }
    }
    return true;
}

/* A word, with the sign cut off; false when it is none that has a meaning. */
static bool put_word(repair_t *r, const char *p, size_t len, bool negative, bool sign) {
    static const struct {
        const char *lower, *strict;
    } words[] = {{"true", "true"}, {"false", "false"}, {"null", "null"}, {"none", "null"}};
    if (same_word(p, len, "nan")) {
        perftrace__strbuf_puts(r->out, "\"NaN\"");
        r->done |= PERFTRACE__JSON_REPAIR_NONFINITE;
        return true;
    }
    if (same_word(p, len, "inf") || same_word(p, len, "infinity")) {
        perftrace__strbuf_puts(r->out, negative ? "\"-Infinity\"" : "\"Infinity\"");
        r->done |= PERFTRACE__JSON_REPAIR_NONFINITE;
        return true;
    }
    for (size_t i = 0; i < PT_ARRAY_LEN(words) && !sign; i++) {
        if (same_word(p, len, words[i].lower)) {
            perftrace__strbuf_puts(r->out, words[i].strict);
            if (memcmp(p, words[i].strict, len) != 0) {
                r->done |= PERFTRACE__JSON_REPAIR_PYTHON_WORD;
            }
            return true;
        }
    }
    return false;
}

static size_t digit_run(const char *p, const char *end) {
    const char *from = p;
    while (p < end && pt_is_digit(*p)) {
        p++;
    }
    return (size_t)(p - from);
}

/* An unsigned number in a form that others write (007, .5, 5., 1.e3); false when it is none. */
static bool put_odd_number(repair_t *r, const char *p, size_t len) {
    const char *end = p + len;
    size_t whole = digit_run(p, end);
    const char *fraction = p + whole;
    size_t decimals = 0;
    const char *q = fraction;
    if (q < end && *q == '.') {
        fraction = q + 1;
        decimals = digit_run(fraction, end);
        q = fraction + decimals;
    }
    const char *exponent = q;
    if (q < end && (*q | 0x20) == 'e') {
        q++;
        q += q < end && (*q == '+' || *q == '-');
        size_t n = digit_run(q, end);
        if (n == 0) {
            return false;
        }
        q += n;
    }
    if (q != end || whole + decimals == 0) {
        return false;
    }
    while (whole > 1 && *p == '0') {
        p++;
        whole--;
    }
    if (whole == 0) {
        perftrace__strbuf_putc(r->out, '0');
    }
    perftrace__strbuf_append(r->out, p, whole);
    if (decimals > 0) {
        perftrace__strbuf_putc(r->out, '.');
        perftrace__strbuf_append(r->out, fraction, decimals);
    }
    perftrace__strbuf_append(r->out, exponent, (size_t)(end - exponent));
    r->done |= PERFTRACE__JSON_REPAIR_NUMBER_FORM;
    return true;
}

/* Puts quotes around the number written from `start` on when no double can hold it. */
static void quote_if_huge(repair_t *r, size_t start) {
    perftrace__strbuf_t *out = r->out;
    if (out->failed || !perftrace__json_number_is_huge(out->data + start, out->len - start)) {
        return;
    }
    perftrace__strbuf_append(out, "\"\"", 2);
    if (!out->failed) {
        memmove(out->data + start + 1, out->data + start, out->len - start - 2);
        out->data[start] = '"';
        r->done |= PERFTRACE__JSON_REPAIR_HUGE_NUMBER;
    }
}

/* A number, a word, or what somebody meant by one. */
static const char *put_scalar(repair_t *r, const char *p) {
    const char *from = p;
    while (p < r->c.end && pt_is_word(*p)) {
        p++;
    }
    size_t len = (size_t)(p - from);
    size_t start = r->out->len;
    if (len > 0 && perftrace__json_number_length(from, len) == len) {
        perftrace__strbuf_append(r->out, from, len);
        quote_if_huge(r, start);
        return p;
    }
    bool negative = len > 0 && *from == '-';
    size_t sign = len > 0 && (*from == '-' || *from == '+');
    if (put_word(r, from + sign, len - sign, negative, sign != 0)) {
        return p;
    }
    if (negative) {
        perftrace__strbuf_putc(r->out, '-');
    }
    if (put_odd_number(r, from + sign, len - sign)) {
        quote_if_huge(r, start);
        return p;
    }
    bool number = len > sign && (pt_is_digit(from[sign]) || from[sign] == '.');
    if (number && p < r->c.end) {
        return perftrace__json_fail(&r->c, PERFTRACE__JSON_E_BAD_NUMBER, from);
    }
    return perftrace__json_fail_at(&r->c, number ? r->c.end : from, PERFTRACE__JSON_E_BAD_LITERAL);
}

/* ---- members and levels ---- */

static bool add_member(repair_t *r, size_t start) {
    if (r->member_count == r->member_cap) {
        size_t cap = r->member_cap ? r->member_cap * 2 : 32;
        member_t *grown = realloc(r->members, cap * sizeof(*grown));
        if (!grown) {
            r->out->failed = true;
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
    const char *base = r->out->data + 1; /* behind the quote */
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
    if (n < 2 || n > MEMBERS_COMPARED || r->out->failed) {
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
    char *data = r->out->data;
    size_t to = m[0].start;
    for (size_t i = 0; i < n; i++) {
        size_t end = i + 1 < n ? m[i + 1].start : r->out->len;
        if (!m[i].dropped) {
            memmove(data + to, data + m[i].start, end - m[i].start);
            to += end - m[i].start;
        }
    }
    r->out->len = to;
    data[to] = 0;
    r->done |= PERFTRACE__JSON_REPAIR_DUPLICATE_KEY;
}

static void open_level(repair_t *r, bool object) {
    r->levels[r->depth].object = object;
    r->levels[r->depth].first_member = r->member_count;
    r->depth++;
    perftrace__strbuf_putc(r->out, object ? '{' : '[');
}

static void close_level(repair_t *r) {
    const level_t *l = &r->levels[--r->depth];
    if (l->object) {
        drop_duplicates(r, l->first_member);
        r->member_count = l->first_member;
    }
    perftrace__strbuf_putc(r->out, l->object ? '}' : ']');
}

/* A container that must not be opened any more; p is its bracket. */
static const char *replace_deep(repair_t *r, const char *p) {
    perftrace__json_split_t s = PERFTRACE__JSON_SPLIT_INIT;
    bool done;
    size_t len = perftrace__json_split(&s, p, (size_t)(r->c.end - p), &done);
    if (!done) {
        return perftrace__json_fail(&r->c, PERFTRACE__JSON_E_INCOMPLETE, r->c.end);
    }
    perftrace__strbuf_puts(r->out, TOO_DEEP_TEXT);
    r->done |= PERFTRACE__JSON_REPAIR_TOO_DEEP;
    return p + len;
}

/* A key with its colon; p is the first byte. */
static const char *put_key(repair_t *r, const char *p) {
    if (p >= r->c.end || *p != '"') {
        return perftrace__json_fail_at(&r->c, p, PERFTRACE__JSON_E_KEY_NOT_STRING);
    }
    size_t start = r->out->len;
    if (!add_member(r, start)) {
        return perftrace__json_fail(&r->c, PERFTRACE__JSON_E_NO_MEMORY, p);
    }
    p = put_string(r, p);
    if (!p) {
        return NULL;
    }
    if (!r->out->failed) {
        member_t *m = &r->members[r->member_count - 1];
        m->key_len = r->out->len - start - 2;
        m->key_escaped = memchr(r->out->data + start, '\\', r->out->len - start) != NULL;
    }
    p = skip_space(r, p);
    if (p >= r->c.end || *p != ':') {
        return perftrace__json_fail_at(&r->c, p, PERFTRACE__JSON_E_MISSING_COLON);
    }
    perftrace__strbuf_append(r->out, ": ", 2);
    return skip_space(r, p + 1);
}

/* One value that opens no level here; p is its first byte. */
static const char *put_leaf(repair_t *r, const char *p) {
    if (p >= r->c.end) {
        return perftrace__json_fail(&r->c, PERFTRACE__JSON_E_INCOMPLETE, r->c.end);
    }
    if (*p == '"') {
        return put_string(r, p);
    }
    if (*p == '{' || *p == '[') {
        return replace_deep(r, p);
    }
    return put_scalar(r, p);
}

/* The value at p with all that lies in it. */
static const char *put_value(repair_t *r, const char *p) {
    do {
        /* p is where a value begins. */
        if (p < r->c.end && (*p == '{' || *p == '[') && r->depth < PERFTRACE__JSON_MAX_DEPTH) {
            open_level(r, *p == '{');
            p = skip_space(r, p + 1);
            if (p >= r->c.end || *p != (r->levels[r->depth - 1].object ? '}' : ']')) {
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
            bool comma = p < r->c.end && *p == ',';
            const char *next = comma ? skip_space(r, p + 1) : p;
            if (next < r->c.end && *next == (object ? '}' : ']')) {
                r->done |= comma ? PERFTRACE__JSON_REPAIR_TRAILING_COMMA : 0u;
                close_level(r);
                p = next + 1;
                continue;
            }
            if (!comma) {
                return perftrace__json_fail_at(&r->c, p, PERFTRACE__JSON_E_MISSING_COMMA);
            }
            perftrace__strbuf_append(r->out, ", ", 2);
            p = object ? put_key(r, next) : next;
            break;
        }
    } while (p && r->depth > 0);
    return p;
}

/* What may stand in front of a value and is no part of it. */
static const char *skip_front(repair_t *r) {
    const char *p = r->c.p;
    for (;;) {
        p = skip_space(r, p);
        if (p < r->c.end && *p == '\0') {
            p++;
            r->done |= PERFTRACE__JSON_REPAIR_NUL_BLOCK;
        } else if (r->c.end - p >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0) {
            p += 3;
            r->done |= PERFTRACE__JSON_REPAIR_BYTE_ORDER_MARK;
        } else {
            return p;
        }
    }
}

static void note_rest(repair_t *r, const char *p) {
    p = skip_space(r, p);
    if (p == r->c.end) {
        return;
    }
    bool comment = *p == '#' || (*p == '/' && r->c.end - p > 1 && (p[1] == '/' || p[1] == '*'));
    r->done |= comment ? PERFTRACE__JSON_REPAIR_COMMENT : PERFTRACE__JSON_REPAIR_TRAILING_BYTES;
}

bool perftrace__json_repair(const char *buf, size_t len, perftrace__strbuf_t *out,
                            unsigned *ret_repairs, size_t *ret_used,
                            perftrace__json_error_t *ret_error) {
    repair_t r;
    size_t before = out->len;
    perftrace__json_cursor_init(&r.c, buf, len);
    r.out = out;
    r.done = 0;
    r.depth = 0;
    r.members = NULL;
    r.member_count = r.member_cap = 0;

    const char *p = skip_front(&r);
    if (p == r.c.end) {
        perftrace__json_fail(&r.c, PERFTRACE__JSON_E_EMPTY, p);
    } else {
        p = put_value(&r, p);
        if (p && !out->failed) {
            note_rest(&r, p);
        }
    }
    if (out->failed) {
        r.c.error.code = PERFTRACE__JSON_E_NO_MEMORY;
    }
    free(r.members);
    bool good = r.c.error.code == PERFTRACE__JSON_E_OK;
    if (!good && out->len > before) {
        out->len = before;
        out->data[before] = 0;
    }
    *ret_repairs = good ? r.done : 0;
    if (ret_used) {
        *ret_used = good ? (size_t)(p - r.c.base) : 0;
    }
    if (ret_error) {
        *ret_error = r.c.error;
    }
    return good;
}
