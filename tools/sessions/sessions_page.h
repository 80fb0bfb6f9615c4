/* sessions_page.h: the page of --html to its file. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_SESSIONS_SESSIONS_PAGE_H
#define PERFTRACE_SESSIONS_SESSIONS_PAGE_H
#include "paths.h"
#include "session_select.h"
#include "sessions_options.h"
#include "table.h"

/* Whether a page can be made at all; told when not. */
bool pt_sessions_page_possible(void);
/* Writes the page about a selection, with the tables that the report shows. The file is there whole
 * or not at all, and is none of the inputs. file: their names. Told. */
pt_exit_t pt_sessions_page_write(const pt_selection_t *selection, const char *const *file,
                                 const pt_paths_t *inputs, const pt_report_t *report,
                                 unsigned threads, const pt_sessions_options_t *options);

#endif
