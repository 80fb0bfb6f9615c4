/* html_frame.h: what all parts of the page's data stand on. SPDX-License-Identifier: MIT
 *
 * Ranks are numbered anew, and times become seconds since the first submission. Pure. */
#ifndef PERFTRACE_SESSIONS_HTML_FRAME_H
#define PERFTRACE_SESSIONS_HTML_FRAME_H
#include "html_page.h"

typedef struct pt_html_frame {
    const pt_selection_t *selection;
    const pt_session_model_t *model;
    const pt_html_options_t *options;
    int32_t *rank; /* those of the selection, ascending; -1 for none comes first */
    size_t ranks;
    double *origin; /* by run. Runs on the wall clock share the earliest submission, each other run
                       begins at 0 */
    double epoch;   /* of the wall clock; NAN: some run is not on it */
    double first, last; /* submission and end, as pt_html_since gives them; 0 of no rows */
} pt_html_frame_t;

/* False without memory. Free with pt_html_frame_free in every case. */
bool pt_html_frame_make(const pt_selection_t *selection, const pt_html_options_t *options,
                        pt_html_frame_t *ret_frame);
void pt_html_frame_free(pt_html_frame_t *frame); /* accepts NULL */

/* A row of the selection. */
const pt_session_row_t *pt_html_row(const pt_html_frame_t *frame, size_t index);
/* Index in rank[]. */
size_t pt_html_rank(const pt_html_frame_t *frame, const pt_session_row_t *row);
/* A time on the run's clock as seconds since the first submission; NAN stays NAN. */
double pt_html_since(const pt_html_frame_t *frame, const pt_session_row_t *row, double time);
/* When a session ended; of one that did not, the last time seen in its run. On the run's clock. */
double pt_html_until(const pt_html_frame_t *frame, const pt_session_row_t *row);

/* The parts. Each appends members of the data's object, without a comma at the end. False without
 * memory. */
bool pt_html_scatter(const pt_html_frame_t *frame, const pt_session_metrics_t *metrics,
                     perftrace__strbuf_t *out);
bool pt_html_over_time(const pt_html_frame_t *frame, perftrace__strbuf_t *out);
bool pt_html_timelines(const pt_html_frame_t *frame, perftrace__strbuf_t *out);
bool pt_html_histograms(const pt_html_frame_t *frame, const pt_session_metrics_t *metrics,
                        perftrace__strbuf_t *out);

#endif
