/* json_token.c: strings, numbers, words and white space, exactly. SPDX-License-Identifier: MIT */
#include "json_lex.h"
#include "json_value.h"
#include "utf8.h"

/* True when a pt_run_ function may load at p. */
#define CAN_RUN(c, p) PT_LIKELY((c)->readable - (p) >= PT_RUN)

const char *perftrace__json_skip_space(const perftrace__json_cursor_t *c, const char *p) {
    while (CAN_RUN(c, p)) {
        unsigned n = pt_run_space(p);
        p += n;
        if (p >= c->end) {
            return c->end;
        }
        if (n < PT_RUN) {
            return p;
        }
    }
    while (p < c->end && pt_is_space(*p)) {
        p++;
    }
    return p;
}

/* ---- strings ---- */

/* True when the text ends within an escape at p that more bytes could make right: inside \uXXXX, or
 * behind the first half of a pair. */
static bool is_escape_cut(const char *p, const char *end) {
    static const char shape[] = "\\uhhhh\\uhhhh";
    size_t left = (size_t)(end - p);
    for (size_t i = 0; i < left; i++) {
        char low = (char)(p[i] | 0x20);
        bool hex = pt_is_digit(p[i]) || (low >= 'a' && low <= 'f');
        if (i == sizeof(shape) - 1 || (shape[i] == 'h' ? !hex : p[i] != shape[i])) {
            return false;
        }
    }
    if (left < 6) {
        return true;
    }
    int unit = perftrace__json_hex4(p + 2);
    return left < 12 && unit >= 0xD800 && unit <= 0xDBFF;
}

/* An escape at p; returns its end, or NULL. */
static PT_NOINLINE const char *skip_escape(perftrace__json_cursor_t *c, const char *p,
                                           unsigned *notes) {
    uint32_t cp;
    unsigned used = perftrace__json_escape(p, c->end, &cp);
    bool lone = used != 0 && cp >= 0xD800 && cp <= 0xDFFF;
    if (PT_UNLIKELY(used == 0 || lone)) {
        if (is_escape_cut(p, c->end)) {
            return perftrace__json_fail(c, PERFTRACE__JSON_E_UNTERMINATED_STRING, c->end);
        }
        return perftrace__json_fail(
            c, lone ? PERFTRACE__JSON_E_LONE_SURROGATE : PERFTRACE__JSON_E_BAD_ESCAPE, p);
    }
    *notes |= PERFTRACE__JSON_NOTE_ESCAPE;
    if (used == 12) {
        *notes |= PERFTRACE__JSON_NOTE_PAIR_ESCAPE;
    } else if (cp == 0) {
        *notes |= PERFTRACE__JSON_NOTE_NUL_ESCAPE;
    }
    return p + used;
}

/* Bytes above 0x7F from p on; returns the end of the run, or NULL. */
static PT_NOINLINE const char *skip_non_ascii(perftrace__json_cursor_t *c, const char *p,
                                              unsigned *notes) {
    const unsigned char *u = (const unsigned char *)p;
    const unsigned char *end = (const unsigned char *)c->end;
    *notes |= PERFTRACE__JSON_NOTE_NON_ASCII;
    while (u < end && *u >= 0x80) {
        /* Most three-byte characters, those of East Asia among them. */
        if (end - u >= 3 && ((u[0] >= 0xE1 && u[0] <= 0xEC) || u[0] == 0xEE || u[0] == 0xEF) &&
            (u[1] & 0xC0) == 0x80 && (u[2] & 0xC0) == 0x80) {
            u += 3;
            continue;
        }
        size_t left = (size_t)(end - u);
        unsigned n = perftrace__utf8_sequence(u, left);
        if (PT_UNLIKELY(n == 0)) {
            /* A good beginning that the end of the text cuts, or bad bytes? */
            bool cut = *u >= 0xC2 && *u <= 0xF4 && perftrace__utf8_bad_prefix(u, left) == left;
            return cut ? perftrace__json_fail(c, PERFTRACE__JSON_E_UNTERMINATED_STRING, c->end)
                       : perftrace__json_fail(c, PERFTRACE__JSON_E_BAD_UTF8, (const char *)u);
        }
        u += n;
    }
    return (const char *)u;
}

/* p is the byte after the opening quote; returns the address of the closing one, or NULL. */
const char *perftrace__json_token_string(perftrace__json_cursor_t *c, const char *p,
                                         unsigned *notes) {
    for (;;) {
        if (CAN_RUN(c, p)) {
            unsigned n = pt_run_plain(p);
            p += n;
            if (n == PT_RUN && p < c->end) {
                continue;
            }
        } else {
            while (p < c->end && pt_is_plain(*p)) {
                p++;
            }
        }
        if (PT_UNLIKELY(p >= c->end)) {
            return perftrace__json_fail(c, PERFTRACE__JSON_E_UNTERMINATED_STRING, c->end);
        }
        if (PT_LIKELY(*p == '"')) {
            return p;
        }
        if (*p == '\\') {
            p = skip_escape(c, p, notes);
        } else if ((unsigned char)*p >= 0x80) {
            p = skip_non_ascii(c, p, notes);
        } else {
            return perftrace__json_fail(c, PERFTRACE__JSON_E_CONTROL_BYTE, p);
        }
        if (!p) {
            return NULL;
        }
    }
}

/* ---- numbers and words ---- */

PT_ALWAYS_INLINE const char *skip_digits(const perftrace__json_cursor_t *c, const char *p) {
    while (CAN_RUN(c, p)) {
        unsigned n = pt_run_digits(p);
        p += n;
        if (PT_UNLIKELY(p > c->end)) {
            return c->end;
        }
        if (PT_LIKELY(n < PT_RUN)) {
            return p;
        }
    }
    while (p < c->end && pt_is_digit(*p)) {
        p++;
    }
    return p;
}

/* What is wrong with the number that starts at `from` and is fine up to p. */
static PT_COLD const char *number_error(perftrace__json_cursor_t *c, const char *from,
                                        const char *p) {
    if (p == c->end) {
        return perftrace__json_fail(c, PERFTRACE__JSON_E_INCOMPLETE, p);
    }
    bool word = p == from + 1 && (*p == 'I' || *p == 'i' || *p == 'N' || *p == 'n');
    return perftrace__json_fail(
        c, word ? PERFTRACE__JSON_E_NONFINITE : PERFTRACE__JSON_E_BAD_NUMBER, word ? from : p);
}

/* An exponent (p is the byte after the e) or a number of very many digits. */
static PT_NOINLINE const char *skip_exponent(perftrace__json_cursor_t *c, const char *from,
                                             const char *p) {
    if (p < c->end && (*p == '+' || *p == '-')) {
        p++;
    }
    const char *digits = p;
    p = skip_digits(c, p);
    return p == digits ? number_error(c, from, p) : p;
}

/* p is a minus sign or a digit; returns the number's end, or NULL. */
static PT_NOINLINE const char *skip_number(perftrace__json_cursor_t *c, const char *p,
                                           unsigned *notes) {
    const char *from = p;
    p += *p == '-';
    const char *whole = p;
    p = skip_digits(c, p);
    if (p == whole || (*whole == '0' && p - whole > 1)) {
        return number_error(c, from, p == whole ? p : whole + 1);
    }
    bool odd = p - whole > 308;
    if (p < c->end && *p == '.') {
        const char *fraction = p + 1;
        p = skip_digits(c, fraction);
        if (p == fraction) {
            return number_error(c, from, p);
        }
    }
    if (p < c->end && (*p | 0x20) == 'e') {
        odd = true;
        p = skip_exponent(c, from, p + 1);
        if (!p) {
            return NULL;
        }
    }
    if (odd && perftrace__json_number_is_huge(from, (size_t)(p - from))) {
        *notes |= PERFTRACE__JSON_NOTE_HUGE_NUMBER;
    }
    return p;
}

/* p is t, f or n; returns the end of the word and sets *type, or NULL. */
PT_ALWAYS_INLINE const char *skip_word(perftrace__json_cursor_t *c, const char *p,
                                       perftrace__json_type_t *type) {
    size_t left = (size_t)(c->end - p);
    if (*p == 't' && left >= 4 && memcmp(p, "true", 4) == 0) {
        *type = PERFTRACE__JSON_TRUE;
        return p + 4;
    }
    if (*p == 'f' && left >= 5 && memcmp(p, "false", 5) == 0) {
        *type = PERFTRACE__JSON_FALSE;
        return p + 5;
    }
    if (*p == 'n' && left >= 4 && memcmp(p, "null", 4) == 0) {
        *type = PERFTRACE__JSON_NULL;
        return p + 4;
    }
    return perftrace__json_fail_at(c, p, PERFTRACE__JSON_E_BAD_LITERAL);
}

/* A value that is no container, exactly; sets *type and returns the value's end, or NULL. */
const char *perftrace__json_token_scalar(perftrace__json_cursor_t *c, const char *p,
                                         perftrace__json_type_t *type, unsigned *notes) {
    if (p >= c->end) {
        return perftrace__json_fail(c, PERFTRACE__JSON_E_INCOMPLETE, c->end);
    }
    if (*p == '"') {
        *type = PERFTRACE__JSON_STRING;
        p = perftrace__json_token_string(c, p + 1, notes);
        return p ? p + 1 : NULL;
    }
    if (*p == '-' || pt_is_digit(*p)) {
        *type = PERFTRACE__JSON_NUMBER;
        return skip_number(c, p, notes);
    }
    return skip_word(c, p, type);
}
