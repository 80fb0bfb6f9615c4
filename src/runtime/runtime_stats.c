/* runtime_stats.c: the account while running. SPDX-License-Identifier: MIT */
#include "atomics.h"
#include "core.h"
#include "runtime_state.h"
#include "session_sink.h"

#include <string.h>

static void count_slots(const perftrace__ring_t *ring, perftrace_stats_t *s) {
    uint32_t n = pt_load_acquire(&ring->header->slot_count);
    for (uint32_t i = 0; i < n; i++) {
        const perftrace__slot_t *slot = ring->slots[i];
        s->dropped[PERFTRACE_DROP_ring_full] += pt_load_relaxed(&slot->drops[0]);
        s->dropped[PERFTRACE_DROP_block_timeout] += pt_load_relaxed(&slot->drops[1]);
        s->dropped[PERFTRACE_DROP_too_long] += pt_load_relaxed(&slot->too_long);
        if (pt_load_acquire(&slot->state) == PERFTRACE__SLOT_LIVE) {
            s->threads++;
            uint32_t depth = (uint8_t)pt_load_acquire(&slot->hot.word);
            for (uint32_t k = 0; k < depth && k < PERFTRACE_I_MAX_DEPTH; k++) {
                s->unfinished += pt_load_relaxed(&slot->open[k].site) != 0;
            }
        }
    }
    s->dropped[PERFTRACE_DROP_no_slot] = pt_load_relaxed(&ring->header->no_slot);
    s->pending_bytes = perftrace__drain_backlog(ring) * 8;
}

static void count_sessions(const perftrace__sink_t *sink, perftrace_stats_t *s) {
    perftrace__fold_counts_t counts;
    perftrace__session_sink_counts(sink, &counts);
    s->sessions = counts.sessions;
    s->sessions_live = counts.live;
    s->sessions_written = counts.written;
    s->sessions_evicted = counts.evicted;
    s->session_late = counts.late;
}

int perftrace_get_stats(perftrace_stats_t *ret_stats) {
    perftrace__runtime_t *rt = &perftrace__runtime;
    if (!ret_stats || ret_stats->struct_size < sizeof(size_t)) {
        return PERFTRACE_ERR_INVALID;
    }
    perftrace_stats_t s;
    memset(&s, 0, sizeof(s));
    pthread_mutex_lock(&rt->lock);
    if (rt->active) {
        count_slots(perftrace__core_ring(), &s);
        s.written = pt_load_relaxed(&rt->out->drain.committed);
        s.write_errors = pt_load_relaxed(&rt->out->drain.write_errors);
        s.dropped[PERFTRACE_DROP_damaged] =
            pt_load_relaxed(&rt->out->drain.dropped[PERFTRACE_DROP_damaged]);
        s.dropped[PERFTRACE_DROP_file_gone] =
            pt_load_relaxed(&rt->out->drain.dropped[PERFTRACE_DROP_file_gone]);
        if (rt->out->session_sink) {
            count_sessions(rt->out->session_sink, &s);
        }
    }
    pthread_mutex_unlock(&rt->lock);
    s.dropped[PERFTRACE_DROP_late] = perftrace__core_late();
    s.emitted = s.written;
    for (unsigned i = 0; i < PERFTRACE_DROP_COUNT; i++) {
        s.emitted += s.dropped[i];
    }
    s.struct_size = ret_stats->struct_size;
    size_t n = s.struct_size < sizeof(s) ? s.struct_size : sizeof(s);
    memcpy(ret_stats, &s, n);
    return PERFTRACE_OK;
}

int perftrace_trace_path(char *ret_path, size_t size) {
    perftrace__runtime_t *rt = &perftrace__runtime;
    int status = PERFTRACE_ERR_DISABLED;
    if (!ret_path) {
        return PERFTRACE_ERR_INVALID;
    }
    pthread_mutex_lock(&rt->lock);
    if (rt->active) {
        size_t len = strlen(rt->meta.trace_path);
        status = len < size ? (int)len : PERFTRACE_ERR_TOO_LONG;
        if (len < size) {
            memcpy(ret_path, rt->meta.trace_path, len + 1);
        }
    }
    pthread_mutex_unlock(&rt->lock);
    return status;
}
