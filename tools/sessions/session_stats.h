/* session_stats.h: figures of many values. SPDX-License-Identifier: MIT
 *
 * Exact, from values that are sorted, or that stand where sorting puts them at the places that are
 * looked at. Pure but for the memory that is said to be needed. */
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
/* Puts at each of the places (at least one, each below n, in any order) the value that sorting
 * would put there, for a fraction of what sorting takes. The other places hold no longer what they
 * did: values may be missing there or come twice. v and scratch as above. */
void pt_sort_places(double *v, size_t n, double *scratch, const size_t *place, unsigned places);
/* The two places that pt_quantile looks at for n values (not none) and q; returns how much of the
 * way from the one to the other the quantile lies. */
double pt_quantile_places(size_t n, double q, size_t ret_place[2]);
/* The q-quantile (0 to 1) of sorted values by linear interpolation between the two nearest ranks,
 * as numpy's default: position q * (n - 1). NAN of none. */
double pt_quantile(const double *sorted, size_t n, double q);
/* The sum, all but as if it were rounded once: the order of the values makes no difference. */
double pt_sum(const double *v, size_t n);
/* Of sorted values. */
pt_summary_t pt_summarise(const double *sorted, size_t n);
/* The smallest of the `top` largest of sorted values: infinite when top is 0, -infinite when there
 * are not so many. */
double pt_top_limit(const double *sorted, size_t n, size_t top);
/* The median of how far the values lie from their median, times 1.4826: for a normal distribution
 * it is the standard deviation. Sorts v; scratch: room for n more. NAN of none. */
double pt_scaled_mad(double *v, size_t n, double *scratch);

#endif
