/* runtime.c: init in order, shutdown in reverse. SPDX-License-Identifier: MIT */
#include "atomics.h"
#include "config_message.h"
#include "core.h"
#include "jsonl_sink.h"
#include "os.h"
#include "rank_select.h"
#include "ring_layout.h"
#include "runtime_service.h"
#include "runtime_state.h"
#include "session_sink.h"
#include "status_text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

perftrace__runtime_t perftrace__runtime = {.lock = PTHREAD_MUTEX_INITIALIZER,
                                           .unused = PTHREAD_COND_INITIALIZER};

static void log_to_stderr(int level, const char *message, void *user) {
    static const char *const words[] = {"error", "warning", "note"};
    (void)user;
    fprintf(stderr, "perftrace: %s: %s\n", words[level < 3 ? level : 2], message);
}

static perftrace_log_fn log_function(void) {
    const perftrace_config_t *o = &perftrace__runtime.config.opt;
    return o->log ? o->log : o->log_stderr == 1 ? log_to_stderr : NULL;
}

void perftrace__runtime_log(perftrace_log_level_t level, const char *fmt, ...) {
    perftrace_log_fn log = log_function();
    if (!log) {
        return;
    }
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    va_list ap;
    va_start(ap, fmt);
    perftrace__strbuf_vprintf(&text, fmt, ap);
    va_end(ap);
    log((int)level, perftrace__strbuf_cstr(&text), perftrace__runtime.config.opt.log_user);
    perftrace__strbuf_free(&text);
}

static void core_warn(const char *text) {
    perftrace__runtime_log(PERFTRACE_LOG_WARNING, "%s", text);
}

/* ---- start --------------------------------------------------------------------------------------
 */

static void first_event_after_fork(void);
static bool clean_up_abandoned(void);

static int start_core(void) {
    perftrace__runtime_t *rt = &perftrace__runtime;
    const perftrace_config_t *o = &rt->config.opt;
    const char *dirs[PERFTRACE__RUNTIME_RING_DIRS];
    perftrace__runtime_ring_dirs(dirs);
    perftrace__core_options_t options = {
        .ring_dirs = dirs,
        .ring_ndirs = PT_ARRAY_LEN(dirs),
        .ring_words = o->ring_size / 8,
        .max_threads = o->max_threads,
        .block = o->overflow == PERFTRACE_OVERFLOW_BLOCK,
        .block_ns = (uint64_t)o->block_ms * 1000000u,
        .string_max = o->string_max,
        .slow_clock = o->counter_clock != 1,
        .categories = o->categories,
        .names = o->names,
        .meta = rt->meta,
        .sessions = o->session_enabled == 1,
        .first_event_after_fork = first_event_after_fork,
        .resume = rt->resuming,
        .warn = core_warn,
    };
    int status = perftrace__core_start(&options, o->enabled == 1);
    if (status == PERFTRACE_OK) {
        /* With the times that the core filled in. */
        rt->meta = perftrace__core_ring()->header->meta;
    }
    return status;
}

static void drop_core(void) {
    perftrace__core_stop();
    perftrace__ring_unlink(perftrace__core_ring());
    perftrace__core_retire();
}

int perftrace__runtime_start(void) {
    perftrace__runtime_t *rt = &perftrace__runtime;
    if (rt->config.opt.sigterm == 1) {
        perftrace__runtime_install_sigterm();
    }
    perftrace__runtime_fill_meta();
    perftrace__runtime_recover();
    int fd = -1;
    int rc = perftrace__runtime_create_file(&fd);
    if (rc) {
        perftrace__runtime_log(
            PERFTRACE_LOG_ERROR, "tracing is off: no trace file can be made in %s: %s",
            rt->config.spool_dir ? rt->config.spool_dir : rt->config.trace_dir, strerror(-rc));
        return perftrace__status_from_errno(-rc);
    }
    int status = start_core();
    if (status) {
        perftrace__runtime_log(PERFTRACE_LOG_ERROR, "tracing is off: no memory for rings: %s",
                               perftrace__status_text(status));
        unlink(rt->meta.trace_path);
        close(fd);
        return status;
    }
    perftrace__runtime_make_link();
    status = perftrace__runtime_start_drain(fd);
    if (status) {
        perftrace__runtime_log(PERFTRACE_LOG_ERROR, "tracing is off: no memory to write with: %s",
                               perftrace__status_text(status));
        perftrace__runtime_remove_link();
        drop_core();
        unlink(rt->meta.trace_path);
        return status;
    }
    pt_store_release(&rt->active, true);
    perftrace__runtime_log(PERFTRACE_LOG_NOTE, "tracing to %s", rt->meta.trace_path);
    return PERFTRACE_OK;
}

static void give_out(const perftrace__strbuf_t *msgs) {
    perftrace__message_log(msgs, 0, log_function(), perftrace__runtime.config.opt.log_user);
}

/* What this process goes by: a setting that did not reach it is seen at the start. */
static void tell_settings(void) {
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    if (log_function()) {
        perftrace__config_put_summary(&perftrace__runtime.config, &text);
        perftrace__runtime_log(PERFTRACE_LOG_NOTE, "%s", perftrace__strbuf_cstr(&text));
    }
    perftrace__strbuf_free(&text);
}

/* Whether this process records; says so when not. */
static bool selected(void) {
    const perftrace_config_t *o = &perftrace__runtime.config.opt;
    int yes = 1;
    perftrace__rank_selected(o->ranks, o->rank, &yes);
    bool on = o->enabled == 1 || o->session_enabled == 1;
    if (!on) {
        perftrace__runtime_log(PERFTRACE_LOG_NOTE, "tracing is off (enabled is 0)");
    } else if (!yes) {
        perftrace__runtime_log(PERFTRACE_LOG_NOTE, "rank %d is not among the recorded ranks %s",
                               o->rank, o->ranks);
    }
    return on && yes;
}

static void shutdown_at_exit(void) {
    perftrace_shutdown();
}

static void install_once(void) {
    static bool installed;
    if (!installed) {
        installed = true;
        atexit(shutdown_at_exit);
        perftrace__runtime_install_fork();
    }
}

int perftrace_init(const perftrace_config_t *config) {
    perftrace__runtime_t *rt = &perftrace__runtime;
    pthread_mutex_lock(&rt->lock);
    bool resolved = false;
    int status = PERFTRACE_ERR_STATE;
    if (rt->active || rt->stopping || !clean_up_abandoned()) {
        goto done;
    }
    if (rt->have_config) {
        perftrace__config_free(&rt->config);
        rt->have_config = false;
    }
    perftrace__strbuf_t msgs = PERFTRACE__STRBUF_INIT;
    status = perftrace__config_resolve(config, &rt->config, &msgs);
    rt->have_config = true;
    give_out(&msgs);
    perftrace__strbuf_free(&msgs);
    resolved = status == PERFTRACE_OK;
    if (resolved) {
        tell_settings();
    }
    if (status || !selected()) {
        goto done;
    }
    snprintf(rt->run_id, sizeof(rt->run_id), "%016llx",
             (unsigned long long)perftrace__os_random_u64());
    install_once();
    status = perftrace__runtime_start();
done:
    pthread_mutex_unlock(&rt->lock);
    if (resolved) {
        /* Not under the lock: what they do takes the lock itself. */
        perftrace__runtime_profiler_start();
        perftrace__runtime_service.start(&rt->config.opt, rt->config.trace_dir);
    }
    return status;
}

/* ---- stop ---------------------------------------------------------------------------------------
 */

/* The thread hangs in the disk: file, ring and drain stay as they are; recovery finishes them. */
static int abandon(void) {
    perftrace__runtime_t *rt = &perftrace__runtime;
    perftrace__runtime_tell_abandoned();
    perftrace__runtime_leave(rt->out);
    rt->link[0] = '\0';
    return PERFTRACE_ERR_TIMEOUT;
}

/* False while the thread of an earlier run still hangs: it uses the one ring there can be. */
static bool clean_up_abandoned(void) {
    bool clean = perftrace__runtime_clean();
    if (!clean) {
        perftrace__runtime_log(PERFTRACE_LOG_ERROR,
                               "tracing is off: the file of the run before is still being "
                               "written by a thread that waits for the disk");
    }
    return clean;
}

/* Waits until no call uses the drain; they end soon, since its thread has. Lock held. */
static bool wait_unused(uint64_t limit_ns) {
    perftrace__runtime_t *rt = &perftrace__runtime;
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    uint64_t ns = (uint64_t)ts.tv_nsec + limit_ns;
    ts.tv_sec += (time_t)(ns / 1000000000u);
    ts.tv_nsec = (long)(ns % 1000000000u);
    int rc = 0;
    while (rt->users && rc == 0) {
        rc = pthread_cond_clockwait(&rt->unused, &rt->lock, CLOCK_MONOTONIC, &ts);
    }
    return rt->users == 0;
}

int perftrace__runtime_stop(void) {
    perftrace__runtime_t *rt = &perftrace__runtime;
    pt_store_release(&rt->stopping, true); /* pairs with limit_of: the files may grow again */
    pt_store_release(&rt->active, false);
    perftrace__core_stop();
    uint64_t limit = (uint64_t)rt->config.opt.shutdown_ms * 1000000u;
    uint64_t late = perftrace__core_late() - rt->late_seen;
    rt->late_seen += late;
    int status = PERFTRACE_OK;
    uint64_t begin = perftrace__os_mono_ns();
    bool ended = perftrace__drain_thread_finish(&rt->out->drain, late, limit, &status);
    uint64_t spent = perftrace__os_mono_ns() - begin;
    if (ended && wait_unused(spent < limit ? limit - spent : 0)) {
        if (!status) {
            /* A thread that had looked for room before the stop may publish after the last sweep.
             */
            perftrace__core_add_late(perftrace__drain_backlog_events(perftrace__core_ring()));
        }
        perftrace__runtime_tell_end(status);
        perftrace__runtime_write_timers();
        if (status) {
            /* Half a line at the end would be of no use to readers; the ring has it whole. */
            perftrace__jsonl_sink_cut(rt->out->sink);
            if (rt->out->session_sink) {
                perftrace__session_sink_cut(rt->out->session_sink);
            }
        } else {
            perftrace__ring_unlink(perftrace__core_ring());
            perftrace__runtime_remove_link();
        }
        perftrace__core_retire();
        if (perftrace__runtime_signal_waits()) {
            perftrace__runtime_leave(rt->out); /* which the next start frees */
        } else {
            perftrace__runtime_free_output(rt->out);
        }
    } else {
        status = abandon();
    }
    rt->out = NULL;
    perftrace__runtime_service.run_end();
    pt_store_release(&rt->stopping, false);
    return status;
}

int perftrace_shutdown(void) {
    perftrace__runtime_t *rt = &perftrace__runtime;
    perftrace__runtime_service.stop();
    perftrace__runtime_profiler_stop();
    pthread_mutex_lock(&rt->lock);
    int status = PERFTRACE_OK;
    if (rt->active) {
        status = perftrace__runtime_stop();
    } else {
        perftrace__core_stop(); /* the child of a fork will not start any more */
    }
    pthread_mutex_unlock(&rt->lock);
    return status;
}

static void first_event_after_fork(void) {
    perftrace__runtime_t *rt = &perftrace__runtime;
    pthread_mutex_lock(&rt->lock);
    if (!rt->active && !rt->stopping && rt->have_config) {
        rt->resuming = true;
        if (!clean_up_abandoned() || !selected() || perftrace__runtime_start() != PERFTRACE_OK) {
            perftrace__core_give_up();
        }
        rt->resuming = false;
    }
    pthread_mutex_unlock(&rt->lock);
}
