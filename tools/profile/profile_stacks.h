/* profile_stacks.h: the stacks of a model, one by one. SPDX-License-Identifier: MIT
 *
 * Pure but for memory. */
#ifndef PERFTRACE_PROFILE_STACKS_H
#define PERFTRACE_PROFILE_STACKS_H
#include "profile_model.h"

/* How many frames the deepest node has. */
uint32_t pt_profile_deepest(const pt_profile_t *p);
/* The frames down to a node, outermost first; returns how many. frame has room for the deepest. */
uint32_t pt_profile_path(const pt_profile_t *p, uint32_t node, uint32_t *frame);

/* How many frames all stacks have together: of each sample, or of each distinct stack once. */
uint64_t pt_profile_frames_of_samples(const pt_profile_t *p);
uint64_t pt_profile_frames_of_stacks(const pt_profile_t *p);

/* The nodes in which samples end, thread after thread, each in the order of their first samples.
 * taken: of which threads; NULL: of all. node has room for all nodes. False without memory. */
bool pt_profile_stacks(const pt_profile_t *p, const bool *taken, uint32_t *node, size_t *ret_count);

#endif
