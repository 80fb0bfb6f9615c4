/* recover_trace.h: the file that a recovery goes on with. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_RECOVER_TRACE_H
#define PERFTRACE_RECOVER_TRACE_H

#include "ring_reader.h"

#include <stdbool.h>

typedef struct perftrace__recover_trace {
    int fd;          /* owned by the caller */
    uint64_t offset; /* where to go on; the file ends there */
    uint64_t gone;   /* events that the process had written and that are not there any more */
    const char *problem;
} perftrace__recover_trace_t;

/* The trace file beside the link when there is one (the directory may have been moved), else where
 * the process had it. */
void perftrace__recover_trace_find(const char *link, const char *stored, char *out, size_t size);

/* Opens the trace file and cuts it to the committed length; makes it anew when it is gone. path may
 * be changed then. What is missing is noted in the ring file at ring_path, so that a recovery after
 * a kill of this one knows. The file must look like a trace of ours: the ring that names it is not
 * trusted. */
int perftrace__recover_trace_open(const perftrace__ring_view_t *v, const char *ring_path,
                                  char *path, size_t size, perftrace__recover_trace_t *ret);

/* True when the last line of the file is a footer. */
bool perftrace__recover_trace_closed(const char *path);

#endif
