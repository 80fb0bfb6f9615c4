/* ring_dirs.h: where ring files lie. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_COMMON_RING_DIRS_H
#define PERFTRACE_COMMON_RING_DIRS_H

#include "string_list.h"

/* Adds the usual directories behind those of the list: PERFTRACE_RING_DIR, /dev/shm, /tmp, each
 * once. False without memory. */
bool pt_ring_dirs_add_usual(pt_string_list_t *dirs);

#endif
