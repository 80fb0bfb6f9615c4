/* stack_tally.h: self and inclusive weights. SPDX-License-Identifier: MIT
 *
 * Self: of the samples whose last frame it is. Inclusive: of the samples in which it occurs, each
 * once however often it recurs in the stack. Pure but for memory. */
#ifndef PERFTRACE_STACKS_STACK_TALLY_H
#define PERFTRACE_STACKS_STACK_TALLY_H
#include "stack_view.h"

typedef struct pt_tally_row {
    uint32_t what; /* a frame, or a name */
    uint64_t samples;
    double weight;
    size_t place; /* among all rows, in the order in which they occur */
    double rank;  /* pt_stack_rank of the weight */
} pt_tally_row_t;

typedef struct pt_tally {
    pt_tally_row_t *row; /* by weight, descending; equal ones in the order in which they occur */
    size_t rows;
} pt_tally_t;

/* Self weights of frames: one function at two places is two rows. False without memory, here and
 * below; the tally must be freed in every case. */
bool pt_tally_self(const pt_stack_view_t *view, pt_tally_t *ret_tally);
/* Self weights of names. */
bool pt_tally_self_names(const pt_stack_view_t *view, pt_tally_t *ret_tally);
/* Inclusive weights of names. */
bool pt_tally_inclusive(const pt_stack_view_t *view, pt_tally_t *ret_tally);
void pt_tally_free(pt_tally_t *tally);

/* The row of a frame or name; NULL: it has none. */
const pt_tally_row_t *pt_tally_find(const pt_tally_t *tally, uint32_t what);

#endif
