/* leaf_index.h: where the leaves of a model are, for those who read nothing else of stacks.
 * SPDX-License-Identifier: MIT
 *
 * Finds the node of a frame right below the root of a thread in less memory than the model's own
 * look-ups take. Samples are added a few dozen at a time, step by step, so that the processor
 * fetches what one of them needs while it works on the others: most of the time goes into waiting
 * for memory. Belongs to one model; all zero at first. Pure. */
#ifndef PERFTRACE_PROFILE_LEAF_INDEX_H
#define PERFTRACE_PROFILE_LEAF_INDEX_H
#include "profile_model.h"

#define PT_LEAF_THREADS 64 /* of which nodes are kept; of others there may be too many */
#define PT_LEAF_WAITING 32

typedef struct pt_leaf_slot {
    uint64_t hash; /* of the name; 0: free */
    size_t text;   /* the name, in the model's text */
    uint32_t len, frame;
} pt_leaf_slot_t;

typedef struct pt_leaf_nodes {
    uint32_t *node; /* of each frame, plus 1, right below the root; 0: none yet */
    size_t cap;
} pt_leaf_nodes_t;

/* A sample that is still to be added. */
typedef struct pt_leaf_sample {
    const char *name;
    uint32_t len, thread;
    uint64_t hash;
    double weight;
    uint32_t node;
} pt_leaf_sample_t;

typedef struct pt_leaf_index {
    pt_leaf_slot_t *slot;
    size_t cap, count;
    pt_leaf_nodes_t thread[PT_LEAF_THREADS];
    pt_leaf_sample_t waiting[PT_LEAF_WAITING];
    unsigned waits;
} pt_leaf_index_t;

/* Adds a sample to the model, at once or later. name lives until the next flush. */
void pt_leaf_add(pt_leaf_index_t *index, pt_profile_t *p, const char *name, size_t len,
                 uint32_t thread, double weight);
/* Adds all that wait, in their order. */
void pt_leaf_flush(pt_leaf_index_t *index, pt_profile_t *p);
void pt_leaf_index_free(pt_leaf_index_t *index);

#endif
