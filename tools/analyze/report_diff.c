/* report_diff.c: what differs between two runs. SPDX-License-Identifier: MIT */
#include "analyze_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A name as both runs have it. */
typedef struct pair {
    const pt_sum_row_t *before, *after; /* NULL: it has none */
    const pt_sum_row_t *any;            /* one of them */
    int64_t change;                     /* of the total */
} pair_t;

static int by_name(const void *a, const void *b) {
    return pt_sum_row_compare(a, b);
}

static int by_change(const void *a, const void *b) {
    const pair_t *x = a, *y = b;
    int64_t p = llabs(x->change), q = llabs(y->change);
    if (p != q) {
        return p < q ? 1 : -1;
    }
    return pt_sum_row_compare(x->any, y->any);
}

/* Joins two lists by name, sorted by the size of the change. NULL without memory. */
static pair_t *join(pt_sums_t *before, pt_sums_t *after, size_t *ret_count) {
    pair_t *pair = malloc((before->count + after->count + 1) * sizeof *pair);
    size_t i = 0, j = 0, n = 0;
    if (before->count > 1) {
        qsort(before->row, before->count, sizeof *before->row, by_name);
    }
    if (after->count > 1) {
        qsort(after->row, after->count, sizeof *after->row, by_name);
    }
    while (pair != NULL && (i < before->count || j < after->count)) {
        int order = i == before->count  ? 1
                    : j == after->count ? -1
                                        : pt_sum_row_compare(&before->row[i], &after->row[j]);
        pair_t p = {order <= 0 ? &before->row[i++] : NULL, order >= 0 ? &after->row[j++] : NULL,
                    NULL, 0};
        p.any = order <= 0 ? p.before : p.after;
        p.change =
            (p.after != NULL ? p.after->total : 0) - (p.before != NULL ? p.before->total : 0);
        pair[n++] = p;
    }
    if (n > 1) {
        qsort(pair, n, sizeof *pair, by_change);
    }
    *ret_count = n;
    return pair;
}

static void put_side(pt_table_t *t, const pt_sum_row_t *a) {
    pt_table_number(t, a != NULL ? (double)a->count : (double)NAN);
    pt_table_number(t, a != NULL ? pt_seconds(a->total) : (double)NAN);
    pt_table_number(t, a != NULL ? (double)a->total / (double)a->count / 1e9 : (double)NAN);
}

static void names(const pt_results_t *before, const pt_results_t *after, pt_row_kind_t from,
                  pt_row_kind_t to, size_t top, const char *id, const char *title,
                  pt_report_t *report) {
    pt_sums_t a, b;
    size_t count = 0;
    pt_sums_make(before, PT_SUM_BY_NAME, from, to, &a);
    pt_sums_make(after, PT_SUM_BY_NAME, from, to, &b);
    pair_t *pair = join(&a, &b, &count);
    pt_table_t *t = pt_report_table(report, id, title, false);
    t->failed |= a.failed || b.failed || pair == NULL;
    pt_table_column(t, "state", "State", PT_COLUMN_TEXT);
    pt_table_column(t, "before_count", "Count", PT_COLUMN_COUNT);
    pt_table_column(t, "before_total_s", "Total", PT_COLUMN_SECONDS);
    pt_table_column(t, "before_mean_s", "Mean", PT_COLUMN_SECONDS);
    pt_table_column(t, "after_count", "then Count", PT_COLUMN_COUNT);
    pt_table_column(t, "after_total_s", "Total", PT_COLUMN_SECONDS);
    pt_table_column(t, "after_mean_s", "Mean", PT_COLUMN_SECONDS);
    pt_table_column(t, "change", "Change", PT_COLUMN_CHANGE);
    pt_table_detail(t, "change_s", PT_COLUMN_SECONDS);
    pt_table_column(t, "category", "Category", PT_COLUMN_TEXT);
    pt_table_column(t, "name", "Name", PT_COLUMN_LONG);
    size_t most = top == 0 ? SIZE_MAX : top;
    for (size_t i = 0; pair != NULL && i < PT_MIN(count, most); i++) {
        const pt_sum_row_t *x = pair[i].before, *y = pair[i].after;
        bool same = x != NULL && y != NULL && x->count == y->count && x->total == y->total;
        pt_table_cstr(t, x == NULL ? "added" : y == NULL ? "removed" : same ? "same" : "changed");
        put_side(t, x);
        put_side(t, y);
        pt_table_number(t, x != NULL && y != NULL && x->total > 0
                               ? (double)pair[i].change / (double)x->total
                               : (double)NAN);
        pt_table_number(t, pt_seconds(pair[i].change));
        pt_table_text(t, pair[i].any->cat.p, pair[i].any->cat.len);
        pt_table_text(t, pair[i].any->name.p, pair[i].any->name.len);
    }
    free(pair);
    pt_sums_free(&a);
    pt_sums_free(&b);
}

/* The mean of a fact over the ranks that have it. */
static double mean_of(const pt_results_t *l, pt_fact_t from, pt_fact_t fact) {
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < l->count; i++) {
        const pt_rank_result_t *r = &l->result[i];
        int64_t v = from == PT_FACTS ? r->fact[fact] : pt_fact_between(r, from, fact);
        sum += v != PT_NOT_RECORDED ? (double)v : 0;
        n += v != PT_NOT_RECORDED;
    }
    return n > 0 ? sum / (double)n / 1e9 : (double)NAN;
}

static void figures(const pt_results_t *before, const pt_results_t *after, pt_report_t *report) {
    static const struct {
        const char *name;
        pt_fact_t from, fact; /* PT_FACTS: the fact itself */
    } row[] = {{"trace", PT_FACT_first_ns, PT_FACT_last_ns},
               {"device range", PT_FACT_range_first_ns, PT_FACT_range_last_ns},
               {"busy", PT_FACTS, PT_FACT_busy_ns},
               {"compute", PT_FACTS, PT_FACT_compute_ns},
               {"communication", PT_FACTS, PT_FACT_communication_ns},
               {"exposed communication", PT_FACT_hidden_ns, PT_FACT_communication_ns},
               {"memory", PT_FACTS, PT_FACT_memory_ns},
               {"idle: host wait", PT_FACTS, PT_FACT_idle_host_ns},
               {"idle: kernel wait", PT_FACTS, PT_FACT_idle_kernel_ns},
               {"idle: other", PT_FACTS, PT_FACT_idle_other_ns}};
    pt_table_t *t = pt_report_table(report, "diff", "Before and after, mean of the ranks", false);
    pt_table_column(t, "figure", "Figure", PT_COLUMN_TEXT);
    pt_table_column(t, "before_s", "Before", PT_COLUMN_SECONDS);
    pt_table_column(t, "after_s", "After", PT_COLUMN_SECONDS);
    pt_table_column(t, "change", "Change", PT_COLUMN_CHANGE);
    for (size_t i = 0; i < PT_ARRAY_LEN(row); i++) {
        double a = mean_of(before, row[i].from, row[i].fact);
        double b = mean_of(after, row[i].from, row[i].fact);
        pt_table_cstr(t, row[i].name);
        pt_table_number(t, a);
        pt_table_number(t, b);
        pt_table_number(t, a > 0 ? (b - a) / a : (double)NAN);
    }
}

bool pt_analyze_diff(const pt_results_t *before, const pt_results_t *after, size_t top,
                     pt_report_t *report) {
    figures(before, after, report);
    names(before, after, PT_ROW_SYNC, PT_ROW_MEMSET, top, "device_diff", "Work of the devices",
          report);
    names(before, after, PT_ROW_OTHER, PT_ROW_PYTHON, top, "host_diff", "Scopes of the host",
          report);
    return !pt_report_failed(report);
}
