/* session_clocks.h: sessions of ranks on several machines onto one axis. SPDX-License-Identifier:
 * MIT
 *
 * Records tell the time of their machine's wall clock. Where the traces of the same processes are
 * among the inputs, what these know of their clocks (clock_align.h) says by how much that is off.
 * One thread. */
#ifndef PERFTRACE_SESSIONS_SESSION_CLOCKS_H
#define PERFTRACE_SESSIONS_SESSION_CLOCKS_H
#include "clock_align.h"
#include "paths.h"
#include "session_model.h"
#include "trace_source.h"

typedef struct pt_session_clock {
    const pt_path_t *path;
    pt_source_t source;
    pt_clock_notes_t notes;
    pt_clock_out_t out;
} pt_session_clock_t;

typedef struct pt_session_clocks {
    pt_session_clock_t *clock;
    size_t count, cap;
} pt_session_clocks_t;

/* Takes an input if it is a trace of ours, which can be read again; only its beginning is read.
 * False without memory. */
bool pt_session_clocks_add(pt_session_clocks_t *clocks, const pt_path_t *path);
/* Moves the times of a finished model onto the axis of the lowest rank, where there are traces of
 * several machines, which are read for that; else nothing. *ret_moved: sessions that were moved.
 * False without memory. */
bool pt_session_clocks_apply(pt_session_clocks_t *clocks, pt_session_model_t *model,
                             size_t *ret_moved);
void pt_session_clocks_free(pt_session_clocks_t *clocks); /* all zero is accepted */

#endif
