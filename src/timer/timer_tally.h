/* timer_tally.h: the times that one thread took with one timer. SPDX-License-Identifier: MIT
 *
 * The owner notes a time in a small array and sorts the array into buckets when it is full: to find
 * a bucket takes as long as the time's second clock reading keeps it waiting, so a program would
 * wait at each time. Sorted together, the waits overlap. Readers take the array into account; they
 * see each time as soon as it was noted. */
#ifndef PERFTRACE_TIMER_TIMER_TALLY_H
#define PERFTRACE_TIMER_TIMER_TALLY_H

#include "atomics.h"
#include "compiler.h"

#include <perftrace/timer.h>
#include <stdbool.h>

/* What clock ticks are; for buckets. */
typedef struct perftrace__tick_rate {
    uint64_t mult;  /* ns a tick, 32.32 */
    double ns_each; /* the same */
} perftrace__tick_rate_t;

/* Times added up, in ticks. */
typedef struct perftrace__tally {
    uint64_t count;
    uint64_t sum;
    uint64_t min; /* of the interval `interval`; so is max. UINT64_MAX and 0: none */
    uint64_t max;
    uint64_t interval; /* number of resets before */
    uint64_t buckets[PERFTRACE_TIMER_BUCKETS];
} perftrace__tally_t;

#define PERFTRACE__TALLY_NOTED 64 /* a power of 2 */

/* A thread's own. Nobody else stores here. */
typedef struct perftrace__thread_tally {
    uint64_t version; /* odd while the owner changes `sorted` */
    uint64_t taken;   /* times; those from sorted.count on are noted only */
    perftrace__tally_t sorted;
    uint64_t noted[PERFTRACE__TALLY_NOTED]; /* of the times' numbers, modulo */
} perftrace__thread_tally_t;

uint64_t perftrace__ticks_to_ns(uint64_t ticks, uint64_t mult);

/* Makes it empty. Before others see it, or in the child of a fork. */
void perftrace__tally_clear(perftrace__thread_tally_t *t, uint64_t interval);

/* Owner: sorts what is noted, and begins another interval, if it is another. */
void perftrace__tally_sort(perftrace__thread_tally_t *t, uint64_t interval,
                           const perftrace__tick_rate_t *rate);

/* A copy of another thread's tally as it was at one instant, noted times included. The owner's
 * changes are short, and it never waits. */
void perftrace__tally_copy(const perftrace__thread_tally_t *t, const perftrace__tick_rate_t *rate,
                           perftrace__tally_t *ret);

/* Adds up; min and max only of the same interval. Pure. */
void perftrace__tally_merge(perftrace__tally_t *into, const perftrace__tally_t *from);

/* Owner: notes a time of the interval that sorted.interval is. True when the array is full: then it
 * must be sorted. */
PT_ALWAYS_INLINE bool perftrace__tally_note(perftrace__thread_tally_t *t, uint64_t ticks) {
    uint64_t taken = t->taken + 1;
    /* Release: a reader that finds this time where an older one was noted finds the version at
     * which that was sorted, too, and looks again. */
    pt_store_release(&t->noted[t->taken % PERFTRACE__TALLY_NOTED], ticks);
    /* The time is noted. Both pair with the acquires in perftrace__tally_copy. */
    pt_store_release(&t->taken, taken);
    return PT_UNLIKELY(taken % PERFTRACE__TALLY_NOTED == 0);
}

#endif
