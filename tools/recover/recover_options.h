/* recover_options.h: the command line of perf-trace-recover. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TOOL_RECOVER_OPTIONS_H
#define PERFTRACE_TOOL_RECOVER_OPTIONS_H

#include "option.h"

typedef struct pt_recover_options {
    bool recursive;
    bool all;
    bool list;
    bool dry_run;
    bool keep;
    bool force;
    bool json;
    pt_string_list_t ring_dirs; /* where rings are looked for, in order */
} pt_recover_options_t;

extern const pt_tool_t pt_recover_tool;

/* Parses argv, adds the usual ring directories and judges what the table cannot express. Returns
 * PT_OPTION_GO_ON or the exit status. Free in every case. */
int pt_recover_options_parse(pt_recover_options_t *o, int argc, char *const *argv,
                             pt_string_list_t *ret_operands);
void pt_recover_options_free(pt_recover_options_t *o);

#endif
