/* human.c: numbers as people write and read them. SPDX-License-Identifier: MIT */
#include "human.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* value / unit with three figures: 1.2, 34, 567. Tenths are cut, not rounded, so that 999,999 is
 * not shown as 1000 of the smaller unit. */
static const char *scaled(char out[PT_HUMAN_MAX], uint64_t value, uint64_t unit, const char *name) {
    uint64_t whole = value / unit;
    uint64_t tenth = (value % unit) / (unit / 10 ? unit / 10 : 1);
    if (unit > 1 && whole < 10) {
        snprintf(out, PT_HUMAN_MAX, "%" PRIu64 ".%" PRIu64 " %s", whole, PT_MIN(tenth, 9), name);
    } else {
        snprintf(out, PT_HUMAN_MAX, "%" PRIu64 "%s%s", whole, *name ? " " : "", name);
    }
    return out;
}

static const char *by_thousands(char out[PT_HUMAN_MAX], uint64_t value,
                                const char *const names[7]) {
    uint64_t unit = 1;
    unsigned i = 0;
    while (i < 6 && value / unit >= 1000) {
        unit *= 1000;
        i++;
    }
    return scaled(out, value, unit, names[i]);
}

const char *pt_human_bytes(char out[PT_HUMAN_MAX], uint64_t bytes) {
    static const char *const names[7] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    return by_thousands(out, bytes, names);
}

const char *pt_human_count(char out[PT_HUMAN_MAX], uint64_t count) {
    static const char *const names[7] = {"", "k", "M", "G", "T", "P", "E"};
    return by_thousands(out, count, names);
}

const char *pt_human_exact(char out[PT_HUMAN_MAX], uint64_t count) {
    char plain[PT_HUMAN_MAX];
    size_t len = (size_t)snprintf(plain, sizeof(plain), "%" PRIu64, count);
    size_t o = 0;
    for (size_t i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0) {
            out[o++] = ',';
        }
        out[o++] = plain[i];
    }
    out[o] = '\0';
    return out;
}

const char *pt_human_counted(char out[PT_HUMAN_COUNTED_MAX], uint64_t count, const char *one,
                             const char *many) {
    char number[PT_HUMAN_MAX];
    snprintf(out, PT_HUMAN_COUNTED_MAX, "%s %s", pt_human_exact(number, count),
             count == 1 ? one : many);
    return out;
}

#define PT_S_NS UINT64_C(1000000000)

const char *pt_human_duration(char out[PT_HUMAN_MAX], uint64_t ns) {
    uint64_t s = ns / PT_S_NS;
    if (ns < 1000) {
        return scaled(out, ns, 1, "ns");
    }
    if (ns < 1000000) {
        return scaled(out, ns, 1000, "us");
    }
    if (ns < PT_S_NS) {
        return scaled(out, ns, 1000000, "ms");
    }
    if (s < 60) {
        return scaled(out, ns, PT_S_NS, "s");
    }
    if (s < 3600) {
        snprintf(out, PT_HUMAN_MAX, "%" PRIu64 " min %" PRIu64 " s", s / 60, s % 60);
    } else {
        snprintf(out, PT_HUMAN_MAX, "%" PRIu64 " h %" PRIu64 " min", s / 3600, s % 3600 / 60);
    }
    return out;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool pt_parse_uint64(const char *text, uint64_t *ret) {
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *first = hex ? text + 2 : text;
    /* strtoull itself would take blanks, signs and a second 0x. */
    for (const char *p = first; *p; p++) {
        if (!is_digit(*p) && !(hex && ((*p >= 'a' && *p <= 'f') || (*p >= 'A' && *p <= 'F')))) {
            return false;
        }
    }
    if (!*first) {
        return false;
    }
    errno = 0;
    unsigned long long value = strtoull(first, NULL, hex ? 16 : 10);
    if (errno) {
        return false;
    }
    *ret = value;
    return true;
}

bool pt_parse_int64(const char *text, int64_t *ret) {
    bool negative = text[0] == '-';
    uint64_t magnitude;
    if (!pt_parse_uint64(text + (negative || text[0] == '+' ? 1 : 0), &magnitude) ||
        magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0)) {
        return false;
    }
    *ret = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return true;
}

/* Parses a number written in decimals at the front of text; the rest stands at *ret_rest. */
static bool parse_decimal(const char *text, long double *ret, const char **ret_rest) {
    const char *p = text;
    if (*p == '-' || *p == '+') {
        p++;
    }
    if (!is_digit(*p) && !(*p == '.' && is_digit(p[1]))) {
        return false; /* keeps out blanks, inf, nan and names */
    }
    if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
        return false;
    }
    locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (!c) {
        return false;
    }
    char *rest;
    locale_t before = uselocale(c);
    *ret = strtold(text, &rest);
    uselocale(before);
    freelocale(c);
    *ret_rest = rest;
    return isfinite(*ret);
}

bool pt_parse_double(const char *text, double *ret) {
    long double value;
    const char *rest;
    if (!parse_decimal(text, &value, &rest) || *rest || value > DBL_MAX || value < -DBL_MAX) {
        return false;
    }
    *ret = (double)value;
    return true;
}

/* value * unit as an integer, false when negative or above 2^64 - 1. */
static bool scale(long double value, uint64_t unit, uint64_t *ret) {
    long double product = value * (long double)unit + 0.5L;
    if (value < 0 || product >= 18446744073709551616.0L) {
        return false;
    }
    *ret = (uint64_t)product;
    return true;
}

bool pt_parse_size(const char *text, uint64_t *ret_bytes) {
    static const char letters[] = "kmgtpe";
    long double value;
    const char *rest;
    if (!parse_decimal(text, &value, &rest)) {
        return false;
    }
    uint64_t unit = 1;
    char letter = *rest >= 'A' && *rest <= 'Z' ? (char)(*rest + 32) : *rest;
    const char *found = letter ? strchr(letters, letter) : NULL;
    if (found) {
        uint64_t step = rest[1] == 'i' ? 1024 : 1000;
        for (const char *p = letters; p <= found; p++) {
            unit *= step;
        }
        rest += step == 1024 ? 2 : 1;
    }
    if (*rest == 'B') {
        rest++;
    }
    return !*rest && scale(value, unit, ret_bytes);
}

bool pt_parse_duration(const char *text, uint64_t *ret_ns) {
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"ns", 1},           {"us", 1000},          {"ms", 1000000},      {"s", PT_S_NS},
                 {"m", 60 * PT_S_NS}, {"min", 60 * PT_S_NS}, {"h", 3600 * PT_S_NS}};
    long double value;
    const char *rest;
    if (!parse_decimal(text, &value, &rest)) {
        return false;
    }
    if (!*rest && value == 0) {
        *ret_ns = 0;
        return true;
    }
    for (size_t i = 0; i < PT_ARRAY_LEN(units); i++) {
        if (strcmp(rest, units[i].name) == 0) {
            return scale(value, units[i].ns, ret_ns);
        }
    }
    return false;
}
