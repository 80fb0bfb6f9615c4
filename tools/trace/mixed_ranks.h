/* mixed_ranks.h: whether the lines of several processes take turns in one file.
 * SPDX-License-Identifier: MIT
 *
 * Runs laid end to end have a header each, and nothing of the one before comes behind it; where a
 * line of an earlier process does, each process has a clock and numbers of its own all the same
 * (perf-trace-collect --one-file). All structures begin zeroed; one thread. */
#ifndef PERFTRACE_TRACE_MIXED_RANKS_H
#define PERFTRACE_TRACE_MIXED_RANKS_H
#include "hashmap.h"
#include "trace_event.h"

#include <stdbool.h>
#include <stddef.h>

/* A process, by its header: a rank may come to be known later, and machines and containers may give
 * the same pid. */
typedef struct pt_rank_key {
    int64_t pid, mono_ns;
    int64_t rank;  /* -1: none */
    uint64_t role; /* its hash; 0: none */
    bool shared;   /* another one has this pid: lines are told apart by rank and role */
} pt_rank_key_t;

typedef struct pt_rank_list {
    pt_rank_key_t *item;
    size_t count, cap, last;     /* last: of the last line or header */
    perftrace__hashmap_t newest; /* of a pid; of pid, rank and role; of a header */
} pt_rank_list_t;

#define PT_RANK_NONE SIZE_MAX

/* The place of a header's process, made when new; PT_RANK_NONE without memory. */
size_t pt_rank_list_header(pt_rank_list_t *list, const pt_event_t *header);
/* That of a line's, by its pid, args.rank and args.role; one that does not say enough (counters
 * have no rank) is of the process whose line or header came last. PT_RANK_NONE: no header had that
 * pid.
 */
size_t pt_rank_list_line(pt_rank_list_t *list, const pt_event_t *event);
void pt_rank_list_free(pt_rank_list_t *list);

typedef struct pt_mixed_ranks {
    pt_rank_list_t list;
    size_t now;  /* whose header came last */
    bool found;  /* they take turns */
    bool failed; /* no memory */
} pt_mixed_ranks_t;

/* Takes a header line; the first one, too. */
void pt_mixed_ranks_header(pt_mixed_ranks_t *ranks, const pt_event_t *header);
/* Takes any other line; of use only where several headers came. */
void pt_mixed_ranks_line(pt_mixed_ranks_t *ranks, const pt_event_t *event);
/* Takes a line, whichever it is; of others than headers looks only where several headers came. */
void pt_mixed_ranks_take(pt_mixed_ranks_t *ranks, const pt_event_t *event);
void pt_mixed_ranks_free(pt_mixed_ranks_t *ranks);

/* The same for the beginning of a file, PT_EVENT_PAD bytes readable behind it. Costs next to
 * nothing where it has one header only. False without memory. */
bool pt_mixed_ranks_begin(const char *data, size_t len, bool *ret_found);

#endif
