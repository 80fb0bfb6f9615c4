/* report_durations.c: where the time goes. SPDX-License-Identifier: MIT */
#include "session_report.h"

#include <math.h>

static const char *kind_text(pt_metric_kind_t kind) {
    static const char *const text[] = {"total", "queue", "phase", "no_phase"};
    return text[kind];
}

static void put_metric(pt_session_report_t *r, pt_table_t *t, const pt_session_metric_t *metric) {
    pt_name_t name = pt_session_metric_name(r->selection->model, metric);
    const pt_summary_t *s = &metric->summary;
    bool phase = metric->kind == PT_METRIC_PHASE;
    double rows = (double)r->selection->rows, total = r->metrics->metric[0].summary.sum;
    pt_table_text(t, name.p, name.len);
    pt_table_cstr(t, kind_text(metric->kind));
    pt_table_number(t, (double)metric->sessions);
    pt_table_number(t, rows > 0 ? (double)metric->sessions / rows : (double)NAN);
    pt_table_number(t, (double)s->n);
    pt_table_number(t, s->mean);
    pt_table_number(t, s->p50);
    pt_table_number(t, s->p90);
    pt_table_number(t, s->p99);
    pt_table_number(t, s->max);
    pt_table_number(t, total > 0 && s->n > 0 ? metric->sum_with_total / total : (double)NAN);
    pt_table_number(t, s->min);
    pt_table_number(t, s->median_low);
    pt_table_number(t, s->sum);
    pt_table_number(t, phase ? (double)metric->spans : (double)NAN);
    pt_table_number(t, phase ? (double)metric->open : (double)NAN);
}

bool pt_report_durations(pt_session_report_t *r) {
    pt_table_t *t = pt_report_table(r->out, "durations", "Where the time goes", false);
    pt_table_column(t, "name", "", PT_COLUMN_TEXT);
    pt_table_detail(t, "kind", PT_COLUMN_TEXT);
    pt_table_column(t, "sessions", "sessions", PT_COLUMN_COUNT);
    pt_table_column(t, "coverage", "coverage", PT_COLUMN_SHARE);
    pt_table_column(t, "count", "ended", PT_COLUMN_COUNT);
    pt_table_column(t, "mean", "mean", PT_COLUMN_SECONDS);
    pt_table_column(t, "p50", "p50", PT_COLUMN_SECONDS);
    pt_table_column(t, "p90", "p90", PT_COLUMN_SECONDS);
    pt_table_column(t, "p99", "p99", PT_COLUMN_SECONDS);
    pt_table_column(t, "max", "max", PT_COLUMN_SECONDS);
    pt_table_column(t, "share", "of total", PT_COLUMN_SHARE);
    pt_table_detail(t, "min", PT_COLUMN_SECONDS);
    pt_table_detail(t, "median_low", PT_COLUMN_SECONDS);
    pt_table_detail(t, "sum", PT_COLUMN_SECONDS);
    pt_table_detail(t, "spans", PT_COLUMN_COUNT);
    pt_table_detail(t, "open_spans", PT_COLUMN_COUNT);
    for (size_t i = 0; i < r->metrics->count; i++) {
        const pt_session_metric_t *metric = &r->metrics->metric[i];
        if (metric->sessions > 0 || metric->kind == PT_METRIC_TOTAL) {
            put_metric(r, t, metric);
        }
    }
    pt_table_note(t, "coverage: sessions that have it recorded at all. of total: of the sum of all "
                     "totals; phases that overlap add up to more than the whole.");
    return true;
}
