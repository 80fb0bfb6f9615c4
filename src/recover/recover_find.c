/* recover_find.c: the rings that belong to a directory. SPDX-License-Identifier: MIT */
#include "os.h"
#include "recover.h"
#include "ring_reader.h"

#include <perftrace/status.h>

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static bool belongs(const char *ring, const char *dir) {
    perftrace__ring_view_t *v = calloc(1, sizeof(*v));
    bool yes = v && perftrace__ring_view_open(v, ring, NULL) == PERFTRACE_OK &&
               same_dir(v->header.meta.trace_path, dir);
    if (v) {
        perftrace__ring_view_close(v);
    }
    free(v);
    return yes;
}

static bool of_this_boot(const char *link) {
    char target[PATH_MAX];
    char boot[PERFTRACE__BOOT_ID_MAX];
    ssize_t n = readlink(link, target, sizeof(target) - 1);
    if (n <= 0) {
        return false;
    }
    target[n] = '\0';
    perftrace__os_boot_id(boot);
    boot[8] = '\0';
    return boot[0] && strstr(target, boot) != NULL;
}

static bool try_one(const char *path, bool report_live, perftrace__recover_fn fn, void *user) {
    perftrace__recovered_t r;
    int status = perftrace__recover_ring(path, 0, &r);
    if (status == PERFTRACE_ERR_STATE && !report_live) {
        return false;
    }
    if (status == PERFTRACE_ERR_NOT_FOUND) {
        /* A link whose ring is not here. Its name tells the boot it was made in: only of this one
         * is it certain that the ring is gone for good. */
        if (of_this_boot(path)) {
            r.problem = "its ring file was removed; events that were not written are lost";
            unlink(path);
        } else {
            r.problem = "its ring file is on another machine, or was lost at a restart of this one";
        }
    }
    if (fn) {
        fn(path, status, &r, user);
    }
    return true;
}

static unsigned try_pattern(const char *pattern, const char *only_dir, bool report_live,
                            perftrace__recover_fn fn, void *user) {
    glob_t g;
    unsigned n = 0;
    if (glob(pattern, 0, NULL, &g) != 0) {
        return 0;
    }
    for (size_t i = 0; i < g.gl_pathc; i++) {
        if (!only_dir || belongs(g.gl_pathv[i], only_dir)) {
            n += try_one(g.gl_pathv[i], report_live, fn, user);
        }
    }
    globfree(&g);
    return n;
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
                                bool report_live, perftrace__recover_fn fn, void *user) {
    char pattern[PATH_MAX];
    unsigned tried = 0;
    if (glob_in(dir, "traces-*.ring", pattern)) {
        tried += try_pattern(pattern, NULL, report_live, fn, user);
    }
    for (unsigned i = 0; i < n; i++) {
        char mine[64];
        snprintf(mine, sizeof(mine), "perftrace-%u-*.ring*", (unsigned)geteuid());
        if (glob_in(ring_dirs[i], mine, pattern)) {
            tried += try_pattern(pattern, dir, report_live, fn, user);
        }
    }
    return tried;
}
