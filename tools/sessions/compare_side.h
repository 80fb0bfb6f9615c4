/* compare_side.h: one of the two runs that are compared. SPDX-License-Identifier: MIT
 *
 * For session_compare only: the values of a selection as the bootstrap wants them. */
#ifndef PERFTRACE_SESSIONS_COMPARE_SIDE_H
#define PERFTRACE_SESSIONS_COMPARE_SIDE_H
#include "session_bootstrap.h"
#include "session_metrics.h"

/* The names of both runs. The lists of a side are: total, queue, the phases, idle, the counters;
 * its shares are the statuses. */
typedef struct pt_compared {
    pt_name_table_t phases, counters, statuses;
} pt_compared_t;

enum { PT_LIST_TOTAL, PT_LIST_QUEUE, PT_LIST_PHASES };

typedef struct pt_compare_side {
    const pt_selection_t *selection;
    pt_boot_t boot;
    uint32_t *counts; /* of the shares, and of all sessions, by cluster */
    size_t values;    /* in all lists */
    double seconds;   /* first submit to last end, of all runs together */
    uint64_t finished;
} pt_compare_side_t;

/* Adds the names of a model. False without memory. All zero is an empty one. */
bool pt_compared_add(pt_compared_t *compared, const pt_session_model_t *model);
void pt_compared_free(pt_compared_t *compared);
size_t pt_compared_lists(const pt_compared_t *compared);

/* Gathers and sorts the values of a selection. False without memory. Free in every case. */
bool pt_compare_side_make(pt_compare_side_t *side, const pt_selection_t *selection,
                          const pt_compared_t *compared, unsigned threads);
void pt_compare_side_free(pt_compare_side_t *side);

#endif
