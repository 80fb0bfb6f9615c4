/* recover_sessions.h: the sessions of a process that was killed. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_RECOVER_SESSIONS_H
#define PERFTRACE_RECOVER_SESSIONS_H

#include "ring_reader.h"

#include <limits.h>
#include <stdbool.h>

typedef struct perftrace__recover_sessions {
    char path[PATH_MAX]; /* the file, "" when there is none */
    uint64_t added;      /* records that this call wrote */
    const char *problem; /* NULL */
} perftrace__recover_sessions_t;

/* After the trace file at trace_path is finished: cuts the sessions file to what was committed,
 * makes the records that it lacks from the trace and appends them, finished sessions first, then
 * the live ones as pending. A file that is gone or belongs to another run is made anew, and the
 * ring file at ring_path (whose view v is) then names the new one, so that a recovery after a kill
 * of this one goes on with it. 0 or a status; reads the whole trace. */
int perftrace__recover_sessions(const perftrace__ring_view_t *v, const char *ring_path,
                                const char *trace_path, perftrace__recover_sessions_t *ret);

/* Where a path of the run lies now, when the trace that lay at `stored` is found at `found`: the
 * part of both that differs is replaced. False when out (size bytes) is too small. */
bool perftrace__recover_moved(const char *path, const char *stored, const char *found, char *out,
                              size_t size);

#endif
