/* session_fast.h: sessions in the layout of their writers. SPDX-License-Identifier: MIT
 *
 * The common case: a line of printable ASCII without a backslash, with ", " and ": " between its
 * parts, as libperftrace and AReaL (Python's json) write them, whatever the order of its members. A
 * line is taken here only when every byte of it is understood and strict, and then gives what
 * session_json gives; anything else is left to it. Pure but for memory. */
#ifndef PERFTRACE_SESSIONS_SESSION_FAST_H
#define PERFTRACE_SESSIONS_SESSION_FAST_H
#include "session_json.h"

/* Reads the line at p into reader->session: the place behind it, which is its line feed or `end`,
 * the end of the text (PT_SESSION_PAD readable bytes behind it, the first of them a zero byte).
 * NULL, with the record undefined, when it is to be read by pt_session_read_json. */
const char *pt_session_read_fast(pt_session_reader_t *reader, const char *p, const char *end);

#endif
