/* report_names.c: what took how long, by name, over all ranks. SPDX-License-Identifier: MIT */
#include "analyze_report.h"
#include "grow.h"
#include "kernel_rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int64_t total_of(const pt_sums_t *l) {
    int64_t total = 0;
    for (size_t i = 0; i < l->count; i++) {
        total += l->row[i].total;
    }
    return total;
}

static void put_spread(pt_table_t *t, const pt_sum_row_t *a) {
    double mean = (double)a->total / (double)a->count;
    pt_table_number(t, (double)a->ranks);
    pt_table_number(t, a->mean_low / 1e9);
    pt_table_number(t, a->mean_high / 1e9);
    pt_table_number(t, mean > 0 ? (a->mean_high - a->mean_low) / mean : (double)NAN);
    pt_table_number(t, pt_seconds(a->rank_low));
    pt_table_number(t, pt_seconds(a->rank_high));
}

static void spread_columns(pt_table_t *t) {
    pt_table_column(t, "ranks", "Ranks", PT_COLUMN_COUNT);
    pt_table_detail(t, "rank_mean_min_s", PT_COLUMN_SECONDS);
    pt_table_detail(t, "rank_mean_max_s", PT_COLUMN_SECONDS);
    pt_table_column(t, "spread", "Spread", PT_COLUMN_SHARE);
    pt_table_detail(t, "rank_total_min_s", PT_COLUMN_SECONDS);
    pt_table_detail(t, "rank_total_max_s", PT_COLUMN_SECONDS);
}

static void classes(const pt_results_t *l, int64_t kernels, pt_report_t *report) {
    pt_sums_t sums;
    pt_sums_make(l, PT_SUM_BY_CLASS, PT_ROW_KERNEL, PT_ROW_KERNEL, &sums);
    pt_table_t *t = pt_report_table(report, "kernel_classes", "Kernels by class", false);
    t->failed |= sums.failed;
    pt_table_column(t, "class", "Class", PT_COLUMN_TEXT);
    pt_table_column(t, "group", "Group", PT_COLUMN_TEXT);
    pt_table_column(t, "share", "Share", PT_COLUMN_SHARE);
    pt_table_column(t, "total_s", "Total", PT_COLUMN_SECONDS);
    pt_table_column(t, "mean_s", "Mean", PT_COLUMN_SECONDS);
    pt_table_column(t, "count", "Count", PT_COLUMN_COUNT);
    spread_columns(t);
    pt_table_note(t,
                  "Share of the sum of all kernels' times; the first rule that fits a name tells "
                  "its class. Spread: of the ranks' means, in parts of the mean.");
    for (size_t i = 0; i < sums.count; i++) {
        const pt_sum_row_t *a = &sums.row[i];
        pt_report_text(t, a->class);
        pt_table_cstr(t, a->group >= 0 && a->group < PT_GROUPS
                             ? pt_rule_group_name((pt_rule_group_t)a->group)
                             : NULL);
        pt_table_number(t, kernels > 0 ? (double)a->total / (double)kernels : (double)NAN);
        pt_table_number(t, pt_seconds(a->total));
        pt_table_number(t, (double)a->total / (double)a->count / 1e9);
        pt_table_number(t, (double)a->count);
        put_spread(t, a);
    }
    pt_sums_free(&sums);
}

static void put_sum(pt_table_t *t, const pt_sum_row_t *a, int64_t whole) {
    pt_table_number(t, whole > 0 ? (double)a->total / (double)whole : (double)NAN);
    pt_table_number(t, pt_seconds(a->total));
    pt_table_number(t, (double)a->total / (double)a->count / 1e9);
    pt_table_number(t, pt_seconds(a->min));
    pt_table_number(t, pt_seconds(a->max));
    pt_table_number(t, (double)a->count);
}

static void sum_columns(pt_table_t *t) {
    pt_table_column(t, "share", "Share", PT_COLUMN_SHARE);
    pt_table_column(t, "total_s", "Total", PT_COLUMN_SECONDS);
    pt_table_column(t, "mean_s", "Mean", PT_COLUMN_SECONDS);
    pt_table_column(t, "min_s", "Min", PT_COLUMN_SECONDS);
    pt_table_column(t, "max_s", "Max", PT_COLUMN_SECONDS);
    pt_table_column(t, "count", "Count", PT_COLUMN_COUNT);
}

static void kernels(const pt_sums_t *sums, size_t most, pt_report_t *report) {
    int64_t total = total_of(sums);
    pt_table_t *t = pt_report_table(report, "kernels", "Top kernels", false);
    t->failed |= sums->failed;
    sum_columns(t);
    spread_columns(t);
    pt_table_column(t, "class", "Class", PT_COLUMN_TEXT);
    pt_table_column(t, "name", "Kernel", PT_COLUMN_LONG);
    pt_table_note(t, "Share of the sum of all kernels' times, over all ranks.");
    for (size_t i = 0; i < PT_MIN(sums->count, most); i++) {
        put_sum(t, &sums->row[i], total);
        put_spread(t, &sums->row[i]);
        pt_report_text(t, sums->row[i].class);
        pt_table_text(t, sums->row[i].name.p, sums->row[i].name.len);
    }
}

static void host(const pt_results_t *l, size_t most, pt_report_t *report) {
    pt_sums_t sums;
    pt_sums_make(l, PT_SUM_BY_NAME, PT_ROW_OTHER, PT_ROW_PYTHON, &sums);
    pt_table_t *t = pt_report_table(report, "host", "Top scopes of the host", false);
    t->failed |= sums.failed;
    sum_columns(t);
    pt_table_column(t, "category", "Category", PT_COLUMN_TEXT);
    pt_table_column(t, "name", "Name", PT_COLUMN_LONG);
    pt_table_note(t, "Share of the sum of all scopes' times. Scopes lie in each other: shares do "
                     "not add up to times of the clock.");
    int64_t total = total_of(&sums);
    for (size_t i = 0; i < PT_MIN(sums.count, most); i++) {
        put_sum(t, &sums.row[i], total);
        pt_report_text(t, sums.row[i].cat);
        pt_table_text(t, sums.row[i].name.p, sums.row[i].name.len);
    }
    pt_sums_free(&sums);
}

static bool has_gloo(pt_str_t name) {
    for (size_t i = 0; i + 4 <= name.len; i++) {
        if (strncasecmp(name.p + i, "gloo", 4) == 0) {
            return true;
        }
    }
    return false;
}

static void communication(const pt_sums_t *all, int64_t kernels_ns, pt_report_t *report) {
    pt_table_t *t = pt_report_table(report, "communication", "Communication", false);
    t->failed |= all->failed;
    sum_columns(t);
    pt_table_column(t, "where", "Where", PT_COLUMN_TEXT);
    pt_table_column(t, "name", "Name", PT_COLUMN_LONG);
    pt_table_note(t, "Kernels of the group communication, and whatever is named gloo on the host. "
                     "Share of the sum of all kernels' times, for kernels.");
    for (size_t i = 0; i < all->count; i++) {
        const pt_sum_row_t *a = &all->row[i];
        bool kernel = a->kind == PT_ROW_KERNEL && a->group == PT_GROUP_COMMUNICATION;
        if (kernel || (!PT_ROW_IS_WORK(a->kind) && has_gloo(a->name))) {
            put_sum(t, a, kernel ? kernels_ns : 0);
            pt_table_cstr(t, kernel ? "device" : "host");
            pt_report_text(t, a->name);
        }
    }
}

/* ---- copies ---- */

typedef struct copy_row {
    pt_str_t kind;
    int64_t count, bytes, known, total, best;
} copy_row_t;

static int64_t plus(int64_t a, int64_t b) {
    return a == PT_NOT_RECORDED ? b : b == PT_NOT_RECORDED ? a : a + b;
}

typedef struct copy_rows {
    copy_row_t *row;
    size_t count, cap;
} copy_rows_t;

static copy_row_t *find_copy(copy_rows_t *l, pt_str_t kind) {
    for (size_t k = 0; k < l->count; k++) {
        if (pt_str_is(l->row[k].kind, kind.p, kind.len)) {
            return &l->row[k];
        }
    }
    if (!PT_GROW(l, row, count, cap, 1)) {
        return NULL;
    }
    l->row[l->count++] =
        (copy_row_t){kind, 0, PT_NOT_RECORDED, PT_NOT_RECORDED, 0, PT_NOT_RECORDED};
    return &l->row[l->count - 1];
}

static bool add_copies(const pt_rank_result_t *r, copy_rows_t *l) {
    for (size_t n = 0; n < pt_result_rows(r, PT_RT_transfers); n++) {
        const int64_t *cell = pt_result_at(r, PT_RT_transfers, n);
        copy_row_t *a = find_copy(l, pt_result_text_of(r, cell[0]));
        if (a == NULL) {
            return false;
        }
        a->count += cell[1];
        a->bytes = plus(a->bytes, cell[2]);
        a->known = plus(a->known, cell[3]);
        a->total += cell[4];
        a->best = PT_MAX(a->best, cell[5]);
    }
    return true;
}

static void copies(const pt_results_t *l, pt_report_t *report) {
    copy_rows_t all = {NULL, 0, 0};
    bool ok = true;
    for (size_t i = 0; ok && i < l->count; i++) {
        ok = add_copies(&l->result[i], &all);
    }
    pt_table_t *t = pt_report_table(report, "transfers", "Copies and sets of the devices", false);
    t->failed |= !ok;
    pt_table_column(t, "kind", "Kind", PT_COLUMN_TEXT);
    pt_table_column(t, "count", "Count", PT_COLUMN_COUNT);
    pt_table_column(t, "total_s", "Time", PT_COLUMN_SECONDS);
    pt_table_column(t, "bytes", "Bytes", PT_COLUMN_COUNT);
    pt_table_column(t, "rate_gb_s", "GB/s", PT_COLUMN_NUMBER);
    pt_table_column(t, "best_gb_s", "best", PT_COLUMN_NUMBER);
    pt_table_note(t, "Rates are over those whose bytes are recorded.");
    for (size_t k = 0; k < all.count; k++) {
        const copy_row_t *a = &all.row[k];
        pt_report_text(t, a->kind);
        pt_table_number(t, (double)a->count);
        pt_table_number(t, pt_seconds(a->total));
        pt_table_number(t, a->bytes == PT_NOT_RECORDED ? (double)NAN : (double)a->bytes);
        pt_table_number(t, a->bytes == PT_NOT_RECORDED || a->known <= 0
                               ? (double)NAN
                               : (double)a->bytes / (double)a->known);
        pt_table_number(t, a->best == PT_NOT_RECORDED ? (double)NAN : (double)a->best / 1e9);
    }
    free(all.row);
    t = pt_report_table(report, "copies", "aten::copy_ on the host", false);
    pt_table_column(t, "rank", "Rank", PT_COLUMN_COUNT);
    pt_table_column(t, "count", "Count", PT_COLUMN_COUNT);
    pt_table_column(t, "total_s", "Total", PT_COLUMN_SECONDS);
    for (size_t i = 0; i < l->count; i++) {
        const pt_rank_result_t *r = &l->result[i];
        if (r->fact[PT_FACT_copies] != PT_NOT_RECORDED) {
            pt_table_number(t, (double)r->fact[PT_FACT_rank]);
            pt_table_number(t, pt_result_fact(r, PT_FACT_copies));
            pt_table_number(t, pt_fact_seconds(r, PT_FACT_copies_ns));
        }
    }
}

/* Every name there is, for programs. */
static void names(const pt_sums_t *all, pt_report_t *report) {
    pt_table_t *t = pt_report_table(report, "names", "All names", false);
    t->failed |= all->failed;
    pt_table_column(t, "name", "Name", PT_COLUMN_LONG);
    pt_table_column(t, "category", "Category", PT_COLUMN_TEXT);
    pt_table_column(t, "count", "Count", PT_COLUMN_COUNT);
    pt_table_column(t, "total_s", "Total", PT_COLUMN_SECONDS);
    pt_table_column(t, "min_s", "Min", PT_COLUMN_SECONDS);
    pt_table_column(t, "max_s", "Max", PT_COLUMN_SECONDS);
    for (size_t i = 0; i < all->count; i++) {
        const pt_sum_row_t *a = &all->row[i];
        pt_table_text(t, a->name.p, a->name.len);
        pt_report_text(t, a->cat);
        pt_table_number(t, (double)a->count);
        pt_table_number(t, pt_seconds(a->total));
        pt_table_number(t, pt_seconds(a->min));
        pt_table_number(t, pt_seconds(a->max));
    }
}

static void phases(const pt_results_t *l, pt_report_t *report) {
    pt_table_t *t = pt_report_table(report, "phases", "Events by phase", false);
    pt_table_column(t, "rank", "Rank", PT_COLUMN_COUNT);
    pt_table_column(t, "ph", "Phase", PT_COLUMN_TEXT);
    pt_table_column(t, "count", "Count", PT_COLUMN_COUNT);
    for (size_t i = 0; i < l->count; i++) {
        const pt_rank_result_t *r = &l->result[i];
        for (size_t n = 0; n < pt_result_rows(r, PT_RT_phases); n++) {
            const int64_t *cell = pt_result_at(r, PT_RT_phases, n);
            pt_table_number(t, (double)r->fact[PT_FACT_rank]);
            pt_report_text(t, pt_result_text_of(r, cell[0]));
            pt_table_number(t, (double)cell[1]);
        }
    }
}

void pt_report_names(const pt_analyze_report_t *how, pt_report_t *report) {
    size_t most = how->top == 0 ? SIZE_MAX : how->top;
    pt_sums_t sums, all;
    pt_sums_make(how->results, PT_SUM_BY_NAME, PT_ROW_KERNEL, PT_ROW_KERNEL, &sums);
    pt_sums_make(how->results, PT_SUM_BY_NAME, PT_ROW_OTHER, PT_ROW_MEMSET, &all);
    int64_t total = total_of(&sums);
    classes(how->results, total, report);
    kernels(&sums, most, report);
    pt_sums_free(&sums);
    communication(&all, total, report);
    copies(how->results, report);
    host(how->results, most, report);
    if (how->details) {
        names(&all, report);
        phases(how->results, report);
    }
    pt_sums_free(&all);
}
