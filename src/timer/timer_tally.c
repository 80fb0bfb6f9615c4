/* timer_tally.c: the times that one thread took with one timer. SPDX-License-Identifier: MIT */
#include "timer_tally.h"

#include "timer_math.h"

#include <string.h>

uint64_t perftrace__ticks_to_ns(uint64_t ticks, uint64_t mult) {
    __extension__ unsigned __int128 wide = (unsigned __int128)ticks * mult;
    return (uint64_t)(wide >> 32);
}

/* Exponent and two more bits of the time as a double are its bucket: cheaper than to count zeros.
 */
PT_ALWAYS_INLINE unsigned bucket_of(uint64_t ticks, const perftrace__tick_rate_t *rate) {
    double ns = (double)(int64_t)ticks * rate->ns_each;
    uint64_t bits;
    memcpy(&bits, &ns, sizeof bits);
    if (PT_UNLIKELY(!(ns >= 4 && ns < 9007199254740992.0))) {
        return perftrace__timer_bucket(perftrace__ticks_to_ns(ticks, rate->mult));
    }
    return (unsigned)(bits >> 50) - ((1023u + 1) << 2);
}

void perftrace__tally_clear(perftrace__thread_tally_t *t, uint64_t interval) {
    memset(t, 0, sizeof *t);
    t->sorted.min = UINT64_MAX;
    t->sorted.interval = interval;
}

void perftrace__tally_sort(perftrace__thread_tally_t *t, uint64_t interval,
                           const perftrace__tick_rate_t *rate) {
    perftrace__tally_t *s = &t->sorted;
    uint64_t sum = s->sum, min = s->min, max = s->max;
    /* An odd version, the changes, an even one: each behind the one before. Pairs with the acquires
     * in perftrace__tally_copy. */
    uint64_t version = t->version;
    pt_store_relaxed(&t->version, version + 1);
    for (uint64_t i = s->count; i < t->taken; i++) {
        uint64_t ticks = t->noted[i % PERFTRACE__TALLY_NOTED];
        uint64_t *bucket = &s->buckets[bucket_of(ticks, rate)];
        pt_store_release(bucket, *bucket + 1);
        sum += ticks;
        min = PT_MIN(min, ticks);
        max = PT_MAX(max, ticks);
    }
    if (s->interval != interval) {
        min = UINT64_MAX;
        max = 0;
    }
    pt_store_release(&s->sum, sum);
    pt_store_release(&s->min, min);
    pt_store_release(&s->max, max);
    pt_store_release(&s->interval, interval);
    pt_store_release(&s->count, t->taken);
    pt_store_release(&t->version, version + 2);
}

/* Adds what was noted to a copy of what was sorted. */
static void add_noted(perftrace__tally_t *to, const uint64_t *noted, uint64_t count,
                      const perftrace__tick_rate_t *rate) {
    for (uint64_t i = 0; i < count; i++) {
        to->buckets[bucket_of(noted[i], rate)]++;
        to->sum += noted[i];
        to->min = PT_MIN(to->min, noted[i]);
        to->max = PT_MAX(to->max, noted[i]);
    }
    to->count += count;
}

/* False: the owner was sorting. */
static bool try_copy(const perftrace__thread_tally_t *t, perftrace__tally_t *ret, uint64_t *noted,
                     uint64_t *ret_noted) {
    const perftrace__tally_t *s = &t->sorted;
    /* The acquires pair with the releases in perftrace__tally_sort and perftrace__tally_note; the
     * loads between stay before the second look. */
    uint64_t before = pt_load_acquire(&t->version);
    ret->count = pt_load_acquire(&s->count);
    ret->sum = pt_load_acquire(&s->sum);
    ret->min = pt_load_acquire(&s->min);
    ret->max = pt_load_acquire(&s->max);
    ret->interval = pt_load_acquire(&s->interval);
    for (unsigned i = 0; i < PERFTRACE_TIMER_BUCKETS; i++) {
        ret->buckets[i] = pt_load_acquire(&s->buckets[i]);
    }
    uint64_t count = pt_load_acquire(&t->taken) - ret->count;
    if ((before & 1) || count > PERFTRACE__TALLY_NOTED) {
        return false;
    }
    for (uint64_t i = 0; i < count; i++) {
        noted[i] = pt_load_acquire(&t->noted[(ret->count + i) % PERFTRACE__TALLY_NOTED]);
    }
    *ret_noted = count;
    return pt_load_relaxed(&t->version) == before;
}

void perftrace__tally_copy(const perftrace__thread_tally_t *t, const perftrace__tick_rate_t *rate,
                           perftrace__tally_t *ret) {
    uint64_t noted[PERFTRACE__TALLY_NOTED], count;
    while (!try_copy(t, ret, noted, &count)) {
    }
    add_noted(ret, noted, count, rate);
}

void perftrace__tally_merge(perftrace__tally_t *into, const perftrace__tally_t *from) {
    if (from->interval == into->interval && from->count > 0) {
        into->min = PT_MIN(into->min, from->min);
        into->max = PT_MAX(into->max, from->max);
    }
    into->count += from->count;
    into->sum += from->sum;
    for (unsigned i = 0; i < PERFTRACE_TIMER_BUCKETS; i++) {
        into->buckets[i] += from->buckets[i];
    }
}
