/* stack_chain.c. SPDX-License-Identifier: MIT */
#include "stack_chain.h"

#include "grow.h"

#include <stdlib.h>

/* The names of one stack, outermost first; room for one more. */
typedef struct path {
    uint32_t *name;
    uint32_t len;
} path_t;

static bool append(pt_chains_t *c, const uint32_t *name, uint32_t len) {
    if (!PT_GROW(c, name, names, name_cap, len)) {
        return false;
    }
    memcpy(c->name + c->names, name, len * sizeof *name);
    c->names += len;
    return true;
}

/* Adds a part of a stack. A thread is put behind its names, which have room for it: the key. */
static bool add(pt_chains_t *c, uint32_t *name, uint32_t len, uint32_t thread,
                const pt_profile_node_t *n) {
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
    pt_chain_t *chain = &c->chain[*at];
    chain->samples += n->samples;
    chain->weight += n->weight;
    c->samples += n->samples;
    c->weight += n->weight;
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

/* Where the function is in a stack; len when it is not. */
static uint32_t find_name(const path_t *path, uint32_t name, bool deepest) {
    uint32_t found = path->len;
    for (uint32_t i = 0; i < path->len; i++) {
        if (path->name[i] == name) {
            found = i;
            if (!deepest) {
                break;
            }
        }
    }
    return found;
}

static bool add_part(pt_chains_t *c, const pt_stack_view_t *v, uint32_t node, path_t *path,
                     part_t part, uint32_t name, uint32_t depth) {
    const pt_profile_node_t *n = &v->p->node[node];
    path->len = pt_stack_path(v, node, path->name);
    if (part == PART_ALL) {
        return add(c, path->name, path->len, PT_PROFILE_NONE, n);
    }
    uint32_t at = find_name(path, name, part == PART_DEEPEST);
    if (at == path->len) {
        return true;
    }
    if (part == PART_BELOW) {
        return add(c, path->name + at, PT_MIN(path->len - at, depth), PT_PROFILE_NONE, n);
    }
    uint32_t len = PT_MIN(at + 1, depth);
    return add(c, path->name + at + 1 - len, len,
               part == PART_DEEPEST ? n->thread : PT_PROFILE_NONE, n);
}

static bool make(const pt_stack_view_t *v, part_t part, uint32_t name, uint64_t depth,
                 pt_chains_t *c) {
    path_t path = {NULL, 0};
    uint32_t most = depth > 0 && depth < UINT32_MAX ? (uint32_t)depth : UINT32_MAX;
    *c = (pt_chains_t){.chain = NULL};
    path.name = pt_stack_path_room(v);
    bool ok = path.name != NULL;
    for (size_t i = 0; ok && i < v->entries; i++) {
        ok = add_part(c, v, v->entry[i], &path, part, name, most);
    }
    for (size_t i = 0; i < c->count; i++) {
        c->chain[i].rank = pt_stack_rank(v, c->chain[i].weight);
    }
    if (ok && c->count > 0) {
        qsort(c->chain, c->count, sizeof *c->chain, compare);
    }
    free(path.name);
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
