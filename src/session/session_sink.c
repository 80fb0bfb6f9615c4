/* session_sink.c. SPDX-License-Identifier: MIT */
#include "session_sink.h"

#include "atomics.h"
#include "compiler.h"
#include "jsonl_encode.h"
#include "line_file.h"
#include "status_text.h"

#include <stdlib.h>
#include <string.h>

#define BATCH (512u << 10)

struct perftrace__session_sink {
    perftrace__sink_t base;
    perftrace__session_fold_t *fold;
    perftrace__session_sink_options_t opt;
    perftrace__line_file_t file;
    perftrace__strbuf_t out;     /* records for the file */
    perftrace__strbuf_t payload; /* of the event at hand */
    uint32_t *phases;            /* index of a site's phase + 1, by site id; 0: not known yet */
    uint32_t phases_cap;
    uint64_t now;                   /* the latest time seen */
    uint64_t taken;                 /* records in the file and in out */
    uint64_t in_file;               /* of taken, in the present file */
    perftrace__fold_counts_t shown; /* after the last take; relaxed, for other threads */
    bool all;                       /* the end has come: live sessions too */
    bool replaced;
};

static perftrace__session_sink_t *self(perftrace__sink_t *s) {
    return (perftrace__session_sink_t *)s;
}

static perftrace__text_t event_name(const perftrace__event_t *ev) {
    return (perftrace__text_t){ev->name, ev->name_len};
}

/* The index of the event's phase. Nearly all events of a site have the site's own name. */
static uint32_t phase_of(perftrace__session_sink_t *k, const perftrace__event_t *ev) {
    uint32_t id = ev->site->id;
    bool own = ev->name == ev->site->name;
    if (PT_LIKELY(own && id < k->phases_cap && k->phases[id])) {
        return k->phases[id] - 1;
    }
    uint32_t phase = perftrace__session_fold_phase(k->fold, event_name(ev));
    if (own && id >= k->phases_cap) {
        uint32_t cap = id + 64;
        uint32_t *p = realloc(k->phases, cap * sizeof(*p));
        if (!p) {
            return phase;
        }
        memset(p + k->phases_cap, 0, (cap - k->phases_cap) * sizeof(*p));
        k->phases = p;
        k->phases_cap = cap;
    }
    if (own) {
        k->phases[id] = phase + 1;
    }
    return phase;
}

/* The event's arguments as a payload; false without memory. */
static bool payload_of(perftrace__session_sink_t *k, const perftrace__event_t *ev,
                       perftrace__text_t *ret_payload) {
    *ret_payload = (perftrace__text_t){NULL, 0};
    if (ev->nargs == 0) {
        return true;
    }
    perftrace__strbuf_clear(&k->payload);
    if (!perftrace__jsonl_members(&k->payload, ev)) {
        k->payload.failed = false;
        return false;
    }
    *ret_payload = (perftrace__text_t){k->payload.data, k->payload.len};
    return true;
}

/* Status and reason of an end. */
static void outcome_of(const perftrace__event_t *ev, perftrace__text_t ret_texts[2]) {
    const uint64_t *arg = ev->args;
    for (uint32_t i = 0; i < 2; i++) {
        const char *text = NULL;
        uint32_t len = 0;
        if (arg && i < ev->nargs) {
            arg = perftrace__arg_next(arg, ev->args_end, ev->site->args[i].type, &text, &len);
        }
        ret_texts[i] = (perftrace__text_t){text, len};
    }
}

static int64_t first_or_none(const perftrace__event_t *ev) {
    return ev->nargs ? (int64_t)ev->args[0] : PERFTRACE__FOLD_NO_ID;
}

static bool on_event(perftrace__sink_t *s, const perftrace__event_t *ev) {
    perftrace__session_sink_t *k = self(s);
    int64_t id = (int64_t)ev->id;
    perftrace__text_t text[2];
    k->now = ev->end > k->now ? ev->end : k->now;
    switch (ev->kind) {
    case PERFTRACE_I_KIND_SESSION_BEGIN:
        return perftrace__session_fold_session(k->fold, id, first_or_none(ev), ev->start);
    case PERFTRACE_I_KIND_PHASE_BEGIN:
        return payload_of(k, ev, text) && perftrace__session_fold_phase_begin(
                                              k->fold, id, phase_of(k, ev), ev->start, text[0]);
    case PERFTRACE_I_KIND_PHASE_END:
        return payload_of(k, ev, text) &&
               perftrace__session_fold_phase_end(k->fold, id, phase_of(k, ev), ev->start, ev->end,
                                                 text[0]);
    case PERFTRACE_I_KIND_SESSION_END:
        outcome_of(ev, text);
        return perftrace__session_fold_finalize(k->fold, id, ev->start, text[0], text[1]);
    case PERFTRACE_I_KIND_TASK_BEGIN:
        return perftrace__session_fold_task(k->fold, id, first_or_none(ev));
    case PERFTRACE_I_KIND_TASK_END:
        outcome_of(ev, text);
        return perftrace__session_fold_finalize_task(k->fold, id, ev->start, text[0], text[1]);
    case PERFTRACE_I_KIND_SESSION_COUNTER:
        return perftrace__session_fold_counter(k->fold, id, event_name(ev),
                                               ev->nargs ? (int64_t)ev->args[0] : 0);
    case PERFTRACE_I_KIND_SESSION_PHASE:
        return ev->nargs < 2 || perftrace__session_fold_declare(k->fold, event_name(ev),
                                                                ev->args[0] != 0, ev->args[1] != 0);
    default:
        return true;
    }
}

static void on_thread(perftrace__sink_t *s, uint32_t tid, const char *name) {
    (void)s;
    (void)tid;
    (void)name;
}

static void on_drop(perftrace__sink_t *s, const perftrace__drop_t *drop) {
    (void)s;
    (void)drop;
}

static void on_clock(perftrace__sink_t *s, const perftrace__clock_reading_t *r) {
    self(s)->now = r->ns > self(s)->now ? r->ns : self(s)->now;
}

static void on_unfinished(perftrace__sink_t *s, const perftrace__event_t *ev) {
    (void)s;
    (void)ev;
}

static void on_footer(perftrace__sink_t *s, const perftrace__account_t *account) {
    (void)account;
    self(s)->all = true;
}

/* By the sweep, not by the flush, of which one sweep may have several: what another thread did
 * before a session was finished may not be seen before the sweep after the one that sees its end.
 */
static void on_swept(perftrace__sink_t *s) {
    perftrace__session_fold_tick(self(s)->fold);
}

static bool is_full(const perftrace__sink_t *s) {
    return ((const perftrace__session_sink_t *)s)->out.len >= BATCH;
}

static void show_counts(perftrace__session_sink_t *k) {
    perftrace__fold_counts_t now;
    perftrace__session_fold_counts(k->fold, &now);
    k->taken = now.written;
    const uint64_t *from = (const uint64_t *)&now;
    uint64_t *to = (uint64_t *)&k->shown;
    for (size_t i = 0; i < sizeof(now) / sizeof(*to); i++) {
        pt_store_relaxed(&to[i], from[i]);
    }
}

/* Takes the records that are due into the batch. */
static bool take(perftrace__session_sink_t *k, perftrace__flush_t how) {
    perftrace__fold_take_t what = k->all                          ? PERFTRACE__TAKE_ALL
                                  : how == PERFTRACE__FLUSH_WRITE ? PERFTRACE__TAKE_DUE
                                                                  : PERFTRACE__TAKE_READY;
    bool ok = perftrace__session_fold_take(k->fold, what, k->now, &k->out);
    show_counts(k);
    return ok;
}

/* A file to write to: the first one, or a new one when the last was removed. */
static int provide_file(perftrace__session_sink_t *k) {
    bool first = k->file.fd < 0 && k->file.offset == 0;
    int fd = k->opt.create(k->opt.user);
    if (fd < 0) {
        k->file.last_errno = -fd;
        return perftrace__status_from_errno(-fd);
    }
    perftrace__line_file_close(&k->file);
    perftrace__line_file_open(&k->file, fd, 0, k->opt.path);
    k->file.limit = k->opt.limit;
    if (!first && k->in_file && k->opt.gone) {
        k->opt.gone(k->opt.user, k->in_file);
    }
    k->in_file = 0;
    return PERFTRACE_OK;
}

static int flush(perftrace__sink_t *s, perftrace__flush_t how) {
    perftrace__session_sink_t *k = self(s);
    if (k->file.done == 0 && !take(k, how)) {
        k->out.failed = false;
        return PERFTRACE_ERR_NOMEM;
    }
    if (k->out.len == 0 && k->file.fd < 0) {
        return PERFTRACE_OK;
    }
    if (k->out.len && perftrace__line_file_gone(&k->file)) {
        int status = provide_file(k);
        if (status) {
            return status;
        }
    }
    int status = perftrace__line_file_flush(&k->file, &k->out, how);
    if (status == PERFTRACE_OK) {
        k->in_file = k->taken;
    }
    return status;
}

static uint64_t offset(const perftrace__sink_t *s) {
    return ((const perftrace__session_sink_t *)s)->file.offset;
}

/* Of no consequence for the account of events, which is about the trace file. */
static bool was_replaced(perftrace__sink_t *s) {
    (void)s;
    return false;
}

static void close_sink(perftrace__sink_t *s) {
    perftrace__session_sink_t *k = self(s);
    perftrace__line_file_close(&k->file);
    perftrace__session_fold_free(k->fold);
    perftrace__strbuf_free(&k->out);
    perftrace__strbuf_free(&k->payload);
    free(k->phases);
    free(k);
}

static const perftrace__sink_ops_t ops = {.event = on_event,
                                          .thread = on_thread,
                                          .drop = on_drop,
                                          .clock = on_clock,
                                          .unfinished = on_unfinished,
                                          .footer = on_footer,
                                          .swept = on_swept,
                                          .full = is_full,
                                          .flush = flush,
                                          .offset = offset,
                                          .replaced = was_replaced,
                                          .close = close_sink};

perftrace__sink_t *perftrace__session_sink_open(const perftrace__session_sink_options_t *options) {
    perftrace__session_sink_t *k = calloc(1, sizeof(*k));
    perftrace__session_fold_t *fold = k ? perftrace__session_fold_new(&options->fold) : NULL;
    if (!fold) {
        free(k);
        return NULL;
    }
    k->base.ops = &ops;
    k->fold = fold;
    k->opt = *options;
    k->out = (perftrace__strbuf_t)PERFTRACE__STRBUF_INIT;
    k->payload = (perftrace__strbuf_t)PERFTRACE__STRBUF_INIT;
    k->file.fd = -1;
    k->file.path = options->path;
    return &k->base;
}

void perftrace__session_sink_rank(perftrace__sink_t *s, int32_t rank) {
    perftrace__session_fold_rank(self(s)->fold, rank);
}

void perftrace__session_sink_counts(const perftrace__sink_t *s,
                                    perftrace__fold_counts_t *ret_counts) {
    const uint64_t *from = (const uint64_t *)&((const perftrace__session_sink_t *)s)->shown;
    uint64_t *to = (uint64_t *)ret_counts;
    for (size_t i = 0; i < sizeof(*ret_counts) / sizeof(*to); i++) {
        to[i] = pt_load_relaxed(&from[i]);
    }
}

int perftrace__session_sink_errno(const perftrace__sink_t *s) {
    return ((const perftrace__session_sink_t *)s)->file.last_errno;
}

void perftrace__session_sink_cut(perftrace__sink_t *s) {
    perftrace__line_file_cut(&self(s)->file);
}

void perftrace__session_sink_disown(perftrace__sink_t *s) {
    perftrace__line_file_close(&self(s)->file);
}
