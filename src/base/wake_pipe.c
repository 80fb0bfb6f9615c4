/* wake_pipe.c. SPDX-License-Identifier: MIT */
#include "wake_pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

bool perftrace__wake_pipe_open(perftrace__wake_pipe_t *p) {
    int fd[2];
    *p = (perftrace__wake_pipe_t)PERFTRACE__WAKE_PIPE_INIT;
    if (pipe2(fd, O_CLOEXEC | O_NONBLOCK) != 0) {
        return false;
    }
    int err = 0;
    for (unsigned i = 0; i < 2; i++) {
        if (fd[i] <= 2) { /* the program's standard streams are closed */
            int high = fcntl(fd[i], F_DUPFD_CLOEXEC, 3);
            err = high < 0 ? errno : err;
            close(fd[i]);
            fd[i] = high;
        }
        p->fd[i] = fd[i];
        p->id[i] = perftrace__os_file_id(fd[i]);
    }
    if (err) {
        perftrace__wake_pipe_close(p);
        errno = err;
    }
    return err == 0;
}

void perftrace__wake_pipe_close(perftrace__wake_pipe_t *p) {
    for (unsigned i = 0; i < 2; i++) {
        perftrace__os_close_file(p->fd[i], &p->id[i]);
        p->fd[i] = -1;
    }
}

bool perftrace__wake_pipe_is_whole(const perftrace__wake_pipe_t *p) {
    return perftrace__os_file_is(p->fd[0], &p->id[0]) && perftrace__os_file_is(p->fd[1], &p->id[1]);
}

void perftrace__wake_pipe_wake(const perftrace__wake_pipe_t *p) {
    if (perftrace__os_file_is(p->fd[1], &p->id[1])) {
        (void)!write(p->fd[1], "", 1); /* full: it wakes anyway */
    }
}

void perftrace__wake_pipe_take(const perftrace__wake_pipe_t *p) {
    char some[256];
    if (perftrace__os_file_is(p->fd[0], &p->id[0])) {
        while (read(p->fd[0], some, sizeof some) == (ssize_t)sizeof some) {
        }
    }
}
