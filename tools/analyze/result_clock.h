/* result_clock.h: the clocks of ranks, and their times on one axis. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_ANALYZE_RESULT_CLOCK_H
#define PERFTRACE_ANALYZE_RESULT_CLOCK_H
#include "rank_result.h"

/* What a file says of its clock goes into the result of a rank of it. */
void pt_result_take_clock(pt_rank_result_t *result, const pt_rank_store_t *store);

/* Puts the ranks onto the axis of the first result (clock_align.h); they stand in their order.
 * Where a result does not tell when it was, each counts from its own first event. False without
 * memory. */
bool pt_results_align(pt_results_t *results);

/* A time of a rank, ns since the first event of all. */
int64_t pt_result_time(const pt_rank_result_t *result, int64_t ts);

#endif
