/* nameless_file.c. SPDX-License-Identifier: MIT */
#include "nameless_file.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int pt_nameless_file(const char *dir) {
    char path[4200];
    signal(SIGXFSZ, SIG_IGN); /* a limit of size is told as other errors are */
    snprintf(path, sizeof path, "%s/.perf-trace.XXXXXX", dir);
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0) {
        unlink(path);
    }
    return fd;
}
