/* kept_files.c. SPDX-License-Identifier: MIT */
#include "kept_files.h"

#include "grow.h"

#include <sys/stat.h>

static bool has_room(pt_paths_t *kept, size_t more) {
    void *items = kept->items;
    bool ok = pt_grow(&items, sizeof *kept->items, kept->count, more, &kept->cap);
    kept->items = items;
    return ok;
}

static void add(pt_paths_t *kept, const pt_path_t *path) {
    pt_path_t *to = &kept->items[kept->count++];
    *to = *path;
    to->name = to->shown = to->cut = NULL;
    to->more = NULL;
    to->more_count = 0;
}

bool pt_kept_add(pt_paths_t *kept, const pt_paths_t *paths) {
    size_t files = 0;
    for (size_t i = 0; i < paths->count; i++) {
        files += 1 + paths->items[i].more_count;
    }
    if (!has_room(kept, files)) {
        return false;
    }
    for (size_t i = 0; i < paths->count; i++) {
        const pt_path_t *path = &paths->items[i];
        add(kept, path);
        for (size_t k = 0; k < path->more_count; k++) {
            add(kept, &path->more[k]);
        }
    }
    return true;
}

bool pt_kept_add_file(pt_paths_t *kept, const char *path) {
    struct stat st;
    if (path == NULL || stat(path, &st) != 0) {
        return true;
    }
    if (!has_room(kept, 1)) {
        return false;
    }
    kept->items[kept->count++] =
        (pt_path_t){.device = st.st_dev, .inode = st.st_ino, .regular = S_ISREG(st.st_mode)};
    return true;
}
