/* live_ring.h: one look at a ring file. SPDX-License-Identifier: MIT
 *
 * The file is opened for reading, copied from and, its threads' control pages only, mapped for
 * reading. The process is sent nothing and waits for nothing. */
#ifndef PERFTRACE_LIVE_LIVE_RING_H
#define PERFTRACE_LIVE_LIVE_RING_H

#include "live_comm.h"
#include "live_history.h"
#include "live_model.h"

typedef struct pt_live_look {
    const pt_live_rules_t *rules;
    const pt_live_history_t *before; /* of the look before; empty: this is the first */
    pt_live_history_t *now;          /* what this look sees is put here */
} pt_live_look_t;

/* Adds the process of the ring file to the model, or what is wrong with the file to its problems.
 * Returns a status; ERR_NOT_FOUND (the file has just gone) adds neither. */
int pt_live_ring_look(const char *path, const pt_live_look_t *look, pt_live_model_t *model);

#endif
