/* report_output.h: what tools print, to where it goes. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_COMMON_REPORT_OUTPUT_H
#define PERFTRACE_COMMON_REPORT_OUTPUT_H
#include "exit_code.h"
#include "option.h"
#include "paths.h"
#include "string_list.h"
#include "table.h"

/* Leaves only the tables that are named; all where none is. PT_EXIT_OK, or PT_EXIT_USAGE after
 * telling which there are. */
int pt_report_choose(pt_report_t *report, const pt_string_list_t *names, const pt_tool_t *tool);

/* Whether a report to a path (NULL or "-": standard output) is coloured: it goes to a terminal that
 * shows colours. */
bool pt_output_wants_color(const char *path);

/* Writes text to a path (NULL or "-": standard output), whole or not at all; it must be none of the
 * inputs (NULL: not checked). Tells what goes wrong, also that the text is short for want of
 * memory. */
pt_exit_t pt_output_text(const char *path, const pt_paths_t *inputs,
                         const perftrace__strbuf_t *text);

#endif
