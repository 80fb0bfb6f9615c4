/* endpoint_file.c: the endpoint file on the disk. SPDX-License-Identifier: MIT */
#include "endpoint.h"
#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define FILE_MAX  20480 /* the longest texts, each byte escaped */
#define NAMES_MAX 1000

perftrace__endpoint_owner_t perftrace__endpoint_owner(const perftrace__endpoint_t *e) {
    char boot_id[PERFTRACE__BOOT_ID_MAX] = "", host[256] = "";
    perftrace__os_boot_id(boot_id);
    perftrace__os_hostname(host, sizeof host);
    bool same_boot = boot_id[0] != '\0' && strcmp(boot_id, e->boot_id) == 0;
    if (!same_boot) {
        /* This machine's earlier boot ended every process of it. */
        return strcmp(host, e->host) == 0 ? PERFTRACE__ENDPOINT_DEAD : PERFTRACE__ENDPOINT_HIDDEN;
    }
    if ((uint64_t)e->pid_namespace != perftrace__os_pid_namespace()) {
        return PERFTRACE__ENDPOINT_HIDDEN;
    }
    uint64_t start = perftrace__os_process_start((uint32_t)e->pid);
    if (e->process_start == 0 || (start == 0 && kill((pid_t)e->pid, 0) != 0 && errno == EPERM)) {
        return PERFTRACE__ENDPOINT_HIDDEN; /* no /proc, or it does not show other users' */
    }
    return start == (uint64_t)e->process_start ? PERFTRACE__ENDPOINT_ALIVE
                                               : PERFTRACE__ENDPOINT_DEAD;
}

int perftrace__endpoint_read(const char *path, perftrace__endpoint_t *ret) {
    char text[FILE_MAX];
    memset(ret, 0, sizeof *ret);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return -errno;
    }
    ssize_t n = read(fd, text, sizeof text);
    int rc = n < 0 ? -errno : 0;
    close(fd);
    if (rc == 0 && !perftrace__endpoint_parse(text, (size_t)n, ret)) {
        rc = -EINVAL;
    }
    return rc;
}

static int write_temp(const char *dir, const perftrace__endpoint_t *e, char *path, size_t size) {
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    int len = snprintf(path, size, "%s/.control-%lld-%016llx.tmp", dir, (long long)e->pid,
                       (unsigned long long)perftrace__os_random_u64());
    if (len < 0 || (size_t)len >= size) {
        return -ENAMETOOLONG;
    }
    int fd = perftrace__os_open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
    if (fd < 0) {
        return -errno;
    }
    size_t done;
    perftrace__endpoint_put(&text, e);
    int rc = text.failed ? -ENOMEM : perftrace__os_write_all(fd, text.data, text.len, &done);
    perftrace__strbuf_free(&text);
    close(fd);
    if (rc != 0) {
        unlink(path);
    }
    return rc;
}

static int name_file(const char *dir, const perftrace__endpoint_t *e, unsigned n, char *path,
                     size_t size) {
    char who[40], number[16] = "";
    snprintf(who, sizeof who, e->rank >= 0 ? "r%lld" : "p%lld",
             (long long)(e->rank >= 0 ? e->rank : e->pid));
    if (n > 0) {
        snprintf(number, sizeof number, ".%u", n);
    }
    int len = snprintf(path, size, "%s/control-%s%s" PERFTRACE__ENDPOINT_SUFFIX, dir, who, number);
    return len < 0 || (size_t)len >= size ? -ENAMETOOLONG : 0;
}

static bool same_process(const perftrace__endpoint_t *a, const perftrace__endpoint_t *b) {
    return a->pid == b->pid && a->process_start == b->process_start &&
           a->pid_namespace == b->pid_namespace && strcmp(a->boot_id, b->boot_id) == 0;
}

/* Puts temp in the place of a file whose owner is dead. Two processes may see that at the same
 * time, and the second must not replace the first one's file: who makes the name of the claim, one
 * for each dead owner, may replace that owner's file, if it is there still. (Locks of files would
 * hang or fail on some network file systems.) A claim that is left by a kill costs a name. */
static int replace(const char *temp, const char *path, const perftrace__endpoint_t *dead) {
    char claim[4096];
    perftrace__endpoint_t now;
    int len = snprintf(claim, sizeof claim, "%s.claim-%lld-%lld-%lld", path, (long long)dead->pid,
                       (long long)dead->process_start, (long long)dead->pid_namespace);
    if (len < 0 || (size_t)len >= sizeof claim || link(temp, claim) != 0) {
        return -EEXIST;
    }
    bool there = perftrace__endpoint_read(path, &now) == 0 && same_process(&now, dead);
    int rc = !there ? -EEXIST : rename(temp, path) == 0 ? 0 : -errno;
    unlink(claim);
    return rc;
}

/* Puts temp at path. A file of a process that lives keeps its place; -EEXIST. */
static int place(const char *temp, const char *path) {
    if (link(temp, path) == 0) {
        unlink(temp);
        return 0;
    }
    if (errno != EEXIST) {
        /* A file system without links; a race is then possible, half a file is not. */
        return access(path, F_OK) != 0 && rename(temp, path) == 0 ? 0 : -EEXIST;
    }
    perftrace__endpoint_t other;
    return perftrace__endpoint_read(path, &other) == 0 &&
                   perftrace__endpoint_owner(&other) == PERFTRACE__ENDPOINT_DEAD
               ? replace(temp, path, &other)
               : -EEXIST;
}

int perftrace__endpoint_write(const char *dir, const perftrace__endpoint_t *e, char *ret_path,
                              size_t size) {
    char temp[4096];
    int rc = perftrace__os_mkdirs(dir);
    if (rc == 0) {
        rc = write_temp(dir, e, temp, sizeof temp);
    }
    if (rc != 0) {
        return rc;
    }
    rc = -EEXIST;
    for (unsigned n = 0; rc == -EEXIST && n < NAMES_MAX; n++) {
        rc = name_file(dir, e, n, ret_path, size);
        if (rc == 0) {
            rc = place(temp, ret_path);
        }
    }
    if (rc != 0) {
        unlink(temp);
    }
    return rc;
}
