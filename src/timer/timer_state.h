/* timer_state.h: what the library does with all timers. SPDX-License-Identifier: MIT
 *
 * A thread has a tally of its own for each timer (timer_tally.h). Readers add up the tallies of all
 * threads; a reset only remembers what was read. */
#ifndef PERFTRACE_TIMER_TIMER_STATE_H
#define PERFTRACE_TIMER_TIMER_STATE_H

#include "strbuf.h"

#include <stdbool.h>
#include <stdint.h>

/* Between runs: appends {"version": 1, ..., "timers": [...]} with all timers that have a count.
 * False when there is none. rank below 0: unknown. */
bool perftrace__timers_put(perftrace__strbuf_t *out, int64_t rank, const char *run_id);

#endif
