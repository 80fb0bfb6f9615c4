/* hashmap.h: byte-string or integer keys to one 64-bit value. SPDX-License-Identifier: MIT
 *
 * Open addressing with linear probing; keys are copied into one arena. A value is an index into the
 * caller's own table, usually. Not thread-safe. Hash: wyhash-like multiply-mix, seeded per map so
 * that crafted inputs cannot build long probe chains. */
#ifndef PERFTRACE_BASE_HASHMAP_H
#define PERFTRACE_BASE_HASHMAP_H

#include "compiler.h"

#include <stdbool.h>

typedef struct perftrace__hashmap_slot {
    uint64_t hash; /* 0 = free slot */
    uint64_t value;
    uint64_t key;  /* offset of the key's bytes in the arena, or the integer key itself */
    uint64_t klen; /* length of the key's bytes; UINT64_MAX for an integer key */
} perftrace__hashmap_slot_t;

typedef struct perftrace__hashmap {
    perftrace__hashmap_slot_t *slots;
    size_t cap; /* power of two, or 0 */
    size_t count;
    char *arena;
    size_t arena_len, arena_cap;
    uint64_t seed;
} perftrace__hashmap_t;

#define PERFTRACE__HASHMAP_INIT                                                                    \
    { NULL, 0, 0, NULL, 0, 0, 0 }

uint64_t perftrace__hash_bytes(const void *data, size_t len, uint64_t seed);

/* Each returns the address of the value of a key, or NULL when the key is absent. The address is
 * valid until the next put. */
uint64_t *perftrace__hashmap_get(const perftrace__hashmap_t *m, const void *key, size_t len);
uint64_t *perftrace__hashmap_get_u64(const perftrace__hashmap_t *m, uint64_t key);
/* Each returns the address of the key's value, inserting `initial` for a new key; NULL without
 * memory. ret_new (may be NULL) tells whether the key is new. */
uint64_t *perftrace__hashmap_put(perftrace__hashmap_t *m, const void *key, size_t len,
                                 uint64_t initial, bool *ret_new);
uint64_t *perftrace__hashmap_put_u64(perftrace__hashmap_t *m, uint64_t key, uint64_t initial,
                                     bool *ret_new);
/* Walks all entries in slot order: start with *pos = 0; false at the end. ret_key and ret_len may
 * be NULL; for integer keys *ret_key is NULL and *ret_len the key. */
bool perftrace__hashmap_next(const perftrace__hashmap_t *m, size_t *pos, const char **ret_key,
                             uint64_t *ret_len, uint64_t *ret_value);
/* Frees; the map is empty and usable again. Accepts NULL. */
void perftrace__hashmap_free(perftrace__hashmap_t *m);

#endif
