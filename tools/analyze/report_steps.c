/* report_steps.c: steps and their parts, across ranks. SPDX-License-Identifier: MIT */
#include "analyze_report.h"
#include "grow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t shown(const pt_analyze_report_t *how, size_t rows) {
    return how->brief && how->top > 0 ? PT_MIN(rows, how->top) : rows;
}

static void steps(const pt_analyze_report_t *how, pt_report_t *report) {
    const pt_results_t *l = how->results;
    pt_table_t *t = pt_report_table(report, "steps", "Steps", false);
    pt_table_column(t, "rank", "Rank", PT_COLUMN_COUNT);
    pt_table_column(t, "step", "Step", PT_COLUMN_COUNT);
    pt_table_column(t, "start_s", "At", PT_COLUMN_SECONDS);
    pt_table_column(t, "duration_s", "Duration", PT_COLUMN_SECONDS);
    pt_table_column(t, "busy_s", "Device busy", PT_COLUMN_SECONDS);
    pt_table_column(t, "compute_s", "Compute", PT_COLUMN_SECONDS);
    pt_table_column(t, "communication_s", "Comm", PT_COLUMN_SECONDS);
    pt_table_column(t, "memory_s", "Memory", PT_COLUMN_SECONDS);
    pt_table_column(t, "name", "Scope", PT_COLUMN_TEXT);
    pt_table_note(t, "As the host marks them. Device times lie within the step's own time: work "
                     "that it launched may run after it.");
    for (size_t i = 0; i < l->count; i++) {
        const pt_rank_result_t *r = &l->result[i];
        for (size_t n = 0; n < shown(how, pt_result_rows(r, PT_RT_steps)); n++) {
            const int64_t *cell = pt_result_at(r, PT_RT_steps, n);
            pt_table_number(t, (double)r->fact[PT_FACT_rank]);
            pt_table_number(t, (double)cell[0]);
            pt_table_number(t, pt_seconds(pt_result_time(r, cell[2])));
            pt_table_number(t, pt_seconds(cell[3]));
            for (size_t c = 4; c < 8; c++) {
                pt_table_number(t, pt_seconds(cell[c]));
            }
            pt_report_text(t, pt_result_text_of(r, cell[1]));
        }
    }
}

/* ---- parts ---- */

/* The parts' names of all ranks, in the order of appearance. */
typedef struct part_names {
    pt_str_t *name;
    size_t count, cap;
} part_names_t;

static bool collect_names(const pt_results_t *l, part_names_t *ret) {
    for (size_t i = 0; i < l->count; i++) {
        const pt_rank_result_t *r = &l->result[i];
        for (size_t n = 0; n < pt_result_rows(r, PT_RT_parts); n++) {
            pt_str_t name = pt_result_text_of(r, pt_result_at(r, PT_RT_parts, n)[1]);
            size_t k = 0;
            while (k < ret->count && !pt_str_is(ret->name[k], name.p, name.len)) {
                k++;
            }
            if (k == ret->count) {
                if (!PT_GROW(ret, name, count, cap, 1)) {
                    return false;
                }
                ret->name[ret->count++] = name;
            }
        }
    }
    return true;
}

#define PARTS_MOST 64U /* further ones are shown together */

static void put_part(pt_table_t *t, const pt_rank_result_t *r, const int64_t *step, pt_str_t name,
                     int64_t dur) {
    pt_table_number(t, (double)r->fact[PT_FACT_rank]);
    pt_table_number(t, (double)step[0]);
    pt_report_text(t, name);
    pt_table_number(t, pt_seconds(dur));
    pt_table_number(t, dur != PT_NOT_RECORDED && step[3] > 0 ? (double)dur / (double)step[3]
                                                             : (double)NAN);
}

/* One step: each part that any rank has, null where this step has not recorded it, and the rest. */
static void put_parts(pt_table_t *t, const pt_rank_result_t *r, size_t row, size_t *part,
                      const part_names_t *names) {
    const int64_t *step = pt_result_at(r, PT_RT_steps, row);
    size_t rows = pt_result_rows(r, PT_RT_parts), from = *part, to = from;
    size_t shown_names = PT_MIN(names->count, (size_t)PARTS_MOST);
    int64_t known = 0, listed = 0;
    while (to < rows && pt_result_at(r, PT_RT_parts, to)[0] == (int64_t)row) {
        known += pt_result_at(r, PT_RT_parts, to++)[2];
    }
    *part = to;
    for (size_t k = 0; k < shown_names; k++) {
        int64_t dur = PT_NOT_RECORDED;
        for (size_t n = from; n < to; n++) {
            const int64_t *cell = pt_result_at(r, PT_RT_parts, n);
            pt_str_t name = pt_result_text_of(r, cell[1]);
            dur = pt_str_is(names->name[k], name.p, name.len) ? cell[2] : dur;
        }
        listed += dur != PT_NOT_RECORDED ? dur : 0;
        put_part(t, r, step, names->name[k], dur);
    }
    if (names->count > shown_names) {
        put_part(t, r, step, (pt_str_t){"(other parts)", 13}, known - listed);
    }
    put_part(t, r, step, (pt_str_t){"(unknown)", 9}, step[3] - known);
}

static void parts(const pt_analyze_report_t *how, pt_report_t *report) {
    const pt_results_t *l = how->results;
    part_names_t names = {NULL, 0, 0};
    pt_table_t *t = pt_report_table(report, "step_parts", "Parts of the steps", false);
    pt_table_column(t, "rank", "Rank", PT_COLUMN_COUNT);
    pt_table_column(t, "step", "Step", PT_COLUMN_COUNT);
    pt_table_column(t, "part", "Part", PT_COLUMN_TEXT);
    pt_table_column(t, "duration_s", "Duration", PT_COLUMN_SECONDS);
    pt_table_column(t, "share", "Share", PT_COLUMN_SHARE);
    pt_table_note(t,
                  "The program's scopes directly inside each step, on its thread. What a step has "
                  "not recorded and another has is missing, not 0; the time that no part covers "
                  "is unknown.");
    t->failed |= !collect_names(l, &names);
    for (size_t i = 0; i < l->count && names.count > 0; i++) {
        size_t part = 0;
        for (size_t n = 0; n < shown(how, pt_result_rows(&l->result[i], PT_RT_steps)); n++) {
            put_parts(t, &l->result[i], n, &part, &names);
        }
    }
    free(names.name);
}

/* ---- the same step on several ranks ---- */

typedef struct span_row {
    int64_t step, rank, dur;
} span_row_t;

static int by_step(const void *a, const void *b) {
    const span_row_t *x = a, *y = b;
    return x->step != y->step ? (x->step > y->step) - (x->step < y->step)
                              : (x->rank > y->rank) - (x->rank < y->rank);
}

static void across(const pt_analyze_report_t *how, pt_report_t *report) {
    const pt_results_t *l = how->results;
    size_t count = 0, put = 0;
    for (size_t i = 0; i < l->count; i++) {
        count += pt_result_rows(&l->result[i], PT_RT_steps);
    }
    span_row_t *row = malloc((count + 1) * sizeof *row);
    pt_table_t *t = pt_report_table(report, "step_ranks", "Steps across ranks", false);
    pt_table_column(t, "step", "Step", PT_COLUMN_COUNT);
    pt_table_column(t, "ranks", "Ranks", PT_COLUMN_COUNT);
    pt_table_column(t, "mean_s", "Mean", PT_COLUMN_SECONDS);
    pt_table_column(t, "min_s", "Fastest", PT_COLUMN_SECONDS);
    pt_table_column(t, "fastest_rank", "rank", PT_COLUMN_COUNT);
    pt_table_column(t, "max_s", "Slowest", PT_COLUMN_SECONDS);
    pt_table_column(t, "slowest_rank", "rank", PT_COLUMN_COUNT);
    pt_table_column(t, "imbalance", "Imbalance", PT_COLUMN_SHARE);
    pt_table_note(t, "Imbalance: slowest less mean, in parts of the slowest.");
    t->failed |= row == NULL;
    for (size_t i = 0, n = 0; row != NULL && i < l->count; i++) {
        for (size_t k = 0; k < pt_result_rows(&l->result[i], PT_RT_steps); k++) {
            const int64_t *cell = pt_result_at(&l->result[i], PT_RT_steps, k);
            row[n++] = (span_row_t){cell[0], l->result[i].fact[PT_FACT_rank], cell[3]};
        }
    }
    if (row != NULL && count > 1) {
        qsort(row, count, sizeof *row, by_step);
    }
    for (size_t i = 0; row != NULL && l->count > 1 && i < count && put < shown(how, SIZE_MAX);) {
        size_t from = i, low = i, high = i;
        double sum = 0;
        for (; i < count && row[i].step == row[from].step; i++) {
            low = row[i].dur < row[low].dur ? i : low;
            high = row[i].dur > row[high].dur ? i : high;
            sum += (double)row[i].dur;
        }
        double mean = sum / (double)(i - from), most = (double)row[high].dur;
        put++;
        pt_table_number(t, (double)row[from].step);
        pt_table_number(t, (double)(i - from));
        pt_table_number(t, mean / 1e9);
        pt_table_number(t, pt_seconds(row[low].dur));
        pt_table_number(t, (double)row[low].rank);
        pt_table_number(t, pt_seconds(row[high].dur));
        pt_table_number(t, (double)row[high].rank);
        pt_table_number(t, most > 0 ? (most - mean) / most : (double)NAN);
    }
    free(row);
}

static void unfinished(const pt_analyze_report_t *how, pt_report_t *report) {
    const pt_results_t *l = how->results;
    pt_table_t *t = pt_report_table(report, "unfinished", "Scopes without an end", false);
    pt_table_column(t, "rank", "Rank", PT_COLUMN_COUNT);
    pt_table_column(t, "start_s", "At", PT_COLUMN_SECONDS);
    pt_table_column(t, "so_far_s", "So far", PT_COLUMN_SECONDS);
    pt_table_column(t, "category", "Category", PT_COLUMN_TEXT);
    pt_table_column(t, "name", "Name", PT_COLUMN_LONG);
    pt_table_note(t,
                  "They were open when the trace ended: no step, and in no sum or mean of names.");
    for (size_t i = 0; i < l->count; i++) {
        const pt_rank_result_t *r = &l->result[i];
        size_t rows = shown(how, pt_result_rows(r, PT_RT_unfinished));
        for (size_t n = 0; n < rows; n++) {
            const int64_t *cell = pt_result_at(r, PT_RT_unfinished, n);
            pt_table_number(t, (double)r->fact[PT_FACT_rank]);
            pt_table_number(t, pt_seconds(pt_result_time(r, cell[2])));
            pt_table_number(t, pt_seconds(cell[3]));
            pt_report_text(t, pt_result_text_of(r, cell[1]));
            pt_report_text(t, pt_result_text_of(r, cell[0]));
        }
    }
}

void pt_report_steps(const pt_analyze_report_t *how, pt_report_t *report) {
    steps(how, report);
    parts(how, report);
    across(how, report);
    unfinished(how, report);
}
