/* rank_order.h: which rank each result is of. SPDX-License-Identifier: MIT
 *
 * A rank is what the user's map says of the file, else what torch's distributedInfo says, the
 * header of our trace, the events, or the file's name. What none of them tells gets the lowest
 * numbers that are left, in the natural order of the files' names. */
#ifndef PERFTRACE_ANALYZE_RANK_ORDER_H
#define PERFTRACE_ANALYZE_RANK_ORDER_H
#include "rank_result.h"
#include "string_list.h"

/* Checks an entry FILE=RANK of a map. Pure. */
bool pt_rank_map_is_entry(const char *entry);

/* Two results of one rank. */
typedef struct pt_rank_twins {
    size_t first, second; /* indexes of the results */
    bool found;
} pt_rank_twins_t;

/* Gives every result its rank and sorts the results by it. map: entries FILE=RANK, where FILE is a
 * path or the last part of one. *ret_made_up: how many had to be given one. */
void pt_ranks_resolve(pt_results_t *results, const pt_string_list_t *map, size_t *ret_made_up,
                      pt_rank_twins_t *ret_twins);

/* The size of the world: the largest that a result gives; -1: none does. */
int64_t pt_ranks_world(const pt_results_t *results);
/* Appends the ranks that have no result, as "2, 5"; returns how many: of those below the world's
 * size, or of those that were chosen (of a list such as 8-99 those below the world's size). At most
 * `most` are named, then "...". */
size_t pt_ranks_missing(const pt_results_t *results, size_t most, perftrace__strbuf_t *out);
/* The index of a result whose run differs from that of most; SIZE_MAX: none. */
size_t pt_ranks_odd_run(const pt_results_t *results);

#endif
