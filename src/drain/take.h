/* take.h: from what a ring holds to the sinks. SPDX-License-Identifier: MIT
 *
 * The same for the drain and for recovery: decode, find times and steps, hand over. */
#ifndef PERFTRACE_DRAIN_TAKE_H
#define PERFTRACE_DRAIN_TAKE_H

#include "merge.h"
#include "ring_clock.h"
#include "sink.h"

/* Whose records, and who gets them. */
typedef struct perftrace__taker {
    const perftrace__ring_header_t *header;
    const perftrace__site_table_t *sites;
    perftrace__sink_t *const *sinks;
    unsigned nsinks;
    uint64_t *kept;      /* counts the records that the first sink took */
    uint64_t *no_memory; /* and those that it had no memory for */
    uint64_t *left;      /* and scopes that their threads left open */
} perftrace__taker_t;

/* Tells the sinks of a scope that its thread left open. */
void perftrace__take_left(const perftrace__taker_t *t, const perftrace__event_t *ev);

/* Takes the lane's next record and moves the merge on; of a damaged one the rest of the lane is
 * given up. */
static inline void perftrace__take_record(const perftrace__taker_t *t, perftrace__merge_t *m,
                                          perftrace__lane_t *lane) {
    perftrace__event_t ev;
    uint32_t words =
        perftrace__record_decode(lane->p, (uint64_t)(lane->end - lane->p), t->sites, &ev);
    if (words) {
        perftrace__ring_resolve(t->header, &ev);
        ev.tid = lane->tid;
        ev.slot = lane->slot;
        if (PT_UNLIKELY(perftrace__record_is_left(lane->p[0]))) {
            perftrace__take_left(t, &ev);
        } else {
            bool kept = t->sinks[0]->ops->event(t->sinks[0], &ev);
            for (unsigned i = 1; i < t->nsinks; i++) {
                t->sinks[i]->ops->event(t->sinks[i], &ev);
            }
            *t->kept += kept;
            *t->no_memory += !kept;
        }
    }
    perftrace__merge_advance(m, lane, words);
}

/* Tells the sinks of a scope that will never end. False when the entry names none. */
bool perftrace__take_open(const perftrace__taker_t *t, const perftrace_i_open_t *open, uint32_t tid,
                          uint32_t slot);

#endif
