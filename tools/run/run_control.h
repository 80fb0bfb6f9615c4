/* run_control.h: the pipes through which workers switch their perf. SPDX-License-Identifier: MIT
 *
 * Two named pipes a rank, in a directory of this run alone: perf record takes commands from one and
 * answers in the other, and the worker's tracer sends them (src/profiler/back_end_perf_outside.c).
 */
#ifndef PERFTRACE_TOOL_RUN_CONTROL_H
#define PERFTRACE_TOOL_RUN_CONTROL_H

#include "run_plan.h"

/* Makes the directory "<temp_dir>/perf-trace-run-..." and writes its path. perf parts the pipes'
 * names by a comma: a temp_dir that has one is not used. 0, or an exit status with a message. */
int pt_control_make_dir(const char *temp_dir, char *ret_path, size_t size);
/* Makes the pipes of all ranks that have a perf_control. 0, or an exit status with a message. */
int pt_control_make_pipes(const pt_plan_t *plan);
/* Whether anything was ever sent to a rank's perf. */
bool pt_control_was_used(const pt_plan_rank_t *rank);
/* Removes pipes and directory. */
void pt_control_remove(const pt_plan_t *plan, const char *dir);

#endif
