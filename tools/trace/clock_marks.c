/* clock_marks.c: which clocks passed which barriers. SPDX-License-Identifier: MIT */
#include "clock_marks.h"

#include <stdlib.h>

static int by_id(const void *a, const void *b) {
    const pt_clock_mark_t *x = a, *y = b;
    return x->id != y->id ? (x->id > y->id) - (x->id < y->id) : (x->ts > y->ts) - (x->ts < y->ts);
}

/* Of a number that the file gives twice it is not known which one others mean. */
static size_t marks_of(const pt_clock_scratch_t *s, size_t file, pt_clock_mark_t *ret) {
    size_t n = pt_clock_mark_count(&s->in[file]), kept = 0;
    for (size_t k = 0; k < n; k++) {
        const pt_sync_mark_t *m = &s->in[file].notes->mark[k];
        int64_t at = pt_clock_within(pt_clock_add(pt_clock_within(m->ts), s->zero[file]));
        ret[k] = (pt_clock_mark_t){.id = m->id, .ts = at, .node = s->node[file]};
    }
    if (n > 1) {
        qsort(ret, n, sizeof *ret, by_id);
    }
    for (size_t k = 0, end; k < n; k = end) {
        for (end = k + 1; end < n && ret[end].id == ret[k].id; end++) {
        }
        if (end == k + 1) {
            ret[kept++] = ret[k];
        }
    }
    return kept;
}

/* One an id: the last rank to leave says when it was over. */
static size_t last_of_each(pt_clock_mark_t *mark, size_t n) {
    size_t kept = 0;
    if (n > 1) {
        qsort(mark, n, sizeof *mark, by_id);
    }
    for (size_t i = 0; i < n; i++) {
        if (i + 1 == n || mark[i + 1].id != mark[i].id) {
            mark[kept++] = mark[i];
        }
    }
    return kept;
}

static int by_barrier(const void *a, const void *b) {
    const pt_clock_mark_t *const *x = a, *const *y = b;
    return (*x)->id != (*y)->id ? ((*x)->id > (*y)->id) - ((*x)->id < (*y)->id)
                                : (*x > *y) - (*x < *y);
}

/* Puts the marks of one barrier side by side, and numbers the barriers. */
static void number_barriers(pt_clock_marks_t *m) {
    for (size_t i = 0; i < m->count; i++) {
        m->beside[i] = &m->mark[i];
    }
    if (m->count > 1) {
        qsort(m->beside, m->count, sizeof(pt_clock_mark_t *), by_barrier);
    }
    for (size_t i = 0; i < m->count; i++) {
        if (i == 0 || m->beside[i]->id != m->beside[i - 1]->id) {
            m->barrier[m->barriers++] = (pt_clock_barrier_t){.from = i};
        }
        m->beside[i]->barrier = m->barriers - 1;
    }
    m->barrier[m->barriers].from = m->count;
}

bool pt_clock_marks_make(pt_clock_marks_t *m, const pt_clock_scratch_t *s, size_t most) {
    *m = (pt_clock_marks_t){.mark = calloc(most + 1, sizeof *m->mark),
                            .beside = calloc(most + 1, sizeof(pt_clock_mark_t *)),
                            .barrier = calloc(most + 1, sizeof *m->barrier),
                            .from = calloc(s->graph.nodes + 1, sizeof *m->from)};
    if (m->mark == NULL || m->beside == NULL || m->barrier == NULL || m->from == NULL) {
        return false;
    }
    for (size_t node = 0; node < s->graph.nodes; node++) {
        size_t n = 0;
        for (size_t j = s->from[node]; j < s->from[node + 1]; j++) {
            n += marks_of(s, s->file[j], m->mark + m->count + n);
        }
        m->count += last_of_each(m->mark + m->count, n);
        m->from[node + 1] = m->count;
    }
    number_barriers(m);
    return true;
}

void pt_clock_marks_free(pt_clock_marks_t *m) {
    free(m->mark);
    free(m->beside);
    free(m->barrier);
    free(m->from);
}
