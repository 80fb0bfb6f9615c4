/* report_counters.c: counters, and the critical path. SPDX-License-Identifier: MIT */
#include "analyze_report.h"

#include <math.h>

static void counters(const pt_results_t *l, pt_report_t *report) {
    pt_table_t *t = pt_report_table(report, "counters", "Counters", false);
    pt_table_column(t, "rank", "Rank", PT_COLUMN_COUNT);
    pt_table_column(t, "process", "Process", PT_COLUMN_TEXT);
    pt_table_column(t, "name", "Counter", PT_COLUMN_TEXT);
    pt_table_column(t, "count", "Values", PT_COLUMN_COUNT);
    pt_table_column(t, "min", "Min", PT_COLUMN_NUMBER);
    pt_table_column(t, "mean", "Mean", PT_COLUMN_NUMBER);
    pt_table_column(t, "max", "Max", PT_COLUMN_NUMBER);
    pt_table_column(t, "last", "Last", PT_COLUMN_NUMBER);
    pt_table_note(t, "The mean is of the values, not over time.");
    for (size_t i = 0; i < l->count; i++) {
        const pt_rank_result_t *r = &l->result[i];
        for (size_t n = 0; n < pt_result_rows(r, PT_RT_counters); n++) {
            const int64_t *cell = pt_result_at(r, PT_RT_counters, n);
            pt_table_number(t, (double)r->fact[PT_FACT_rank]);
            pt_report_text(t, pt_result_text_of(r, cell[0]));
            pt_report_text(t, pt_result_text_of(r, cell[1]));
            pt_table_number(t, (double)cell[2]);
            pt_table_number(t, pt_cell_double(cell[3]));
            pt_table_number(t, pt_cell_double(cell[5]) / (double)cell[2]);
            pt_table_number(t, pt_cell_double(cell[4]));
            pt_table_number(t, pt_cell_double(cell[6]));
        }
    }
}

static void over_time(const pt_results_t *l, pt_report_t *report) {
    pt_table_t *t = pt_report_table(report, "counters_over_time", "Counters over time", false);
    pt_table_column(t, "rank", "Rank", PT_COLUMN_COUNT);
    pt_table_column(t, "name", "Counter", PT_COLUMN_TEXT);
    pt_table_column(t, "bin", "Bin", PT_COLUMN_COUNT);
    pt_table_column(t, "mean", "Mean", PT_COLUMN_NUMBER);
    for (size_t i = 0; i < l->count; i++) {
        const pt_rank_result_t *r = &l->result[i];
        for (size_t n = 0; n < pt_result_rows(r, PT_RT_samples); n++) {
            const int64_t *cell = pt_result_at(r, PT_RT_samples, n);
            const int64_t *counter = pt_result_at(r, PT_RT_counters, (size_t)cell[0]);
            pt_table_number(t, (double)r->fact[PT_FACT_rank]);
            pt_report_text(t, pt_result_text_of(r, counter[1]));
            pt_table_number(t, (double)cell[1]);
            pt_table_number(t, pt_cell_double(cell[2]));
        }
    }
}

static void path(const pt_analyze_report_t *how, pt_report_t *report) {
    const pt_results_t *l = how->results;
    pt_table_t *t = pt_report_table(report, "critical_path", "Critical path", false);
    pt_table_column(t, "rank", "Rank", PT_COLUMN_COUNT);
    pt_table_column(t, "share", "Share", PT_COLUMN_SHARE);
    pt_table_column(t, "total_s", "Total", PT_COLUMN_SECONDS);
    pt_table_column(t, "count", "Pieces", PT_COLUMN_COUNT);
    pt_table_column(t, "kind", "What", PT_COLUMN_TEXT);
    pt_table_column(t, "name", "Name", PT_COLUMN_LONG);
    pt_table_note(t, "What the end of the last step (or of the devices' work) waited for, from the "
                     "first step on, walked backwards along streams, launches and waits.");
    for (size_t i = 0; i < l->count; i++) {
        const pt_rank_result_t *r = &l->result[i];
        size_t rows = pt_result_rows(r, PT_RT_path);
        rows = how->top > 0 ? PT_MIN(rows, how->top) : rows;
        for (size_t n = 0; n < rows; n++) {
            const int64_t *cell = pt_result_at(r, PT_RT_path, n);
            int64_t whole = r->fact[PT_FACT_path_ns];
            pt_table_number(t, (double)r->fact[PT_FACT_rank]);
            pt_table_number(t, whole > 0 ? (double)cell[3] / (double)whole : (double)NAN);
            pt_table_number(t, pt_seconds(cell[3]));
            pt_table_number(t, (double)cell[2]);
            pt_report_text(t, pt_result_text_of(r, cell[0]));
            pt_report_text(t, pt_result_text_of(r, cell[1]));
        }
    }
}

void pt_report_counters(const pt_analyze_report_t *how, pt_report_t *report) {
    path(how, report);
    counters(how->results, report);
    if (how->details) {
        over_time(how->results, report);
    }
}
