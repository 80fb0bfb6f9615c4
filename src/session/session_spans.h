/* session_spans.h: begins and ends of a session's spans. SPDX-License-Identifier: MIT
 *
 * An end that comes before its begin makes a span whose begin is still to come. Not thread-safe. */
#ifndef PERFTRACE_SESSION_SESSION_SPANS_H
#define PERFTRACE_SESSION_SESSION_SPANS_H

#include "session_live.h"

/* Moves the span that *link names to the front of the closed ones. */
PT_ALWAYS_INLINE void perftrace__span_close(const perftrace__cells_t *cells,
                                            perftrace__live_t *live, uint32_t *link) {
    uint32_t number = *link;
    perftrace__span_t *span = perftrace__cells_span(cells, number);
    *link = span->next;
    span->next = live->closed;
    live->closed_end = live->closed ? live->closed_end : number;
    live->closed = number;
}

/* A new span at the front of a list of the session; false without memory. */
PT_ALWAYS_INLINE bool perftrace__span_make(perftrace__cells_t *cells, perftrace__live_t *live,
                                           uint32_t *list, const perftrace__span_t *init) {
    uint32_t number = perftrace__cells_take(cells);
    if (PT_UNLIKELY(!number)) {
        return false;
    }
    perftrace__span_t *span = perftrace__cells_span(cells, number);
    *span = *init;
    span->next = *list;
    *list = number;
    live->nspans++;
    return true;
}

/* Completes the span whose end came before this begin; false when there is none. */
bool perftrace__span_complete(const perftrace__cells_t *cells, perftrace__live_t *live,
                              uint32_t phase, uint64_t ns, uint32_t text);
/* Ends that are not the plain ones of perftrace__span_end. */
bool perftrace__span_end_other(perftrace__cells_t *cells, perftrace__live_t *live, uint32_t phase,
                               bool single, uint64_t began, uint64_t ns, uint32_t text,
                               uint64_t *ret_start);

/* text: the kept payload or 0; without memory (false) it stays the caller's. */
PT_ALWAYS_INLINE bool perftrace__span_begin(perftrace__cells_t *cells, perftrace__live_t *live,
                                            uint32_t phase, uint64_t ns, uint32_t text) {
    live->has_payloads |= text != 0;
    if (PT_UNLIKELY(live->made_up) && perftrace__span_complete(cells, live, phase, ns, text)) {
        return true;
    }
    const perftrace__span_t init = {
        .phase = (uint16_t)phase, .start = ns, .end = PERFTRACE__SPAN_OPEN, .start_text = text};
    return perftrace__span_make(cells, live, &live->open, &init);
}

/* began: 0 means the open span that began last, or none. single: the phase allows one at a time.
 * ret_start: when the span that ended had begun. */
PT_ALWAYS_INLINE bool perftrace__span_end(perftrace__cells_t *cells, perftrace__live_t *live,
                                          uint32_t phase, bool single, uint64_t began, uint64_t ns,
                                          uint32_t text, uint64_t *ret_start) {
    live->has_payloads |= text != 0;
    if (PT_LIKELY(live->open && ns >= began)) {
        perftrace__span_t *span = perftrace__cells_span(cells, live->open);
        if (PT_LIKELY(span->start == began && span->phase == phase)) {
            *ret_start = began;
            span->end = ns;
            span->end_text = text;
            perftrace__span_close(cells, live, &live->open);
            return true;
        }
    }
    return perftrace__span_end_other(cells, live, phase, single, began, ns, text, ret_start);
}

/* A span of the phase has begun and not ended. */
bool perftrace__span_is_open(const perftrace__cells_t *cells, const perftrace__live_t *live,
                             uint32_t phase);
/* Gives all spans of a session back, with their payloads. */
void perftrace__spans_give(perftrace__cells_t *cells, perftrace__live_t *live);

#endif
