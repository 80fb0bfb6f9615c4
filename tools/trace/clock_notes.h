/* clock_notes.h: what the lines of one trace say of its clock. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TRACE_CLOCK_NOTES_H
#define PERFTRACE_TRACE_CLOCK_NOTES_H
#include "clock_curve.h"
#include "trace_event.h"

/* Both clocks of a machine read at one instant of the file's own. */
typedef struct pt_clock_pair {
    int64_t ts, mono_ns, epoch_ns;
} pt_clock_pair_t;

/* The end of one barrier. */
typedef struct pt_sync_mark {
    uint64_t id; /* hash of the barrier's number */
    int64_t ts;  /* ns on the file's clock */
} pt_sync_mark_t;

typedef struct pt_clock_notes {
    pt_clock_pair_t *pair;
    pt_clock_reading_t *reading;
    pt_sync_mark_t *mark;
    size_t pairs, pair_cap, readings, reading_cap, marks, mark_cap;
    uint64_t odd;  /* lines that have no usable numbers */
    bool complete; /* its footer is there: the last pair was read at the end */
    bool failed;   /* out of memory */
} pt_clock_notes_t;

void pt_clock_notes_free(pt_clock_notes_t *notes);
/* Gives back memory that was kept for more: there may be the notes of very many traces. */
void pt_clock_notes_trim(pt_clock_notes_t *notes);

/* Takes an event if it is one of perftrace_clock, perftrace_reference, perftrace_footer or
 * perftrace_sync; false: it is something else. */
bool pt_clock_notes_take(pt_clock_notes_t *notes, const pt_event_t *event);

/* The last time that the notes know of, ns on the file's clock; 0: none. What is not complete may
 * go on until the next reading is due. */
int64_t pt_clock_notes_last(const pt_clock_notes_t *notes);

/* Whether the numbers of a pair can be true. */
bool pt_clock_pair_ok(const pt_clock_pair_t *pair);

/* A hash that makes the name of a clock (a machine's boot id) comparable. */
uint64_t pt_clock_name(const char *text, size_t len);

#endif
