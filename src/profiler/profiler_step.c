/* profiler_step.c: steps, and what they open and end. SPDX-License-Identifier: MIT */
#include "os.h"
#include "profiler_state.h"

#include <perftrace/status.h>

#include <stdio.h>

void perftrace__run_begin(perftrace_profiler_t *p, perftrace__trigger_t by,
                          const perftrace__schedule_t *plan, const char *label) {
    p->collect =
        (perftrace__run_t){.on = true, .by = by, .plan = *plan, .position = -1, .done_with = -1};
    /* An armed schedule may go on for ever; what was asked for ends. */
    if (plan->form == PERFTRACE__SCHEDULE_CYCLES && plan->given.repeat == 0) {
        p->collect.plan.given.repeat = 1;
    }
    snprintf(p->collect.label, sizeof(p->collect.label), "%s", label ? label : "");
    perftrace__window.current = p;
}

void perftrace__run_end(perftrace_profiler_t *p, perftrace__ending_t ending) {
    perftrace__window_t *g = &perftrace__window;
    p->collect.on = false;
    if (g->current == p) {
        g->current = NULL;
    }
    if (g->owner == p) {
        perftrace__window_end(ending);
    }
}

/* ---- counting -----------------------------------------------------------------------------------
 */

/* The step that NEXT began in the window has ended. */
static void count_pending(perftrace__window_t *g) {
    if (!g->pending) {
        return;
    }
    g->pending = false;
    g->info.steps_done++;
    if (g->pending_step >= 0) {
        g->info.first_step = g->info.first_step < 0 ? g->pending_step : g->info.first_step;
        g->info.last_step = g->pending_step;
    }
    if (g->mb_pending >= 0) {
        g->mb_first = g->mb_first < 0 ? g->mb_pending : g->mb_first;
        g->mb_last = g->mb_pending;
    }
}

/* A step begins in the open window. number: as the program counts, -1 unknown; numbered: it was
 * given; mb: its number within a step of the run, -1 none. */
static void note_step(perftrace__window_t *g, int64_t number, bool numbered, int64_t mb) {
    count_pending(g);
    g->pending = true;
    g->pending_step = number;
    g->mb_pending = mb;
    if (numbered) {
        count_pending(g); /* it counts at once */
    } else if (g->info.first_step < 0) {
        g->info.first_step = number;
    }
}

static void tell_recorders(perftrace_profiler_t *p, int64_t step, int action) {
    perftrace__window_t *g = &perftrace__window;
    pthread_mutex_unlock(&g->lock);
    /* Whoever starts or stops meanwhile may take long: a step does not wait for that. Nor does one
     * that a back end's function tells. */
    const bool alone = pthread_mutex_trylock(&g->calls) == 0;
    pthread_mutex_lock(&g->lock);
    if (!alone) {
        return;
    }
    const unsigned forks = g->forks;
    const bool open = g->owner == p && g->state == PERFTRACE_PROFILER_RECORDING;
    const unsigned started = g->started;
    if (!g->owner || open) { /* else it starts or saves, or somebody else's records */
        g->telling = perftrace__os_tid();
        pthread_mutex_unlock(&g->lock);
        for (size_t i = 0; i < p->nrecorders; i++) {
            const perftrace_profiler_back_end_t *c = &p->recorders[i].calls;
            if (c->step && (!open || (started & 1u << i))) {
                c->step(c->user, step, action);
            }
        }
        pthread_mutex_lock(&g->lock);
        g->telling = 0;
    }
    perftrace__window_unlock_calls(forks);
}

/* ---- runs ---- */

/* Ends the window when the plan is beyond it, opens one when the plan is in it. */
static int follow(perftrace_profiler_t *p, perftrace__run_t *run, int64_t step, int action,
                  const perftrace_schedule_window_t *w) {
    perftrace__window_t *g = &perftrace__window;
    const bool recorded = action >= PERFTRACE_PROFILER_RECORD;
    if (g->owner == p && g->by == run->by) {
        count_pending(g);
        if (!recorded || w->index != g->index) {
            perftrace__window_end(PERFTRACE__ENDING_STOP);
        }
    }
    if (run->wishes.by_stage) { /* windows are opened by the stages */
        run->stages = recorded;
        run->done_with = recorded ? w->index : run->done_with;
        return PERFTRACE_OK;
    }
    if (!recorded || run->done_with == w->index || g->state != PERFTRACE_PROFILER_IDLE) {
        return recorded && g->owner != p ? PERFTRACE_ERR_STATE : PERFTRACE_OK;
    }
    run->done_with = w->index; /* also when it does not start: the program goes on without */
    return perftrace__window_open(p, run->by, step, w, &run->wishes, run->label);
}

int perftrace__run_step(perftrace_profiler_t *p, perftrace__run_t *run, int64_t step,
                        int *ret_action) {
    perftrace__window_t *g = &perftrace__window;
    const bool armed = run == &p->armed;
    const bool numbered = step >= 0;
    run->position = armed && numbered ? step : run->position + 1;
    const int64_t position = run->position;
    /* Within a step of the run, NEXT counts mini-batches. */
    const bool inner = run->by == PERFTRACE__BY_GATE || run->by == PERFTRACE__BY_STAGE;
    const int64_t number = numbered ? step : armed ? position : p->global_step;
    perftrace_schedule_window_t w;
    const int action = (int)perftrace__schedule_action(&run->plan, position, &w);
    int status = follow(p, run, number, action, &w);
    if (g->owner == p && g->by == run->by && g->state == PERFTRACE_PROFILER_RECORDING &&
        action >= PERFTRACE_PROFILER_RECORD) {
        note_step(g, number, numbered, inner ? position : -1);
    }
    tell_recorders(p, number, action);
    if (run->by == PERFTRACE__BY_REQUEST && run->on && w.index < 0 && run->done_with >= 0 &&
        run->done_with + 1 == perftrace__schedule_windows(&run->plan, NULL)) {
        perftrace__run_end(p, PERFTRACE__ENDING_STOP); /* it has what it asked for */
    }
    if (ret_action) {
        *ret_action = action;
    }
    return status;
}

/* ---- the gate ---- */

/* A listed step is a window, or what its mini-batches make of it. */
static int gate_step(perftrace_profiler_t *p, int64_t step) {
    perftrace__window_t *g = &perftrace__window;
    perftrace__run_t *run = &p->collect;
    perftrace_schedule_window_t w;
    const int action = (int)perftrace__schedule_action(&p->gate, step, &w);
    const bool whole = p->schedule.form == PERFTRACE__SCHEDULE_ALWAYS;
    if (run->on && run->by == PERFTRACE__BY_GATE && w.index != p->gate_index) {
        perftrace__run_end(p, PERFTRACE__ENDING_STOP);
    }
    if (w.index >= 0 && w.index != p->gate_index && !run->on) {
        p->gate_index = w.index;
        perftrace__run_begin(p, PERFTRACE__BY_GATE, whole ? &p->gate : &p->schedule, NULL);
        int status;
        if (whole) {
            w.first = step; /* what is left of the adjacent listed steps */
            w.index = 0;    /* its steps are in the name */
            status = perftrace__window_open(p, PERFTRACE__BY_GATE, step, &w, NULL, NULL);
        } else {
            status = perftrace__run_step(p, run, PERFTRACE_PROFILER_NEXT, NULL);
        }
        p->absorbed += status == PERFTRACE_ERR_STATE;
    }
    if (whole && w.index >= 0 && g->owner == p && g->by == PERFTRACE__BY_GATE &&
        g->state == PERFTRACE_PROFILER_RECORDING) {
        note_step(g, step, true, -1);
    }
    if (whole) {
        tell_recorders(p, step, action);
    }
    return action;
}

/* ---- public ---- */

int perftrace_profiler_step(perftrace_profiler_t *p, int64_t step) {
    perftrace__window_t *g = &perftrace__window;
    if (!p || step < PERFTRACE_PROFILER_NEXT) {
        return PERFTRACE_ERR_INVALID;
    }
    if (!p->selected && !p->finishes) {
        return PERFTRACE_PROFILER_NONE;
    }
    perftrace_profiler_t *const asked = p;
    int action = PERFTRACE_PROFILER_NONE;
    pthread_mutex_lock(&g->lock);
    if (!p->selected) {
        p->global_step = step >= 0 ? step : p->global_step;
    }
    if (p->finished || !p->selected) {
        goto done;
    }
    p->inherited = false;
    perftrace__window_settle();
    if (step >= 0) {
        p->global_step = step;
    } else if (g->current || g->owner) {
        p = g->owner ? g->owner : g->current; /* whoever records, steps of all roles count */
    }
    if (step < 0 && p->gate.form != PERFTRACE__SCHEDULE_STEPS && !p->opt.discrete) {
        p->global_step++;
    }
    const bool request = p->collect.on && p->collect.by == PERFTRACE__BY_REQUEST;
    const bool gated = p->gate.form == PERFTRACE__SCHEDULE_STEPS;
    if (request) {
        if (p->armed.on) { /* it rests meanwhile, but its steps pass */
            p->armed.position = step >= 0 ? step : p->armed.position + 1;
        }
        perftrace__run_step(p, &p->collect, step, &action);
    } else if (step >= 0 && gated) {
        if (!p->opt.discrete) {
            action = gate_step(p, step);
        }
    } else if (p->collect.on) {
        /* Mini-batches of a listed step or of a stage, where a schedule rules in it. */
        if (step < 0 && p->collect.plan.form != PERFTRACE__SCHEDULE_STEPS) {
            perftrace__run_step(p, &p->collect, step, &action);
        } else {
            tell_recorders(p, step, action);
        }
    } else if (p->armed.on) {
        perftrace__run_step(p, &p->armed, step, &action);
    } else {
        tell_recorders(p, step, action);
    }
    perftrace__window_settle();
done:
    if (!asked->finished) {
        perftrace__finish_step(asked);
    }
    pthread_mutex_unlock(&g->lock);
    return action;
}
