/* profile_stacks.c. SPDX-License-Identifier: MIT */
#include "profile_stacks.h"

#include <stdlib.h>

uint32_t pt_profile_deepest(const pt_profile_t *p) {
    uint32_t deepest = 0;
    for (size_t i = 0; i < p->nodes; i++) {
        deepest = PT_MAX(deepest, p->node[i].depth);
    }
    return deepest;
}

uint32_t pt_profile_path(const pt_profile_t *p, uint32_t node, uint32_t *frame) {
    const pt_profile_node_t *n = &p->node[node];
    uint32_t depth = n->depth;
    for (; n->frame != PT_PROFILE_NONE; n = &p->node[n->parent]) {
        frame[n->depth - 1] = n->frame;
    }
    return depth;
}

typedef struct place {
    uint64_t first;
    uint32_t thread, node;
} place_t;

static int compare(const void *a, const void *b) {
    const place_t *x = a, *y = b;
    if (x->thread != y->thread) {
        return x->thread < y->thread ? -1 : 1;
    }
    return (x->first > y->first) - (x->first < y->first);
}

bool pt_profile_stacks(const pt_profile_t *p, const bool *taken, uint32_t *node,
                       size_t *ret_count) {
    place_t *place = malloc((p->nodes + 1) * sizeof *place);
    size_t count = 0;
    for (size_t i = 0; place != NULL && i < p->nodes; i++) {
        const pt_profile_node_t *n = &p->node[i];
        if (n->samples > 0 && (taken == NULL || taken[n->thread])) {
            place[count++] = (place_t){n->first, n->thread, (uint32_t)i};
        }
    }
    if (count > 0) {
        qsort(place, count, sizeof *place, compare);
    }
    for (size_t i = 0; i < count; i++) {
        node[i] = place[i].node;
    }
    *ret_count = count;
    bool ok = place != NULL;
    free(place);
    return ok;
}
