/* json_writer.c. SPDX-License-Identifier: MIT */
#include "json_writer.h"

#include "json_digits.h"
#include "utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char perftrace__digit_pairs[201] =
    "00010203040506070809101112131415161718192021222324252627282930"
    "31323334353637383940414243444546474849505152535455565758596061"
    "62636465666768697071727374757677787980818283848586878889909192"
    "93949596979899";

#define ONE(a, b, c)                                                                               \
    { '.', a, b, c }
#define TEN(a, b)                                                                                  \
    ONE(a, b, '0'), ONE(a, b, '1'), ONE(a, b, '2'), ONE(a, b, '3'), ONE(a, b, '4'),                \
        ONE(a, b, '5'), ONE(a, b, '6'), ONE(a, b, '7'), ONE(a, b, '8'), ONE(a, b, '9')
#define HUNDRED(a)                                                                                 \
    TEN(a, '0'), TEN(a, '1'), TEN(a, '2'), TEN(a, '3'), TEN(a, '4'), TEN(a, '5'), TEN(a, '6'),     \
        TEN(a, '7'), TEN(a, '8'), TEN(a, '9')
const char perftrace__decimals[1000][4] = {HUNDRED('0'), HUNDRED('1'), HUNDRED('2'), HUNDRED('3'),
                                           HUNDRED('4'), HUNDRED('5'), HUNDRED('6'), HUNDRED('7'),
                                           HUNDRED('8'), HUNDRED('9')};
#undef ONE
#undef TEN
#undef HUNDRED

/* Exact: not a byte behind the end is touched. */
char *perftrace__put_u64(char *dst, uint64_t v) {
    char text[PERFTRACE__U64_MAX + 8];
    size_t n = (size_t)(perftrace__put_digits(text, v) - text);
    memcpy(dst, text, n);
    return dst + n;
}

char *perftrace__put_i64(char *dst, int64_t v) {
    if (v < 0) {
        *dst++ = '-';
        return perftrace__put_u64(dst, 0 - (uint64_t)v);
    }
    return perftrace__put_u64(dst, (uint64_t)v);
}

char *perftrace__put_us(char *dst, uint64_t ns) {
    return perftrace__put_micros(dst, ns);
}

static char *put_text(char *dst, const char *s) {
    size_t n = strlen(s);
    memcpy(dst, s, n);
    return dst + n;
}

static bool is_number_char(char c) {
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == 'e';
}

char *perftrace__put_double(char *dst, double v, bool nonfinite_null) {
    if (!isfinite(v)) {
        if (nonfinite_null) {
            return put_text(dst, "null");
        }
        return put_text(dst, isnan(v) ? "\"NaN\"" : v > 0 ? "\"Infinity\"" : "\"-Infinity\"");
    }
    /* Whole numbers in the exact range are common (counts, bytes) and need no search. */
    if (v >= -9007199254740992.0 && v <= 9007199254740992.0 && v == (double)(int64_t)v &&
        !(v == 0 && signbit(v))) {
        dst = perftrace__put_i64(dst, (int64_t)v);
        memcpy(dst, ".0", 2);
        return dst + 2;
    }
    char text[40];
    int precision = 15;
    do {
        /* The decimal point depends on the host's locale; it is mended below. */
        snprintf(text, sizeof(text), "%.*g", precision, v);
    } while (strtod(text, NULL) != v && ++precision <= 17);
    bool is_real = false; /* has a point or an exponent */
    for (const char *p = text; *p;) {
        is_real |= *p == 'e';
        if (is_number_char(*p)) {
            *dst++ = *p++;
            continue;
        }
        /* A decimal point may be several bytes long. */
        while (*p && !is_number_char(*p)) {
            p++;
        }
        *dst++ = '.';
        is_real = true;
    }
    return is_real ? dst : put_text(dst, ".0");
}

/* 1 for bytes that stand for themselves inside a JSON string. */
static bool is_plain(unsigned char c) {
    return c >= 0x20 && c < 0x7F && c != '"' && c != '\\';
}

static char *put_escaped(char *dst, unsigned char c) {
    static const char hex[] = "0123456789abcdef";
    *dst++ = '\\';
    switch (c) {
    case '"':
    case '\\':
        *dst++ = (char)c;
        return dst;
    case '\n':
        *dst++ = 'n';
        return dst;
    case '\r':
        *dst++ = 'r';
        return dst;
    case '\t':
        *dst++ = 't';
        return dst;
    default:
        memcpy(dst, "u00", 3);
        dst[3] = hex[c >> 4];
        dst[4] = hex[c & 15];
        return dst + 5;
    }
}

char *perftrace__put_json_chars(char *dst, const void *data, size_t len) {
    const unsigned char *p = data;
    const unsigned char *end = p + len;
    while (p < end) {
        unsigned char c = *p;
        if (PT_LIKELY(is_plain(c)) || c == 0x7F) {
            *dst++ = (char)c;
            p++;
        } else if (c < 0x80) {
            dst = put_escaped(dst, c);
            p++;
        } else {
            unsigned n = perftrace__utf8_sequence(p, (size_t)(end - p));
            if (n) {
                memcpy(dst, p, n);
                dst += n;
                p += n;
            } else {
                memcpy(dst, "\xEF\xBF\xBD", 3);
                dst += 3;
                p += perftrace__utf8_bad_prefix(p, (size_t)(end - p));
            }
        }
    }
    return dst;
}

char *perftrace__put_json_string(char *dst, const void *data, size_t len) {
    *dst++ = '"';
    dst = perftrace__put_json_chars(dst, data, len);
    *dst++ = '"';
    return dst;
}

void perftrace__strbuf_json(perftrace__strbuf_t *b, const void *s, size_t len) {
    if (len > SIZE_MAX / 16 || !perftrace__strbuf_reserve(b, PERFTRACE__JSON_STRING_ROOM(len))) {
        b->failed = true;
        return;
    }
    char *end = perftrace__put_json_string(b->data + b->len, s, len);
    b->len = (size_t)(end - b->data);
    b->data[b->len] = '\0';
}

void perftrace__strbuf_json_cstr(perftrace__strbuf_t *b, const char *s) {
    if (s) {
        perftrace__strbuf_json(b, s, strlen(s));
    } else {
        perftrace__strbuf_puts(b, "null");
    }
}

void perftrace__strbuf_double(perftrace__strbuf_t *b, double v) {
    char text[PERFTRACE__DOUBLE_MAX];
    perftrace__strbuf_append(b, text, (size_t)(perftrace__put_double(text, v, true) - text));
}
