/* report_unfinished.c: sessions without an end. SPDX-License-Identifier: MIT */
#include "grow.h"
#include "session_report.h"

#include <math.h>

typedef struct waiting {
    double age; /* NAN: no submit time */
    uint32_t row;
} waiting_t;

static int by_age(const void *a, const void *b) {
    const waiting_t *x = a, *y = b;
    double p = isnan(x->age) ? -1 : x->age, q = isnan(y->age) ? -1 : y->age;
    if (p != q) {
        return p > q ? -1 : 1;
    }
    return (x->row > y->row) - (x->row < y->row);
}

static int by_number(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The open span of a row that began first; NULL: none. */
static const pt_session_open_t *open_of(const pt_session_model_t *m, uint32_t row) {
    size_t low = 0, high = m->opens;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        low = m->open[mid].row < row ? mid + 1 : low;
        high = m->open[mid].row < row ? high : mid;
    }
    const pt_session_open_t *first = NULL;
    for (; low < m->opens && m->open[low].row == row; low++) {
        if (first == NULL || m->open[low].start < first->start) {
            first = &m->open[low];
        }
    }
    return first;
}

static void put_row(pt_session_report_t *r, pt_table_t *t, const waiting_t *w, double limit) {
    const pt_session_model_t *m = r->selection->model;
    const pt_session_row_t *row = &m->row[w->row];
    const pt_session_open_t *open = open_of(m, w->row);
    pt_report_session_cells(r, t, row);
    pt_report_name(r, t, PT_NAMES_STATUS, row->status);
    pt_table_number(t, w->age);
    if (open == NULL) {
        pt_table_cstr(t, NULL);
        pt_table_number(t, (double)NAN);
    } else {
        double since = m->run[row->run].last - open->start;
        pt_report_name(r, t, PT_NAMES_PHASE, open->phase);
        pt_table_number(t, isnan(open->running) ? since : fmax(open->running, since));
    }
    pt_table_number(t, w->age > limit ? 1 : 0);
    pt_report_place(r, t, row);
}

/* The selected ones, the oldest first; NULL without memory. */
static waiting_t *find_waiting(const pt_session_report_t *r, double limit, size_t *ret_count,
                               size_t *ret_stuck) {
    const pt_session_model_t *m = r->selection->model;
    waiting_t *list = malloc((m->pendings + 1) * sizeof *list);
    *ret_count = *ret_stuck = 0;
    for (size_t i = 0; list != NULL && i < m->pendings; i++) {
        uint32_t row = m->pending[i].row;
        if (bsearch(&row, r->selection->row, r->selection->rows, sizeof row, by_number) != NULL) {
            double age = m->run[m->row[row].run].last - m->row[row].submit;
            list[(*ret_count)++] = (waiting_t){age, row};
            *ret_stuck += age > limit;
        }
    }
    if (list != NULL) {
        qsort(list, *ret_count, sizeof *list, by_age);
    }
    return list;
}

bool pt_report_unfinished(pt_session_report_t *r) {
    double limit = PT_STUCK_TIMES * r->metrics->metric[0].summary.p99;
    size_t count, stuck;
    waiting_t *list = find_waiting(r, limit, &count, &stuck);
    if (list == NULL) {
        return false;
    }
    pt_table_t *t = pt_report_table(r->out, "unfinished_summary", "Unfinished sessions", true);
    if (count > 0) {
        pt_table_fact(t, "unfinished", "unfinished", PT_COLUMN_COUNT, (double)count);
        pt_table_fact(t, "stuck", "stuck", PT_COLUMN_COUNT, (double)stuck);
    }
    t = pt_report_table(r->out, "unfinished", "Unfinished sessions, the oldest", false);
    pt_report_session_columns(r, t);
    pt_table_column(t, "status", "status", PT_COLUMN_TEXT);
    pt_table_column(t, "age_s", "since submit", PT_COLUMN_SECONDS);
    pt_table_column(t, "phase", "in phase", PT_COLUMN_TEXT);
    pt_table_column(t, "running_s", "for", PT_COLUMN_SECONDS);
    pt_table_column(t, "stuck", "stuck", PT_COLUMN_FLAG);
    pt_table_detail(t, "record", PT_COLUMN_TEXT);
    for (size_t i = 0; i < PT_MIN(count, r->top); i++) {
        put_row(r, t, &list[i], limit);
    }
    pt_table_note(t, "As of the last time seen in the run. stuck: older than twice the p99 of the "
                     "totals of finished sessions.");
    free(list);
    return true;
}
