/* take_apart.h: takes a file in which processes take turns apart (see mixed_ranks.h).
 * SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TRACE_TAKE_APART_H
#define PERFTRACE_TRACE_TAKE_APART_H
#include "exit_code.h"
#include "paths.h"

/* Descriptors that are kept open. */
typedef struct pt_fd_list {
    int *fd;
    size_t count, cap;
} pt_fd_list_t;

void pt_fd_list_free(pt_fd_list_t *list); /* closes them */

/* Whether a file is one: reads it once, twice where it has several headers. False also where it
 * cannot be read, which whoever reads it then is told. PT_EXIT_OK or PT_EXIT_INTERNAL. Blocks on
 * the file system. */
pt_exit_t pt_takes_turns(const pt_path_t *path, bool *ret_mixed);

/* Adds to *paths the processes of a file: copies in a directory for temporary files, without names,
 * so that nothing is left of them. Their descriptors are added to *fds. PT_EXIT_OK, or
 * PT_EXIT_INPUT or PT_EXIT_INTERNAL (told). The caller frees both lists in any case. Blocks on the
 * file system. */
pt_exit_t pt_take_apart(const pt_path_t *path, pt_paths_t *paths, pt_fd_list_t *fds);
/* Says that a file which can be read only once cannot be taken apart; PT_EXIT_INPUT. */
pt_exit_t pt_take_apart_refuse(const pt_path_t *path);

#endif
