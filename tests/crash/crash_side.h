/* crash_side.h: what the writer says about itself in a file that survives it.
 * SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_CRASH_SIDE_H
#define PERFTRACE_CRASH_SIDE_H

#include <stdint.h>

#define CRASH_THREADS 8u

/* Counted after the event's scope has ended: of a thread that was killed at any instant, one event
 * more than counted may be in the ring. */
typedef struct crash_thread {
    uint64_t events;     /* "ev" events, numbered from 0 */
    uint64_t outers;     /* "outer" scopes, numbered from 0 */
    uint64_t outer_open; /* an "outer" scope is open, for certain */
    uint64_t submitted;  /* sessions, one a block, numbered from 0; their task is CRASH_TASK */
    uint64_t finished;   /* blocks whose session was finalized, unless CRASH_STAYS_OPEN */
    uint64_t records;    /* events of sessions, the flows that go with them included */
    uint64_t pad[2];
} crash_thread_t;

#define CRASH_TASK(thread, number) ((int64_t)(thread)*1000000 + (int64_t)(number))
#define CRASH_STAYS_OPEN(number)   ((number) % 4 == 3)

typedef struct crash_side {
    uint64_t started; /* perftrace_init has returned */
    uint64_t pad[7];
    crash_thread_t thread[CRASH_THREADS];
} crash_side_t;

#endif
