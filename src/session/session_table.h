/* session_table.h: the live sessions of a fold, where to find them and in which order they go.
 * SPDX-License-Identifier: MIT
 *
 * A session is open until it is finished (or evicted); then it waits in a queue until its record is
 * taken and it is forgotten. Not thread-safe. */
#ifndef PERFTRACE_SESSION_SESSION_TABLE_H
#define PERFTRACE_SESSION_SESSION_TABLE_H

#include "session_ids.h"
#include "session_live.h"
#include "session_tasks.h"

/* Linked through the sessions. */
typedef struct perftrace__live_list {
    uint32_t head, tail;
} perftrace__live_list_t;

typedef struct perftrace__session_table {
    /* Where a live session is likely to be: at its id modulo the length, if no other took the
     * place. Neighbouring ids never do. NULL or twice as long as there are live ones. */
    uint32_t *near_ids;
    uint64_t near_mask;
    perftrace__session_ids_t ids;
    perftrace__slab_t sessions;
    perftrace__cells_t cells;
    perftrace__session_tasks_t tasks;
    perftrace__live_list_t open;  /* first made, first */
    perftrace__live_list_t queue; /* first finished, first */
    uint64_t nopen;
    uint64_t max_open; /* 0: no ceiling */
    uint64_t ticks;
    /* Those of the queue that came to it since the last tick, in the interval before it, earlier:
     * only the last ones are due. */
    uint64_t came_now, came_before, due;
    uint64_t sessions_seen, written, evicted, late;
} perftrace__session_table_t;

#define PERFTRACE__SESSION_TABLE_INIT                                                              \
    {                                                                                              \
        .ids = PERFTRACE__SESSION_IDS_INIT, .sessions = PERFTRACE__SLAB_INIT(perftrace__live_t),   \
        .cells = PERFTRACE__CELLS_INIT, .tasks = PERFTRACE__SESSION_TASKS_INIT                     \
    }

PT_ALWAYS_INLINE perftrace__live_t *perftrace__table_at(const perftrace__session_table_t *t,
                                                        uint32_t number) {
    return PERFTRACE__SLAB_AT(&t->sessions, number, perftrace__live_t);
}

typedef enum perftrace__reached {
    PERFTRACE__REACHED,
    PERFTRACE__REACHED_NONE, /* late or skipped: the event is to be left out */
    PERFTRACE__REACHED_NO_MEMORY
} perftrace__reached_t;

/* The number of the live session with an id, made on its first event. */
perftrace__reached_t perftrace__table_reach_slow(perftrace__session_table_t *t, int64_t id,
                                                 uint32_t *ret_number);
PT_ALWAYS_INLINE perftrace__reached_t perftrace__table_reach(perftrace__session_table_t *t,
                                                             int64_t id, uint32_t *ret_number) {
    uint32_t number = t->near_ids ? t->near_ids[(uint64_t)id & t->near_mask] : 0;
    if (PT_LIKELY(number && perftrace__table_at(t, number)->id == id)) {
        *ret_number = number;
        return PERFTRACE__REACHED;
    }
    return perftrace__table_reach_slow(t, id, ret_number);
}

/* Puts an open or evicted session at the end of the queue. */
void perftrace__table_enqueue(perftrace__session_table_t *t, uint32_t number);
/* Every session in the queue becomes one tick older. */
void perftrace__table_tick(perftrace__session_table_t *t);
/* A session of no task joins one (a number of t->tasks). */
void perftrace__table_join(perftrace__session_table_t *t, uint32_t number, uint32_t task);
/* The session's record was taken: lets go of all it holds. */
void perftrace__table_forget(perftrace__session_table_t *t, uint32_t number);
/* Numbers of the open sessions (or of a task's, when task is not 0) in the order of their ids, to
 * be freed with free(); NULL without memory or (with *ret_n 0) when there are none. */
uint32_t *perftrace__table_by_id(const perftrace__session_table_t *t, uint32_t task, size_t *ret_n);
uint64_t perftrace__table_bytes(const perftrace__session_table_t *t);
void perftrace__table_free(perftrace__session_table_t *t);

#endif
