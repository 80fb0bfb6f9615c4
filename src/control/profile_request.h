/* profile_request.h: what a body of POST /start_profile asks for (pure).
 * SPDX-License-Identifier: MIT
 *
 * The members are those of SGLang's and vLLM's requests: num_steps, start_step, and as vLLM's
 * configuration has them delay_iterations, max_iterations, output_dir, activities,
 * profile_by_stage; further warmup, skip_first, wait, repeat of torch.profiler.schedule, label and
 * categories. */
#ifndef PERFTRACE_CONTROL_PROFILE_REQUEST_H
#define PERFTRACE_CONTROL_PROFILE_REQUEST_H

#include "json_doc.h"
#include "profiler_traits.h"
#include "strbuf.h"

#include <perftrace/profiler.h>

typedef struct perftrace__profile_request {
    perftrace_profiler_request_t request; /* its texts point to those below; dir is not set */
    char label[128];
    char categories[1000];
    char output_dir[3000];       /* as it was asked for; "": it was not */
    unsigned absent;             /* activities that no back end is for, when none is for any */
    perftrace__strbuf_t ignored; /* members that this process has no use for, as a JSON array */
} perftrace__profile_request_t;

/* Reads the members of an object, for a profiler that can do what traits say. has_step: the run's
 * present step, where one is known; start_step counts from the run's beginning. False: ret_problem
 * says which member is wrong and why. Free ret->ignored in either case; *ret must not be moved. */
bool perftrace__profile_request_read(const perftrace__json_node_t *root,
                                     const perftrace__profiler_traits_t *traits, bool has_step,
                                     int64_t step, perftrace__profile_request_t *ret,
                                     perftrace__strbuf_t *ret_problem);

#endif
