/* rank_analysis.h: from a store to the results of its ranks. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_ANALYZE_RANK_ANALYSIS_H
#define PERFTRACE_ANALYZE_RANK_ANALYSIS_H
#include "rank_view.h"

/* Adds a result for each rank of the file: one, but for merged traces. Their fact `rank` is
 * PT_NOT_RECORDED where the file does not tell. name: of the file. False without memory. */
bool pt_rank_analyze(const pt_rank_store_t *store, const char *name,
                     const pt_analysis_options_t *options, pt_results_t *ret_results);

#endif
