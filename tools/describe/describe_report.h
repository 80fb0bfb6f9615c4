/* describe_report.h: what is known of files, for people and for programs. SPDX-License-Identifier:
 * MIT */
#ifndef PERFTRACE_TOOL_DESCRIBE_REPORT_H
#define PERFTRACE_TOOL_DESCRIBE_REPORT_H

#include "described.h"

#include "table.h"

/* Appends a paragraph a file: its path, and a line for each thing that is known. Pure. */
void pt_describe_text(const pt_described_t *files, size_t count, perftrace__strbuf_t *out);
/* Adds the table "files", a row a file in their order, with all there is; what is not known is
 * missing. Pure. */
void pt_describe_report(const pt_described_t *files, size_t count, pt_report_t *report);

#endif
