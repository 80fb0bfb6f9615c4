/* convert_scope.h: scopes on their way out: X, and B with E. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_CONVERT_SCOPE_H
#define PERFTRACE_CONVERT_SCOPE_H
#include "convert_out.h"
#include "event_write.h"
#include "held_scope.h"

/* The place of a scope of our own files (ns of the merged trace). */
pt_scope_place_t pt_convert_scope_place(pt_convert_input_t *input, pt_thread_t *thread,
                                        int64_t start, int64_t end);
/* Writes a scope in its place; put has its texts. */
void pt_convert_scope_put(pt_convert_input_t *input, pt_thread_t *thread, const pt_put_t *put,
                          int64_t start, int64_t end, pt_scope_place_t place);

/* Converts an event of phase X, B or E. plan: its entry, or NULL. */
void pt_convert_scope(pt_convert_input_t *input, pt_thread_t *thread, pt_event_t *event,
                      const pt_plan_entry_t *plan);
/* Closes what a thread has begun and not ended, at `last` (ns of the file). */
void pt_convert_scope_close(pt_convert_input_t *input, pt_thread_t *thread, int64_t last);

#endif
