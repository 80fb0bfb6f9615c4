/* json_random.h: random JSON texts for the tests of the json room. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TESTS_JSON_RANDOM_H
#define PERFTRACE_TESTS_JSON_RANDOM_H

#include "strbuf.h"

typedef struct json_random {
    uint64_t state;
    unsigned depth; /* containers around what is being written */
    bool unique_keys;
} json_random_t;

static inline uint64_t json_random_next(json_random_t *r) {
    /* splitmix64 */
    uint64_t z = r->state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static inline unsigned json_random_below(json_random_t *r, unsigned n) {
    return (unsigned)(json_random_next(r) % n);
}

static inline void json_random_space(json_random_t *r, perftrace__strbuf_t *out) {
    static const char *const spaces[] = {"",       "",   " ",    " ",
                                         "\n    ", "\t", "\r\n", "                      "};
    perftrace__strbuf_puts(out, spaces[json_random_below(r, PT_ARRAY_LEN(spaces))]);
}

static inline void json_random_string(json_random_t *r, perftrace__strbuf_t *out) {
    static const char *const pieces[] = {"a",
                                         "train.step",
                                         "{",
                                         "}",
                                         "[",
                                         "]",
                                         ",",
                                         ":",
                                         "\\\"",
                                         "\\\\",
                                         "\\n",
                                         "\\/",
                                         "\\u00e9",
                                         "\\u0041",
                                         "\xC3\xA9",
                                         "\xE2\x82\xAC",
                                         "\xF0\x9F\x98\x80",
                                         "\\uD83D\\uDE00",
                                         "0123456789abcdef",
                                         "\x7F",
                                         " ",
                                         "'",
                                         "\\\\\\\\",
                                         "/* */"};
    perftrace__strbuf_putc(out, '"');
    for (unsigned n = json_random_below(r, 8); n > 0; n--) {
        perftrace__strbuf_puts(out, pieces[json_random_below(r, PT_ARRAY_LEN(pieces))]);
    }
    perftrace__strbuf_putc(out, '"');
}

static inline void json_random_scalar(json_random_t *r, perftrace__strbuf_t *out) {
    static const char *const words[] = {"0",
                                        "-0",
                                        "1",
                                        "-17",
                                        "305.125",
                                        "1e3",
                                        "5.25E-3",
                                        "18446744073709551615",
                                        "true",
                                        "null",
                                        "false",
                                        "0.1",
                                        "1760000000000000.123",
                                        "-9223372036854775808",
                                        "12345678901234567"};
    if (json_random_below(r, 2)) {
        json_random_string(r, out);
    } else {
        perftrace__strbuf_puts(out, words[json_random_below(r, PT_ARRAY_LEN(words))]);
    }
}

/* Appends one random value without white space around it. Recursive, at most five levels deep. */
static inline void json_random_value(json_random_t *r, perftrace__strbuf_t *out, bool container) {
    if (!container && (r->depth >= 5 || json_random_below(r, 3) == 0)) {
        json_random_scalar(r, out);
        return;
    }
    bool object = json_random_below(r, 2);
    unsigned members = json_random_below(r, 6);
    r->depth++;
    perftrace__strbuf_putc(out, object ? '{' : '[');
    json_random_space(r, out);
    for (unsigned i = 0; i < members; i++) {
        if (i > 0) {
            perftrace__strbuf_putc(out, ',');
            json_random_space(r, out);
        }
        if (object) {
            if (r->unique_keys) {
                perftrace__strbuf_printf(out, "\"k%u\"", i);
            } else {
                json_random_string(r, out);
            }
            json_random_space(r, out);
            perftrace__strbuf_putc(out, ':');
            json_random_space(r, out);
        }
        json_random_value(r, out, false);
        json_random_space(r, out);
    }
    perftrace__strbuf_putc(out, object ? '}' : ']');
    r->depth--;
}

/* Changes, removes or inserts up to three bytes. */
static inline void json_random_damage(json_random_t *r, perftrace__strbuf_t *b) {
    static const char bytes[] = "{}[],:\"\\ue0.+-NntfaI'/\x01\x80\xFF\xEF\xBB\xBF \n";
    for (unsigned n = 1 + json_random_below(r, 3); n > 0 && b->len > 0; n--) {
        size_t at = json_random_below(r, (unsigned)b->len);
        char byte = bytes[json_random_below(r, (unsigned)sizeof(bytes))];
        switch (json_random_below(r, 4)) {
        case 0:
            b->data[at] = byte;
            break;
        case 1:
            memmove(b->data + at, b->data + at + 1, b->len - at);
            b->len--;
            break;
        case 2:
            perftrace__strbuf_putc(b, ' ');
            memmove(b->data + at + 1, b->data + at, b->len - at - 1);
            b->data[at] = byte;
            break;
        default:
            b->len = at;
            b->data[at] = 0;
            break;
        }
    }
}

#endif
