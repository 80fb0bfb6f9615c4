/* convert_out.h: what every event of an input needs on its way out. SPDX-License-Identifier: MIT
 *
 * One thread at a time for an input. */
#ifndef PERFTRACE_CONVERT_OUT_H
#define PERFTRACE_CONVERT_OUT_H
#include "convert_input.h"

#define PT_NO_STR ((pt_str_t){NULL, 0})

/* Tells a problem of the event that is being converted. */
void pt_convert_problem(pt_convert_input_t *input, unsigned kind);

/* Counts an event that was written, from start to end (ns of the merged trace). */
PT_ALWAYS_INLINE void pt_convert_note_out(pt_convert_input_t *in, char ph, int64_t start,
                                          int64_t end) {
    pt_convert_counts_t *c = &in->counts;
    c->out[(unsigned char)ph & 127]++;
    c->first_ns = PT_MIN(c->first_ns, start);
    c->last_ns = PT_MAX(c->last_ns, end);
}

/* The file's time in the merged trace, never below 0 (told). */
int64_t pt_convert_time(pt_convert_input_t *input, int64_t ts);

/* The file's last time so far, on its own clock, for what never ended. */
int64_t pt_convert_last_time(const pt_convert_input_t *input);

/* Whether the options leave an event out (counted). scope: it has a duration. */
bool pt_convert_filtered(pt_convert_input_t *input, const pt_event_t *event, int64_t start,
                         int64_t end, bool scope);

/* The args to write, in scratch[1] when they change. */
pt_str_t pt_convert_args(pt_convert_input_t *input, const pt_event_t *event);

#endif
