/* runtime_fork.c: fork. SPDX-License-Identifier: MIT
 *
 * The parent goes on as if nothing had happened. The child drops the parent's ring, file and thread
 * without touching them and starts its own at its first event, so a child that only execs costs
 * nothing. */
#include "core.h"
#include "runtime_service.h"
#include "runtime_state.h"

/* Whether the drain stood still at the fork. A sweep may be waiting for a slow disk: the fork does
 * not wait for it. Under the runtime's lock. */
static bool drain_held;

static void prepare(void) {
    perftrace__runtime_t *rt = &perftrace__runtime;
    pthread_mutex_lock(&rt->lock);
    drain_held = rt->out && pthread_mutex_trylock(&rt->out->drain.lock) == 0;
    perftrace__runtime_service.fork[0]();
    perftrace__core_fork_prepare();
}

static void parent(void) {
    perftrace__runtime_t *rt = &perftrace__runtime;
    perftrace__core_fork_parent();
    perftrace__runtime_service.fork[1]();
    if (drain_held) {
        pthread_mutex_unlock(&rt->out->drain.lock);
    }
    pthread_mutex_unlock(&rt->lock);
}

static void child(void) {
    perftrace__runtime_t *rt = &perftrace__runtime;
    perftrace__core_fork_child();
    perftrace__runtime_service.fork[2]();
    /* Text that waits in the sinks is the parent's to write. The memory is freed when the child
     * starts, not here: of allocators other than the C library's another thread of the parent may
     * have held a lock, which nobody gives back in the child. */
    perftrace__runtime_orphan(drain_held);
    rt->session_path[0] = '\0';
    rt->link[0] = '\0';
    rt->active = false;
    rt->stopping = false;
    rt->users = 0;
    perftrace__runtime_signal_after_fork();
    pthread_mutex_init(&rt->lock, NULL);
    pthread_cond_init(&rt->unused, NULL);
}

void perftrace__runtime_install_fork(void) {
    pthread_atfork(prepare, parent, child);
}
