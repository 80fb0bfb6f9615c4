/* session_compare.c: two runs against each other. SPDX-License-Identifier: MIT */
#include "session_compare.h"

#include "compare_side.h"

#include <math.h>
#include <stdlib.h>

enum { A, B };

typedef struct comparison {
    pt_compared_t names;
    pt_compare_side_t side[2];
    double *replicate[2]; /* NULL: no intervals */
    size_t replicates, width;
    double confidence;
    double *scratch; /* a number for each replicate */
} comparison_t;

/* The change of figure number `figure` in every replicate, as a share of the first run's or as a
 * difference; then its interval. */
static void interval_of(const comparison_t *c, size_t figure, bool difference, double *ret_low,
                        double *ret_high) {
    *ret_low = *ret_high = (double)NAN;
    if (c->replicate[A] == NULL) {
        return;
    }
    for (size_t r = 0; r < c->replicates; r++) {
        double a = c->replicate[A][r * c->width + figure];
        double b = c->replicate[B][r * c->width + figure];
        c->scratch[r] = difference ? b - a : a != 0 ? b / a - 1 : (double)NAN;
    }
    pt_boot_interval(c->scratch, c->replicates, c->confidence, ret_low, ret_high);
}

#define NO_FIGURE SIZE_MAX /* there is no interval */

static void put_change(const comparison_t *c, pt_table_t *t, double a, double b, size_t figure,
                       bool difference) {
    double low = (double)NAN, high = (double)NAN;
    if (figure != NO_FIGURE) {
        interval_of(c, figure, difference, &low, &high);
    }
    double change = difference ? b - a : a != 0 ? b / a - 1 : (double)NAN;
    pt_table_number(t, a);
    pt_table_number(t, b);
    pt_table_number(t, change);
    pt_table_number(t, low);
    pt_table_number(t, high);
    pt_table_number(t, low > 0 || high < 0 ? 1 : 0);
}

static void put_columns(pt_table_t *t, pt_column_kind_t kind) {
    pt_table_column(t, "a", "A", kind);
    pt_table_column(t, "b", "B", kind);
    pt_table_column(t, "change", "change", PT_COLUMN_CHANGE);
    pt_table_column(t, "low", "from", PT_COLUMN_CHANGE);
    pt_table_column(t, "high", "to", PT_COLUMN_CHANGE);
    pt_table_column(t, "significant", "significant", PT_COLUMN_FLAG);
}

/* The figures of one list from both sides. */
static void put_list(const comparison_t *c, pt_table_t *t, pt_name_t name, size_t list) {
    static const char *const text[PT_BOOT_FIGURES] = {"mean", "p50", "p90", "p99"};
    static const double tail[PT_BOOT_FIGURES] = {1, 0.5, 0.1, 0.01};
    const pt_boot_list_t *a = &c->side[A].boot.list[list], *b = &c->side[B].boot.list[list];
    double figure[2][PT_BOOT_FIGURES];
    if (a->n == 0 && b->n == 0) {
        return;
    }
    t->failed |= !pt_boot_figures(a, figure[A]) || !pt_boot_figures(b, figure[B]);
    for (unsigned f = 0; f < PT_BOOT_FIGURES && !t->failed; f++) {
        bool enough = (double)PT_MIN(a->n, b->n) * tail[f] >= PT_COMPARE_TAIL_MIN;
        pt_table_text(t, name.p, name.len);
        pt_table_cstr(t, text[f]);
        put_change(c, t, figure[A][f], figure[B][f],
                   enough ? list * PT_BOOT_FIGURES + f : NO_FIGURE, false);
    }
}

static void put_durations(const comparison_t *c, pt_report_t *out) {
    pt_table_t *t = pt_report_table(out, "durations", "Durations", false);
    pt_table_column(t, "name", "", PT_COLUMN_TEXT);
    pt_table_column(t, "figure", "", PT_COLUMN_TEXT);
    put_columns(t, PT_COLUMN_SECONDS);
    put_list(c, t, (pt_name_t){"total", 5}, PT_LIST_TOTAL);
    put_list(c, t, (pt_name_t){"queue", 5}, PT_LIST_QUEUE);
    for (uint32_t i = 0; i < c->names.phases.count; i++) {
        put_list(c, t, pt_name_table_get(&c->names.phases, i), PT_LIST_PHASES + i);
    }
    put_list(c, t, (pt_name_t){"(no phase)", 10}, PT_LIST_PHASES + c->names.phases.count);
}

static void put_counters(const comparison_t *c, pt_report_t *out) {
    pt_table_t *t = pt_report_table(out, "counters", "Counters, mean a session", false);
    size_t first = PT_LIST_PHASES + c->names.phases.count + 1;
    pt_table_column(t, "counter", "counter", PT_COLUMN_TEXT);
    put_columns(t, PT_COLUMN_NUMBER);
    for (uint32_t i = 0; i < c->names.counters.count; i++) {
        const pt_boot_list_t *a = &c->side[A].boot.list[first + i];
        const pt_boot_list_t *b = &c->side[B].boot.list[first + i];
        double figure[2][PT_BOOT_FIGURES];
        if (a->n > 0 || b->n > 0) {
            pt_name_t name = pt_name_table_get(&c->names.counters, i);
            t->failed |= !pt_boot_figures(a, figure[A]) || !pt_boot_figures(b, figure[B]);
            pt_table_text(t, name.p, name.len);
            put_change(c, t, figure[A][PT_BOOT_MEAN], figure[B][PT_BOOT_MEAN],
                       (first + i) * PT_BOOT_FIGURES, false);
        }
    }
}

static double share_of(const pt_compare_side_t *side, size_t share) {
    uint64_t part = 0;
    for (uint32_t i = 0; i < side->boot.clusters; i++) {
        part += side->boot.share[share].part[i];
    }
    return side->selection->rows > 0 ? (double)part / (double)side->selection->rows : (double)NAN;
}

static void put_statuses(const comparison_t *c, pt_report_t *out) {
    pt_table_t *t =
        pt_report_table(out, "statuses", "How they ended, share of the sessions", false);
    pt_table_column(t, "status", "status", PT_COLUMN_TEXT);
    put_columns(t, PT_COLUMN_SHARE);
    for (uint32_t i = 0; i < c->names.statuses.count; i++) {
        double a = share_of(&c->side[A], i), b = share_of(&c->side[B], i);
        if (a > 0 || b > 0) {
            pt_name_t name = pt_name_table_get(&c->names.statuses, i);
            pt_table_text(t, name.p, name.len);
            put_change(c, t, a, b, c->side[A].boot.lists * PT_BOOT_FIGURES + i, true);
        }
    }
    pt_table_note(t, "change: percentage points.");
}

static void put_rate(pt_table_t *t, const char *id, double a, double b) {
    pt_table_cstr(t, id);
    pt_table_number(t, a);
    pt_table_number(t, b);
    pt_table_number(t, a > 0 ? b / a - 1 : (double)NAN);
}

static void put_rates(const comparison_t *c, pt_report_t *out) {
    pt_table_t *t = pt_report_table(out, "rates", "Sessions", false);
    const pt_compare_side_t *a = &c->side[A], *b = &c->side[B];
    pt_table_column(t, "figure", "", PT_COLUMN_TEXT);
    pt_table_column(t, "a", "A", PT_COLUMN_NUMBER);
    pt_table_column(t, "b", "B", PT_COLUMN_NUMBER);
    pt_table_column(t, "change", "change", PT_COLUMN_CHANGE);
    put_rate(t, "sessions", (double)a->selection->rows, (double)b->selection->rows);
    put_rate(t, "tasks", a->boot.clusters, b->boot.clusters);
    put_rate(t, "seconds", a->seconds, b->seconds);
    put_rate(t, "finished a second",
             a->seconds > 0 ? (double)a->finished / a->seconds : (double)NAN,
             b->seconds > 0 ? (double)b->finished / b->seconds : (double)NAN);
}

static void put_note(const comparison_t *c, pt_report_t *out) {
    pt_table_t *t = pt_report_table(out, "method", "Intervals", true);
    bool any = c->replicate[A] != NULL;
    pt_table_fact(t, "confidence", "percent", PT_COLUMN_NUMBER, any ? c->confidence : (double)NAN);
    pt_table_fact(t, "replicates", "replicates", PT_COLUMN_COUNT,
                  any ? (double)c->replicates : (double)NAN);
    pt_table_note(t,
                  any ? "Tasks of both runs were drawn anew, with all their sessions; from and "
                        "to hold so many percent of the changes. significant: zero lies outside. "
                        "A quantile with fewer than 5 values beyond it has no interval."
                      : "None: there are too few tasks to draw from.");
}

static bool replicate(comparison_t *c, unsigned threads) {
    const pt_boot_t *a = &c->side[A].boot, *b = &c->side[B].boot;
    if (a->clusters < PT_COMPARE_TASKS_MIN || b->clusters < PT_COMPARE_TASKS_MIN) {
        return true;
    }
    c->width = a->lists * PT_BOOT_FIGURES + a->shares;
    c->replicates = pt_boot_replicates(c->side[A].values + c->side[B].values);
    c->scratch = malloc(c->replicates * sizeof *c->scratch);
    c->replicate[A] = malloc(c->replicates * c->width * sizeof(double));
    c->replicate[B] = malloc(c->replicates * c->width * sizeof(double));
    c->side[B].boot.seed ^= 1; /* draws of its own */
    return c->scratch != NULL && c->replicate[A] != NULL && c->replicate[B] != NULL &&
           pt_boot_run(a, c->replicates, threads, c->replicate[A]) &&
           pt_boot_run(b, c->replicates, threads, c->replicate[B]);
}

bool pt_session_compare(const pt_selection_t *a, const pt_selection_t *b, double confidence,
                        unsigned threads, pt_report_t *out) {
    comparison_t c = {.confidence = confidence};
    bool ok = pt_compared_add(&c.names, a->model) && pt_compared_add(&c.names, b->model) &&
              pt_compare_side_make(&c.side[A], a, &c.names, threads) &&
              pt_compare_side_make(&c.side[B], b, &c.names, threads) && replicate(&c, threads);
    if (ok) {
        put_rates(&c, out);
        put_statuses(&c, out);
        put_durations(&c, out);
        put_counters(&c, out);
        put_note(&c, out);
    }
    pt_compare_side_free(&c.side[A]);
    pt_compare_side_free(&c.side[B]);
    pt_compared_free(&c.names);
    free(c.replicate[A]);
    free(c.replicate[B]);
    free(c.scratch);
    return ok && !pt_report_failed(out);
}
