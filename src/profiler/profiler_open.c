/* profiler_open.c: profilers come and go. SPDX-License-Identifier: MIT */
#include "back_end_perf.h"
#include "os.h"
#include "profiler_state.h"

#include <perftrace/status.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void perftrace__profiler_log(const perftrace_profiler_t *p, int level, const char *fmt, ...) {
    if (!p->opt.log) {
        return;
    }
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_puts(&text, "profiler");
    if (p->opt.name.role && p->opt.name.role[0]) {
        perftrace__strbuf_printf(&text, " of %s", p->opt.name.role);
    }
    perftrace__strbuf_puts(&text, ": ");
    va_list ap;
    va_start(ap, fmt);
    perftrace__strbuf_vprintf(&text, fmt, ap);
    va_end(ap);
    for (size_t i = 0; i < text.len; i++) {
        text.data[i] = (unsigned char)text.data[i] < ' ' ? '?' : text.data[i]; /* one line */
    }
    p->opt.log(level, perftrace__strbuf_cstr(&text), p->opt.log_user);
    perftrace__strbuf_free(&text);
}

/* ---- options ------------------------------------------------------------------------------------
 */

/* Places of the strings that a profiler owns. */
static size_t own_strings(perftrace_profiler_t *p, const char **places[16]) {
    perftrace_profiler_options_t *o = &p->opt;
    const char **const all[] = {&o->detail_categories, &o->cuda_library,  &o->roc_library,
                                &o->perf_command,      &o->perf_control,  &o->name.prefix,
                                &o->name.role,         &o->name.host,     &o->name.suffix,
                                &o->relocate_from,     &o->finish_command};
    memcpy(places, all, sizeof(all));
    return PT_ARRAY_LEN(all);
}

static bool copy_strings(perftrace_profiler_t *p) {
    const char **places[16];
    char host[256];
    const size_t count = own_strings(p, places);
    bool ok = true;
    perftrace__os_hostname(host, sizeof(host));
    if (!p->opt.name.host) {
        p->opt.name.host = host;
    }
    for (size_t i = 0; i < count; i++) {
        if (*places[i]) {
            *places[i] = strdup(*places[i]);
            ok = ok && *places[i];
        }
    }
    return ok;
}

/* Whether a rank is meant: all, those of a list, or without one rank 0 and one that is not known.
 * False for a text that is no list, or without memory. */
static bool read_ranks(const char *text, bool all, int rank, bool *ret_meant) {
    perftrace__number_list_t ranks = {NULL, 0};
    const char *list = text ? text : "";
    const bool listed = list[strspn(list, " \t")] != '\0';
    const bool good = !listed || perftrace__number_list_parse(&ranks, list, NULL);
    *ret_meant = good && (all || (listed ? perftrace__number_list_has(&ranks, rank) : rank <= 0));
    perftrace__number_list_free(&ranks);
    return good;
}

static int read_lists(perftrace_profiler_t *p, const perftrace_profiler_options_t *o) {
    const char *reason = NULL;
    perftrace_schedule_t gate = PERFTRACE_SCHEDULE_INIT;
    const bool finishes = o->finish_command && o->finish_command[0];
    int status = perftrace__schedule_read(&o->schedule, &p->schedule, &reason);
    if (!status) {
        gate.steps = o->steps;
        gate.steps_apart = o->steps_apart;
        status = perftrace__schedule_read(&gate, &p->gate, &reason);
    }
    if (!status && !read_ranks(o->ranks, o->all_ranks, o->name.rank, &p->selected)) {
        reason = "ranks is no list such as 0,8-15";
        status = PERFTRACE_ERR_INVALID;
    }
    /* These need not profile. */
    if (!status && !read_ranks(o->finish_ranks, o->finish_all_ranks, o->name.rank, &p->finishes)) {
        reason = "finish_ranks is no list such as 0,8-15";
        status = PERFTRACE_ERR_INVALID;
    }
    if (!status && o->steps && p->schedule.form == PERFTRACE__SCHEDULE_STEPS) {
        reason = "steps are given twice, in the options and in the schedule";
        status = PERFTRACE_ERR_INVALID;
    }
    p->selected = p->selected && o->enable;
    p->finishes = p->finishes && o->enable && finishes;
    if (status) {
        perftrace__profiler_log(p, PERFTRACE_LOG_ERROR, "no profiler: %s", reason);
    }
    return status;
}

static int add_recorder(perftrace_profiler_t *p, const perftrace_profiler_back_end_t *calls,
                        void (*close)(void *)) {
    if (p->nrecorders == PERFTRACE__BACK_ENDS_MAX) {
        perftrace__profiler_log(p, PERFTRACE_LOG_ERROR, "no profiler: more than %d back ends",
                                PERFTRACE__BACK_ENDS_MAX);
        return PERFTRACE_ERR_INVALID;
    }
    p->recorders[p->nrecorders++] = (perftrace__recorder_t){
        *calls, close, calls->gpu ? PERFTRACE_PROFILER_GPU : PERFTRACE_PROFILER_CPU, false};
    return PERFTRACE_OK;
}

static int open_built_in(perftrace_profiler_t *p, const char *name, size_t len) {
    const perftrace__back_end_t *b = perftrace__back_end_find(name, len);
    if (!b) {
        perftrace__profiler_log(p, PERFTRACE_LOG_ERROR,
                                "no profiler: there is no back end %.*s, only %s", (int)len, name,
                                perftrace__back_end_names());
        return PERFTRACE_ERR_INVALID;
    }
    if (b == &perftrace__back_end_perf && p->opt.perf_control && p->opt.perf_control[0]) {
        b = &perftrace__back_end_perf_outside;
    }
    perftrace_profiler_back_end_t calls = b->calls;
    calls.user = b->open(&p->opt);
    if (!calls.user) {
        return PERFTRACE_ERR_NOMEM;
    }
    int status = add_recorder(p, &calls, b->close);
    if (status) {
        b->close(calls.user);
    } else if (b->activities) {
        p->recorders[p->nrecorders - 1].activities = b->activities;
    }
    return status;
}

static int open_recorders(perftrace_profiler_t *p, const perftrace_profiler_options_t *o) {
    int status = PERFTRACE_OK;
    for (const char *s = o->back_ends ? o->back_ends : ""; *s && !status;) {
        s += strspn(s, ", \t");
        size_t len = strcspn(s, ", \t");
        if (len) {
            status = open_built_in(p, s, len);
        }
        s += len;
    }
    if (!status && o->callback) {
        perftrace_profiler_back_end_t calls = {0};
        memcpy(&calls, o->callback, PT_MIN(o->callback->struct_size, sizeof(calls)));
        calls.name = calls.name ? calls.name : "callback";
        status = add_recorder(p, &calls, NULL);
    }
    if (!status && p->nrecorders == 0) {
        perftrace__profiler_log(p, PERFTRACE_LOG_ERROR,
                                "no profiler: no back end is given (there are %s)",
                                perftrace__back_end_names());
        status = PERFTRACE_ERR_INVALID;
    }
    return status;
}

/* GPUs have one profiling interface: the second that asks gets nothing, or takes it away. */
static void warn_of_two(const perftrace_profiler_t *p) {
    perftrace__window_t *g = &perftrace__window;
    char first[64] = "";
    char second[64] = "";
    pthread_mutex_lock(&g->lock);
    for (const perftrace_profiler_t *q = g->all; q && !second[0]; q = q->next) {
        for (size_t i = 0; i < q->nrecorders && !second[0]; i++) {
            const perftrace_profiler_back_end_t *c = &q->recorders[i].calls;
            /* Twice the same is one profiler for two roles. */
            if (c->gpu && strcmp(first, c->name) != 0) {
                snprintf(first[0] ? second : first, sizeof(first), "%.63s", c->name);
            }
        }
    }
    pthread_mutex_unlock(&g->lock);
    if (second[0]) {
        perftrace__profiler_log(p, PERFTRACE_LOG_WARNING,
                                "%s and %s both use the GPU's profiling interface, which serves "
                                "one: one of them may record nothing",
                                first, second);
    }
}

/* ---- process ---- */

static void finish(perftrace_profiler_t *p);

static void finish_all(void) {
    perftrace__window_t *g = &perftrace__window;
    pthread_mutex_lock(&g->lock);
    perftrace_profiler_t *p = g->all;
    pthread_mutex_unlock(&g->lock);
    /* Nobody closes one while the process ends; what closes itself does it here. */
    for (; p; p = p->next) {
        finish(p);
    }
}

static void fork_prepare(void) {
    pthread_mutex_lock(&perftrace__window.lock);
}

static void fork_parent(void) {
    pthread_mutex_unlock(&perftrace__window.lock);
}

/* What records is the parent's. */
static void fork_child(void) {
    perftrace__window_t *g = &perftrace__window;
    pthread_mutex_init(&g->calls, NULL);
    pthread_cond_init(&g->settled, NULL);
    g->state = PERFTRACE_PROFILER_IDLE;
    g->telling = 0;
    g->forks++;
    g->owner = NULL;
    g->current = NULL;
    g->wanted = PERFTRACE__ENDING_NONE;
    for (perftrace_profiler_t *p = g->all; p; p = p->next) {
        p->collect.on = false;
        p->stage_token = 0;
        p->inherited = true;
    }
    pthread_mutex_unlock(&g->lock); /* this thread has it from fork_prepare */
}

static void install(void) {
    atexit(finish_all);
    pthread_atfork(fork_prepare, fork_parent, fork_child);
}

/* ---- public ---- */

static void free_profiler(perftrace_profiler_t *p) {
    const char **places[16];
    const size_t count = own_strings(p, places);
    for (size_t i = 0; i < p->nrecorders; i++) {
        if (p->recorders[i].close) {
            p->recorders[i].close(p->recorders[i].calls.user);
        }
    }
    for (size_t i = 0; i < count; i++) {
        free((char *)*places[i]);
    }
    perftrace__schedule_free(&p->schedule);
    perftrace__schedule_free(&p->gate);
    free(p->dir);
    free(p);
}

static int set_up(perftrace_profiler_t *p, const perftrace_profiler_options_t *o) {
    perftrace__strbuf_t dir = PERFTRACE__STRBUF_INIT;
    int err = perftrace__os_absolute_path(&dir, o->dir && o->dir[0] ? o->dir : ".");
    if (err || dir.failed) {
        perftrace__strbuf_free(&dir);
        return err ? PERFTRACE_ERR_IO : PERFTRACE_ERR_NOMEM;
    }
    p->dir = dir.data;
    int status = read_lists(p, o);
    if (status) {
        return status;
    }
    p->global_step = p->gate_index = -1;
    p->armed = (perftrace__run_t){
        .by = PERFTRACE__BY_SCHEDULE, .plan = p->schedule, .position = -1, .done_with = -1};
    p->armed.on = p->selected && p->gate.form != PERFTRACE__SCHEDULE_STEPS && !p->opt.discrete &&
                  p->schedule.form != PERFTRACE__SCHEDULE_ALWAYS;
    return open_recorders(p, o);
}

int perftrace_profiler_open(const perftrace_profiler_options_t *options,
                            perftrace_profiler_t **ret) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    perftrace__window_t *g = &perftrace__window;
    if (!ret) {
        return PERFTRACE_ERR_INVALID;
    }
    *ret = NULL;
    if (!options || options->struct_size < sizeof(options->struct_size)) {
        return PERFTRACE_ERR_INVALID;
    }
    perftrace_profiler_options_t whole = PERFTRACE_PROFILER_OPTIONS_INIT;
    memcpy(&whole, options, PT_MIN(options->struct_size, sizeof(whole)));
    perftrace_profiler_t *p = calloc(1, sizeof(*p));
    if (!p) {
        return PERFTRACE_ERR_NOMEM;
    }
    p->opt = whole;
    perftrace__trace_name_whole(&whole.name, &p->opt.name);
    int status = copy_strings(p) ? set_up(p, &whole) : PERFTRACE_ERR_NOMEM;
    if (status) {
        free_profiler(p);
        return status;
    }
    pthread_once(&once, install);
    pthread_mutex_lock(&g->lock);
    p->next = g->all;
    g->all = p;
    pthread_mutex_unlock(&g->lock);
    if (p->selected) {
        warn_of_two(p);
    }
    *ret = p;
    return PERFTRACE_OK;
}

/* One line when windows were not reached. */
static void tell_missed(const perftrace_profiler_t *p) {
    const perftrace__schedule_t *plan = p->armed.on ? &p->schedule : &p->gate;
    if (!p->selected || p->opt.discrete || plan->form == PERFTRACE__SCHEDULE_ALWAYS) {
        return;
    }
    int64_t first;
    const int64_t windows = perftrace__schedule_windows(plan, &first);
    const int64_t recorded = p->recorded + p->absorbed;
    if (recorded == 0 && windows < 0) {
        perftrace__profiler_log(p, PERFTRACE_LOG_WARNING,
                                "no window recorded, first active step is %" PRId64, first);
    } else if (recorded == 0 && windows > 0) {
        perftrace__profiler_log(p, PERFTRACE_LOG_WARNING,
                                "0 of %" PRId64 " windows recorded, first active step is %" PRId64,
                                windows, first);
    } else if (recorded < windows) {
        perftrace__profiler_log(p, PERFTRACE_LOG_WARNING,
                                "%" PRId64 " of %" PRId64 " windows recorded", recorded, windows);
    }
}

/* After the last window: late reports, and the command if it was not run. With the lock. */
static void finish_windows(perftrace_profiler_t *p) {
    perftrace__window_t *g = &perftrace__window;
    if (p->recorded > 0 && p->opt.relocate_from) {
        perftrace_trace_name_t name = p->opt.name;
        name.pid = perftrace__os_pid();
        name.time_ms = (int64_t)(perftrace__os_realtime_ns() / 1000000u);
        pthread_mutex_unlock(&g->lock);
        perftrace__finish_relocate(p, p->dir, &name);
        pthread_mutex_lock(&g->lock);
    }
    /* A rank that does not profile knows only the steps that it was told. */
    const bool gated = p->gate.form == PERFTRACE__SCHEDULE_STEPS;
    const bool reached = p->gate.list.count > 0 && p->global_step >= p->gate.list.item[0].first;
    if (p->selected ? p->recorded + p->absorbed > 0 : !gated || reached) {
        perftrace__finish_run(p);
    }
}

/* Ends the window of p and whatever it waits for. */
static void finish(perftrace_profiler_t *p) {
    perftrace__window_t *g = &perftrace__window;
    pthread_mutex_lock(&g->lock);
    const bool before = p->finished; /* nothing is told twice */
    p->finished = true;
    p->opt.same_thread = 0; /* this is the last call there is */
    if (g->owner == p && g->telling == perftrace__os_tid()) {
        /* A back end's step calls exit(): it does not return, and the window is saved all the same.
         */
        g->telling = 0;
        pthread_mutex_unlock(&g->calls);
    }
    perftrace__window_wait();
    perftrace__run_end(p, PERFTRACE__ENDING_STOP);
    perftrace__window_wait();
    if (!before && !p->inherited) {
        finish_windows(p);
    }
    pthread_mutex_unlock(&g->lock);
    if (!before && !p->inherited) { /* what the parent missed is not the child's to tell */
        tell_missed(p);
    }
}

int perftrace_profiler_close(perftrace_profiler_t *p) {
    perftrace__window_t *g = &perftrace__window;
    if (!p) {
        return PERFTRACE_OK;
    }
    finish(p);
    pthread_mutex_lock(&g->lock);
    for (perftrace_profiler_t **at = &g->all; *at; at = &(*at)->next) {
        if (*at == p) {
            *at = p->next;
            break;
        }
    }
    pthread_mutex_unlock(&g->lock);
    free_profiler(p);
    return PERFTRACE_OK;
}
