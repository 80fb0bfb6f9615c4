/* session_slab.c. SPDX-License-Identifier: MIT */
#include "session_slab.h"

#include <stdlib.h>

bool perftrace__slab_grow(perftrace__slab_t *s) {
    if (s->nchunks >= UINT32_MAX >> PERFTRACE__SLAB_SHIFT) {
        return false;
    }
    if (s->nchunks == s->cap) {
        uint32_t cap = s->cap ? s->cap * 2 : 16;
        char **chunks = realloc(s->chunks, cap * sizeof(*chunks));
        if (!chunks) {
            return false;
        }
        s->bytes += (cap - s->cap) * sizeof(*chunks);
        s->chunks = chunks;
        s->cap = cap;
    }
    size_t size = (size_t)s->item << PERFTRACE__SLAB_SHIFT;
    char *chunk = aligned_alloc(PT_CACHE_LINE, size); /* 512 things: a multiple of the line */
    if (!chunk) {
        return false;
    }
    s->chunks[s->nchunks++] = chunk;
    s->bytes += size;
    return true;
}

void perftrace__slab_free(perftrace__slab_t *s) {
    if (!s) {
        return;
    }
    for (uint32_t i = 0; i < s->nchunks; i++) {
        free(s->chunks[i]);
    }
    free(s->chunks);
    *s = (perftrace__slab_t){.item = s->item, .next = 1};
}
