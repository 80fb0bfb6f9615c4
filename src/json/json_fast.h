/* json_fast.h: the common forms of keys and values, without bounds. SPDX-License-Identifier: MIT
 *
 * Only for the files of this room. Each function may read PT_FAST bytes from p on, whether they
 * belong to the text or not, and returns NULL for everything that is not plain and short: the
 * caller then goes the exact way from the same p. A result at or behind the end of the text means
 * nothing either: what was read was not all text. Nothing that these functions accept is worth a
 * note. */
#ifndef PERFTRACE_JSON_FAST_H
#define PERFTRACE_JSON_FAST_H

#include "json_lex.h"

/* More than a separator, a key, a colon, a string of 32 bytes and white space between them. */
#define PT_FAST PERFTRACE__JSON_SPARE

/* Skips up to 17 bytes of white space. */
PT_ALWAYS_INLINE const char *pt_fast_space(const char *p) {
    if (*p == ' ') {
        p++;
        PT_KEEP_BRANCH(p);
    }
    if (PT_UNLIKELY((unsigned char)*p <= ' ')) {
        p += pt_run_space(p);
    }
    return p;
}

/* p is the byte after an opening quote; returns the address of the closing one. */
PT_ALWAYS_INLINE const char *pt_fast_string(const char *p) {
    unsigned n = pt_run_plain(p);
    if (n == PT_RUN) {
        p += PT_RUN;
        n = pt_run_plain(p);
    }
    p += n;
    return PT_LIKELY(*p == '"') ? p : NULL;
}

/* p is the opening quote of a key; returns the address of the closing one. The length is computed
 * and compared with the hint; where they agree, p is moved on by the hint, which is known long
 * before the length is. That takes the key out of the chain of loads that each depend on the one
 * before. */
PT_ALWAYS_INLINE const char *pt_fast_key(const char *p, uint8_t *hint) {
    if (PT_UNLIKELY(*p != '"')) {
        return NULL;
    }
    p++;
    unsigned n = pt_run_plain(p);
    unsigned guess = *hint;
    unsigned step = guess;
    /* Unknown to the compiler, which would else use n where it has just found n to be the same. */
    PT_KEEP_BRANCH(step);
    if (PT_UNLIKELY(n != guess)) {
        *hint = (uint8_t)n;
        step = n;
        PT_KEEP_BRANCH(step);
    }
    p += step;
    if (PT_UNLIKELY(n == PT_RUN)) {
        p += pt_run_plain(p);
    }
    return PT_LIKELY(*p == '"') ? p : NULL;
}

/* The hint for key number `key` of an object. */
PT_ALWAYS_INLINE uint8_t *pt_hint(perftrace__json_hints_t *hints, unsigned key) {
    return &hints->key_len[key % PT_ARRAY_LEN(hints->key_len)];
}

/* p is the closing quote of a key; returns the first byte of the value. */
PT_ALWAYS_INLINE const char *pt_fast_colon(const char *p) {
    if (PT_UNLIKELY(p[1] != ':')) {
        return NULL;
    }
    p = pt_fast_space(p + 2);
    return PT_LIKELY((unsigned char)*p > ' ') ? p : NULL;
}

/* p is a digit or a minus sign; returns the end of a number of up to 15 bytes without an exponent,
 * which ends before a separator. */
PT_ALWAYS_INLINE const char *pt_fast_number(const char *p) {
    if (*p == '-') {
        p++;
        PT_KEEP_BRANCH(p);
    }
    pt_digits_t digits = pt_digits_load(p);
    unsigned n = pt_digits_from(digits, 0);
    if (PT_UNLIKELY(n - 1 >= PT_RUN - 2 || (*p == '0' && n > 1))) {
        return NULL;
    }
    if (p[n] == '.') {
        unsigned decimals = pt_digits_from(digits, n + 1);
        n += 1 + decimals;
        if (PT_UNLIKELY(decimals == 0 || n >= PT_RUN)) {
            return NULL;
        }
    }
    p += n;
    return PT_LIKELY(*p == ',' || *p == '}' || *p == ']' || (unsigned char)*p <= ' ') ? p : NULL;
}

#endif
