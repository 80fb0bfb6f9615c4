/* recover_find.c: the rings that belong to a directory. SPDX-License-Identifier: MIT */
#include "os.h"
#include "recover.h"
#include "recover_list.h"
#include "recover_trace.h"
#include "ring_reader.h"

#include <perftrace/status.h>

#include <fcntl.h>
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

static void try_links(const char *dir, search_t *s) {
    perftrace__path_list_t links = perftrace__path_list_read(dir, "traces-", false);
    for (size_t i = 0; i < links.count; i++) {
        struct stat st;
        if (lstat(links.paths[i], &st) == 0 && S_ISLNK(st.st_mode)) {
            try_one(links.paths[i], s);
        }
    }
    perftrace__path_list_free(&links);
}

static void try_rings(const char *ring_dir, const char *dir, search_t *s) {
    char mine[64];
    snprintf(mine, sizeof(mine), "perftrace-%u-", (unsigned)geteuid());
    perftrace__path_list_t rings = perftrace__path_list_read(ring_dir, mine, true);
    for (size_t i = 0; i < rings.count; i++) {
        if (belongs(rings.paths[i], dir)) {
            try_one(rings.paths[i], s);
        } else if (!(s->flags & PERFTRACE__RECOVER_DRY)) {
            remove_unfinished(rings.paths[i]);
        }
    }
    perftrace__path_list_free(&rings);
}

unsigned perftrace__recover_dir(const char *dir, const char *const *ring_dirs, unsigned n,
                                unsigned flags, perftrace__recover_fn fn, void *user) {
    search_t s = {flags, fn, user, 0};
    if (dir) {
        try_links(dir, &s);
    }
    for (unsigned i = 0; i < n; i++) {
        try_rings(ring_dirs[i], dir, &s);
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
        perftrace__path_list_t rings = perftrace__path_list_read(ring_dirs[i], "perftrace-", true);
        for (size_t k = 0; k < rings.count && status == PERFTRACE_ERR_NOT_FOUND; k++) {
            if (is_ring_of(rings.paths[k], trace_path)) {
                int len = snprintf(out, size, "%s", rings.paths[k]);
                status = len > 0 && (size_t)len < size ? PERFTRACE_OK : PERFTRACE_ERR_TOO_LONG;
            }
        }
        perftrace__path_list_free(&rings);
    }
    return status;
}
