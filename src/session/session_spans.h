/* session_spans.h: begins and ends of a session's spans. SPDX-License-Identifier: MIT
 *
 * An end that comes before its begin makes a span whose begin is still to come. Not thread-safe. */
#ifndef PERFTRACE_SESSION_SESSION_SPANS_H
#define PERFTRACE_SESSION_SESSION_SPANS_H

#include "session_live.h"

/* text: the kept payload or 0; without memory (false) it stays the caller's. */
bool perftrace__span_begin(perftrace__cells_t *cells, perftrace__live_t *live, uint32_t phase,
                           uint64_t ns, uint32_t text);
/* began: 0 means the open span that began last, or none. single: the phase allows one at a time.
 * ret_start: when the span that ended had begun. */
bool perftrace__span_end(perftrace__cells_t *cells, perftrace__live_t *live, uint32_t phase,
                         bool single, uint64_t began, uint64_t ns, uint32_t text,
                         uint64_t *ret_start);
/* A span of the phase has begun and not ended. */
bool perftrace__span_is_open(const perftrace__cells_t *cells, const perftrace__live_t *live,
                             uint32_t phase);
/* Gives all spans of a session back, with their payloads. */
void perftrace__spans_give(perftrace__cells_t *cells, perftrace__live_t *live);

#endif
