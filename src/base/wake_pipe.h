/* wake_pipe.h: what wakes a thread that polls. SPDX-License-Identifier: MIT
 *
 * A pipe of the library's own in a program that may close every descriptor there is and take the
 * numbers for files of its own: those get nothing from here and lose nothing to it. */
#ifndef PERFTRACE_BASE_WAKE_PIPE_H
#define PERFTRACE_BASE_WAKE_PIPE_H

#include "os.h"

typedef struct perftrace__wake_pipe {
    int fd[2]; /* to poll, to write */
    perftrace__os_file_id_t id[2];
} perftrace__wake_pipe_t;

#define PERFTRACE__WAKE_PIPE_INIT                                                                  \
    {                                                                                              \
        .fd = { -1, -1 }                                                                           \
    }

/* Opens it at numbers above 2, closed on exec. False: errno says why, and it is closed. */
bool perftrace__wake_pipe_open(perftrace__wake_pipe_t *p);
/* Closes what is still ours. */
void perftrace__wake_pipe_close(perftrace__wake_pipe_t *p);
/* Both ends are open and still ours. */
bool perftrace__wake_pipe_is_whole(const perftrace__wake_pipe_t *p);
/* Any thread; does not block. */
void perftrace__wake_pipe_wake(const perftrace__wake_pipe_t *p);
/* Takes all wakes so far. Does not block. */
void perftrace__wake_pipe_take(const perftrace__wake_pipe_t *p);

#endif
