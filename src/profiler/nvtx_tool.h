/* nvtx_tool.h: whoever takes NVTX ranges in this process. SPDX-License-Identifier: MIT
 *
 * Found as a program that was built with NVTX's headers finds it, without these. */
#ifndef PERFTRACE_PROFILER_NVTX_TOOL_H
#define PERFTRACE_PROFILER_NVTX_TOOL_H

#include "nvtx_abi.h"

typedef struct perftrace__nvtx_tool {
    const void *domain; /* "perftrace"; NULL: the default one */
    int (*push)(const void *domain, const nvtx_attributes_t *range);
    int (*pop)(const void *domain);
    void (*name_category)(const void *domain, uint32_t category, const char *name); /* or NULL */
    char from[256]; /* where it was found, for messages */
} perftrace__nvtx_tool_t;

/* Looks for it; what was found stays. One thread at a time. 0: *ret, which lives until the process
 * ends; else a status, and ret_text says why there is none. */
int perftrace__nvtx_tool_find(const perftrace__nvtx_tool_t **ret, char *ret_text, size_t size);

#endif
