/* core.c: start, stop, fork and the switches. SPDX-License-Identifier: MIT */
#include "core.h"

#include "atomics.h"
#include "core_state.h"
#include "os.h"

#include <perftrace/status.h>

#include <stdlib.h>
#include <string.h>

perftrace__core_t perftrace__core = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void replace(char **place, const char *text) {
    if (!text) {
        return;
    }
    char *copy = *text ? strdup(text) : NULL;
    free(*place);
    *place = copy;
}

/* Writes the ambient step into the ring, current from ticks on. Lock held. */
static void mark_step(perftrace__core_t *c, uint64_t ticks) {
    perftrace__ring_header_t *h = c->ring.header;
    perftrace__step_mark_t *m = &h->steps[h->step_count % PERFTRACE__RING_STEPS];
    pt_store_relaxed(&m->ticks, ticks);
    pt_store_relaxed(&m->step, c->step);
    /* Publishes the mark; pairs with the acquire in perftrace__ring_step_at. */
    pt_store_release(&h->step_count, h->step_count + 1);
}

int perftrace__core_start(const perftrace__core_options_t *options, bool enabled) {
    perftrace__core_t *c = &perftrace__core;
    pthread_mutex_lock(&c->lock);
    int status = PERFTRACE_ERR_STATE;
    if (c->active) {
        goto done;
    }
    perftrace__run_meta_t meta = options->meta;
    perftrace__ring_t ring;
    perftrace__threads_prepare();
    perftrace__clock_start(options->slow_clock);
    meta.clock_kind = PERFTRACE__CLOCK_MONO;
    if (c->fast_clock) {
#if defined(__x86_64__)
        meta.clock_kind = PERFTRACE__CLOCK_TSC;
#else
        meta.clock_kind = PERFTRACE__CLOCK_CNTVCT;
#endif
    }
    status = perftrace__ring_create(&ring, options->ring_dirs, options->ring_ndirs,
                                    options->ring_words, options->max_threads, &meta);
    if (status) {
        goto done;
    }
    perftrace__clock_first_anchor(ring.header);
    if (!perftrace__sites_log_all(&ring)) {
        status = PERFTRACE_ERR_NOMEM;
        perftrace__ring_unlink(&ring);
        perftrace__ring_unmap(&ring);
        goto done;
    }
    perftrace__ring_shed(&c->ring);
    c->ring = ring;
    pt_store_relaxed(&c->born, ring.header->anchors[0].ticks);
    /* Pairs with the acquire in make_room and thread_count_lost. */
    pt_store_release(&c->header, ring.header);
    pt_store_relaxed(&c->block, options->block && options->block_ns);
    pt_store_relaxed(&c->block_ns, options->block_ns);
    pt_store_relaxed(&c->string_max, options->string_max);
    c->first_event_after_fork = options->first_event_after_fork;
    c->warn = options->warn;
    if (options->resume) {
        if (c->has_step) {
            mark_step(c, c->ring.header->anchors[0].ticks);
        }
    } else {
        replace(&c->categories, options->categories ? options->categories : "");
        replace(&c->names, options->names ? options->names : "");
        c->enabled = enabled;
        c->sessions = options->sessions;
        c->has_step = false;
    }
    pt_store_relaxed(&c->next_session, 0);
    pt_store_relaxed(&c->stopped, false);
    pt_store_relaxed(&c->generation, c->generation + 1);
    c->run += c->run < PERFTRACE_I_RUN_MAX;
    pt_store_release(&c->active, true);
    perftrace__sites_refresh();
done:
    pthread_mutex_unlock(&c->lock);
    return status;
}

static void stop_locked(perftrace__core_t *c) {
    pt_store_relaxed(&c->after_fork, false);
    if (!c->active) {
        return;
    }
    pt_store_release(&c->active, false);
    pt_store_relaxed(&c->stopped, true);
    pt_store_relaxed(&c->generation, c->generation + 1);
    /* No site keeps its word, so every later begin and end meets the slow path and is counted as
     * late. */
    perftrace__sites_refresh();
}

void perftrace__core_stop(void) {
    perftrace__core_t *c = &perftrace__core;
    pthread_mutex_lock(&c->lock);
    stop_locked(c);
    pthread_mutex_unlock(&c->lock);
}

bool perftrace__core_try_stop(void) {
    perftrace__core_t *c = &perftrace__core;
    if (pthread_mutex_trylock(&c->lock) != 0) {
        return false;
    }
    stop_locked(c);
    pthread_mutex_unlock(&c->lock);
    return true;
}

void perftrace__core_give_up(void) {
    perftrace__core_t *c = &perftrace__core;
    pthread_mutex_lock(&c->lock);
    pt_store_relaxed(&c->after_fork, false);
    c->enabled = false;
    perftrace__sites_refresh();
    pthread_mutex_unlock(&c->lock);
}

void perftrace__core_retire(void) {
    perftrace__core_t *c = &perftrace__core;
    pthread_mutex_lock(&c->lock);
    if (!c->active && c->ring.slots) {
        perftrace__ring_retire(&c->ring);
    }
    pthread_mutex_unlock(&c->lock);
}

bool perftrace__core_active(void) {
    return pt_load_acquire(&perftrace__core.active);
}

bool perftrace__core_pending(void) {
    return pt_load_relaxed(&perftrace__core.after_fork);
}

void perftrace__core_set_enabled(bool enabled) {
    perftrace__core_t *c = &perftrace__core;
    pthread_mutex_lock(&c->lock);
    if ((c->active || c->after_fork) && c->enabled != enabled) {
        c->enabled = enabled;
        perftrace__sites_refresh();
    }
    pthread_mutex_unlock(&c->lock);
}

bool perftrace__core_get_enabled(void) {
    perftrace__core_t *c = &perftrace__core;
    pthread_mutex_lock(&c->lock);
    bool enabled = (c->active || c->after_fork) && c->enabled;
    pthread_mutex_unlock(&c->lock);
    return enabled;
}

void perftrace__core_set_filter(const char *categories, const char *names) {
    perftrace__core_t *c = &perftrace__core;
    pthread_mutex_lock(&c->lock);
    replace(&c->categories, categories);
    replace(&c->names, names);
    perftrace__sites_refresh();
    pthread_mutex_unlock(&c->lock);
}

perftrace__core_detail_t *perftrace__core_add_detail(const char *categories) {
    perftrace__core_t *c = &perftrace__core;
    perftrace__core_detail_t *d = calloc(1, sizeof(*d));
    if (!d) {
        return NULL;
    }
    if (categories && *categories && !(d->categories = strdup(categories))) {
        free(d);
        return NULL;
    }
    pthread_mutex_lock(&c->lock);
    d->next = c->details;
    c->details = d;
    perftrace__sites_refresh();
    pthread_mutex_unlock(&c->lock);
    return d;
}

void perftrace__core_remove_detail(perftrace__core_detail_t *detail) {
    perftrace__core_t *c = &perftrace__core;
    if (!detail) {
        return;
    }
    pthread_mutex_lock(&c->lock);
    perftrace__core_detail_t **at = &c->details;
    while (*at != detail) {
        at = &(*at)->next;
    }
    *at = detail->next;
    perftrace__sites_refresh();
    pthread_mutex_unlock(&c->lock);
    free(detail->categories);
    free(detail->chosen);
    free(detail);
}

void perftrace__core_open_detail(perftrace__core_detail_t *detail, bool open, const char *chosen) {
    perftrace__core_t *c = &perftrace__core;
    char *copy = *chosen ? strdup(chosen) : NULL;
    pthread_mutex_lock(&c->lock);
    free(detail->chosen);
    detail->chosen = copy;
    detail->open = open;
    perftrace__sites_refresh();
    pthread_mutex_unlock(&c->lock);
}

perftrace__ring_t *perftrace__core_ring(void) {
    return &perftrace__core.ring;
}

void perftrace__core_add_late(uint64_t events) {
    pt_add_relaxed(&perftrace__core.late, events);
}

uint64_t perftrace__core_late(void) {
    return pt_load_relaxed(&perftrace__core.late);
}

void perftrace__core_step(int64_t step) {
    perftrace__core_t *c = &perftrace__core;
    if (!pt_load_acquire(&c->active) && !pt_load_relaxed(&c->after_fork)) {
        return;
    }
    pthread_mutex_lock(&c->lock);
    c->step = step;
    c->has_step = true;
    if (c->active) {
        /* From a tick on in which no scope began before the call: ticks are long on some machines
         * (tens of ns), and a scope's step is found by its tick. */
        uint64_t call = perftrace__clock_ticks();
        uint64_t from;
        do {
            from = perftrace__clock_ticks();
        } while (from == call);
        mark_step(c, from);
    }
    pthread_mutex_unlock(&c->lock);
}

void perftrace__core_fork_prepare(void) {
    pthread_mutex_lock(&perftrace__core.lock);
}

void perftrace__core_fork_parent(void) {
    pthread_mutex_unlock(&perftrace__core.lock);
}

void perftrace__core_fork_child(void) {
    perftrace__core_t *c = &perftrace__core;
    /* The parent's ring belongs to the parent: the child must not store into it, and the only
     * thread of the child is this one, so it can be unmapped. */
    perftrace__threads_forget();
    if (c->ring.header) {
        perftrace__ring_unmap(&c->ring);
        c->header = NULL;
    }
    /* Also when this child itself was to start later. */
    pt_store_relaxed(&c->after_fork, c->active || c->after_fork);
    pt_store_relaxed(&c->generation, c->generation + 1);
    pt_store_relaxed(&c->active, false);
    for (perftrace__core_detail_t *d = c->details; d; d = d->next) {
        d->open = false; /* the parent's windows */
    }
    perftrace__mirror_forget();
    pthread_mutex_init(&c->lock, NULL);
}
