/* session_lanes.c: rows of one writer that belong together. SPDX-License-Identifier: MIT */
#include "session_lanes.h"

#include "grow.h"
#include "session_model.h"

#include <math.h>

/* No padding: compared as bytes. */
typedef struct lane_key {
    int32_t rank;
    uint32_t file, run_id;
    uint16_t role, mono;
} lane_key_t;

static lane_key_t key_of(const pt_session_row_t *row) {
    return (lane_key_t){row->rank, row->rank < 0 ? row->file : 0, row->run, row->role,
                        (row->flags & PT_ROW_MONO) != 0};
}

bool pt_session_lanes_add(pt_session_lanes_t *x, const pt_session_row_t *row, uint32_t first_row) {
    lane_key_t key = key_of(row);
    if (!PT_GROW(x, lane, lanes, lane_cap, 1)) {
        return false;
    }
    x->lane[x->lanes++] = (pt_session_lane_t){.rank = key.rank,
                                              .file = key.file,
                                              .run_id = key.run_id,
                                              .role = key.role,
                                              .mono = key.mono != 0,
                                              .first_row = first_row,
                                              .first = (double)INFINITY,
                                              .last = (double)-INFINITY};
    return true;
}

/* Comparing passes over NAN. */
PT_ALWAYS_INLINE void add_row(pt_session_lane_t *lane, const pt_session_row_t *row) {
    lane->rows++;
    lane->first = row->submit < lane->first ? row->submit : lane->first;
    lane->last = row->submit > lane->last ? row->submit : lane->last;
    lane->last = row->finalized > lane->last ? row->finalized : lane->last;
}

bool pt_session_lanes_note(pt_session_lanes_t *x, const pt_session_row_t *rows, size_t count) {
    lane_key_t last = {0, 0, 0, 0, 0};
    uint32_t lane = 0;
    if (!PT_GROW(x, of, rows, row_cap, count)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        lane_key_t key = key_of(&rows[i]);
        if (i == 0 || memcmp(&key, &last, sizeof key) != 0) {
            bool is_new = false;
            uint64_t *index =
                perftrace__hashmap_put(&x->index, &key, sizeof key, x->lanes, &is_new);
            if (index == NULL ||
                (is_new && !pt_session_lanes_add(x, &rows[i], (uint32_t)x->rows))) {
                return false;
            }
            lane = (uint32_t)*index;
            last = key;
        }
        add_row(&x->lane[lane], &rows[i]);
        x->of[x->rows++] = lane;
    }
    return true;
}

void pt_session_lanes_measure(pt_session_lanes_t *x, const pt_session_row_t *rows) {
    for (size_t i = 0; i < x->lanes; i++) {
        x->lane[i].rows = 0;
        x->lane[i].first = (double)INFINITY;
        x->lane[i].last = (double)-INFINITY;
    }
    for (size_t i = 0; i < x->rows; i++) {
        add_row(&x->lane[x->of[i]], &rows[i]);
    }
}

void pt_session_lanes_free(pt_session_lanes_t *x) {
    if (x != NULL) {
        free(x->of);
        free(x->lane);
        perftrace__hashmap_free(&x->index);
        memset(x, 0, sizeof *x);
    }
}
