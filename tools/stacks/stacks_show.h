/* stacks_show.h: the reports of perf-trace-stacks. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_STACKS_STACKS_SHOW_H
#define PERFTRACE_STACKS_STACKS_SHOW_H
#include "stacks_input.h"
#include "stacks_report.h"

/* Everything but diff, convert, merge and batch, from the loaded inputs to the output. Tells what
 * is wrong. */
pt_exit_t pt_stacks_show(const pt_stacks_options_t *o, const pt_stacks_input_t *input,
                         pt_problems_t *book);

/* A report that is made, to where the options say. */
pt_exit_t pt_stacks_write_report(const pt_stacks_options_t *o, const pt_stacks_report_t *report,
                                 const pt_problems_t *book, const pt_paths_t *inputs);

#endif
