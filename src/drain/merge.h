/* merge.h: several threads' records in one order of time. Pure. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_DRAIN_MERGE_H
#define PERFTRACE_DRAIN_MERGE_H

#include "compiler.h"
#include "record_decode.h"

#include <stdbool.h>

/* The records of one thread that wait: contiguous words [p, end). */
typedef struct perftrace__lane {
    const uint64_t *p;
    const uint64_t *end;
    const uint64_t *taken; /* the caller's mark */
    uint64_t next_time;    /* of the record at p; set by the merge */
    uint32_t tid;
    uint32_t slot;
    bool damaged; /* the words at p are no record: the rest of the lane was given up */
} perftrace__lane_t;

typedef struct perftrace__merge {
    perftrace__lane_t *lanes; /* the caller's, in any order */
    uint32_t nlanes;
    uint32_t *heap; /* lane numbers, earliest first; nlanes places */
    uint32_t heap_len;
    uint32_t current;   /* lane that is being read */
    uint64_t run_until; /* it stays current up to this time */
} perftrace__merge_t;

/* Begins a merge over lanes; heap has room for nlanes numbers. */
void perftrace__merge_begin(perftrace__merge_t *m, perftrace__lane_t *lanes, uint32_t nlanes,
                            uint32_t *heap);
/* The lane whose next record is the earliest (by the end of scopes, the time of points), or NULL
 * when all are read. The caller decodes the record at lane->p and calls perftrace__merge_advance.
 */
static inline perftrace__lane_t *perftrace__merge_next(perftrace__merge_t *m) {
    return m->heap_len ? &m->lanes[m->current] : NULL;
}

void perftrace__merge_advance_slow(perftrace__merge_t *m, perftrace__lane_t *lane, uint32_t words);

/* Moves the lane past `words` words; 0 gives up the rest of the lane as damaged. */
static inline void perftrace__merge_advance(perftrace__merge_t *m, perftrace__lane_t *lane,
                                            uint32_t words) {
    const uint64_t *p = lane->p + words;
    uint64_t time;
    if (words && p < lane->end && perftrace__record_peek(p, (uint64_t)(lane->end - p), &time) &&
        time < m->run_until) {
        lane->p = p;
        lane->next_time = time;
        return;
    }
    perftrace__merge_advance_slow(m, lane, words);
}

#endif
