/* session_view.h: the spans of a session in the order of its record. SPDX-License-Identifier: MIT
 */
#ifndef PERFTRACE_SESSION_SESSION_VIEW_H
#define PERFTRACE_SESSION_SESSION_VIEW_H

#include "session_live.h"
#include "session_names.h"

/* A span as the record shows it. */
typedef struct perftrace__span_view {
    uint64_t start;
    uint64_t end; /* PERFTRACE__SPAN_OPEN */
    uint32_t start_text;
    uint32_t end_text;
    uint32_t phase;
    uint32_t seq; /* keeps spans of equal times in the order in which they came */
} perftrace__span_view_t;

/* Writes the nspans spans of a session to out: by phase, then by start. In a phase that allows one
 * span at a time the next one's start ends each. */
void perftrace__spans_view(const perftrace__cells_t *cells,
                           const perftrace__session_names_t *phases, const perftrace__live_t *live,
                           perftrace__span_view_t *out);

/* Sum of times, which stops at the highest number. */
static inline uint64_t perftrace__ns_add(uint64_t a, uint64_t b) {
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Time from a to b; 0 when b is before a. */
static inline uint64_t perftrace__ns_between(uint64_t a, uint64_t b) {
    return b > a ? b - a : 0;
}

#endif
