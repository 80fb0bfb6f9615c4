/* socket_file.c: the place of a socket in the file system. SPDX-License-Identifier: MIT */
#include "socket_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOK_MS 5
#define LOOKS   400 /* two seconds: who holds the lock only binds and listens */

typedef char lock_path_t[sizeof(((struct sockaddr_un *)NULL)->sun_path) + sizeof ".lock"];

static void put_lock_path(const struct sockaddr_un *address, lock_path_t path) {
    snprintf(path, sizeof(lock_path_t), "%s.lock", address->sun_path);
}

/* Whether the file of that name is still the one that is open: its holder removes it. */
static bool is_there(const char *path, int fd) {
    struct stat here;
    struct stat there;
    return fstat(fd, &here) == 0 && lstat(path, &there) == 0 && here.st_ino == there.st_ino &&
           here.st_dev == there.st_dev;
}

/* 0 and the lock; -EAGAIN: not now; another errno: there can be none. */
static int try_lock(const char *path, int *ret_lock) {
    struct stat st;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd < 0) {
        return -errno;
    }
    int rc = fstat(fd, &st) != 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
    if (rc == 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
        rc = errno == EINTR ? -EAGAIN : -errno;
        if (rc != -EAGAIN) {
            unlink(path); /* nobody has locks here */
        }
    }
    if (rc == 0 && !is_there(path, fd)) {
        rc = -EAGAIN; /* what was locked is a file that its holder has removed */
    }
    if (rc != 0) {
        close(fd);
        return rc;
    }
    *ret_lock = fd;
    return 0;
}

static void remove_dead_socket(const struct sockaddr_un *address) {
    struct stat st;
    if (lstat(address->sun_path, &st) != 0 || !S_ISSOCK(st.st_mode)) {
        return;
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0) {
        if (connect(fd, (const struct sockaddr *)address, sizeof *address) != 0 &&
            errno == ECONNREFUSED) {
            unlink(address->sun_path);
        }
        close(fd);
    }
}

int perftrace__socket_file_enter(const struct sockaddr_un *address, int *ret_lock) {
    lock_path_t path;
    put_lock_path(address, path);
    *ret_lock = -1;
    int rc = try_lock(path, ret_lock);
    for (int i = 0; rc == -EAGAIN && i < LOOKS; i++) {
        poll(NULL, 0, LOOK_MS);
        rc = try_lock(path, ret_lock);
    }
    if (rc == -EAGAIN) {
        return -EBUSY;
    }
    remove_dead_socket(address);
    return 0;
}

void perftrace__socket_file_leave(const struct sockaddr_un *address, int lock) {
    if (lock >= 0) {
        lock_path_t path;
        put_lock_path(address, path);
        unlink(path); /* while it is locked: who opens the name next makes a file of its own */
        close(lock);
    }
}
