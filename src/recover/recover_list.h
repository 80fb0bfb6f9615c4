/* recover_list.h: paths of the files in a directory whose names are of one form.
 * SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_RECOVER_LIST_H
#define PERFTRACE_RECOVER_LIST_H

#include <stdbool.h>
#include <stddef.h>

typedef struct perftrace__path_list {
    char **paths; /* sorted */
    size_t count;
    size_t cap;
} perftrace__path_list_t;

/* Lists dir/NAME for each NAME that begins with prefix and goes on with anything and ".ring";
 * behind that may stand more when tail is set. Without memory, or when the directory cannot be
 * read (to its end), the list holds what was found until then. Freed by
 * perftrace__path_list_free. Thread-safe; blocks for the disk. */
perftrace__path_list_t perftrace__path_list_read(const char *dir, const char *prefix, bool tail);
void perftrace__path_list_free(perftrace__path_list_t *list);

#endif
