/* session_tasks.h: tasks that have live sessions, and a few more. SPDX-License-Identifier: MIT
 *
 * A task is busy while sessions of it live. One without is forgotten, except for what a session
 * still to come needs to know, its parent and a finalize that came early: the last
 * PERFTRACE__TASKS_IDLE of those are kept. Not thread-safe. */
#ifndef PERFTRACE_SESSION_SESSION_TASKS_H
#define PERFTRACE_SESSION_SESSION_TASKS_H

#include "session_map.h"
#include "session_outcome.h"

#define PERFTRACE__TASKS_IDLE 4096u

typedef struct perftrace__task {
    int64_t id;
    int64_t parent;
    uint64_t final_ns; /* of the last finalize of the whole task */
    uint64_t final_tick;
    perftrace__outcome_t final;
    uint32_t sessions; /* the live ones, linked through them; 0: idle */
    uint32_t idle_prev, idle_next;
    bool has_parent;
    bool has_final;
    bool orphan; /* the finalize has reached no session */
} perftrace__task_t;

typedef struct perftrace__session_tasks {
    perftrace__session_map_t map;
    perftrace__slab_t slab;
    uint32_t busy;
    uint32_t idle;
    uint32_t idle_head, idle_tail; /* longest idle first */
} perftrace__session_tasks_t;

#define PERFTRACE__SESSION_TASKS_INIT                                                              \
    { {NULL, 0, 0, 0}, PERFTRACE__SLAB_INIT(perftrace__task_t), 0, 0, 0, 0 }

PT_ALWAYS_INLINE perftrace__task_t *perftrace__tasks_at(const perftrace__session_tasks_t *t,
                                                        uint32_t number) {
    return PERFTRACE__SLAB_AT(&t->slab, number, perftrace__task_t);
}

/* The number of a task; 0 when it is not known. */
uint32_t perftrace__tasks_find(const perftrace__session_tasks_t *t, int64_t id);
/* The same, made (idle) when it is not known; 0 without memory. */
uint32_t perftrace__tasks_get(perftrace__session_tasks_t *t, perftrace__cells_t *cells, int64_t id);
/* An idle task gets its first session (the caller sets .sessions). */
void perftrace__tasks_busy(perftrace__session_tasks_t *t, uint32_t number);
/* The finalize of a whole task still applies to registrations that come after it: for two ticks. */
static inline bool perftrace__task_final_holds(const perftrace__task_t *task, uint64_t ticks) {
    return task->has_final && ticks - task->final_tick < 2;
}
/* A task has lost its last session. It may be gone afterwards. */
void perftrace__tasks_idle(perftrace__session_tasks_t *t, perftrace__cells_t *cells,
                           uint32_t number, uint64_t ticks);
uint64_t perftrace__tasks_bytes(const perftrace__session_tasks_t *t);
/* Lets go of the texts, too. */
void perftrace__tasks_free(perftrace__session_tasks_t *t, perftrace__cells_t *cells);

#endif
