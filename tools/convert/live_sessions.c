/* live_sessions.c: the tasks and sessions of one file that have not ended.
 * SPDX-License-Identifier: MIT */
#include "live_sessions.h"

#include <stdlib.h>
#include <string.h>

static void link_init(pt_link_t *head) {
    head->prev = head->next = head;
}

static void link_add(pt_link_t *head, pt_link_t *link) {
    link->prev = head->prev;
    link->next = head;
    head->prev->next = link;
    head->prev = link;
}

static void link_remove(pt_link_t *link) {
    link->prev->next = link->next;
    link->next->prev = link->prev;
    link_init(link);
}

void pt_live_sessions_init(pt_live_sessions_t *live) {
    *live = (pt_live_sessions_t){.seen = false};
    link_init(&live->live);
    link_init(&live->waiting);
    link_init(&live->tasks);
    link_init(&live->idle_tasks);
}

/* ---- sessions ---- */

pt_live_session_t *pt_live_session_find(const pt_live_sessions_t *live, uint64_t id) {
    return (pt_live_session_t *)(void *)pt_id_table_find(&live->by_id, id);
}

pt_live_session_t *pt_live_session_make(pt_live_sessions_t *live, uint64_t id) {
    pt_live_session_t *s = malloc(sizeof *s);
    if (s == NULL) {
        return NULL;
    }
    *s = (pt_live_session_t){.node = {.id = id}, .waits = true, .spans = PT_TRACK_SPANS_INIT};
    if (!pt_id_table_add(&live->by_id, &s->node)) {
        free(s);
        return NULL;
    }
    link_init(&s->of_task);
    link_add(&live->waiting, &s->all);
    live->waiting_count++;
    return s;
}

void pt_live_session_move(pt_live_sessions_t *live, pt_live_session_t *s, bool waits) {
    live->waiting_count -= s->waits;
    live->waiting_count += waits;
    s->waits = waits;
    link_remove(&s->all);
    link_add(waits ? &live->waiting : &live->live, &s->all);
}

static bool is_idle(const pt_live_task_t *t) {
    return t->sessions.next == &t->sessions;
}

static void move_task(pt_live_sessions_t *live, pt_live_task_t *t, bool idle) {
    link_remove(&t->all);
    link_add(idle ? &live->idle_tasks : &live->tasks, &t->all);
    live->idle_count += idle ? 1U : -1U;
}

void pt_live_session_leave(pt_live_sessions_t *live, pt_live_session_t *s) {
    pt_live_task_t *task = s->task;
    if (task == NULL) {
        return;
    }
    link_remove(&s->of_task);
    s->task = NULL;
    task->last_end = PT_MAX(task->last_end, s->end);
    if (is_idle(task)) {
        move_task(live, task, true);
        pt_live_task_settle(live, task);
    }
}

static void session_free(pt_live_session_t *s) {
    pt_track_spans_free(&s->spans);
    free(s->begin_args);
    free(s->end_args);
    free(s);
}

void pt_live_session_drop(pt_live_sessions_t *live, pt_live_session_t *s) {
    pt_live_session_leave(live, s);
    pt_id_table_remove(&live->by_id, &s->node);
    live->waiting_count -= s->waits;
    link_remove(&s->all);
    session_free(s);
}

/* ---- tasks ---- */

pt_live_task_t *pt_live_task_find(const pt_live_sessions_t *live, uint64_t id) {
    return (pt_live_task_t *)(void *)pt_id_table_find(&live->task_by_id, id);
}

pt_live_task_t *pt_live_task_get(pt_live_sessions_t *live, uint64_t id) {
    pt_live_task_t *t = pt_live_task_find(live, id);
    if (t != NULL) {
        return t;
    }
    t = malloc(sizeof *t);
    if (t == NULL) {
        return NULL;
    }
    *t = (pt_live_task_t){.node = {.id = id}, .last_end = INT64_MIN};
    if (!pt_id_table_add(&live->task_by_id, &t->node)) {
        free(t);
        return NULL;
    }
    link_init(&t->sessions);
    link_add(&live->idle_tasks, &t->all);
    live->idle_count++;
    return t;
}

void pt_live_task_join(pt_live_sessions_t *live, pt_live_task_t *t, pt_live_session_t *s) {
    if (is_idle(t)) {
        move_task(live, t, false);
    }
    s->task = t;
    link_add(&t->sessions, &s->of_task);
}

void pt_live_task_settle(pt_live_sessions_t *live, pt_live_task_t *t) {
    if (!t->open && is_idle(t)) {
        live->idle_count--;
        pt_id_table_remove(&live->task_by_id, &t->node);
        link_remove(&t->all);
        free(t);
    }
}

/* ---- phases ---- */

static pt_session_phase_t *phase_at(const pt_live_sessions_t *live, pt_str_t name) {
    for (unsigned i = 0; i < live->phase_count; i++) {
        if (pt_str_is(name, live->phase[i].name, live->phase[i].len)) {
            return &live->phase[i];
        }
    }
    return NULL;
}

void pt_live_phase_declare(pt_live_sessions_t *live, pt_str_t name, bool single, bool finishes) {
    pt_session_phase_t *p = phase_at(live, name);
    if (p != NULL) {
        p->single = single;
        p->finishes = finishes;
    }
    if (p != NULL || live->phase_count == PT_LIVE_PHASE_LIMIT || (!single && !finishes)) {
        return;
    }
    pt_session_phase_t *more = realloc(live->phase, (live->phase_count + 1) * sizeof *more);
    if (more == NULL) {
        return;
    }
    live->phase = more;
    char *copy = malloc(name.len + 1);
    if (copy != NULL) {
        memcpy(copy, name.p, name.len);
        live->phase[live->phase_count++] = (pt_session_phase_t){copy, name.len, single, finishes};
    }
}

pt_session_phase_t pt_live_phase_find(const pt_live_sessions_t *live, pt_str_t name) {
    const pt_session_phase_t *p = phase_at(live, name);
    return p != NULL ? *p : (pt_session_phase_t){NULL, 0, false, false};
}

void pt_live_sessions_free(pt_live_sessions_t *live) {
    pt_link_t *const heads[] = {&live->live, &live->waiting, &live->tasks, &live->idle_tasks};
    for (size_t i = 0; i < PT_ARRAY_LEN(heads); i++) {
        pt_link_t *next;
        for (pt_link_t *l = heads[i]->next; l != NULL && l != heads[i]; l = next) {
            next = l->next;
            if (i < 2) {
                session_free(PT_LIVE_SESSION_OF(l, all));
            } else {
                free(PT_LIVE_TASK_OF(l, all));
            }
        }
    }
    for (unsigned i = 0; i < live->phase_count; i++) {
        free(live->phase[i].name);
    }
    free(live->phase);
    pt_id_table_free(&live->by_id);
    pt_id_table_free(&live->task_by_id);
    *live = (pt_live_sessions_t){.seen = false};
}
