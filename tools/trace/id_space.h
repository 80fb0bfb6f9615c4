/* id_space.h: ids of many files as numbers below 2^31 that do not meet. SPDX-License-Identifier:
 * MIT
 *
 * Flow, async and correlation ids restart in every rank, are hex strings here and 64-bit numbers
 * there. Each file gets a block of its own; small numbers keep their value inside the lower half of
 * the block, everything else is numbered in the upper half. Which number comes out depends only on
 * the file and the order of its events. Not thread-safe; one file at a time. */
#ifndef PERFTRACE_TRACE_ID_SPACE_H
#define PERFTRACE_TRACE_ID_SPACE_H
#include "hashmap.h"
#include "trace_event.h"

typedef struct pt_id_space {
    uint32_t base, half; /* the block is [base, base + 2 * half) */
    uint32_t next;       /* next number of the upper half, from 0 */
    perftrace__hashmap_t map;
} pt_id_space_t;

/* Ids a map may hold before further new ones are derived from a hash. */
#define PT_ID_SPACE_LIMIT 262144U

/* Block number `file` of `files`. */
void pt_id_space_init(pt_id_space_t *space, unsigned file, unsigned files);
void pt_id_space_free(pt_id_space_t *space); /* accepts NULL */

/* A number that was never given out (until 2^31 divided by the number of files wraps). */
uint32_t pt_id_space_fresh(pt_id_space_t *space);

/* The number for an id: the same for the same id and salt. A JSON integer, or a string of hex
 * digits with or without 0x, keeps its value when it fits. salt tells apart what may share ids (0
 * if nothing). *ret_kept: the value is the original one, or base plus it. */
uint32_t pt_id_space_map(pt_id_space_t *space, pt_str_t id, uint64_t salt, bool *ret_kept);

#endif
