/* collect_options.h: the command line of perf-trace-collect. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TOOL_COLLECT_OPTIONS_H
#define PERFTRACE_TOOL_COLLECT_OPTIONS_H

#include "listen_address.h"
#include "option.h"

typedef struct pt_collect_options {
    const char *dir;
    const char *listen; /* NULL: not over TCP */
    perftrace__listen_address_t address;
    const char *token;
    bool insecure;
    pt_string_list_t runs;
    pt_string_list_t nats; /* URLs */
    uint64_t replicas;
    const char *creds;
    const char *tls_ca, *tls_cert, *tls_key;
    const char *one_file;            /* NULL: each rank has its own */
    uint64_t rotate_size, rotate_ns; /* 0: not */
    uint64_t keep, keep_bytes;       /* 0: all */
    bool sync;
    bool until_done;
    uint64_t world_size;
    uint64_t timeout_ns; /* 0: none */
    bool follow;
    uint64_t interval_ns;
    const char *status; /* NULL: not served */
    perftrace__listen_address_t status_address;
    uint64_t max_connections;
    uint64_t max_streams;
    uint64_t max_files;
    uint64_t max_held;
    uint64_t hello_ns;
    uint64_t piece_ns;
    uint64_t idle_ns;
} pt_collect_options_t;

extern const pt_tool_t pt_collect_tool;

/* Parses, and takes from the environment what is not given. PT_OPTION_GO_ON or the exit status.
 * Free the options in either case. */
int pt_collect_options_parse(pt_collect_options_t *ret, int argc, char *const *argv);
void pt_collect_options_free(pt_collect_options_t *options);

#endif
