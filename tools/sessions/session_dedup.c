/* session_dedup.c: records that are given twice. SPDX-License-Identifier: MIT */
#include "row_index.h"
#include "session_finish.h"
#include "session_problem.h"

#include <math.h>

#define CLOCK_AND_ID (PT_ROW_MONO | PT_ROW_SESSION_TEXT)

typedef struct probe {
    const pt_session_model_t *m;
    const pt_session_row_t *row;
} probe_t;

static uint64_t bits_of(double v) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static bool same_number(double a, double b) {
    return a == b || (isnan(a) && isnan(b));
}

static uint64_t hash_of(const pt_session_row_t *row) {
    uint64_t hash = pt_row_hash(bits_of(row->submit), (uint64_t)row->session);
    return pt_row_hash(hash,
                       (uint64_t)(uint32_t)row->rank << 32 | (uint64_t)row->run << 16 | row->role);
}

static bool same_cells(const pt_session_model_t *m, const pt_session_row_t *a,
                       const pt_session_row_t *b) {
    for (unsigned i = 0; i < a->cells; i++) {
        const pt_session_cell_t *x = &m->cell[a->first_cell + i], *y = &m->cell[b->first_cell + i];
        if (x->phase != y->phase || x->spans != y->spans || x->open != y->open ||
            !same_number(x->seconds, y->seconds)) {
            return false;
        }
    }
    return true;
}

static bool same_record(const pt_session_model_t *m, const pt_session_row_t *a,
                        const pt_session_row_t *b) {
    return a->task_id == b->task_id && a->status == b->status && a->reason == b->reason &&
           a->flags == b->flags && a->cells == b->cells && a->counters == b->counters &&
           same_number(a->finalized, b->finalized) && same_number(a->total, b->total) &&
           same_cells(m, a, b);
}

/* The same session, whatever the records say about it; without a submit time only when they say the
 * same. */
static bool same_session(const void *ctx, uint32_t other) {
    const probe_t *p = ctx;
    const pt_session_row_t *a = p->row, *b = &p->m->row[other];
    return a->session == b->session && a->rank == b->rank && a->role == b->role &&
           a->run == b->run && same_number(a->submit, b->submit) &&
           ((a->flags ^ b->flags) & CLOCK_AND_ID) == 0 &&
           (!isnan(a->submit) || same_record(p->m, a, b));
}

static void tell(pt_problems_t *book, unsigned kind, const pt_session_row_t *row) {
    if (book != NULL) {
        pt_problems_add(book, kind, row->file, row->line, PT_NO_OFFSET, NULL);
    }
}

/* Takes out the rows that are marked, and what points to them. */
static void compact(pt_session_model_t *m, const uint8_t *drop) {
    size_t kept = 0, open = 0, opens = 0, pending = 0, pendings = 0;
    for (size_t i = 0; i < m->rows; i++) {
        for (; open < m->opens && m->open[open].row == i; open++) {
            if (!drop[i]) {
                m->open[opens] = m->open[open];
                m->open[opens++].row = (uint32_t)kept;
            }
        }
        for (; pending < m->pendings && m->pending[pending].row == i; pending++) {
            if (!drop[i]) {
                m->pending[pendings] = m->pending[pending];
                m->pending[pendings++].row = (uint32_t)kept;
            }
        }
        if (!drop[i]) {
            m->row[kept++] = m->row[i];
        }
    }
    m->rows = kept;
    m->opens = opens;
    m->pendings = pendings;
}

bool pt_session_drop_duplicates(pt_session_model_t *m, pt_problems_t *book) {
    pt_row_index_t index;
    uint8_t *drop = NULL;
    if (!pt_row_index_init(&index, m->rows)) {
        return false;
    }
    for (uint32_t i = 0; i < m->rows; i++) {
        probe_t probe = {m, &m->row[i]};
        uint64_t hash = hash_of(probe.row);
        pt_row_slot_t *slot = pt_row_index_find(&index, hash, same_session, &probe);
        if (PT_LIKELY(*slot == 0)) {
            *slot = pt_row_slot(hash, i);
            continue;
        }
        drop = drop != NULL ? drop : calloc(m->rows, 1);
        if (drop == NULL) {
            pt_row_index_free(&index);
            return false;
        }
        uint32_t before = pt_row_of_slot(*slot);
        const pt_session_row_t *first = &m->row[before];
        bool equal = same_record(m, first, probe.row);
        tell(book, equal ? PT_SESSION_PROBLEM_DUPLICATE : PT_SESSION_PROBLEM_CONFLICT, probe.row);
        bool later = !equal && (isnan(first->finalized) ? !isnan(probe.row->finalized)
                                                        : probe.row->finalized > first->finalized);
        drop[later ? before : i] = 1;
        *slot = later ? pt_row_slot(hash, i) : *slot;
    }
    if (drop != NULL) {
        compact(m, drop);
    }
    free(drop);
    pt_row_index_free(&index);
    return true;
}
