/* analyze_load.h: the inputs to their results, in parallel. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_ANALYZE_ANALYZE_LOAD_H
#define PERFTRACE_ANALYZE_ANALYZE_LOAD_H
#include "paths.h"
#include "rank_view.h"

typedef struct pt_analyze_load {
    const pt_paths_t *paths;
    const pt_analysis_options_t *analysis;
    bool keep_outliers, strict;
    unsigned threads;
    uint64_t mended; /* what was wrong in all inputs, notes aside; set */
} pt_analyze_load_t;

/* Reads every input, trace or written results, and adds its results; tells what is wrong. The same
 * whatever the number of threads. An input that is no trace is skipped with a warning;
 * PT_EXIT_INPUT when nothing is left. Blocks. */
pt_exit_t pt_analyze_load(pt_analyze_load_t *load, pt_results_t *results);

/* Whether a file met in a directory may be a trace. */
bool pt_analyze_wants(const char *name, void *ctx);

#endif
