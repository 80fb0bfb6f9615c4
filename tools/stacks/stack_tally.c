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

/* ---- inclusive: once over the tree of stacks, however deep it is ---- */

/* What a node and all below it have. */
typedef struct below {
    uint64_t samples;
    double weight;
    size_t entry;            /* the first one that is among them; SIZE_MAX: none */
    uint32_t child, sibling; /* the first child; the next one of the same parent */
} below_t;

/* Of a function: in which stack and how deep in it it occurs first. */
typedef struct first {
    size_t entry;
    uint32_t depth, row;
} first_t;

/* Nodes stand behind their parents, so that one pass from the last to the first adds up all. */
static below_t *sum_below(const pt_stack_view_t *v) {
    const pt_profile_t *p = v->p;
    below_t *below = calloc(p->nodes + 1, sizeof *below);
    for (size_t i = 0; below != NULL && i < p->nodes; i++) {
        below[i] =
            (below_t){.entry = SIZE_MAX, .child = PT_PROFILE_NONE, .sibling = PT_PROFILE_NONE};
    }
    for (size_t i = 0; below != NULL && i < v->entries; i++) {
        const pt_profile_node_t *n = &p->node[v->entry[i]];
        below_t *own = &below[v->entry[i]];
        own->samples = n->samples;
        own->weight = n->weight;
        own->entry = i;
    }
    for (size_t i = below != NULL ? p->nodes : 0; i-- > 0;) {
        uint32_t parent = p->node[i].parent;
        if (parent != PT_PROFILE_NONE) {
            below_t *above = &below[parent];
            above->samples += below[i].samples;
            above->weight += below[i].weight;
            above->entry = PT_MIN(above->entry, below[i].entry);
            below[i].sibling = above->child;
            above->child = (uint32_t)i;
        }
    }
    return below;
}

/* Adds a node's sums to its function's, where no node above it is of the same function. */
static void add_node(sums_t *s, const pt_stack_view_t *v, const below_t *below, uint32_t node,
                     first_t *first) {
    const pt_profile_node_t *n = &v->p->node[node];
    const pt_profile_node_t sum = {.samples = below->samples, .weight = below->weight};
    uint32_t name = v->name[n->frame];
    add(s, name, &sum);
    first_t *f = &first[s->row_of[name] - 1];
    if (f->depth == 0 || below->entry < f->entry ||
        (below->entry == f->entry && n->depth < f->depth)) {
        *f = (first_t){below->entry, n->depth, s->row_of[name] - 1};
    }
}

/* Goes down from one root and up again. open: how many nodes of each function the way leads
 * through. */
static void walk_tree(sums_t *s, const pt_stack_view_t *v, const below_t *below, uint32_t root,
                      uint32_t *open, first_t *first) {
    const pt_profile_node_t *node = v->p->node;
    uint32_t at = root;
    bool down = true;
    while (down || at != root) {
        uint32_t frame = node[at].frame;
        if (down && frame != PT_PROFILE_NONE && open[v->name[frame]]++ == 0 &&
            below[at].samples > 0) {
            add_node(s, v, &below[at], at, first);
        }
        uint32_t child = down ? below[at].child : PT_PROFILE_NONE;
        if (child != PT_PROFILE_NONE) {
            at = child;
            continue;
        }
        if (frame != PT_PROFILE_NONE) {
            open[v->name[frame]]--;
        }
        if (at == root) {
            break;
        }
        down = below[at].sibling != PT_PROFILE_NONE;
        at = down ? below[at].sibling : node[at].parent;
    }
}

static int compare_first(const void *a, const void *b) {
    const first_t *x = a, *y = b;
    if (x->entry != y->entry) {
        return x->entry < y->entry ? -1 : 1;
    }
    return (x->depth > y->depth) - (x->depth < y->depth);
}

bool pt_tally_inclusive(const pt_stack_view_t *v, pt_tally_t *tally) {
    sums_t s;
    bool ok = begin(&s, tally, v->names);
    below_t *below = sum_below(v);
    uint32_t *open = calloc(v->names + 1, sizeof *open);
    first_t *first = calloc(v->names + 1, sizeof *first);
    ok = ok && below != NULL && open != NULL && first != NULL;
    for (size_t i = 0; ok && i < v->p->threads; i++) {
        if (v->taken[i]) {
            walk_tree(&s, v, below, v->p->thread[i].root, open, first);
        }
    }
    if (ok && tally->rows > 0) {
        qsort(first, tally->rows, sizeof *first, compare_first);
        for (size_t i = 0; i < tally->rows; i++) {
            tally->row[first[i].row].place = i;
        }
    }
    free(below);
    free(open);
    free(first);
    return end(&s, v, ok);
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
