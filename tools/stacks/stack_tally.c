/* stack_tally.c. SPDX-License-Identifier: MIT */
#include "stack_tally.h"

#include <stdlib.h>

/* Sums while they grow: each frame or name has a row from its first occurrence on. */
typedef struct sums {
    pt_tally_t *tally;
    uint32_t *row_of; /* its number plus 1; 0: none */
} sums_t;

static bool begin(sums_t *s, pt_tally_t *tally, size_t most) {
    *tally = (pt_tally_t){NULL, 0};
    s->tally = tally;
    s->row_of = calloc(most + 1, sizeof *s->row_of);
    tally->row = calloc(most + 1, sizeof *tally->row);
    return s->row_of != NULL && tally->row != NULL;
}

static void add(sums_t *s, uint32_t what, const pt_profile_node_t *n) {
    if (s->row_of[what] == 0) {
        s->tally->row[s->tally->rows] = (pt_tally_row_t){.what = what, .place = s->tally->rows};
        s->row_of[what] = (uint32_t)++s->tally->rows;
    }
    pt_tally_row_t *row = &s->tally->row[s->row_of[what] - 1];
    row->samples += n->samples;
    row->weight += n->weight;
}

static int compare(const void *a, const void *b) {
    const pt_tally_row_t *x = a, *y = b;
    if (x->rank != y->rank) {
        return x->rank > y->rank ? -1 : 1;
    }
    return (x->place > y->place) - (x->place < y->place);
}

static bool end(sums_t *s, const pt_stack_view_t *v, bool ok) {
    for (size_t i = 0; i < s->tally->rows; i++) {
        s->tally->row[i].rank = pt_stack_rank(v, s->tally->row[i].weight);
    }
    if (ok && s->tally->rows > 0) {
        qsort(s->tally->row, s->tally->rows, sizeof *s->tally->row, compare);
    }
    free(s->row_of);
    return ok;
}

static bool tally_self(const pt_stack_view_t *v, bool names, pt_tally_t *tally) {
    sums_t s;
    bool ok = begin(&s, tally, names ? v->names : v->p->frames);
    for (size_t i = 0; ok && i < v->entries; i++) {
        const pt_profile_node_t *n = &v->p->node[v->entry[i]];
        if (n->frame != PT_PROFILE_NONE) {
            add(&s, names ? v->name[n->frame] : n->frame, n);
        }
    }
    return end(&s, v, ok);
}

bool pt_tally_self(const pt_stack_view_t *v, pt_tally_t *tally) {
    return tally_self(v, false, tally);
}

bool pt_tally_self_names(const pt_stack_view_t *v, pt_tally_t *tally) {
    return tally_self(v, true, tally);
}

/* From the root down, so that rows are in the order of their first occurrence. */
bool pt_tally_inclusive(const pt_stack_view_t *v, pt_tally_t *tally) {
    sums_t s;
    bool ok = begin(&s, tally, v->names);
    uint32_t *path = pt_stack_path_room(v);
    size_t *seen = calloc(v->names + 1, sizeof *seen); /* the last entry that it was in, plus 1 */
    for (size_t i = 0; ok && path != NULL && seen != NULL && i < v->entries; i++) {
        uint32_t depth = pt_stack_path(v, v->entry[i], path);
        for (uint32_t d = 0; d < depth; d++) {
            if (seen[path[d]] != i + 1) {
                seen[path[d]] = i + 1;
                add(&s, path[d], &v->p->node[v->entry[i]]);
            }
        }
    }
    ok = end(&s, v, ok && path != NULL && seen != NULL);
    free(path);
    free(seen);
    return ok;
}

void pt_tally_free(pt_tally_t *t) {
    free(t->row);
    *t = (pt_tally_t){NULL, 0};
}

const pt_tally_row_t *pt_tally_find(const pt_tally_t *t, uint32_t what) {
    for (size_t i = 0; i < t->rows; i++) {
        if (t->row[i].what == what) {
            return &t->row[i];
        }
    }
    return NULL;
}
