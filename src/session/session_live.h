/* session_live.h: a session whose record was not taken yet. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_SESSION_SESSION_LIVE_H
#define PERFTRACE_SESSION_SESSION_LIVE_H

#include "session_outcome.h"

#define PERFTRACE__NO_TIME UINT64_MAX

typedef struct perftrace__live {
    /* All that the events of phases need is in the first cache line. */
    _Alignas(PT_CACHE_LINE) int64_t id;
    uint64_t submit;  /* of a session that was not registered: its first event; NO_TIME: none */
    uint32_t open;    /* spans that have no end, last one first */
    uint32_t made_up; /* spans whose begin has not come, last one first */
    uint32_t closed;  /* spans that have both, last closed first */
    uint32_t closed_end;
    uint32_t nspans;
    bool registered;
    bool queued;
    bool is_final;
    bool evicted;        /* queued without being final */
    bool has_payloads;   /* some of the spans have */
    bool told_itself;    /* the outcome is of its own finalize, not of its task's */
    uint32_t tallies;    /* in order of first use */
    uint32_t prev, next; /* in the list of open sessions, or in the queue of those to be taken */
    uint32_t task;       /* 0 none */
    uint32_t task_prev, task_next;
    uint64_t finalized;
    uint64_t told;       /* time of the finalize that gave the outcome; NO_TIME: none has */
    uint64_t queue_tick; /* ticks when it came to the queue */
    perftrace__outcome_t outcome;
} perftrace__live_t;

/* Beside spans, what a live session takes: this, its share of a page of ids, of tasks. */
_Static_assert(sizeof(perftrace__live_t) <= 128, "the budget is 512 bytes a session");

#endif
