/* convert_link.h: events that belong together by an id: flows and async events.
 * SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_CONVERT_LINK_H
#define PERFTRACE_CONVERT_LINK_H
#include "convert_out.h"
#include "event_write.h"

/* Converts an event of phase s, t or f that the options take. put has all but its id. plan: its
 * entry, or NULL. */
void pt_convert_flow(pt_convert_input_t *input, const pt_event_t *event,
                     const pt_plan_entry_t *plan, pt_put_t *put);

/* Converts an event of phase b, n, e, S, T, p or F. With --from or --to, an async scope is taken
 * whole when it touches the window. put has all but id and args. */
void pt_convert_async(pt_convert_input_t *input, const pt_thread_t *thread, const pt_event_t *event,
                      pt_put_t *put);

#endif
