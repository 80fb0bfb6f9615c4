/* event_lean.h: events in any member order, for readers that only look. SPDX-License-Identifier:
 * MIT
 *
 * The analyser's common case. What viewers stumble over and a converter would mend (members beside
 * the known ones, equal keys in args) is passed over here; a text that is not strict, or not as
 * simple as this file wants it, is left to event_json. Pure; any thread. */
#ifndef PERFTRACE_TRACE_EVENT_LEAN_H
#define PERFTRACE_TRACE_EVENT_LEAN_H
#include "json_scan.h"
#include "trace_event.h"

/* Reads the one object that p[0..len) holds (PT_EVENT_PAD bytes behind it are readable). hints
 * belong to one reader. Sets name, cat, ph, ts, dur, pid, tid, args, id and has (the two bits of
 * times only) of *ret_event. False, with *ret_event undefined, for everything that event_json has
 * to look at. */
bool pt_event_read_lean(const char *p, size_t len, perftrace__json_hints_t *hints,
                        pt_event_t *ret_event);

#endif
