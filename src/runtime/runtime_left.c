/* runtime_left.c: drains and sinks that outlive their run. SPDX-License-Identifier: MIT */
#include "atomics.h"
#include "core.h"
#include "jsonl_sink.h"
#include "runtime_state.h"
#include "session_sink.h"

#include <stdlib.h>

void perftrace__runtime_free_output(perftrace__output_t *out) {
    if (!out) {
        return;
    }
    perftrace__drain_free(&out->drain);
    perftrace__sink_close(out->sink);
    perftrace__sink_close(out->session_sink);
    free(out);
}

void perftrace__runtime_leave(perftrace__output_t *out) {
    perftrace__runtime_t *rt = &perftrace__runtime;
    out->next = rt->left;
    rt->left = out;
}

bool perftrace__runtime_clean(void) {
    bool hangs = false;
    bool seen = perftrace__runtime_signal_waits();
    for (perftrace__output_t **p = &perftrace__runtime.left; *p;) {
        perftrace__output_t *out = *p;
        /* Pairs with the release at the end of drain_main. */
        bool ended = pt_load_acquire(&out->drain.ended);
        if (ended && !out->torn) {
            perftrace__core_retire();
        }
        if (ended && !out->torn && !seen) {
            *p = out->next;
            perftrace__runtime_free_output(out);
        } else {
            hangs = hangs || !ended;
            p = &out->next;
        }
    }
    return !hangs;
}

static void disown(perftrace__output_t *out) {
    perftrace__jsonl_sink_disown(out->sink);
    if (out->session_sink) {
        perftrace__session_sink_disown(out->session_sink);
    }
}

void perftrace__runtime_orphan(bool whole) {
    perftrace__runtime_t *rt = &perftrace__runtime;
    for (perftrace__output_t *out = rt->left; out; out = out->next) {
        out->torn = out->torn || !pt_load_acquire(&out->drain.ended);
        pt_store_relaxed(&out->drain.ended, 1);
        disown(out);
    }
    if (rt->out) {
        rt->out->torn = !whole;
        pt_store_relaxed(&rt->out->drain.ended, 1);
        disown(rt->out);
        perftrace__runtime_leave(rt->out);
        rt->out = NULL;
    }
}
