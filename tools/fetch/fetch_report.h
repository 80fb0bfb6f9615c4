/* fetch_report.h: what was fetched, as tables. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TOOL_FETCH_REPORT_H
#define PERFTRACE_TOOL_FETCH_REPORT_H

#include "bucket_list.h"
#include "table.h"

/* Adds the table "kinds", a row for each kind that there is, and "files", a row for each object.
 * files: that one is wanted. Pure. */
void pt_fetch_report(const pt_bucket_list_t *list, bool files, pt_report_t *report);

#endif
