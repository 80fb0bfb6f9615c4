/* json_number.c: numbers in decimal text to exact values. SPDX-License-Identifier: MIT */
#include "json_lex.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

/* A number taken apart: 0.d1d2d3... times ten to the power `point`, d1 not 0 and the last digit not
 * 0; count 0 for zero. The digits lie in the text, interrupted by a decimal point at most. */
typedef struct decimal {
    bool negative;
    const char *digits; /* d1 */
    size_t count;       /* digits */
    size_t
        before_dot; /* how many of them stand before the dot; SIZE_MAX when no dot lies between */
    int64_t point;
} decimal_t;

/* Exponents are cut off here: far outside of what any result type can hold, and no text is so long
 * that its digits could bring such a number back. */
#define EXPONENT_LIMIT INT64_C(1000000000000000)

static size_t digit_run(const char *p, const char *end) {
    const char *from = p;
    while (p < end && pt_is_digit(*p)) {
        p++;
    }
    return (size_t)(p - from);
}

size_t perftrace__json_number_length(const char *buf, size_t len) {
    const char *p = buf;
    const char *end = buf + len;
    if (p < end && *p == '-') {
        p++;
    }
    size_t n = digit_run(p, end);
    if (n == 0 || (n > 1 && *p == '0')) {
        return 0;
    }
    p += n;
    if (p < end && *p == '.') {
        n = digit_run(p + 1, end);
        if (n == 0) {
            return 0;
        }
        p += 1 + n;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        const char *q = p + 1;
        if (q < end && (*q == '+' || *q == '-')) {
            q++;
        }
        n = digit_run(q, end);
        if (n == 0) {
            return 0;
        }
        p = q + n;
    }
    return (size_t)(p - buf);
}

static int64_t parse_exponent(const char *p, const char *end) {
    bool negative = *p == '-';
    int64_t v = 0;
    for (p += *p == '-' || *p == '+'; p < end; p++) {
        v = v < EXPONENT_LIMIT / 10 ? v * 10 + (*p - '0') : EXPONENT_LIMIT;
    }
    return negative ? -v : v;
}

/* p[0..len) is a valid number. */
static void take_apart(const char *p, size_t len, decimal_t *d) {
    const char *end = p + len;
    d->negative = *p == '-';
    p += d->negative;
    const char *whole_end = p + digit_run(p, end);
    const char *digits_end = whole_end;
    if (digits_end < end && *digits_end == '.') {
        digits_end += 1 + digit_run(digits_end + 1, end);
    }
    int64_t exponent = digits_end < end ? parse_exponent(digits_end + 1, end) : 0;
    const char *first = p;
    while (first < digits_end && (*first == '0' || *first == '.')) {
        first++;
    }
    while (digits_end > first && (digits_end[-1] == '0' || digits_end[-1] == '.')) {
        digits_end--;
    }
    d->digits = first;
    d->count = (size_t)(digits_end - first);
    d->before_dot = SIZE_MAX;
    if (first < whole_end) {
        d->point = whole_end - first;
        if (digits_end > whole_end) {
            d->before_dot = (size_t)(whole_end - first);
            d->count--;
        }
    } else {
        d->point = -(first - whole_end - 1);
    }
    d->point += exponent;
    if (d->count == 0) {
        d->point = 0;
    }
}

static unsigned digit_at(const decimal_t *d, size_t i) {
    if (i >= d->count) {
        return 0;
    }
    return (unsigned)(d->digits[i + (i >= d->before_dot)] - '0');
}

/* The first n digits (n <= 19) as an integer. */
static uint64_t leading_digits(const decimal_t *d, size_t n) {
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++) {
        v = v * 10 + digit_at(d, i);
    }
    return v;
}

/* The number as text; false when the slice holds none. */
static bool number_of(const perftrace__json_slice_t *s, decimal_t *d) {
    if (s->type == PERFTRACE__JSON_STRING) {
        if (s->len == 0 || perftrace__json_number_length(s->p, s->len) != s->len) {
            return false;
        }
    } else if (s->type != PERFTRACE__JSON_NUMBER) {
        return false;
    }
    take_apart(s->p, s->len, d);
    return true;
}

/* Magnitude of an integer below 2^64; false when it is none. */
static bool magnitude_of(const decimal_t *d, uint64_t *ret) {
    if (d->count == 0) {
        *ret = 0;
        return true;
    }
    if (d->point < (int64_t)d->count || d->point > 20) {
        return false;
    }
    uint64_t head = leading_digits(d, (size_t)PT_MIN(d->point, 19));
    if (d->point < 20) {
        *ret = head;
        return true;
    }
    return !__builtin_mul_overflow(head, (uint64_t)10, &head) &&
           !__builtin_add_overflow(head, (uint64_t)digit_at(d, 19), ret);
}

/* With its sign in 64 bits; false (and the limit in *ret) when it does not fit. */
static bool signed_of(uint64_t magnitude, bool negative, int64_t *ret) {
    if (negative) {
        if (magnitude > (uint64_t)INT64_MAX + 1) {
            *ret = INT64_MIN;
            return false;
        }
        *ret = (int64_t)(0 - magnitude);
        return true;
    }
    if (magnitude > (uint64_t)INT64_MAX) {
        *ret = INT64_MAX;
        return false;
    }
    *ret = (int64_t)magnitude;
    return true;
}

/* A run of 1 to 18 digits and nothing else; most numbers are. */
static bool short_integer(const char *p, size_t len, uint64_t *ret) {
    if (len == 0 || len > 18) {
        return false;
    }
    uint64_t v = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned digit = (unsigned)(unsigned char)p[i] - '0';
        if (digit > 9) {
            return false;
        }
        v = v * 10 + digit;
    }
    *ret = v;
    return true;
}

bool perftrace__json_to_u64(const perftrace__json_slice_t *s, uint64_t *ret) {
    if (s->type == PERFTRACE__JSON_NUMBER && short_integer(s->p, s->len, ret)) {
        return true;
    }
    decimal_t d;
    uint64_t v;
    if (!number_of(s, &d) || !magnitude_of(&d, &v) || (d.negative && v != 0)) {
        return false;
    }
    *ret = v;
    return true;
}

bool perftrace__json_to_i64(const perftrace__json_slice_t *s, int64_t *ret) {
    uint64_t v;
    if (s->type == PERFTRACE__JSON_NUMBER && short_integer(s->p, s->len, &v)) {
        *ret = (int64_t)v;
        return true;
    }
    decimal_t d;
    int64_t fitted;
    if (!number_of(s, &d) || !magnitude_of(&d, &v) || !signed_of(v, d.negative, &fitted)) {
        return false;
    }
    *ret = fitted;
    return true;
}

/* The form that tracers write: up to 15 digits, a point, up to three decimals. */
static bool short_time(const char *p, size_t len, int64_t *ret) {
    if (len > 20) {
        return false;
    }
    uint64_t v = 0;
    size_t i = 0;
    for (; i < len; i++) {
        unsigned digit = (unsigned)(unsigned char)p[i] - '0';
        if (digit > 9) {
            break;
        }
        v = v * 10 + digit;
    }
    if (i == 0 || i > 15) {
        return false;
    }
    size_t decimals = 0;
    if (i < len) {
        decimals = len - i - 1;
        if (p[i] != '.' || decimals > 3) {
            return false;
        }
        for (i++; i < len; i++) {
            unsigned digit = (unsigned)(unsigned char)p[i] - '0';
            if (digit > 9) {
                return false;
            }
            v = v * 10 + digit;
        }
    }
    static const uint16_t scale[] = {1000, 100, 10, 1};
    *ret = (int64_t)(v * scale[decimals]);
    return true;
}

bool perftrace__json_to_ns(const perftrace__json_slice_t *s, int64_t *ret) {
    if (s->type == PERFTRACE__JSON_NUMBER && short_time(s->p, s->len, ret)) {
        return true;
    }
    decimal_t d;
    *ret = 0;
    if (!number_of(s, &d)) {
        return false;
    }
    int64_t digits = d.point + 3;
    if (digits < 0 || d.count == 0) {
        return true;
    }
    if (digits > 19) {
        *ret = d.negative ? INT64_MIN : INT64_MAX;
        return false;
    }
    /* 19 digits are below 10^19, which leaves room for the 1 of the rounding. */
    uint64_t v = leading_digits(&d, (size_t)digits) + (digit_at(&d, (size_t)digits) >= 5);
    return signed_of(v, d.negative, ret);
}

static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;

static void make_c_locale(void) {
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* Digits behind the 770th cannot change which double is nearest; that some follow can (a tie). */
#define DIGITS_THAT_MATTER 770

static double double_slow(const decimal_t *d) {
    char text[DIGITS_THAT_MATTER + 32];
    char *w = text;
    *w++ = '.';
    size_t n = PT_MIN(d->count, (size_t)DIGITS_THAT_MATTER);
    for (size_t i = 0; i < n; i++) {
        *w++ = (char)('0' + digit_at(d, i));
    }
    if (n < d->count) {
        *w++ = '1';
    }
    *w++ = 'e';
    int64_t e = PT_MAX(PT_MIN(d->point, 9999), -9999);
    if (e < 0) {
        *w++ = '-';
        e = -e;
    }
    for (int64_t unit = 1000; unit > 0; unit /= 10) {
        *w++ = (char)('0' + e / unit % 10);
    }
    *w = 0;
    pthread_once(&c_locale_once, make_c_locale);
    return c_locale ? strtod_l(text, NULL, c_locale) : strtod(text, NULL);
}

static double double_of(const decimal_t *d) {
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    double v = 0;
    if (d->count > 0) {
        int64_t e = d->point - (int64_t)d->count;
        uint64_t digits = d->count <= 19 ? leading_digits(d, d->count) : UINT64_MAX;
        /* Both operands are exact in a double, so the one operation rounds correctly. */
        if (digits <= (uint64_t)1 << 53 && e >= -22 && e <= 22) {
            v = e < 0 ? (double)digits / power[-e] : (double)digits * power[e];
        } else {
            v = double_slow(d);
        }
    }
    return d->negative ? -v : v;
}

/* The common forms, from a copy because nothing behind a slice may be loaded. */
static bool short_double(const perftrace__json_slice_t *s, double *ret) {
    enum { LONGEST = 31, SPARE = 65 };
    char text[LONGEST + SPARE] = {0};
    if (s->type != PERFTRACE__JSON_NUMBER || s->len > LONGEST) {
        return false;
    }
    memcpy(text, s->p, s->len);
    return perftrace__json_read_double(text, ret) == text + s->len;
}

bool perftrace__json_to_double(const perftrace__json_slice_t *s, double *ret) {
    if (short_double(s, ret)) {
        return true;
    }
    decimal_t d;
    if (!number_of(s, &d)) {
        return false;
    }
    *ret = double_of(&d);
    return true;
}

bool perftrace__json_number_is_huge(const char *p, size_t len) {
    decimal_t d;
    take_apart(p, len, &d);
    return d.point > 308 && (d.point > 309 || isinf(double_of(&d)));
}
