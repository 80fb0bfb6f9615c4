/* nearest_name.h: what somebody may have meant. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_NEAREST_NAME_H
#define PERFTRACE_NEAREST_NAME_H

#include "compiler.h"

/* Number of edits (insert, delete, replace, swap of neighbours) that turn one name into the other,
 * ASCII case aside. Names longer than 63 bytes count as very far (1000). Pure. */
unsigned perftrace__name_distance(const char *a, const char *b);

/* The largest distance at which a name of this length still suggests another. */
unsigned perftrace__name_distance_limit(size_t len);

#endif
