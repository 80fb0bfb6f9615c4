/* session_bins.h: bins of a histogram. SPDX-License-Identifier: MIT
 *
 * AReaL's rule (its plot_session_trace): the width of Freedman and Diaconis, 2 * IQR * n^(-1/3), or
 * where that is not positive the span by PT_MIN(max_bins, max(40, n / 2)); never below the span by
 * max_bins or 0.001; and, when min_bins is set, not above the span by min_bins. */
#ifndef PERFTRACE_SESSIONS_SESSION_BINS_H
#define PERFTRACE_SESSIONS_SESSION_BINS_H
#include "compiler.h"

typedef struct pt_bins {
    double start, end, width; /* the last bin may reach past end */
} pt_bins_t;

/* Of sorted values. min_bins 0: not set. max_bins at least 1. Pure. */
pt_bins_t pt_bins_make(const double *sorted, size_t n, size_t min_bins, size_t max_bins);
/* With the limits that the reference uses for the values of a whole run and of one step. */
pt_bins_t pt_bins_overall(const double *sorted, size_t n);
pt_bins_t pt_bins_step(const double *sorted, size_t n);
/* How many bins that makes; at least 1. */
size_t pt_bins_count(const pt_bins_t *bins);
/* Counts sorted values into bins; what lies past the last one is counted in it. */
void pt_bins_fill(const pt_bins_t *bins, const double *sorted, size_t n, uint64_t *count,
                  size_t bin_count);

#endif
