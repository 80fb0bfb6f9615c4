/* analyze_page.h: the analysis as one page for a browser. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_ANALYZE_ANALYZE_PAGE_H
#define PERFTRACE_ANALYZE_ANALYZE_PAGE_H
#include "html_page_frame.h"
#include "rank_result.h"

/* Appends the page. top: rows of lists of the largest; maker: "perf-trace-analyze 0.1.0". False
 * without memory, or without the chart library. Pure but for memory. */
bool pt_analyze_page(const pt_results_t *results, size_t top, const char *maker,
                     perftrace__strbuf_t *out);
/* Appends only its data, one JSON object, not yet made safe for a page. */
bool pt_analyze_page_data(const pt_results_t *results, size_t top, const char *maker,
                          perftrace__strbuf_t *out);

#endif
