/* live_state.h: whether the process of a ring runs. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_LIVE_LIVE_STATE_H
#define PERFTRACE_LIVE_LIVE_STATE_H

#include "live_model.h"
#include "ring_reader.h"

/* Asks /proc: pid and start time name the process, so that one that was given the number later is
 * not taken for it. Sends no signal. */
pt_live_state_t pt_live_state_of(const perftrace__ring_view_t *ring);

/* The state letter in the text of /proc/PID/stat, behind the name, which may hold anything; 0: none
 * is there. Pure. */
char pt_live_state_letter(const char *stat);

#endif
