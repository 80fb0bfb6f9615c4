/* fetch_store.h: the folder that a job's files are put into. SPDX-License-Identifier: MIT
 *
 * Files are copied into a folder of ours inside it and moved to their names when they are complete.
 * No symbolic link is followed below the folder. One thread; blocks as the file system does. */
#ifndef PERFTRACE_TOOL_FETCH_STORE_H
#define PERFTRACE_TOOL_FETCH_STORE_H

#include "bucket_list.h"

typedef struct pt_store {
    int fd;                      /* of the folder, locked; -1: it is not there */
    perftrace__strbuf_t path;    /* absolute */
    perftrace__strbuf_t staging; /* absolute */
} pt_store_t;

/* Opens a folder. make: it is made where it is not there, and locked against others of us. 0 or a
 * negative errno (-EWOULDBLOCK: another one works in it, or a copy that it started). */
int pt_store_open(const char *folder, bool make, pt_store_t *ret);
void pt_store_close(pt_store_t *store); /* accepts what open refused */

/* Marks wanted objects as present whose file is there, complete and not older. */
void pt_store_mark_present(const pt_store_t *store, pt_bucket_list_t *list);

/* Makes the folder for copies, with nothing of other runs in it. 0 or a negative errno. */
int pt_store_make_staging(const pt_store_t *store);
/* Moves a copied object to its name: the object is then fetched. Else it is failed where `final`,
 * with the reason. */
void pt_store_adopt(const pt_store_t *store, pt_object_t *object, bool final);
/* Removes the folder for copies with all that is in it. 0 or a negative errno. */
int pt_store_remove_staging(const pt_store_t *store);

#endif
