/* run_report.h: whether a profiler has written its report. SPDX-License-Identifier: MIT
 *
 * Reports are files of a directory whose names begin in a known way: what follows is the profiler's
 * choice (pid, window, ending). Reads the directory. */
#ifndef PERFTRACE_TOOL_RUN_REPORT_H
#define PERFTRACE_TOOL_RUN_REPORT_H

#include "strbuf.h"
#include "string_list.h"

/* What is there before the start, as keys that change when a file is written anew. Empty when there
 * is no such directory. False without memory. */
bool pt_run_report_remember(const char *dir, const char *start, pt_string_list_t *ret_before);

/* Whether a report is there that was not: a file that is not empty, and no stream still to be
 * converted (.qdstrm) or moved to its place (.tmp). Appends its path to out (may be NULL). */
bool pt_run_report_find(const char *dir, const char *start, const pt_string_list_t *before,
                        perftrace__strbuf_t *out);

#endif
