/* clock_marks.h: which clocks passed which barriers. SPDX-License-Identifier: MIT
 *
 * For clock_reach.c only. */
#ifndef PERFTRACE_TRACE_CLOCK_MARKS_H
#define PERFTRACE_TRACE_CLOCK_MARKS_H
#include "clock_scratch.h"

/* The end of a barrier on the axis of a node. */
typedef struct pt_clock_mark {
    uint64_t id;
    int64_t ts;
    size_t node, barrier;
} pt_clock_mark_t;

typedef struct pt_clock_barrier {
    size_t from;     /* of its marks in `beside`; they go on to the next barrier's */
    bool known;      /* a placed clock passed it */
    int64_t root_ts; /* when the last of them did, on the root's axis */
} pt_clock_barrier_t;

typedef struct pt_clock_marks {
    pt_clock_mark_t *mark; /* by node, of each by id; one an id */
    size_t count;
    size_t *from;             /* of each node: its first mark; one more at the end */
    pt_clock_mark_t **beside; /* all marks by barrier */
    pt_clock_barrier_t *barrier;
    size_t barriers;
} pt_clock_marks_t;

/* Takes the marks of all files, at most `most`. False without memory; free in any case. */
bool pt_clock_marks_make(pt_clock_marks_t *marks, const pt_clock_scratch_t *scratch, size_t most);
void pt_clock_marks_free(pt_clock_marks_t *marks);

#endif
