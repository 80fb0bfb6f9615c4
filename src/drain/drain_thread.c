/* drain_thread.c: when to sweep. SPDX-License-Identifier: MIT */
#include "atomics.h"
#include "drain.h"
#include "os.h"

#include <perftrace/status.h>

#include <signal.h>

/* One sweep and its bookkeeping; lock held on entry and exit. The lock is released to nobody during
 * the sweep: fork and shutdown wait for it or give up by time. */
static int sweep_locked(perftrace__drain_t *d, bool sync) {
    d->sweeping = true;
    int status = perftrace__drain_sweep(d, sync);
    d->sweeping = false;
    if (status && !d->last_status && d->failed) {
        d->failed(d->user, status);
    } else if (!status && d->last_status && d->recovered) {
        d->recovered(d->user);
    }
    d->last_status = status;
    return status;
}

static void *drain_main(void *arg) {
    perftrace__drain_t *d = arg;
    perftrace__ring_header_t *h = d->ring->header;
    pthread_setname_np(pthread_self(), "perftrace-drain");
    while (!pt_load_acquire(&d->stop)) {
        uint32_t seen = pt_load_acquire(&h->drain_wake);
        if (pt_load_acquire(&d->finish_asked)) {
            pthread_mutex_lock(&d->lock);
            d->finish(d->user);
            pthread_mutex_unlock(&d->lock);
            break;
        }
        pthread_mutex_lock(&d->lock);
        uint64_t asked = pt_load_acquire(&d->asked);
        /* Pairs with the release in request: the asker's events are seen by this sweep. */
        bool sync = pt_exchange_acq_rel(&d->sync_wanted, false);
        if (sweep_locked(d, sync) && sync) {
            pt_store_release(&d->sync_wanted, true); /* still owed to whoever asked meanwhile */
        }
        d->finished = asked;
        pthread_cond_broadcast(&d->done);
        bool more = pt_load_acquire(&d->asked) != asked;
        pthread_mutex_unlock(&d->lock);
        /* A producer that is far ahead needs the next sweep now, not after a nap. */
        uint64_t busy = h->ring_words / 8;
        if (more || (!d->last_status && perftrace__drain_backlog(d->ring) > busy)) {
            continue;
        }
        pt_store_relaxed(&h->drain_asleep, 1);
        if (!pt_load_acquire(&d->stop)) {
            perftrace__os_futex_wait(&h->drain_wake, seen, d->flush_ns);
        }
        pt_store_relaxed(&h->drain_asleep, 0);
    }
    pthread_mutex_lock(&d->lock);
    if (d->finish_at_stop) {
        d->last_status = perftrace__drain_finish(d, d->late);
    }
    /* Whoever still waits for a sweep waits for nothing. */
    d->finished = UINT64_MAX;
    pthread_cond_broadcast(&d->done);
    pthread_mutex_unlock(&d->lock);
    /* Pairs with the acquire in thread_finish, and of whoever cleans up after a thread that was
     * given up. */
    pt_store_release(&d->ended, 1);
    perftrace__os_futex_wake_all(&d->ended); /* looks at no memory: d may be gone */
    return NULL;
}

void perftrace__drain_wake(perftrace__drain_t *d) {
    pt_add_acq_rel(&d->ring->header->drain_wake, 1);
    perftrace__os_futex_wake_all(&d->ring->header->drain_wake);
}

int perftrace__drain_thread_start(perftrace__drain_t *d, uint64_t flush_ns) {
    d->flush_ns = flush_ns;
    /* The program's signals are not for this thread. */
    sigset_t all;
    sigset_t old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int rc = pthread_create(&d->thread, NULL, drain_main, d);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (rc) {
        return PERFTRACE_ERR_NOMEM;
    }
    pt_store_relaxed(&d->running, true);
    return PERFTRACE_OK;
}

int perftrace__drain_request(perftrace__drain_t *d, bool sync) {
    if (sync) {
        pt_store_release(&d->sync_wanted, true);
    }
    uint64_t mine = pt_add_acq_rel(&d->asked, 1) + 1;
    if (!pt_load_relaxed(&d->running)) {
        pthread_mutex_lock(&d->lock);
        /* Nothing goes behind the footer. */
        int status = d->closed ? d->last_status : sweep_locked(d, sync);
        pthread_mutex_unlock(&d->lock);
        return status;
    }
    perftrace__drain_wake(d);
    pthread_mutex_lock(&d->lock);
    while (d->finished < mine) {
        pthread_cond_wait(&d->done, &d->lock);
    }
    int status = d->last_status;
    pthread_mutex_unlock(&d->lock);
    return status;
}

bool perftrace__drain_thread_finish(perftrace__drain_t *d, uint64_t late, uint64_t timeout_ns,
                                    int *ret_status) {
    if (!d->running) {
        pthread_mutex_lock(&d->lock);
        *ret_status = perftrace__drain_finish(d, late);
        pthread_mutex_unlock(&d->lock);
        return true;
    }
    d->late = late;
    d->finish_at_stop = true;
    /* Publishes both; pairs with the acquire in drain_main. */
    pt_store_release(&d->stop, 1);
    perftrace__drain_wake(d);
    /* Not by the lock and its condition: even a wait with a limit ends by taking the lock, and the
     * thread holds it while it hangs in the disk. */
    uint64_t begin = perftrace__os_mono_ns();
    uint64_t spent = 0;
    while (!pt_load_acquire(&d->ended) && spent < timeout_ns) {
        perftrace__os_futex_wait(&d->ended, 0, timeout_ns - spent);
        spent = perftrace__os_mono_ns() - begin;
    }
    if (!pt_load_acquire(&d->ended)) {
        pthread_detach(d->thread);
        return false;
    }
    *ret_status = d->last_status;
    pthread_join(d->thread, NULL);
    pt_store_relaxed(&d->running, false); /* savers that come last look at it */
    return true;
}
