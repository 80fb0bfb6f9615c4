/* crash_sessions.h: are the records of sessions what the writer did? SPDX-License-Identifier: MIT
 */
#ifndef PERFTRACE_CRASH_SESSIONS_H
#define PERFTRACE_CRASH_SESSIONS_H

#include "crash_side.h"

#include <stdbool.h>

/* Reads the records of one run in a directory's sessions files: each line strict, no session twice
 * and, unless gaps, one for each that the writer counted and at most one more a thread (exact:
 * none), accepted where it counted the end. False, told on standard error, when not. */
bool crash_check_sessions(const char *dir, const char *run_id, const crash_side_t *side,
                          unsigned threads, bool gaps, bool exact);

/* Of the content of all .jsonl files of a directory, in the order of their names. Empty ones do not
 * count. */
uint64_t crash_hash(const char *dir);

#endif
