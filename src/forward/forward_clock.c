/* forward_clock.c. SPDX-License-Identifier: MIT */
#include "forward_clock.h"

#include <stdio.h>

#define SECOND   1000000000u
#define PATIENCE (2ull * SECOND) /* longer than that, an answer says nothing */
/* The pauses between bursts double from the first to the last: a line is known early. */
#define FIRST_PAUSE (SECOND / 8)
#define LAST_PAUSE  (10ull * SECOND)

bool perftrace__forward_clock_due(const perftrace__forward_clock_t *c, uint64_t now_ns) {
    return !c->bursting && now_ns >= c->next_ns;
}

void perftrace__forward_clock_begin(perftrace__forward_clock_t *c) {
    c->bursting = true;
    c->waiting = false;
    c->any = false;
    c->trips = 0;
}

void perftrace__forward_clock_ask(perftrace__forward_clock_t *c, uint64_t now_ns) {
    c->asked_ns = now_ns;
    c->waiting = true;
}

void perftrace__forward_clock_answer(perftrace__forward_clock_t *c, uint64_t asked_ns,
                                     uint64_t now_ns, uint64_t t2, uint64_t t3, const char *ref) {
    if (!c->bursting || !c->waiting || asked_ns != c->asked_ns) {
        return;
    }
    c->waiting = false;
    c->trips++;
    uint64_t there = t3 - t2;
    uint64_t trip = now_ns - asked_ns;
    if (t3 < t2 || now_ns < asked_ns || trip < there || !ref[0]) {
        return;
    }
    uint64_t error = (trip - there) / 2 + 1;
    /* Another collector's clock may answer; then what the one before said is of no use. */
    if (!c->any || error < c->best.error_ns || strcmp(ref, c->best.ref) != 0) {
        c->any = true;
        c->best.mono_ns = asked_ns + trip / 2;
        c->best.ref_ns = t2 + there / 2;
        c->best.error_ns = error;
        snprintf(c->best.ref, sizeof c->best.ref, "%s", ref);
    }
}

bool perftrace__forward_clock_over(perftrace__forward_clock_t *c, uint64_t now_ns, bool *ret_any,
                                   perftrace__reference_t *ret) {
    bool late = c->waiting && now_ns - c->asked_ns > PATIENCE;
    if (!c->bursting || (c->trips < PERFTRACE__FORWARD_TRIPS && !late)) {
        return false;
    }
    *ret_any = c->any;
    *ret = c->best;
    perftrace__forward_clock_skip(c, now_ns);
    return true;
}

void perftrace__forward_clock_skip(perftrace__forward_clock_t *c, uint64_t now_ns) {
    c->bursting = c->waiting = false;
    c->bursts++;
    uint64_t pause = c->bursts < 8 ? (uint64_t)FIRST_PAUSE << (c->bursts - 1) : LAST_PAUSE;
    c->next_ns = now_ns + PT_MIN(pause, LAST_PAUSE);
}

void perftrace__forward_clock_broke(perftrace__forward_clock_t *c) {
    c->bursting = c->waiting = false;
    c->next_ns = 0;
}
