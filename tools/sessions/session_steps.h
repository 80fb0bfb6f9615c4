/* session_steps.h: training steps, as the consumer's batches make them. SPDX-License-Identifier:
 * MIT
 *
 * AReaL's rule (its plot_session_trace, option -B): a step is over when every rank has completed
 * its part of a batch of tasks. Of the accepted sessions with a rank, a task and an end: each
 * rank's quota is the batch size divided by the number of ranks, rounded down; a rank's task is
 * complete with the last of its sessions; every quota-th completion of a rank ends a step for it.
 * There are as many steps as the rank with the fewest has, and a step ends with the last rank that
 * ends it. A session, whatever its status, belongs to the first step that ends at or after its own
 * end.
 *
 * The rule is applied to each run and role on its own: these are what a folder of AReaL holds.
 * Steps count from 0. */
#ifndef PERFTRACE_SESSIONS_SESSION_STEPS_H
#define PERFTRACE_SESSIONS_SESSION_STEPS_H
#include "session_model.h"

#define PT_NO_STEP UINT32_MAX

typedef struct pt_session_step {
    uint16_t run, role;
    uint32_t number;
    double first_end, end; /* when the first and the last rank ended it; on the run's clock */
    int32_t first_rank, last_rank;
} pt_session_step_t;

typedef struct pt_session_steps {
    pt_session_step_t *step; /* by run, role and number */
    size_t count;
    uint32_t *step_of; /* by row: index in step[], or PT_NO_STEP */
    size_t too_small;  /* runs and roles whose ranks are more than the batch size: no steps there */
} pt_session_steps_t;

/* batch_size at least 1. False without memory. Free with pt_session_steps_free in every case. */
bool pt_session_steps_find(const pt_session_model_t *model, uint64_t batch_size,
                           pt_session_steps_t *ret_steps);
void pt_session_steps_free(pt_session_steps_t *steps); /* accepts NULL */

#endif
