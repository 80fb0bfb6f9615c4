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

double pt_quantile(const double *sorted, size_t n, double q) {
    if (n == 0) {
        return (double)NAN;
    }
    double at = q * (double)(n - 1);
    size_t below = (size_t)at;
    if (below + 1 >= n) {
        return sorted[n - 1];
    }
    double part = at - (double)below;
    return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

pt_summary_t pt_summarise(const double *sorted, size_t n) {
    pt_summary_t s = {.n = n,
                      .mean = (double)NAN,
                      .min = (double)NAN,
                      .max = (double)NAN,
                      .p50 = pt_quantile(sorted, n, 0.5),
                      .p90 = pt_quantile(sorted, n, 0.9),
                      .p99 = pt_quantile(sorted, n, 0.99),
                      .median_low = (double)NAN};
    if (n == 0) {
        return s;
    }
    double sum = 0, lost = 0; /* what additions have rounded away (Kahan) */
    for (size_t i = 0; i < n; i++) {
        double add = sorted[i] - lost, more = sum + add;
        lost = (more - sum) - add;
        sum = more;
    }
    s.sum = sum;
    s.mean = sum / (double)n;
    s.min = sorted[0];
    s.max = sorted[n - 1];
    s.median_low = sorted[(n - 1) / 2];
    return s;
}

double pt_top_limit(const double *sorted, size_t n, size_t top) {
    return top == 0 ? (double)INFINITY : top >= n ? (double)-INFINITY : sorted[n - top];
}

size_t pt_count_below(const double *sorted, size_t n, double limit) {
    size_t low = 0, high = n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        low = sorted[mid] < limit ? mid + 1 : low;
        high = sorted[mid] < limit ? high : mid;
    }
    return low;
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
