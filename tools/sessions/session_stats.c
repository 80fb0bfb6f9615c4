/* session_stats.c: figures of many values. SPDX-License-Identifier: MIT */
#include "session_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIGIT_BITS 11
#define DIGITS     6 /* of 11 bits in 64 */
#define BUCKETS    (1U << DIGIT_BITS)
#define SMALL      512U

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A key that is ordered as an unsigned integer as the values are as numbers. */
static uint64_t key_of(double v) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return (bits >> 63) != 0 ? ~bits : bits | (uint64_t)1 << 63;
}

static unsigned digit_of(uint64_t key, unsigned digit) {
    return (unsigned)(key >> (digit * DIGIT_BITS)) & (BUCKETS - 1);
}

/* By digits, from the last to the first. */
static void radix_sort(double *v, size_t n, double *scratch) {
    size_t count[DIGITS][BUCKETS];
    double *from = v, *to = scratch;
    memset(count, 0, sizeof count);
    for (size_t i = 0; i < n; i++) {
        uint64_t key = key_of(v[i]);
        for (unsigned d = 0; d < DIGITS; d++) {
            count[d][digit_of(key, d)]++;
        }
    }
    for (unsigned d = 0; d < DIGITS; d++) {
        if (count[d][digit_of(key_of(from[0]), d)] == n) {
            continue; /* all have the same digit */
        }
        size_t at = 0;
        for (unsigned b = 0; b < BUCKETS; b++) {
            size_t here = count[d][b];
            count[d][b] = at;
            at += here;
        }
        for (size_t i = 0; i < n; i++) {
            to[count[d][digit_of(key_of(from[i]), d)]++] = from[i];
        }
        double *swap = from;
        from = to;
        to = swap;
    }
    if (from != v) {
        memcpy(v, from, n * sizeof *v);
    }
}

void pt_sort_doubles(double *v, size_t n, double *scratch) {
    if (n < SMALL) {
        qsort(v, n, sizeof *v, by_value);
    } else {
        radix_sort(v, n, scratch);
    }
}

/* ---- the values at some places of the order ---- */

#define RANGES     4096U /* of keys, as wide as one another */
#define PLACES_MAX 16U

/* Values by ranges of their keys. */
typedef struct ranges {
    uint64_t low; /* the least key */
    unsigned shift;
    uint32_t count[RANGES];
    uint8_t wanted[RANGES]; /* number plus 1 of what is wanted of it */
} ranges_t;

/* A range with a place in it. */
typedef struct wanted {
    size_t before, count; /* values in the ranges below it; in it */
    double *value;        /* its values, as far as they are gathered */
} wanted_t;

static unsigned range_of(const ranges_t *r, double v) {
    return (unsigned)((key_of(v) - r->low) >> r->shift);
}

static void count_ranges(ranges_t *r, const double *v, size_t n) {
    uint64_t low = UINT64_MAX, high = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t key = key_of(v[i]);
        low = key < low ? key : low;
        high = key > high ? key : high;
    }
    memset(r, 0, sizeof *r);
    r->low = low;
    while ((high - low) >> r->shift >= RANGES) {
        r->shift++;
    }
    for (size_t i = 0; i < n; i++) {
        r->count[range_of(r, v[i])]++;
    }
}

/* The ranges that hold the places; returns how many they are. */
static unsigned find_wanted(ranges_t *r, const size_t *place, unsigned places, wanted_t *wanted,
                            size_t *ret_values) {
    unsigned found = 0;
    size_t before = 0;
    *ret_values = 0;
    for (unsigned i = 0; i < RANGES; i++) {
        bool want = false;
        for (unsigned p = 0; r->count[i] > 0 && p < places; p++) {
            want |= place[p] - before < r->count[i]; /* wraps around where it lies below */
        }
        if (want) {
            wanted[found++] = (wanted_t){before, r->count[i], NULL};
            r->wanted[i] = (uint8_t)found;
            *ret_values += r->count[i];
        }
        before += r->count[i];
    }
    return found;
}

/* Copies the values of the wanted ranges to scratch, one range behind the other. */
static void gather_wanted(const ranges_t *r, const double *v, size_t n, wanted_t *wanted,
                          unsigned count, double *scratch) {
    for (unsigned i = 0; i < count; i++) {
        wanted[i].value = scratch;
        scratch += wanted[i].count;
        wanted[i].count = 0;
    }
    for (size_t i = 0; i < n; i++) {
        unsigned number = r->wanted[range_of(r, v[i])];
        if (number != 0) {
            wanted_t *w = &wanted[number - 1];
            w->value[w->count++] = v[i];
        }
    }
}

void pt_sort_places(double *v, size_t n, double *scratch, const size_t *place, unsigned places) {
    ranges_t r;
    wanted_t wanted[PLACES_MAX];
    if (n < SMALL || n > UINT32_MAX || places > PLACES_MAX) {
        pt_sort_doubles(v, n, scratch);
        return;
    }
    size_t values;
    count_ranges(&r, v, n);
    unsigned count = find_wanted(&r, place, places, wanted, &values);
    if (values > n / 2) { /* sorting these takes as much room again */
        pt_sort_doubles(v, n, scratch);
        return;
    }
    gather_wanted(&r, v, n, wanted, count, scratch);
    for (unsigned i = 0; i < count; i++) {
        pt_sort_doubles(wanted[i].value, wanted[i].count, scratch + values);
    }
    for (unsigned p = 0; p < places; p++) {
        for (unsigned i = 0; i < count; i++) {
            if (place[p] - wanted[i].before < wanted[i].count) {
                v[place[p]] = wanted[i].value[place[p] - wanted[i].before];
            }
        }
    }
}

/* ---- figures ---- */

double pt_quantile_places(size_t n, double q, size_t ret_place[2]) {
    double at = q * (double)(n - 1);
    ret_place[0] = PT_MIN((size_t)at, n - 1);
    ret_place[1] = PT_MIN(ret_place[0] + 1, n - 1);
    return at - (double)ret_place[0];
}

double pt_quantile(const double *sorted, size_t n, double q) {
    if (n == 0) {
        return (double)NAN;
    }
    size_t place[2];
    double part = pt_quantile_places(n, q, place);
    return sorted[place[0]] + part * (sorted[place[1]] - sorted[place[0]]);
}

double pt_sum(const double *v, size_t n) {
    double sum = 0, lost = 0; /* what the additions have rounded away */
    for (size_t i = 0; i < n; i++) {
        double more = sum + v[i], added = more - sum;
        lost += (sum - (more - added)) + (v[i] - added);
        sum = more;
    }
    return isfinite(sum) ? sum + lost : sum;
}

pt_summary_t pt_summarise(const double *sorted, size_t n) {
    bool none = n == 0;
    double sum = pt_sum(sorted, n);
    return (pt_summary_t){.n = n,
                          .sum = sum,
                          .mean = none ? (double)NAN : sum / (double)n,
                          .min = none ? (double)NAN : sorted[0],
                          .max = none ? (double)NAN : sorted[n - 1],
                          .p50 = pt_quantile(sorted, n, 0.5),
                          .p90 = pt_quantile(sorted, n, 0.9),
                          .p99 = pt_quantile(sorted, n, 0.99),
                          .median_low = none ? (double)NAN : sorted[(n - 1) / 2]};
}

double pt_top_limit(const double *sorted, size_t n, size_t top) {
    return top == 0 ? (double)INFINITY : top >= n ? (double)-INFINITY : sorted[n - top];
}

double pt_scaled_mad(double *v, size_t n, double *scratch) {
    pt_sort_doubles(v, n, scratch);
    double median = pt_quantile(v, n, 0.5);
    for (size_t i = 0; i < n; i++) {
        v[i] = fabs(v[i] - median);
    }
    pt_sort_doubles(v, n, scratch);
    return 1.4826 * pt_quantile(v, n, 0.5);
}
