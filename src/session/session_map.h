/* session_map.h: from 64-bit numbers to slab numbers, with removal. SPDX-License-Identifier: MIT
 *
 * Open addressing with linear probing, shrinking chains on removal: what it holds follows what
 * lives, however many numbers have come and gone. (The map of base keeps byte strings and forgets
 * nothing.) Hashes are seeded, so that no input can build long chains. Not thread-safe. */
#ifndef PERFTRACE_SESSION_SESSION_MAP_H
#define PERFTRACE_SESSION_SESSION_MAP_H

#include "compiler.h"

#include <stdbool.h>

typedef struct perftrace__session_map_slot {
    uint64_t key;
    uint32_t value; /* 0: free */
} perftrace__session_map_slot_t;

typedef struct perftrace__session_map {
    perftrace__session_map_slot_t *slots;
    uint32_t mask; /* capacity - 1, a power of two; slots is NULL when empty */
    uint32_t count;
    uint64_t seed;
} perftrace__session_map_t;

PT_ALWAYS_INLINE uint32_t perftrace__session_map_home(const perftrace__session_map_t *m,
                                                      uint64_t key) {
    uint64_t h = (key ^ m->seed) * 0x9E3779B97F4A7C15u;
    return (uint32_t)(((h ^ h >> 32) * 0xD6E8FEB86659FD93u) >> 32) & m->mask;
}

/* 0 when the key is absent. */
PT_ALWAYS_INLINE uint32_t perftrace__session_map_get(const perftrace__session_map_t *m,
                                                     uint64_t key) {
    if (!m->slots) {
        return 0;
    }
    for (uint32_t i = perftrace__session_map_home(m, key);; i = (i + 1) & m->mask) {
        if (m->slots[i].key == key || !m->slots[i].value) {
            return m->slots[i].value; /* a free slot's value is 0 whatever its key */
        }
    }
}

/* Adds a key that is absent, with a value that is not 0. False without memory. */
bool perftrace__session_map_put(perftrace__session_map_t *m, uint64_t key, uint32_t value);
/* Removes a key that is there. */
void perftrace__session_map_remove(perftrace__session_map_t *m, uint64_t key);
uint64_t perftrace__session_map_bytes(const perftrace__session_map_t *m);
/* Accepts a map of zeros, which is an empty one. */
void perftrace__session_map_free(perftrace__session_map_t *m);

#endif
