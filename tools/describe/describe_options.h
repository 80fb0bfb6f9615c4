/* describe_options.h: the command line of perf-trace-describe. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TOOL_DESCRIBE_OPTIONS_H
#define PERFTRACE_TOOL_DESCRIBE_OPTIONS_H

#include "option.h"

typedef struct pt_describe_options {
    bool names_only;
    bool json;
} pt_describe_options_t;

extern const pt_tool_t pt_describe_tool;

/* Parses argv. Returns PT_OPTION_GO_ON or the exit status. */
int pt_describe_options_parse(pt_describe_options_t *o, int argc, char *const *argv,
                              pt_string_list_t *ret_operands);

#endif
