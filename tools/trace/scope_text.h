/* scope_text.h: the times of scopes that touch, as texts. SPDX-License-Identifier: MIT
 *
 * Readers take ts and dur as doubles, add them, and some subtract the first time of the thread
 * before: the end of a scope is then off by a few units in the last place. Where the next scope
 * begins at that nanosecond, or the enclosing one ends at it, the two seem to cross, and what such
 * a reader shows of them is wrong. So times that touch are written a step apart: a step is at least
 * four units of the last place of doubles of that size, and small against a nanosecond (for times
 * of 20 hours and more: a nanosecond, of 13 days and more: several). What does not touch has three
 * decimals. Pure; any thread. */
#ifndef PERFTRACE_TRACE_SCOPE_TEXT_H
#define PERFTRACE_TRACE_SCOPE_TEXT_H
#include "compiler.h"

#include <stdbool.h>

/* How a scope's times are written, in steps; all 0: as they are. */
typedef struct pt_touch {
    uint32_t start_late;
    int32_t end_late; /* below 0: early */
} pt_touch_t;

PT_ALWAYS_INLINE bool pt_touch_is_none(pt_touch_t t) {
    return (t.start_late | (uint32_t)t.end_late) == 0;
}

/* Bytes that either of these may write to. */
#define PT_SCOPE_TEXT_MAX 40U

/* Writes the start (ns, at least 0) in microseconds. Returns the end of the text. */
char *pt_scope_put_start(char *dst, int64_t start, pt_touch_t touch);
/* Writes the duration that leads from the start, as written by pt_scope_put_start, to the end;
 * 0.000 when that would be below 0. */
char *pt_scope_put_dur(char *dst, int64_t start, int64_t end, pt_touch_t touch);

#endif
