/* event_filter.h: which events the options ask for. SPDX-License-Identifier: MIT
 *
 * Pure. */
#ifndef PERFTRACE_CONVERT_EVENT_FILTER_H
#define PERFTRACE_CONVERT_EVENT_FILTER_H
#include "convert_options.h"
#include "trace_event.h"

/* True when any option narrows down what is taken. */
bool pt_event_filter_active(const pt_convert_options_t *options);

/* Whether an event (not metadata) that lasts from start to end, in ns of the merged trace, is
 * taken. scope: it has a duration. */
bool pt_event_filter_takes(const pt_convert_options_t *options, pt_str_t name, pt_str_t cat,
                           pt_str_t args, int64_t start, int64_t end, bool scope);

#endif
