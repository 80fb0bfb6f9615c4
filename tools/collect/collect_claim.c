/* collect_claim.c: which name in a run's folder is a stream's. SPDX-License-Identifier: MIT */
#include "collect_claim.h"

#include "os.h"
#include "stream_message.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMES_MAX 1000000u

/* Of a process' first line; longer ones are nobody's. */
#define FIRST_LINE_MAX 65536u

static void claim_path(perftrace__strbuf_t *out, const char *run_dir, const char *name) {
    perftrace__strbuf_clear(out);
    perftrace__strbuf_printf(out, "%s/" PT_COLLECT_CLAIM_DIR "/%s", run_dir, name);
}

static int read_at(const char *path, pt_collect_claim_t *ret) {
    char text[PT_COLLECT_CLAIM_MAX];
    ssize_t n = readlink(path, text, sizeof text - 1);
    if (n < 0) {
        return -errno;
    }
    text[n] = '\0';
    return pt_collect_claim_parse(text, ret) ? 0 : -EINVAL;
}

int pt_collect_claim_read(const char *run_dir, const char *name, pt_collect_claim_t *ret) {
    perftrace__strbuf_t path = PERFTRACE__STRBUF_INIT;
    claim_path(&path, run_dir, name);
    int err = path.failed ? -ENOMEM : read_at(path.data, ret);
    perftrace__strbuf_free(&path);
    return err;
}

static int make_folder_of(char *path) {
    char *slash = strrchr(path, '/');
    *slash = '\0';
    int err = perftrace__os_mkdirs(path);
    *slash = '/';
    return err;
}

int pt_collect_claim_make(const char *run_dir, const char *name, const pt_collect_claim_t *claim) {
    perftrace__strbuf_t path = PERFTRACE__STRBUF_INIT;
    char text[PT_COLLECT_CLAIM_MAX];
    pt_collect_claim_put(text, claim);
    claim_path(&path, run_dir, name);
    int err = path.failed ? -ENOMEM : symlink(text, path.data) == 0 ? 0 : -errno;
    if (err == -ENOENT) {
        err = make_folder_of(path.data);
        err = err != 0 ? err : symlink(text, path.data) == 0 ? 0 : -errno;
    }
    perftrace__strbuf_free(&path);
    return err;
}

int pt_collect_claim_lock(const char *run_dir, int *ret_fd) {
    perftrace__strbuf_t path = PERFTRACE__STRBUF_INIT;
    *ret_fd = -1;
    claim_path(&path, run_dir, "lock");
    int err = path.failed ? -ENOMEM : make_folder_of(path.data);
    if (err == 0) {
        *ret_fd = perftrace__os_open(path.data, O_RDWR | O_CREAT, 0666);
        err = *ret_fd < 0 ? -errno : 0;
    }
    if (err == 0 && flock(*ret_fd, LOCK_EX | LOCK_NB) != 0) {
        err = errno == EWOULDBLOCK ? -EBUSY : -errno;
        close(*ret_fd);
        *ret_fd = -1;
    }
    perftrace__strbuf_free(&path);
    return err;
}

/* Whether a file is there that is not the stream's. */
static bool is_taken(const char *run_dir, const char *name, uint64_t stream) {
    perftrace__strbuf_t path = PERFTRACE__STRBUF_INIT;
    struct stat st;
    perftrace__strbuf_printf(&path, "%s/%s", run_dir, name);
    bool taken = !path.failed && lstat(path.data, &st) == 0;
    int fd = taken ? perftrace__os_open(path.data, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0) : -1;
    char *line = fd >= 0 ? malloc(FIRST_LINE_MAX) : NULL;
    if (line != NULL) {
        ssize_t n = pread(fd, line, FIRST_LINE_MAX, 0);
        const char *eol = n > 0 ? memchr(line, '\n', (size_t)n) : NULL;
        taken = eol == NULL || perftrace__stream_id(line, (size_t)(eol - line) + 1) != stream;
    }
    free(line);
    if (fd >= 0) {
        close(fd);
    }
    perftrace__strbuf_free(&path);
    return taken;
}

int pt_collect_claim_find(const char *run_dir, const char *first, uint64_t stream,
                          char ret_name[PT_COLLECT_NAME_MAX]) {
    const pt_collect_claim_t mine = {.stream = stream};
    for (unsigned n = 0; n < NAMES_MAX;) {
        pt_collect_claim_t claim = {0};
        pt_collect_name_nth(ret_name, first, n);
        int err = pt_collect_claim_read(run_dir, ret_name, &claim);
        if (err == 0 && claim.stream == stream && claim.base == 0) {
            return 0;
        }
        if (err == 0 || err == -EINVAL || (err == -ENOENT && is_taken(run_dir, ret_name, stream))) {
            n++;
            continue;
        }
        if (err != -ENOENT) {
            return err;
        }
        err = pt_collect_claim_make(run_dir, ret_name, &mine);
        if (err != -EEXIST) { /* then another collector was faster: look again */
            return err;
        }
    }
    return -EEXIST;
}

static int each_in(const char *folder, const char *prefix, bool roles,
                   void (*fn)(void *, const char *, const pt_collect_claim_t *), void *ctx) {
    perftrace__strbuf_t path = PERFTRACE__STRBUF_INIT;
    int err = 0;
    DIR *dir = opendir(folder);
    if (dir == NULL) {
        return errno == ENOENT ? 0 : -errno;
    }
    for (struct dirent *e; err == 0 && (e = readdir(dir)) != NULL;) {
        char name[PT_COLLECT_NAME_MAX];
        pt_collect_claim_t claim = {0};
        perftrace__strbuf_clear(&path);
        perftrace__strbuf_printf(&path, "%s/%s", folder, e->d_name);
        int len = snprintf(name, sizeof name, "%s%s%s", prefix, prefix[0] ? "/" : "", e->d_name);
        if (e->d_name[0] == '.' || path.failed || len >= (int)sizeof name) {
            continue;
        }
        if (read_at(path.data, &claim) == 0) {
            if (claim.base == 0) {
                fn(ctx, name, &claim);
            }
        } else if (roles) {
            err = each_in(path.data, e->d_name, false, fn, ctx);
            err = err == -ENOTDIR ? 0 : err;
        }
    }
    closedir(dir);
    perftrace__strbuf_free(&path);
    return err;
}

int pt_collect_claim_each(const char *run_dir,
                          void (*fn)(void *, const char *, const pt_collect_claim_t *), void *ctx) {
    perftrace__strbuf_t path = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_printf(&path, "%s/" PT_COLLECT_CLAIM_DIR, run_dir);
    int err = path.failed ? -ENOMEM : each_in(path.data, "", true, fn, ctx);
    perftrace__strbuf_free(&path);
    return err;
}
