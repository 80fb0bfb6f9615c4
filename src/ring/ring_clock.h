/* ring_clock.h: clock ticks to ns since ts 0, by the anchors in the ring header. Pure.
 * SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_RING_CLOCK_H
#define PERFTRACE_RING_CLOCK_H

#include "compiler.h"
#include "record_decode.h"
#include "ring_layout.h"

/* ns since ts 0 of a clock reading; 0 for readings before ts 0 and when there is no anchor.
 * Monotonic: a later reading never gives a smaller result. Reads the anchors published so far; may
 * run in any process that has the header. */
uint64_t perftrace__ring_ticks_to_ns(const perftrace__ring_header_t *h, uint64_t ticks);

/* The step that was current at a clock reading; false when none was set before. */
int perftrace__ring_step_at(const perftrace__ring_header_t *h, uint64_t ticks, int64_t *ret_step);

/* Turns the times of a decoded event into ns and fills in its step. */
void perftrace__ring_resolve(const perftrace__ring_header_t *h, perftrace__event_t *ev);

/* ns a tick as 32.32 fixed point from two pairs of readings; fallback when they are too close. */
uint64_t perftrace__clock_mult(uint64_t ticks, uint64_t ns, uint64_t fallback);

#endif
