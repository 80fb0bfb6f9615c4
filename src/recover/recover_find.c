/* recover_find.c: the rings that belong to a directory. SPDX-License-Identifier: MIT */
#include "os.h"
#include "recover.h"
#include "recover_trace.h"
#include "ring_reader.h"

#include <perftrace/status.h>

#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool same_dir(const char *trace_path, const char *dir) {
    char parent[PATH_MAX];
    char a[PATH_MAX];
    char b[PATH_MAX];
    snprintf(parent, sizeof(parent), "%s", trace_path);
    char *slash = strrchr(parent, '/');
    if (!slash) {
        return false;
    }
    *slash = '\0';
    return realpath(parent, a) && realpath(dir, b) && strcmp(a, b) == 0;
}

/* Whether a ring in a shared directory is this user's and has its trace in dir (NULL: anywhere). */
static bool belongs(const char *ring, const char *dir) {
    perftrace__ring_view_t *v = calloc(1, sizeof(*v));
    bool yes = v && perftrace__ring_view_open(v, ring, NULL) == PERFTRACE_OK &&
               v->uid == geteuid() && (!dir || same_dir(v->header.meta.trace_path, dir));
    if (v) {
        perftrace__ring_view_close(v);
    }
    free(v);
    return yes;
}

/* The magic number is the last thing that makes a ring: a file without one whose maker has not
 * finished it in a minute was left by a kill in between, and holds nothing. */
static void remove_unfinished(const char *path) {
    char magic[sizeof(PERFTRACE__RING_MAGIC) - 1] = "";
    static const char none[sizeof(magic)];
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) {
        return;
    }
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
        time(NULL) - st.st_mtime > 60 && pread(fd, magic, sizeof(magic), 0) >= 0 &&
        memcmp(magic, none, sizeof(magic)) == 0) {
        unlink(path);
    }
    close(fd);
}

/* A link whose ring is not here, or a ring that has just gone. */
static void judge_dangling(const char *link, bool dry, perftrace__recovered_t *r,
                           bool *ret_silent) {
    char target[PATH_MAX];
    char boot[PERFTRACE__BOOT_ID_MAX];
    ssize_t n = readlink(link, target, sizeof(target) - 1);
    if (n <= 0) {
        *ret_silent = true; /* its process has ended well since we saw it */
        return;
    }
    target[n] = '\0';
    perftrace__os_boot_id(boot);
    boot[8] = '\0';
    size_t len = strlen(link);
    if (len > 5 &&
        snprintf(r->trace_path, sizeof(r->trace_path), "%.*s.jsonl", (int)(len - 5), link) <
            (int)sizeof(r->trace_path) &&
        perftrace__recover_trace_closed(r->trace_path)) {
        *ret_silent = true; /* whoever finished it was killed before it took the link away */
    } else if (boot[0] && strstr(target, boot)) {
        /* The name tells the boot it was made in: only of this one is it certain that the ring is
         * gone for good. */
        r->problem = "its ring file was removed; events that were not written are lost";
    } else {
        r->problem = "its ring file is on another machine, or was lost at a restart of this one";
        return;
    }
    if (!dry) {
        unlink(link);
    }
}

typedef struct search {
    unsigned flags;
    perftrace__recover_fn fn;
    void *user;
    unsigned tried;
} search_t;

static void try_one(const char *path, search_t *s) {
    perftrace__recovered_t r;
    int status = perftrace__recover_ring(path, s->flags, &r);
    bool silent = r.running && !(s->flags & PERFTRACE__RECOVER_LIVE);
    if (status == PERFTRACE_ERR_NOT_FOUND) {
        judge_dangling(path, s->flags & PERFTRACE__RECOVER_DRY, &r, &silent);
    }
    if (!silent) {
        s->tried++;
        if (s->fn) {
            s->fn(path, status, &r, s->user);
        }
    }
}

static void try_links(const char *pattern, search_t *s) {
    glob_t g;
    if (glob(pattern, 0, NULL, &g) != 0) {
        return;
    }
    for (size_t i = 0; i < g.gl_pathc; i++) {
        struct stat st;
        if (lstat(g.gl_pathv[i], &st) == 0 && S_ISLNK(st.st_mode)) {
            try_one(g.gl_pathv[i], s);
        }
    }
    globfree(&g);
}

static void try_rings(const char *pattern, const char *dir, search_t *s) {
    glob_t g;
    if (glob(pattern, 0, NULL, &g) != 0) {
        return;
    }
    for (size_t i = 0; i < g.gl_pathc; i++) {
        if (belongs(g.gl_pathv[i], dir)) {
            try_one(g.gl_pathv[i], s);
        } else if (!(s->flags & PERFTRACE__RECOVER_DRY)) {
            remove_unfinished(g.gl_pathv[i]);
        }
    }
    globfree(&g);
}

/* Appends dir with the characters that mean something to glob escaped. */
static bool glob_in(const char *dir, const char *pattern, char out[PATH_MAX]) {
    size_t n = 0;
    for (const char *p = dir; *p; p++) {
        if (n + 2 >= PATH_MAX) {
            return false;
        }
        if (strchr("*?[]\\", *p)) {
            out[n++] = '\\';
        }
        out[n++] = *p;
    }
    return snprintf(out + n, PATH_MAX - n, "/%s", pattern) < (int)(PATH_MAX - n);
}

unsigned perftrace__recover_dir(const char *dir, const char *const *ring_dirs, unsigned n,
                                unsigned flags, perftrace__recover_fn fn, void *user) {
    char pattern[PATH_MAX];
    search_t s = {flags, fn, user, 0};
    if (dir && glob_in(dir, "traces-*.ring", pattern)) {
        try_links(pattern, &s);
    }
    for (unsigned i = 0; i < n; i++) {
        char mine[64];
        snprintf(mine, sizeof(mine), "perftrace-%u-*.ring*", (unsigned)geteuid());
        if (glob_in(ring_dirs[i], mine, pattern)) {
            try_rings(pattern, dir, &s);
        }
    }
    return s.tried;
}

static bool is_ring_of(const char *ring, const char *trace_path) {
    char a[PATH_MAX];
    char b[PATH_MAX];
    perftrace__ring_view_t *v = calloc(1, sizeof(*v));
    bool yes = v && perftrace__ring_view_open(v, ring, NULL) == PERFTRACE_OK &&
               realpath(v->header.meta.trace_path, a) && realpath(trace_path, b) &&
               strcmp(a, b) == 0;
    if (v) {
        perftrace__ring_view_close(v);
    }
    free(v);
    return yes;
}

int perftrace__recover_ring_of(const char *trace_path, const char *const *ring_dirs, unsigned n,
                               char *out, size_t size) {
    struct stat st;
    if (perftrace__recover_link(trace_path, out, size) && lstat(out, &st) == 0 &&
        S_ISLNK(st.st_mode)) {
        return PERFTRACE_OK;
    }
    int status = perftrace__recover_trace_closed(trace_path) ? PERFTRACE_ERR_EXISTS
                                                             : PERFTRACE_ERR_NOT_FOUND;
    for (unsigned i = 0; i < n && status == PERFTRACE_ERR_NOT_FOUND; i++) {
        char pattern[PATH_MAX];
        glob_t g;
        if (!glob_in(ring_dirs[i], "perftrace-*.ring*", pattern) ||
            glob(pattern, 0, NULL, &g) != 0) {
            continue;
        }
        for (size_t k = 0; k < g.gl_pathc && status == PERFTRACE_ERR_NOT_FOUND; k++) {
            if (is_ring_of(g.gl_pathv[k], trace_path)) {
                int len = snprintf(out, size, "%s", g.gl_pathv[k]);
                status = len > 0 && (size_t)len < size ? PERFTRACE_OK : PERFTRACE_ERR_TOO_LONG;
            }
        }
        globfree(&g);
    }
    return status;
}
