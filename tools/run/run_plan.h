/* run_plan.h: what will be started: arguments, variables, reports. SPDX-License-Identifier: MIT
 *
 * Pure: the same request gives the same plan, which --dry-run prints and run_launch starts. */
#ifndef PERFTRACE_TOOL_RUN_PLAN_H
#define PERFTRACE_TOOL_RUN_PLAN_H

#include "rank_detect.h"
#include "run_profile.h"

typedef struct pt_plan_rank {
    int64_t rank; /* in the whole job */
    int64_t local_rank;
    pt_string_list_t argv;
    pt_settings_t
        env;          /* set on top of what is inherited; tells all that the worker needs to know */
    char *report_dir; /* its profiler writes files here, whose names begin with report_start; */
    char *report_start; /* both NULL: no report is awaited */
    char *
        perf_control; /* "fifo:COMMANDS,ANSWERS": the worker switches its perf; NULL: it does not */
} pt_plan_rank_t;

typedef struct pt_plan {
    pt_plan_rank_t *ranks;
    size_t count;
    bool selected;     /* the workers run under the profiler */
    const char *title; /* the profiler's program, for messages; NULL without one */
    bool in_process;   /* the worker may share its process with the profiler */
    char *output_dir;  /* to be made before the start; NULL: there is none */
    bool failed;       /* memory ran out */
} pt_plan_t;

/* The last part of control_dir before it is made (--dry-run makes none). */
#define PT_PLAN_CONTROL_DIR "perf-trace-run-XXXXXX"

typedef struct pt_plan_request {
    const pt_run_profile_t *profile;
    const char *group; /* of the workers */
    const pt_string_list_t *command;
    int64_t local_ranks; /* workers to start */
    int64_t first_rank;
    int64_t world_size;
    bool tell_ranks; /* set RANK and its kin */
    const char *master_addr;
    int64_t master_port;
    const pt_settings_t *tracer; /* PERFTRACE_... for the workers */
    const pt_settings_t *env;    /* from the command line: wins over everything */
    const char *temp_dir;        /* for reports where there is no output_dir */
    const char
        *control_dir; /* for the pipes of steered perfs; NULL: one that is still to be made */
    const char *pid;  /* stands for %p where the profiler does not know it; NULL: %p stays */
    perftrace__getenv_fn get; /* of the environment that the workers inherit */
    void *user;
} pt_plan_request_t;

/* Makes the plan; free it in every case. Problems of the command go to `problems`. */
void pt_plan_make(const pt_plan_request_t *request, pt_plan_t *ret_plan,
                  pt_run_problems_t *problems);
void pt_plan_free(pt_plan_t *plan);

/* "<dir>/rlinf_profile_<group>_<rank>_%p", with anything but A-Z a-z 0-9 . _ - in the worker's name
 * ("group:rank") as "_". Appended to out. */
void pt_plan_put_prefix(perftrace__strbuf_t *out, const char *dir, const char *group, int64_t rank);

/* Appends a word as a POSIX shell reads it back. */
void pt_plan_quote(perftrace__strbuf_t *out, const char *word);
/* Appends the arguments as a line; with_env: "env NAME=VALUE ..." in front. */
void pt_plan_put_line(const pt_plan_rank_t *rank, bool with_env, perftrace__strbuf_t *out);

#endif
