/* ring_clock.c. SPDX-License-Identifier: MIT */
#include "ring_clock.h"

#include "atomics.h"

uint64_t perftrace__clock_mult(uint64_t ticks, uint64_t ns, uint64_t fallback) {
    if (ticks == 0 || ns == 0) {
        return fallback;
    }
    __extension__ unsigned __int128 wide = (unsigned __int128)ns << 32;
    __extension__ unsigned __int128 mult = wide / ticks;
    return mult == 0 || mult > (uint64_t)1000 << 32 ? fallback : (uint64_t)mult;
}

uint64_t perftrace__ring_ticks_to_ns(const perftrace__ring_header_t *h, uint64_t ticks) {
    /* Pairs with the release in perftrace__core_anchor: the anchors below the count are complete.
     */
    uint32_t n = pt_load_acquire(&h->anchor_count);
    if (n == 0) {
        return 0;
    }
    uint32_t oldest = n > PERFTRACE__RING_ANCHORS ? n - PERFTRACE__RING_ANCHORS : 0;
    uint32_t i = n - 1;
    while (i > oldest && h->anchors[i % PERFTRACE__RING_ANCHORS].ticks > ticks) {
        i--;
    }
    const perftrace__anchor_t *a = &h->anchors[i % PERFTRACE__RING_ANCHORS];
    if (ticks >= a->ticks) {
        return perftrace__anchor_ns(a, ticks);
    }
    __extension__ unsigned __int128 back = (unsigned __int128)(a->ticks - ticks) * a->mult;
    uint64_t ns = (uint64_t)(back >> 32);
    return ns < a->ns ? a->ns - ns : 0;
}

int perftrace__ring_step_search(const perftrace__ring_header_t *h, uint64_t ticks,
                                int64_t *ret_step) {
    /* Pairs with the release in mark_step (core.c): marks below the count are complete, and a scope
     * that began after a mark was published after it. */
    uint64_t n = pt_load_acquire(&h->step_count);
    uint64_t oldest = n > PERFTRACE__RING_STEPS ? n - PERFTRACE__RING_STEPS : 0;
    for (uint64_t i = n; i > oldest; i--) {
        const perftrace__step_mark_t *m = &h->steps[(i - 1) % PERFTRACE__RING_STEPS];
        if (pt_load_relaxed(&m->ticks) <= ticks) {
            *ret_step = pt_load_relaxed(&m->step);
            return 1;
        }
    }
    return 0;
}
