/* convert_apart.h: takes a file in which processes take turns apart. SPDX-License-Identifier: MIT
 */
#ifndef PERFTRACE_CONVERT_APART_H
#define PERFTRACE_CONVERT_APART_H
#include "convert_input.h"

/* Not an exit status: the inputs must be taken apart, and all begun anew. */
#define PT_CONVERT_MIXED ((pt_exit_t)1000)

/* Descriptors that are kept open. */
typedef struct pt_fd_list {
    int *fd;
    size_t count, cap;
} pt_fd_list_t;

void pt_fd_list_free(pt_fd_list_t *list); /* closes them */

/* Whether an input turned out to be such a file. */
static inline bool pt_convert_is_mixed(const pt_convert_input_t *in) {
    return in->ranks.found;
}

/* The paths of the inputs with each such file replaced by its processes: copies in a directory for
 * temporary files, without names, so that nothing is left of them. Their descriptors are in
 * *ret_fds. PT_EXIT_OK, or PT_EXIT_INPUT or PT_EXIT_INTERNAL (told). The caller frees both in any
 * case. Blocks on the file system. */
pt_exit_t pt_convert_apart(const pt_convert_input_t *inputs, size_t count, pt_paths_t *ret_paths,
                           pt_fd_list_t *ret_fds);

#endif
