/* collect_gone.c: files that somebody removed or cut while they are collected.
 * SPDX-License-Identifier: MIT */
#include "collect_gone.h"

#include "message.h"

typedef pt_collect_stream_t stream_t;

static bool is_gone(const stream_t *s) {
    return s->have > 0 && pt_collect_parts_is_open(&s->parts) &&
           !pt_collect_parts_stand(&s->parts, s->have);
}

bool pt_collect_gone_is(const stream_t *s) {
    return !s->ended && is_gone(s);
}

/* As if nothing of it had come. */
static void forget(pt_collect_store_t *store, stream_t *s) {
    perftrace__strbuf_t *names = s->tally.names;
    (void)pt_collect_parts_close(&store->files, &s->parts);
    s->have = s->looked = s->counted = s->rate_events = 0;
    s->uncounted = false;
    perftrace__strbuf_clear(&s->names);
    s->tally = (pt_collect_tally_t)PT_COLLECT_TALLY_INIT;
    s->tally.names = names;
}

size_t pt_collect_gone_forget(pt_collect_store_t *store, pt_collect_run_t *run) {
    size_t count = 0;
    for (stream_t *s = run->streams; s != NULL; s = s->next) {
        /* One that lies in parts needs what the others hold: it is not written on. */
        if (s->parts.count <= 1 && pt_collect_gone_is(s)) {
            if (store->gone + count < PT_WARN_SOME || pt_message_verbosity() == PT_VERBOSE) {
                pt_warn("%s/%s was removed or cut by somebody: it is collected again from its "
                        "beginning",
                        run->dir, s->parts.name);
            }
            forget(store, s);
            count++;
        }
    }
    store->gone += count;
    run->gone += count;
    return count;
}

size_t pt_collect_gone_tell(const pt_collect_store_t *store) {
    size_t count = 0;
    for (const pt_collect_run_t *run = store->runs; run != NULL; run = run->next) {
        for (const stream_t *s = run->streams; s != NULL; s = s->next) {
            if (is_gone(s) && count++ < PT_WARN_SOME) {
                pt_warn("%s/%s was collected, but is there no more: somebody removed or cut it",
                        run->dir, s->parts.name);
            }
        }
    }
    return count;
}
