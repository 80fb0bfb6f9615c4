/* file_rank.h: the rank that a file's name tells. SPDX-License-Identifier: MIT
 *
 * Pure. Of a path only the last part counts. */
#ifndef PERFTRACE_COMMON_FILE_RANK_H
#define PERFTRACE_COMMON_FILE_RANK_H

#include <stdint.h>

/* r3, rank3, rank-3 or rank_3 as a word; the last one of several. -1: none. */
int64_t pt_file_rank(const char *path);

/* The same, else TP-3 when no other parallel dimension is named with more than one place. */
int64_t pt_file_rank_or_tp(const char *path);

#endif
