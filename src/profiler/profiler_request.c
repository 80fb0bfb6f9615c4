/* profiler_request.c: start, stop and status by hand. SPDX-License-Identifier: MIT */
#include "os.h"
#include "profiler_state.h"
#include "profiler_traits.h"

#include <perftrace/status.h>

#include <stdio.h>
#include <string.h>

/* The plan that a request follows. */
static int read_plan(const perftrace_profiler_t *p, const perftrace_profiler_request_t *request,
                     perftrace__schedule_t *ret) {
    const char *reason = NULL;
    int status = perftrace__schedule_read(&request->schedule, ret, &reason);
    if (!status && ret->form == PERFTRACE__SCHEDULE_STEPS) {
        reason = "a start counts its steps: it takes no list";
        status = PERFTRACE_ERR_INVALID;
    }
    if (status) {
        perftrace__schedule_free(ret);
        perftrace__profiler_log(p, PERFTRACE_LOG_WARNING, "the start is not taken: %s", reason);
    } else if (ret->form == PERFTRACE__SCHEDULE_ALWAYS &&
               p->schedule.form == PERFTRACE__SCHEDULE_CYCLES) {
        *ret = p->schedule;
    }
    return status;
}

static bool has_recorder(const perftrace_profiler_t *p, unsigned activities) {
    bool found = activities == 0;
    for (size_t i = 0; i < p->nrecorders && !found; i++) {
        found = (p->recorders[i].activities & activities) != 0;
    }
    return found;
}

/* What a request wants beside its steps. */
static int read_wishes(const perftrace_profiler_t *p, const perftrace_profiler_request_t *request,
                       perftrace__wishes_t *ret) {
    const char *dir = request->dir ? request->dir : "";
    const char *categories = request->categories ? request->categories : "";
    const bool below = dir[0] && dir[0] != '/';
    *ret = (perftrace__wishes_t){.activities = request->activities,
                                 .by_stage = request->by_stage != 0};
    int made =
        snprintf(ret->dir, sizeof(ret->dir), "%s%s%s", below ? p->dir : "", below ? "/" : "", dir);
    if (made < 0 || (size_t)made >= sizeof(ret->dir)) {
        return PERFTRACE_ERR_TOO_LONG;
    }
    made = snprintf(ret->categories, sizeof(ret->categories), "%s", categories);
    if (made < 0 || (size_t)made >= sizeof(ret->categories)) {
        return PERFTRACE_ERR_INVALID;
    }
    return has_recorder(p, ret->activities) ? PERFTRACE_OK : PERFTRACE_ERR_NOT_FOUND;
}

int perftrace_profiler_start(perftrace_profiler_t *p, const perftrace_profiler_request_t *request) {
    perftrace__window_t *g = &perftrace__window;
    perftrace_profiler_request_t r = PERFTRACE_PROFILER_REQUEST_INIT;
    if (!p || (request && request->struct_size < sizeof(request->struct_size))) {
        return PERFTRACE_ERR_INVALID;
    }
    if (request) {
        memcpy(&r, request, PT_MIN(request->struct_size, sizeof(r)));
    }
    perftrace__schedule_t plan;
    perftrace__wishes_t wishes;
    int status = read_wishes(p, &r, &wishes);
    status = status ? status : read_plan(p, &r, &plan);
    if (status || !p->selected || p->opt.discrete) {
        return status;
    }
    pthread_mutex_lock(&g->lock);
    if (p->finished || g->state != PERFTRACE_PROFILER_IDLE || g->current) {
        status = PERFTRACE_ERR_STATE;
    } else {
        perftrace__run_begin(p, PERFTRACE__BY_REQUEST, &plan, r.label);
        p->collect.wishes = wishes;
        if (!r.at_next_step && !p->opt.same_thread) {
            status = perftrace__run_step(p, &p->collect, PERFTRACE_PROFILER_NEXT, NULL);
            if (status) {
                perftrace__run_end(p, PERFTRACE__ENDING_STOP);
            }
        }
        perftrace__window_settle();
    }
    pthread_mutex_unlock(&g->lock);
    return status;
}

perftrace__profiler_traits_t perftrace__profiler_get_traits(const perftrace_profiler_t *p) {
    perftrace__profiler_traits_t t = {.dir = p->dir};
    for (size_t i = 0; i < p->nrecorders; i++) {
        const perftrace__recorder_t *r = &p->recorders[i];
        t.files |= r->calls.extension != NULL;
        t.details |= r->calls.start == perftrace__back_end_self.calls.start;
        t.activities |= r->activities;
    }
    const char *details = p->opt.detail_categories;
    t.details &= details && details[0];
    return t;
}

int perftrace_profiler_stop(perftrace_profiler_t *p) {
    perftrace__window_t *g = &perftrace__window;
    if (!p) {
        return PERFTRACE_ERR_INVALID;
    }
    if (!p->selected) {
        return PERFTRACE_OK;
    }
    bool told = true;
    pthread_mutex_lock(&g->lock);
    /* Whoever's request it is: the first start won, any stop ends it. */
    perftrace_profiler_t *whose = g->owner ? g->owner : g->current;
    if (!whose) {
        told = g->told_idle;
        g->told_idle = true;
    } else if (whose->collect.on && whose->collect.by != PERFTRACE__BY_STAGE) {
        perftrace__run_end(whose, PERFTRACE__ENDING_STOP);
    } else {
        whose->collect.on = false;
        perftrace__window_end(PERFTRACE__ENDING_STOP);
    }
    pthread_mutex_unlock(&g->lock);
    if (!told) {
        perftrace__profiler_log(p, PERFTRACE_LOG_NOTE, "there is no window to stop");
    }
    return PERFTRACE_OK;
}

int perftrace_profiler_get_status(perftrace_profiler_status_t *ret) {
    perftrace__window_t *g = &perftrace__window;
    const size_t size = ret ? ret->struct_size : 0;
    if (size < sizeof(size)) {
        return PERFTRACE_ERR_INVALID;
    }
    perftrace_profiler_status_t s = {
        .struct_size = size, .first_step = -1, .last_step = -1, .steps_wanted = -1};
    pthread_mutex_lock(&g->lock);
    s.state = (int)(g->state == PERFTRACE_PROFILER_IDLE && g->current ? PERFTRACE_PROFILER_WAITING
                                                                      : g->state);
    s.aborted = g->last_aborted;
    s.saved = g->saved;
    if (g->owner) {
        s.first_step = g->info.first_step;
        s.last_step = g->info.last_step;
        s.steps_done = g->info.steps_done;
        s.steps_wanted = g->info.steps_wanted;
        snprintf(s.role, sizeof(s.role), "%.*s", (int)sizeof(s.role) - 1, g->info.role);
        snprintf(s.stage, sizeof(s.stage), "%.*s", (int)sizeof(s.stage) - 1, g->stage);
    } else if (g->current) { /* whose request waits, and what it is called */
        const char *role = g->current->opt.name.role;
        snprintf(s.role, sizeof(s.role), "%.*s", (int)sizeof(s.role) - 1, role ? role : "");
        snprintf(s.stage, sizeof(s.stage), "%.*s", (int)sizeof(s.stage) - 1,
                 g->current->collect.label);
    }
    memcpy(s.last_mark, g->last_mark, sizeof(s.last_mark));
    memcpy(s.last_path, g->last_path, sizeof(s.last_path));
    memcpy(s.problem, g->problem, sizeof(s.problem));
    pthread_mutex_unlock(&g->lock);
    memcpy(ret, &s, PT_MIN(size, sizeof(s)));
    return PERFTRACE_OK;
}
