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

/* Arrows (flows) differ from each other in their numbers only. The text that those of one making
 * share, learned from the first: one that has it, with good numbers in between, is strict, and
 * takes a few comparisons instead of a look at every byte. */
#define PT_ARROW_KINDS   4U
#define PT_ARROW_TEXT    240U
#define PT_ARROW_NUMBERS 8U
typedef struct pt_arrow {
    char ph; /* 0: nothing learned */
    uint8_t numbers;
    uint8_t len[PT_ARROW_NUMBERS + 1]; /* of the text before each number, and behind the last */
    char text[PT_ARROW_TEXT + 16];
} pt_arrow_t;

/* What one reader keeps from event to event; all zero at first. */
typedef struct pt_lean {
    perftrace__json_hints_t hints;
    pt_arrow_t arrow[PT_ARROW_KINDS];
    unsigned next; /* arrow that the next one learned takes the place of */
} pt_lean_t;

/* Reads the one object that p[0..len) holds (PT_EVENT_PAD bytes behind it are readable). Sets name,
 * cat, ph, ts, dur, pid, tid, args, id and has (the two bits of times only) of *ret_event; of an
 * arrow perhaps only ph and has. False, with *ret_event undefined, for everything that event_json
 * has to look at. */
bool pt_event_read_lean(const char *p, size_t len, pt_lean_t *lean, pt_event_t *ret_event);

#endif
