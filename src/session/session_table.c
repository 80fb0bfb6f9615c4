/* session_table.c. SPDX-License-Identifier: MIT */
#include "session_table.h"

#include "session_spans.h"

#include <stdlib.h>

typedef perftrace__session_table_t table_t;
typedef perftrace__live_t live_t;
typedef perftrace__live_list_t list_t;

static live_t *live_at(const table_t *t, uint32_t number) {
    return perftrace__table_at(t, number);
}

/* ---- lists ---- */

static void list_push(table_t *t, list_t *list, uint32_t number) {
    live_t *s = live_at(t, number);
    s->prev = list->tail;
    s->next = 0;
    if (list->tail) {
        live_at(t, list->tail)->next = number;
    } else {
        list->head = number;
    }
    list->tail = number;
}

static void list_remove(table_t *t, list_t *list, uint32_t number) {
    const live_t *s = live_at(t, number);
    if (s->prev) {
        live_at(t, s->prev)->next = s->next;
    } else {
        list->head = s->next;
    }
    if (s->next) {
        live_at(t, s->next)->prev = s->prev;
    } else {
        list->tail = s->prev;
    }
}

static uint64_t *queue_count(table_t *t, const live_t *s) {
    uint64_t age = t->ticks - s->queue_tick;
    return age == 0 ? &t->came_now : age == 1 ? &t->came_before : &t->due;
}

static void leave_list(table_t *t, uint32_t number) {
    const live_t *s = live_at(t, number);
    if (s->queued) {
        list_remove(t, &t->queue, number);
        (*queue_count(t, s))--;
    } else {
        list_remove(t, &t->open, number);
        t->nopen--;
    }
}

void perftrace__table_enqueue(perftrace__session_table_t *t, uint32_t number) {
    leave_list(t, number);
    list_push(t, &t->queue, number);
    live_t *s = live_at(t, number);
    s->queued = true;
    s->queue_tick = t->ticks;
    t->came_now++;
}

void perftrace__table_tick(perftrace__session_table_t *t) {
    t->ticks++;
    t->due += t->came_before;
    t->came_before = t->came_now;
    t->came_now = 0;
}

/* ---- from ids ---- */

#define NEAR_MIN 1024u
#define NEAR_MAX (1u << 24)

static void put_near(const table_t *t, uint32_t number) {
    if (t->near_ids) {
        t->near_ids[(uint64_t)live_at(t, number)->id & t->near_mask] = number;
    }
}

/* Without memory the places stay fewer: more ids are looked up the long way. */
static void grow_near(table_t *t, uint64_t live) {
    uint64_t cap = t->near_ids ? t->near_mask + 1 : 0;
    if (live * 2 <= cap || cap >= NEAR_MAX) {
        return;
    }
    cap = cap ? cap * 2 : NEAR_MIN;
    uint32_t *places = calloc(cap, sizeof(*places));
    if (!places) {
        return;
    }
    free(t->near_ids);
    t->near_ids = places;
    t->near_mask = cap - 1;
    for (uint32_t n = t->open.head; n; n = live_at(t, n)->next) {
        put_near(t, n);
    }
    for (uint32_t n = t->queue.head; n; n = live_at(t, n)->next) {
        put_near(t, n);
    }
}

/* Makes a session for a fresh id; evicts the oldest open one above the ceiling. 0 without memory.
 */
static uint32_t make(table_t *t, int64_t id) {
    uint32_t number = perftrace__slab_take(&t->sessions, sizeof(live_t));
    if (!number) {
        return 0;
    }
    if (!perftrace__session_ids_add(&t->ids, (uint64_t)id, number)) {
        perftrace__slab_give(&t->sessions, number, sizeof(live_t));
        return 0;
    }
    *live_at(t, number) =
        (live_t){.id = id, .submit = PERFTRACE__NO_TIME, .told = PERFTRACE__NO_TIME};
    list_push(t, &t->open, number);
    t->nopen++;
    t->sessions_seen++;
    grow_near(t, t->sessions_seen - t->written);
    put_near(t, number);
    if (t->max_open && t->nopen > t->max_open) {
        uint32_t oldest = t->open.head;
        perftrace__table_enqueue(t, oldest);
        live_at(t, oldest)->evicted = true;
    }
    return number;
}

perftrace__reached_t perftrace__table_reach_slow(perftrace__session_table_t *t, int64_t id,
                                                 uint32_t *ret_number) {
    uint32_t number = perftrace__session_ids_find(&t->ids, (uint64_t)id);
    if (number == PERFTRACE__IDS_FRESH) {
        number = make(t, id);
        *ret_number = number;
        return number ? PERFTRACE__REACHED : PERFTRACE__REACHED_NO_MEMORY;
    }
    if (number >= PERFTRACE__IDS_SKIPPED) {
        t->late += number == PERFTRACE__IDS_DONE;
        return PERFTRACE__REACHED_NONE;
    }
    *ret_number = number;
    return PERFTRACE__REACHED;
}

/* ---- tasks ---- */

void perftrace__table_join(perftrace__session_table_t *t, uint32_t number, uint32_t task) {
    perftrace__task_t *of = perftrace__tasks_at(&t->tasks, task);
    if (of->sessions) {
        live_at(t, of->sessions)->task_prev = number;
    } else {
        perftrace__tasks_busy(&t->tasks, task);
    }
    live_t *s = live_at(t, number);
    s->task = task;
    s->task_next = of->sessions;
    of->sessions = number;
}

static void leave_task(table_t *t, const live_t *s) {
    perftrace__task_t *task = perftrace__tasks_at(&t->tasks, s->task);
    if (s->task_prev) {
        live_at(t, s->task_prev)->task_next = s->task_next;
    } else {
        task->sessions = s->task_next;
    }
    if (s->task_next) {
        live_at(t, s->task_next)->task_prev = s->task_prev;
    }
    if (!task->sessions) {
        perftrace__tasks_idle(&t->tasks, &t->cells, s->task, t->ticks);
    }
}

/* ---- the end of sessions ---- */

static void give_cells(table_t *t, live_t *s) {
    perftrace__spans_give(&t->cells, s);
    for (uint32_t list = s->tallies; list;) {
        uint32_t next = perftrace__cells_tally(&t->cells, list)->next;
        perftrace__cells_give(&t->cells, list);
        list = next;
    }
    perftrace__outcome_drop(&t->cells, &s->outcome);
}

void perftrace__table_forget(perftrace__session_table_t *t, uint32_t number) {
    live_t *s = live_at(t, number);
    t->evicted += s->evicted;
    t->written++;
    leave_list(t, number);
    give_cells(t, s);
    if (s->task) {
        leave_task(t, s);
    }
    perftrace__session_ids_done(&t->ids, (uint64_t)s->id);
    uint32_t *place = t->near_ids ? &t->near_ids[(uint64_t)s->id & t->near_mask] : NULL;
    if (place && *place == number) {
        *place = 0;
    }
    perftrace__slab_give(&t->sessions, number, sizeof(live_t));
}

/* ---- all of them ---- */

typedef struct entry {
    int64_t id;
    uint32_t number;
} entry_t;

static int compare_ids(const void *a, const void *b) {
    const entry_t *x = a;
    const entry_t *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static uint32_t next_of(const table_t *t, uint32_t number, bool in_task) {
    return in_task ? live_at(t, number)->task_next : live_at(t, number)->next;
}

uint32_t *perftrace__table_by_id(const perftrace__session_table_t *t, uint32_t task,
                                 size_t *ret_n) {
    uint32_t first = task ? perftrace__tasks_at(&t->tasks, task)->sessions : t->open.head;
    size_t n = 0;
    for (uint32_t i = first; i; i = next_of(t, i, task != 0)) {
        n++;
    }
    *ret_n = n;
    entry_t *entries = n ? malloc(n * sizeof(*entries)) : NULL;
    if (!entries) {
        return NULL;
    }
    size_t at = 0;
    for (uint32_t i = first; i; i = next_of(t, i, task != 0)) {
        entries[at++] = (entry_t){live_at(t, i)->id, i};
    }
    qsort(entries, n, sizeof(*entries), compare_ids);
    uint32_t *numbers = malloc(n * sizeof(*numbers));
    for (size_t i = 0; numbers && i < n; i++) {
        numbers[i] = entries[i].number;
    }
    free(entries);
    return numbers;
}

uint64_t perftrace__table_bytes(const perftrace__session_table_t *t) {
    uint64_t places = t->near_ids ? (t->near_mask + 1) * sizeof(*t->near_ids) : 0;
    return places + perftrace__session_ids_bytes(&t->ids) + t->sessions.bytes +
           t->cells.slab.bytes + t->cells.long_bytes + perftrace__tasks_bytes(&t->tasks);
}

static void give_list(table_t *t, const list_t *list) {
    for (uint32_t n = list->head; n; n = live_at(t, n)->next) {
        give_cells(t, live_at(t, n));
    }
}

void perftrace__table_free(perftrace__session_table_t *t) {
    give_list(t, &t->open);
    give_list(t, &t->queue);
    perftrace__tasks_free(&t->tasks, &t->cells);
    perftrace__cells_free(&t->cells);
    perftrace__slab_free(&t->sessions);
    free(t->near_ids);
    t->near_ids = NULL;
    perftrace__session_ids_free(&t->ids);
}
