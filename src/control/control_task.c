/* control_task.c: what takes its time runs beside the loop. SPDX-License-Identifier: MIT */
#include "control_task.h"

#include <perftrace/status.h>
#include <stdlib.h>

static void done(void *ctx, bool alive) {
    perftrace__control_task_t *task = ctx;
    if (!alive) {
        /* The server is gone, and the connection with it. */
        task->answer.status = 503;
    }
    perftrace__control_send(task->exchange, &task->answer);
    free(task);
}

void perftrace__control_task_start(perftrace__net_loop_t *loop,
                                   perftrace__http_exchange_t *exchange, void (*work)(void *task),
                                   void *input, void (*free_input)(void *input)) {
    perftrace__control_answer_t failed = PERFTRACE__CONTROL_ANSWER_INIT;
    perftrace__control_task_t *task = malloc(sizeof *task);
    if (task != NULL) {
        *task = (perftrace__control_task_t){exchange, PERFTRACE__CONTROL_ANSWER_INIT, input};
        if (perftrace__net_job_start(loop, work, done, task) == PERFTRACE_OK) {
            return;
        }
        free(task);
    }
    if (free_input != NULL) {
        free_input(input);
    }
    perftrace__control_refuse(&failed, 503, NULL, "no memory or no thread");
    perftrace__control_send(exchange, &failed);
}
