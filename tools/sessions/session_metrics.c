/* session_metrics.c: the durations of a selection, one list each. SPDX-License-Identifier: MIT */
#include "session_metrics.h"

#include "grow.h"
#include "ordered.h"
#include "session_tally.h"

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

static bool init(const pt_selection_t *s, pt_session_metrics_t *x) {
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
    return true;
}

/* What is done with each value: counted, kept if it is wanted, stored. */
typedef enum step { STEP_COUNT, STEP_KEEP, STEP_STORE } step_t;

PT_ALWAYS_INLINE void add_value(pt_session_metric_t *metric, pt_tally_t *tally, step_t step,
                                double v, double total) {
    if (isnan(v)) {
        return;
    }
    if (step == STEP_KEEP) {
        pt_tally_keep(tally, v);
        return;
    }
    if (step == STEP_COUNT) {
        pt_tally_count(tally, v);
    } else {
        metric->value[metric->n] = v;
    }
    metric->n++;
    metric->sum_with_total += isnan(total) ? 0 : v;
}

PT_ALWAYS_INLINE pt_tally_t *tally_of(pt_tally_t *tally, step_t step, size_t metric) {
    return step == STEP_STORE ? NULL : &tally[metric];
}

/* tally: by metric; NULL for STEP_STORE. */
PT_ALWAYS_INLINE void each_value(const pt_selection_t *s, pt_session_metrics_t *x,
                                 pt_tally_t *tally, step_t step) {
    const pt_session_model_t *m = s->model;
    size_t idle = x->count - 1;
    for (size_t i = 0; i < s->rows; i++) {
        const pt_session_row_t *row = &m->row[s->row[i]];
        add_value(&x->metric[TOTAL], tally_of(tally, step, TOTAL), step, row->total, row->total);
        add_value(&x->metric[QUEUE], tally_of(tally, step, QUEUE), step, row->queue, row->total);
        add_value(&x->metric[idle], tally_of(tally, step, idle), step,
                  pt_session_metric_of(m, row, PT_METRIC_IDLE, 0), row->total);
        for (unsigned c = 0; c < row->cells; c++) {
            const pt_session_cell_t *cell = &m->cell[row->first_cell + c];
            size_t at = PHASES + (size_t)cell->phase;
            pt_session_metric_t *metric = &x->metric[at];
            if (step != STEP_KEEP) {
                metric->sessions++;
                metric->spans += cell->spans;
                metric->open += cell->open;
            }
            add_value(metric, tally_of(tally, step, at), step, cell->seconds, row->total);
        }
    }
}

static void count_sessions(pt_session_metrics_t *x) {
    for (size_t i = 0; i < x->count; i++) {
        if (x->metric[i].kind != PT_METRIC_PHASE) {
            x->metric[i].sessions = x->metric[i].n;
        }
    }
}

bool pt_session_metrics_sum_up(const pt_selection_t *s, size_t top, pt_session_metrics_t *x) {
    pt_tally_t *tally = init(s, x) ? calloc(x->count, sizeof *tally) : NULL;
    if (tally == NULL) {
        return false;
    }
    each_value(s, x, tally, STEP_COUNT);
    bool ok = true;
    for (size_t i = 0; i < x->count && ok; i++) {
        ok = pt_tally_choose(&tally[i], top);
    }
    if (ok) {
        each_value(s, x, tally, STEP_KEEP);
    }
    for (size_t i = 0; i < x->count; i++) {
        if (ok) {
            x->metric[i].summary = pt_tally_summary(&tally[i], &x->metric[i].top_limit);
        }
        pt_tally_free(&tally[i]);
    }
    free(tally);
    count_sessions(x);
    return ok;
}

static bool gather(const pt_selection_t *s, pt_session_metrics_t *x) {
    if (!init(s, x)) {
        return false;
    }
    count_values(s, x);
    for (size_t i = 0; i < x->count; i++) {
        size_t size = (x->metric[i].cap + 1) * sizeof(double);
        x->metric[i].value = pt_huge(malloc(size), size);
        if (x->metric[i].value == NULL) {
            return false;
        }
    }
    each_value(s, x, NULL, STEP_STORE);
    count_sessions(x);
    return true;
}

static int sort_work(void *ctx, void *task, unsigned worker) {
    pt_session_metric_t *metric = task;
    size_t size = (metric->n + 1) * sizeof(double);
    double *scratch = pt_huge(malloc(size), size);
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
    if (!gather(s, x)) {
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
