/* report_steps.c: training steps. SPDX-License-Identifier: MIT */
#include "grow.h"
#include "session_report.h"

#include <math.h>

typedef struct step_rows {
    uint64_t rows, accepted;
    size_t first, n; /* totals */
} step_rows_t;

static void put_columns(const pt_session_report_t *r, pt_table_t *t) {
    if (r->selection->model->runs > 1) {
        pt_table_column(t, "run", "run", PT_COLUMN_COUNT);
    }
    if (pt_report_has_roles(r)) {
        pt_table_column(t, "role", "role", PT_COLUMN_TEXT);
    }
    pt_table_column(t, "step", "step", PT_COLUMN_COUNT);
    pt_table_column(t, "end_s", "ends at", PT_COLUMN_SECONDS);
    pt_table_column(t, "seconds", "duration", PT_COLUMN_SECONDS);
    pt_table_column(t, "sessions", "sessions", PT_COLUMN_COUNT);
    pt_table_column(t, "accepted", "accepted", PT_COLUMN_COUNT);
    pt_table_column(t, "p50", "p50 total", PT_COLUMN_SECONDS);
    pt_table_column(t, "p99", "p99", PT_COLUMN_SECONDS);
    pt_table_column(t, "max", "max", PT_COLUMN_SECONDS);
    pt_table_column(t, "first_rank", "first rank", PT_COLUMN_COUNT);
    pt_table_column(t, "last_rank", "last rank", PT_COLUMN_COUNT);
    pt_table_column(t, "gap", "gap", PT_COLUMN_SECONDS);
}

static void put_step(pt_session_report_t *r, pt_table_t *t, size_t index, const step_rows_t *rows,
                     const double *total) {
    const pt_session_model_t *m = r->selection->model;
    const pt_session_step_t *step = &r->selection->steps->step[index];
    double start = m->run[step->run].first;
    double before = step->number > 0 ? r->selection->steps->step[index - 1].end : start;
    if (m->runs > 1) {
        pt_table_number(t, step->run);
    }
    if (pt_report_has_roles(r)) {
        pt_report_name(r, t, PT_NAMES_ROLE, step->role);
    }
    pt_table_number(t, step->number);
    pt_table_number(t, step->end - start);
    pt_table_number(t, step->end - before);
    pt_table_number(t, (double)rows->rows);
    pt_table_number(t, (double)rows->accepted);
    pt_table_number(t, pt_quantile(total, rows->n, 0.5));
    pt_table_number(t, pt_quantile(total, rows->n, 0.99));
    pt_table_number(t, pt_quantile(total, rows->n, 1));
    pt_table_number(t, step->first_rank);
    pt_table_number(t, step->last_rank);
    pt_table_number(t, step->end - step->first_end);
}

/* Counts rows and gathers their totals, one list a step behind the other. */
static void gather(const pt_session_report_t *r, step_rows_t *rows, double *total) {
    const pt_selection_t *s = r->selection;
    uint32_t accepted = pt_report_status(r, "accepted");
    size_t at = 0;
    for (size_t i = 0; i < s->rows; i++) {
        uint32_t step = s->steps->step_of[s->row[i]];
        if (step != PT_NO_STEP) {
            rows[step].rows++;
            rows[step].n += isnan(s->model->row[s->row[i]].total) ? 0 : 1;
            rows[step].accepted += s->model->row[s->row[i]].status == accepted;
        }
    }
    for (size_t i = 0; i < s->steps->count; i++) {
        rows[i].first = at;
        at += rows[i].n;
        rows[i].n = 0;
    }
    for (size_t i = 0; i < s->rows; i++) {
        uint32_t step = s->steps->step_of[s->row[i]];
        double v = s->model->row[s->row[i]].total;
        if (step != PT_NO_STEP && !isnan(v)) {
            total[rows[step].first + rows[step].n++] = v;
        }
    }
}

bool pt_report_steps(pt_session_report_t *r) {
    const pt_session_steps_t *steps = r->selection->steps;
    if (steps == NULL) {
        return true;
    }
    size_t size = (r->selection->rows + 1) * sizeof(double);
    step_rows_t *rows = calloc(steps->count + 1, sizeof *rows);
    double *total = pt_huge(malloc(size), size), *scratch = pt_huge(malloc(size), size);
    bool ok = rows != NULL && total != NULL && scratch != NULL;
    if (ok) {
        pt_table_t *t = pt_report_table(r->out, "steps", "Training steps", false);
        gather(r, rows, total);
        put_columns(r, t);
        for (size_t i = 0; i < steps->count; i++) {
            pt_sort_doubles(total + rows[i].first, rows[i].n, scratch);
            if (rows[i].rows > 0) {
                put_step(r, t, i, &rows[i], total + rows[i].first);
            }
        }
        pt_table_note(t, "gap: between the first and the last rank to finish the step.");
    }
    free(rows);
    free(total);
    free(scratch);
    return ok;
}
