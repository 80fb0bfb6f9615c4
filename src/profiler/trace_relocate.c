/* trace_relocate.c: what other profilers wrote, brought to the other profiles.
 * SPDX-License-Identifier: MIT */
#include "os.h"
#include "status_text.h"
#include "strbuf.h"
#include "trace_name.h"

#include <perftrace/status.h>

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- which ---- */

static bool ends_in(const char *name, const char *ending) {
    const size_t n = strlen(name);
    const size_t m = strlen(ending);
    return n >= m && strcmp(name + n - m, ending) == 0;
}

/* Whether the number stands in the name, and not as a part of a longer one. */
static bool has_number(const char *name, const char *number) {
    const size_t len = strlen(number);
    for (const char *p = name; (p = strstr(p, number)) != NULL; p++) {
        if ((p == name || !isdigit((unsigned char)p[-1])) && !isdigit((unsigned char)p[len])) {
            return true;
        }
    }
    return false;
}

static bool is_wanted(int dir, const char *name, const char *number, struct stat *ret_st) {
    return name[0] != '.' && !ends_in(name, ".qdstrm") && !ends_in(name, ".tmp") &&
           has_number(name, number) && fstatat(dir, name, ret_st, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(ret_st->st_mode) && ret_st->st_size > 0;
}

/* ---- its new name ---- */

/* The extension, which begins at a '.' and a letter: ".nsys-rep", ".json.gz". */
static const char *extension_of(const char *name) {
    const char *dot = strrchr(name, '.');
    if (dot && dot > name && (strcmp(dot, ".gz") == 0 || strcmp(dot, ".zst") == 0)) {
        const char *before = dot;
        while (before > name && before[-1] != '.') {
            before--;
        }
        dot = before > name + 1 ? before - 1 : dot;
    }
    if (!dot || dot == name || !isalpha((unsigned char)dot[1]) ||
        strlen(dot) > PERFTRACE__EXTENSION_MAX) {
        return NULL;
    }
    for (const char *p = dot; *p; p++) {
        if (!isalnum((unsigned char)*p) && *p != '.' && *p != '-') {
            return NULL;
        }
    }
    return dot;
}

/* ---- moving ---- */

#define STAYS 1 /* beside the status codes, which are not positive */

/* For another file system. -EAGAIN: it grows still. */
static int copy(int from, int to, off_t size) {
    enum { CHUNK = 65536 };
    char *buf = malloc(CHUNK);
    struct stat st;
    int err = buf ? 0 : -ENOMEM;
    off_t done = 0;
    while (!err) {
        const ssize_t n = read(from, buf, CHUNK);
        size_t written;
        if (n < 0 && errno != EINTR) {
            err = -errno;
        } else if (n == 0) {
            break;
        } else if (n > 0) {
            err = perftrace__os_write_all(to, buf, (size_t)n, &written);
            done += n;
        }
    }
    if (!err && (fstat(from, &st) != 0 || st.st_size != size || done != size)) {
        err = -EAGAIN;
    }
    free(buf);
    return err;
}

/* `to` is a descriptor of the new file, which is empty and nobody else's. 0 or -errno. */
static int move(int dir, const char *name, const struct stat *st, const char *path, int to) {
    if (renameat(dir, name, AT_FDCWD, path) == 0) {
        return 0;
    }
    if (errno != EXDEV) {
        return -errno;
    }
    int from = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    int err = from < 0 ? -errno : copy(from, to, st->st_size);
    if (from >= 0) {
        close(from);
    }
    return err ? err : unlinkat(dir, name, 0) == 0 ? 0 : -errno;
}

/* 0, STAYS or a status code. */
static int relocate_one(int dir, const char *name, const struct stat *st, const char *to_dir,
                        const perftrace_trace_name_t *as) {
    perftrace_trace_name_t n = *as;
    char path[4096];
    const char *extension = extension_of(name);
    perftrace__strbuf_t label = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_append(&label, name, extension ? (size_t)(extension - name) : strlen(name));
    n.suffix = perftrace__strbuf_cstr(&label);
    int to = label.failed ? PERFTRACE_ERR_NOMEM
                          : perftrace_trace_create(to_dir, &n, extension, path, sizeof(path));
    perftrace__strbuf_free(&label);
    if (to < 0) {
        return to;
    }
    int err = move(dir, name, st, path, to);
    if (close(to) != 0 && !err) {
        err = -errno;
    }
    if (err) {
        unlink(path);
    }
    return err == -EAGAIN ? STAYS : err ? perftrace__status_from_errno(-err) : PERFTRACE_OK;
}

static bool is_same(int dir, const char *path) {
    struct stat a;
    struct stat b;
    return fstat(dir, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

int perftrace_trace_relocate(const char *from, const char *dir, const perftrace_trace_name_t *name,
                             int64_t pid) {
    perftrace_trace_name_t n;
    char number[24];
    if (!dir || !perftrace__trace_name_whole(name, &n) || pid < 0) {
        return PERFTRACE_ERR_INVALID;
    }
    DIR *d = from && from[0] ? opendir(from) : NULL;
    if (!d) {
        return !from || !from[0] || errno == ENOENT ? 0 : perftrace__status_from_errno(errno);
    }
    snprintf(number, sizeof(number), "%" PRId64, pid);
    int moved = 0;
    int status = PERFTRACE_OK;
    const bool same = is_same(dirfd(d), dir);
    for (const struct dirent *e; !same && (e = readdir(d)) != NULL;) {
        struct stat st;
        if (!is_wanted(dirfd(d), e->d_name, number, &st)) {
            continue;
        }
        const int err = perftrace__os_mkdirs(dir);
        int one = err ? perftrace__status_from_errno(-err)
                      : relocate_one(dirfd(d), e->d_name, &st, dir, &n);
        moved += one == PERFTRACE_OK;
        status = one < 0 ? one : status;
    }
    closedir(d);
    return status ? status : moved;
}
