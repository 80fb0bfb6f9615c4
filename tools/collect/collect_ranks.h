/* collect_ranks.h: how far each rank of a run is. SPDX-License-Identifier: MIT
 *
 * Pure: from what the store knows. Ranks are told apart by role and rank; a process of unknown rank
 * stands alone. */
#ifndef PERFTRACE_TOOL_COLLECT_RANKS_H
#define PERFTRACE_TOOL_COLLECT_RANKS_H

#include "collect_store.h"

typedef struct pt_collect_rank {
    const char *role;
    int64_t rank;                      /* -1: unknown */
    size_t world;                      /* ranks that its role has; 0: not known */
    const pt_collect_stream_t *newest; /* its last trace; NULL: only sessions came */
    size_t files;
    uint64_t events, bytes, dropped;
    uint64_t last_ns; /* since the epoch, of its last event; 0: none */
    int64_t step;
    double rate; /* events a second */
    const char *host;
    unsigned senders;
    bool ended; /* the last trace has its footer, and nothing else is under way */
} pt_collect_rank_t;

typedef struct pt_collect_ranks {
    pt_collect_rank_t *item; /* by role, then rank */
    size_t count, cap;
    size_t ended;
    size_t wanted; /* ranks that there must be; 0: not known */
} pt_collect_ranks_t;

/* world_size: how many there are, 0: what the senders say, of each role. False without memory. */
bool pt_collect_ranks_of(const pt_collect_run_t *run, uint64_t world_size, pt_collect_ranks_t *ret);
void pt_collect_ranks_free(pt_collect_ranks_t *ranks);
/* Whether all have ended. */
bool pt_collect_ranks_done(const pt_collect_ranks_t *ranks);
/* Appends those that have not: "no footer of 0, actor 1; nothing came from actor 2-7". */
void pt_collect_ranks_missing(const pt_collect_ranks_t *ranks, perftrace__strbuf_t *out);

#endif
