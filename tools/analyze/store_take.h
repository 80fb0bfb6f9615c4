/* store_take.h: what an event of each sort leaves in a store. SPDX-License-Identifier: MIT
 *
 * Between the parts of the feed; the events are whole and have times where their sort needs one. */
#ifndef PERFTRACE_ANALYZE_STORE_TAKE_H
#define PERFTRACE_ANALYZE_STORE_TAKE_H
#include "store_args.h"
#include "store_feed.h"

/* Scopes. */
void pt_store_take_complete(pt_store_feed_t *feed, pt_event_t *ev);
void pt_store_take_begin(pt_store_feed_t *feed, const pt_event_t *ev);
void pt_store_take_end(pt_store_feed_t *feed, const pt_event_t *ev);

/* Points: of counters, of the hardware counters that torch reads through CUPTI, and of torch's
 * records of its allocator. */
void pt_store_take_counter(pt_store_feed_t *feed, const pt_event_t *ev);
void pt_store_take_range(pt_store_feed_t *feed, const pt_event_t *ev, size_t row);
void pt_store_take_memory(pt_store_feed_t *feed, const pt_event_t *ev);

/* Notes the hour of a time, the rank that an event's arguments give its process, and that a key of
 * them is there twice. */
void pt_store_note_hour(pt_store_feed_t *feed, int64_t ts);
void pt_store_note_rank(pt_rank_store_t *store, uint32_t process, pt_args_t *args);
void pt_store_tell_twice(pt_store_feed_t *feed, const pt_args_t *args);

#endif
