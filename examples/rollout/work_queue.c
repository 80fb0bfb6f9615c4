/* work_queue.c: hands pieces of work from thread to thread. SPDX-License-Identifier: MIT */
#include "work_queue.h"

#include <stdlib.h>

int work_queue_open(work_queue_t *q, size_t cap) {
    *q = (work_queue_t){.cap = cap};
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->changed, NULL);
    q->item = calloc(cap, sizeof(void *));
    return q->item != NULL ? 0 : -1;
}

void work_queue_put(work_queue_t *q, void *item) {
    pthread_mutex_lock(&q->lock);
    while (q->count == q->cap) {
        pthread_cond_wait(&q->changed, &q->lock);
    }
    q->item[(q->first + q->count++) % q->cap] = item;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

void *work_queue_take(work_queue_t *q) {
    void *item = NULL;
    pthread_mutex_lock(&q->lock);
    while (q->count == 0 && !q->closed) {
        pthread_cond_wait(&q->changed, &q->lock);
    }
    if (q->count > 0) {
        item = q->item[q->first];
        q->first = (q->first + 1) % q->cap;
        q->count--;
        pthread_cond_broadcast(&q->changed);
    }
    pthread_mutex_unlock(&q->lock);
    return item;
}

void work_queue_close(work_queue_t *q) {
    pthread_mutex_lock(&q->lock);
    q->closed = 1;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

void work_queue_free(work_queue_t *q) {
    free(q->item);
    pthread_cond_destroy(&q->changed);
    pthread_mutex_destroy(&q->lock);
}
