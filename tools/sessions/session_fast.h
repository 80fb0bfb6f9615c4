/* session_fast.h: sessions in the layout of their writers. SPDX-License-Identifier: MIT
 *
 * The common case: a plain line (see pt_line_end) with ", " and ": " between its parts, as
 * libperftrace and AReaL (Python's json) write them, whatever the order of its members. A line is
 * taken here only when every byte of it is understood and strict, and then gives what session_json
 * gives; anything else is left to it. Pure but for memory. */
#ifndef PERFTRACE_SESSIONS_SESSION_FAST_H
#define PERFTRACE_SESSIONS_SESSION_FAST_H
#include "parsed_session.h"

/* Reads the plain line p..end (PT_SESSION_PAD readable bytes behind it). False, with the record
 * undefined, when it is to be read by pt_session_read_json. */
bool pt_session_read_fast(const char *p, const char *end, pt_parsed_session_t *session);

#endif
