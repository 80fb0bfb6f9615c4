/* stack_diff.h: two profiles, function by function. SPDX-License-Identifier: MIT
 *
 * Pure but for memory. */
#ifndef PERFTRACE_STACKS_STACK_DIFF_H
#define PERFTRACE_STACKS_STACK_DIFF_H
#include "stacks_report.h"

typedef struct pt_diff_row {
    const char *name; /* of one of the views */
    double self[2], inclusive[2];
} pt_diff_row_t;

typedef struct pt_diff {
    pt_diff_row_t *row; /* by the size of the change of self, then of inclusive; then by name */
    size_t rows;
} pt_diff_t;

/* Weights of the first are multiplied by scale. False without memory; free in every case. */
bool pt_diff_make(const pt_stack_view_t *before, const pt_stack_view_t *after, double scale,
                  pt_diff_t *ret_diff);
void pt_diff_free(pt_diff_t *diff);

/* Both views are of one unit; r->view is that of after. top 0: all. False without memory. */
bool pt_report_diff(pt_stacks_report_t *r, const pt_stack_view_t *before, double scale,
                    const pt_diff_t *diff, uint64_t top);

#endif
