/* sessions_output.h: reports to their files. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_SESSIONS_SESSIONS_OUTPUT_H
#define PERFTRACE_SESSIONS_SESSIONS_OUTPUT_H
#include "paths.h"
#include "problems.h"
#include "sessions_options.h"
#include "table.h"

/* Prints a report in the form that the options ask for, to the file they name, and frees nothing.
 * Told. */
pt_exit_t pt_sessions_output_write(const pt_report_t *report, const pt_problems_t *book,
                                   const pt_paths_t *inputs, const pt_sessions_options_t *options);

#endif
