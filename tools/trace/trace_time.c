/* trace_time.c: microsecond texts and nanoseconds. SPDX-License-Identifier: MIT */
#include "trace_time.h"

/* Digits of the number without point and sign, cut to what matters, and where its point stands. */
typedef struct decimal {
    char digit[40];
    int count;
    int point; /* value = 0.digits * 10^point */
} decimal_t;

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static void take_digit(decimal_t *d, char c, bool fraction) {
    if (d->count == 0 && c == '0') {
        d->point -= fraction ? 1 : 0;
        return;
    }
    if (d->count < (int)sizeof d->digit) {
        d->digit[d->count++] = c;
    }
    d->point += fraction ? 0 : 1;
}

/* 0.digits * 10^(point + 3) as an integer, rounded half up; false above the limit. */
static bool decimal_to_ns(const decimal_t *d, uint64_t *ret) {
    int whole = d->point + 3;
    uint64_t v = 0;
    if (d->count == 0 || whole < 0) {
        *ret = 0;
        return true;
    }
    if (whole > 19) {
        return false;
    }
    for (int i = 0; i < whole; i++) {
        unsigned digit = i < d->count ? (unsigned)(d->digit[i] - '0') : 0;
        if (v > ((uint64_t)PT_TIME_LIMIT - digit) / 10) {
            return false;
        }
        v = v * 10 + digit;
    }
    if (whole < d->count && d->digit[whole] >= '5') {
        v++;
    }
    *ret = v;
    return v <= (uint64_t)PT_TIME_LIMIT;
}

bool pt_time_parse_us(const char *p, size_t len, int64_t *ret_ns) {
    const char *end = p + len;
    decimal_t d = {.count = 0, .point = 0};
    bool negative = p < end && *p == '-';
    p += negative;
    if (p >= end || !is_digit(*p)) {
        return false;
    }
    for (; p < end && is_digit(*p); p++) {
        take_digit(&d, *p, false);
    }
    if (p < end && *p == '.') {
        for (p++; p < end && is_digit(*p); p++) {
            take_digit(&d, *p, true);
        }
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        int exponent = 0;
        bool minus = false;
        p++;
        if (p < end && (*p == '+' || *p == '-')) {
            minus = *p++ == '-';
        }
        if (p >= end || !is_digit(*p)) {
            return false;
        }
        for (; p < end && is_digit(*p); p++) {
            exponent = exponent < 100000 ? exponent * 10 + (*p - '0') : exponent;
        }
        d.point += minus ? -exponent : exponent;
    }
    uint64_t magnitude = 0;
    if (p != end || !decimal_to_ns(&d, &magnitude)) {
        return false;
    }
    *ret_ns = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return true;
}
