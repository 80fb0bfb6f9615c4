/* html_json.h: values of the page's data as JSON. SPDX-License-Identifier: MIT
 *
 * Appended to a buffer, whose `failed` tells when memory ran out. What is not recorded (NAN) is
 * null. Pure. */
#ifndef PERFTRACE_SESSIONS_HTML_JSON_H
#define PERFTRACE_SESSIONS_HTML_JSON_H
#include "html_page_frame.h"
#include "parsed_session.h"
#include "session_model.h"
#include "strbuf.h"

/* To six figures: enough for a chart, and short. */
void pt_html_rounded(perftrace__strbuf_t *out, double v);
/* Seconds to the microsecond. */
void pt_html_moment(perftrace__strbuf_t *out, double seconds);
void pt_html_count(perftrace__strbuf_t *out, uint64_t n);
void pt_html_text(perftrace__strbuf_t *out, pt_name_t text);
/* "," unless it is the first of a list; returns false, for the next time. */
bool pt_html_comma(perftrace__strbuf_t *out, bool first);
/* A number that a double holds exactly as such, others as texts; a missing task is null. */
void pt_html_session_id(perftrace__strbuf_t *out, const pt_session_model_t *model,
                        const pt_session_row_t *row);
void pt_html_task_id(perftrace__strbuf_t *out, const pt_session_model_t *model,
                     const pt_session_row_t *row);

#endif
