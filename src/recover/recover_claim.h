/* recover_claim.h: one recovery of a ring at a time. SPDX-License-Identifier: MIT
 *
 * Without locks, which shared file systems may lack: a ring is claimed by renaming it to
 * RING.claim-PID-START-NAMESPACE, which exactly one of several renames can do. The claim of a dead
 * recovery is taken over the same way. */
#ifndef PERFTRACE_RECOVER_CLAIM_H
#define PERFTRACE_RECOVER_CLAIM_H

#include "compiler.h"

#include <limits.h>
#include <stdbool.h>

#define PERFTRACE__CLAIM_MAX (PATH_MAX + 96)

/* Claims the ring at real; claimed is its new path. 0; ERR_STATE while another recovery has it;
 * ERR_NOT_FOUND; or what renaming gave. */
int perftrace__recover_claim(const char *real, char claimed[PERFTRACE__CLAIM_MAX]);
/* Finds where a ring lies that a recovery claimed and died with; false when there is none. */
bool perftrace__recover_claim_find(const char *real, char found[PERFTRACE__CLAIM_MAX]);
/* The path without the claim, when it has one. */
void perftrace__recover_claim_strip(char *path);

#endif
