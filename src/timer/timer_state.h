/* timer_state.h: what timers hold. SPDX-License-Identifier: MIT
 *
 * A thread adds to a tally of its own for each timer, and nobody else stores there. Readers add up
 * the tallies of all threads; a reset only remembers what was read. */
#ifndef PERFTRACE_TIMER_TIMER_STATE_H
#define PERFTRACE_TIMER_TIMER_STATE_H

#include "strbuf.h"

#include <perftrace/timer.h>

/* Times are clock ticks until they are read. */
typedef struct perftrace__tally {
    /* Twice the number of times, and odd while the owner changes what follows. */
    uint64_t version;
    uint64_t count; /* in what readers hold; a thread's own has it in version */
    uint64_t sum;
    uint64_t min; /* of the interval `interval`; so is max */
    uint64_t max;
    uint64_t interval;
    uint64_t buckets[PERFTRACE_TIMER_BUCKETS];
} perftrace__tally_t;

/* Between runs: appends {"version": 1, ..., "timers": [...]} with all timers that have a count.
 * False when there is none. rank below 0: unknown. */
bool perftrace__timers_put(perftrace__strbuf_t *out, int64_t rank, const char *run_id);

#endif
