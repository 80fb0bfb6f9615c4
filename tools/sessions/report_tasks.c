/* report_tasks.c: samples of one item against each other. SPDX-License-Identifier: MIT */
#include "grow.h"
#include "session_report.h"
#include "session_tally.h"

#include <math.h>
#include <stdlib.h>

typedef struct samples {
    uint32_t rows, accepted, finished, timed;
    double fastest, slowest;
    uint32_t slowest_row;
} samples_t;

/* All tasks together. */
typedef struct tasks {
    size_t count, all, some, none; /* accepted: all, some, none of the finished samples */
    double rates;                  /* sum of acceptance rates */
    size_t rated;                  /* tasks with a finished sample */
    pt_tally_t spread;             /* of tasks with two totals or more */
    double spread_p50, spread_p99, spread_limit; /* the last: for the first of the list below */
} tasks_t;

static void add_row(samples_t *s, const pt_session_row_t *row, uint32_t index, bool accepted) {
    s->rows++;
    s->accepted += accepted;
    s->finished += isnan(row->finalized) ? 0 : 1;
    if (isnan(row->total)) {
        return;
    }
    if (s->timed++ == 0 || row->total > s->slowest) {
        s->slowest = row->total;
        s->slowest_row = index;
    }
    s->fastest = s->timed == 1 ? row->total : fmin(s->fastest, row->total);
}

static double spread_of(const samples_t *s) {
    return s->timed >= 2 ? s->slowest - s->fastest : (double)NAN;
}

static void add_task(tasks_t *x, const samples_t *s) {
    if (s->rows == 0) {
        return;
    }
    x->count++;
    if (s->finished > 0) {
        x->rated++;
        x->rates += (double)s->accepted / s->finished;
        x->all += s->accepted == s->finished;
        x->none += s->accepted == 0;
        x->some += s->accepted > 0 && s->accepted < s->finished;
    }
    if (s->timed >= 2) {
        pt_tally_count(&x->spread, spread_of(s));
    }
}

static void put_facts(pt_session_report_t *r, const tasks_t *x) {
    pt_table_t *t = pt_report_table(r->out, "tasks", "Tasks", true);
    double rated = x->rated > 0 ? (double)x->rated : (double)NAN;
    pt_table_fact(t, "tasks", "tasks", PT_COLUMN_COUNT, (double)x->count);
    pt_table_fact(t, "acceptance_rate", "accepted samples of a task, mean", PT_COLUMN_SHARE,
                  x->rates / rated);
    pt_table_fact(t, "all_accepted", "tasks with all samples accepted", PT_COLUMN_COUNT,
                  (double)x->all);
    pt_table_fact(t, "some_accepted", "with some", PT_COLUMN_COUNT, (double)x->some);
    pt_table_fact(t, "none_accepted", "with none", PT_COLUMN_COUNT, (double)x->none);
    pt_table_fact(t, "spread_p50", "slowest less fastest sample, p50", PT_COLUMN_SECONDS,
                  x->spread_p50);
    pt_table_fact(t, "spread_p99", "slowest less fastest sample, p99", PT_COLUMN_SECONDS,
                  x->spread_p99);
}

/* False without memory. */
static bool sum_up_spreads(tasks_t *x, const samples_t *samples, size_t tasks, size_t top) {
    if (!pt_tally_choose(&x->spread, top)) {
        return false;
    }
    for (size_t i = 0; i < tasks; i++) {
        if (samples[i].timed >= 2) {
            pt_tally_keep(&x->spread, spread_of(&samples[i]));
        }
    }
    pt_summary_t s = pt_tally_summary(&x->spread, &x->spread_limit);
    x->spread_p50 = s.p50;
    x->spread_p99 = s.p99;
    return true;
}

/* ---- those with the largest spread ---- */

typedef struct spread {
    double seconds;
    uint32_t task;
} spread_t;

static int by_spread(const void *a, const void *b) {
    const spread_t *x = a, *y = b;
    if (x->seconds != y->seconds) {
        return x->seconds > y->seconds ? -1 : 1;
    }
    return (x->task > y->task) - (x->task < y->task);
}

typedef struct spreads {
    spread_t *list;
    size_t count, cap;
} spreads_t;

/* The first `top` tasks, sorted; false without memory. */
static bool find_spreads(const tasks_t *x, const samples_t *samples, size_t tasks, size_t top,
                         spreads_t *ret) {
    for (uint32_t i = 0; i < tasks; i++) {
        if (spread_of(&samples[i]) >= x->spread_limit) {
            if (!PT_GROW(ret, list, count, cap, 1)) {
                return false;
            }
            ret->list[ret->count++] = (spread_t){spread_of(&samples[i]), i};
        }
    }
    if (ret->count > 1) {
        qsort(ret->list, ret->count, sizeof *ret->list, by_spread);
    }
    ret->count = PT_MIN(ret->count, top);
    return true;
}

static void put_task(pt_session_report_t *r, pt_table_t *t, const samples_t *s) {
    const pt_session_row_t *row = &r->selection->model->row[s->slowest_row];
    pt_report_session_cells(r, t, row);
    pt_table_number(t, s->rows);
    pt_table_number(t, s->finished > 0 ? (double)s->accepted / s->finished : (double)NAN);
    pt_table_number(t, s->fastest);
    pt_table_number(t, s->slowest);
    pt_table_number(t, spread_of(s));
    pt_table_number(t, s->fastest > 0 ? s->slowest / s->fastest : (double)NAN);
}

static void put_spreads(pt_session_report_t *r, const samples_t *samples,
                        const spreads_t *spreads) {
    pt_table_t *t = pt_report_table(
        r->out, "task_spread", "Tasks with the largest spread, and their slowest session", false);
    pt_report_session_columns(r, t);
    pt_table_column(t, "samples", "samples", PT_COLUMN_COUNT);
    pt_table_column(t, "acceptance_rate", "accepted", PT_COLUMN_SHARE);
    pt_table_column(t, "fastest", "fastest", PT_COLUMN_SECONDS);
    pt_table_column(t, "slowest", "slowest", PT_COLUMN_SECONDS);
    pt_table_column(t, "spread", "spread", PT_COLUMN_SECONDS);
    pt_table_column(t, "ratio", "ratio", PT_COLUMN_NUMBER);
    for (size_t i = 0; i < spreads->count; i++) {
        put_task(r, t, &samples[spreads->list[i].task]);
    }
}

bool pt_report_tasks(pt_session_report_t *r) {
    const pt_session_model_t *m = r->selection->model;
    uint32_t accepted = pt_report_status(r, "accepted");
    samples_t *samples = calloc(m->tasks + 1, sizeof *samples);
    tasks_t *x = calloc(1, sizeof *x);
    spreads_t spreads = {NULL, 0, 0};
    bool ok = x != NULL && samples != NULL;
    for (size_t i = 0; ok && i < r->selection->rows; i++) {
        uint32_t index = r->selection->row[i];
        const pt_session_row_t *row = &m->row[index];
        if (row->task != PT_NO_TASK) {
            add_row(&samples[row->task], row, index, row->status == accepted);
        }
    }
    for (uint32_t i = 0; ok && i < m->tasks; i++) {
        add_task(x, &samples[i]);
    }
    if (ok && x->count > 0) {
        ok = sum_up_spreads(x, samples, m->tasks, r->top) &&
             find_spreads(x, samples, m->tasks, r->top, &spreads);
        if (ok) {
            put_facts(r, x);
            put_spreads(r, samples, &spreads);
        }
    }
    if (x != NULL) {
        pt_tally_free(&x->spread);
    }
    free(x);
    free(samples);
    free(spreads.list);
    return ok;
}
