/* analyze_report.h: the tables that results make. SPDX-License-Identifier: MIT
 *
 * Made from results alone, sorted by rank: the same whether they were read from traces now or
 * written before. "Not recorded" is a missing cell. Pure but for memory. */
#ifndef PERFTRACE_ANALYZE_ANALYZE_REPORT_H
#define PERFTRACE_ANALYZE_ANALYZE_REPORT_H
#include "rank_result.h"
#include "result_clock.h"
#include "table.h"

typedef struct pt_analyze_report {
    const pt_results_t *results;
    size_t top;   /* rows of lists of the largest; 0: all */
    bool brief;   /* for people: lists of steps are cut off at top, too */
    bool details; /* tables that are for programs */
} pt_analyze_report_t;

/* Adds all tables. False without memory. */
bool pt_analyze_report(const pt_analyze_report_t *how, pt_report_t *report);
/* Adds the tables of a comparison of two runs. */
bool pt_analyze_diff(const pt_results_t *before, const pt_results_t *after, size_t top,
                     pt_report_t *report);

/* The parts. */
void pt_report_summary(const pt_analyze_report_t *how, pt_report_t *report);
void pt_report_ranks(const pt_analyze_report_t *how, pt_report_t *report);
void pt_report_device(const pt_analyze_report_t *how, pt_report_t *report);
void pt_report_launches(const pt_analyze_report_t *how, pt_report_t *report);
void pt_report_names(const pt_analyze_report_t *how, pt_report_t *report);
void pt_report_steps(const pt_analyze_report_t *how, pt_report_t *report);
void pt_report_collectives(const pt_analyze_report_t *how, pt_report_t *report);
void pt_report_counters(const pt_analyze_report_t *how, pt_report_t *report);
void pt_report_sequences(const pt_analyze_report_t *how, pt_report_t *report);
void pt_report_findings(const pt_analyze_report_t *how, pt_report_t *report);
void pt_report_coverage(const pt_analyze_report_t *how, pt_report_t *report);

/* ---- what the parts share ---- */

/* ns to seconds; NAN: not recorded. */
double pt_seconds(int64_t ns);
/* NAN where one is not recorded or the whole is 0. */
double pt_share(int64_t part, int64_t whole);
/* The next cell; missing where the text is empty. */
void pt_report_text(pt_table_t *table, pt_str_t text);
/* A fact in seconds, and a share of two facts; NAN where one is not recorded or the whole is 0. */
double pt_fact_seconds(const pt_rank_result_t *r, pt_fact_t fact);
double pt_fact_share(const pt_rank_result_t *r, pt_fact_t part, pt_fact_t whole);
/* How much of the span of a rank's work its devices were busy. */
double pt_fact_utilisation(const pt_rank_result_t *r);
/* The difference of two facts; PT_NOT_RECORDED where one is not recorded. */
int64_t pt_fact_between(const pt_rank_result_t *r, pt_fact_t from, pt_fact_t to);

/* Names of all ranks together. */
typedef struct pt_sum_row {
    pt_str_t name, cat, class;
    int64_t kind, group, count, total, min, max;
    int64_t ranks;
    double mean_low, mean_high;  /* of the ranks' means */
    int64_t rank_low, rank_high; /* of the ranks' totals; a rank without any has none */
} pt_sum_row_t;

typedef struct pt_sums {
    pt_sum_row_t *row;
    size_t count, cap;
    bool failed;
} pt_sums_t;

/* By what a row is: its name, category and kind. */
int pt_sum_row_compare(const pt_sum_row_t *x, const pt_sum_row_t *y);

/* What rows are joined by. */
typedef enum pt_sum_key { PT_SUM_BY_NAME, PT_SUM_BY_CLASS } pt_sum_key_t;

/* Adds up the rows whose kind lies between two; sorted by total, largest first. Texts belong to the
 * results. Free with pt_sums_free in every case. */
void pt_sums_make(const pt_results_t *results, pt_sum_key_t key, pt_row_kind_t from,
                  pt_row_kind_t to, pt_sums_t *ret_sums);
void pt_sums_free(pt_sums_t *sums);

#endif
