/* live_state.c. SPDX-License-Identifier: MIT */
#include "live_state.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char pt_live_state_letter(const char *stat) {
    const char *end = strrchr(stat, ')');
    return end != NULL && end[1] == ' ' ? end[2] : '\0';
}

static bool is_stopped(uint32_t pid) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0) {
        close(fd);
    }
    text[n > 0 ? n : 0] = '\0';
    char letter = pt_live_state_letter(text);
    return letter == 'T' || letter == 't';
}

pt_live_state_t pt_live_state_of(const perftrace__ring_view_t *v) {
    struct stat st;
    switch (perftrace__ring_owner(&v->header)) {
    case PERFTRACE__RING_OWNER_ALIVE:
        break;
    case PERFTRACE__RING_OWNER_HIDDEN:
        return PT_LIVE_UNSEEN;
    case PERFTRACE__RING_OWNER_DEAD:
    default:
        /* One that ends well takes the name of its ring away; so does a recovery. */
        return v->commit.closed != 0 || (fstat(v->fd, &st) == 0 && st.st_nlink == 0) ? PT_LIVE_ENDED
                                                                                     : PT_LIVE_DEAD;
    }
    /* A ring without a name: tracing was ended, the process goes on. */
    if (fstat(v->fd, &st) == 0 && st.st_nlink == 0) {
        return PT_LIVE_ENDED;
    }
    return is_stopped(v->header.meta.pid) ? PT_LIVE_STOPPED : PT_LIVE_RUNNING;
}
