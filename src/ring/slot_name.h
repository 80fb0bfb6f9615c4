/* slot_name.h: the name of a slot's thread while the thread may change it. SPDX-License-Identifier:
 * MIT */
#ifndef PERFTRACE_RING_SLOT_NAME_H
#define PERFTRACE_RING_SLOT_NAME_H

#include "ring_layout.h"

#include <stdbool.h>

/* Copies the name, NUL-terminated. False, and *ret_seq untouched, when it was never still. */
bool perftrace__slot_name(const perftrace__slot_t *slot, char ret_name[64], uint32_t *ret_seq);

#endif
