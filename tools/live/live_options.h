/* live_options.h: the command line of perf-trace-live. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_LIVE_LIVE_OPTIONS_H
#define PERFTRACE_LIVE_LIVE_OPTIONS_H

#include "option.h"

#define PT_LIVE_PIDS_MAX 1024

typedef struct pt_live_options {
    bool recursive;
    bool all_users;
    uint32_t pid[PT_LIVE_PIDS_MAX];
    size_t pids;
    pt_string_list_t ring_dirs;  /* where rings are looked for, in order */
    pt_string_list_t categories; /* that mean communication, besides "comm" */
    pt_string_list_t collectives;
    bool main_only;
    bool only_stuck; /* --stuck was given */
    uint64_t stuck_ns;
    bool once;
    bool has_interval;
    uint64_t interval_ns;
    uint64_t count; /* looks that are shown; 0: no end */
    bool json;
} pt_live_options_t;

extern const pt_tool_t pt_live_tool;

/* Parses argv, adds the usual ring directories and judges what the table cannot express. Returns
 * PT_OPTION_GO_ON or the exit status. Free in every case. */
int pt_live_options_parse(pt_live_options_t *o, int argc, char *const *argv,
                          pt_string_list_t *ret_operands);
void pt_live_options_free(pt_live_options_t *o);

#endif
