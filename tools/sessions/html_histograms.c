/* html_histograms.c: how durations are spread, over the whole run and by step.
 * SPDX-License-Identifier: MIT */
#include "html_frame.h"
#include "html_json.h"
#include "session_bins.h"

#include <math.h>
#include <stdlib.h>

#define METRICS_MOST 24U  /* histograms beside each other */
#define STEPS_MOST   400U /* of more steps each n-th has histograms */

/* Sorted values with their bins: the numbers of bins that are not empty, each with its count. */
static bool put_bins(const pt_bins_t *bins, const double *sorted, size_t n,
                     perftrace__strbuf_t *out) {
    size_t count = pt_bins_count(bins);
    uint64_t *filled = calloc(count, sizeof *filled);
    if (filled == NULL) {
        return false;
    }
    pt_bins_fill(bins, sorted, n, filled, count);
    perftrace__strbuf_puts(out, ",\"start\":");
    pt_html_number(out, bins->start);
    perftrace__strbuf_puts(out, ",\"width\":");
    pt_html_number(out, bins->width);
    perftrace__strbuf_printf(out, ",\"bins\":%zu,\"counts\":[", count);
    bool first = true;
    for (size_t i = 0; i < count; i++) {
        if (filled[i] > 0) {
            first = pt_html_comma(out, first);
            pt_html_count(out, i);
            perftrace__strbuf_putc(out, ',');
            pt_html_count(out, filled[i]);
        }
    }
    perftrace__strbuf_puts(out, "]}");
    free(filled);
    return true;
}

static bool put_histogram(const pt_session_metric_t *metric, const double *sorted, size_t n,
                          size_t rows, const pt_bins_t *bins, perftrace__strbuf_t *out) {
    static const char *const kinds[] = {[PT_METRIC_TOTAL] = "total",
                                        [PT_METRIC_QUEUE] = "queue",
                                        [PT_METRIC_PHASE] = "phase",
                                        [PT_METRIC_IDLE] = "idle"};
    perftrace__strbuf_printf(out, "\n{\"kind\":\"%s\",\"phase\":%u,\"n\":%zu,\"missing\":%zu",
                             kinds[metric->kind], (unsigned)metric->phase, n, rows - n);
    perftrace__strbuf_puts(out, ",\"p50\":");
    pt_html_rounded(out, pt_quantile(sorted, n, 0.5));
    perftrace__strbuf_puts(out, ",\"p95\":");
    pt_html_rounded(out, pt_quantile(sorted, n, 0.95));
    return put_bins(bins, sorted, n, out);
}

/* The metrics that have a histogram: total, then the phases, then queue and idle time. */
static size_t choose(const pt_session_metrics_t *metrics, const pt_session_metric_t **chosen) {
    static const pt_metric_kind_t order[] = {PT_METRIC_TOTAL, PT_METRIC_PHASE, PT_METRIC_QUEUE,
                                             PT_METRIC_IDLE};
    size_t n = 0;
    for (size_t k = 0; k < PT_ARRAY_LEN(order); k++) {
        for (size_t i = 0; i < metrics->count && n < METRICS_MOST; i++) {
            if (metrics->metric[i].kind == order[k] && metrics->metric[i].n > 0) {
                chosen[n++] = &metrics->metric[i];
            }
        }
    }
    return n;
}

typedef struct of_step {
    uint32_t step, row;
} of_step_t;

static int by_step(const void *a, const void *b) {
    const of_step_t *x = a, *y = b;
    if (x->step != y->step) {
        return x->step < y->step ? -1 : 1;
    }
    return (x->row > y->row) - (x->row < y->row);
}

/* The rows that are in a step, by step. */
static size_t group(const pt_html_frame_t *f, of_step_t *list) {
    size_t n = 0;
    for (size_t i = 0; i < f->selection->rows; i++) {
        uint32_t row = f->selection->row[i], step = f->selection->steps->step_of[row];
        if (step != PT_NO_STEP) {
            list[n++] = (of_step_t){step, row};
        }
    }
    qsort(list, n, sizeof *list, by_step);
    return n;
}

static size_t end_of_step(const of_step_t *list, size_t n, size_t i) {
    uint32_t step = list[i].step;
    while (i < n && list[i].step == step) {
        i++;
    }
    return i;
}

static bool has_roles(const pt_session_steps_t *steps) {
    for (size_t i = 1; i < steps->count; i++) {
        if (steps->step[i].role != steps->step[0].role) {
            return true;
        }
    }
    return false;
}

typedef struct steps {
    const pt_html_frame_t *frame;
    const pt_session_metric_t *const *chosen;
    size_t metrics;
    of_step_t *list; /* rows that are in a step, by step */
    size_t n;
    double *value; /* room for twice as many values as there are rows */
    bool with_role;
} steps_t;

/* "run 2, rollout, step 7": what tells it from the others. */
static void put_step_name(const steps_t *s, uint32_t index, perftrace__strbuf_t *out) {
    const pt_session_model_t *m = s->frame->model;
    const pt_session_step_t *step = &s->frame->selection->steps->step[index];
    pt_name_t role = pt_session_name(m, PT_NAMES_ROLE, step->role);
    perftrace__strbuf_t name = PERFTRACE__STRBUF_INIT;
    if (m->runs > 1) {
        perftrace__strbuf_printf(&name, "run %u, ", (unsigned)step->run);
    }
    if (role.len > 0 && s->with_role) {
        perftrace__strbuf_append(&name, role.p, role.len);
        perftrace__strbuf_puts(&name, ", ");
    }
    perftrace__strbuf_printf(&name, "step %u", (unsigned)step->number);
    out->failed |= name.failed;
    pt_html_text(out, (pt_name_t){name.data, name.len});
    perftrace__strbuf_free(&name);
}

/* The step of rows list[from..end). */
static bool put_step(const steps_t *s, size_t from, size_t end, perftrace__strbuf_t *out) {
    bool ok = true, first = true;
    perftrace__strbuf_puts(out, "\n{\"title\":");
    put_step_name(s, s->list[from].step, out);
    perftrace__strbuf_puts(out, ",\"metrics\":[");
    for (size_t k = 0; k < s->metrics && ok; k++) {
        const pt_session_metric_t *metric = s->chosen[k];
        size_t n = 0;
        for (size_t i = from; i < end; i++) {
            const pt_session_row_t *row = &s->frame->model->row[s->list[i].row];
            s->value[n] = pt_session_metric_of(s->frame->model, row, metric->kind, metric->phase);
            n += isnan(s->value[n]) ? 0 : 1;
        }
        if (n > 0) {
            pt_sort_doubles(s->value, n, s->value + (end - from));
            pt_bins_t bins = pt_bins_step(s->value, n);
            first = pt_html_comma(out, first);
            ok = put_histogram(metric, s->value, n, end - from, &bins, out);
        }
    }
    perftrace__strbuf_puts(out, "]}");
    return ok;
}

/* Each n-th step with its histograms, and a line for each step. */
static bool put_steps(const steps_t *s, perftrace__strbuf_t *out) {
    size_t steps = 0, at = 0;
    for (size_t i = 0; i < s->n; i = end_of_step(s->list, s->n, i)) {
        steps++;
    }
    size_t every = PT_MAX((steps + STEPS_MOST - 1) / STEPS_MOST, (size_t)1);
    bool ok = true;
    perftrace__strbuf_printf(out, "\"every\":%zu,\"assigned\":%zu,\"steps\":[", every, s->n);
    for (size_t i = 0, end; i < s->n && ok; i = end) {
        end = end_of_step(s->list, s->n, i);
        if (at % every == 0) {
            (void)pt_html_comma(out, at == 0);
            ok = put_step(s, i, end, out);
        }
        at++;
    }
    perftrace__strbuf_puts(out, "],\n\"lines\":[");
    for (size_t i = 0; i < s->n; i = end_of_step(s->list, s->n, i)) {
        const pt_session_step_t *step = &s->frame->selection->steps->step[s->list[i].step];
        (void)pt_html_comma(out, i == 0);
        perftrace__strbuf_puts(out, "{\"at\":");
        pt_html_moment(out, step->end - s->frame->origin[step->run]);
        perftrace__strbuf_puts(out, ",\"label\":");
        put_step_name(s, s->list[i].step, out);
        perftrace__strbuf_putc(out, '}');
    }
    perftrace__strbuf_putc(out, ']');
    return ok;
}

bool pt_html_histograms(const pt_html_frame_t *f, const pt_session_metrics_t *metrics,
                        perftrace__strbuf_t *out) {
    const pt_session_metric_t *chosen[METRICS_MOST];
    size_t n = choose(metrics, chosen), rows = f->selection->rows;
    bool ok = true;
    perftrace__strbuf_puts(out, "\"histograms\":{\"overall\":[");
    for (size_t i = 0; i < n && ok; i++) {
        pt_bins_t bins = pt_bins_overall(chosen[i]->value, chosen[i]->n);
        (void)pt_html_comma(out, i == 0);
        ok = put_histogram(chosen[i], chosen[i]->value, chosen[i]->n, rows, &bins, out);
    }
    perftrace__strbuf_printf(out, "],\n\"metricsMost\":%u,\"batch\":%llu,", METRICS_MOST,
                             (unsigned long long)f->options->batch);
    if (f->selection->steps == NULL) {
        perftrace__strbuf_puts(out, "\"every\":1,\"assigned\":0,\"steps\":[],\"lines\":[]}");
        return ok;
    }
    steps_t s = {.frame = f,
                 .chosen = chosen,
                 .metrics = n,
                 .list = malloc((rows + 1) * sizeof *s.list),
                 .value = malloc((2 * rows + 1) * sizeof *s.value),
                 .with_role = has_roles(f->selection->steps)};
    ok = ok && s.list != NULL && s.value != NULL;
    if (ok) {
        s.n = group(f, s.list);
        ok = put_steps(&s, out);
    }
    perftrace__strbuf_putc(out, '}');
    free(s.list);
    free(s.value);
    return ok;
}
