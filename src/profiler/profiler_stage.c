/* profiler_stage.c: annotated stages. SPDX-License-Identifier: MIT
 *
 * Compiled so that C++ exceptions and cancellation unwind through it: what stands under `cleanup`
 * runs then, too. */
#include "profiler_state.h"

#include <perftrace/status.h>

#include <stdio.h>

/* Whether a request runs that wants the stages of its steps. */
static bool is_asked_for(const perftrace_profiler_t *p) {
    return p->collect.on && p->collect.by == PERFTRACE__BY_REQUEST && p->collect.wishes.by_stage;
}

/* "label stage", or what there is of both. */
static int open_asked(perftrace_profiler_t *p, const char *stage) {
    char label[PERFTRACE__STAGE_MAX * 2];
    const char *first = p->collect.label;
    const char *second = stage ? stage : "";
    snprintf(label, sizeof(label), "%s%s%s", first, first[0] && second[0] ? " " : "", second);
    return perftrace__window_open(p, PERFTRACE__BY_STAGE, NULL, &p->collect.wishes, label);
}

static int64_t open_stage(perftrace_profiler_t *p, const char *stage, int flags) {
    perftrace__window_t *g = &perftrace__window;
    const bool asked = is_asked_for(p);
    const bool scheduled = !asked && (flags & PERFTRACE_PROFILER_STAGE_SCHEDULED) != 0 &&
                           p->schedule.form != PERFTRACE__SCHEDULE_ALWAYS;
    int status;
    if (scheduled) {
        perftrace__run_begin(p, PERFTRACE__BY_STAGE, &p->schedule, stage);
        status = perftrace__run_step(p, &p->collect, PERFTRACE_PROFILER_NEXT, NULL);
        if (status) {
            perftrace__run_end(p, PERFTRACE__ENDING_STOP);
        }
    } else {
        status = asked ? open_asked(p, stage)
                       : perftrace__window_open(p, PERFTRACE__BY_STAGE, NULL, NULL, stage);
        if (!status) {
            g->info.first_step = g->info.last_step = p->global_step;
        }
    }
    if (status) {
        return 0;
    }
    p->stage_token = ++g->tokens;
    return p->stage_token;
}

int64_t perftrace_profiler_stage_begin(perftrace_profiler_t *p, const char *stage, int flags) {
    perftrace__window_t *g = &perftrace__window;
    if (!p) {
        return PERFTRACE_ERR_INVALID;
    }
    if (!p->selected) {
        return 0;
    }
    int64_t token = 0;
    pthread_mutex_lock(&g->lock);
    const bool asked = is_asked_for(p);
    const bool on_step = asked ? p->collect.stages
                               : p->opt.discrete && !g->current &&
                                     (p->gate.form != PERFTRACE__SCHEDULE_STEPS ||
                                      perftrace__number_list_has(&p->gate.list, p->global_step));
    /* Nested in another stage, or beside one of another thread: that one has the window. */
    if (on_step && !p->finished && g->state == PERFTRACE_PROFILER_IDLE) {
        token = open_stage(p, stage, flags);
    }
    perftrace__window_settle();
    pthread_mutex_unlock(&g->lock);
    return token;
}

int perftrace_profiler_stage_end(perftrace_profiler_t *p, int64_t token, int failed) {
    perftrace__window_t *g = &perftrace__window;
    if (!p) {
        return PERFTRACE_ERR_INVALID;
    }
    if (!p->selected) {
        return PERFTRACE_OK;
    }
    const perftrace__ending_t ending = failed ? PERFTRACE__ENDING_ABORT : PERFTRACE__ENDING_STOP;
    pthread_mutex_lock(&g->lock);
    if (token > 0 && token == p->stage_token) {
        p->stage_token = 0;
        if (p->collect.on && p->collect.by == PERFTRACE__BY_STAGE) {
            perftrace__run_end(p, ending);
        } else if (g->owner == p && g->by == PERFTRACE__BY_STAGE) {
            perftrace__window_end(ending);
        }
    } else if (failed && g->owner == p && g->by != PERFTRACE__BY_STAGE) {
        if (p->collect.on) {
            perftrace__run_end(p, ending);
        } else {
            perftrace__window_end(ending); /* the armed schedule goes on with its next window */
        }
    }
    perftrace__window_settle();
    pthread_mutex_unlock(&g->lock);
    return PERFTRACE_OK;
}

typedef struct running {
    perftrace_profiler_t *profiler;
    int64_t token;
    int failed;
} running_t;

static void end_running(running_t *r) {
    perftrace_profiler_stage_end(r->profiler, r->token, r->failed);
}

int perftrace_profiler_run(perftrace_profiler_t *profiler, const char *stage, int flags,
                           int (*body)(void *arg), void *arg) {
    /* A failure unless it returns. */
    __attribute__((cleanup(end_running))) running_t running = {profiler, 0, 1};
    running.token = perftrace_profiler_stage_begin(profiler, stage, flags);
    int result = body ? body(arg) : 0;
    running.failed = result != 0;
    return result;
}
