/* session_load.c: four kinds of threads. Those of the first register sessions and begin to
 * generate; the second end that and begin the tools; the third end the tools, of which several run
 * in parallel; the last compute the reward and end the session. SPDX-License-Identifier: MIT */
#include "session_load.h"

#include <perftrace/perftrace.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define KINDS      4
#define QUEUE_SIZE 1024
#define TOOLS_MAX  3

typedef struct item {
    int64_t session;
    perftrace_context_t context;
    perftrace_phase_t phase[TOOLS_MAX];
} item_t;

typedef struct queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    item_t item[QUEUE_SIZE];
    unsigned first;
    unsigned count;
    unsigned writers; /* threads that still put items in */
} queue_t;

typedef struct load {
    load_book_t *book;
    atomic_llong left; /* sessions that nobody has registered yet */
    queue_t queue[KINDS - 1];
} load_t;

typedef struct worker {
    load_t *load;
    unsigned kind;
    pthread_t thread;
} worker_t;

static void put(queue_t *q, const item_t *item) {
    pthread_mutex_lock(&q->lock);
    while (q->count == QUEUE_SIZE) {
        pthread_cond_wait(&q->changed, &q->lock);
    }
    q->item[(q->first + q->count++) % QUEUE_SIZE] = *item;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

/* False when there will be no more. */
static bool get(queue_t *q, item_t *ret_item) {
    pthread_mutex_lock(&q->lock);
    while (q->count == 0 && q->writers) {
        pthread_cond_wait(&q->changed, &q->lock);
    }
    bool got = q->count > 0;
    if (got) {
        *ret_item = q->item[q->first];
        q->first = (q->first + 1) % QUEUE_SIZE;
        q->count--;
        pthread_cond_broadcast(&q->changed);
    }
    pthread_mutex_unlock(&q->lock);
    return got;
}

static void leave(queue_t *q) {
    pthread_mutex_lock(&q->lock);
    q->writers--;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

static void note(load_t *l, int64_t session, unsigned what) {
    atomic_fetch_or(&l->book->state[session], (unsigned char)what);
}

static void submit(load_t *l, item_t *it, int64_t left) {
    it->session = perftrace_session_register(left / 4);
    if (it->session < 0) {
        abort();
    }
    note(l, it->session, LOAD_REGISTERED);
    it->context = (perftrace_context_t){.task = left / 4, .session = it->session};
    PERFTRACE_SESSION_PHASE_BEGIN(&it->phase[0], it->session, "generate",
                                  PERFTRACE_INT("prompt", left % 100));
}

static void generated(load_t *l, item_t *it) {
    PERFTRACE_SESSION_PHASE_END(&it->phase[0]);
    note(l, it->session, LOAD_GENERATED);
    perftrace_session_counter(it->session, "tokens", 3);
    for (unsigned i = 0; i < load_tools(it->session); i++) {
        PERFTRACE_SESSION_PHASE_BEGIN(&it->phase[i], it->session, "toolcall");
    }
}

static void used_tools(load_t *l, item_t *it) {
    for (unsigned i = 0; i < load_tools(it->session);
         i++) { /* the first to begin is the first to end */
        PERFTRACE_SESSION_PHASE_END(&it->phase[i], PERFTRACE_BOOL("ok", true));
    }
    note(l, it->session, LOAD_TOOLS);
}

static void finish(load_t *l, const item_t *it) {
    perftrace_context_set(it->context);
    { PERFTRACE_SESSION_PHASE("reward"); }
    note(l, it->session, LOAD_REWARDED);
    perftrace_session_finalize(it->session, load_status(it->session), "why");
    note(l, it->session, LOAD_FINAL);
}

static void *work(void *arg) {
    const worker_t *w = arg;
    load_t *l = w->load;
    queue_t *in = w->kind ? &l->queue[w->kind - 1] : NULL;
    queue_t *out = w->kind < KINDS - 1 ? &l->queue[w->kind] : NULL;
    item_t it = {0};
    for (;;) {
        long long left = in ? 0 : atomic_fetch_sub(&l->left, 1);
        if (in ? !get(in, &it) : left <= 0) {
            break;
        }
        switch (w->kind) {
        case 0:
            submit(l, &it, left);
            break;
        case 1:
            generated(l, &it);
            break;
        case 2:
            used_tools(l, &it);
            break;
        default:
            finish(l, &it);
            break;
        }
        if (out) {
            put(out, &it);
        }
    }
    if (out) {
        leave(out);
    }
    return NULL;
}

void load_run(load_book_t *book, unsigned threads) {
    load_t *l = calloc(1, sizeof(*l));
    worker_t *w = calloc(threads, sizeof(*w));
    if (!l || !w) {
        abort();
    }
    l->book = book;
    atomic_store(&l->left, book->sessions);
    for (unsigned i = 0; i < KINDS - 1; i++) {
        pthread_mutex_init(&l->queue[i].lock, NULL);
        pthread_cond_init(&l->queue[i].changed, NULL);
        l->queue[i].writers = threads / KINDS;
    }
    for (unsigned i = 0; i < threads; i++) {
        w[i] = (worker_t){.load = l, .kind = i % KINDS};
        if (pthread_create(&w[i].thread, NULL, work, &w[i]) != 0) {
            abort();
        }
    }
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(w[i].thread, NULL);
    }
    free(w);
    free(l);
}
