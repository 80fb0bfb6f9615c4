/* session_metrics.h: the durations of a selection, one list each. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_SESSIONS_SESSION_METRICS_H
#define PERFTRACE_SESSIONS_SESSION_METRICS_H
#include "session_select.h"
#include "session_stats.h"

typedef enum pt_metric_kind {
    PT_METRIC_TOTAL, /* submit to end */
    PT_METRIC_QUEUE, /* submit to the start of the first phase */
    PT_METRIC_PHASE,
    PT_METRIC_IDLE /* of the total, what lies in no phase; only of sessions with spans */
} pt_metric_kind_t;

typedef struct pt_session_metric {
    pt_metric_kind_t kind;
    uint16_t phase; /* PT_METRIC_PHASE: in names[PT_NAMES_PHASE] */
    double *value;  /* sorted; one a session that has it recorded. NULL: they were not kept */
    size_t n, cap;
    pt_summary_t summary;
    double top_limit;      /* pt_session_metrics_sum_up: see pt_top_limit */
    uint64_t sessions;     /* that have the phase at all; else n */
    uint64_t spans, open;  /* of a phase */
    double sum_with_total; /* of the sessions whose total is recorded, too: for shares of it */
} pt_session_metric_t;

typedef struct pt_session_metrics {
    pt_session_metric_t *metric; /* total, queue, the phases in the order of their names, idle */
    size_t count;
} pt_session_metrics_t;

/* The figures of all metrics. False without memory. Free with pt_session_metrics_free in every
 * case. */
bool pt_session_metrics_sum_up(const pt_selection_t *selection, size_t top,
                               pt_session_metrics_t *ret_metrics);
/* Likewise with all values, sorted on up to `threads` threads. */
bool pt_session_metrics_make(const pt_selection_t *selection, unsigned threads,
                             pt_session_metrics_t *ret_metrics);
void pt_session_metrics_free(pt_session_metrics_t *metrics); /* accepts NULL */

/* What a metric is called: "total", "queue", a phase's name, "(no phase)". */
pt_name_t pt_session_metric_name(const pt_session_model_t *model,
                                 const pt_session_metric_t *metric);
/* The value of a session; NAN: not recorded. */
double pt_session_metric_of(const pt_session_model_t *model, const pt_session_row_t *row,
                            pt_metric_kind_t kind, unsigned phase);

#endif
