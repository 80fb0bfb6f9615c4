/* event_fast.h: lines in the layout of our own writer. SPDX-License-Identifier: MIT
 *
 * The converter's common case. A line is taken here only when every byte of it is understood and
 * strict; anything else is left to event_json. Pure; any thread. */
#ifndef PERFTRACE_TRACE_EVENT_FAST_H
#define PERFTRACE_TRACE_EVENT_FAST_H
#include "trace_event.h"

/* Bytes behind the end of a text that may be loaded by the functions of this file (their content
 * does not matter). Buffers are made larger by this much. */
#define PT_EVENT_PAD 64U

/* The end of the line at p: the address of its newline, or `end` when there is none. *ret_plain:
 * all bytes before it are printable ASCII without a backslash. PT_EVENT_PAD bytes behind end are
 * readable. */
const char *pt_line_end(const char *p, const char *end, bool *ret_plain);

/* Reads the plain line p..end. False, with *ret_event undefined, when it has another layout than
 * ours. */
bool pt_event_read_fast(const char *p, const char *end, pt_event_t *ret_event);

#endif
