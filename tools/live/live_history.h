/* live_history.h: what was seen of each thread at earlier looks. SPDX-License-Identifier: MIT
 *
 * A thread is a slot of a ring file and how often the slot had been taken. Pure but for memory. */
#ifndef PERFTRACE_LIVE_LIVE_HISTORY_H
#define PERFTRACE_LIVE_LIVE_HISTORY_H

#include "hashmap.h"

typedef struct pt_live_seen_key {
    uint64_t device;
    uint64_t inode;
    uint32_t slot;
    uint32_t generation;
} pt_live_seen_key_t;

typedef struct pt_live_seen {
    uint64_t word;       /* of the slot */
    uint64_t lost;       /* events of the slot: an end whose record found no room leaves the word */
    uint64_t at_ns;      /* monotonic time of the look */
    uint64_t changed_ns; /* of the first look at which word and lost were as they are */
    uint64_t last_ticks; /* time of the last event */
    bool last_known;
} pt_live_seen_t;

typedef struct pt_live_history {
    perftrace__hashmap_t map; /* to places in seen */
    pt_live_seen_t *seen;
    size_t count, cap;
} pt_live_history_t;

#define PT_LIVE_HISTORY_INIT                                                                       \
    { PERFTRACE__HASHMAP_INIT, NULL, 0, 0 }

/* NULL: never seen. */
const pt_live_seen_t *pt_live_history_get(const pt_live_history_t *history,
                                          const pt_live_seen_key_t *key);
/* False without memory. */
bool pt_live_history_put(pt_live_history_t *history, const pt_live_seen_key_t *key,
                         const pt_live_seen_t *seen);
void pt_live_history_free(pt_live_history_t *history); /* accepts NULL; usable again */

#endif
