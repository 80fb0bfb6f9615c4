/* crash_check.h: is a recovered file what the writer says it did? SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_CRASH_CHECK_H
#define PERFTRACE_CRASH_CHECK_H

#include "crash_side.h"

#include <stdbool.h>

typedef struct crash_count {
    uint64_t events;                /* all that the account counts */
    char run_id[64];                /* of the header */
    uint64_t next[CRASH_THREADS];   /* "ev": one more than the last number */
    uint64_t evs[CRASH_THREADS];    /* how many */
    uint64_t outers[CRASH_THREADS]; /* "outer" */
    uint64_t unfinished;
    uint64_t unfinished_outers;
    uint64_t drop_lines; /* sum of the drop records */
    uint64_t dropped;    /* footer */
    uint64_t lines;
    bool footer;
    bool recovered;
} crash_count_t;

/* Reads a trace file: every line strict, numbers without repetition (and without gap unless
 * gaps), footer last and its account equal to what is there. False, told on standard error, when
 * not. An empty file is fine. */
bool crash_check_file(const char *path, bool gaps, crash_count_t *ret);

/* Compares with what the writer counted. exact: it had time to count everything. */
bool crash_check_side(const crash_count_t *c, const crash_side_t *side, unsigned threads, bool gaps,
                      bool exact);

#endif
