/* session_report.h: what is said about a selection of sessions. SPDX-License-Identifier: MIT
 *
 * Every table and its formulas are described in docs/SESSIONS.md. Pure but for memory and, for the
 * sorting, threads. */
#ifndef PERFTRACE_SESSIONS_SESSION_REPORT_H
#define PERFTRACE_SESSIONS_SESSION_REPORT_H
#include "session_metrics.h"
#include "table.h"

/* A rank is a straggler when the mean of its totals lies above the median of all ranks' means by
 * more than so many scaled median deviations, and by more than this share of it. */
#define PT_STRAGGLER_DEVIATIONS 3.0
#define PT_STRAGGLER_SHARE      0.10
#define PT_STRAGGLER_RANKS      3U /* of fewer ranks none is one */
/* An unfinished session is stuck when it has lasted longer than so many times the p99 of the
 * totals of finished ones. */
#define PT_STUCK_TIMES 2.0

typedef struct pt_session_report {
    const pt_selection_t *selection;
    pt_session_metrics_t *metrics;
    const char *const *file; /* names of the inputs, by row's file */
    size_t top;              /* rows of lists of the slowest */
    pt_report_t *out;
} pt_session_report_t;

/* Appends all tables. False without memory. */
bool pt_session_report_make(const pt_selection_t *selection, const char *const *file, size_t top,
                            unsigned threads, pt_report_t *out);

/* The parts; each appends its tables. False without memory. The first three need no metrics. */
bool pt_report_summary(pt_session_report_t *report);
bool pt_report_ranks(pt_session_report_t *report);
bool pt_report_tasks(pt_session_report_t *report);
bool pt_report_durations(pt_session_report_t *report);
bool pt_report_slowest(pt_session_report_t *report);
bool pt_report_unfinished(pt_session_report_t *report);
bool pt_report_steps(pt_session_report_t *report);

/* For the parts. The cells that say which session a row is: run (only when there are several),
 * role (only when there are any), rank, task, session. */
void pt_report_session_columns(const pt_session_report_t *report, pt_table_t *table);
void pt_report_session_cells(const pt_session_report_t *report, pt_table_t *table,
                             const pt_session_row_t *row);
void pt_report_name(const pt_session_report_t *report, pt_table_t *table, pt_names_t kind,
                    uint32_t id);
/* Where the record of a session stands: file:line. */
void pt_report_place(const pt_session_report_t *report, pt_table_t *table,
                     const pt_session_row_t *row);
/* In names[PT_NAMES_STATUS]; PT_NO_NAME when no session has it. */
uint32_t pt_report_status(const pt_session_report_t *report, const char *status);
bool pt_report_has_roles(const pt_session_report_t *report);

#endif
