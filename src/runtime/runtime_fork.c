/* runtime_fork.c: fork. SPDX-License-Identifier: MIT
 *
 * The parent goes on as if nothing had happened. The child drops the parent's ring, file and thread
 * without touching them and starts its own at its first event, so a child that only execs costs
 * nothing. */
#include "core.h"
#include "runtime_state.h"

#include <stdlib.h>

static void prepare(void) {
    perftrace__runtime_t *rt = &perftrace__runtime;
    pthread_mutex_lock(&rt->lock);
    if (rt->active) {
        pthread_mutex_lock(&rt->drain->lock);
    }
    perftrace__core_fork_prepare();
}

static void parent(void) {
    perftrace__runtime_t *rt = &perftrace__runtime;
    perftrace__core_fork_parent();
    if (rt->active) {
        pthread_mutex_unlock(&rt->drain->lock);
    }
    pthread_mutex_unlock(&rt->lock);
}

static void child(void) {
    perftrace__runtime_t *rt = &perftrace__runtime;
    perftrace__core_fork_child();
    if (rt->active) {
        /* Text that waits in the sink is the parent's to write. */
        perftrace__sink_close(rt->sink);
        perftrace__drain_free(rt->drain);
        free(rt->drain);
        rt->sink = NULL;
        rt->drain = NULL;
        rt->link[0] = '\0';
        rt->active = false;
    }
    pthread_mutex_init(&rt->lock, NULL);
}

void perftrace__runtime_install_fork(void) {
    pthread_atfork(prepare, parent, child);
}
