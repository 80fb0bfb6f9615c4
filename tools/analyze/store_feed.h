/* store_feed.h: from events to a store. SPDX-License-Identifier: MIT
 *
 * Pure but for memory. One store at a time. */
#ifndef PERFTRACE_ANALYZE_STORE_FEED_H
#define PERFTRACE_ANALYZE_STORE_FEED_H
#include "mixed_ranks.h"
#include "rank_store.h"
#include "trace_reader.h"

/* Joins a reader that has been initialised to a store: what is fed to the reader goes there, and
 * problems to the reader's book. ctx is the caller's; it must live as long as the reader. */
typedef struct pt_store_feed {
    pt_rank_store_t *store;
    pt_trace_reader_t *reader;
    bool ours;              /* set by the caller: it has a header of our writer */
    pt_mixed_ranks_t ranks; /* where it is: found tells that they take turns */
} pt_store_feed_t;

void pt_store_feed_join(pt_store_feed_t *feed, pt_rank_store_t *store, pt_trace_reader_t *reader);

/* Takes what the header of one of our own traces says. */
void pt_store_take_source(pt_rank_store_t *store, const pt_source_t *source);
/* Takes a member of the trace object beside its events; key with quotes. */
void pt_store_take_member(pt_rank_store_t *store, const char *key, size_t key_len,
                          const char *value, size_t len);

/* Ends the reading, telling what was set aside. */
void pt_store_feed_finish(pt_store_feed_t *feed, bool keep_outliers);

#endif
