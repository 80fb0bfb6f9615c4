/* 04_flows_and_async.c: arrows between threads, and spans that belong to no thread.
 * SPDX-License-Identifier: MIT */
#include <perftrace/perftrace.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#define REQUESTS 8

static atomic_int queued; /* requests handed over so far */

static void pause_us(long us) {
    const struct timespec span = {0, us * 1000};
    nanosleep(&span, NULL);
}

static void *worker(void *argument) {
    (void)argument;
    perftrace_thread_set_name("worker");
    for (int request = 1; request <= REQUESTS; request++) {
        while (atomic_load(&queued) < request) {
            pause_us(50);
        }
        /* An arrow ends in the scope that is open here. Name, category and id join its ends. */
        PERFTRACE_SCOPE("generate", "compute", PERFTRACE_INT("request", request));
        PERFTRACE_FLOW_END("request", "scheduler", request);
        PERFTRACE_ASYNC_INSTANT("first token", "session", request);
        pause_us(300);
        /* The request began on the other thread: an async span may do that, a scope may not. */
        PERFTRACE_ASYNC_END("rollout", "session", request, PERFTRACE_INT("tokens", 64 * request));
    }
    return NULL;
}

int main(void) {
    perftrace_init(NULL);
    perftrace_thread_set_name("scheduler");
    pthread_t thread;
    if (pthread_create(&thread, NULL, worker, NULL) != 0) {
        perror("thread");
        return 1;
    }
    for (int request = 1; request <= REQUESTS; request++) {
        PERFTRACE_SCOPE("schedule", "scheduler", PERFTRACE_INT("request", request));
        PERFTRACE_ASYNC_BEGIN("rollout", "session", request, PERFTRACE_STRING("kind", "math"));
        pause_us(100);
        PERFTRACE_FLOW_START("request", "scheduler", request);
        atomic_store(&queued, request);
    }
    pthread_join(thread, NULL);
    perftrace_shutdown();
    return 0;
}
