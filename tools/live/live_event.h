/* live_event.h: what the words of a ring tell of the last events. SPDX-License-Identifier: MIT
 *
 * Nothing that is read is trusted. Pure. */
#ifndef PERFTRACE_LIVE_LIVE_EVENT_H
#define PERFTRACE_LIVE_LIVE_EVENT_H

#include "record_decode.h"

/* What records from a beginning on come to. */
typedef struct pt_live_walk {
    uint64_t events; /* scopes that a thread left open are none */
    uint64_t words;  /* of whole records; less than there are where the last one is cut off, or
                        where the bytes are none */
    uint64_t last;   /* ticks of the last one; only where there is one */
} pt_live_walk_t;

pt_live_walk_t pt_live_walk(const uint64_t *words, uint64_t n);

/* The time (ticks) of the record that ends with the last of n words, where it is not known where it
 * begins. The lengths are tried, and what decodes in full as an event of a known site counts. False
 * where nothing does, or more than one time comes of it. */
bool pt_live_last_record(const uint64_t *words, uint64_t n, const perftrace__site_table_t *sites,
                         uint64_t *ret_ticks);

#endif
