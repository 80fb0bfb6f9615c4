/* run_launch.h: starts what was planned, and waits for all of it. SPDX-License-Identifier: MIT
 *
 * One libuv loop on the calling thread. Signals that arrive go to the workers, never to a profiler:
 * that one ends by itself when its worker has ended, and has a report to write first. */
#ifndef PERFTRACE_TOOL_RUN_LAUNCH_H
#define PERFTRACE_TOOL_RUN_LAUNCH_H

#include "run_plan.h"

/* Exit statuses of this tool, besides those of its workers (exit_code.h has the rest). */
#define PT_RUN_EXIT_NO_REPORT      125
#define PT_RUN_EXIT_NOT_EXECUTABLE 126
#define PT_RUN_EXIT_NOT_FOUND      127

typedef struct pt_launch_request {
    const pt_plan_t *plan;
    const pt_string_list_t *command; /* of the workers, without a profiler */
    const char *group;
    char *const *inherited;   /* environment */
    const char *const *unset; /* variables that workers do not inherit; NULL: all are */
    const char *clean_ranks;  /* these inherit nothing ("all", "0,8-9"); NULL: none */
    const char *log_dir; /* output goes to <group>-r<rank>.out and .err there; NULL: it does not */
    bool prefix;         /* output goes through us, each line with its rank in front */
    bool keep_going;     /* other workers go on when one fails */
    uint64_t grace_ns;   /* for a report, from the end of its worker */
    uint64_t kill_after_ns; /* for workers that are asked to end because another failed */
} pt_launch_request_t;

/* Runs all; returns the exit status of the tool. Blocks until all workers and profilers ended. */
int pt_launch(const pt_launch_request_t *request);

#endif
