/* control_hold.c: where the program waits for somebody outside. SPDX-License-Identifier: MIT */
#include "control_hold.h"

#include "json_writer.h"
#include "os.h"

#include <errno.h>
#include <perftrace/control.h>
#include <perftrace/status.h>
#include <pthread.h>
#include <time.h>

/* A thread that waits; lies on its stack. */
typedef struct waiter {
    const char *where;
    uint64_t since_ns;
    uint64_t round;
    struct waiter *next;
} waiter_t;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    waiter_t *waiters;
    uint64_t round; /* of holds: who waits for one goes on when it is over, however soon another */
    bool on;
    bool listening;
} hold = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

unsigned perftrace__hold_set(bool on) {
    pthread_mutex_lock(&hold.lock);
    unsigned freed = 0;
    if (hold.on && !on) {
        for (const waiter_t *w = hold.waiters; w != NULL; w = w->next) {
            freed += w->round == hold.round;
        }
        hold.round++;
        pthread_cond_broadcast(&hold.changed);
    }
    hold.on = on;
    pthread_mutex_unlock(&hold.lock);
    return freed;
}

void perftrace__hold_serve(bool listening) {
    pthread_mutex_lock(&hold.lock);
    hold.listening = listening;
    if (!listening) {
        hold.on = false;
        hold.round++;
        pthread_cond_broadcast(&hold.changed);
    }
    pthread_mutex_unlock(&hold.lock);
}

void perftrace__hold_put(perftrace__strbuf_t *out) {
    pthread_mutex_lock(&hold.lock);
    uint64_t now = perftrace__os_mono_ns();
    perftrace__strbuf_printf(out, "{\"on\": %s, \"waiting\": [", hold.on ? "true" : "false");
    const char *between = "";
    for (const waiter_t *w = hold.waiters; w != NULL; w = w->next) {
        if (w->round == hold.round) { /* the others were let go and have not woken yet */
            perftrace__strbuf_printf(out, "%s{\"where\": ", between);
            perftrace__strbuf_json_cstr(out, w->where);
            perftrace__strbuf_printf(out, ", \"seconds\": %.3f}",
                                     (double)(now - w->since_ns) / 1e9);
            between = ", ";
        }
    }
    perftrace__strbuf_puts(out, "]}");
    pthread_mutex_unlock(&hold.lock);
}

static void deadline_of(uint32_t timeout_ms, struct timespec *ret) {
    clock_gettime(CLOCK_MONOTONIC, ret);
    ret->tv_sec += (time_t)(timeout_ms / 1000);
    ret->tv_nsec += (long)(timeout_ms % 1000) * 1000000;
    if (ret->tv_nsec >= 1000000000) {
        ret->tv_nsec -= 1000000000;
        ret->tv_sec++;
    }
}

/* The lock is held. */
static int wait_for_end(const char *where, uint32_t timeout_ms) {
    struct timespec deadline;
    uint64_t round = hold.round;
    waiter_t me = {where, perftrace__os_mono_ns(), round, hold.waiters};
    int rc = 0;
    deadline_of(timeout_ms, &deadline);
    hold.waiters = &me;
    while (hold.round == round && rc != ETIMEDOUT) {
        rc = timeout_ms == 0
                 ? pthread_cond_wait(&hold.changed, &hold.lock)
                 : pthread_cond_clockwait(&hold.changed, &hold.lock, CLOCK_MONOTONIC, &deadline);
    }
    waiter_t **at = &hold.waiters;
    while (*at != &me) {
        at = &(*at)->next;
    }
    *at = me.next;
    return hold.round == round ? PERFTRACE_ERR_TIMEOUT : 1;
}

int perftrace_hold(const char *where, uint32_t timeout_ms) {
    pthread_mutex_lock(&hold.lock);
    int result = 0;
    if (hold.on) {
        result = hold.listening ? wait_for_end(where != NULL ? where : "hold", timeout_ms)
                                : PERFTRACE_ERR_DISABLED;
    }
    pthread_mutex_unlock(&hold.lock);
    return result;
}

void perftrace__hold_fork_prepare(void) {
    pthread_mutex_lock(&hold.lock);
}

void perftrace__hold_fork_parent(void) {
    pthread_mutex_unlock(&hold.lock);
}

/* None of the threads that wait is here, and nobody listens. */
void perftrace__hold_fork_child(void) {
    pthread_mutex_init(&hold.lock, NULL);
    pthread_cond_init(&hold.changed, NULL);
    hold.waiters = NULL;
    hold.on = hold.listening = false;
}
