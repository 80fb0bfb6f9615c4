/* analyze_output.h: reports and results to their files. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_ANALYZE_ANALYZE_OUTPUT_H
#define PERFTRACE_ANALYZE_ANALYZE_OUTPUT_H
#include "analyze_options.h"
#include "paths.h"
#include "rank_result.h"
#include "table.h"

/* Leaves only the tables that --table names. PT_EXIT_OK or PT_EXIT_USAGE. */
int pt_analyze_output_choose(pt_report_t *report, const pt_analyze_options_t *options);
/* Writes the report as the options want it; results: whose problems belong to it. The output must
 * be none of the inputs. Tells what goes wrong. */
pt_exit_t pt_analyze_output_report(const pt_report_t *report, const pt_results_t *results,
                                   size_t lists, const pt_paths_t *inputs,
                                   const pt_analyze_options_t *options);
/* Writes text to a path, whole or not at all. */
pt_exit_t pt_analyze_output_text(const char *path, const pt_paths_t *inputs,
                                 const perftrace__strbuf_t *text);

#endif
