/* convert_apart.c. SPDX-License-Identifier: MIT */
#include "convert_apart.h"

#include "grow.h"

#include <stdlib.h>
#include <string.h>

/* A path like another, with memory of its own. */
static bool copy_path(const pt_path_t *path, pt_paths_t *paths) {
    if (!PT_GROW(paths, items, count, cap, 1)) {
        return false;
    }
    pt_path_t copy = *path;
    copy.name = strdup(path->name);
    copy.shown = path->shown != NULL ? strdup(path->shown) : NULL;
    copy.cut = path->cut != NULL ? strdup(path->cut) : NULL;
    copy.more = path->more_count > 0 ? calloc(path->more_count, sizeof *copy.more) : NULL;
    bool ok = copy.name != NULL && (path->shown == NULL || copy.shown != NULL) &&
              (path->cut == NULL || copy.cut != NULL) &&
              (path->more_count == 0 || copy.more != NULL);
    copy.more_count = copy.more != NULL ? path->more_count : 0;
    for (size_t i = 0; i < copy.more_count; i++) {
        copy.more[i] = path->more[i];
        copy.more[i].name = strdup(path->more[i].name);
        ok &= copy.more[i].name != NULL;
    }
    paths->items[paths->count++] = copy;
    return ok;
}

pt_exit_t pt_convert_apart(const pt_convert_input_t *inputs, size_t count, pt_paths_t *ret_paths,
                           pt_fd_list_t *ret_fds) {
    pt_exit_t status = PT_EXIT_OK;
    *ret_paths = (pt_paths_t)PT_PATHS_INIT;
    *ret_fds = (pt_fd_list_t){.fd = NULL};
    for (size_t i = 0; i < count && status == PT_EXIT_OK; i++) {
        if (pt_convert_is_mixed(&inputs[i])) {
            status = pt_take_apart(inputs[i].path, ret_paths, ret_fds);
        } else if (!copy_path(inputs[i].path, ret_paths)) {
            pt_error("out of memory");
            status = PT_EXIT_INTERNAL;
        }
    }
    return status;
}
