/* session_select.h: which sessions a report is about. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_SESSIONS_SESSION_SELECT_H
#define PERFTRACE_SESSIONS_SESSION_SELECT_H
#include "number_ranges.h"
#include "session_steps.h"
#include "string_list.h"

/* All that is set must hold. All zero, with from -INFINITY and to INFINITY, takes everything. */
typedef struct pt_session_filter {
    const pt_number_ranges_t *ranks;                  /* NULL: all, those without one too */
    const pt_string_list_t *roles, *statuses, *tasks; /* NULL or empty: all */
    double from, to; /* seconds after the first submit of the session's run: only
                        sessions that end after from and were submitted before to */
    bool has_steps;  /* only sessions of these steps */
    pt_number_range_t steps;
} pt_session_filter_t;

/* Rows of the model, ascending. */
typedef struct pt_selection {
    const pt_session_model_t *model;
    const pt_session_steps_t *steps; /* NULL: steps were not asked for */
    uint32_t *row;
    size_t rows;
} pt_selection_t;

/* steps may be NULL when the filter has none. False without memory. Free with pt_selection_free in
 * every case. */
bool pt_session_select(const pt_session_model_t *model, const pt_session_steps_t *steps,
                       const pt_session_filter_t *filter, pt_selection_t *ret_selection);
void pt_selection_free(pt_selection_t *selection); /* accepts NULL */

#endif
