/* session_model.c: all sessions of the inputs, compact. SPDX-License-Identifier: MIT */
#include "session_model.h"

#include "utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

uint32_t pt_names_limit(pt_names_t kind) {
    static const uint32_t limit[PT_NAMES_COUNT] = {
#define PT_I_NAMES_LIMIT(name, limit_) [PT_NAMES_##name] = (limit_),
        PT_NAMES_LIST(PT_I_NAMES_LIMIT)
#undef PT_I_NAMES_LIMIT
    };
    return limit[kind];
}

void pt_session_model_free(pt_session_model_t *m) {
    if (m == NULL) {
        return;
    }
    free(m->row);
    free(m->cell);
    free(m->counter);
    free(m->open);
    free(m->pending);
    free(m->span);
    free(m->task);
    free(m->run);
    pt_session_ids_free(&m->ids);
    pt_session_lanes_free(&m->lanes);
    for (unsigned i = 0; i < PT_NAMES_COUNT; i++) {
        pt_name_table_free(&m->names[i]);
    }
    memset(m, 0, sizeof *m);
}

pt_name_t pt_session_name(const pt_session_model_t *m, pt_names_t kind, uint32_t id) {
    return pt_name_table_get(&m->names[kind], id);
}

static const char *id_text(const pt_session_model_t *m, int64_t value, bool is_text, char *out,
                           size_t size) {
    if (!is_text) {
        snprintf(out, size, "%" PRId64, value);
        return out;
    }
    pt_name_t name = pt_session_name(m, PT_NAMES_TEXT, (uint32_t)value);
    size_t len = perftrace__utf8_cut(name.p, name.len, size - 1);
    memcpy(out, name.p, len);
    out[len] = '\0';
    return out;
}

const char *pt_session_id_text(const pt_session_model_t *m, const pt_session_row_t *row, char *out,
                               size_t size) {
    return id_text(m, row->session, (row->flags & PT_ROW_SESSION_TEXT) != 0, out, size);
}

const char *pt_session_task_text(const pt_session_model_t *m, const pt_session_row_t *row,
                                 char *out, size_t size) {
    if ((row->flags & PT_ROW_NO_TASK) != 0) {
        snprintf(out, size, "-");
        return out;
    }
    return id_text(m, row->task_id, (row->flags & PT_ROW_TASK_TEXT) != 0, out, size);
}

const pt_session_cell_t *pt_session_cell_of(const pt_session_model_t *m,
                                            const pt_session_row_t *row, unsigned phase) {
    for (unsigned i = 0; i < row->cells; i++) {
        const pt_session_cell_t *cell = &m->cell[row->first_cell + i];
        if (cell->phase == phase) {
            return cell;
        }
    }
    return NULL;
}
