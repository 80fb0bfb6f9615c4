/* aws_command.h: command lines of the aws CLI. SPDX-License-Identifier: MIT
 *
 * Pure but for memory. Each function appends the words to an empty list; false without memory. */
#ifndef PERFTRACE_TOOL_AWS_COMMAND_H
#define PERFTRACE_TOOL_AWS_COMMAND_H

#include "bucket_list.h"

typedef struct pt_aws {
    const char *program;
    const char *endpoint_url; /* NULL: Amazon's own */
    const char *bucket;
    const char *prefix; /* ends in '/' */
    bool no_sign_request;
    uint64_t timeout_s; /* of a connect, and of a read that brings nothing */
} pt_aws_t;

/* Prints what pt_bucket_list_parse reads, all pages of it. */
bool pt_aws_list(const pt_aws_t *aws, pt_string_list_t *ret_argv);

/* Copies wanted objects into a folder, from index *at of the list on; *at is moved behind those
 * that are named. Where all objects are wanted the whole prefix is copied at once; else each is
 * named, as many as fit well into a command line. The list must not change between two calls but
 * for the states of objects before *at. */
bool pt_aws_copy(const pt_aws_t *aws, const pt_bucket_list_t *list, const char *folder, size_t *at,
                 pt_string_list_t *ret_argv);

#endif
