/* profiler_stage.c: annotated stages. SPDX-License-Identifier: MIT
 *
 * Compiled so that C++ exceptions and cancellation unwind through it: what stands under `cleanup`
 * runs then, too. */
#include "profiler_state.h"

#include <perftrace/bindings.h>
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
    return perftrace__window_open(p, PERFTRACE__BY_STAGE, p->global_step, NULL, &p->collect.wishes,
                                  label);
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
                       : perftrace__window_open(p, PERFTRACE__BY_STAGE, p->global_step, NULL, NULL,
                                                stage);
        if (!status) {
            g->info.last_step = g->info.first_step;
        }
    }
    if (status) {
        return 0;
    }
    p->stage_token = ++g->tokens;
    return p->stage_token;
}

/* ---- ranges: a stage within an open window, whoever opened that ----
 *
 * A token is the number of the stage that has the window (0: another one has) and, above it, what
 * was told of its range: a bit for the scope in the trace, then one a recorder. */

#define TOKEN_BITS  40
#define RANGE_SCOPE 1
_Static_assert(TOKEN_BITS + 1 + PERFTRACE__BACK_ENDS_MAX < 63, "a bit a recorder");

/* The site of all ranges, which are named as they begin; negative without memory. Without a lock,
 * which a fork could leave held: of several threads the first keeps its own. */
static int range_site(void) {
    static int64_t known = -1;
    /* Pairs with the exchange below: the site is whole. */
    int64_t site = __atomic_load_n(&known, __ATOMIC_ACQUIRE);
    if (site < 0) {
        const int made = perftrace_bound_site(PERFTRACE_I_KIND_SCOPE, NULL, "instr", 0, NULL);
        if (made < 0 || __atomic_compare_exchange_n(&known, &site, (int64_t)made, 0,
                                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            site = made;
        }
    }
    return (int)site;
}

/* "role.stage", or what there is of both. */
static void put_label(const perftrace_profiler_t *p, const char *stage, char *text, size_t size) {
    const char *role = p->opt.name.role ? p->opt.name.role : "";
    const char *what = stage ? stage : "";
    snprintf(text, size, "%s%s%s", role, role[0] && what[0] ? "." : "",
             what[0] || role[0] ? what : "stage");
}

/* started: bits of this profiler's recorders that record. Without locks: back ends may be asked by
 * several threads at once. */
static int64_t begin_range(perftrace_profiler_t *p, const char *stage, unsigned started) {
    char label[PERFTRACE__STAGE_MAX * 2];
    int64_t told = 0;
    const int site = range_site();
    put_label(p, stage, label, sizeof(label));
    const int begun = site >= 0 ? perftrace_bound_begin_named(site, label) : -1;
    if (begun > 0) {
        told = RANGE_SCOPE;
    } else if (begun == 0) {
        perftrace_bound_end(site); /* nothing is recorded now */
    }
    for (size_t i = 0; i < p->nrecorders; i++) {
        const perftrace_profiler_back_end_t *c = &p->recorders[i].calls;
        if ((started & 1u << i) && c->range_begin) {
            c->range_begin(c->user, label);
            told |= INT64_C(2) << i;
        }
    }
    return told;
}

static void end_range(perftrace_profiler_t *p, int64_t told) {
    for (size_t i = p->nrecorders; i > 0; i--) {
        const perftrace_profiler_back_end_t *c = &p->recorders[i - 1].calls;
        if ((told & INT64_C(2) << (i - 1)) && c->range_end) {
            c->range_end(c->user);
        }
    }
    if (told & RANGE_SCOPE) {
        perftrace_bound_end(range_site());
    }
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
    const bool records = g->state == PERFTRACE_PROFILER_RECORDING;
    const unsigned started = records && g->owner == p ? g->started : 0;
    pthread_mutex_unlock(&g->lock);
    const int64_t told = records ? begin_range(p, stage, started) : 0;
    return told << TOKEN_BITS | token;
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
    if (token > 0) {
        end_range(p, token >> TOKEN_BITS); /* also of a body that failed */
        token &= (INT64_C(1) << TOKEN_BITS) - 1;
    }
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
