/* profiler_window.c: the process' one window: opening, ending, its file. SPDX-License-Identifier:
 * MIT */
#include "os.h"
#include "profiler_state.h"
#include "status_text.h"
#include "utf8.h"

#include <perftrace/status.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

perftrace__window_t perftrace__window = {.lock = PTHREAD_MUTEX_INITIALIZER,
                                         .calls = PTHREAD_MUTEX_INITIALIZER,
                                         .settled = PTHREAD_COND_INITIALIZER};

static void lock(void) {
    pthread_mutex_lock(&perftrace__window.lock);
}

static void unlock(void) {
    pthread_mutex_unlock(&perftrace__window.lock);
}

void perftrace__window_unlock_calls(unsigned forks) {
    if (forks == perftrace__window.forks) {
        pthread_mutex_unlock(&perftrace__window.calls);
    }
}

/* Whether this thread is in a back end's step: others are not called until that has returned. */
static bool is_telling(void) {
    return perftrace__window.telling == perftrace__os_tid();
}

/* Whether back ends of this profiler may be called by this thread now. */
static bool may_call(const perftrace_profiler_t *p) {
    return !is_telling() && (!p->opt.same_thread || perftrace__window.tid == perftrace__os_tid());
}

/* ---- opening ------------------------------------------------------------------------------------
 */

static bool is_wanted(const perftrace__recorder_t *r, const perftrace__wishes_t *wishes) {
    return !wishes->activities || (wishes->activities & r->activities);
}

static bool wants_files(const perftrace_profiler_t *p, const perftrace__wishes_t *wishes) {
    for (size_t i = 0; i < p->nrecorders; i++) {
        if (p->recorders[i].calls.extension && is_wanted(&p->recorders[i], wishes)) {
            return true;
        }
    }
    return false;
}

/* A directory that cannot be written to is told when the window opens, not when all is done. */
static int check_dir(const perftrace_profiler_t *p, const perftrace__wishes_t *wishes,
                     perftrace__strbuf_t *problem) {
    const char *dir = wishes->dir;
    if (!wants_files(p, wishes)) {
        return PERFTRACE_OK;
    }
    int err = perftrace__os_mkdirs(dir);
    if (!err && access(dir, W_OK | X_OK) != 0) {
        err = -errno;
    }
    if (!err) {
        struct stat st;
        err = stat(dir, &st) ? -errno : S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
    }
    if (err) {
        perftrace__strbuf_printf(problem, "no files can be made in %s: %s", dir, strerror(-err));
        perftrace__profiler_log(p, PERFTRACE_LOG_ERROR, "%s", perftrace__strbuf_cstr(problem));
        return perftrace__status_from_errno(-err);
    }
    return PERFTRACE_OK;
}

static void describe(const perftrace__recorder_t *r, int status, char *text, size_t size) {
    text[0] = '\0';
    if (r->calls.describe) {
        r->calls.describe(r->calls.user, text, size);
    }
    if (!text[0]) {
        snprintf(text, size, "%s", perftrace__status_text(status));
    }
}

static void add_problem(perftrace__strbuf_t *problem, const char *what,
                        const perftrace__recorder_t *r, const char *text) {
    perftrace__strbuf_printf(problem, "%s%s %s: %s", problem->len ? "; " : "", r->calls.name, what,
                             text);
}

/* For the status. With the lock. */
static void keep_problem(perftrace__strbuf_t *problem) {
    perftrace__window_t *g = &perftrace__window;
    const char *text = perftrace__strbuf_cstr(problem);
    const size_t keep = perftrace__utf8_cut(text, strlen(text), sizeof(g->problem) - 1);
    memcpy(g->problem, text, keep);
    g->problem[keep] = '\0';
    perftrace__strbuf_free(problem);
}

/* Starts every recorder that is wanted; the bits of those that record. */
static unsigned start_recorders(perftrace_profiler_t *p, const perftrace_profiler_window_t *info,
                                const perftrace__wishes_t *wishes, perftrace__strbuf_t *problem) {
    unsigned started = 0;
    pthread_mutex_lock(&perftrace__window.calls);
    const unsigned forks = perftrace__window.forks;
    for (size_t i = 0; i < p->nrecorders; i++) {
        perftrace__recorder_t *r = &p->recorders[i];
        if (!is_wanted(r, wishes)) {
            continue;
        }
        int status = r->calls.start ? r->calls.start(r->calls.user, info) : 0;
        if (status == 0) {
            started |= 1u << i;
            continue;
        }
        char text[512];
        describe(r, status, text, sizeof(text));
        add_problem(problem, "does not record", r, text);
        if (!r->told) {
            r->told = true;
            perftrace__profiler_log(p, PERFTRACE_LOG_WARNING, "%s does not record: %s",
                                    r->calls.name, text);
        }
    }
    perftrace__window_unlock_calls(forks);
    return started;
}

static void fill(perftrace_profiler_t *p, perftrace__trigger_t by,
                 const perftrace_schedule_window_t *w, int64_t wanted,
                 const perftrace__wishes_t *wishes, const char *label) {
    perftrace__window_t *g = &perftrace__window;
    g->wishes = wishes ? *wishes : (perftrace__wishes_t){0};
    if (!g->wishes.dir[0]) {
        snprintf(g->wishes.dir, sizeof(g->wishes.dir), "%s", p->dir);
    }
    g->owner = p;
    g->by = by;
    g->wanted = PERFTRACE__ENDING_NONE;
    g->tid = perftrace__os_tid();
    g->started = 0;
    g->index = w ? w->index : -1;
    g->pending = false;
    g->mb_first = g->mb_last = g->mb_pending = -1;
    snprintf(g->stage, sizeof(g->stage), "%s", label ? label : "");
    g->mark[0] = '\0';
    g->info = (perftrace_profiler_window_t){
        .struct_size = sizeof(g->info),
        .dir = g->wishes.dir,
        .categories = g->wishes.categories,
        .path = "",
        .role = p->opt.name.role ? p->opt.name.role : "",
        .stage = g->stage,
        .mark = g->mark,
        .first_step = -1,
        .last_step = -1,
        .steps_wanted = wanted,
        .number = p->recorded,
        .time_ms = (int64_t)(perftrace__os_realtime_ns() / 1000000u),
    };
}

int perftrace__window_open(perftrace_profiler_t *p, perftrace__trigger_t by, int64_t step,
                           const perftrace_schedule_window_t *w, const perftrace__wishes_t *wishes,
                           const char *label) {
    perftrace__window_t *g = &perftrace__window;
    if (g->state != PERFTRACE_PROFILER_IDLE || is_telling()) {
        return PERFTRACE_ERR_STATE;
    }
    g->state = PERFTRACE_PROFILER_STARTING;
    g->busy = perftrace__os_tid();
    fill(p, by, w, w && w->last >= 0 ? w->last - w->first + 1 : -1, wishes, label);
    g->info.first_step = step;
    perftrace_profiler_window_t info = g->info;
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
    const unsigned forks = g->forks;
    unlock();
    /* What the window has of its own stays as it is until it is idle again. */
    int status = check_dir(p, &g->wishes, &problem);
    unsigned started = status ? 0 : start_recorders(p, &info, &g->wishes, &problem);
    lock();
    keep_problem(&problem);
    if (forks != g->forks) { /* a back end's start has forked, and this is the child */
        return PERFTRACE_ERR_STATE;
    }
    g->started = started;
    if (started) {
        g->state = PERFTRACE_PROFILER_RECORDING;
        g->told_idle = false;
    } else {
        g->state = PERFTRACE_PROFILER_IDLE;
        g->owner = NULL;
        status = status ? status : PERFTRACE_ERR_UNSUPPORTED;
    }
    pthread_cond_broadcast(&g->settled);
    return status;
}

/* ---- ending -------------------------------------------------------------------------------------
 */

static void make_mark(perftrace__window_t *g, perftrace__ending_t ending) {
    perftrace_profiler_window_t *info = &g->info;
    g->mark[0] = '\0';
    if (ending == PERFTRACE__ENDING_ABORT) {
        info->aborted = 1;
        /* The step that failed began; it did not end. */
        info->steps_done += g->pending;
        if (g->pending) {
            info->last_step = g->pending_step;
        }
        int at = snprintf(g->mark, sizeof(g->mark), "aborted");
        if (info->steps_done > 0) {
            at += snprintf(g->mark + at, sizeof(g->mark) - (size_t)at, " at step %" PRId64,
                           info->steps_done);
            if (info->steps_wanted > 0) {
                snprintf(g->mark + at, sizeof(g->mark) - (size_t)at, " of %" PRId64,
                         info->steps_wanted);
            }
        }
    } else if (info->steps_wanted > info->steps_done) {
        snprintf(g->mark, sizeof(g->mark), "partial %" PRId64 "/%" PRId64, info->steps_done,
                 info->steps_wanted);
    }
    if (info->first_step < 0) {
        info->first_step = info->last_step;
    }
}

static perftrace_trace_name_t name_of(const perftrace_profiler_t *p, const perftrace__window_t *g) {
    perftrace_trace_name_t n = p->opt.name;
    const perftrace_profiler_window_t *info = &g->info;
    n.first_step = info->first_step;
    n.last_step = info->last_step;
    n.pid = perftrace__os_pid();
    n.time_ms = info->time_ms;
    n.mb_first = g->mb_first;
    n.mb_last = g->mb_last;
    if (g->index > 0) {
        *(g->by == PERFTRACE__BY_STAGE ? &n.part : &n.cycle) = g->index;
    }
    if (g->mark[0]) {
        n.steps_done = info->steps_done;
        n.steps_wanted = info->steps_wanted;
        n.aborted = info->aborted;
    }
    if (g->stage[0]) {
        n.suffix = g->stage;
    }
    return n;
}

/* What a person looks for in a message. */
static void put_title(perftrace__strbuf_t *b, const perftrace_profiler_window_t *info) {
    if (info->stage[0]) {
        perftrace__strbuf_printf(b, " %s", info->stage);
    }
    if (info->first_step >= 0) {
        perftrace__strbuf_printf(b, " step %" PRId64, info->first_step);
        if (info->last_step > info->first_step) {
            perftrace__strbuf_printf(b, " to %" PRId64, info->last_step);
        }
    }
    if (info->mark[0]) {
        perftrace__strbuf_printf(b, " (%s)", info->mark);
    }
}

/* Ends one recorder: its file, its stop, the message with path and size. */
static void stop_recorder(perftrace_profiler_t *p, perftrace__recorder_t *r,
                          const perftrace_trace_name_t *name, perftrace_profiler_window_t *info,
                          char *path, size_t size, perftrace__strbuf_t *problem) {
    int status = 0;
    path[0] = '\0';
    if (r->calls.extension) {
        int fd = perftrace_trace_create(info->dir, name, r->calls.extension, path, size);
        if (fd == PERFTRACE_ERR_NOT_FOUND && perftrace__os_mkdirs(info->dir) == 0) {
            /* Somebody has removed the directory meanwhile. */
            fd = perftrace_trace_create(info->dir, name, r->calls.extension, path, size);
        }
        if (fd < 0) {
            perftrace__profiler_log(p, PERFTRACE_LOG_ERROR, "no file can be made in %s: %s",
                                    info->dir, perftrace__status_text(fd));
            add_problem(problem, "has no file", r, perftrace__status_text(fd));
            path[0] = '\0';
        } else {
            close(fd);
        }
    }
    info->path = path;
    if (r->calls.stop) {
        status = r->calls.stop(r->calls.user, info);
    }
    perftrace__strbuf_t title = PERFTRACE__STRBUF_INIT;
    put_title(&title, info);
    struct stat st = {0};
    if (path[0] && (stat(path, &st) != 0 || (status && st.st_size == 0))) {
        unlink(path); /* nothing was written; an empty file tells nobody anything */
        path[0] = '\0';
    }
    if (status) {
        char text[512];
        describe(r, status, text, sizeof(text));
        add_problem(problem, "lost the window", r, text);
        perftrace__profiler_log(p, PERFTRACE_LOG_ERROR, "%s lost the window%s: %s", r->calls.name,
                                perftrace__strbuf_cstr(&title), text);
    } else if (path[0]) {
        perftrace__profiler_log(p, PERFTRACE_LOG_NOTE, "%s recorded%s: %s (%lld bytes)",
                                r->calls.name, perftrace__strbuf_cstr(&title), path,
                                (long long)st.st_size);
    } else {
        perftrace__profiler_log(p, PERFTRACE_LOG_NOTE, "%s recorded%s", r->calls.name,
                                perftrace__strbuf_cstr(&title));
    }
    perftrace__strbuf_free(&title);
}

static void save(perftrace__ending_t ending) {
    perftrace__window_t *g = &perftrace__window;
    perftrace_profiler_t *p = g->owner;
    g->state = PERFTRACE_PROFILER_SAVING;
    g->busy = perftrace__os_tid();
    g->wanted = PERFTRACE__ENDING_NONE;
    make_mark(g, ending);
    perftrace_profiler_window_t info = g->info;
    const perftrace_trace_name_t name = name_of(p, g);
    const unsigned started = g->started;
    char last[1024] = "";
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_puts(&problem, g->problem); /* what did not start is still so */
    const unsigned forks = g->forks;
    unlock();
    pthread_mutex_lock(&g->calls);
    for (size_t i = 0; i < p->nrecorders; i++) {
        if (started & 1u << i) {
            char path[4096];
            stop_recorder(p, &p->recorders[i], &name, &info, path, sizeof(path), &problem);
            if (path[0]) {
                size_t len = strlen(path);
                memcpy(last, path, len < sizeof(last) ? len + 1 : 0);
            }
        }
    }
    perftrace__window_unlock_calls(forks);
    if (p->opt.relocate_from && forks == g->forks) {
        perftrace__finish_relocate(p, info.dir, &name);
    }
    lock();
    keep_problem(&problem);
    if (forks != g->forks) { /* a back end's stop has forked, and this is the child */
        return;
    }
    p->recorded++;
    g->saved++;
    g->last_aborted = info.aborted;
    memcpy(g->last_mark, g->mark, sizeof(g->last_mark));
    memcpy(g->last_path, last, sizeof(last));
    g->state = PERFTRACE_PROFILER_IDLE;
    g->owner = NULL;
    pthread_cond_broadcast(&g->settled);
}

void perftrace__window_end(perftrace__ending_t ending) {
    perftrace__window_t *g = &perftrace__window;
    if (g->state == PERFTRACE_PROFILER_RECORDING && may_call(g->owner)) {
        save(ending);
    } else if (g->state == PERFTRACE_PROFILER_STARTING ||
               g->state == PERFTRACE_PROFILER_RECORDING) {
        g->wanted = PT_MAX(g->wanted, ending);
    }
}

void perftrace__window_settle(void) {
    perftrace__window_t *g = &perftrace__window;
    if (g->wanted && g->state == PERFTRACE_PROFILER_RECORDING && may_call(g->owner)) {
        save(g->wanted);
    }
}

void perftrace__window_wait(void) {
    perftrace__window_t *g = &perftrace__window;
    while ((g->state == PERFTRACE_PROFILER_STARTING || g->state == PERFTRACE_PROFILER_SAVING) &&
           g->busy != perftrace__os_tid()) {
        pthread_cond_wait(&g->settled, &g->lock);
    }
}
