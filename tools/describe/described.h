/* described.h: what is known of a file, by its name and by its header. SPDX-License-Identifier: MIT
 *
 * Both say rank, host, process and time; the header has labels as they were given, the name has the
 * steps and what became of the window. Where both know something, the header counts for what the
 * process is, the name for what the window is. Pure but for memory and the time zone. */
#ifndef PERFTRACE_TOOL_DESCRIBED_H
#define PERFTRACE_TOOL_DESCRIBED_H

#include "trace_source.h"

#include <perftrace/profiler.h>

typedef struct pt_described {
    char *path;
    bool by_name;   /* the name is of the form of perftrace_trace_basename */
    bool by_header; /* the file is a trace of ours */
    /* What both say together; strings are the header's, or lie in label. */
    perftrace_trace_name_t all;
    char label[PERFTRACE_TRACE_NAME_MAX + 1];
    char *role, *host, *run_id; /* of the header; NULL */
    int64_t start_ns;           /* since the epoch: of the window, else of the trace; -1 unknown */
    int64_t size;               /* bytes; -1 unknown */
    const char *doubt; /* what name and header say differently: "rank"; NULL: nothing. Static */
} pt_described_t;

/* Takes what the path says; the file may be absent. False without memory. Free in every case. */
bool pt_described_name(pt_described_t *d, const char *path);
/* Takes what the file's first bytes said. False without memory. */
bool pt_described_header(pt_described_t *d, const pt_source_t *source);
/* Takes a step that was found in the file. */
void pt_described_step(pt_described_t *d, int64_t step);
void pt_described_free(pt_described_t *d); /* accepts NULL */

#endif
