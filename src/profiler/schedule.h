/* schedule.h: a schedule made ready to be asked for every step. SPDX-License-Identifier: MIT
 *
 * Pure but for the memory of the list. */
#ifndef PERFTRACE_PROFILER_SCHEDULE_H
#define PERFTRACE_PROFILER_SCHEDULE_H

#include "number_list.h"

#include <perftrace/profiler.h>

typedef enum perftrace__schedule_form {
    PERFTRACE__SCHEDULE_ALWAYS,
    PERFTRACE__SCHEDULE_CYCLES,
    PERFTRACE__SCHEDULE_STEPS,
    PERFTRACE__SCHEDULE_ITERATIONS
} perftrace__schedule_form_t;

typedef struct perftrace__schedule {
    perftrace__schedule_form_t form;
    perftrace_schedule_t given;    /* whole, whatever struct_size the program had; steps is NULL */
    perftrace__number_list_t list; /* of the form STEPS: merged */
} perftrace__schedule_t;

/* 0, ERR_NOMEM, or ERR_INVALID with the reason. *ret is written in any case and to be freed. */
int perftrace__schedule_read(const perftrace_schedule_t *schedule, perftrace__schedule_t *ret,
                             const char **ret_reason);
void perftrace__schedule_free(perftrace__schedule_t *s); /* accepts NULL */

/* See perftrace_schedule_action; step is not negative. */
perftrace_profiler_action_t perftrace__schedule_action(const perftrace__schedule_t *s, int64_t step,
                                                       perftrace_schedule_window_t *ret_window);
/* See perftrace_schedule_windows. */
int64_t perftrace__schedule_windows(const perftrace__schedule_t *s, int64_t *ret_first);

#endif
