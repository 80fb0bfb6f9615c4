/* session_append.c: batches into the model. SPDX-License-Identifier: MIT */
#include "grow.h"
#include "session_batch.h"

/* From the batch's names to the model's. */
typedef struct maps {
    uint32_t *of[PT_NAMES_COUNT];
} maps_t;

static void free_maps(maps_t *maps) {
    for (unsigned kind = 0; kind < PT_NAMES_COUNT; kind++) {
        free(maps->of[kind]);
    }
}

static bool map_names(maps_t *maps, pt_session_model_t *m, const pt_session_model_t *part,
                      uint64_t *overflow) {
    static const pt_name_t others = {"(others)", 8};
    for (unsigned kind = 0; kind < PT_NAMES_COUNT; kind++) {
        const pt_name_table_t *from = &part->names[kind];
        pt_name_table_t *to = &m->names[kind];
        uint32_t *map = calloc((size_t)from->count + 1, sizeof *map);
        maps->of[kind] = map;
        if (map == NULL) {
            return false;
        }
        for (uint32_t id = 0; id < from->count; id++) {
            pt_name_t name = pt_name_table_get(from, id);
            if (to->count >= pt_names_limit((pt_names_t)kind) &&
                pt_name_table_find(to, name) == PT_NO_NAME) {
                name = others;
                (*overflow)++;
            }
            map[id] = pt_name_table_add(to, name);
            if (map[id] == PT_NO_NAME) {
                return false;
            }
        }
    }
    return true;
}

static bool make_room(pt_session_model_t *m, const pt_session_model_t *part) {
    return m->rows + part->rows < UINT32_MAX && m->cells + part->cells < UINT32_MAX &&
           m->counters + part->counters < UINT32_MAX && m->spans + part->spans < UINT32_MAX &&
           PT_GROW(m, row, rows, row_cap, part->rows) &&
           PT_GROW(m, cell, cells, cell_cap, part->cells) &&
           PT_GROW(m, counter, counters, counter_cap, part->counters) &&
           PT_GROW(m, open, opens, open_cap, part->opens) &&
           PT_GROW(m, pending, pendings, pending_cap, part->pendings) &&
           PT_GROW(m, span, spans, span_cap, part->spans);
}

void pt_session_model_expect(pt_session_model_t *m, double more) {
    more = PT_MIN(more, 1e5);
#define EXPECT(array, count, cap)                                                                  \
    (void)PT_GROW(m, array, count, cap, (size_t)((double)m->count * more))
    EXPECT(row, rows, row_cap);
    EXPECT(cell, cells, cell_cap);
    EXPECT(counter, counters, counter_cap);
    EXPECT(span, spans, span_cap);
#undef EXPECT
}

static void append_row(pt_session_model_t *m, const pt_session_row_t *from, const maps_t *maps,
                       uint16_t file, uint64_t line) {
    pt_session_row_t *row = &m->row[m->rows++];
    *row = *from;
    row->role = (uint16_t)maps->of[PT_NAMES_ROLE][from->role];
    row->status = (uint16_t)maps->of[PT_NAMES_STATUS][from->status];
    row->reason = (uint16_t)maps->of[PT_NAMES_REASON][from->reason];
    row->run = (uint16_t)maps->of[PT_NAMES_RUN_ID][from->run];
    if ((row->flags & PT_ROW_SESSION_TEXT) != 0) {
        row->session = maps->of[PT_NAMES_TEXT][from->session];
    }
    if ((row->flags & PT_ROW_TASK_TEXT) != 0) {
        row->task_id = maps->of[PT_NAMES_TEXT][from->task_id];
    }
    row->first_cell += (uint32_t)m->cells;
    row->first_counter += (uint32_t)m->counters;
    row->first_span += (uint32_t)m->spans;
    row->file = file;
    row->line = (uint32_t)PT_MIN(line + from->line, (uint64_t)UINT32_MAX);
}

bool pt_session_model_append(pt_session_model_t *m, const pt_session_batch_t *batch, uint16_t file,
                             uint64_t line, uint64_t *ret_overflow) {
    const pt_session_model_t *part = &batch->part;
    maps_t maps = {{NULL}};
    *ret_overflow = 0;
    if (!make_room(m, part) || !map_names(&maps, m, part, ret_overflow)) {
        free_maps(&maps);
        return false;
    }
    uint32_t first_row = (uint32_t)m->rows;
    for (size_t i = 0; i < part->rows; i++) {
        append_row(m, &part->row[i], &maps, file, line);
    }
    pt_session_ids_note(&m->ids, m->row + first_row, part->rows);
    if (!pt_session_lanes_note(&m->lanes, m->row + first_row, part->rows)) {
        free_maps(&maps);
        return false;
    }
    for (size_t i = 0; i < part->cells; i++) {
        pt_session_cell_t *cell = &m->cell[m->cells++];
        *cell = part->cell[i];
        cell->phase = (uint16_t)maps.of[PT_NAMES_PHASE][cell->phase];
    }
    for (size_t i = 0; i < part->counters; i++) {
        pt_session_counter_t *counter = &m->counter[m->counters++];
        *counter = part->counter[i];
        counter->counter = (uint16_t)maps.of[PT_NAMES_COUNTER][counter->counter];
    }
    for (size_t i = 0; i < part->opens; i++) {
        pt_session_open_t *open = &m->open[m->opens++];
        *open = part->open[i];
        open->row += first_row;
        open->phase = (uint16_t)maps.of[PT_NAMES_PHASE][open->phase];
    }
    for (size_t i = 0; i < part->pendings; i++) {
        pt_session_pending_t *pending = &m->pending[m->pendings++];
        *pending = part->pending[i];
        pending->row += first_row;
    }
    for (size_t i = 0; i < part->spans; i++) {
        pt_session_span_t *span = &m->span[m->spans++];
        *span = part->span[i];
        span->phase = (uint16_t)maps.of[PT_NAMES_PHASE][span->phase];
    }
    free_maps(&maps);
    return true;
}
