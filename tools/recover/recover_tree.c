/* recover_tree.c. SPDX-License-Identifier: MIT */
#include "recover_tree.h"

#include "message.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool recover_dir(const pt_recover_tree_t *how, const char *dir) {
    size_t n = how->ring_dirs->count;
    const char **dirs = calloc(n + 1, sizeof(*dirs));
    if (!dirs) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        dirs[i] = how->ring_dirs->items[i];
    }
    if (dir) {
        dirs[n++] = dir; /* where the ring goes when there is no better place */
    }
    perftrace__recover_dir(dir, dirs, (unsigned)n, how->flags, how->fn, how->user);
    free(dirs);
    return true;
}

bool pt_recover_tree(const pt_recover_tree_t *how, const char *dir) {
    bool good = recover_dir(how, dir);
    DIR *d = dir && how->recursive ? opendir(dir) : NULL;
    if (dir && how->recursive && !d && !how->quiet) {
        pt_warn("%s: %s", dir, strerror(errno));
    }
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        char path[PATH_MAX];
        struct stat st;
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            snprintf(path, sizeof(path), "%s/%s", dir, e->d_name) < (int)sizeof(path) &&
            lstat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
            good = pt_recover_tree(how, path) && good;
        }
    }
    if (d) {
        closedir(d);
    }
    return good;
}
