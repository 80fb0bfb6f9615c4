/* session_metrics.c: the durations of a selection, one list each. SPDX-License-Identifier: MIT */
#include "session_metrics.h"

#include "grow.h"
#include "ordered.h"

#include <math.h>

enum { TOTAL, QUEUE, PHASES }; /* places in metric[] */

pt_name_t pt_session_metric_name(const pt_session_model_t *m, const pt_session_metric_t *metric) {
    switch (metric->kind) {
    case PT_METRIC_TOTAL:
        return (pt_name_t){"total", 5};
    case PT_METRIC_QUEUE:
        return (pt_name_t){"queue", 5};
    case PT_METRIC_IDLE:
        return (pt_name_t){"(no phase)", 10};
    default:
        return pt_session_name(m, PT_NAMES_PHASE, metric->phase);
    }
}

double pt_session_metric_of(const pt_session_model_t *m, const pt_session_row_t *row,
                            pt_metric_kind_t kind, unsigned phase) {
    switch (kind) {
    case PT_METRIC_TOTAL:
        return row->total;
    case PT_METRIC_QUEUE:
        return row->queue;
    case PT_METRIC_IDLE:
        /* A phase may reach past the end, or begin before the submit. */
        return isnan(row->total - row->busy) ? (double)NAN : fmax(row->total - row->busy, 0);
    default: {
        const pt_session_cell_t *cell = pt_session_cell_of(m, row, phase);
        return cell != NULL ? cell->seconds : (double)NAN;
    }
    }
}

/* How many values each list can get. */
static void count_values(const pt_selection_t *s, pt_session_metrics_t *x) {
    const pt_session_model_t *m = s->model;
    for (size_t i = 0; i < s->rows; i++) {
        const pt_session_row_t *row = &m->row[s->row[i]];
        for (unsigned c = 0; c < row->cells; c++) {
            x->metric[PHASES + m->cell[row->first_cell + c].phase].cap++;
        }
    }
    x->metric[TOTAL].cap = x->metric[QUEUE].cap = x->metric[x->count - 1].cap = s->rows;
}

static void add_value(pt_session_metric_t *metric, double v, double total) {
    if (!isnan(v)) {
        metric->value[metric->n++] = v;
        metric->sum_with_total += isnan(total) ? 0 : v;
    }
}

static void gather(const pt_selection_t *s, pt_session_metrics_t *x) {
    const pt_session_model_t *m = s->model;
    for (size_t i = 0; i < s->rows; i++) {
        const pt_session_row_t *row = &m->row[s->row[i]];
        add_value(&x->metric[TOTAL], row->total, row->total);
        add_value(&x->metric[QUEUE], row->queue, row->total);
        add_value(&x->metric[x->count - 1], pt_session_metric_of(m, row, PT_METRIC_IDLE, 0),
                  row->total);
        for (unsigned c = 0; c < row->cells; c++) {
            const pt_session_cell_t *cell = &m->cell[row->first_cell + c];
            pt_session_metric_t *metric = &x->metric[PHASES + cell->phase];
            metric->sessions++;
            metric->spans += cell->spans;
            metric->open += cell->open;
            add_value(metric, cell->seconds, row->total);
        }
    }
}

static double *new_scratch(const pt_session_metric_t *metric) {
    size_t size = (metric->n + 1) * sizeof(double);
    return pt_huge(malloc(size), size);
}

bool pt_session_metric_sum_up(pt_session_metric_t *metric, size_t top) {
    double *scratch = new_scratch(metric);
    if (scratch != NULL) {
        metric->summary =
            pt_summarise_any(metric->value, metric->n, scratch, top, &metric->top_limit);
    }
    free(scratch);
    return scratch != NULL;
}

bool pt_session_metrics_gather(const pt_selection_t *s, pt_session_metrics_t *x) {
    uint32_t phases = s->model->names[PT_NAMES_PHASE].count;
    memset(x, 0, sizeof *x);
    x->metric = calloc((size_t)phases + 3, sizeof *x->metric);
    if (x->metric == NULL) {
        return false;
    }
    x->count = (size_t)phases + 3;
    x->metric[QUEUE].kind = PT_METRIC_QUEUE;
    x->metric[x->count - 1].kind = PT_METRIC_IDLE;
    for (uint32_t i = 0; i < phases; i++) {
        x->metric[PHASES + i].kind = PT_METRIC_PHASE;
        x->metric[PHASES + i].phase = (uint16_t)i;
    }
    count_values(s, x);
    for (size_t i = 0; i < x->count; i++) {
        size_t size = (x->metric[i].cap + 1) * sizeof(double);
        x->metric[i].value = pt_huge(malloc(size), size);
        if (x->metric[i].value == NULL) {
            return false;
        }
    }
    gather(s, x);
    for (size_t i = 0; i < x->count; i++) {
        if (x->metric[i].kind != PT_METRIC_PHASE) {
            x->metric[i].sessions = x->metric[i].n;
        }
    }
    return true;
}

static int sort_work(void *ctx, void *task, unsigned worker) {
    pt_session_metric_t *metric = task;
    double *scratch = new_scratch(metric);
    (void)ctx;
    (void)worker;
    if (scratch != NULL) {
        pt_sort_doubles(metric->value, metric->n, scratch);
        metric->summary = pt_summarise(metric->value, metric->n);
    }
    free(scratch);
    return scratch != NULL ? 0 : -1;
}

bool pt_session_metrics_make(const pt_selection_t *s, unsigned threads, pt_session_metrics_t *x) {
    pt_ordered_options_t how = {.threads = threads > 1 ? threads : 0, .work = sort_work};
    if (!pt_session_metrics_gather(s, x)) {
        return false;
    }
    pt_ordered_t *pipe = pt_ordered_new(&how);
    int status = pipe != NULL ? 0 : -1;
    for (size_t i = 0; i < x->count && status == 0; i++) {
        status = pt_ordered_submit(pipe, PT_ORDERED_NO_LANE, &x->metric[i]);
    }
    if (pipe != NULL) {
        int end = pt_ordered_finish(pipe);
        status = status != 0 ? status : end;
        pt_ordered_free(pipe);
    }
    return status == 0;
}

void pt_session_metrics_free(pt_session_metrics_t *x) {
    if (x != NULL) {
        for (size_t i = 0; i < x->count; i++) {
            free(x->metric[i].value);
        }
        free(x->metric);
        memset(x, 0, sizeof *x);
    }
}
