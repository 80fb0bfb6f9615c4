/* live_map.h: control pages of a ring file, mapped for reading. SPDX-License-Identifier: MIT
 *
 * Only pages that the traced process has written are mapped: a look at one that it has not would
 * have the system allocate it. A file that is cut short under a mapping brings SIGBUS; then the
 * page reads as zeros from there on, and pt_live_map_was_cut tells. One mapping at a time; one
 * thread. */
#ifndef PERFTRACE_LIVE_LIVE_MAP_H
#define PERFTRACE_LIVE_LIVE_MAP_H

#include "ring_layout.h"

#include <stdbool.h>

/* Takes SIGBUS for the mappings; every other one ends the process as before. Call once. */
void pt_live_map_init(void);

/* Maps the control page that lies at a multiple of 64 KiB. NULL when that is not possible. */
const perftrace__slot_t *pt_live_map(int fd, uint64_t at);
void pt_live_unmap(const perftrace__slot_t *slot);
/* Whether the file was cut since the last mapping was made. */
bool pt_live_map_was_cut(void);

#endif
