/* last_part.h: the last part of a path. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_COMMON_LAST_PART_H
#define PERFTRACE_COMMON_LAST_PART_H

#include <string.h>

/* What stands behind the last slash, or all where there is none; empty for a path that ends in one.
 * A part of path itself. */
static inline const char *pt_last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

#endif
