/* kept_files.h: the files that are read, of which no output may take the place. Operands are not
 * all of them: a comparison has two lists, and options name files, too. SPDX-License-Identifier:
 * MIT */
#ifndef PERFTRACE_COMMON_KEPT_FILES_H
#define PERFTRACE_COMMON_KEPT_FILES_H
#include "paths.h"

/* Adds the files of a list to kept, which begins as PT_PATHS_INIT, is what pt_output_options.inputs
 * takes, and is freed by pt_paths_free. Its items have no names. False without memory (nothing
 * changed). */
bool pt_kept_add(pt_paths_t *kept, const pt_paths_t *paths);

/* Adds a file by its name; NULL, and one that is not there, is none. False without memory. Blocks
 * on the file system. */
bool pt_kept_add_file(pt_paths_t *kept, const char *path);

#endif
