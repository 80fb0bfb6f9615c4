/* recover_report.h: what perf-trace-recover prints about each ring. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TOOL_RECOVER_REPORT_H
#define PERFTRACE_TOOL_RECOVER_REPORT_H

#include "recover.h"
#include "recover_options.h"

typedef struct pt_recover_report {
    const pt_recover_options_t *options;
    pt_string_list_t seen;   /* real paths of rings: two ways may lead to one */
    perftrace__strbuf_t out; /* standard output, kept until the end */
    unsigned rings;          /* told of */
    pt_exit_t worst;
} pt_recover_report_t;

/* Takes one result: a line, an error or a warning, and the exit status. named: the user asked for
 * this very ring, so that "still running" is an error. */
void pt_recover_report_add(pt_recover_report_t *r, const char *ring, int status,
                           const perftrace__recovered_t *result, bool named);
void pt_recover_report_fail(pt_recover_report_t *r, pt_exit_t exit);
/* Prints everything. Returns the exit status of the tool. */
pt_exit_t pt_recover_report_end(pt_recover_report_t *r);

#endif
