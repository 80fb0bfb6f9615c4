/* natural.c: the order in which r2 stands before r10. SPDX-License-Identifier: MIT */
#include "natural.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static size_t digits(const char *s) {
    size_t n = 0;
    while (is_digit(s[n])) {
        n++;
    }
    return n;
}

/* Rank of a byte: the end first, then '/', then the others by value. */
static int rank(char c) {
    if (c == '\0') {
        return 0;
    }
    return c == '/' ? 1 : 2 + (int)(unsigned char)c;
}

/* Compares two runs of digits by value; lengths are without bound, so no number is ever made. */
static int compare_numbers(const char *a, size_t na, const char *b, size_t nb) {
    while (na > 1 && *a == '0') {
        a++;
        na--;
    }
    while (nb > 1 && *b == '0') {
        b++;
        nb--;
    }
    if (na != nb) {
        return na < nb ? -1 : 1;
    }
    return memcmp(a, b, na);
}

int pt_natural_compare(const char *a, const char *b) {
    int zeros = 0; /* the first difference in leading zeros decides only where nothing else does */
    for (;;) {
        if (is_digit(*a) && is_digit(*b)) {
            size_t na = digits(a);
            size_t nb = digits(b);
            int order = compare_numbers(a, na, b, nb);
            if (order) {
                return order;
            }
            if (zeros == 0 && na != nb) {
                zeros = na < nb ? -1 : 1;
            }
            a += na;
            b += nb;
            continue;
        }
        if (*a != *b) {
            return rank(*a) < rank(*b) ? -1 : 1;
        }
        if (*a == '\0') {
            return zeros;
        }
        a++;
        b++;
    }
}

int pt_natural_compare_ptr(const void *a, const void *b) {
    return pt_natural_compare(*(char *const *)a, *(char *const *)b);
}
