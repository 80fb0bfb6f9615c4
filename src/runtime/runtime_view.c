/* runtime_view.c: the tracer seen by what serves it to others. SPDX-License-Identifier: MIT */
#include "runtime_view.h"

#include "atomics.h"
#include "core.h"
#include "ring_clock.h"
#include "runtime_state.h"
#include "slot_name.h"
#include "slot_stack.h"

#include <stdio.h>
#include <stdlib.h>

#define TRIES 20

static uint64_t now_ns(const perftrace__ring_header_t *h) {
    return perftrace__ring_ticks_to_ns(h, perftrace__clock_ticks());
}

void perftrace__runtime_look(perftrace__runtime_view_t *v) {
    perftrace__runtime_t *rt = &perftrace__runtime;
    memset(v, 0, sizeof *v);
    pthread_mutex_lock(&rt->lock);
    v->active = rt->active;
    v->configured = rt->have_config;
    if (rt->have_config) {
        if (!rt->active) {
            perftrace__runtime_fill_meta();
        }
        v->meta = rt->meta;
        snprintf(v->dir, sizeof v->dir, "%s", rt->config.trace_dir ? rt->config.trace_dir : "");
    }
    if (rt->active) {
        const perftrace__ring_header_t *h = perftrace__core_ring()->header;
        v->now_ns = now_ns(h);
        v->has_step = perftrace__ring_step_at(h, UINT64_MAX, &v->step) != 0;
    }
    pthread_mutex_unlock(&rt->lock);
}

typedef struct walk {
    const perftrace__ring_header_t *header;
    perftrace__site_table_t sites;
    perftrace__runtime_scope_t scopes[PERFTRACE_I_MAX_DEPTH];
} walk_t;

static void describe(walk_t *w, const perftrace__slot_t *s, perftrace__runtime_thread_t *ret) {
    perftrace__slot_stack_t stack;
    uint32_t seq;
    ret->tid = s->tid;
    ret->depth = 0;
    ret->scopes = w->scopes;
    perftrace__slot_name(s, ret->name, &seq);
    perftrace__slot_stack(s, TRIES, &stack);
    ret->moving = !stack.whole;
    for (uint32_t k = 0; stack.whole && k < stack.depth; k++) {
        perftrace__event_t ev;
        if (perftrace__record_from_open(&stack.open[k], &w->sites, &ev)) {
            w->scopes[ret->depth++] = (perftrace__runtime_scope_t){
                ev.name, ev.name_len, ev.site->category, ev.site->category_len,
                perftrace__ring_ticks_to_ns(w->header, ev.start)};
        }
    }
}

static void walk_slots(walk_t *w, const perftrace__ring_t *ring,
                       void (*fn)(void *, const perftrace__runtime_thread_t *), void *ctx) {
    /* Pairs with the release in perftrace__ring_slot_take. */
    uint32_t n = pt_load_acquire(&ring->header->slot_count);
    for (uint32_t i = 0; i < n; i++) {
        const perftrace__slot_t *s = ring->slots[i];
        if (pt_load_acquire(&s->state) == PERFTRACE__SLOT_LIVE) {
            perftrace__runtime_thread_t thread;
            describe(w, s, &thread);
            fn(ctx, &thread);
        }
    }
}

int perftrace__runtime_threads(void (*fn)(void *ctx, const perftrace__runtime_thread_t *thread),
                               void *ctx, uint64_t *ret_now_ns) {
    perftrace__runtime_t *rt = &perftrace__runtime;
    int status = PERFTRACE_ERR_DISABLED;
    walk_t *w = calloc(1, sizeof *w);
    if (w == NULL) {
        return PERFTRACE_ERR_NOMEM;
    }
    /* Under the lock the ring stays what it is. */
    pthread_mutex_lock(&rt->lock);
    if (rt->active) {
        const perftrace__ring_t *ring = perftrace__core_ring();
        w->header = ring->header;
        /* Heads are read after this. Pairs with the release in perftrace__ring_log_append. A scope
         * of a site that came later is left out. */
        perftrace__site_table_parse(&w->sites, ring->log, pt_load_acquire(&ring->header->log_len));
        *ret_now_ns = now_ns(ring->header);
        walk_slots(w, ring, fn, ctx);
        perftrace__site_table_free(&w->sites);
        status = PERFTRACE_OK;
    }
    pthread_mutex_unlock(&rt->lock);
    free(w);
    return status;
}
