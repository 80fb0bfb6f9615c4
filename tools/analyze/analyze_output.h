/* analyze_output.h: reports and results to their files. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_ANALYZE_ANALYZE_OUTPUT_H
#define PERFTRACE_ANALYZE_ANALYZE_OUTPUT_H
#include "analyze_options.h"
#include "paths.h"
#include "rank_result.h"
#include "table.h"

/* Writes the report as the options want it; results: whose problems belong to it. The output must
 * be none of the inputs. Tells what goes wrong. */
pt_exit_t pt_analyze_output_report(const pt_report_t *report, const pt_results_t *results,
                                   size_t lists, const pt_paths_t *inputs,
                                   const pt_analyze_options_t *options);

#endif
