/* live_history.c. SPDX-License-Identifier: MIT */
#include "live_history.h"

#include "grow.h"

const pt_live_seen_t *pt_live_history_get(const pt_live_history_t *h,
                                          const pt_live_seen_key_t *key) {
    const uint64_t *at = perftrace__hashmap_get(&h->map, key, sizeof *key);
    return at != NULL ? &h->seen[*at] : NULL;
}

bool pt_live_history_put(pt_live_history_t *h, const pt_live_seen_key_t *key,
                         const pt_live_seen_t *seen) {
    if (!PT_GROW(h, seen, count, cap, 1)) {
        return false;
    }
    const uint64_t *at = perftrace__hashmap_put(&h->map, key, sizeof *key, h->count, NULL);
    if (at == NULL) {
        return false;
    }
    h->seen[*at] = *seen;
    h->count += *at == h->count;
    return true;
}

void pt_live_history_free(pt_live_history_t *h) {
    if (h != NULL) {
        perftrace__hashmap_free(&h->map);
        free(h->seen);
        *h = (pt_live_history_t)PT_LIVE_HISTORY_INIT;
    }
}
