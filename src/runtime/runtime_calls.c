/* runtime_calls.c: the small public calls. SPDX-License-Identifier: MIT */
#include "atomics.h"
#include "core.h"
#include "jsonl_sink.h"
#include "runtime_state.h"
#include "session_sink.h"
#include "status_text.h"

const char *perftrace_version(void) {
    return PERFTRACE_VERSION;
}

const char *perftrace_status_text(int status) {
    return perftrace__status_text(status);
}

int perftrace_is_active(void) {
    return pt_load_acquire(&perftrace__runtime.active) || perftrace__core_pending();
}

int perftrace_set_enabled(int enabled) {
    if (!perftrace_is_active()) {
        return PERFTRACE_ERR_DISABLED;
    }
    perftrace__core_set_enabled(enabled != 0);
    return PERFTRACE_OK;
}

int perftrace_get_enabled(void) {
    return perftrace__core_get_enabled();
}

int perftrace_set_filter(const char *categories, const char *names) {
    if (!perftrace_is_active()) {
        return PERFTRACE_ERR_DISABLED;
    }
    perftrace__core_set_filter(categories, names);
    return PERFTRACE_OK;
}

int perftrace_set_rank(int rank, int world_size) {
    perftrace__runtime_t *rt = &perftrace__runtime;
    if (rank < -1 || world_size < -1 || world_size == 0) {
        return PERFTRACE_ERR_INVALID;
    }
    pthread_mutex_lock(&rt->lock);
    int status = PERFTRACE_ERR_DISABLED;
    if (rt->active) {
        pthread_mutex_lock(&rt->out->drain.lock);
        rt->meta.rank = rank >= 0 ? rank : rt->meta.rank;
        rt->meta.world_size = world_size > 0 ? world_size : rt->meta.world_size;
        perftrace__run_meta_t *m = &perftrace__core_ring()->header->meta;
        m->rank = rt->meta.rank;
        m->world_size = rt->meta.world_size;
        perftrace__jsonl_sink_header(rt->out->sink, &rt->meta);
        if (rt->out->session_sink) {
            perftrace__session_sink_rank(rt->out->session_sink, rt->meta.rank);
        }
        pthread_mutex_unlock(&rt->out->drain.lock);
        status = PERFTRACE_OK;
    } else if (perftrace__core_pending()) {
        /* The child of a fork before its first event: its file will have the new rank's name. */
        rt->config.opt.rank = rank >= 0 ? rank : rt->config.opt.rank;
        rt->config.opt.world_size = world_size > 0 ? world_size : rt->config.opt.world_size;
        status = PERFTRACE_OK;
    }
    pthread_mutex_unlock(&rt->lock);
    return status;
}

int perftrace_save(int64_t step, int force) {
    perftrace__runtime_t *rt = &perftrace__runtime;
    pthread_mutex_lock(&rt->lock);
    int status = PERFTRACE_ERR_DISABLED;
    if (rt->active) {
        uint32_t every = rt->config.opt.save_interval;
        bool due = force || step < 0 || ((uint64_t)step + 1) % every == 0;
        status = PERFTRACE_OK;
        if (due) {
            /* The disk is waited for without the lock: others call, fork and shut down meanwhile.
             */
            perftrace__drain_t *d = &rt->out->drain;
            rt->users++;
            pthread_mutex_unlock(&rt->lock);
            status = perftrace__drain_request(d, force != 0);
            pthread_mutex_lock(&rt->lock);
            if (--rt->users == 0) {
                pthread_cond_broadcast(&rt->unused);
            }
        }
    }
    pthread_mutex_unlock(&rt->lock);
    return status;
}

void perftrace_step(int64_t step) {
    perftrace__core_step(step);
    perftrace__runtime_profiler_step(step);
}

void perftrace_sync(int64_t id) {
    PERFTRACE_SYNC(id);
}

int perftrace_thread_set_name(const char *name) {
    if (!name) {
        return PERFTRACE_ERR_INVALID;
    }
    perftrace__core_thread_name(name);
    return PERFTRACE_OK;
}
