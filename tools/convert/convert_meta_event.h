/* convert_meta_event.h: metadata events on their way through. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_CONVERT_META_EVENT_H
#define PERFTRACE_CONVERT_META_EVENT_H
#include "convert_input.h"

/* Takes what our writer says about a run (header, losses, footer) and names; copies other metadata.
 */
void pt_convert_meta_event(pt_convert_input_t *input, const pt_event_t *event);

#endif
