/* ctl_options.h: the command line of perf-trace-ctl. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_CTL_OPTIONS_H
#define PERFTRACE_CTL_OPTIONS_H

#include "number_ranges.h"
#include "option.h"

/* X(NAME, word, what it does) */
#define PT_CTL_ACTIONS(X)                                                                          \
    X(START, "start", "open a profiling window on each worker")                                    \
    X(STOP, "stop", "close it and save; a worker without one is content")                          \
    X(STATUS, "status", "who each worker is and what it does")                                     \
    X(SCOPES, "scopes", "what each thread of each worker is in now, for how long")                 \
    X(FLUSH, "flush", "have each worker write what it recorded")                                   \
    X(HOLD, "hold", "have each worker wait at its next perftrace_hold")                            \
    X(RESUME, "resume", "let them go on")                                                          \
    X(WAIT, "wait", "until every worker answers, then until the files of --wait-files are there")  \
    X(CHECK, "check", "whether each worker can be profiled and, if not, what it lacks")            \
    X(GATHER, "gather", "bring the traces of rollout replicas up to DIR; no worker is asked")

typedef enum pt_ctl_action {
#define X(name, word, help) PT_CTL_##name,
    PT_CTL_ACTIONS(X)
#undef X
        PT_CTL_ACTION_COUNT
} pt_ctl_action_t;

typedef struct pt_ctl_options {
    pt_ctl_action_t action;
    const char *router_url;
    pt_string_list_t workers;
    pt_string_list_t run_dirs;
    const char *ranks;
    pt_number_ranges_t rank_list; /* of ranks */
    const char *token;
    uint64_t rpc_timeout_ns; /* 0: the action's own */
    uint64_t timeout_ns;     /* of wait */
    pt_string_list_t gather_dirs;
    uint64_t replica_size; /* ranks of one replica */
    const char *wait_files;
    uint64_t files; /* how many; 0: one a worker */
    const char *body;
    int64_t num_steps, start_step, max_iterations, delay_iterations; /* below 0: not sent */
    pt_string_list_t activities, categories;
    const char *output_dir;
    bool profile_by_stage, with_stack, record_shapes;
    bool force;
    bool json;
} pt_ctl_options_t;

extern const pt_tool_t pt_ctl_tool;

/* PT_OPTION_GO_ON or the exit status. Free the options in either case. */
int pt_ctl_options_parse(pt_ctl_options_t *ret, int argc, char *const *argv);
void pt_ctl_options_free(pt_ctl_options_t *options);
const char *pt_ctl_action_word(pt_ctl_action_t action);

#endif
