/* forward_clock.h: the collector's clock, out of round trips (pure). SPDX-License-Identifier: MIT
 *
 * Of a burst of round trips the shortest one counts: what delayed the others was on one way only,
 * or on none that can be told apart. The answer was made somewhere between question and reply, so
 * the error is at most half of what the round trip took, less the time that the collector had it
 * (NTP's formulas, RFC 5905, section 8). */
#ifndef PERFTRACE_FORWARD_FORWARD_CLOCK_H
#define PERFTRACE_FORWARD_FORWARD_CLOCK_H

#include "sink.h"

#define PERFTRACE__FORWARD_TRIPS 16 /* of a burst */

typedef struct perftrace__forward_clock {
    uint64_t next_ns; /* when the next burst is due; CLOCK_MONOTONIC_RAW, as all here */
    uint64_t asked_ns;
    unsigned bursts;
    unsigned trips; /* of the present burst, answered */
    bool bursting;
    bool waiting; /* for an answer to what was asked at asked_ns */
    bool any;
    perftrace__reference_t best;
} perftrace__forward_clock_t;

/* Whether a burst is to begin at now_ns. */
bool perftrace__forward_clock_due(const perftrace__forward_clock_t *c, uint64_t now_ns);
void perftrace__forward_clock_begin(perftrace__forward_clock_t *c);
/* A question leaves at now_ns. */
void perftrace__forward_clock_ask(perftrace__forward_clock_t *c, uint64_t now_ns);
/* Its answer came at now_ns; asked_ns is what the answer says. Answers to other questions, and such
 * that cannot be, are left out. */
void perftrace__forward_clock_answer(perftrace__forward_clock_t *c, uint64_t asked_ns,
                                     uint64_t now_ns, uint64_t t2, uint64_t t3, const char *ref);
/* Whether the burst is over: all trips made, or an answer is missing for too long. Then *ret is its
 * reading, if there is one (*ret_any), and the next burst is planned. */
bool perftrace__forward_clock_over(perftrace__forward_clock_t *c, uint64_t now_ns, bool *ret_any,
                                   perftrace__reference_t *ret);
/* Nobody answers: the burst is left, the next one planned. */
void perftrace__forward_clock_skip(perftrace__forward_clock_t *c, uint64_t now_ns);
/* The way broke: what was asked is not answered any more. */
void perftrace__forward_clock_broke(perftrace__forward_clock_t *c);

#endif
