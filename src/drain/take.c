/* take.c. SPDX-License-Identifier: MIT */
#include "take.h"

static void tell_unfinished(const perftrace__taker_t *t, const perftrace__event_t *ev) {
    for (unsigned i = 0; i < t->nsinks; i++) {
        t->sinks[i]->ops->unfinished(t->sinks[i], ev);
    }
}

void perftrace__take_left(const perftrace__taker_t *t, const perftrace__event_t *ev) {
    tell_unfinished(t, ev);
    (*t->left)++;
}

bool perftrace__take_open(const perftrace__taker_t *t, const perftrace_i_open_t *open, uint32_t tid,
                          uint32_t slot) {
    perftrace__event_t ev;
    if (!perftrace__record_from_open(open, t->sites, &ev)) {
        return false;
    }
    perftrace__ring_resolve(t->header, &ev);
    ev.tid = tid;
    ev.slot = slot;
    tell_unfinished(t, &ev);
    return true;
}
