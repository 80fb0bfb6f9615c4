/* session_finish.c: from records to sessions, runs and tasks. SPDX-License-Identifier: MIT */
#include "session_finish.h"

#include "session_problem.h"
#include "session_tasks.h"

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

/* From the numbers of names to those in order; NULL where they are the same. */
typedef struct maps {
    uint32_t *of[PT_NAMES_COUNT];
} maps_t;

static bool sort_names(pt_session_model_t *m, maps_t *maps) {
    bool ok =
        pt_name_table_sort(&m->names[PT_NAMES_ROLE], NULL, &maps->of[PT_NAMES_ROLE]) &&
        pt_name_table_sort(&m->names[PT_NAMES_STATUS], status_order, &maps->of[PT_NAMES_STATUS]) &&
        pt_name_table_sort(&m->names[PT_NAMES_REASON], NULL, &maps->of[PT_NAMES_REASON]) &&
        pt_name_table_sort(&m->names[PT_NAMES_PHASE], phase_order, &maps->of[PT_NAMES_PHASE]) &&
        pt_name_table_sort(&m->names[PT_NAMES_COUNTER], NULL, &maps->of[PT_NAMES_COUNTER]);
    for (unsigned i = 0; ok && i < PT_NAMES_COUNT; i++) {
        if (maps->of[i] != NULL && is_identity(maps->of[i], m->names[i].count)) {
            free(maps->of[i]);
            maps->of[i] = NULL;
        }
    }
    return ok;
}

static void free_maps(maps_t *maps) {
    for (unsigned i = 0; i < PT_NAMES_COUNT; i++) {
        free(maps->of[i]);
        maps->of[i] = NULL;
    }
}

PT_ALWAYS_INLINE uint16_t renamed(const maps_t *maps, pt_names_t kind, uint16_t id) {
    const uint32_t *map = maps->of[kind];
    return map != NULL ? (uint16_t)map[id] : id;
}

PT_ALWAYS_INLINE void rename_row(pt_session_row_t *row, const maps_t *maps) {
    row->role = renamed(maps, PT_NAMES_ROLE, row->role);
    row->status = renamed(maps, PT_NAMES_STATUS, row->status);
    row->reason = renamed(maps, PT_NAMES_REASON, row->reason);
}

static void rename_rows(pt_session_model_t *m, maps_t *maps) {
    for (size_t i = 0; i < m->rows; i++) {
        rename_row(&m->row[i], maps);
    }
}

static void rename_parts(pt_session_model_t *m, const maps_t *maps) {
    if (maps->of[PT_NAMES_PHASE] != NULL) {
        rename_phases(m, maps->of[PT_NAMES_PHASE]);
    }
    if (maps->of[PT_NAMES_COUNTER] != NULL) {
        rename_counters(m, maps->of[PT_NAMES_COUNTER]);
    }
}

/* ---- all rows, in one pass: it costs more than what is done in it ---- */

/* One clock a file: others are told. */
typedef struct clocks {
    pt_problems_t *book;
    uint8_t *of; /* by file; NULL without a book */
} clocks_t;

static void check_clock(const clocks_t *c, const pt_session_row_t *row) {
    enum { UNKNOWN, WALL, MONO };
    uint8_t clock = (row->flags & PT_ROW_MONO) != 0 ? MONO : WALL;
    if (c->of[row->file] == UNKNOWN) {
        c->of[row->file] = clock;
    } else if (c->of[row->file] != clock) {
        pt_problems_add(c->book, PT_SESSION_PROBLEM_MIXED_CLOCKS, row->file, row->line,
                        PT_NO_OFFSET, NULL);
    }
}

/* The names in order, the run, the task. */
static bool settle_rows(pt_session_model_t *m, const maps_t *maps, const clocks_t *clocks) {
    pt_session_tasks_t tasks;
    bool ok = pt_session_tasks_init(&tasks, m);
    for (uint32_t i = 0; i < m->rows && ok; i++) {
        pt_session_row_t *row = &m->row[i];
        rename_row(row, maps);
        row->run = (uint16_t)m->lanes.lane[m->lanes.of[i]].run;
        row->task = PT_NO_TASK;
        if (clocks->of != NULL) {
            check_clock(clocks, row);
        }
        ok = (row->flags & PT_ROW_NO_TASK) != 0 || pt_session_tasks_add(&tasks, i);
    }
    pt_session_tasks_free(&tasks);
    return ok;
}

static bool settle(pt_session_model_t *m, const maps_t *maps, pt_problems_t *book) {
    clocks_t clocks = {book, book != NULL ? calloc(UINT16_MAX + 1, 1) : NULL};
    bool ok = (book == NULL || clocks.of != NULL) && settle_rows(m, maps, &clocks);
    free(clocks.of);
    return ok;
}

bool pt_session_model_finish(pt_session_model_t *m, pt_problems_t *book) {
    maps_t maps = {{NULL}};
    bool unique = pt_session_ids_differ(&m->ids);
    m->records = m->rows;
    bool ok = sort_names(m, &maps);
    if (ok) {
        rename_parts(m, &maps);
    }
    if (ok && !unique) { /* what is compared must have its final names */
        rename_rows(m, &maps);
        free_maps(&maps);
        ok = pt_session_drop_duplicates(m, book);
    }
    m->finished = ok && pt_session_find_runs(m, unique, book) && settle(m, &maps, book);
    free_maps(&maps);
    pt_session_ids_free(&m->ids);
    pt_session_lanes_free(&m->lanes);
    return m->finished;
}
