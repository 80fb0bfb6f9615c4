/* control_task.h: what takes its time runs beside the loop. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_CONTROL_CONTROL_TASK_H
#define PERFTRACE_CONTROL_CONTROL_TASK_H

#include "control_answer.h"

typedef struct perftrace__control_task {
    perftrace__http_exchange_t *exchange;
    perftrace__control_answer_t answer; /* the work makes it; then it is sent */
    void *input;                        /* of the work, which frees it; NULL */
} perftrace__control_task_t;

/* Runs work(task) on a thread of its own and then sends the answer. input: of the work; it is freed
 * by free_input (may be NULL) when the work cannot be started, which is answered. On the loop's
 * thread. */
void perftrace__control_task_start(perftrace__net_loop_t *loop,
                                   perftrace__http_exchange_t *exchange, void (*work)(void *task),
                                   void *input, void (*free_input)(void *input));

#endif
