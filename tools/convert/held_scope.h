/* held_scope.h: a begin that waits for its end. SPDX-License-Identifier: MIT
 *
 * Chrome traces may give a scope as two events, B and E. The one that comes first is kept here,
 * with copies of its texts, until the other one comes. */
#ifndef PERFTRACE_CONVERT_HELD_SCOPE_H
#define PERFTRACE_CONVERT_HELD_SCOPE_H
#include "scope_text.h"
#include "trace_event.h"

/* Where a scope goes, and how its times are written beside its neighbours'. */
typedef struct pt_scope_place {
    unsigned lane; /* PT_LANE_MAX: it fits in none */
    pt_touch_t touch;
} pt_scope_place_t;

typedef struct pt_held_scope {
    int64_t ts;             /* ns on the file's clock */
    uint64_t line, offset;  /* of a begin in the file; line 0: not known */
    pt_scope_place_t place; /* of a begin */
    pt_str_t name, cat, args, rest;
    char *memory; /* holds the texts; NULL: nothing is held */
} pt_held_scope_t;

/* Copies what a scope needs of an event. False without memory. */
bool pt_held_scope_set(pt_held_scope_t *held, const pt_event_t *event);
/* Frees; nothing is held afterwards. */
void pt_held_scope_clear(pt_held_scope_t *held);

#endif
