/* control_hold.h: where the program waits for somebody outside. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_CONTROL_CONTROL_HOLD_H
#define PERFTRACE_CONTROL_CONTROL_HOLD_H

#include "strbuf.h"

/* Switches the hold on or off. Returns how many threads it lets go. */
unsigned perftrace__hold_set(bool on);
/* Whether somebody could end a hold: the process listens. When not, all waits end. */
void perftrace__hold_serve(bool listening);
/* Appends {"on": ..., "waiting": [{"where": ..., "seconds": ...}]}. */
void perftrace__hold_put(perftrace__strbuf_t *out);

/* Around a fork. */
void perftrace__hold_fork_prepare(void);
void perftrace__hold_fork_parent(void);
void perftrace__hold_fork_child(void);

#endif
