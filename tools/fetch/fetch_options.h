/* fetch_options.h: the command line of perf-trace-fetch. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TOOL_FETCH_OPTIONS_H
#define PERFTRACE_TOOL_FETCH_OPTIONS_H

#include "option.h"
#include "upload_kind.h"

typedef struct pt_fetch_options {
    const char *job;
    perftrace__strbuf_t prefix; /* ends in '/'; empty where nothing is copied */
    perftrace__strbuf_t bucket;
    const char *directory;
    perftrace__strbuf_t folder; /* directory/job */
    bool logs;
    const char *log_command;
    uint64_t log_timeout_ns;
    bool copy;
    const char *bucket_option;
    const char *endpoint_url; /* NULL: Amazon's own */
    const char *aws;
    bool no_sign_request;
    uint64_t timeout_ns;
    pt_string_list_t kind_words;
    bool kinds[PT_UPLOAD_COUNT];
    pt_string_list_t patterns;
    bool dry_run;
    bool json;
} pt_fetch_options_t;

extern const pt_tool_t pt_fetch_tool;

/* A variable of the environment; NULL: not set. */
typedef const char *(*pt_fetch_env_fn)(const char *name);

/* Parses, and takes from the environment what is not given. PT_OPTION_GO_ON or the exit status.
 * Free the options in either case. */
int pt_fetch_options_parse(pt_fetch_options_t *ret, int argc, char *const *argv,
                           pt_fetch_env_fn env);
void pt_fetch_options_free(pt_fetch_options_t *options);

#endif
