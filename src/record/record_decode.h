/* record_decode.h: from ring words to an event. SPDX-License-Identifier: MIT
 *
 * Pure. Everything read from a ring is untrusted: each length and id is checked. */
#ifndef PERFTRACE_RECORD_DECODE_H
#define PERFTRACE_RECORD_DECODE_H

#include "compiler.h"
#include "site_table.h"

#include <perftrace/layout.h>
#include <stdbool.h>

/* One event, pointing into the ring and the site table: valid while both are. */
typedef struct perftrace__event {
    uint32_t kind;
    uint32_t flags; /* PERFTRACE_I_RECORD_ */
    const perftrace__site_t *site;
    const char *name; /* of the site, or the run-time name */
    uint32_t name_len;
    uint32_t nargs;
    uint64_t start; /* clock ticks as decoded; ns since ts 0 once the drain converted them */
    uint64_t end;   /* scopes and ends of phases: the same; others: equal to start */
    uint64_t id;    /* all but scopes, instants and counters */
    const uint64_t *args;
    const uint64_t *args_end;
    /* Filled by the drain. */
    uint32_t tid;
    uint32_t slot;
    int64_t step; /* ambient global_step at start */
    bool has_step;
} perftrace__event_t;

/* Decodes the record at p of which left words are readable. Returns its length in words (at least
 * 1), or 0 when the bytes are no record: then nothing after p can be trusted either. The site must
 * be in the table. */
uint32_t perftrace__record_decode(const uint64_t *p, uint64_t left,
                                  const perftrace__site_table_t *table,
                                  perftrace__event_t *ret_event);

/* Number of times in a record. */
static inline uint32_t perftrace__kind_times(uint32_t kind) {
    return kind == PERFTRACE_I_KIND_SCOPE || kind == PERFTRACE_I_KIND_PHASE_END ? 2 : 1;
}

static inline bool perftrace__kind_has_id(uint32_t kind) {
    return kind >= PERFTRACE_I_KIND_FLOW_START;
}

static inline bool perftrace__kind_is_session(uint32_t kind) {
    return kind >= PERFTRACE_I_KIND_SESSION_BEGIN;
}

/* Length in words and the time that orders records (end of scopes, else the time), without
 * resolving the site; 0 as above. */
static inline uint32_t perftrace__record_peek(const uint64_t *p, uint64_t left,
                                              uint64_t *ret_time) {
    if (left < 2) {
        return 0;
    }
    uint64_t head = p[0];
    uint32_t kind = (uint8_t)head;
    uint32_t words = (uint16_t)(head >> 16);
    uint32_t times = perftrace__kind_times(kind);
    if (kind < PERFTRACE_I_KIND_SCOPE || kind > PERFTRACE_I_KIND_LAST || words < 1 + times ||
        words > left) {
        return 0;
    }
    *ret_time = p[times];
    return words;
}

/* Whether the record with this first word is a scope that its thread left open: no event of its
 * own, but told as unfinished. */
static inline bool perftrace__record_is_left(uint64_t head) {
    return (uint8_t)head == PERFTRACE_I_KIND_SCOPE &&
           ((uint8_t)(head >> 8) & PERFTRACE_I_RECORD_LEFT) != 0;
}

/* The event of an open-scope entry: start and end are its begin, no arguments. False for entries
 * that are closed or whose site is unknown or no scope. */
bool perftrace__record_from_open(const perftrace_i_open_t *open,
                                 const perftrace__site_table_t *table,
                                 perftrace__event_t *ret_event);

/* Walks arguments: *arg is the current word (start with event->args); returns the next one, or NULL
 * when the string does not fit. ret_str and ret_len are set for strings only; ret_str NULL for a
 * null string. */
const uint64_t *perftrace__arg_next(const uint64_t *arg, const uint64_t *end, uint32_t type,
                                    const char **ret_str, uint32_t *ret_len);

#define PERFTRACE__STR_NULL UINT64_MAX /* length word of a NULL string */

#endif
