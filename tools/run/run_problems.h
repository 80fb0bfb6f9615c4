/* run_problems.h: what is wrong in a launch's configuration. SPDX-License-Identifier: MIT
 *
 * All of it, not only the first: lines as "run.yaml:7: cluster.profiling.steps: must be ...". */
#ifndef PERFTRACE_TOOL_RUN_PROBLEMS_H
#define PERFTRACE_TOOL_RUN_PROBLEMS_H

#include "strbuf.h"

typedef struct pt_run_problems {
    perftrace__strbuf_t errors;   /* lines; any makes a launch impossible */
    perftrace__strbuf_t warnings; /* lines */
} pt_run_problems_t;

#define PT_RUN_PROBLEMS_INIT                                                                       \
    { PERFTRACE__STRBUF_INIT, PERFTRACE__STRBUF_INIT }

/* Adds a line; origin may be NULL: the text stands alone. */
void pt_run_error(pt_run_problems_t *problems, const char *origin, const char *fmt, ...)
    PT_PRINTF(3, 4);
void pt_run_warning(pt_run_problems_t *problems, const char *origin, const char *fmt, ...)
    PT_PRINTF(3, 4);
void pt_run_problems_free(pt_run_problems_t *problems); /* accepts NULL */

#endif
