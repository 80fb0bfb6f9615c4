/* session_tasks.h: samples of one item are grouped into tasks. SPDX-License-Identifier: MIT
 *
 * Pure but for memory. Not thread-safe. */
#ifndef PERFTRACE_SESSIONS_SESSION_TASKS_H
#define PERFTRACE_SESSIONS_SESSION_TASKS_H
#include "row_index.h"
#include "session_model.h"

typedef struct pt_session_tasks {
    pt_session_model_t *m;
    pt_row_index_t index; /* of tasks that are in no table of a group */
    size_t indexed, room; /* tasks in it; for how many there is room */
    size_t task_cap;
    struct pt_task_group *group;
    size_t groups, group_cap, bytes;
    perftrace__hashmap_t group_index;
    struct pt_task_group *last; /* the group of the row before */
} pt_session_tasks_t;

/* For a model without tasks. Free with pt_session_tasks_free in every case. False without memory.
 */
bool pt_session_tasks_init(pt_session_tasks_t *tasks, pt_session_model_t *model);
/* Sets the task of a row that has a task id and its final role and run: m->task[] is in the order
 * of their first rows. False without memory. */
bool pt_session_tasks_add(pt_session_tasks_t *tasks, uint32_t row);
void pt_session_tasks_free(pt_session_tasks_t *tasks);

#endif
