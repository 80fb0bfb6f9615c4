/* convert_event.h: what becomes of one event. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_CONVERT_EVENT_H
#define PERFTRACE_CONVERT_EVENT_H
#include "convert_input.h"

/* Prepares an input for its conversion: reader, ids, flows. The plan must be made. False without
 * memory or when the file cannot be opened any more (told). */
bool pt_convert_event_begin(pt_convert_input_t *input);
/* The reader's event function: converts into input->out and input->meta. ctx: the input. */
void pt_convert_event(void *ctx, pt_event_t *event);
/* Numbers a thread that appears for the first time, and writes its name where that is final. */
PT_COLD void pt_convert_first_use(pt_convert_input_t *input, pt_thread_t *thread);
/* After the last event: closes open scopes, names what is not named yet, adds up. */
void pt_convert_event_finish(pt_convert_input_t *input);

#endif
