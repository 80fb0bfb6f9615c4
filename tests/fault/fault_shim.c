/* fault_shim.c: a disk that is slow or stuck, and a file system without locks, by LD_PRELOAD.
 * SPDX-License-Identifier: MIT
 *
 * FAULT_DELAY_MS=N     each write to a *.jsonl file takes N ms longer
 * FAULT_BLOCK=FILE     such writes wait while FILE exists
 * FAULT_LOCK_LOG=FILE  each lock call leaves a line in FILE
 * Lock calls fail with ENOLCK in any case. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static int is_trace(int fd) {
    char link[64];
    char path[4096];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof(path) - 1);
    path[n > 0 ? n : 0] = '\0';
    return n > 6 && strcmp(path + n - 6, ".jsonl") == 0;
}

static void hold(int fd) {
    const char *delay = getenv("FAULT_DELAY_MS");
    const char *block = getenv("FAULT_BLOCK");
    if ((delay || block) && is_trace(fd)) {
        if (delay) {
            usleep((useconds_t)atoi(delay) * 1000);
        }
        while (block && access(block, F_OK) == 0) {
            usleep(1000);
        }
    }
}

ssize_t pwrite64(int fd, const void *buf, size_t n, off64_t at) {
    hold(fd);
    return syscall(SYS_pwrite64, fd, buf, n, at);
}

ssize_t pwrite(int fd, const void *buf, size_t n, off_t at) {
    return pwrite64(fd, buf, n, at);
}

ssize_t write(int fd, const void *buf, size_t n) {
    hold(fd);
    return syscall(SYS_write, fd, buf, n);
}

static int no_lock(const char *call) {
    const char *log = getenv("FAULT_LOCK_LOG");
    int fd = log ? open(log, O_WRONLY | O_APPEND | O_CREAT, 0666) : -1;
    if (fd >= 0) {
        dprintf(fd, "%s in process %d\n", call, (int)getpid());
        close(fd);
    }
    errno = ENOLCK;
    return -1;
}

int flock(int fd, int how) {
    (void)fd;
    (void)how;
    return no_lock("flock");
}

int lockf64(int fd, int how, off64_t len) {
    (void)fd;
    (void)how;
    (void)len;
    return no_lock("lockf");
}

int lockf(int fd, int how, off_t len) {
    return lockf64(fd, how, len);
}

static int is_lock(int how) {
    return how == F_SETLK || how == F_SETLKW || how == F_GETLK || how == F_OFD_SETLK ||
           how == F_OFD_SETLKW || how == F_OFD_GETLK || how == F_SETLEASE;
}

int fcntl64(int fd, int how, ...) {
    va_list ap;
    va_start(ap, how);
    long arg = va_arg(ap, long);
    va_end(ap);
    return is_lock(how) ? no_lock("fcntl") : (int)syscall(SYS_fcntl, fd, how, arg);
}

int fcntl(int fd, int how, ...) {
    va_list ap;
    va_start(ap, how);
    long arg = va_arg(ap, long);
    va_end(ap);
    return fcntl64(fd, how, arg);
}
