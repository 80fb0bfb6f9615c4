/* clock_curve.h: one clock against another, out of readings that each have an error.
 * SPDX-License-Identifier: MIT
 *
 * A reading says: when this clock read mono_ns, the other one read ref_ns, give or take error_ns.
 * The difference of the two clocks at that instant is thus known to lie in an interval. Between
 * readings it moves by the clocks' drift, which hardly changes: by at most `wander` from the mean
 * drift. So every reading gives a cone around its interval, and the difference lies in all of them:
 * a tube that is narrow at good readings and widens away from them (docs/CLOCKS.md). The curve is a
 * straight line where one keeps to the middle half of the tube, else the tube's middle; its bound
 * is how far the tube reaches from it. Pure. */
#ifndef PERFTRACE_TRACE_CLOCK_CURVE_H
#define PERFTRACE_TRACE_CLOCK_CURVE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Two clocks differ in speed by no more than this; what says more is wrong (RFC 5905: 500 ppm). */
#define PT_CLOCK_MAX_RATE 500e-6
/* The drift is taken to change by this much at least. */
#define PT_CLOCK_WANDER 1e-6
/* Clocks count nanoseconds since boot or since 1970: what passes this (73 years) is none. */
#define PT_CLOCK_LIMIT INT64_C(2305843009213693952)

typedef struct pt_clock_reading {
    uint64_t ref; /* hash of the name of the other clock */
    int64_t mono_ns, ref_ns, error_ns;
} pt_clock_reading_t;

/* Ns, all from the curve's origin. */
typedef struct pt_clock_knot {
    double t, delta, bound;
} pt_clock_knot_t;

typedef struct pt_clock_curve {
    int64_t origin_ns; /* on the own clock; t counts from it */
    int64_t base_ns;   /* other minus own at the origin; deltas count from it */
    pt_clock_knot_t *knot;
    size_t count;           /* 0: the readings say nothing */
    double rate;            /* of delta, outside the knots */
    double grow;            /* of the bound, outside the knots */
    unsigned used, refused; /* readings */
} pt_clock_curve_t;

/* Other minus own, and how far off that may be. */
typedef struct pt_clock_delta {
    int64_t ns;
    double bound;
} pt_clock_delta_t;

/* Whether the numbers of a reading can be true. */
bool pt_clock_reading_ok(const pt_clock_reading_t *reading);

/* Makes the curve of readings of one other clock; sorts them. False without memory. */
bool pt_clock_curve_fit(pt_clock_reading_t *readings, size_t count, pt_clock_curve_t *ret_curve);
void pt_clock_curve_free(pt_clock_curve_t *curve);

/* At an instant of the own clock; the curve has knots. */
pt_clock_delta_t pt_clock_curve_at(const pt_clock_curve_t *curve, int64_t own_ns);
/* The instant of the own clock at which the other one reads other_ns. */
int64_t pt_clock_curve_own(const pt_clock_curve_t *curve, int64_t other_ns);

#endif
