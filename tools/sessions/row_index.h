/* row_index.h: rows by a key that the caller hashes and compares. SPDX-License-Identifier: MIT
 *
 * Not thread-safe. */
#ifndef PERFTRACE_SESSIONS_ROW_INDEX_H
#define PERFTRACE_SESSIONS_ROW_INDEX_H
#include "grow.h"

#include <stdbool.h>
#include <stdlib.h>

/* The upper half of the key's hash, and a row number plus 1; 0: free. A key that differs is nearly
 * always seen from its hash, without a look at the row. */
typedef uint64_t pt_row_slot_t;

typedef struct pt_row_index {
    pt_row_slot_t *slot;
    size_t mask;
} pt_row_index_t;

/* Room for `rows` entries, at least 32, empty. False without memory. Free with pt_row_index_free.
 */
static inline bool pt_row_index_init(pt_row_index_t *index, size_t rows) {
    size_t slots = 64;
    while (slots < rows * 2) {
        slots *= 2;
    }
    index->slot = pt_huge(calloc(slots, sizeof *index->slot), slots * sizeof *index->slot);
    index->mask = slots - 1;
    return index->slot != NULL;
}

static inline void pt_row_index_free(pt_row_index_t *index) {
    free(index->slot);
}

/* Mixes one more part of a key into a hash. */
static inline uint64_t pt_row_hash(uint64_t hash, uint64_t part) {
    hash = (hash ^ part) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 32;
}

/* The slot with a row for which same(ctx, row) holds, or the free slot where a new one belongs. */
static inline pt_row_slot_t *pt_row_index_find(const pt_row_index_t *index, uint64_t hash,
                                               bool (*same)(const void *ctx, uint32_t row),
                                               const void *ctx) {
    for (size_t i = hash;; i++) {
        pt_row_slot_t *slot = &index->slot[i & index->mask];
        if (*slot == 0 ||
            ((uint32_t)(*slot >> 32) == (uint32_t)(hash >> 32) && same(ctx, (uint32_t)*slot - 1))) {
            return slot;
        }
    }
}

/* What a slot holds for a row. */
static inline pt_row_slot_t pt_row_slot(uint64_t hash, uint32_t row) {
    return (hash >> 32) << 32 | (row + 1);
}

static inline uint32_t pt_row_of_slot(pt_row_slot_t slot) {
    return (uint32_t)slot - 1;
}

#endif
