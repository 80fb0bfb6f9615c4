/* leaf_index.h: the sums of leaves, for those who read nothing else of stacks.
 * SPDX-License-Identifier: MIT
 *
 * Sums up each leaf of each thread in little memory, most of which stays in the processor's cache,
 * and enters the sums into a model at the end. Samples are added a few dozen at a time, step by
 * step, so that the processor fetches what one of them needs while it works on the others: most of
 * the time goes into waiting for memory. All zero at first. Pure. */
#ifndef PERFTRACE_PROFILE_LEAF_INDEX_H
#define PERFTRACE_PROFILE_LEAF_INDEX_H
#include "profile_model.h"

#define PT_LEAF_THREADS 64 /* whose samples are taken; others may be too many for such an index */
#define PT_LEAF_WAITING 32
#define PT_LEAF_BLOCK   8U

typedef struct pt_leaf_slot {
    uint32_t hash;
    uint32_t name; /* its number plus 1; 0: free */
} pt_leaf_slot_t;

typedef struct pt_leaf_name {
    size_t text; /* in the index's text */
    uint32_t len;
} pt_leaf_name_t;

typedef struct pt_leaf_sum {
    double weight;
    uint64_t samples;
    uint64_t first; /* the least place of these samples; UINT64_MAX: none */
} pt_leaf_sum_t;

/* Of neighbouring names, in one thread. */
typedef struct pt_leaf_block {
    pt_leaf_sum_t sum[PT_LEAF_BLOCK];
} pt_leaf_block_t;

/* Where the block of each so many names is: its number plus 1; 0: none yet. */
typedef struct pt_leaf_blocks {
    uint32_t *of;
    size_t cap;
} pt_leaf_blocks_t;

/* A sample that is still to be added. */
typedef struct pt_leaf_sample {
    const char *text;
    double weight;
    uint32_t len, hash, thread, name;
} pt_leaf_sample_t;

typedef struct pt_leaf_index {
    pt_leaf_slot_t *slot;
    pt_leaf_name_t *name; /* in the order in which they were met */
    pt_leaf_block_t *block;
    size_t slot_cap, names, name_cap, blocks, block_cap;
    perftrace__strbuf_t text;
    uint64_t seed;
    uint64_t place; /* of the next sample: see pt_profile_t */
    pt_leaf_blocks_t thread[PT_LEAF_THREADS];
    pt_leaf_sample_t waiting[PT_LEAF_WAITING];
    unsigned waits;
    bool failed; /* memory ran out */
} pt_leaf_index_t;

/* Adds a sample of a thread below PT_LEAF_THREADS, at once or later. text lives until the next
 * flush. */
void pt_leaf_add(pt_leaf_index_t *index, const char *text, size_t len, uint32_t thread,
                 double weight);
/* Adds all that wait, in their order. */
void pt_leaf_flush(pt_leaf_index_t *index);
/* Enters the sums into a model. thread[i] is the number there of thread i here; NULL: the same.
 * Nothing may wait. */
void pt_leaf_enter(const pt_leaf_index_t *index, pt_profile_t *p, const uint32_t *thread);
/* Adds the sums of another index to those of this one, as far as its threads are among those taken
 * here; those of the others go into the model. */
void pt_leaf_join(pt_leaf_index_t *index, pt_profile_t *p, const pt_leaf_index_t *from,
                  const uint32_t *thread);
void pt_leaf_index_free(pt_leaf_index_t *index);

#endif
