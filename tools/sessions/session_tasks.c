/* session_tasks.c: samples of one item are grouped into tasks. SPDX-License-Identifier: MIT
 *
 * Most writers number their tasks from 0, so that each rank of a role and run gets a table by task
 * id: its entries of neighbouring tasks lie together, where those of a hash index do not. Ids that
 * a table has no room for, and texts, go to a hash index. */
#include "session_tasks.h"

#include "grow.h"

/* Bytes of all tables together; and how far ids may lie apart on average. */
#define TABLES_MAX ((size_t)16 << 20)
#define SPARSE     4U

#define TASK_FLAGS (PT_ROW_TASK_TEXT | PT_ROW_NO_TASK)

/* No padding: compared as bytes. */
typedef struct group_key {
    int32_t rank;
    uint16_t role, run;
} group_key_t;

typedef struct pt_task_group {
    group_key_t key;
    uint32_t *task; /* by id: number plus 1; 0: none yet */
    size_t size;    /* of task[] */
    size_t limit;   /* ids from here on are not for the table */
} group_t;

typedef struct probe {
    const pt_session_model_t *m;
    const pt_session_row_t *row;
} probe_t;

static bool same_task(const void *ctx, uint32_t task) {
    const probe_t *p = ctx;
    const pt_session_row_t *a = p->row, *b = &p->m->row[p->m->task[task].first_row];
    return a->task_id == b->task_id && a->rank == b->rank && a->run == b->run &&
           a->role == b->role && ((a->flags ^ b->flags) & TASK_FLAGS) == 0;
}

static uint64_t hash_of(const pt_session_row_t *row) {
    uint64_t hash = pt_row_hash((uint64_t)row->task_id, (uint64_t)(uint32_t)row->rank);
    return pt_row_hash(hash, (uint64_t)row->run << 16 | row->role);
}

bool pt_session_tasks_init(pt_session_tasks_t *t, pt_session_model_t *m) {
    *t = (pt_session_tasks_t){.m = m, .room = 1024};
    return pt_row_index_init(&t->index, t->room);
}

void pt_session_tasks_free(pt_session_tasks_t *t) {
    for (size_t i = 0; i < t->groups; i++) {
        free(t->group[i].task);
    }
    free(t->group);
    perftrace__hashmap_free(&t->group_index);
    pt_row_index_free(&t->index);
}

/* A new task; PT_NO_TASK without memory. */
static uint32_t add_task(pt_session_tasks_t *t, uint32_t row) {
    pt_session_model_t *m = t->m;
    if (!pt_grow((void **)&m->task, sizeof *m->task, m->tasks, 1, &t->task_cap)) {
        return PT_NO_TASK;
    }
    m->task[m->tasks] = (pt_session_task_t){row, 0};
    return (uint32_t)m->tasks++;
}

/* ---- the hash index ---- */

static bool grow_index(pt_session_tasks_t *t) {
    pt_row_index_t index;
    if (!pt_row_index_init(&index, t->room * 2)) {
        return false;
    }
    for (size_t i = 0; i <= t->index.mask; i++) {
        if (t->index.slot[i] != 0) {
            uint32_t task = pt_row_of_slot(t->index.slot[i]);
            probe_t probe = {t->m, &t->m->row[t->m->task[task].first_row]};
            *pt_row_index_find(&index, hash_of(probe.row), same_task, &probe) = t->index.slot[i];
        }
    }
    pt_row_index_free(&t->index);
    t->index = index;
    t->room *= 2;
    return true;
}

static uint32_t find_in_index(pt_session_tasks_t *t, uint32_t row) {
    probe_t probe = {t->m, &t->m->row[row]};
    uint64_t hash = hash_of(probe.row);
    pt_row_slot_t *slot = pt_row_index_find(&t->index, hash, same_task, &probe);
    if (*slot != 0) {
        return pt_row_of_slot(*slot);
    }
    uint32_t task = add_task(t, row);
    if (task == PT_NO_TASK) {
        return PT_NO_TASK;
    }
    *slot = pt_row_slot(hash, task);
    t->indexed++;
    return t->indexed < t->room || grow_index(t) ? task : PT_NO_TASK;
}

/* ---- the tables ---- */

static group_key_t key_of(const pt_session_row_t *row) {
    return (group_key_t){row->rank, row->role, row->run};
}

/* The group of a row; NULL without memory. */
static group_t *find_group(pt_session_tasks_t *t, const pt_session_row_t *row) {
    group_key_t key = key_of(row);
    bool is_new = false;
    uint64_t *index = perftrace__hashmap_put(&t->group_index, &key, sizeof key, t->groups, &is_new);
    if (index == NULL || (is_new && !PT_GROW(t, group, groups, group_cap, 1))) {
        return NULL;
    }
    if (is_new) {
        t->group[t->groups++] = (group_t){key, NULL, 0, SPARSE * t->m->rows + 64};
    }
    return &t->group[*index];
}

/* Makes the table long enough for an id, or its limit what it is. */
static void make_room(pt_session_tasks_t *t, group_t *g, size_t id) {
    size_t size = PT_MIN(PT_MAX(PT_MAX(id + 1, g->size * 2), (size_t)64), g->limit);
    size_t more = (size - g->size) * sizeof *g->task;
    uint32_t *task =
        t->bytes + more <= TABLES_MAX ? realloc(g->task, size * sizeof *g->task) : NULL;
    if (task == NULL) {
        g->limit = g->size;
        return;
    }
    memset(task + g->size, 0, more);
    t->bytes += more;
    g->task = task;
    g->size = size;
}

bool pt_session_tasks_add(pt_session_tasks_t *t, uint32_t index) {
    pt_session_row_t *row = &t->m->row[index];
    group_t *g = t->last;
    if (PT_UNLIKELY(g == NULL || g->key.rank != row->rank || g->key.role != row->role ||
                    g->key.run != row->run)) {
        g = t->last = find_group(t, row);
        if (g == NULL) {
            return false;
        }
    }
    uint64_t id = (row->flags & PT_ROW_TASK_TEXT) != 0 ? UINT64_MAX : (uint64_t)row->task_id;
    if (PT_UNLIKELY(id >= g->size && id < g->limit)) {
        make_room(t, g, (size_t)id);
    }
    uint32_t task;
    if (PT_LIKELY(id < g->size)) {
        task = g->task[id] != 0 ? g->task[id] - 1 : add_task(t, index);
        g->task[id] = task + 1; /* 0 without memory */
    } else {
        task = find_in_index(t, index);
    }
    row->task = task;
    if (PT_UNLIKELY(task == PT_NO_TASK)) {
        return false;
    }
    t->m->task[task].rows++;
    return true;
}
