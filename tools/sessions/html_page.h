/* html_page.h: the report as one page for a browser. SPDX-License-Identifier: MIT
 *
 * The page holds all it needs: style, script, the chart library and the data as JSON. It loads
 * nothing. What is too much for a page is sampled here, by rules that the page states. Pure but for
 * memory. */
#ifndef PERFTRACE_SESSIONS_HTML_PAGE_H
#define PERFTRACE_SESSIONS_HTML_PAGE_H
#include "html_page_frame.h"
#include "html_style.h"
#include "session_metrics.h"
#include "table.h"

typedef struct pt_html_options {
    size_t timelines;  /* sessions in the timelines, of each order */
    size_t points;     /* of the latency chart, at most */
    uint64_t batch;    /* as given with -B; 0: no steps */
    unsigned threads;  /* for sorting */
    const char *maker; /* "perf-trace-sessions 0.1.0" */
    const pt_phase_styles_t *styles;
} pt_html_options_t;

/* Appends the page. The model should have been read with keep_spans; file: names of the inputs,
 * files of them; tables: the report of the same selection. False without memory, or without the
 * chart library. */
bool pt_html_page(const pt_selection_t *selection, const char *const *file, size_t files,
                  const pt_report_t *tables, const pt_html_options_t *options,
                  perftrace__strbuf_t *out);
/* Appends only its data, one JSON object, not yet made safe for a page. */
bool pt_html_data(const pt_selection_t *selection, const char *const *file, size_t files,
                  const pt_report_t *tables, const pt_html_options_t *options,
                  perftrace__strbuf_t *out);

#endif
