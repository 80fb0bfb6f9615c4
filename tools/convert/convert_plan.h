/* convert_plan.h: what must be decided before the first event is converted.
 * SPDX-License-Identifier: MIT
 *
 * Ranks, clocks, process numbers and labels. Depends only on the inputs, never on threads or time.
 */
#ifndef PERFTRACE_CONVERT_PLAN_H
#define PERFTRACE_CONVERT_PLAN_H
#include "convert_input.h"

typedef struct pt_convert_plan {
    pt_convert_input_t **order; /* the inputs that take part: by rank, role, start */
    size_t count;
    bool knows_base;
    int64_t base_epoch_ns; /* wall clock time at 0 of the output */
    int64_t world_size;    /* -1: not known */
    int64_t *missing;      /* ranks without a file */
    size_t missing_count;
    size_t odd_runs; /* inputs whose run id differs from that of most */
} pt_convert_plan_t;

/* Decides; warns of missing ranks, odd run ids and guessed ranks. Inputs that --ranks leaves out,
 * or that hold nothing, do not take part. Where clocks must be put onto one axis, the inputs are
 * read for that, several at a time. PT_EXIT_OK, PT_EXIT_INTERNAL, or PT_EXIT_INPUT when
 * nothing remains (told). */
pt_exit_t pt_convert_plan_make(pt_convert_plan_t *plan, pt_convert_input_t *inputs, size_t count,
                               const pt_convert_options_t *options, unsigned threads);
void pt_convert_plan_free(pt_convert_plan_t *plan);

#endif
