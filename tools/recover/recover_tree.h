/* recover_tree.h: what killed processes left in a directory, for the tools.
 * SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TOOL_RECOVER_TREE_H
#define PERFTRACE_TOOL_RECOVER_TREE_H

#include "recover.h"
#include "string_list.h"

typedef struct pt_recover_tree {
    const pt_string_list_t *ring_dirs; /* where rings lie, besides the directory itself */
    unsigned flags;                    /* PERFTRACE__RECOVER_ */
    bool recursive;                    /* the directories below, too */
    bool quiet;                        /* those that cannot be read are not warned of */
    perftrace__recover_fn fn;
    void *user;
} pt_recover_tree_t;

/* Recovers the rings of a directory, NULL: every ring of this user in the ring directories. False
 * without memory. Blocks for the disk. */
bool pt_recover_tree(const pt_recover_tree_t *how, const char *dir);

#endif
