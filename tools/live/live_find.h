/* live_find.h: the ring files that are to be looked at. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_LIVE_LIVE_FIND_H
#define PERFTRACE_LIVE_LIVE_FIND_H

#include "hashmap.h"
#include "live_options.h"

#include <sys/types.h>

typedef struct pt_live_file {
    char *path;
    dev_t device;
    ino_t inode;
} pt_live_file_t;

typedef struct pt_live_files {
    pt_live_file_t *file; /* each once, whatever ways lead to it */
    size_t files, cap;
    unsigned wrong; /* operands of which nothing can come: told, once they are told */
    bool failed;    /* memory ran out */
} pt_live_files_t;

/* Finds them anew. tell: errors are told (an operand that is not there, a trace without a ring).
 * others: rings that were found to be of other directories, kept from one call to the next, so that
 * they are not opened again. Blocks on the file system. The caller frees both. */
void pt_live_find(const pt_live_options_t *options, const pt_string_list_t *operands, bool tell,
                  perftrace__hashmap_t *others, pt_live_files_t *ret_files);
void pt_live_files_free(pt_live_files_t *files); /* accepts NULL; usable again */

#endif
