/* runtime_sinks.c: the drain and its sinks: made, told about. SPDX-License-Identifier: MIT */
#include "atomics.h"
#include "core.h"
#include "jsonl_sink.h"
#include "os.h"
#include "runtime_service.h"
#include "runtime_state.h"
#include "session_sink.h"
#include "status_text.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The file that could not be written, and why. */
static bool sessions_fail(const perftrace__output_t *out) {
    return out->session_sink && perftrace__session_sink_errno(out->session_sink) &&
           !perftrace__jsonl_sink_errno(out->sink);
}

static const char *failing_file(const perftrace__output_t *out) {
    const perftrace__runtime_t *rt = &perftrace__runtime;
    return !sessions_fail(out) ? rt->meta.trace_path
           : *rt->session_path ? rt->session_path
                               : "the sessions file";
}

static const char *failure_text(const perftrace__output_t *out, int status) {
    int err = sessions_fail(out) ? perftrace__session_sink_errno(out->session_sink)
                                 : perftrace__jsonl_sink_errno(out->sink);
    return err ? strerror(err) : perftrace__status_text(status);
}

static void flush_failed(void *user, int status) {
    const perftrace__output_t *out = user;
    perftrace__runtime_log(PERFTRACE_LOG_WARNING,
                           "%s cannot be written (%s); events wait in memory, writing is retried",
                           failing_file(out), failure_text(out, status));
}

static void flush_works(void *user) {
    (void)user;
    perftrace__runtime_log(PERFTRACE_LOG_NOTE, "%s is being written again",
                           perftrace__runtime.meta.trace_path);
}

/* The thread that the signal stopped may hold the core's lock, and goes on in a while (see
 * runtime_signal.c). If it does not: then what is emitted in the last milliseconds is not turned
 * away, nothing else. */
static bool stop_core(void) {
    uint64_t begin = perftrace__os_mono_ns();
    uint64_t limit = (uint64_t)perftrace__runtime.config.opt.shutdown_ms * 1000000u / 2;
    bool stopped = false;
    while (!(stopped = perftrace__core_try_stop()) && perftrace__os_mono_ns() - begin < limit) {
        struct timespec ms = {0, 1000000};
        nanosleep(&ms, NULL);
    }
    return stopped;
}

/* Called by the drain's thread for a signal handler that waits for it. */
static void finish_from_signal(void *user) {
    perftrace__output_t *out = user;
    bool stopped = stop_core();
    /* Before late events are counted: what this has to wait for is the thread that the signal
     * stopped, and it emits when it is let go on. */
    perftrace__drain_sweep(&out->drain, false);
    uint64_t late = stopped ? perftrace__core_late() - perftrace__runtime.late_seen : 0;
    if (perftrace__drain_finish(&out->drain, late) == PERFTRACE_OK) {
        perftrace__ring_unlink(perftrace__core_ring());
        perftrace__runtime_remove_link();
    }
    pt_store_release(&out->drain.finish_asked, 2);
}

static void committed(void *user) {
    perftrace__output_t *out = user;
    const perftrace__runtime_t *rt = &perftrace__runtime;
    perftrace__runtime_service.committed(&(perftrace__committed_t){
        .meta = &rt->meta,
        .trace_path = rt->meta.trace_path,
        .trace_bytes = out->sink->ops->offset(out->sink),
        .trace_number = rt->files_made[0],
        .session_path = out->session_sink ? rt->session_path : "",
        .session_bytes = out->session_sink ? out->session_sink->ops->offset(out->session_sink) : 0,
        .session_number = rt->files_made[1],
        .ended = out->drain.closed,
    });
}

/* At the end everything is written: there is no next time to wait for. */
static uint64_t limit_of(unsigned i) {
    return pt_load_acquire(&perftrace__runtime.stopping) ? UINT64_MAX
                                                         : perftrace__runtime_service.limit[i]();
}

static uint64_t trace_limit(void) {
    return limit_of(0);
}

static uint64_t session_limit(void) {
    return limit_of(1);
}

/* False without memory. */
static bool open_session_sink(perftrace__output_t *out) {
    perftrace__runtime_t *rt = &perftrace__runtime;
    const perftrace_config_t *o = &rt->config.opt;
    if (o->session_enabled != 1) {
        return true;
    }
    rt->session_path[0] = '\0';
    perftrace__session_sink_options_t options = {
        .fold = {.rank = rt->meta.rank,
                 .role = rt->meta.role,
                 .run_id = rt->meta.run_id,
                 .epoch_ns = rt->meta.epoch_ns,
                 .flush_threshold = o->session_flush_threshold,
                 .max_live = o->session_max_live},
        .create = perftrace__runtime_create_session_file,
        .gone = perftrace__runtime_session_file_gone,
        .path = rt->session_path,
        .limit = rt->config.spool_dir ? session_limit : NULL,
    };
    out->session_sink = perftrace__session_sink_open(&options);
    perftrace__ring_header_t *h = perftrace__core_ring()->header;
    h->sessions = out->session_sink != NULL;
    perftrace__runtime_session_stem(h->session_stem, sizeof(h->session_stem));
    return out->session_sink != NULL;
}

int perftrace__runtime_start_drain(int fd) {
    perftrace__runtime_t *rt = &perftrace__runtime;
    perftrace__output_t *out = calloc(1, sizeof(*out));
    perftrace__sink_t *sink = out ? perftrace__jsonl_sink_open(fd, 0, &rt->meta) : NULL;
    if (!sink) {
        free(out);
        close(fd);
        return PERFTRACE_ERR_NOMEM;
    }
    out->sink = sink;
    if (!open_session_sink(out)) {
        perftrace__runtime_free_output(out);
        return PERFTRACE_ERR_NOMEM;
    }
    perftrace__jsonl_sink_on_gone(sink, rt->meta.trace_path, perftrace__runtime_recreate_file,
                                  NULL);
    if (rt->config.spool_dir) {
        perftrace__jsonl_sink_limit(sink, trace_limit);
    }
    perftrace__drain_t *d = &out->drain;
    perftrace__drain_init(d, perftrace__core_ring());
    d->sinks[d->nsinks++] = sink;
    if (out->session_sink) {
        d->sinks[d->nsinks++] = out->session_sink;
    }
    d->anchor = perftrace__core_anchor;
    d->clock_pair = perftrace__core_clock_pair;
    d->ticks = perftrace__clock_ticks;
    d->failed = flush_failed;
    d->recovered = flush_works;
    d->finish = finish_from_signal;
    d->committed_to = committed;
    d->take_reference = perftrace__runtime_service.take_reference;
    d->user = out;
    rt->out = out;
    perftrace__runtime_service.run_begin(&rt->config.opt, &rt->meta);
    /* Header lines first, also when nothing is ever emitted. */
    perftrace__drain_sweep(d, false);
    int status = perftrace__drain_thread_start(d, (uint64_t)rt->config.opt.flush_ms * 1000000u);
    if (status) {
        perftrace__runtime_log(
            PERFTRACE_LOG_WARNING,
            "no thread could be started: events are written by save and shutdown "
            "only");
    }
    return PERFTRACE_OK;
}

static void tell_sessions(const perftrace__sink_t *sink) {
    perftrace__runtime_t *rt = &perftrace__runtime;
    perftrace__fold_counts_t n;
    perftrace__session_sink_counts(sink, &n);
    if (n.sessions) {
        perftrace__runtime_log(n.late || n.evicted ? PERFTRACE_LOG_WARNING : PERFTRACE_LOG_NOTE,
                               "wrote %llu session record%s to %s (%llu evicted before their end, "
                               "%llu event%s came too late for theirs)",
                               (unsigned long long)n.written, PT_PLURAL(n.written),
                               rt->session_path, (unsigned long long)n.evicted,
                               (unsigned long long)n.late, PT_PLURAL(n.late));
    }
}

/* what happened, and what becomes of the events that are left. */
static void tell_left(perftrace__strbuf_t *what) {
    const perftrace__ring_t *ring = perftrace__core_ring();
    unsigned long long events = perftrace__drain_backlog_events(ring);
    perftrace__strbuf_printf(what, ": %llu event%s not written; they ", events,
                             events == 1 ? " was" : "s were");
    if (ring->anonymous) {
        perftrace__strbuf_puts(what, "are lost, since there is no ring file");
    } else {
        perftrace__strbuf_printf(what, "stay in %s until perf-trace-recover is run", ring->path);
        if (ring->memory_slots) {
            perftrace__strbuf_puts(what, ", but for those of threads that found no room in it");
        }
    }
    perftrace__runtime_log(PERFTRACE_LOG_ERROR, "%s", perftrace__strbuf_cstr(what));
    perftrace__strbuf_free(what);
}

void perftrace__runtime_tell_abandoned(void) {
    const perftrace__runtime_t *rt = &perftrace__runtime;
    perftrace__strbuf_t what = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_printf(&what, "%s could not be finished within %u ms", rt->meta.trace_path,
                             rt->config.opt.shutdown_ms);
    tell_left(&what);
}

/* The account that the footer gives, for who reads messages only. */
static void tell_written(const perftrace__drain_t *d) {
    static const char *const causes[] = {
#define PT_I_CAUSE(name, text) #name,
        PERFTRACE_DROP_LIST(PT_I_CAUSE)
#undef PT_I_CAUSE
    };
    perftrace__strbuf_t what = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_printf(&what, "wrote %llu event%s to %s", (unsigned long long)d->written,
                             PT_PLURAL(d->written), perftrace__runtime.meta.trace_path);
    const char *between = "; lost: ";
    for (unsigned i = 0; i < PERFTRACE_DROP_COUNT; i++) {
        if (d->dropped[i] > 0) {
            perftrace__strbuf_printf(&what, "%s%llu %s", between, (unsigned long long)d->dropped[i],
                                     causes[i]);
            between = ", ";
        }
    }
    perftrace__runtime_log(PERFTRACE_LOG_NOTE, "%s", perftrace__strbuf_cstr(&what));
    perftrace__strbuf_free(&what);
}

void perftrace__runtime_tell_end(int status) {
    perftrace__runtime_t *rt = &perftrace__runtime;
    perftrace__strbuf_t what = PERFTRACE__STRBUF_INIT;
    if (status) {
        perftrace__strbuf_printf(&what, "the end of %s could not be written (%s)",
                                 failing_file(rt->out), failure_text(rt->out, status));
        tell_left(&what);
    } else {
        tell_written(&rt->out->drain);
        if (rt->out->session_sink) {
            tell_sessions(rt->out->session_sink);
        }
    }
}
