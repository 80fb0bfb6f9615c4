/* scope_plan.h: decides, before a second pass over a file, what becomes of its scopes.
 * SPDX-License-Identifier: MIT
 *
 * For files whose order of events promises nothing. The first pass notes every scope, begin and end
 * (24 bytes each); the plan then says which begin belongs to which end, and which scopes need
 * another lane. The second pass walks along the plan: it has an entry only for events that need
 * one, in the order of the file. Not thread-safe; one file at a time. */
#ifndef PERFTRACE_TRACE_SCOPE_PLAN_H
#define PERFTRACE_TRACE_SCOPE_PLAN_H
#include "compiler.h"

#include <stdbool.h>

/* What a thread's events are, as the first pass found them. */
typedef struct pt_scope_note {
    int64_t ts, end;  /* end: of X only */
    uint64_t ordinal; /* of the event in its file; phase in the highest byte */
} pt_scope_note_t;

typedef struct pt_scope_list {
    pt_scope_note_t *note;
    size_t count, cap;
} pt_scope_list_t;

typedef enum pt_plan_what {
    PT_PLAN_SCOPE, /* X: goes to `lane`, ends `early` */
    PT_PLAN_BEGIN, /* B: lasts until `ts`; its end is in `slot` */
    PT_PLAN_END,   /* E: belongs to the begin in `slot` */
    PT_PLAN_OPEN,  /* B without an end: lasts until `ts` */
    PT_PLAN_STRAY, /* E without a begin */
    PT_PLAN_BIND,  /* f that binds to the next scope, which starts at `ts`; see PT_PLAN_FLOW */
    PT_PLAN_FLOW,  /* s, t or f of chain number `slot`; `ts`: the time to give it, or INT64_MIN */
    PT_PLAN_LONE   /* t or f without a start, or behind the end */
} pt_plan_what_t;

typedef struct pt_plan_entry {
    uint64_t ordinal;
    int64_t ts;          /* BEGIN, OPEN: the end of the scope. END: its start. BIND: the new time */
    uint32_t slot;       /* BEGIN, END: where the first of the two waits for the second */
    unsigned lane : 11;  /* of a scope: at its X or begin */
    unsigned early : 10; /* the same: in how many steps its end is written early (scope_text.h) */
    unsigned late : 7;   /* the same: in how many steps its start is written late */
    unsigned what : 3;   /* pt_plan_what_t */
    unsigned first : 1;  /* BEGIN, END: comes before its partner in the file */
} pt_plan_entry_t;

typedef struct pt_scope_plan {
    pt_plan_entry_t *entry; /* by ordinal */
    size_t count, cap;
    size_t next;    /* for pt_scope_plan_find */
    uint32_t pairs; /* begins with an end */
    uint32_t slots; /* slots in use at most */
    uint64_t moved; /* scopes in other lanes than the first */
    uint64_t open, stray;
    uint32_t chains; /* flow chains */
    uint64_t open_flows, lone_flows;
} pt_scope_plan_t;

/* Notes an event. False without memory. */
bool pt_scope_list_add(pt_scope_list_t *list, char ph, int64_t ts, int64_t end, uint64_t ordinal);
void pt_scope_list_free(pt_scope_list_t *list); /* accepts NULL */

/* Adds a thread's entries to the plan; notes with times outside [lo, hi] are passed over, begins
 * without an end last until `last`. The list is emptied. False without memory. */
bool pt_scope_plan_thread(pt_scope_plan_t *plan, pt_scope_list_t *list, int64_t lo, int64_t hi,
                          int64_t last);
/* Adds the entries of flow events. Their notes have, in `end`, a hash of what joins a flow's events
 * (its category, name and id). A chain starts with each s and ends with the first f behind it. The
 * list is emptied. False without memory. */
bool pt_scope_plan_flows(pt_scope_plan_t *plan, pt_scope_list_t *list, int64_t lo, int64_t hi);
/* Adds an entry; NULL without memory. For the files of this plan. */
pt_plan_entry_t *pt_scope_plan_add(pt_scope_plan_t *plan, uint64_t ordinal, pt_plan_what_t what,
                                   int64_t ts);
/* A note's phase and ordinal. */
PT_ALWAYS_INLINE char pt_scope_note_phase(const pt_scope_note_t *note) {
    return (char)(note->ordinal >> 56);
}
PT_ALWAYS_INLINE uint64_t pt_scope_note_ordinal(const pt_scope_note_t *note) {
    return note->ordinal & ((UINT64_C(1) << 56) - 1);
}
/* Sorts the plan and gives out the slots: after the last thread. False without memory. */
bool pt_scope_plan_finish(pt_scope_plan_t *plan);
/* The entry of an event, or NULL. Ordinals must not go back from call to call. */
const pt_plan_entry_t *pt_scope_plan_find(pt_scope_plan_t *plan, uint64_t ordinal);
void pt_scope_plan_free(pt_scope_plan_t *plan); /* accepts NULL */

#endif
