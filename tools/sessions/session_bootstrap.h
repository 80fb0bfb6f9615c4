/* session_bootstrap.h: how far figures would differ in another run. SPDX-License-Identifier: MIT
 *
 * Samples of one task are alike, so tasks are drawn, not sessions (a cluster bootstrap: Davison and
 * Hinkley, "Bootstrap Methods and their Application", 1997, section 3.8): each replicate draws as
 * many clusters as there are, with replacement, and computes all figures of the sessions in them.
 * The same seed gives the same replicates, whatever the number of threads. Pure but for memory and
 * threads. */
#ifndef PERFTRACE_SESSIONS_SESSION_BOOTSTRAP_H
#define PERFTRACE_SESSIONS_SESSION_BOOTSTRAP_H
#include "compiler.h"

#include <stdbool.h>

typedef struct pt_boot_value {
    double value;
    uint32_t cluster;
} pt_boot_value_t;

/* Values whose mean and quantiles are figures; sorted by value (pt_boot_sort). */
typedef struct pt_boot_list {
    pt_boot_value_t *item;
    size_t n;
} pt_boot_list_t;

/* A share: of `of` sessions of a cluster, `part`. */
typedef struct pt_boot_share {
    const uint32_t *part, *of; /* by cluster */
} pt_boot_share_t;

/* Figures of a list, in this order. */
enum { PT_BOOT_MEAN, PT_BOOT_P50, PT_BOOT_P90, PT_BOOT_P99, PT_BOOT_FIGURES };

typedef struct pt_boot {
    pt_boot_list_t *list;
    pt_boot_share_t *share;
    size_t lists, shares;
    uint32_t clusters; /* at least 1 */
    uint64_t seed;
} pt_boot_t;

void pt_boot_sort(pt_boot_list_t *list);
/* The figures as they are; NAN of no values. False without memory. */
bool pt_boot_figures(const pt_boot_list_t *list, double figure[PT_BOOT_FIGURES]);

/* How many replicates are affordable for so many values in all lists together. */
size_t pt_boot_replicates(size_t values);
/* Computes replicates: ret[replicate * width + i], where i counts the figures of all lists and then
 * the shares (width = lists * PT_BOOT_FIGURES + shares); NAN where the drawn clusters have no
 * value. False without memory. */
bool pt_boot_run(const pt_boot_t *boot, size_t replicates, unsigned threads, double *ret);

/* The interval that holds `confidence` percent of n values, which are sorted in place (those that
 * are NAN are passed over): its ends, or NAN when fewer than half of them are numbers. */
void pt_boot_interval(double *value, size_t n, double confidence, double *ret_low,
                      double *ret_high);

#endif
