/* session_slab.h: many equal things, named by 32-bit numbers. SPDX-License-Identifier: MIT
 *
 * Memory comes in chunks that never move, aligned to cache lines, and is kept until the slab is
 * freed, so that taking and giving back a thing costs no allocation. Number 0 is nobody's. Not
 * thread-safe. */
#ifndef PERFTRACE_SESSION_SESSION_SLAB_H
#define PERFTRACE_SESSION_SESSION_SLAB_H

#include "compiler.h"

#include <stdbool.h>
#include <string.h>

#define PERFTRACE__SLAB_SHIFT 9 /* things a chunk: 512 */

typedef struct perftrace__slab {
    char **chunks;
    uint32_t nchunks;
    uint32_t cap;  /* of chunks */
    uint32_t item; /* bytes of one thing, at least 4 */
    uint32_t next; /* number that was never given out */
    uint32_t free; /* first of a chain through the first four bytes of each */
    uint64_t bytes;
} perftrace__slab_t;

#define PERFTRACE__SLAB_INIT(type)                                                                 \
    { NULL, 0, 0, sizeof(type), 1, 0, 0 }

/* A new chunk; false without memory. */
bool perftrace__slab_grow(perftrace__slab_t *s);
/* Accepts NULL; the slab can be used again. */
void perftrace__slab_free(perftrace__slab_t *s);

/* The thing of a number that was taken. */
#define PERFTRACE__SLAB_AT(s, number, type)                                                        \
    ((type *)perftrace__slab_at((s), (number), sizeof(type)))
PT_ALWAYS_INLINE void *perftrace__slab_at(const perftrace__slab_t *s, uint32_t number,
                                          size_t item) {
    return s->chunks[number >> PERFTRACE__SLAB_SHIFT] +
           (number & ((1u << PERFTRACE__SLAB_SHIFT) - 1)) * item;
}

/* The number of a thing whose content is undefined, or 0 without memory. item: its size, as a
 * constant. */
PT_ALWAYS_INLINE uint32_t perftrace__slab_take(perftrace__slab_t *s, size_t item) {
    uint32_t number = s->free;
    if (PT_LIKELY(number)) {
        memcpy(&s->free, perftrace__slab_at(s, number, item), sizeof(s->free));
        return number;
    }
    if (PT_UNLIKELY(s->next >> PERFTRACE__SLAB_SHIFT >= s->nchunks) && !perftrace__slab_grow(s)) {
        return 0;
    }
    return s->next++;
}

PT_ALWAYS_INLINE void perftrace__slab_give(perftrace__slab_t *s, uint32_t number, size_t item) {
    memcpy(perftrace__slab_at(s, number, item), &s->free, sizeof(s->free));
    s->free = number;
}

/* The same for a chain that is linked as given-back ones are. */
PT_ALWAYS_INLINE void perftrace__slab_give_chain(perftrace__slab_t *s, uint32_t first,
                                                 uint32_t last, size_t item) {
    memcpy(perftrace__slab_at(s, last, item), &s->free, sizeof(s->free));
    s->free = first;
}

#endif
