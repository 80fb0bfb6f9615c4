/* json_mend.c: strings, numbers and words of damaged JSON. SPDX-License-Identifier: MIT */
#include "json_mend.h"

#include "json_lex.h"
#include "json_value.h"
#include "utf8.h"

#define REPLACEMENT "\xEF\xBF\xBD"

/* ---- strings ---- */

static void put_control(perftrace__json_mend_t *m, unsigned char ch) {
    switch (ch) {
    case '\n':
        perftrace__strbuf_append(m->out, "\\n", 2);
        break;
    case '\r':
        perftrace__strbuf_append(m->out, "\\r", 2);
        break;
    case '\t':
        perftrace__strbuf_append(m->out, "\\t", 2);
        break;
    default:
        perftrace__strbuf_printf(m->out, "\\u%04x", (unsigned)ch);
        break;
    }
    m->done |= PERFTRACE__JSON_REPAIR_CONTROL_BYTE;
}

/* The escape at p; returns its end, or NULL when the text ends in it. */
static const char *put_escape(perftrace__json_mend_t *m, const char *p) {
    uint32_t cp;
    if (m->c.end - p < 2) {
        return perftrace__json_fail(&m->c, PERFTRACE__JSON_E_UNTERMINATED_STRING, m->c.end);
    }
    unsigned used = perftrace__json_escape(p, m->c.end, &cp);
    if (used == 0) {
        perftrace__strbuf_append(m->out, "\\\\", 2);
        m->done |= PERFTRACE__JSON_REPAIR_BAD_ESCAPE;
        return p + 1;
    }
    if (cp >= 0xD800 && cp <= 0xDFFF) {
        perftrace__strbuf_append(m->out, REPLACEMENT, 3);
        m->done |= PERFTRACE__JSON_REPAIR_LONE_SURROGATE;
    } else if (used == 12) {
        char utf8[4];
        perftrace__strbuf_append(m->out, utf8, perftrace__json_put_utf8(utf8, cp));
        m->done |= PERFTRACE__JSON_REPAIR_PAIR_ESCAPE;
    } else {
        perftrace__strbuf_append(m->out, p, used);
    }
    return p + used;
}

static const char *put_non_ascii(perftrace__json_mend_t *m, const char *p) {
    const unsigned char *u = (const unsigned char *)p;
    size_t left = (size_t)(m->c.end - p);
    unsigned n = perftrace__utf8_sequence(u, left);
    if (n > 0) {
        perftrace__strbuf_append(m->out, p, n);
        return p + n;
    }
    perftrace__strbuf_append(m->out, REPLACEMENT, 3);
    m->done |= PERFTRACE__JSON_REPAIR_BAD_UTF8;
    return p + perftrace__utf8_bad_prefix(u, left);
}

/* p is the opening quote; returns the byte after the closing one, or NULL. */
const char *perftrace__json_mend_string(perftrace__json_mend_t *m, const char *p) {
    const char *end = m->c.end;
    perftrace__strbuf_putc(m->out, '"');
    p++;
    while (p && p < end) {
        const char *run = p;
        while (p < end && pt_is_plain(*p)) {
            p++;
        }
        perftrace__strbuf_append(m->out, run, (size_t)(p - run));
        if (p == end) {
            break;
        }
        if (*p == '"') {
            perftrace__strbuf_putc(m->out, '"');
            return p + 1;
        }
        if (*p == '\\') {
            p = put_escape(m, p);
        } else if ((unsigned char)*p >= 0x80) {
            p = put_non_ascii(m, p);
        } else {
            put_control(m, (unsigned char)*p++);
        }
    }
    return perftrace__json_fail(&m->c, PERFTRACE__JSON_E_UNTERMINATED_STRING, end);
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
static bool put_word(perftrace__json_mend_t *m, const char *p, size_t len, bool negative,
                     bool sign) {
    static const struct {
        const char *lower, *strict;
    } words[] = {{"true", "true"}, {"false", "false"}, {"null", "null"}, {"none", "null"}};
    if (same_word(p, len, "nan")) {
        perftrace__strbuf_puts(m->out, "\"NaN\"");
        m->done |= PERFTRACE__JSON_REPAIR_NONFINITE;
        return true;
    }
    if (same_word(p, len, "inf") || same_word(p, len, "infinity")) {
        perftrace__strbuf_puts(m->out, negative ? "\"-Infinity\"" : "\"Infinity\"");
        m->done |= PERFTRACE__JSON_REPAIR_NONFINITE;
        return true;
    }
    for (size_t i = 0; i < PT_ARRAY_LEN(words) && !sign; i++) {
        if (same_word(p, len, words[i].lower)) {
            perftrace__strbuf_puts(m->out, words[i].strict);
            if (memcmp(p, words[i].strict, len) != 0) {
                m->done |= PERFTRACE__JSON_REPAIR_PYTHON_WORD;
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
static bool put_odd_number(perftrace__json_mend_t *m, const char *p, size_t len) {
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
        perftrace__strbuf_putc(m->out, '0');
    }
    perftrace__strbuf_append(m->out, p, whole);
    if (decimals > 0) {
        perftrace__strbuf_putc(m->out, '.');
        perftrace__strbuf_append(m->out, fraction, decimals);
    }
    perftrace__strbuf_append(m->out, exponent, (size_t)(end - exponent));
    m->done |= PERFTRACE__JSON_REPAIR_NUMBER_FORM;
    return true;
}

/* Puts quotes around the number written from `start` on when no double can hold it. */
static void quote_if_huge(perftrace__json_mend_t *m, size_t start) {
    perftrace__strbuf_t *out = m->out;
    if (out->failed || !perftrace__json_number_is_huge(out->data + start, out->len - start)) {
        return;
    }
    perftrace__strbuf_append(out, "\"\"", 2);
    if (!out->failed) {
        memmove(out->data + start + 1, out->data + start, out->len - start - 2);
        out->data[start] = '"';
        m->done |= PERFTRACE__JSON_REPAIR_HUGE_NUMBER;
    }
}

/* A number, a word, or what somebody meant by one. */
const char *perftrace__json_mend_scalar(perftrace__json_mend_t *m, const char *p) {
    const char *from = p;
    while (p < m->c.end && pt_is_word(*p)) {
        p++;
    }
    size_t len = (size_t)(p - from);
    size_t start = m->out->len;
    if (len > 0 && perftrace__json_number_length(from, len) == len) {
        perftrace__strbuf_append(m->out, from, len);
        quote_if_huge(m, start);
        return p;
    }
    bool negative = len > 0 && *from == '-';
    size_t sign = len > 0 && (*from == '-' || *from == '+');
    if (put_word(m, from + sign, len - sign, negative, sign != 0)) {
        return p;
    }
    if (negative) {
        perftrace__strbuf_putc(m->out, '-');
    }
    if (put_odd_number(m, from + sign, len - sign)) {
        quote_if_huge(m, start);
        return p;
    }
    bool number = len > sign && (pt_is_digit(from[sign]) || from[sign] == '.');
    if (number && p < m->c.end) {
        return perftrace__json_fail(&m->c, PERFTRACE__JSON_E_BAD_NUMBER, from);
    }
    return perftrace__json_fail_at(&m->c, number ? m->c.end : from, PERFTRACE__JSON_E_BAD_LITERAL);
}
