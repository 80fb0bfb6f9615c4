/* html_scatter.c: the latency of each session at the time of its end. SPDX-License-Identifier: MIT
 */
#include "html_frame.h"
#include "html_json.h"
#include "html_sample.h"

#include <math.h>
#include <stdlib.h>

static int by_time(const void *a, const void *b) {
    const pt_html_point_t *x = a, *y = b;
    if (x->x != y->x) {
        return x->x < y->x ? -1 : 1;
    }
    return (x->row > y->row) - (x->row < y->row);
}

/* Those that have an end and a total, by their end. */
static size_t gather(const pt_html_frame_t *f, pt_html_point_t *point) {
    size_t n = 0;
    for (size_t i = 0; i < f->selection->rows; i++) {
        const pt_session_row_t *row = pt_html_row(f, i);
        double end = pt_html_since(f, row, row->finalized);
        if (isfinite(end) && isfinite(row->total)) {
            point[n++] = (pt_html_point_t){end, row->total, (uint32_t)pt_html_rank(f, row),
                                           f->selection->row[i]};
        }
    }
    qsort(point, n, sizeof *point, by_time);
    return n;
}

typedef void (*put_fn)(const pt_html_frame_t *f, const pt_html_point_t *point,
                       const pt_session_row_t *row, perftrace__strbuf_t *out);

static void put_x(const pt_html_frame_t *f, const pt_html_point_t *p, const pt_session_row_t *row,
                  perftrace__strbuf_t *out) {
    (void)f;
    (void)row;
    pt_html_moment(out, p->x);
}

static void put_y(const pt_html_frame_t *f, const pt_html_point_t *p, const pt_session_row_t *row,
                  perftrace__strbuf_t *out) {
    (void)f;
    (void)row;
    pt_html_rounded(out, p->y);
}

static void put_rank(const pt_html_frame_t *f, const pt_html_point_t *p,
                     const pt_session_row_t *row, perftrace__strbuf_t *out) {
    (void)f;
    (void)row;
    pt_html_count(out, p->group);
}

static void put_role(const pt_html_frame_t *f, const pt_html_point_t *p,
                     const pt_session_row_t *row, perftrace__strbuf_t *out) {
    (void)f;
    (void)p;
    pt_html_count(out, row->role);
}

static void put_status(const pt_html_frame_t *f, const pt_html_point_t *p,
                       const pt_session_row_t *row, perftrace__strbuf_t *out) {
    (void)f;
    (void)p;
    pt_html_count(out, row->status);
}

static void put_reason(const pt_html_frame_t *f, const pt_html_point_t *p,
                       const pt_session_row_t *row, perftrace__strbuf_t *out) {
    (void)f;
    (void)p;
    pt_html_count(out, row->reason);
}

static void put_task(const pt_html_frame_t *f, const pt_html_point_t *p,
                     const pt_session_row_t *row, perftrace__strbuf_t *out) {
    (void)p;
    pt_html_task_id(out, f->model, row);
}

static void put_session(const pt_html_frame_t *f, const pt_html_point_t *p,
                        const pt_session_row_t *row, perftrace__strbuf_t *out) {
    (void)p;
    pt_html_session_id(out, f->model, row);
}

/* [phase, seconds, phase, seconds, ...] */
static void put_phases(const pt_html_frame_t *f, const pt_html_point_t *p,
                       const pt_session_row_t *row, perftrace__strbuf_t *out) {
    (void)p;
    perftrace__strbuf_putc(out, '[');
    for (unsigned c = 0; c < row->cells; c++) {
        const pt_session_cell_t *cell = &f->model->cell[row->first_cell + c];
        (void)pt_html_comma(out, c == 0);
        pt_html_count(out, cell->phase);
        perftrace__strbuf_putc(out, ',');
        pt_html_rounded(out, cell->seconds);
    }
    perftrace__strbuf_putc(out, ']');
}

static void put_column(const pt_html_frame_t *f, const char *name, put_fn put,
                       const pt_html_point_t *point, size_t n, perftrace__strbuf_t *out) {
    perftrace__strbuf_printf(out, ",\n\"%s\":[", name);
    for (size_t i = 0; i < n; i++) {
        (void)pt_html_comma(out, i == 0);
        put(f, &point[i], &f->model->row[point[i].row], out);
    }
    perftrace__strbuf_putc(out, ']');
}

bool pt_html_scatter(const pt_html_frame_t *f, const pt_session_metrics_t *metrics,
                     perftrace__strbuf_t *out) {
    static const struct {
        const char *name;
        put_fn put;
    } columns[] = {{"x", put_x},           {"y", put_y},           {"rank", put_rank},
                   {"role", put_role},     {"task", put_task},     {"session", put_session},
                   {"status", put_status}, {"reason", put_reason}, {"phases", put_phases}};
    const pt_session_metric_t *total = &metrics->metric[0];
    double p95 = pt_quantile(total->value, total->n, 0.95);
    pt_html_point_t *point = malloc((f->selection->rows + 1) * sizeof *point);
    if (point == NULL) {
        return false;
    }
    size_t of = gather(f, point), n = pt_html_sample(point, of, p95, f->options->points);
    if (n != SIZE_MAX) {
        perftrace__strbuf_puts(out, "\"scatter\":{\"of\":");
        pt_html_count(out, of);
        perftrace__strbuf_puts(out, ",\"p50\":");
        pt_html_rounded(out, total->summary.p50);
        perftrace__strbuf_puts(out, ",\"p95\":");
        pt_html_rounded(out, p95);
        for (size_t i = 0; i < PT_ARRAY_LEN(columns); i++) {
            put_column(f, columns[i].name, columns[i].put, point, n, out);
        }
        perftrace__strbuf_putc(out, '}');
    }
    free(point);
    return n != SIZE_MAX;
}
