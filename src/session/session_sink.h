/* session_sink.h: the sink that writes sessions-r<rank>.jsonl. SPDX-License-Identifier: MIT
 *
 * Takes session events from the drain, folds them and writes the records of finished sessions. The
 * file is made with the first record: a process without sessions leaves none. */
#ifndef PERFTRACE_SESSION_SESSION_SINK_H
#define PERFTRACE_SESSION_SESSION_SINK_H

#include "session_fold.h"
#include "sink.h"

typedef struct perftrace__session_sink perftrace__session_sink_t;

typedef struct perftrace__session_sink_options {
    perftrace__fold_options_t fold;
    /* Makes the file: returns it (owned by the sink from then on) or a negative errno. Called again
     * when the file was removed while it was written. */
    int (*create)(void *user);
    /* Records that went with a file that somebody removed; may be NULL. */
    void (*gone)(void *user, uint64_t records);
    void *user;
    const char *path;        /* what create made; the creator's, "" before */
    uint64_t (*limit)(void); /* how far the file may grow (line_file.h); NULL: no limit */
} perftrace__session_sink_options_t;

/* NULL without memory. Strings of the fold's options are copied; path is kept by pointer. */
perftrace__sink_t *perftrace__session_sink_open(const perftrace__session_sink_options_t *options);
/* Rank and role of the records from now on. */
void perftrace__session_sink_rank(perftrace__sink_t *s, int32_t rank);
/* What the fold had counted at the last flush. Any thread. */
void perftrace__session_sink_counts(const perftrace__sink_t *s,
                                    perftrace__fold_counts_t *ret_counts);
/* As for the trace file (jsonl_sink.h). */
int perftrace__session_sink_errno(const perftrace__sink_t *s);
void perftrace__session_sink_cut(perftrace__sink_t *s);
void perftrace__session_sink_disown(perftrace__sink_t *s);

#endif
