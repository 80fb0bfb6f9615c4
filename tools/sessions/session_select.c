/* session_select.c: which sessions a report is about. SPDX-License-Identifier: MIT */
#include "session_select.h"

#include "grow.h"
#include "human.h"

#include <math.h>

/* A task that was asked for: as a number, and as a text. */
typedef struct wanted_task {
    bool has_number;
    int64_t number;
    uint32_t text;
} wanted_task_t;

typedef struct selector {
    const pt_session_model_t *m;
    const pt_session_filter_t *f;
    const pt_session_steps_t *steps;
    bool *role, *status; /* by name; NULL: all */
    wanted_task_t *task;
    size_t tasks;
} selector_t;

/* A table of the names that are listed; *ret NULL for no list. */
static bool make_wanted(const pt_session_model_t *m, pt_names_t kind, const pt_string_list_t *list,
                        bool **ret) {
    *ret = NULL;
    if (list == NULL || list->count == 0) {
        return true;
    }
    *ret = calloc((size_t)m->names[kind].count + 1, sizeof **ret);
    for (size_t i = 0; *ret != NULL && i < list->count; i++) {
        pt_name_t name = {list->items[i], strlen(list->items[i])};
        uint32_t id = pt_name_table_find(&m->names[kind], name);
        if (id != PT_NO_NAME) {
            (*ret)[id] = true;
        }
    }
    return *ret != NULL;
}

static bool make_tasks(selector_t *s) {
    const pt_string_list_t *list = s->f->tasks;
    s->tasks = list != NULL ? list->count : 0;
    if (s->tasks == 0) {
        return true;
    }
    s->task = calloc(s->tasks, sizeof *s->task);
    for (size_t i = 0; s->task != NULL && i < s->tasks; i++) {
        pt_name_t name = {list->items[i], strlen(list->items[i])};
        s->task[i].has_number = pt_parse_int64(list->items[i], &s->task[i].number);
        s->task[i].text = pt_name_table_find(&s->m->names[PT_NAMES_TEXT], name);
    }
    return s->task != NULL;
}

static bool takes_task(const selector_t *s, const pt_session_row_t *row) {
    bool is_text = (row->flags & PT_ROW_TASK_TEXT) != 0;
    for (size_t i = 0; i < s->tasks; i++) {
        const wanted_task_t *t = &s->task[i];
        if ((row->flags & PT_ROW_NO_TASK) == 0 &&
            (is_text ? t->text != PT_NO_NAME && row->task_id == (int64_t)t->text
                     : t->has_number && row->task_id == t->number)) {
            return true;
        }
    }
    return s->tasks == 0;
}

static bool takes_time(const selector_t *s, const pt_session_row_t *row) {
    double start = s->m->run[row->run].first;
    /* Without an end it lasts, without a submit time it was there before. */
    bool too_early = row->finalized - start < s->f->from;
    bool too_late = row->submit - start > s->f->to;
    return !too_early && !too_late;
}

static bool takes_step(const selector_t *s, uint32_t row) {
    if (!s->f->has_steps) {
        return true;
    }
    uint32_t step = s->steps->step_of[row];
    return step != PT_NO_STEP && s->steps->step[step].number >= s->f->steps.first &&
           s->steps->step[step].number <= s->f->steps.last;
}

static bool takes(const selector_t *s, uint32_t index) {
    const pt_session_row_t *row = &s->m->row[index];
    return (s->f->ranks == NULL ||
            (row->rank >= 0 && pt_number_ranges_has(s->f->ranks, row->rank))) &&
           (s->role == NULL || s->role[row->role]) &&
           (s->status == NULL || s->status[row->status]) && takes_task(s, row) &&
           takes_time(s, row) && takes_step(s, index);
}

/* Without a look at the rows. */
static bool takes_all(const selector_t *s) {
    const pt_session_filter_t *f = s->f;
    return f->ranks == NULL && s->role == NULL && s->status == NULL && s->tasks == 0 &&
           !f->has_steps && isinf(f->from) && f->from < 0 && isinf(f->to) && f->to > 0;
}

bool pt_session_select(const pt_session_model_t *m, const pt_session_steps_t *steps,
                       const pt_session_filter_t *f, pt_selection_t *ret) {
    selector_t s = {.m = m, .f = f, .steps = steps};
    size_t size = (m->rows + 1) * sizeof *ret->row;
    *ret = (pt_selection_t){.model = m, .steps = steps, .row = pt_huge(malloc(size), size)};
    bool ok = ret->row != NULL && make_wanted(m, PT_NAMES_ROLE, f->roles, &s.role) &&
              make_wanted(m, PT_NAMES_STATUS, f->statuses, &s.status) && make_tasks(&s);
    bool all = ok && takes_all(&s);
    for (uint32_t i = 0; ok && i < m->rows; i++) {
        if (all || takes(&s, i)) {
            ret->row[ret->rows++] = i;
        }
    }
    free(s.role);
    free(s.status);
    free(s.task);
    return ok;
}

void pt_selection_free(pt_selection_t *s) {
    if (s != NULL) {
        free(s->row);
        memset(s, 0, sizeof *s);
    }
}
