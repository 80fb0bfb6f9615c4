/* slot_stack.h: the open scopes of a slot whose thread may be at work. SPDX-License-Identifier: MIT
 *
 * Reads only: no lock, nothing the thread could feel but that a line of it was looked at. Nothing
 * that is read is trusted, so the memory may be a file's. */
#ifndef PERFTRACE_RING_SLOT_STACK_H
#define PERFTRACE_RING_SLOT_STACK_H

#include "ring_layout.h"

#include <stdbool.h>

typedef struct perftrace__slot_stack {
    uint64_t word; /* of the slot when it was looked at: words published << 8 | open scopes */
    uint32_t depth;
    /* True: these are all scopes that were open at one instant. False: each look found them
     * changed; then these are the outer ones, open through the last look, and what was open within
     * them is not known. */
    bool whole;
    perftrace_i_open_t open[PERFTRACE_I_MAX_DEPTH]; /* outermost first; site 0: closed, skip it */
} perftrace__slot_stack_t;

/* Looks until the stack stands still, at most `tries` times (at least once). Waits for nobody. */
void perftrace__slot_stack(const perftrace__slot_t *slot, unsigned tries,
                           perftrace__slot_stack_t *ret_stack);

#endif
