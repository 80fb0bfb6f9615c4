/* session_finish.c: from records to sessions, runs and tasks. SPDX-License-Identifier: MIT */
#include "session_finish.h"

#include "grow.h"
#include "row_index.h"

typedef struct probe {
    const pt_session_model_t *m;
    const pt_session_row_t *row;
} probe_t;

#define TASK_FLAGS (PT_ROW_TASK_TEXT | PT_ROW_NO_TASK)

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

/* The tasks by their keys, in an index that grows with them. */
typedef struct tasks {
    pt_session_model_t *m;
    pt_row_index_t index;
    size_t room, cap; /* of the index; of m->task */
} tasks_t;

static bool grow_index(tasks_t *t) {
    pt_row_index_t index;
    if (!pt_row_index_init(&index, t->room * 2)) {
        return false;
    }
    for (uint32_t i = 0; i < t->m->tasks; i++) {
        probe_t probe = {t->m, &t->m->row[t->m->task[i].first_row]};
        uint64_t hash = hash_of(probe.row);
        *pt_row_index_find(&index, hash, same_task, &probe) = pt_row_slot(hash, i);
    }
    pt_row_index_free(&t->index);
    t->index = index;
    t->room *= 2;
    return true;
}

/* The task of a row, added when it is new; PT_NO_TASK without memory. */
static uint32_t find_task(tasks_t *t, uint32_t row) {
    pt_session_model_t *m = t->m;
    probe_t probe = {m, &m->row[row]};
    uint64_t hash = hash_of(probe.row);
    pt_row_slot_t *slot = pt_row_index_find(&t->index, hash, same_task, &probe);
    if (*slot != 0) {
        return pt_row_of_slot(*slot);
    }
    if (!pt_grow((void **)&m->task, sizeof *m->task, m->tasks, 1, &t->cap)) {
        return PT_NO_TASK;
    }
    m->task[m->tasks++] = (pt_session_task_t){row, 0};
    *slot = pt_row_slot(hash, (uint32_t)m->tasks - 1);
    return m->tasks < t->room || grow_index(t) ? (uint32_t)m->tasks - 1 : PT_NO_TASK;
}

/* Groups samples of one item. */
static bool group_tasks(pt_session_model_t *m) {
    tasks_t t = {.m = m, .room = 1024};
    uint32_t last = PT_NO_TASK;
    bool ok = pt_row_index_init(&t.index, t.room);
    for (uint32_t i = 0; i < m->rows && ok; i++) {
        pt_session_row_t *row = &m->row[i];
        probe_t probe = {m, row};
        row->task = PT_NO_TASK;
        if ((row->flags & PT_ROW_NO_TASK) == 0) {
            /* Samples of one task come together, most of the time. */
            last = last != PT_NO_TASK && same_task(&probe, last) ? last : find_task(&t, i);
            ok = last != PT_NO_TASK;
        }
        if (ok && (row->flags & PT_ROW_NO_TASK) == 0) {
            row->task = last;
            m->task[last].rows++;
        }
    }
    pt_row_index_free(&t.index);
    return ok;
}

/* ---- the order of names ---- */

/* Position in a list of known names; behind all of them for others, and "" last. */
static int known(pt_name_t name, const char *const *list) {
    int i = 0;
    for (; list[i] != NULL; i++) {
        if (strlen(list[i]) == name.len && memcmp(list[i], name.p, name.len) == 0) {
            return i;
        }
    }
    return name.len == 0 ? i + 1 : i;
}

static int phase_order(pt_name_t a, pt_name_t b) {
    static const char *const list[] = {"generate", "reward", "toolcall", NULL};
    return known(a, list) - known(b, list);
}

static int status_order(pt_name_t a, pt_name_t b) {
    static const char *const list[] = {"accepted", "rejected", "failed",
                                       "dropped",  "pending",  NULL};
    return known(a, list) - known(b, list);
}

static bool is_identity(const uint32_t *map, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (map[i] != i) {
            return false;
        }
    }
    return true;
}

/* All three at once: a pass over the rows costs more than what is done in it. */
static void rename_rows(pt_session_model_t *m, const uint32_t *role, const uint32_t *status,
                        const uint32_t *reason) {
    for (size_t i = 0; i < m->rows; i++) {
        pt_session_row_t *row = &m->row[i];
        row->role = (uint16_t)role[row->role];
        row->status = (uint16_t)status[row->status];
        row->reason = (uint16_t)reason[row->reason];
    }
}

static void rename_phases(pt_session_model_t *m, const uint32_t *map) {
    for (size_t i = 0; i < m->cells; i++) {
        m->cell[i].phase = (uint16_t)map[m->cell[i].phase];
    }
    for (size_t i = 0; i < m->opens; i++) {
        m->open[i].phase = (uint16_t)map[m->open[i].phase];
    }
    for (size_t i = 0; i < m->spans; i++) {
        m->span[i].phase = (uint16_t)map[m->span[i].phase];
    }
}

static void rename_counters(pt_session_model_t *m, const uint32_t *map) {
    for (size_t i = 0; i < m->counters; i++) {
        m->counter[i].counter = (uint16_t)map[m->counter[i].counter];
    }
}

typedef struct maps {
    uint32_t *of[PT_NAMES_COUNT];
} maps_t;

static bool sort_names(pt_session_model_t *m, maps_t *maps) {
    return pt_name_table_sort(&m->names[PT_NAMES_ROLE], NULL, &maps->of[PT_NAMES_ROLE]) &&
           pt_name_table_sort(&m->names[PT_NAMES_STATUS], status_order,
                              &maps->of[PT_NAMES_STATUS]) &&
           pt_name_table_sort(&m->names[PT_NAMES_REASON], NULL, &maps->of[PT_NAMES_REASON]) &&
           pt_name_table_sort(&m->names[PT_NAMES_PHASE], phase_order, &maps->of[PT_NAMES_PHASE]) &&
           pt_name_table_sort(&m->names[PT_NAMES_COUNTER], NULL, &maps->of[PT_NAMES_COUNTER]);
}

static bool order_names(pt_session_model_t *m) {
    maps_t maps = {{NULL}};
    bool ok = sort_names(m, &maps);
    if (ok) {
        const pt_name_table_t *names = m->names;
        uint32_t *const *of = maps.of;
        if (!is_identity(of[PT_NAMES_ROLE], names[PT_NAMES_ROLE].count) ||
            !is_identity(of[PT_NAMES_STATUS], names[PT_NAMES_STATUS].count) ||
            !is_identity(of[PT_NAMES_REASON], names[PT_NAMES_REASON].count)) {
            rename_rows(m, of[PT_NAMES_ROLE], of[PT_NAMES_STATUS], of[PT_NAMES_REASON]);
        }
        if (!is_identity(of[PT_NAMES_PHASE], names[PT_NAMES_PHASE].count)) {
            rename_phases(m, of[PT_NAMES_PHASE]);
        }
        if (!is_identity(of[PT_NAMES_COUNTER], names[PT_NAMES_COUNTER].count)) {
            rename_counters(m, of[PT_NAMES_COUNTER]);
        }
    }
    for (unsigned i = 0; i < PT_NAMES_COUNT; i++) {
        free(maps.of[i]);
    }
    return ok;
}

bool pt_session_model_finish(pt_session_model_t *m, pt_problems_t *book) {
    m->records = m->rows;
    bool unique = pt_session_ids_differ(m);
    m->finished = order_names(m) && (unique || pt_session_drop_duplicates(m, book)) &&
                  pt_session_find_runs(m, unique, book) && group_tasks(m);
    return m->finished;
}
