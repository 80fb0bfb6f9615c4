/* stack_chain.h: distinct chains of calls, by weight. SPDX-License-Identifier: MIT
 *
 * A chain is a run of names out of a stack, outermost first. Pure but for memory. */
#ifndef PERFTRACE_STACKS_STACK_CHAIN_H
#define PERFTRACE_STACKS_STACK_CHAIN_H
#include "stack_view.h"

typedef struct pt_chain {
    size_t at; /* of its first name, in the list's names */
    uint32_t len;
    uint32_t thread; /* PT_PROFILE_NONE: of any */
    uint64_t samples;
    double weight;
    size_t place; /* among all chains, in the order in which they occur */
    double rank;  /* pt_stack_rank of the weight */
} pt_chain_t;

/* Of all chains together. Stacks of a hundred thousand frames, each a little deeper than the other,
 * would fill any memory. */
#define PT_CHAINS_MOST_NAMES ((uint64_t)1 << 28)

typedef struct pt_chains {
    pt_chain_t *chain; /* by weight, descending; equal ones in the order in which they occur */
    size_t count, cap;
    uint32_t *name; /* of all chains */
    size_t names, name_cap;
    perftrace__hashmap_t of;
    uint64_t samples; /* of all chains */
    double weight;
    bool too_long; /* there would be more names than PT_CHAINS_MOST_NAMES */
} pt_chains_t;

/* Each: false without memory, or when it is too long; free in every case. depth: so many frames
 * nearest to the function; 0: all of them. */

/* From the root down to the deepest occurrence of the function, each thread apart. */
bool pt_chains_callers(const pt_stack_view_t *view, uint32_t name, uint64_t depth,
                       pt_chains_t *ret_chains);
/* From the root down to the shallowest occurrence, whatever the thread. */
bool pt_chains_above(const pt_stack_view_t *view, uint32_t name, uint64_t depth,
                     pt_chains_t *ret_chains);
/* From the shallowest occurrence down to the leaf. */
bool pt_chains_below(const pt_stack_view_t *view, uint32_t name, uint64_t depth,
                     pt_chains_t *ret_chains);
/* Whole stacks. */
bool pt_chains_full(const pt_stack_view_t *view, pt_chains_t *ret_chains);
void pt_chains_free(pt_chains_t *chains);

#endif
