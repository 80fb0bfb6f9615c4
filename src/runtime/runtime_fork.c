/* runtime_fork.c: fork. SPDX-License-Identifier: MIT
 *
 * The parent goes on as if nothing had happened. The child drops the parent's ring, file and thread
 * without touching them and starts its own at its first event, so a child that only execs costs
 * nothing. */
#include "core.h"
#include "jsonl_sink.h"
#include "runtime_state.h"
#include "session_sink.h"

#include <stdlib.h>

/* Whether the drain stood still at the fork. A sweep may be waiting for a slow disk: the fork does
 * not wait for it. Under the runtime's lock. */
static bool drain_held;

static void prepare(void) {
    perftrace__runtime_t *rt = &perftrace__runtime;
    pthread_mutex_lock(&rt->lock);
    drain_held = rt->active && pthread_mutex_trylock(&rt->drain->lock) == 0;
    perftrace__core_fork_prepare();
}

static void parent(void) {
    perftrace__runtime_t *rt = &perftrace__runtime;
    perftrace__core_fork_parent();
    if (drain_held) {
        pthread_mutex_unlock(&rt->drain->lock);
    }
    pthread_mutex_unlock(&rt->lock);
}

static void child(void) {
    perftrace__runtime_t *rt = &perftrace__runtime;
    perftrace__core_fork_child();
    /* Text that waits in the sink is the parent's to write. What a sweep was changing at that very
     * instant is in no state to be freed and stays. */
    if (drain_held) {
        perftrace__sink_close(rt->sink);
        perftrace__sink_close(rt->session_sink);
        perftrace__drain_free(rt->drain);
        free(rt->drain);
    } else if (rt->active) {
        perftrace__jsonl_sink_disown(rt->sink);
        if (rt->session_sink) {
            perftrace__session_sink_disown(rt->session_sink);
        }
    }
    rt->sink = NULL;
    rt->session_sink = NULL;
    rt->left_session_sink = NULL;
    rt->session_path[0] = '\0';
    rt->drain = NULL;
    rt->left_drain = NULL;
    rt->left_sink = NULL;
    rt->link[0] = '\0';
    rt->active = false;
    rt->stopping = false;
    rt->users = 0;
    pthread_mutex_init(&rt->lock, NULL);
    pthread_cond_init(&rt->unused, NULL);
}

void perftrace__runtime_install_fork(void) {
    pthread_atfork(prepare, parent, child);
}
