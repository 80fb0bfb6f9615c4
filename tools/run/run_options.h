/* run_options.h: the command line of perf-trace-run. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TOOL_RUN_OPTIONS_H
#define PERFTRACE_TOOL_RUN_OPTIONS_H

#include "option.h"
#include "run_profile.h"

typedef struct pt_run_options {
    const char *config;
    int backend;  /* PT_BACKEND_UNSET: as the file says */
    bool profile; /* false: as enabled: false */
    const char *group;
    pt_string_list_t groups;
    pt_string_list_t steps;
    const char *output_dir;
    pt_settings_t options;
    pt_string_list_t flags;
    pt_settings_t env;
    const char *trace_dir;
    const char *forward;
    const char *clean_env;

    uint64_t ranks; /* 0: one, whose rank its launcher knows */
    uint64_t nodes, node_rank;
    const char *master_addr;
    uint64_t master_port; /* 0: not given */

    uint64_t grace_ns, kill_after_ns;
    bool keep_going;
    const char *log_dir;
    bool prefix;
    bool dry_run;
} pt_run_options_t;

extern const pt_tool_t pt_run_tool;

/* Parses argv; the command of the workers becomes the operands. Returns PT_OPTION_GO_ON or the exit
 * status. Free in every case. */
int pt_run_options_parse(pt_run_options_t *o, int argc, char *const *argv,
                         pt_string_list_t *ret_command);
void pt_run_options_free(pt_run_options_t *o);

/* Puts what the command line says on top of the file's profile. */
void pt_run_options_apply(const pt_run_options_t *o, pt_run_profile_t *profile);

#endif
