/* progress.h: how far a long run has come. SPDX-License-Identifier: MIT
 *
 * Drawn on standard error, only if that is a terminal, not when quiet, and only once the work has
 * lasted two seconds. Cleared at the end. */
#ifndef PERFTRACE_COMMON_PROGRESS_H
#define PERFTRACE_COMMON_PROGRESS_H

#include "compiler.h"

#include <stdbool.h>

typedef struct pt_progress {
    const char *verb;  /* "converting" */
    uint64_t total;    /* bytes; 0: not known */
    uint64_t done;     /* atomic */
    uint64_t start_ns; /* monotonic */
    uint64_t next_ns;  /* atomic: when to draw again; UINT64_MAX: never */
} pt_progress_t;

/* Starts. total 0 shows rate and amount without a bar. verb must live on. */
void pt_progress_begin(pt_progress_t *progress, const char *verb, uint64_t total);
/* Counts bytes and draws when a tenth of a second has passed. Thread-safe; cheap (one clock read)
 * but meant for each piece, not each line. */
void pt_progress_add(pt_progress_t *progress, uint64_t bytes);
/* Takes the line away. */
void pt_progress_end(pt_progress_t *progress);

/* The line itself, at most width columns: "converting  43% [########          ] 1.2 GB  640 MB/s
 * 3 s left". Pure. */
void pt_progress_format(char *out, size_t size, const char *verb, uint64_t done, uint64_t total,
                        uint64_t elapsed_ns, unsigned width);

#endif
