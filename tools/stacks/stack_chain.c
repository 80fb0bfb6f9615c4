/* stack_chain.c. SPDX-License-Identifier: MIT */
#include "stack_chain.h"

#include "grow.h"

#include <stdlib.h>

static bool append(pt_chains_t *c, const uint32_t *name, uint32_t len) {
    if (!PT_GROW(c, name, names, name_cap, len)) {
        return false;
    }
    memcpy(c->name + c->names, name, len * sizeof *name);
    c->names += len;
    return true;
}

static void sum_up(pt_chains_t *c, size_t number, const pt_profile_node_t *n) {
    c->chain[number].samples += n->samples;
    c->chain[number].weight += n->weight;
    c->samples += n->samples;
    c->weight += n->weight;
}

/* Adds a part of a stack. A thread is put behind its names, which have room for it: the key. */
static bool add(pt_chains_t *c, uint32_t *name, uint32_t len, uint32_t thread,
                const pt_profile_node_t *n, uint32_t *ret_number) {
    uint32_t saved = name[len];
    bool fresh;
    name[len] = thread;
    uint64_t *at =
        perftrace__hashmap_put(&c->of, name, ((size_t)len + 1) * sizeof *name, c->count, &fresh);
    name[len] = saved;
    if (at == NULL || (fresh && !PT_GROW(c, chain, count, cap, 1))) {
        return false;
    }
    if (fresh) {
        c->chain[c->count] =
            (pt_chain_t){.at = c->names, .len = len, .thread = thread, .place = c->count};
        c->count++;
        if (!append(c, name, len)) {
            return false;
        }
    }
    *ret_number = (uint32_t)*at + 1;
    sum_up(c, (size_t)*at, n);
    return true;
}

static int compare(const void *a, const void *b) {
    const pt_chain_t *x = a, *y = b;
    if (x->rank != y->rank) {
        return x->rank > y->rank ? -1 : 1;
    }
    return (x->place > y->place) - (x->place < y->place);
}

typedef enum part { PART_ALL, PART_DEEPEST, PART_ABOVE, PART_BELOW } part_t;

/* Where the chain of a node's samples lies: nodes from the root on, and how many of them. */
typedef struct place {
    uint32_t at;  /* the occurrence of the function; PT_PROFILE_NONE: there is none */
    uint32_t end; /* the node that is the last of the chain */
} place_t;

/* Nodes stand behind their parents: each place comes from the one above it. */
static place_t place_of(const pt_stack_view_t *v, const place_t *place, uint32_t node, part_t part,
                        uint32_t name, uint32_t most) {
    const pt_profile_node_t *n = &v->p->node[node];
    if (part == PART_ALL) {
        return (place_t){node, node};
    }
    if (n->frame == PT_PROFILE_NONE) {
        return (place_t){PT_PROFILE_NONE, PT_PROFILE_NONE};
    }
    place_t p = place[n->parent];
    if (v->name[n->frame] == name && (p.at == PT_PROFILE_NONE || part == PART_DEEPEST)) {
        return (place_t){node, node};
    }
    if (part == PART_BELOW && p.at != PT_PROFILE_NONE && n->depth - v->p->node[p.at].depth < most) {
        p.end = node;
    }
    return p;
}

/* How many frames a chain has: it is up to its end. */
static uint32_t length_of(const pt_stack_view_t *v, place_t p, part_t part, uint32_t most) {
    uint32_t depth = v->p->node[p.end].depth;
    return part == PART_ALL     ? depth
           : part == PART_BELOW ? depth - v->p->node[p.at].depth + 1
                                : PT_MIN(depth, most);
}

/* Adds the samples that end in a node. number: of the chain of each end, plus 1; 0: not met yet. */
static bool add_entry(pt_chains_t *c, const pt_stack_view_t *v, uint32_t node, place_t p,
                      part_t part, uint32_t most, uint32_t *number, uint32_t *path) {
    const pt_profile_node_t *n = &v->p->node[node];
    if (p.at == PT_PROFILE_NONE) {
        return true;
    }
    if (number[p.end] != 0) {
        sum_up(c, number[p.end] - 1, n);
        return true;
    }
    uint32_t len = length_of(v, p, part, most), up = p.end;
    for (uint32_t i = len; i-- > 0; up = v->p->node[up].parent) {
        path[i] = v->name[v->p->node[up].frame];
    }
    return add(c, path, len, part == PART_DEEPEST ? n->thread : PT_PROFILE_NONE, n, &number[p.end]);
}

/* Whether the chains have more names than can be held: known before any of them is made. Marks the
 * ends, and takes the marks away again. */
static bool too_long(const pt_stack_view_t *v, const place_t *place, part_t part, uint32_t most,
                     uint32_t *mark) {
    uint64_t names = 0;
    for (size_t i = 0; i < v->entries; i++) {
        place_t p = place[v->entry[i]];
        if (p.at != PT_PROFILE_NONE && mark[p.end] == 0) {
            mark[p.end] = 1;
            names += length_of(v, p, part, most);
        }
    }
    memset(mark, 0, v->p->nodes * sizeof *mark);
    return names > PT_CHAINS_MOST_NAMES;
}

static bool make(const pt_stack_view_t *v, part_t part, uint32_t name, uint64_t depth,
                 pt_chains_t *c) {
    uint32_t most = depth > 0 && depth < UINT32_MAX ? (uint32_t)depth : UINT32_MAX;
    size_t nodes = v->p->nodes;
    *c = (pt_chains_t){.chain = NULL};
    place_t *place = calloc(nodes + 1, sizeof *place);
    uint32_t *number = calloc(nodes + 1, sizeof *number), *path = pt_stack_path_room(v);
    bool ok = place != NULL && number != NULL && path != NULL;
    for (size_t i = 0; ok && i < nodes; i++) {
        place[i] = place_of(v, place, (uint32_t)i, part, name, most);
    }
    c->too_long = ok && too_long(v, place, part, most, number);
    ok = ok && !c->too_long;
    for (size_t i = 0; ok && i < v->entries; i++) {
        ok = add_entry(c, v, v->entry[i], place[v->entry[i]], part, most, number, path);
    }
    for (size_t i = 0; i < c->count; i++) {
        c->chain[i].rank = pt_stack_rank(v, c->chain[i].weight);
    }
    if (ok && c->count > 0) {
        qsort(c->chain, c->count, sizeof *c->chain, compare);
    }
    free(place);
    free(number);
    free(path);
    return ok;
}

bool pt_chains_callers(const pt_stack_view_t *v, uint32_t name, uint64_t depth, pt_chains_t *c) {
    return make(v, PART_DEEPEST, name, depth, c);
}

bool pt_chains_above(const pt_stack_view_t *v, uint32_t name, uint64_t depth, pt_chains_t *c) {
    return make(v, PART_ABOVE, name, depth, c);
}

bool pt_chains_below(const pt_stack_view_t *v, uint32_t name, uint64_t depth, pt_chains_t *c) {
    return make(v, PART_BELOW, name, depth, c);
}

bool pt_chains_full(const pt_stack_view_t *v, pt_chains_t *c) {
    return make(v, PART_ALL, 0, 0, c);
}

void pt_chains_free(pt_chains_t *c) {
    free(c->chain);
    free(c->name);
    perftrace__hashmap_free(&c->of);
    *c = (pt_chains_t){.chain = NULL};
}
