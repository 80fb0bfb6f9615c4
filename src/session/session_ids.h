/* session_ids.h: which session ids are live, and which have been. SPDX-License-Identifier: MIT
 *
 * Ids count up, so 64 neighbours share a page: one look-up for all of them, and a bit each for
 * those that are done. A page goes when all its ids are done and all pages before it went; that
 * border is the base. Pages with ids that never came (their events were lost) and those behind a
 * session that lives long are kept up to a number; then the base moves past the older half of them,
 * and ids below it that never came count as done. So memory follows what lives. Not thread-safe. */
#ifndef PERFTRACE_SESSION_SESSION_IDS_H
#define PERFTRACE_SESSION_SESSION_IDS_H

#include "session_map.h"
#include "session_slab.h"

#define PERFTRACE__IDS_DEAD_PAGES 8192

/* In place of a live session's number. */
#define PERFTRACE__IDS_FRESH   0u         /* never seen */
#define PERFTRACE__IDS_DONE    UINT32_MAX /* was live */
#define PERFTRACE__IDS_SKIPPED (UINT32_MAX - 1)

typedef struct perftrace__ids_page {
    uint64_t done; /* a bit each */
    uint64_t skipped;
    uint32_t live;
    uint32_t number[64];
} perftrace__ids_page_t;

typedef struct perftrace__session_ids {
    perftrace__session_map_t map; /* page of an id: number in the slab */
    perftrace__slab_t pages;
    uint64_t base; /* pages below it that are not in the map: all done */
    uint32_t dead; /* pages without a live or skipped id */
} perftrace__session_ids_t;

#define PERFTRACE__SESSION_IDS_INIT                                                                \
    { {NULL, 0, 0, 0}, PERFTRACE__SLAB_INIT(perftrace__ids_page_t), 0, 0 }

/* Number of the live session, or one of the values above. */
PT_ALWAYS_INLINE uint32_t perftrace__session_ids_find(const perftrace__session_ids_t *ids,
                                                      uint64_t id) {
    uint32_t page = perftrace__session_map_get(&ids->map, id >> 6);
    if (PT_LIKELY(page)) {
        return PERFTRACE__SLAB_AT(&ids->pages, page, perftrace__ids_page_t)->number[id & 63];
    }
    return id >> 6 < ids->base ? PERFTRACE__IDS_DONE : PERFTRACE__IDS_FRESH;
}

/* Makes a fresh id live under a number. False without memory. */
bool perftrace__session_ids_add(perftrace__session_ids_t *ids, uint64_t id, uint32_t number);
/* A live id is done. */
void perftrace__session_ids_done(perftrace__session_ids_t *ids, uint64_t id);
/* Makes a fresh id a skipped one, for good. False without memory. */
bool perftrace__session_ids_skip(perftrace__session_ids_t *ids, uint64_t id);
uint64_t perftrace__session_ids_bytes(const perftrace__session_ids_t *ids);
void perftrace__session_ids_free(perftrace__session_ids_t *ids);

#endif
