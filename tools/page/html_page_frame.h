/* html_page_frame.h: a page for a browser around its data. SPDX-License-Identifier: MIT
 *
 * A page holds all it needs (style, script, the chart library, the data as JSON) and may load
 * nothing. What it is made of besides the data is html_asset.h's. Pure but for memory. */
#ifndef PERFTRACE_PAGE_HTML_PAGE_FRAME_H
#define PERFTRACE_PAGE_HTML_PAGE_FRAME_H
#include "table.h"

/* Whether the build has found the chart library. */
bool pt_html_has_charts(void);
/* Which package has it, as a sentence for people. */
const char *pt_html_how_to_get_charts(void);

/* Appends the page. title: of the window until the script sets it, without markup; data: one JSON
 * value. False without memory, or without the chart library. */
bool pt_html_frame(const char *title, const perftrace__strbuf_t *data, perftrace__strbuf_t *out);

/* Appends JSON in which nothing ends or begins markup: outside of strings JSON has no such
 * characters, and in strings they are escaped. */
void pt_html_embed(perftrace__strbuf_t *out, const char *json, size_t len);

/* Appends a number as JSON, a whole one without a point; null: it is not finite. */
void pt_html_number(perftrace__strbuf_t *out, double v);

/* Appends `"tables":[...]`: the tables of a report that have rows, with what people are shown of
 * them. False without memory. */
bool pt_html_tables(const pt_report_t *report, perftrace__strbuf_t *out);

#endif
