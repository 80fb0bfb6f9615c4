/* work_queue.h: hands pieces of work from thread to thread. SPDX-License-Identifier: MIT */
#ifndef EXAMPLES_ROLLOUT_WORK_QUEUE_H
#define EXAMPLES_ROLLOUT_WORK_QUEUE_H

#include <pthread.h>
#include <stddef.h>

typedef struct work_queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void **item; /* a ring */
    size_t cap, first, count;
    int closed;
} work_queue_t;

/* cap: most items at a time. 0, or -1 without memory. */
int work_queue_open(work_queue_t *queue, size_t cap);
void work_queue_put(work_queue_t *queue, void *item);
/* Waits for an item; NULL when the queue is closed and empty. */
void *work_queue_take(work_queue_t *queue);
/* Nothing will be put any more. */
void work_queue_close(work_queue_t *queue);
void work_queue_free(work_queue_t *queue); /* nobody may be in it */

#endif
