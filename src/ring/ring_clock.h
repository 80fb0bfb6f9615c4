/* ring_clock.h: clock ticks to ns since ts 0, by the anchors in the ring header. Pure.
 * SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_RING_CLOCK_H
#define PERFTRACE_RING_CLOCK_H

#include "atomics.h"
#include "compiler.h"
#include "record_decode.h"
#include "ring_layout.h"

/* ns since ts 0 of a clock reading; 0 for readings before ts 0 and when there is no anchor.
 * Monotonic: a later reading never gives a smaller result. Reads the anchors published so far; may
 * run in any process that has the header. */
uint64_t perftrace__ring_ticks_to_ns(const perftrace__ring_header_t *h, uint64_t ticks);

/* perftrace__ring_step_at for readings before the last mark. */
int perftrace__ring_step_search(const perftrace__ring_header_t *h, uint64_t ticks,
                                int64_t *ret_step);

/* The step that was current at a clock reading; 0 when none was set before. */
static inline int perftrace__ring_step_at(const perftrace__ring_header_t *h, uint64_t ticks,
                                          int64_t *ret_step) {
    /* Pairs with the release in mark_step (core.c): marks below the count are complete, and a scope
     * that began after a mark was published after it. */
    uint64_t n = pt_load_acquire(&h->step_count);
    if (n == 0) {
        return 0;
    }
    const perftrace__step_mark_t *m = &h->steps[(n - 1) % PERFTRACE__RING_STEPS];
    if (PT_LIKELY(pt_load_relaxed(&m->ticks) <= ticks)) {
        *ret_step = pt_load_relaxed(&m->step);
        return 1;
    }
    return perftrace__ring_step_search(h, ticks, ret_step);
}

static inline uint64_t perftrace__anchor_ns(const perftrace__anchor_t *a, uint64_t ticks) {
    __extension__ unsigned __int128 d = (unsigned __int128)(ticks - a->ticks) * a->mult;
    return a->ns + (uint64_t)(d >> 32);
}

/* Turns the times of a decoded event into ns and fills in its step. */
static inline void perftrace__ring_resolve(const perftrace__ring_header_t *h,
                                           perftrace__event_t *ev) {
    uint64_t start = ev->start;
    uint64_t end = ev->end;
    ev->has_step =
        ev->kind == PERFTRACE_I_KIND_SCOPE && perftrace__ring_step_at(h, start, &ev->step);
    /* Pairs with the release in perftrace__core_anchor. */
    uint32_t n = pt_load_acquire(&h->anchor_count);
    const perftrace__anchor_t *a = &h->anchors[(n - 1) % PERFTRACE__RING_ANCHORS];
    if (PT_LIKELY(n && start >= a->ticks && end >= start)) {
        /* Nearly every event lies behind the last anchor. */
        ev->start = perftrace__anchor_ns(a, start);
        ev->end = perftrace__anchor_ns(a, end);
    } else {
        ev->start = perftrace__ring_ticks_to_ns(h, start);
        ev->end = end == start ? ev->start : perftrace__ring_ticks_to_ns(h, end);
    }
}

/* ns a tick as 32.32 fixed point from two pairs of readings; fallback when they are too close. */
uint64_t perftrace__clock_mult(uint64_t ticks, uint64_t ns, uint64_t fallback);

#endif
