/* live_thread.h: what a slot of a ring file tells of its thread. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_LIVE_LIVE_THREAD_H
#define PERFTRACE_LIVE_LIVE_THREAD_H

#include "live_event.h"
#include "live_history.h"
#include "live_ring.h"
#include "ring_reader.h"
#include "slot_stack.h"

/* A slot as it was read, before names and times are looked up. */
typedef struct pt_live_slot {
    uint32_t index;
    uint32_t tid;
    uint32_t generation;
    char name[64];
    uint64_t commit_pos[2];
    uint64_t lost[3]; /* ring_full, block_timeout, too_long */
    uint64_t drop_last;
    bool live;
    perftrace__slot_stack_t stack; /* of a live one */
    /* Of a live one, from its ring. */
    uint64_t window;       /* words since the last look, or since a sweep that is known */
    bool since_look;       /* the former */
    pt_live_walk_t sample; /* of these words, as far as they are there */
    uint64_t last_ticks;   /* time of the last event */
    bool last_known;
} pt_live_slot_t;

/* Reads a slot's control page. False when it cannot be read: the file was cut. */
bool pt_live_slot_read(const perftrace__ring_view_t *ring, uint32_t i, pt_live_slot_t *ret_slot);
/* Reads what its ring tells of the last events. seen: of the last look, NULL for the first. */
void pt_live_slot_events(const perftrace__ring_view_t *ring, const pt_live_seen_t *seen,
                         pt_live_slot_t *slot);

/* Fills a thread of the model. now_ns: since ts 0, of the look; mono_ns: the same, monotonic; gone:
 * the process is dead, and now_ns its last sign of life. What is to be kept for the next look goes
 * to ret_seen. False without memory. Pure but for that. */
bool pt_live_thread_make(const perftrace__ring_view_t *ring, const pt_live_rules_t *rules,
                         const pt_live_slot_t *slot, const pt_live_seen_t *seen, uint64_t now_ns,
                         uint64_t mono_ns, pt_live_thread_t *ret_thread, pt_live_seen_t *ret_seen);

#endif
