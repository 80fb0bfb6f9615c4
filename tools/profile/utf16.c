/* utf16.c. Source of the encodings: RFC 2781 and RFC 3629. SPDX-License-Identifier: MIT */
#include "utf16.h"

#define REPLACEMENT 0xFFFDu

static char *put(char *out, uint32_t c) {
    if (c < 0x80) {
        *out++ = (char)c;
    } else if (c < 0x800) {
        *out++ = (char)(0xC0 | c >> 6);
        *out++ = (char)(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        *out++ = (char)(0xE0 | c >> 12);
        *out++ = (char)(0x80 | (c >> 6 & 0x3F));
        *out++ = (char)(0x80 | (c & 0x3F));
    } else {
        *out++ = (char)(0xF0 | c >> 18);
        *out++ = (char)(0x80 | (c >> 12 & 0x3F));
        *out++ = (char)(0x80 | (c >> 6 & 0x3F));
        *out++ = (char)(0x80 | (c & 0x3F));
    }
    return out;
}

static char *take_unit(pt_utf16_t *u, uint32_t unit, char *out) {
    bool low = unit >= 0xDC00 && unit < 0xE000;
    if (u->high != 0 && low) {
        out = put(out, 0x10000 + ((u->high - 0xD800) << 10) + (unit - 0xDC00));
        u->high = 0;
        return out;
    }
    if (u->high != 0) {
        out = put(out, REPLACEMENT);
        u->mended++;
        u->high = 0;
    }
    if (unit >= 0xD800 && unit < 0xDC00) {
        u->high = unit;
        return out;
    }
    u->mended += low ? 1 : 0;
    return put(out, low ? REPLACEMENT : unit);
}

size_t pt_utf16_feed(pt_utf16_t *u, const uint8_t *in, size_t len, char *out) {
    char *at = out;
    for (size_t i = 0; i < len; i++) {
        if (!u->has_byte) {
            u->byte = in[i];
            u->has_byte = true;
        } else {
            uint32_t first = u->byte, second = in[i];
            u->has_byte = false;
            at = take_unit(u, u->big_endian ? first << 8 | second : second << 8 | first, at);
        }
    }
    return (size_t)(at - out);
}

size_t pt_utf16_end(pt_utf16_t *u, char *out) {
    bool left = u->high != 0 || u->has_byte;
    u->mended += left ? 1 : 0;
    u->high = 0;
    u->has_byte = false;
    return left ? (size_t)(put(out, REPLACEMENT) - out) : 0;
}
