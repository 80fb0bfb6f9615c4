/* fault_shim.c: LD_PRELOAD: a disk that is slow, stuck or broken, a file system without locks.
 * SPDX-License-Identifier: MIT
 *
 * FAULT_DELAY_MS=N     each write to a *.jsonl file takes N ms longer, and so does each sync
 * FAULT_BLOCK=FILE     such writes wait while FILE exists
 * FAULT_FAIL=FILE      such writes fail with the number FAULT_ERRNO while FILE exists
 * FAULT_CALLOC=FILE    calloc of one object of 500 to 1500 bytes fails while FILE exists
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

extern void *__libc_calloc(size_t count, size_t size); /* glibc's own */

void *calloc(size_t count, size_t size) {
    const char *fail = count == 1 && size >= 500 && size <= 1500 ? getenv("FAULT_CALLOC") : NULL;
    return fail && access(fail, F_OK) == 0 ? NULL : __libc_calloc(count, size);
}

static int is_trace(int fd) {
    char link[64];
    char path[4096];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof(path) - 1);
    path[n > 0 ? n : 0] = '\0';
    return n > 6 && strcmp(path + n - 6, ".jsonl") == 0;
}

/* Waits as long as it is to take; whether it then fails, with errno set. */
static int hold(int fd) {
    const char *delay = getenv("FAULT_DELAY_MS");
    const char *block = getenv("FAULT_BLOCK");
    const char *fail = getenv("FAULT_FAIL");
    const char *number = getenv("FAULT_ERRNO");
    if ((!delay && !block && !fail) || !is_trace(fd)) {
        return 0;
    }
    if (delay) {
        usleep((useconds_t)atoi(delay) * 1000);
    }
    while (block && access(block, F_OK) == 0) {
        usleep(1000);
    }
    if (!fail || access(fail, F_OK) != 0) {
        return 0;
    }
    errno = number ? atoi(number) : EIO;
    return 1;
}

ssize_t pwrite64(int fd, const void *buf, size_t n, off64_t at) {
    return hold(fd) ? -1 : syscall(SYS_pwrite64, fd, buf, n, at);
}

ssize_t pwrite(int fd, const void *buf, size_t n, off_t at) {
    return pwrite64(fd, buf, n, at);
}

ssize_t write(int fd, const void *buf, size_t n) {
    return hold(fd) ? -1 : syscall(SYS_write, fd, buf, n);
}

int fsync(int fd) {
    return hold(fd) ? -1 : (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd) {
    return hold(fd) ? -1 : (int)syscall(SYS_fdatasync, fd);
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
