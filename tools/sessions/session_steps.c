/* session_steps.c: training steps, as the consumer's batches make them. SPDX-License-Identifier:
 * MIT
 */
#include "session_steps.h"

#include "grow.h"

#include <math.h>

/* A completed task. */
typedef struct done {
    uint16_t run, role;
    int32_t rank;
    double time;
} done_t;

static int by_rank_and_time(const void *a, const void *b) {
    const done_t *x = a, *y = b;
    if (x->run != y->run) {
        return x->run < y->run ? -1 : 1;
    }
    if (x->role != y->role) {
        return x->role < y->role ? -1 : 1;
    }
    if (x->rank != y->rank) {
        return x->rank < y->rank ? -1 : 1;
    }
    return (x->time > y->time) - (x->time < y->time);
}

/* The tasks of accepted sessions that have an end, each with the last of these. */
static size_t find_done(const pt_session_model_t *m, done_t *done) {
    pt_name_t text = {"accepted", 8};
    uint32_t accepted = pt_name_table_find(&m->names[PT_NAMES_STATUS], text);
    for (size_t i = 0; i < m->tasks; i++) {
        const pt_session_row_t *row = &m->row[m->task[i].first_row];
        done[i] = (done_t){row->run, row->role, row->rank, (double)-INFINITY};
    }
    for (size_t i = 0; i < m->rows; i++) {
        const pt_session_row_t *row = &m->row[i];
        if (row->status == accepted && row->rank >= 0 && row->task != PT_NO_TASK &&
            !isnan(row->finalized)) {
            done[row->task].time = fmax(done[row->task].time, row->finalized);
        }
    }
    size_t count = 0;
    for (size_t i = 0; i < m->tasks; i++) {
        if (!isinf(done[i].time)) {
            done[count++] = done[i];
        }
    }
    return count;
}

static size_t ranks_in(const done_t *done, size_t count) {
    size_t ranks = 0;
    for (size_t i = 0; i < count; i++) {
        ranks += i == 0 || done[i].rank != done[i - 1].rank;
    }
    return ranks;
}

/* Step number k of one run and role, whose completed tasks are done[0..count): false when a rank
 * has not got so far. */
static bool make_step(const done_t *done, size_t count, size_t quota, size_t k,
                      pt_session_step_t *ret) {
    *ret = (pt_session_step_t){.run = done->run,
                               .role = done->role,
                               .number = (uint32_t)k,
                               .first_end = (double)INFINITY,
                               .end = (double)-INFINITY};
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first; end < count && done[end].rank == done[first].rank; end++) {
        }
        size_t last = (k + 1) * quota - 1;
        if (last >= end - first) {
            return false;
        }
        double time = done[first + last].time;
        if (time < ret->first_end) {
            ret->first_end = time;
            ret->first_rank = done[first].rank;
        }
        if (time > ret->end) {
            ret->end = time;
            ret->last_rank = done[first].rank;
        }
    }
    return true;
}

static bool make_steps(pt_session_steps_t *s, size_t *cap, const done_t *done, size_t count,
                       uint64_t batch_size) {
    size_t ranks = ranks_in(done, count);
    size_t quota = (size_t)PT_MIN(batch_size / ranks, (uint64_t)SIZE_MAX / 2);
    if (quota == 0) {
        s->too_small++;
        return true;
    }
    pt_session_step_t step;
    for (size_t k = 0; k <= count / quota && make_step(done, count, quota, k, &step); k++) {
        if (!pt_grow((void **)&s->step, sizeof *s->step, s->count, 1, cap)) {
            return false;
        }
        s->step[s->count++] = step;
    }
    return true;
}

/* The first step of the row's run and role that ends at or after its end. */
static uint32_t step_of(const pt_session_steps_t *s, const pt_session_row_t *row) {
    size_t low = 0, high = s->count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const pt_session_step_t *step = &s->step[mid];
        bool before = step->run != row->run     ? step->run < row->run
                      : step->role != row->role ? step->role < row->role
                                                : step->end < row->finalized;
        low = before ? mid + 1 : low;
        high = before ? high : mid;
    }
    return low < s->count && s->step[low].run == row->run && s->step[low].role == row->role
               ? (uint32_t)low
               : PT_NO_STEP;
}

bool pt_session_steps_find(const pt_session_model_t *m, uint64_t batch_size,
                           pt_session_steps_t *s) {
    size_t cap = 0;
    memset(s, 0, sizeof *s);
    s->step_of = malloc((m->rows + 1) * sizeof *s->step_of);
    done_t *done = calloc(m->tasks + 1, sizeof *done);
    bool ok = s->step_of != NULL && done != NULL;
    size_t count = ok ? find_done(m, done) : 0;
    if (ok) {
        qsort(done, count, sizeof *done, by_rank_and_time);
    }
    for (size_t first = 0, end; ok && first < count; first = end) {
        for (end = first;
             end < count && done[end].run == done[first].run && done[end].role == done[first].role;
             end++) {
        }
        ok = make_steps(s, &cap, done + first, end - first, batch_size);
    }
    for (size_t i = 0; ok && i < m->rows; i++) {
        s->step_of[i] = isnan(m->row[i].finalized) ? PT_NO_STEP : step_of(s, &m->row[i]);
    }
    free(done);
    return ok;
}

void pt_session_steps_free(pt_session_steps_t *s) {
    if (s != NULL) {
        free(s->step);
        free(s->step_of);
        memset(s, 0, sizeof *s);
    }
}
