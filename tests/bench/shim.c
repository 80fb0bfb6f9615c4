/* shim.c: a disk that stalls, or one that costs nothing. SPDX-License-Identifier: MIT
 *
 * Preloaded; stands before write and pwrite of files whose path ends in .jsonl. The program finds
 * shim_set by dlsym and switches. */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PASS, STALL, SWALLOW };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int mode = PASS;
static long stalled; /* calls that were held up */

__attribute__((visibility("default"))) long shim_set(int new_mode);
long shim_set(int new_mode) {
    pthread_mutex_lock(&lock);
    mode = new_mode;
    long n = stalled;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return n;
}

static bool is_trace(int fd) {
    char link[64];
    char path[PATH_MAX];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof(path));
    return n > 6 && memcmp(path + n - 6, ".jsonl", 6) == 0;
}

/* True when the bytes shall not be written. */
static bool swallowed(int fd) {
    if (!is_trace(fd)) {
        return false;
    }
    pthread_mutex_lock(&lock);
    stalled += mode == STALL;
    while (mode == STALL) {
        pthread_cond_wait(&changed, &lock);
    }
    bool swallow = mode == SWALLOW;
    pthread_mutex_unlock(&lock);
    return swallow;
}

typedef ssize_t (*write_fn)(int, const void *, size_t);
typedef ssize_t (*pwrite_fn)(int, const void *, size_t, off_t);

/* ISO C has no conversion from an object pointer to a function pointer; POSIX wants it to work. */
static void find(void *function, const char *name) {
    void *p = dlsym(RTLD_NEXT, name);
    memcpy(function, &p, sizeof(p));
}

__attribute__((visibility("default"))) ssize_t write(int fd, const void *data, size_t len) {
    write_fn next;
    if (swallowed(fd)) {
        return (ssize_t)len;
    }
    find(&next, "write");
    return next(fd, data, len);
}

__attribute__((visibility("default"))) ssize_t pwrite64(int fd, const void *data, size_t len,
                                                        off_t at) {
    pwrite_fn next;
    if (swallowed(fd)) {
        return (ssize_t)len;
    }
    find(&next, "pwrite64");
    return next(fd, data, len, at);
}
