/* nvtx_range.h: ranges and marks into the trace. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_NVTX_NVTX_RANGE_H
#define PERFTRACE_NVTX_NVTX_RANGE_H

#include "nvtx_name.h"

/* The calling thread's cache of names; NULL without memory. */
nvtx_cached_t *nvtx_thread_cache(void);

/* name NULL: nothing, or 0, below. value: bits of what `as` says. */
void nvtx_mark(nvtx_name_t *name, nvtx_value_t as, uint64_t value);

/* Ranges of a thread, one within the other. The level of the new one, from 0; -1 when it is not
 * taken. */
int nvtx_push(nvtx_domain_t *domain, nvtx_name_t *name, nvtx_value_t as, uint64_t value);
/* Ends the innermost of a domain. Its level; -1 when there is none. */
int nvtx_pop(const nvtx_domain_t *domain);
/* The same in the default domain: what programs call most. text NULL: without a name. */
int nvtx_push_text(const char *text);
int nvtx_pop_usual(void);

/* Ranges that any thread may end: async events. The id; 0: not taken. */
uint64_t nvtx_start(nvtx_name_t *name, nvtx_value_t as, uint64_t value);
void nvtx_end(uint64_t id);

#endif
