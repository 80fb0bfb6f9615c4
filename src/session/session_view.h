/* session_view.h: the spans of a session in the order of its record. SPDX-License-Identifier: MIT
 */
#ifndef PERFTRACE_SESSION_SESSION_VIEW_H
#define PERFTRACE_SESSION_SESSION_VIEW_H

#include "session_live.h"
#include "session_names.h"

/* Writes the nspans spans of a session to out: by phase, then by start. In a phase that allows one
 * span at a time the next one's start ends each: this is where their ends are set. */
void perftrace__spans_view(const perftrace__cells_t *cells,
                           const perftrace__session_names_t *phases, const perftrace__live_t *live,
                           perftrace__span_t **out);

/* Sum of times, which stops at the highest number. */
static inline uint64_t perftrace__ns_add(uint64_t a, uint64_t b) {
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Time from a to b; 0 when b is before a. */
static inline uint64_t perftrace__ns_between(uint64_t a, uint64_t b) {
    return b > a ? b - a : 0;
}

#endif
