/* timer_math.h: buckets of times (pure). SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TIMER_TIMER_MATH_H
#define PERFTRACE_TIMER_TIMER_MATH_H

#include "strbuf.h"

#include <perftrace/timer.h>

/* The bucket of a time: 0 to 3 as they are, then four to a doubling. */
static inline unsigned perftrace__timer_bucket(uint64_t ns) {
    if (ns < 4) {
        return (unsigned)ns;
    }
    unsigned e = 63U - (unsigned)__builtin_clzll(ns);
    return (e - 1) * 4 + (unsigned)(ns >> (e - 2) & 3);
}

/* Appends one timer as a JSON object: name, count, sum, min, max, p50, p90, p99 in seconds, and the
 * buckets that are not empty as [least ns, count]. */
void perftrace__timer_put(perftrace__strbuf_t *out, const perftrace_timer_stats_t *stats);

#endif
