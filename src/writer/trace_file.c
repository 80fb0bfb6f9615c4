/* trace_file.c. SPDX-License-Identifier: MIT */
#include "trace_file.h"

#include "os.h"
#include "test_point.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_TRIES 100000u

static int make_parent(const char *path) {
    char dir[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) : 0;
    if (n == 0) {
        return 0;
    }
    if (n >= sizeof(dir)) {
        return -ENAMETOOLONG;
    }
    memcpy(dir, path, n);
    dir[n] = '\0';
    return perftrace__os_mkdirs(dir);
}

int perftrace__trace_file_create(const char *stem, const char *ext, char *path, size_t size,
                                 int *ret_fd) {
    int rc = make_parent(stem);
    if (rc) {
        return rc;
    }
    for (unsigned n = 0; n < MAX_TRIES; n++) {
        int len = n ? snprintf(path, size, "%s.%u%s", stem, n, ext)
                    : snprintf(path, size, "%s%s", stem, ext);
        if (len < 0 || (size_t)len >= size) {
            return -ENAMETOOLONG;
        }
        int fd = perftrace__os_open(path, O_RDWR | O_CREAT | O_EXCL, 0666);
        if (fd >= 0) {
            *ret_fd = fd;
            PT_TEST_POINT(file_created);
            return 0;
        }
        if (errno != EEXIST) {
            return -errno;
        }
    }
    return -EEXIST;
}

int perftrace__trace_file_write(int fd, const void *data, size_t len, uint64_t offset,
                                size_t *ret_done) {
    const char *p = data;
    size_t done = 0;
    int status = 0;
    if (!perftrace__os_may_grow_to(offset + len)) {
        *ret_done = 0;
        return -EFBIG;
    }
#ifdef PERFTRACE__TEST_POINTS
    /* A kill between two halves of a write is what a kill inside write(2) leaves. */
    if (len > 1) {
        ssize_t n = pwrite(fd, p, len / 2, (off_t)offset);
        done = n > 0 ? (size_t)n : 0;
        PT_TEST_POINT(drain_half_written);
    }
#endif
    while (done < len) {
        ssize_t n = pwrite(fd, p + done, len - done, (off_t)(offset + done));
        if (n < 0) {
            if (errno == EINTR) {
                continue;
            }
            status = -errno;
            break;
        }
        done += (size_t)n;
    }
    *ret_done = done;
    return status;
}

bool perftrace__trace_file_gone(int fd) {
    struct stat st;
    return fstat(fd, &st) == 0 && st.st_nlink == 0;
}

bool perftrace__trace_file_holed(int fd) {
    off_t hole = lseek(fd, 0, SEEK_HOLE);
    off_t end = lseek(fd, 0, SEEK_END);
    lseek(fd, 0, SEEK_SET);
    return hole >= 0 && hole < end;
}
