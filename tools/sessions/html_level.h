/* html_level.h: how many intervals cover a moment, in buckets of time. SPDX-License-Identifier: MIT
 *
 * Pure but for memory. */
#ifndef PERFTRACE_SESSIONS_HTML_LEVEL_H
#define PERFTRACE_SESSIONS_HTML_LEVEL_H
#include "compiler.h"

#include <stdbool.h>

/* Intervals from begin[i] to end[i], end not included. */
typedef struct pt_intervals {
    double *begin, *end;
    size_t n;
} pt_intervals_t;

typedef struct pt_buckets {
    double from, width;
    size_t count;
} pt_buckets_t;

/* Buckets over a range, at most `most` and at least one; their width and limits are whole numbers
 * of a unit that people count in: 1, 2 or 5 times a power of ten, or parts of minutes, hours and
 * days. Pure. */
pt_buckets_t pt_buckets_over(double first, double last, size_t most);
/* The bucket of a time; times outside go to the first or last one. */
size_t pt_bucket_of(const pt_buckets_t *buckets, double time);

/* For each bucket the mean level over its time and the highest. Sorts begin and end, each on its
 * own: the intervals are lost. False without memory. */
bool pt_level(pt_intervals_t *intervals, const pt_buckets_t *buckets, double *ret_mean,
              double *ret_most);

#endif
