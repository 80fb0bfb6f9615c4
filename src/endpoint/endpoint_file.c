/* endpoint_file.c: the endpoint file on the disk. SPDX-License-Identifier: MIT */
#include "endpoint.h"
#include "os.h"

#include <errno.h>
#include <fcntl.h>
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
    return perftrace__os_process_start((uint32_t)e->pid) == (uint64_t)e->process_start
               ? PERFTRACE__ENDPOINT_ALIVE
               : PERFTRACE__ENDPOINT_DEAD;
}

int perftrace__endpoint_read(const char *path, perftrace__endpoint_t *ret) {
    char text[FILE_MAX];
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
    perftrace__endpoint_t other = {.rank = -1};
    if (perftrace__endpoint_read(path, &other) == 0 &&
        perftrace__endpoint_owner(&other) == PERFTRACE__ENDPOINT_DEAD) {
        return rename(temp, path) == 0 ? 0 : -errno;
    }
    return -EEXIST;
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
