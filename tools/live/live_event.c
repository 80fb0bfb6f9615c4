/* live_event.c. SPDX-License-Identifier: MIT */
#include "live_event.h"

pt_live_walk_t pt_live_walk(const uint64_t *words, uint64_t n) {
    pt_live_walk_t w = {0};
    while (w.words < n) {
        uint64_t time;
        uint32_t len = perftrace__record_peek(words + w.words, n - w.words, &time);
        if (len == 0) {
            break;
        }
        w.events += !perftrace__record_is_left(words[w.words]);
        w.words += len;
        w.last = time;
    }
    return w;
}

bool pt_live_last_record(const uint64_t *words, uint64_t n, const perftrace__site_table_t *sites,
                         uint64_t *ret_ticks) {
    bool found = false;
    for (uint64_t len = 2; len <= PT_MIN(n, (uint64_t)UINT16_MAX); len++) {
        const uint64_t *p = words + (n - len);
        uint64_t time;
        perftrace__event_t ev;
        /* The length first: it tells nearly all of them from arguments. */
        if ((uint16_t)(*p >> 16) != len || perftrace__record_peek(p, len, &time) != len ||
            perftrace__record_decode(p, len, sites, &ev) != len || ev.end < ev.start) {
            continue;
        }
        if (found && time != *ret_ticks) {
            return false;
        }
        found = true;
        *ret_ticks = time;
    }
    return found;
}
