/* convert_apart.h: inputs in which processes take turns. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_CONVERT_APART_H
#define PERFTRACE_CONVERT_APART_H
#include "convert_input.h"
#include "take_apart.h"

/* Not an exit status: the inputs must be taken apart, and all begun anew. */
#define PT_CONVERT_MIXED ((pt_exit_t)1000)

/* Whether an input turned out to be such a file. */
static inline bool pt_convert_is_mixed(const pt_convert_input_t *in) {
    return in->ranks.found;
}

/* The paths of the inputs with each such file replaced by its processes; see pt_take_apart. */
pt_exit_t pt_convert_apart(const pt_convert_input_t *inputs, size_t count, pt_paths_t *ret_paths,
                           pt_fd_list_t *ret_fds);

#endif
