/* collect_claim.h: which name in a run's folder is a stream's. SPDX-License-Identifier: MIT
 *
 * Claims are never taken back, so that all collectors at a folder, now and after a restart, come to
 * the same name. Blocks as the file system does. */
#ifndef PERFTRACE_TOOL_COLLECT_CLAIM_H
#define PERFTRACE_TOOL_COLLECT_CLAIM_H

#include "collect_name.h"

#define PT_COLLECT_CLAIM_DIR ".streams"

/* The stream's name: the first one that it has claimed, or that is free. A name is free when nobody
 * has claimed it and no file is there but the stream's own. first: see pt_collect_name_first. 0 or
 * -errno. */
int pt_collect_claim_find(const char *run_dir, const char *first, uint64_t stream,
                          char ret_name[PT_COLLECT_NAME_MAX]);
/* Makes a claim. 0; -EEXIST: there is one; or -errno. */
int pt_collect_claim_make(const char *run_dir, const char *name, const pt_collect_claim_t *claim);
/* Reads one. 0; -ENOENT: there is none; or -errno. */
int pt_collect_claim_read(const char *run_dir, const char *name, pt_collect_claim_t *ret);

/* Has the run's folder for itself among collectors that ask for that, until *ret_fd is closed; -1
 * on failure. 0; -EBUSY: another one has it; or -errno. */
int pt_collect_claim_lock(const char *run_dir, int *ret_fd);

/* Calls fn for the claims of a run's folder whose names are no later parts. 0 or -errno; a folder
 * that is not there has none. */
int pt_collect_claim_each(const char *run_dir,
                          void (*fn)(void *ctx, const char *name, const pt_collect_claim_t *claim),
                          void *ctx);

#endif
