/* report_slowest.c: the slowest sessions, and where their time went. SPDX-License-Identifier: MIT
 */
#include "grow.h"
#include "session_report.h"

#include <math.h>
#include <stdlib.h>

#define PHASE_COLUMNS 8U /* the phases that took most of all; others are summed up */

typedef struct slow {
    double total;
    uint32_t row;
} slow_t;

static int by_total(const void *a, const void *b) {
    const slow_t *x = a, *y = b;
    if (x->total != y->total) {
        return x->total > y->total ? -1 : 1;
    }
    return (x->row > y->row) - (x->row < y->row);
}

typedef struct slowest {
    slow_t *list;
    size_t count, cap;
} slowest_t;

/* The first `top` rows, sorted; false without memory. */
static bool find_slowest(const pt_session_report_t *r, size_t top, slowest_t *x) {
    double limit = r->metrics->metric[0].top_limit;
    for (size_t i = 0; i < r->selection->rows; i++) {
        uint32_t row = r->selection->row[i];
        double total = r->selection->model->row[row].total;
        if (total >= limit) {
            if (!PT_GROW(x, list, count, cap, 1)) {
                return false;
            }
            x->list[x->count++] = (slow_t){total, row};
        }
    }
    if (x->count > 1) {
        qsort(x->list, x->count, sizeof *x->list, by_total);
    }
    x->count = PT_MIN(x->count, top);
    return true;
}

/* The phases that have columns, in the order of their names; returns how many. */
static unsigned choose_phases(const pt_session_report_t *r, unsigned *phase) {
    const pt_session_metrics_t *x = r->metrics;
    unsigned count = 0;
    for (size_t i = 0; i < x->count; i++) {
        const pt_session_metric_t *metric = &x->metric[i];
        if (metric->kind != PT_METRIC_PHASE || metric->n == 0) {
            continue;
        }
        size_t larger = 0;
        for (size_t j = 0; j < x->count; j++) {
            const pt_session_metric_t *other = &x->metric[j];
            larger += other->kind == PT_METRIC_PHASE &&
                      (other->summary.sum > metric->summary.sum ||
                       (other->summary.sum == metric->summary.sum && j < i));
        }
        if (larger < PHASE_COLUMNS) {
            phase[count++] = metric->phase;
        }
    }
    return count;
}

static void put_columns(const pt_session_report_t *r, pt_table_t *t, const unsigned *phase,
                        unsigned phases) {
    perftrace__strbuf_t id = PERFTRACE__STRBUF_INIT;
    pt_report_session_columns(r, t);
    pt_table_column(t, "status", "status", PT_COLUMN_TEXT);
    pt_table_column(t, "total_s", "total", PT_COLUMN_SECONDS);
    pt_table_column(t, "queue_s", "queue", PT_COLUMN_SECONDS);
    for (unsigned i = 0; i < phases; i++) {
        pt_name_t name = pt_session_name(r->selection->model, PT_NAMES_PHASE, phase[i]);
        perftrace__strbuf_clear(&id);
        perftrace__strbuf_append(&id, name.p, name.len);
        perftrace__strbuf_puts(&id, "_s");
        pt_table_column(t, perftrace__strbuf_cstr(&id), name.p, PT_COLUMN_SECONDS);
    }
    pt_table_column(t, "no_phase_s", "no phase", PT_COLUMN_SECONDS);
    pt_table_column(t, "submit_offset_s", "submitted at", PT_COLUMN_SECONDS);
    pt_table_detail(t, "record", PT_COLUMN_TEXT);
    t->failed |= id.failed;
    perftrace__strbuf_free(&id);
}

bool pt_report_slowest(pt_session_report_t *r) {
    const pt_session_model_t *m = r->selection->model;
    unsigned phase[PHASE_COLUMNS];
    slowest_t slowest = {NULL, 0, 0};
    if (!find_slowest(r, r->top, &slowest)) {
        free(slowest.list);
        return false;
    }
    unsigned phases = choose_phases(r, phase);
    pt_table_t *t = pt_report_table(r->out, "slowest", "Slowest sessions", false);
    put_columns(r, t, phase, phases);
    for (size_t i = 0; i < slowest.count; i++) {
        const pt_session_row_t *row = &m->row[slowest.list[i].row];
        pt_report_session_cells(r, t, row);
        pt_report_name(r, t, PT_NAMES_STATUS, row->status);
        pt_table_number(t, row->total);
        pt_table_number(t, row->queue);
        for (unsigned p = 0; p < phases; p++) {
            pt_table_number(t, pt_session_metric_of(m, row, PT_METRIC_PHASE, phase[p]));
        }
        pt_table_number(t, pt_session_metric_of(m, row, PT_METRIC_IDLE, 0));
        pt_table_number(t, row->submit - m->run[row->run].first);
        pt_report_place(r, t, row);
    }
    free(slowest.list);
    return true;
}
