/* clock_line.h: one clock against another by points without a known error.
 * SPDX-License-Identifier: MIT
 *
 * Ends of barriers, or readings of a wall clock: offset and drift by least squares. Pure. */
#ifndef PERFTRACE_TRACE_CLOCK_LINE_H
#define PERFTRACE_TRACE_CLOCK_LINE_H
#include "clock_notes.h"

/* other = t + offset + drift * (t - pivot) */
typedef struct pt_clock_line {
    double offset, drift, pivot;
    double residual; /* the largest */
    double from, to; /* the points lie between */
    double doubt;    /* of the drift */
    unsigned points;
} pt_clock_line_t;

typedef struct pt_clock_point {
    double t, delta; /* delta: other minus own */
} pt_clock_point_t;

/* One point gives an offset only. */
pt_clock_line_t pt_clock_line_fit(const pt_clock_point_t *points, size_t count);
double pt_clock_line_delta(const pt_clock_line_t *line, double t);
/* How far off the line may be at t, as far as its points tell. */
double pt_clock_line_bound(const pt_clock_line_t *line, double t);

/* The longest stretch of a wall clock's readings, delta against the monotonic clock, in which
 * nobody set it. Sorts them; *ret_from is where the stretch begins. Returns its length. */
size_t pt_clock_steady(pt_clock_point_t *points, size_t count, size_t *ret_from);
/* By how much a wall clock that read (a) and later (b) was set in between; 0: it was not. */
int64_t pt_clock_step(const pt_clock_pair_t *a, const pt_clock_pair_t *b);

#endif
