/* row_index.h: rows by a key that the caller hashes and compares. SPDX-License-Identifier: MIT
 *
 * Not thread-safe. */
#ifndef PERFTRACE_SESSIONS_ROW_INDEX_H
#define PERFTRACE_SESSIONS_ROW_INDEX_H
#include "grow.h"

#include <stdbool.h>
#include <stdlib.h>

typedef struct pt_row_index {
    uint32_t *slot; /* row number plus 1; 0: free */
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
static inline uint32_t *pt_row_index_find(const pt_row_index_t *index, uint64_t hash,
                                          bool (*same)(const void *ctx, uint32_t row),
                                          const void *ctx) {
    for (size_t i = hash;; i++) {
        uint32_t *slot = &index->slot[i & index->mask];
        if (*slot == 0 || same(ctx, *slot - 1)) {
            return slot;
        }
    }
}

#endif
