/* utf8.c. SPDX-License-Identifier: MIT */
#include "utf8.h"

#include <string.h>

/* Range of the second byte for a first byte of a multi-byte sequence; lo > hi marks an invalid
 * first byte. */
static unsigned sequence_shape(unsigned char first, unsigned char *lo, unsigned char *hi) {
    *lo = 0x80;
    *hi = 0xBF;
    if (first >= 0xC2 && first <= 0xDF) {
        return 2;
    }
    if (first >= 0xE0 && first <= 0xEF) {
        if (first == 0xE0) {
            *lo = 0xA0;
        } else if (first == 0xED) {
            *hi = 0x9F;
        }
        return 3;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        if (first == 0xF0) {
            *lo = 0x90;
        } else if (first == 0xF4) {
            *hi = 0x8F;
        }
        return 4;
    }
    return 0;
}

/* Number of bytes at p that fit the start of a valid sequence; *ret_full is its full length. */
static unsigned matching_prefix(const unsigned char *p, size_t left, unsigned *ret_full) {
    unsigned char lo;
    unsigned char hi;
    if (p[0] < 0x80) {
        *ret_full = 1;
        return 1;
    }
    unsigned full = sequence_shape(p[0], &lo, &hi);
    *ret_full = full;
    if (full == 0) {
        return 0;
    }
    if (left < 2 || p[1] < lo || p[1] > hi) {
        return 1;
    }
    unsigned n = 2;
    while (n < full && n < left && (p[n] & 0xC0) == 0x80) {
        n++;
    }
    return n;
}

unsigned perftrace__utf8_sequence(const unsigned char *p, size_t left) {
    unsigned full;
    unsigned n = matching_prefix(p, left, &full);
    return n == full ? n : 0;
}

unsigned perftrace__utf8_bad_prefix(const unsigned char *p, size_t left) {
    unsigned full;
    unsigned n = matching_prefix(p, left, &full);
    return n ? n : 1;
}

bool perftrace__utf8_valid(const void *data, size_t len) {
    const unsigned char *p = data;
    const unsigned char *end = p + len;
    while (p < end) {
        while (end - p >= 8) {
            uint64_t w;
            memcpy(&w, p, 8);
            if (w & 0x8080808080808080u) {
                break;
            }
            p += 8;
        }
        if (p == end) {
            break;
        }
        if (*p < 0x80) {
            p++;
            continue;
        }
        unsigned n = perftrace__utf8_sequence(p, (size_t)(end - p));
        if (n == 0) {
            return false;
        }
        p += n;
    }
    return true;
}

size_t perftrace__utf8_cut(const void *data, size_t len, size_t limit) {
    const unsigned char *p = data;
    if (len <= limit) {
        return len;
    }
    size_t n = limit;
    while (n > 0 && limit - n < 3 && (p[n] & 0xC0) == 0x80) {
        n--;
    }
    return (p[n] & 0xC0) == 0x80 ? limit : n;
}
