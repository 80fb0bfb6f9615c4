/* session_tasks.c. SPDX-License-Identifier: MIT */
#include "session_tasks.h"

typedef perftrace__task_t task_t;

static void idle_push(perftrace__session_tasks_t *t, uint32_t number) {
    task_t *task = perftrace__tasks_at(t, number);
    task->idle_prev = t->idle_tail;
    task->idle_next = 0;
    if (t->idle_tail) {
        perftrace__tasks_at(t, t->idle_tail)->idle_next = number;
    } else {
        t->idle_head = number;
    }
    t->idle_tail = number;
    t->idle++;
}

static void idle_remove(perftrace__session_tasks_t *t, uint32_t number) {
    task_t *task = perftrace__tasks_at(t, number);
    if (task->idle_prev) {
        perftrace__tasks_at(t, task->idle_prev)->idle_next = task->idle_next;
    } else {
        t->idle_head = task->idle_next;
    }
    if (task->idle_next) {
        perftrace__tasks_at(t, task->idle_next)->idle_prev = task->idle_prev;
    } else {
        t->idle_tail = task->idle_prev;
    }
    t->idle--;
}

static void forget(perftrace__session_tasks_t *t, perftrace__cells_t *cells, uint32_t number) {
    task_t *task = perftrace__tasks_at(t, number);
    perftrace__outcome_drop(cells, &task->final);
    perftrace__session_map_remove(&t->map, (uint64_t)task->id);
    perftrace__slab_give(&t->slab, number, sizeof(task_t));
}

static void forget_oldest_idle(perftrace__session_tasks_t *t, perftrace__cells_t *cells) {
    uint32_t number = t->idle_head;
    idle_remove(t, number);
    forget(t, cells, number);
}

uint32_t perftrace__tasks_find(const perftrace__session_tasks_t *t, int64_t id) {
    return perftrace__session_map_get(&t->map, (uint64_t)id);
}

uint32_t perftrace__tasks_get(perftrace__session_tasks_t *t, perftrace__cells_t *cells,
                              int64_t id) {
    uint32_t number = perftrace__tasks_find(t, id);
    if (number) {
        return number;
    }
    number = perftrace__slab_take(&t->slab, sizeof(task_t));
    if (!number) {
        return 0;
    }
    if (!perftrace__session_map_put(&t->map, (uint64_t)id, number)) {
        perftrace__slab_give(&t->slab, number, sizeof(task_t));
        return 0;
    }
    *perftrace__tasks_at(t, number) = (task_t){.id = id};
    if (t->idle >= PERFTRACE__TASKS_IDLE) {
        forget_oldest_idle(t, cells);
    }
    idle_push(t, number);
    return number;
}

void perftrace__tasks_busy(perftrace__session_tasks_t *t, uint32_t number) {
    idle_remove(t, number);
    t->busy++;
}

void perftrace__tasks_idle(perftrace__session_tasks_t *t, perftrace__cells_t *cells,
                           uint32_t number, uint64_t ticks) {
    task_t *task = perftrace__tasks_at(t, number);
    t->busy--;
    if (!perftrace__task_final_holds(task, ticks)) {
        perftrace__outcome_drop(cells, &task->final);
        task->has_final = false;
    }
    if (!task->has_parent && !task->has_final) {
        forget(t, cells, number);
        return;
    }
    if (t->idle >= PERFTRACE__TASKS_IDLE) {
        forget_oldest_idle(t, cells);
    }
    idle_push(t, number);
}

uint64_t perftrace__tasks_bytes(const perftrace__session_tasks_t *t) {
    return perftrace__session_map_bytes(&t->map) + t->slab.bytes;
}

void perftrace__tasks_free(perftrace__session_tasks_t *t, perftrace__cells_t *cells) {
    for (uint32_t i = 0; t->map.slots && i <= t->map.mask; i++) {
        if (t->map.slots[i].value) {
            perftrace__outcome_drop(cells, &perftrace__tasks_at(t, t->map.slots[i].value)->final);
        }
    }
    perftrace__session_map_free(&t->map);
    perftrace__slab_free(&t->slab);
}
