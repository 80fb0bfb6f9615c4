/* drain.c: sweep, commit, release. SPDX-License-Identifier: MIT */
#include "drain.h"

#include "atomics.h"
#include "os.h"
#include "ring_clock.h"
#include "slot_name.h"
#include "take.h"
#include "test_point.h"

#include <perftrace/perftrace.h>

#include <stdlib.h>
#include <string.h>

#define CLOCK_LINE_NS 10000000000ull

static const char *const drop_names[] = {
#define X(name, text) #name,
    PERFTRACE_DROP_LIST(X)
#undef X
};

void perftrace__drain_init(perftrace__drain_t *d, perftrace__ring_t *ring) {
    memset(d, 0, sizeof(*d));
    d->ring = ring;
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->done, NULL);
}

void perftrace__drain_free(perftrace__drain_t *d) {
    perftrace__site_table_free(&d->sites);
    free(d->states);
    free(d->lanes);
    free(d->heap);
    d->states = NULL;
    d->lanes = NULL;
    d->heap = NULL;
    d->cap = 0;
}

static bool make_places(perftrace__drain_t *d, uint32_t n) {
    if (n <= d->cap) {
        return true;
    }
    uint32_t cap = n + 16;
    perftrace__drain_lane_state_t *states = realloc(d->states, cap * sizeof(*states));
    if (!states) {
        return false;
    }
    memset(states + d->cap, 0, (cap - d->cap) * sizeof(*states));
    d->states = states;
    perftrace__lane_t *lanes = realloc(d->lanes, cap * sizeof(*lanes));
    if (!lanes) {
        return false;
    }
    d->lanes = lanes;
    uint32_t *heap = realloc(d->heap, cap * sizeof(*heap));
    if (!heap) {
        return false;
    }
    d->heap = heap;
    d->cap = cap;
    return true;
}

static void report_drop(perftrace__drain_t *d, unsigned cause, uint64_t count, uint64_t first,
                        uint64_t last, uint32_t tid) {
    const perftrace__ring_header_t *h = d->ring->header;
    pt_store_relaxed(&d->dropped[cause], d->dropped[cause] + count); /* statistics read it */
    perftrace__drop_t drop = {drop_names[cause], count,
                              first ? perftrace__ring_ticks_to_ns(h, first) : 0,
                              last ? perftrace__ring_ticks_to_ns(h, last) : 0, tid};
    for (unsigned i = 0; i < d->nsinks; i++) {
        d->sinks[i]->ops->drop(d->sinks[i], &drop);
    }
}

/* ---- commit -------------------------------------------------------------------------------------
 */

/* Makes the state after the flush the valid one, then hands the room back to the producers.
 * Recovery sees either the state before (the new text in the file is cut off and made again from
 * the ring) or this one. */
static void commit(perftrace__drain_t *d) {
    perftrace__ring_header_t *h = d->ring->header;
    uint32_t seq = h->commit_seq + 1;
    perftrace__commit_t *c = &h->commit[seq & 1];
    c->file_offset = d->sinks[0]->ops->offset(d->sinks[0]);
    h->session_offset[seq & 1] = d->nsinks > 1 ? d->sinks[1]->ops->offset(d->sinks[1]) : 0;
    c->written = d->written;
    c->closed = d->closed;
    c->left = d->left;
    memcpy(c->dropped, d->dropped, sizeof(c->dropped));
    uint32_t n = PT_MIN(pt_load_acquire(&h->slot_count), d->cap);
    for (uint32_t i = 0; i < n; i++) {
        perftrace__slot_commit_t *sc = &d->ring->slots[i]->commit[seq & 1];
        sc->pos = d->states[i].pos;
        sc->too_long = d->states[i].too_long;
        memcpy(sc->drops, d->states[i].drops, sizeof(sc->drops));
    }
    PT_TEST_POINT(drain_written);
    /* Publishes the copy; pairs with the reading of commit_seq in perftrace__ring_view_open. */
    pt_store_release(&h->commit_seq, seq);
    PT_TEST_POINT(drain_committed);
    for (uint32_t i = 0; i < n; i++) {
        perftrace__slot_t *s = d->ring->slots[i];
        uint64_t pos = d->states[i].pos;
        if (pt_load_relaxed(&s->tail) == pos) {
            continue;
        }
        /* Gives the words back; pairs with the acquire in make_room and wait_for_room (core). */
        pt_store_release(&s->tail, pos);
        pt_add_acq_rel(&s->tail_wake, 1);
        if (pt_load_relaxed(&s->waiting)) {
            perftrace__os_futex_wake_all(&s->tail_wake);
        }
    }
    PT_TEST_POINT(drain_released);
    d->pending = false;
}

static int flush_and_commit(perftrace__drain_t *d, perftrace__flush_t how) {
    int status = PERFTRACE_OK;
    for (unsigned i = 0; i < d->nsinks; i++) {
        int rc = d->sinks[i]->ops->flush(d->sinks[i], how);
        status = rc ? rc : status;
    }
    if (status == PERFTRACE_OK && d->sinks[0]->ops->replaced(d->sinks[0]) && d->committed) {
        /* The file with everything committed so far was removed by somebody. */
        d->written -= d->committed;
        report_drop(d, PERFTRACE_DROP_file_gone, d->committed, 0, 0, 0);
        status = d->sinks[0]->ops->flush(d->sinks[0], how);
    }
    if (status == PERFTRACE_OK) {
        commit(d);
        pt_store_relaxed(&d->committed, d->written);
        if (d->committed_to) {
            d->committed_to(d->user);
        }
    } else {
        d->pending = true;
        pt_store_relaxed(&d->write_errors, d->write_errors + 1);
    }
    return status;
}

/* ---- taking in ----------------------------------------------------------------------------------
 */

static void announce(perftrace__drain_t *d, uint32_t tid, const char *name) {
    for (unsigned i = 0; i < d->nsinks; i++) {
        d->sinks[i]->ops->thread(d->sinks[i], tid, name);
    }
}

static void report_slot_drops(perftrace__drain_t *d, uint32_t i) {
    perftrace__slot_t *s = d->ring->slots[i];
    perftrace__drain_lane_state_t *st = &d->states[i];
    static const unsigned causes[2] = {PERFTRACE_DROP_ring_full, PERFTRACE_DROP_block_timeout};
    uint64_t first = 0;
    uint64_t last = 0;
    for (unsigned k = 0; k < 2; k++) {
        uint64_t now = pt_load_acquire(&s->drops[k]);
        if (now != st->drops[k]) {
            if (!first) {
                last = pt_load_relaxed(&s->drop_last);
                /* The producer starts a new range at its next loss. */
                first = pt_exchange_acq_rel(&s->drop_first, 0);
                first = first ? first : last;
            }
            report_drop(d, causes[k], now - st->drops[k], first, last, d->lanes[i].tid);
            st->drops[k] = now;
        }
    }
    uint64_t too_long = pt_load_relaxed(&s->too_long);
    if (too_long != st->too_long) {
        report_drop(d, PERFTRACE_DROP_too_long, too_long - st->too_long, 0, 0, d->lanes[i].tid);
        st->too_long = too_long;
    }
}

static perftrace__taker_t taker(perftrace__drain_t *d) {
    return (perftrace__taker_t){.header = d->ring->header,
                                .sites = &d->sites,
                                .sinks = d->sinks,
                                .nsinks = d->nsinks,
                                .kept = &d->written,
                                .no_memory = &d->no_memory,
                                .left = &d->left};
}

/* Heads of all slots, then the log: every site a record names was logged before the record was
 * published, so in this order none is missing. */
static uint32_t snapshot(perftrace__drain_t *d) {
    perftrace__ring_header_t *h = d->ring->header;
    uint32_t n = pt_load_acquire(&h->slot_count);
    if (!make_places(d, n)) {
        n = d->cap;
    }
    for (uint32_t i = 0; i < n; i++) {
        perftrace__slot_t *s = d->ring->slots[i];
        perftrace__drain_lane_state_t *st = &d->states[i];
        perftrace__lane_t *lane = &d->lanes[i];
        /* The head before the state: a slot that is free has no records that we have not seen,
         * while one that was free may have a new thread and its records a moment later. Pairs with
         * perftrace_i_publish: the records before head are complete. */
        uint64_t head = pt_load_acquire(&s->hot.word) >> 8;
        /* Pairs with the release in slot_take and thread_exit. */
        uint32_t state = pt_load_acquire(&s->state);
        lane->p =
            (const uint64_t *)((const char *)s + PERFTRACE_I_DATA_AT) + (st->pos & s->hot.mask);
        lane->taken = lane->p;
        lane->end = lane->p + (head - st->pos);
        lane->slot = i;
        lane->damaged = false;
        if (state == PERFTRACE__SLOT_FREE) {
            lane->end = lane->p;
            continue;
        }
        lane->tid = s->tid;
        if (s->generation != st->generation || pt_load_relaxed(&s->name_seq) != st->name_seq) {
            char name[64];
            perftrace__slot_name(s, name, &st->name_seq);
            st->generation = s->generation;
            announce(d, s->tid, name);
        }
    }
    perftrace__site_table_parse(&d->sites, d->ring->log, pt_load_acquire(&h->log_len));
    return n;
}

static void keep_positions(perftrace__drain_t *d, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        perftrace__lane_t *lane = &d->lanes[i];
        d->states[i].pos += (uint64_t)(lane->p - lane->taken);
        lane->taken = lane->p;
    }
}

/* Slots of threads that are gone and whose records are all in the file go back to the pool. */
static void free_slots(perftrace__drain_t *d, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        perftrace__slot_t *s = d->ring->slots[i];
        if (pt_load_acquire(&s->state) == PERFTRACE__SLOT_EXITED &&
            pt_load_acquire(&s->hot.word) >> 8 == d->states[i].pos) {
            /* Our reads of the slot are over; pairs with the acquire in slot_take. */
            pt_store_release(&s->state, PERFTRACE__SLOT_FREE);
        }
    }
}

static void clock_line(perftrace__drain_t *d) {
    perftrace__clock_reading_t r;
    d->clock_pair(&r.ns, &r.mono_ns, &r.epoch_ns);
    d->next_clock = r.mono_ns + CLOCK_LINE_NS;
    for (unsigned i = 0; i < d->nsinks; i++) {
        d->sinks[i]->ops->clock(d->sinks[i], &r);
    }
}

static void reference_lines(perftrace__drain_t *d) {
    perftrace__reference_t r;
    while (d->take_reference && d->take_reference(&r)) {
        for (unsigned i = 0; i < d->nsinks; i++) {
            if (d->sinks[i]->ops->reference) {
                d->sinks[i]->ops->reference(d->sinks[i], &r);
            }
        }
    }
}

static bool any_full(const perftrace__drain_t *d) {
    bool full = false;
    for (unsigned i = 0; i < d->nsinks; i++) {
        full |= d->sinks[i]->ops->full(d->sinks[i]);
    }
    return full;
}

/* Slots are looked at one after the other. A thread that was looked at later may have records that
 * follow from what one looked at before has published meanwhile: what happened after the sweep
 * began waits for the next one, so that in the file nothing precedes its cause. Times that lie
 * further ahead are no such records but a clock that was set back; they are taken. */
#define AHEAD_TICKS ((uint64_t)1 << 28) /* 0.07 s to 10 s */

static bool is_ahead(uint64_t began, const perftrace__lane_t *lane) {
    return began && lane->next_time > began && lane->next_time - began < AHEAD_TICKS;
}

/* began: the time of now, 0 to take all. */
static int sweep(perftrace__drain_t *d, bool sync, uint64_t began) {
    perftrace__flush_t how = sync ? PERFTRACE__FLUSH_DISK : PERFTRACE__FLUSH_WRITE;
    if (d->anchor) {
        d->anchor();
    }
    uint64_t now = perftrace__os_mono_ns();
    pt_store_relaxed(&d->ring->header->beat_ns, now);
    if (d->pending) {
        /* Text of the last sweep waits: nothing new is taken in before it is written. */
        int status = flush_and_commit(d, how);
        if (status) {
            return status;
        }
    }
    if (d->clock_pair && now >= d->next_clock) {
        clock_line(d);
    }
    reference_lines(d);
    uint32_t n = snapshot(d);
    perftrace__taker_t t = taker(d);
    perftrace__merge_t m;
    perftrace__merge_begin(&m, d->lanes, n, d->heap);
    for (perftrace__lane_t *lane;
         (lane = perftrace__merge_next(&m)) != NULL && !is_ahead(began, lane);) {
        perftrace__take_record(&t, &m, lane);
        if (any_full(d)) {
            PT_TEST_POINT(drain_encoded);
            keep_positions(d, n);
            int status = flush_and_commit(d, PERFTRACE__FLUSH_WRITE);
            if (status) {
                return status;
            }
        }
    }
    keep_positions(d, n);
    for (uint32_t i = 0; i < n; i++) {
        if (d->lanes[i].damaged) {
            report_drop(d, PERFTRACE_DROP_damaged, 1, 0, 0, d->lanes[i].tid);
        }
        report_slot_drops(d, i);
    }
    if (d->no_memory) {
        report_drop(d, PERFTRACE_DROP_no_memory, d->no_memory, 0, 0, 0);
        d->no_memory = 0;
    }
    uint64_t no_slot = pt_load_relaxed(&d->ring->header->no_slot);
    if (no_slot != d->no_slot) {
        report_drop(d, PERFTRACE_DROP_no_slot, no_slot - d->no_slot, 0, 0, 0);
        d->no_slot = no_slot;
    }
    for (unsigned i = 0; i < d->nsinks; i++) {
        if (d->sinks[i]->ops->swept) {
            d->sinks[i]->ops->swept(d->sinks[i]);
        }
    }
    PT_TEST_POINT(drain_encoded);
    int status = flush_and_commit(d, how);
    if (status == PERFTRACE_OK) {
        free_slots(d, n);
    }
    return status;
}

int perftrace__drain_sweep(perftrace__drain_t *d, bool sync) {
    return sweep(d, sync, d->ticks ? d->ticks() : 0);
}

/* ---- the end ------------------------------------------------------------------------------------
 */

static void report_open_scopes(perftrace__drain_t *d, uint32_t n, perftrace__account_t *account) {
    const perftrace__taker_t t = taker(d);
    for (uint32_t i = 0; i < n; i++) {
        const perftrace__slot_t *s = d->ring->slots[i];
        uint32_t depth = (uint8_t)pt_load_acquire(&s->hot.word);
        if (pt_load_acquire(&s->state) == PERFTRACE__SLOT_FREE) {
            continue;
        }
        for (uint32_t k = 0; k < depth && k < PERFTRACE_I_MAX_DEPTH; k++) {
            perftrace_i_open_t open = {pt_load_relaxed(&s->open[k].start),
                                       pt_load_relaxed(&s->open[k].site),
                                       pt_load_relaxed(&s->open[k].name)};
            account->unfinished += perftrace__take_open(&t, &open, s->tid, i);
        }
    }
}

int perftrace__drain_finish(perftrace__drain_t *d, uint64_t late) {
    if (d->closed) { /* by a signal handler, or the last try could not write it */
        return d->pending ? flush_and_commit(d, PERFTRACE__FLUSH_LAST) : PERFTRACE_OK;
    }
    /* The sweep has something to write in any case and so notices a file that is gone: the footer's
     * account holds for the file it ends. */
    d->next_clock = 0;
    int status = sweep(d, false, 0);
    if (status) {
        return status;
    }
    if (late) {
        report_drop(d, PERFTRACE_DROP_late, late, 0, 0, 0);
    }
    perftrace__account_t account = {.unfinished = d->left};
    report_open_scopes(d, PT_MIN(d->ring->header->slot_count, d->cap), &account);
    account.written = d->written;
    memcpy(account.dropped, d->dropped, sizeof(account.dropped));
    for (unsigned i = 0; i < d->nsinks; i++) {
        d->sinks[i]->ops->footer(d->sinks[i], &account);
    }
    d->closed = true;
    /* Not to the disk: at the end of a run that could be gigabytes, and the end is not a save. A
     * forced save that was asked for and not yet done still is. */
    status = flush_and_commit(d, pt_load_acquire(&d->sync_wanted) ? PERFTRACE__FLUSH_DISK
                                                                  : PERFTRACE__FLUSH_LAST);
    PT_TEST_POINT(footer_written);
    return status;
}

uint64_t perftrace__drain_backlog(const perftrace__ring_t *ring) {
    uint64_t words = 0;
    uint32_t n = pt_load_acquire(&ring->header->slot_count);
    for (uint32_t i = 0; i < n; i++) {
        const perftrace__slot_t *s = ring->slots[i];
        /* Not beyond the head that is read next; pairs with the release in commit. */
        uint64_t tail = pt_load_acquire(&s->tail);
        words += (pt_load_relaxed(&s->hot.word) >> 8) - tail;
    }
    return words;
}

uint64_t perftrace__drain_backlog_events(const perftrace__ring_t *ring) {
    uint64_t events = 0;
    uint32_t n = pt_load_acquire(&ring->header->slot_count);
    for (uint32_t i = 0; i < n; i++) {
        const perftrace__slot_t *s = ring->slots[i];
        uint64_t tail = pt_load_acquire(&s->tail);
        const uint64_t *p =
            (const uint64_t *)((const char *)s + PERFTRACE_I_DATA_AT) + (tail & s->hot.mask);
        uint64_t left = (pt_load_acquire(&s->hot.word) >> 8) - tail;
        uint64_t time;
        for (uint32_t words; left && (words = perftrace__record_peek(p, left, &time)) != 0;) {
            events += !perftrace__record_is_left(*p);
            p += words;
            left -= words;
        }
    }
    return events;
}
