/* live_judge.c. SPDX-License-Identifier: MIT */
#include "live_judge.h"

#include "grow.h"

#include <string.h>

bool pt_live_is_stuck(const pt_live_process_t *p, const pt_live_thread_t *t,
                      const pt_live_judge_options_t *o) {
    return pt_live_is_there(p) && t->scopes > 0 && t->whole && !t->moved &&
           t->still_ns >= o->stuck_ns && (!o->main_only || t->tid == p->pid);
}

/* ---- waiting ------------------------------------------------------------------------------------
 */

static bool same_run(const pt_live_model_t *m, size_t a, size_t b) {
    return strcmp(m->process[a].run, m->process[b].run) == 0;
}

static pt_live_wait_t *wait_of(const pt_live_model_t *m, pt_live_verdict_t *v, size_t process,
                               const pt_live_scope_t *s) {
    for (size_t i = 0; i < v->waits; i++) {
        pt_live_wait_t *w = &v->wait[i];
        if (same_run(m, w->run, process) && w->comm == s->comm && strcmp(w->name, s->name) == 0 &&
            w->has_step == s->has_step && (!s->has_step || w->step == s->step)) {
            return w;
        }
    }
    if (!PT_GROW(v, wait, waits, wait_cap, 1)) {
        v->failed = true;
        return NULL;
    }
    pt_live_wait_t *w = &v->wait[v->waits++];
    *w = (pt_live_wait_t){.run = process,
                          .name = s->name,
                          .category = s->category,
                          .comm = s->comm,
                          .has_step = s->has_step,
                          .step = s->step};
    return w;
}

static void add_waiting(const pt_live_model_t *m, const pt_live_judge_options_t *o,
                        pt_live_verdict_t *v, size_t process, uint32_t thread) {
    const pt_live_process_t *p = &m->process[process];
    const pt_live_thread_t *t = &p->thread[thread];
    uint32_t i = t->scopes;
    while (i > 0 && t->scope[i - 1].comm == PT_LIVE_COMM_NONE) {
        i--;
    }
    pt_live_wait_t *w = i > 0 ? wait_of(m, v, process, &t->scope[i - 1]) : NULL;
    if (w == NULL) {
        return;
    }
    if (!PT_GROW(w, waiting, waitings, waiting_cap, 1)) {
        v->failed = true;
        return;
    }
    w->waiting[w->waitings++] = (pt_live_member_t){process, thread, i - 1};
    w->longest_ns = PT_MAX(w->longest_ns, t->scope[i - 1].age_ns);
    w->stuck |= pt_live_is_stuck(p, t, o);
}

/* ---- who is not there ---------------------------------------------------------------------------
 */

static bool is_waiting(const pt_live_model_t *m, const pt_live_wait_t *w, int32_t rank) {
    for (size_t i = 0; i < w->waitings; i++) {
        if (m->process[w->waiting[i].process].rank == rank) {
            return true;
        }
    }
    return false;
}

static void add_missing(pt_live_verdict_t *v, pt_live_wait_t *w, int32_t rank, int32_t last,
                        size_t process) {
    if (PT_GROW(w, missing, missings, missing_cap, 1)) {
        w->missing[w->missings++] = (pt_live_missing_t){rank, last, process};
    } else {
        v->failed = true;
    }
}

/* Of several processes of a rank, that which still does something; the last started of them. */
static size_t better(const pt_live_model_t *m, size_t a, size_t b) {
    if (a == SIZE_MAX) {
        return b;
    }
    bool live_a = pt_live_is_there(&m->process[a]), live_b = pt_live_is_there(&m->process[b]);
    if (live_a != live_b) {
        return live_a ? a : b;
    }
    return m->process[a].ran_ns <= m->process[b].ran_ns ? a : b;
}

/* Processes are in order of run and rank. */
static void find_missing(const pt_live_model_t *m, pt_live_verdict_t *v, pt_live_wait_t *w) {
    size_t from = w->run, end = w->run;
    int32_t world = 0;
    while (from > 0 && same_run(m, from - 1, w->run)) {
        from--;
    }
    while (end < m->processes && same_run(m, end, w->run)) {
        end++;
    }
    for (size_t i = from; i < end; i++) {
        world = PT_MAX(world, m->process[i].world_size);
    }
    w->world_known = world > 0;
    int32_t next = 0; /* the first rank that is not dealt with */
    for (size_t i = from; i < end;) {
        int32_t rank = m->process[i].rank;
        size_t found = SIZE_MAX;
        for (; i < end && m->process[i].rank == rank; i++) {
            found = better(m, found, i);
        }
        if (next < PT_MIN(rank, world)) {
            add_missing(v, w, next, PT_MIN(rank, world) - 1, SIZE_MAX);
        }
        if (rank >= 0 && !is_waiting(m, w, rank)) {
            add_missing(v, w, rank, rank, found);
        }
        next = rank < INT32_MAX ? PT_MAX(next, rank + 1) : INT32_MAX;
    }
    if (next < world) {
        add_missing(v, w, next, world - 1, SIZE_MAX);
    }
}

static int by_length(const void *a, const void *b) {
    const pt_live_wait_t *x = a, *y = b;
    int order = (x->longest_ns < y->longest_ns) - (x->longest_ns > y->longest_ns);
    return order != 0 ? order : strcmp(x->name, y->name);
}

void pt_live_judge(const pt_live_model_t *m, const pt_live_judge_options_t *o,
                   pt_live_verdict_t *ret_verdict) {
    pt_live_verdict_t *v = ret_verdict;
    *v = (pt_live_verdict_t){0};
    for (size_t p = 0; p < m->processes; p++) {
        for (uint32_t t = 0; t < m->process[p].threads; t++) {
            const pt_live_thread_t *thread = &m->process[p].thread[t];
            if (pt_live_is_stuck(&m->process[p], thread, o)) {
                if (PT_GROW(v, stuck, stucks, stuck_cap, 1)) {
                    v->stuck[v->stucks++] = (pt_live_member_t){p, t, thread->scopes - 1};
                } else {
                    v->failed = true;
                }
            }
            if (pt_live_is_there(&m->process[p])) {
                add_waiting(m, o, v, p, t);
            }
        }
    }
    for (size_t i = 0; i < v->waits; i++) {
        if (v->wait[i].comm == PT_LIVE_COMM_COLLECTIVE) {
            find_missing(m, v, &v->wait[i]);
        }
    }
    if (v->waits > 1) {
        qsort(v->wait, v->waits, sizeof *v->wait, by_length);
    }
}

void pt_live_verdict_free(pt_live_verdict_t *v) {
    if (v == NULL) {
        return;
    }
    for (size_t i = 0; i < v->waits; i++) {
        free(v->wait[i].waiting);
        free(v->wait[i].missing);
    }
    free(v->wait);
    free(v->stuck);
    *v = (pt_live_verdict_t){0};
}
