/* session_processes.c: processes of one writer that lived at the same time.
 * SPDX-License-Identifier: MIT */
#include "session_processes.h"

#include "grow.h"
#include "session_problem.h"

#include <math.h>

/* What a file has of a lane. */
typedef struct part {
    uint32_t lane, file;
    uint32_t first_row;
    uint32_t own;       /* the lane that it gets; as `lane`: none */
    double first, last; /* submit, submit or end */
} part_t;

typedef struct parts {
    part_t *part;
    size_t parts, part_cap;
    perftrace__hashmap_t index;
    uint32_t *of; /* by row; NO_PART: its lane has no ids that come again */
} parts_t;

#define NO_PART UINT32_MAX

/* Without a run id nothing says that they belong together. */
static bool may_have_several(const pt_session_model_t *m, const pt_session_lane_t *lane) {
    return lane->repeats && pt_name_table_get(&m->names[PT_NAMES_RUN_ID], lane->run_id).len > 0;
}

static bool find_parts(parts_t *p, const pt_session_model_t *m) {
    const pt_session_lanes_t *x = &m->lanes;
    const pt_session_row_t *rows = m->row;
    struct {
        uint32_t lane, file;
    } key, last = {0, 0};
    uint32_t at = NO_PART;
    for (size_t i = 0; i < x->rows; i++) {
        p->of[i] = NO_PART;
        if (!may_have_several(m, &x->lane[x->of[i]])) {
            continue;
        }
        key.lane = x->of[i];
        key.file = rows[i].file;
        if (at == NO_PART || memcmp(&key, &last, sizeof key) != 0) {
            bool is_new = false;
            uint64_t *index =
                perftrace__hashmap_put(&p->index, &key, sizeof key, p->parts, &is_new);
            if (index == NULL || !PT_GROW(p, part, parts, part_cap, 1)) {
                return false;
            }
            at = (uint32_t)*index;
            last = key;
            if (is_new) {
                p->part[p->parts++] = (part_t){key.lane, key.file,         (uint32_t)i,
                                               key.lane, (double)INFINITY, (double)-INFINITY};
            }
        }
        p->of[i] = at;
        p->part[at].first = fmin(p->part[at].first, rows[i].submit); /* passes over NAN */
        p->part[at].last = fmax(p->part[at].last, fmax(rows[i].submit, rows[i].finalized));
    }
    return true;
}

static int by_time(const void *a, const void *b) {
    const part_t *x = *(part_t *const *)a, *y = *(part_t *const *)b;
    if (x->lane != y->lane) {
        return x->lane < y->lane ? -1 : 1;
    }
    if (x->first != y->first) {
        return x->first < y->first ? -1 : 1;
    }
    return (x->first_row > y->first_row) - (x->first_row < y->first_row);
}

static bool give_lane(pt_session_lanes_t *x, part_t *part, const pt_session_row_t *rows) {
    part->own = (uint32_t)x->lanes;
    if (!pt_session_lanes_add(x, &rows[part->first_row], part->first_row)) {
        return false;
    }
    x->lane[part->own].process = part->file + 1;
    return true;
}

static void tell(const pt_session_model_t *m, const part_t *part, pt_problems_t *book) {
    const pt_session_row_t *row = &m->row[part->first_row];
    if (book != NULL) {
        pt_problems_add(book, PT_SESSION_PROBLEM_RESTART, row->file, row->line, PT_NO_OFFSET, NULL);
    }
}

static bool split_parts(pt_session_model_t *m, const parts_t *p, part_t **order,
                        pt_problems_t *book, bool *ret_any) {
    bool first = true, left = false; /* of the lane; one that stays in it has been seen */
    for (size_t i = 0, end; i < p->parts; i = end) {
        double last = order[i]->last;
        if (i > 0 && order[i]->lane != order[i - 1]->lane) {
            first = true;
            left = false;
        }
        for (end = i + 1;
             end < p->parts && order[end]->lane == order[i]->lane && order[end]->first < last;
             end++) {
            last = fmax(last, order[end]->last);
        }
        bool several = end > i + 1;
        for (size_t k = i; several && k < end; k++) {
            if (!give_lane(&m->lanes, order[k], m->row)) {
                return false;
            }
        }
        /* A restart. Among those that stay in the lane it is told by their ids. */
        if (!first && (several || !left)) {
            tell(m, order[i], book);
        }
        *ret_any |= several;
        left |= !several;
        first = false;
    }
    return true;
}

bool pt_session_split_processes(pt_session_model_t *m, pt_problems_t *book, bool *ret_any) {
    pt_session_lanes_t *x = &m->lanes;
    parts_t p = {.index = PERFTRACE__HASHMAP_INIT, .of = malloc((x->rows + 1) * sizeof *p.of)};
    *ret_any = false;
    bool ok = p.of != NULL && find_parts(&p, m);
    part_t **order = ok ? malloc((p.parts + 1) * sizeof(part_t *)) : NULL;
    ok = order != NULL;
    for (size_t i = 0; ok && i < p.parts; i++) {
        order[i] = &p.part[i];
    }
    if (ok) {
        qsort(order, p.parts, sizeof(part_t *), by_time);
        ok = split_parts(m, &p, order, book, ret_any);
    }
    bool moved = ok && *ret_any && p.part != NULL;
    for (size_t i = 0; moved && i < x->rows; i++) {
        x->of[i] = p.of[i] == NO_PART ? x->of[i] : p.part[p.of[i]].own;
    }
    free(order);
    free(p.part);
    free(p.of);
    perftrace__hashmap_free(&p.index);
    return ok;
}
