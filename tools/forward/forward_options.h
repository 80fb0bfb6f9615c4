/* forward_options.h: the command line of perf-trace-forward. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TOOL_FORWARD_OPTIONS_H
#define PERFTRACE_TOOL_FORWARD_OPTIONS_H

#include "option.h"

#define PT_FORWARD_TOKEN_MAX 256 /* with the NUL; as messages have it */

typedef struct pt_forward_options {
    const char *to;
    const char *token_file;
    const char *creds;
    const char *tls_ca;
    uint64_t replicas;
    uint64_t level;
    const char *run;     /* NULL: as the files say */
    uint64_t timeout_ns; /* without progress; 0: none */
    uint64_t until_idle_ns;
    bool follow;
    bool recover;
    bool unfinished;
    bool json;
    pt_string_list_t ring_dirs;
    char token[PT_FORWARD_TOKEN_MAX]; /* "": none */
} pt_forward_options_t;

extern const pt_tool_t pt_forward_tool;

/* Parses, takes from the environment what is not given, reads the token's file. PT_OPTION_GO_ON or
 * the exit status. Free in either case. */
int pt_forward_options_parse(pt_forward_options_t *ret, int argc, char *const *argv,
                             pt_string_list_t *ret_operands);
void pt_forward_options_free(pt_forward_options_t *o);

#endif
