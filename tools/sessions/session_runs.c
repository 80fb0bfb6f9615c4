/* session_runs.c: telling runs apart. SPDX-License-Identifier: MIT
 *
 * Lanes in which session ids start again are split, and lanes joined to runs. */
#include "grow.h"
#include "hashmap.h"
#include "row_index.h"
#include "session_finish.h"
#include "session_problem.h"
#include "session_processes.h"

#include <math.h>

/* How far back from an id that comes again the start of the new run is looked for. */
#define LOOK_BACK 10000U
#define RUNS_MAX  65535U

typedef struct finder {
    pt_session_model_t *m;
    pt_problems_t *book;
    pt_session_lanes_t *x;
} finder_t;

/* ---- session ids that start again ---- */

typedef struct probe {
    const finder_t *f;
    uint32_t row;
} probe_t;

static bool same_id(const void *ctx, uint32_t other) {
    const probe_t *p = ctx;
    const pt_session_row_t *a = &p->f->m->row[p->row], *b = &p->f->m->row[other];
    return a->session == b->session && p->f->x->of[p->row] == p->f->x->of[other] &&
           ((a->flags ^ b->flags) & PT_ROW_SESSION_TEXT) == 0;
}

static uint64_t hash_of(const finder_t *f, uint32_t row) {
    return pt_row_hash(pt_row_hash(f->x->of[row], (uint64_t)f->m->row[row].session), 1);
}

/* Marks the lanes in which an id comes again; *ret_any when there is one. */
static bool find_repeats(finder_t *f, bool *ret_any) {
    pt_row_index_t index;
    *ret_any = false;
    if (!pt_row_index_init(&index, f->m->rows)) {
        return false;
    }
    for (uint32_t i = 0; i < f->m->rows; i++) {
        probe_t probe = {f, i};
        uint64_t hash = hash_of(f, i);
        pt_row_slot_t *slot = pt_row_index_find(&index, hash, same_id, &probe);
        if (*slot == 0) {
            *slot = pt_row_slot(hash, i);
        } else {
            f->x->lane[f->x->of[i]].repeats = true;
            *ret_any = true;
        }
    }
    pt_row_index_free(&index);
    return true;
}

/* A row of a lane with repeats. */
typedef struct sorted_row {
    uint32_t lane, row;
    double submit;
    int64_t session;
    size_t at;   /* place in the order of submission */
    size_t seen; /* place of the row before it with the same id; NOT_SEEN: none */
} sorted_row_t;

#define NOT_SEEN SIZE_MAX

static int by_submit(const void *a, const void *b) {
    const sorted_row_t *x = a, *y = b;
    if (x->lane != y->lane) {
        return x->lane < y->lane ? -1 : 1;
    }
    if (x->submit != y->submit) {
        return x->submit < y->submit ? -1 : 1;
    }
    return (x->row > y->row) - (x->row < y->row);
}

static int by_session(const void *a, const void *b) {
    const sorted_row_t *x = a, *y = b;
    if (x->lane != y->lane) {
        return x->lane < y->lane ? -1 : 1;
    }
    if (x->session != y->session) {
        return x->session < y->session ? -1 : 1;
    }
    return (x->at > y->at) - (x->at < y->at);
}

static int by_place(const void *a, const void *b) {
    const sorted_row_t *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* Where the run that holds list[at] began: ids are given in order, so at the largest step down
 * since its id was seen before. */
static size_t start_of_run(const sorted_row_t *list, size_t at) {
    size_t seen = list[at].seen, best = at;
    uint64_t largest = 0;
    for (size_t i = PT_MAX(seen + 1, at > LOOK_BACK ? at - LOOK_BACK : 0); i <= at; i++) {
        uint64_t step = list[i].session < list[i - 1].session
                            ? (uint64_t)list[i - 1].session - (uint64_t)list[i].session
                            : 0;
        if (step > largest) {
            largest = step;
            best = i;
        }
    }
    return best;
}

/* list[0..count) is in the order of lanes and submission, with `seen` set. */
static bool split_lanes(finder_t *f, const sorted_row_t *list, size_t count) {
    size_t start = 0; /* of the run */
    for (size_t i = 1; i < count; i++) {
        const pt_session_row_t *row = &f->m->row[list[i].row];
        if (list[i].lane != list[i - 1].lane) {
            start = i;
            continue;
        }
        if (list[i].seen == NOT_SEEN || list[i].seen < start) {
            f->x->of[list[i].row] = f->x->of[list[i - 1].row];
            continue;
        }
        start = start_of_run(list, i);
        if (!pt_session_lanes_add(f->x, row, list[start].row)) {
            return false;
        }
        for (size_t j = start; j <= i; j++) {
            f->x->of[list[j].row] = (uint32_t)f->x->lanes - 1;
        }
        if (f->book != NULL) {
            row = &f->m->row[list[start].row];
            pt_problems_add(f->book, PT_SESSION_PROBLEM_RESTART, row->file, row->line, PT_NO_OFFSET,
                            NULL);
        }
    }
    return true;
}

static bool split_repeats(finder_t *f) {
    sorted_row_t *list = malloc(f->m->rows * sizeof *list);
    size_t n = 0;
    if (list == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < f->m->rows; i++) {
        const pt_session_row_t *row = &f->m->row[i];
        if (f->x->lane[f->x->of[i]].repeats) {
            double submit = isnan(row->submit) ? (double)-INFINITY : row->submit;
            list[n++] = (sorted_row_t){f->x->of[i], i, submit, row->session, 0, NOT_SEEN};
        }
    }
    qsort(list, n, sizeof *list, by_submit);
    for (size_t i = 0; i < n; i++) {
        list[i].at = i;
    }
    qsort(list, n, sizeof *list, by_session);
    for (size_t i = 1; i < n; i++) {
        if (list[i].lane == list[i - 1].lane && list[i].session == list[i - 1].session) {
            list[i].seen = list[i - 1].at;
        }
    }
    qsort(list, n, sizeof *list, by_place);
    bool ok = split_lanes(f, list, n);
    free(list);
    return ok;
}

/* ---- runs ---- */

static int by_writer(const void *a, const void *b) {
    const pt_session_lane_t *x = *(const pt_session_lane_t *const *)a,
                            *y = *(const pt_session_lane_t *const *)b;
    if (x->role != y->role) {
        return x->role < y->role ? -1 : 1;
    }
    if (x->rank != y->rank) {
        return x->rank < y->rank ? -1 : 1;
    }
    if (x->file != y->file) {
        return x->file < y->file ? -1 : 1;
    }
    if (x->mono != y->mono) {
        return x->mono ? 1 : -1;
    }
    if (x->first != y->first) {
        return x->first < y->first ? -1 : 1;
    }
    return (x->first_row > y->first_row) - (x->first_row < y->first_row);
}

static bool same_writer(const pt_session_lane_t *x, const pt_session_lane_t *y) {
    return x->role == y->role && x->rank == y->rank && x->file == y->file && x->mono == y->mono;
}

/* Numbers the lanes of each writer in the order of time. Processes of one run id that lived at the
 * same time have one number. */
static void number_lanes(pt_session_lane_t **order, size_t lanes) {
    qsort(order, lanes, sizeof(pt_session_lane_t *), by_writer);
    double last = (double)-INFINITY; /* of those with the number */
    for (size_t i = 0; i < lanes; i++) {
        pt_session_lane_t *lane = order[i];
        const pt_session_lane_t *before =
            i > 0 && same_writer(lane, order[i - 1]) ? order[i - 1] : NULL;
        bool beside = before != NULL && lane->process != 0 && before->process != 0 &&
                      lane->run_id == before->run_id && lane->first < last;
        last = beside ? fmax(last, lane->last) : lane->last;
        lane->ordinal = before == NULL ? 0 : before->ordinal + (beside ? 0 : 1);
    }
}

/* A run id that comes with several ranks names a run; one that each rank has of its own does not.
 */
static bool find_shared(finder_t *f) {
    pt_name_table_t *ids = &f->m->names[PT_NAMES_RUN_ID];
    int64_t *rank = malloc(((size_t)ids->count + 1) * sizeof *rank);
    enum { NONE = -2, SEVERAL = -3 };
    if (rank == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < ids->count; i++) {
        rank[i] = NONE;
    }
    for (size_t i = 0; i < f->x->lanes; i++) {
        int64_t *have = &rank[f->x->lane[i].run_id];
        *have = *have == NONE || *have == f->x->lane[i].rank ? f->x->lane[i].rank : SEVERAL;
    }
    for (size_t i = 0; i < f->x->lanes; i++) {
        uint32_t id = f->x->lane[i].run_id;
        f->x->lane[i].shared = pt_name_table_get(ids, id).len > 0 && rank[id] == SEVERAL;
    }
    free(rank);
    return true;
}

/* Gives lanes their runs, in the order of time. */
static bool join_lanes(finder_t *f, pt_session_lane_t **order, size_t lanes) {
    perftrace__hashmap_t map = PERFTRACE__HASHMAP_INIT;
    pt_session_model_t *m = f->m;
    bool ok = true;
    for (size_t i = 0; i < lanes && ok; i++) {
        pt_session_lane_t *lane = order[i];
        struct {
            uint32_t number, shared_and_mono;
        } key = {lane->shared ? lane->run_id : lane->ordinal,
                 (lane->shared ? 2U : 0U) | (lane->mono ? 1U : 0U)};
        bool is_new = false;
        uint64_t *run = perftrace__hashmap_put(&map, &key, sizeof key,
                                               PT_MIN(m->runs, (size_t)RUNS_MAX - 1), &is_new);
        ok = run != NULL;
        lane->run = ok ? (uint32_t)*run : 0;
        if (ok && lane->run == m->runs) {
            bool named = pt_name_table_get(&m->names[PT_NAMES_RUN_ID], lane->run_id).len > 0;
            m->run[m->runs++] = (pt_session_run_t){.run_id = named ? lane->run_id : PT_NO_NAME,
                                                   .mono = lane->mono,
                                                   .first = (double)INFINITY,
                                                   .last = (double)-INFINITY};
        }
    }
    perftrace__hashmap_free(&map);
    return ok;
}

static int by_time(const void *a, const void *b) {
    const pt_session_lane_t *x = *(const pt_session_lane_t *const *)a,
                            *y = *(const pt_session_lane_t *const *)b;
    if (x->mono != y->mono) {
        return x->mono ? 1 : -1;
    }
    if (x->first != y->first) {
        return x->first < y->first ? -1 : 1;
    }
    return (x->first_row > y->first_row) - (x->first_row < y->first_row);
}

/* Row by row these are what the lanes have of them. */
static void fill_runs(finder_t *f) {
    pt_session_model_t *m = f->m;
    for (size_t i = 0; i < f->x->lanes; i++) {
        const pt_session_lane_t *lane = &f->x->lane[i];
        pt_session_run_t *run = &m->run[lane->run];
        run->rows += lane->rows;
        run->first = PT_MIN(run->first, lane->first);
        run->last = PT_MAX(run->last, lane->last);
    }
    for (size_t i = 0; i < m->pendings; i++) {
        uint32_t lane = f->x->of[m->pending[i].row];
        pt_session_run_t *run = &m->run[f->x->lane[lane].run];
        run->last = fmax(run->last, m->pending[i].last);
    }
}

static bool make_runs(finder_t *f) {
    pt_session_lane_t **order = malloc((f->x->lanes + 1) * sizeof(pt_session_lane_t *));
    f->m->run = calloc(PT_MIN(f->x->lanes, (size_t)RUNS_MAX) + 1, sizeof *f->m->run);
    bool ok = order != NULL && f->m->run != NULL && find_shared(f);
    if (ok) {
        size_t n = 0;
        for (size_t i = 0; i < f->x->lanes; i++) {
            order[n] = &f->x->lane[i];
            n += order[n]->rows > 0; /* all may have gone to processes */
        }
        number_lanes(order, n);
        qsort(order, n, sizeof(pt_session_lane_t *), by_time);
        ok = join_lanes(f, order, n);
    }
    if (ok) {
        fill_runs(f);
    }
    free(order);
    return ok;
}

/* What was noted of rows that were dropped since is noted anew. */
static bool note_again(finder_t *f) {
    pt_session_lanes_free(f->x);
    return pt_session_lanes_note(f->x, f->m->row, f->m->rows);
}

/* Several starts of a writer's session ids, each a lane of its own. */
static bool split_lanes_again(finder_t *f) {
    bool any = false, several = false;
    if (!find_repeats(f, &any) || (any && !pt_session_split_processes(f->m, f->book, &several)) ||
        (several && !find_repeats(f, &any)) || (any && !split_repeats(f))) {
        return false;
    }
    any |= several;
    if (any) {
        pt_session_lanes_measure(f->x, f->m->row);
    }
    return true;
}

bool pt_session_find_runs(pt_session_model_t *m, bool unique, pt_problems_t *book) {
    finder_t f = {.m = m, .book = book, .x = &m->lanes};
    return (unique || (note_again(&f) && split_lanes_again(&f))) && make_runs(&f);
}
