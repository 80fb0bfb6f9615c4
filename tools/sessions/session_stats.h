/* session_stats.h: figures of many values. SPDX-License-Identifier: MIT
 *
 * Exact, from sorted values. Pure but for the memory that is said to be needed. */
#ifndef PERFTRACE_SESSIONS_SESSION_STATS_H
#define PERFTRACE_SESSIONS_SESSION_STATS_H
#include "compiler.h"

#include <stdbool.h>

typedef struct pt_summary {
    size_t n;
    double sum, mean, min, max; /* NAN of no values, as are the others; sum is 0 then */
    double p50, p90, p99;       /* pt_quantile */
    double median_low;          /* the lower of the two in the middle, a value that occurred */
} pt_summary_t;

/* Sorts v[0..n), none of them NAN, ascending. scratch: room for n more. */
void pt_sort_doubles(double *v, size_t n, double *scratch);
/* The q-quantile (0 to 1) of sorted values by linear interpolation between the two nearest ranks,
 * as numpy's default: position q * (n - 1). NAN of none. */
double pt_quantile(const double *sorted, size_t n, double q);
/* Of sorted values. */
pt_summary_t pt_summarise(const double *sorted, size_t n);
/* The smallest of the `top` largest of sorted values: infinite when top is 0, -infinite when there
 * are not so many. */
double pt_top_limit(const double *sorted, size_t n, size_t top);
/* How many of sorted values are below a limit. */
size_t pt_count_below(const double *sorted, size_t n, double limit);
/* The median of how far the values lie from their median, times 1.4826: for a normal distribution
 * it is the standard deviation. Sorts v; scratch: room for n more. NAN of none. */
double pt_scaled_mad(double *v, size_t n, double *scratch);

#endif
