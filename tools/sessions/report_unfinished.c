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

bool pt_report_unfinished(pt_session_report_t *r) {
    const pt_session_model_t *m = r->selection->model;
    waiting_t *list = malloc((m->pendings + 1) * sizeof *list);
    double limit = PT_STUCK_TIMES * r->metrics.metric[0].summary.p99;
    size_t count = 0, stuck = 0;
    if (list == NULL) {
        return false;
    }
    for (size_t i = 0; i < m->pendings; i++) {
        uint32_t row = m->pending[i].row;
        if (bsearch(&row, r->selection->row, r->selection->rows, sizeof row, by_number) != NULL) {
            double age = m->run[m->row[row].run].last - m->row[row].submit;
            list[count++] = (waiting_t){age, row};
            stuck += age > limit;
        }
    }
    qsort(list, count, sizeof *list, by_age);
    perftrace__strbuf_t title = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_printf(&title, "Unfinished sessions (%zu, stuck: %zu)", count, stuck);
    pt_table_t *t = pt_report_table(r->out, "unfinished", perftrace__strbuf_cstr(&title), false);
    perftrace__strbuf_free(&title);
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
