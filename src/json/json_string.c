/* json_string.c: escapes, decoding and comparing of strings. SPDX-License-Identifier: MIT */
#include "json_lex.h"

int perftrace__json_hex4(const char *p) {
    int v = 0;
    for (int i = 0; i < 4; i++) {
        char ch = p[i];
        char low = (char)(ch | 0x20);
        int digit;
        if (pt_is_digit(ch)) {
            digit = ch - '0';
        } else if (low >= 'a' && low <= 'f') {
            digit = low - 'a' + 10;
        } else {
            return -1;
        }
        v = v * 16 + digit;
    }
    return v;
}

unsigned perftrace__json_escape(const char *p, const char *end, uint32_t *ret_code_point) {
    if (end - p < 2) {
        return 0;
    }
    switch (p[1]) {
    case '"':
    case '\\':
    case '/':
        *ret_code_point = (unsigned char)p[1];
        return 2;
    case 'b':
        *ret_code_point = '\b';
        return 2;
    case 'f':
        *ret_code_point = '\f';
        return 2;
    case 'n':
        *ret_code_point = '\n';
        return 2;
    case 'r':
        *ret_code_point = '\r';
        return 2;
    case 't':
        *ret_code_point = '\t';
        return 2;
    case 'u':
        break;
    default:
        return 0;
    }
    int unit = end - p < 6 ? -1 : perftrace__json_hex4(p + 2);
    if (unit < 0) {
        return 0;
    }
    *ret_code_point = (uint32_t)unit;
    if (unit >= 0xD800 && unit <= 0xDBFF && end - p >= 12 && p[6] == '\\' && p[7] == 'u') {
        int low = perftrace__json_hex4(p + 8);
        if (low >= 0xDC00 && low <= 0xDFFF) {
            *ret_code_point =
                0x10000u + (((uint32_t)unit - 0xD800u) << 10) + (uint32_t)low - 0xDC00u;
            return 12;
        }
    }
    return 6;
}

unsigned perftrace__json_put_utf8(char *out, uint32_t cp) {
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    if (cp < 0x800) {
        out[0] = (char)(0xC0 | cp >> 6);
        out[1] = (char)(0x80 | (cp & 0x3F));
        return 2;
    }
    if (cp >= 0xD800 && cp <= 0xDFFF) {
        cp = 0xFFFD;
    }
    if (cp < 0x10000) {
        out[0] = (char)(0xE0 | cp >> 12);
        out[1] = (char)(0x80 | (cp >> 6 & 0x3F));
        out[2] = (char)(0x80 | (cp & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | cp >> 18);
    out[1] = (char)(0x80 | (cp >> 12 & 0x3F));
    out[2] = (char)(0x80 | (cp >> 6 & 0x3F));
    out[3] = (char)(0x80 | (cp & 0x3F));
    return 4;
}

size_t perftrace__json_decode(const perftrace__json_slice_t *s, char *out) {
    const char *p = s->p;
    const char *end = p + s->len;
    char *w = out;
    while (p < end) {
        const char *stop = s->escaped ? memchr(p, '\\', (size_t)(end - p)) : NULL;
        size_t run = (size_t)((stop ? stop : end) - p);
        memmove(w, p, run);
        w += run;
        p += run;
        if (!stop) {
            break;
        }
        uint32_t cp;
        unsigned used = perftrace__json_escape(p, end, &cp);
        if (used == 0) {
            *w++ = *p++;
            continue;
        }
        p += used;
        w += perftrace__json_put_utf8(w, cp);
    }
    return (size_t)(w - out);
}

/* Decodes one piece (an escape, or a byte as it stands) at *p into out; returns its length. */
static unsigned next_piece(const char **p, const char *end, char out[4]) {
    uint32_t cp;
    unsigned used = **p == '\\' ? perftrace__json_escape(*p, end, &cp) : 0;
    if (used == 0) {
        out[0] = *(*p)++;
        return 1;
    }
    *p += used;
    return perftrace__json_put_utf8(out, cp);
}

bool perftrace__json_equal_slow(const perftrace__json_slice_t *s, const char *text, size_t len) {
    if (s->type != PERFTRACE__JSON_STRING) {
        return false;
    }
    const char *p = s->p;
    const char *end = p + s->len;
    const char *t = text;
    const char *tend = text + len;
    while (p < end) {
        char piece[4];
        unsigned n = next_piece(&p, end, piece);
        if ((size_t)(tend - t) < n || memcmp(t, piece, n) != 0) {
            return false;
        }
        t += n;
    }
    return t == tend;
}

bool perftrace__json_same_string(const char *a, size_t a_len, const char *b, size_t b_len) {
    const char *a_end = a + a_len;
    const char *b_end = b + b_len;
    char a_piece[4];
    char b_piece[4];
    unsigned a_left = 0;
    unsigned b_left = 0;
    unsigned a_size = 0;
    unsigned b_size = 0;
    for (;;) {
        if (a_left == 0 && a < a_end) {
            a_left = a_size = next_piece(&a, a_end, a_piece);
        }
        if (b_left == 0 && b < b_end) {
            b_left = b_size = next_piece(&b, b_end, b_piece);
        }
        if (a_left == 0 || b_left == 0) {
            return a_left == b_left;
        }
        if (a_piece[a_size - a_left--] != b_piece[b_size - b_left--]) {
            return false;
        }
    }
}
