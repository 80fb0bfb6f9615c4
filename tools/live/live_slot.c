/* live_slot.c: slots of a ring file whose threads may be at work. SPDX-License-Identifier: MIT */
#include "atomics.h"
#include "live_map.h"
#include "live_thread.h"
#include "slot_name.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STACK_TRIES 2000u
#define TAKE_TRIES  8
/* Words of a ring that one look reads at most: 128 KiB, which no producer laps meanwhile. */
#define SAMPLE_WORDS ((uint64_t)1 << 14)
#define FEW_WORDS    ((uint64_t)64)

static void read_counts(const perftrace__slot_t *s, pt_live_slot_t *r) {
    /* Pairs with the release in count_drop (emit.c). */
    r->lost[0] = pt_load_acquire(&s->drops[0]);
    r->lost[1] = pt_load_acquire(&s->drops[1]);
    r->lost[2] = pt_load_acquire(&s->too_long);
    r->drop_last = pt_load_acquire(&s->drop_last);
    r->commit_pos[0] = pt_load_acquire(&s->commit[0].pos);
    r->commit_pos[1] = pt_load_acquire(&s->commit[1].pos);
}

/* The slot may be given to another thread while it is read: whose stack it is must be certain. */
static void read_live(const perftrace__slot_t *s, pt_live_slot_t *r) {
    for (int i = 0; i < TAKE_TRIES; i++) {
        uint32_t seq;
        /* Pairs with the release in perftrace__ring_slot_take. */
        r->live = pt_load_acquire(&s->state) == PERFTRACE__SLOT_LIVE;
        r->generation = pt_load_acquire(&s->generation);
        r->tid = pt_load_acquire(&s->tid);
        read_counts(s, r);
        if (!r->live) {
            return;
        }
        perftrace__slot_stack(s, STACK_TRIES, &r->stack);
        perftrace__slot_name(s, r->name, &seq); /* as new as the stack */
        if (pt_load_acquire(&s->generation) == r->generation &&
            pt_load_acquire(&s->state) == PERFTRACE__SLOT_LIVE) {
            return;
        }
    }
    r->live = false; /* threads come and go; the next look may find one */
}

bool pt_live_slot_read(const perftrace__ring_view_t *v, uint32_t i, pt_live_slot_t *r) {
    uint64_t at = v->header.slots_at + i * v->header.slot_stride;
    perftrace__slot_t copy;
    memset(r, 0, sizeof *r);
    r->index = i;
    if (pread(v->fd, &copy, sizeof copy, (off_t)at) != (ssize_t)sizeof copy) {
        return false;
    }
    if (copy.state != PERFTRACE__SLOT_LIVE) {
        read_counts(&copy, r); /* the page may be a hole: it is not mapped */
        return true;
    }
    const perftrace__slot_t *s = pt_live_map(v->fd, at);
    if (s == NULL) {
        return false;
    }
    read_live(s, r);
    pt_live_unmap(s);
    return !pt_live_map_was_cut();
}

/* The slot's word now: what a copy of its ring is checked against. */
static bool read_word(const perftrace__ring_view_t *v, uint32_t i, uint64_t *ret_word) {
    uint64_t at = v->header.slots_at + i * v->header.slot_stride;
    return pread(v->fd, ret_word, sizeof *ret_word,
                 (off_t)(at + offsetof(perftrace_i_slot_t, word))) == (ssize_t)sizeof *ret_word;
}

/* n words from a position on, none of which was overwritten while they were copied; NULL if not. */
static uint64_t *copy_words(const perftrace__ring_view_t *v, uint32_t i, uint64_t from,
                            uint64_t n) {
    uint64_t *words = malloc((size_t)PT_MAX(n, (uint64_t)1) * 8);
    uint64_t word;
    if (words != NULL && (!perftrace__ring_view_words(v, i, from, n, words) ||
                          !read_word(v, i, &word) || (word >> 8) - from > v->header.ring_words)) {
        free(words);
        words = NULL;
    }
    return words;
}

/* The nearest position at or before head at which a record begins, of those that sweeps told. */
static bool known_start(const perftrace__ring_view_t *v, const pt_live_slot_t *s, uint64_t head,
                        bool newest, uint64_t *ret) {
    bool found = false;
    for (int k = 0; k < 2; k++) {
        uint64_t pos = s->commit_pos[k];
        if (head - pos <= v->header.ring_words && (!found || (newest ? pos > *ret : pos < *ret))) {
            *ret = pos;
            found = true;
        }
    }
    return found;
}

/* Walks records from a position at which one begins; true when that reached the head. */
static bool walk_from(const perftrace__ring_view_t *v, pt_live_slot_t *s, uint64_t from,
                      uint64_t head) {
    uint64_t n = PT_MIN(head - from, SAMPLE_WORDS);
    uint64_t *words = copy_words(v, s->index, from, n);
    s->sample = words != NULL ? pt_live_walk(words, n) : (pt_live_walk_t){0};
    free(words);
    return s->sample.events + s->sample.words > 0 && from + s->sample.words == head;
}

/* Nothing tells where the last record begins: it is looked for from its end. */
static bool search_last(const perftrace__ring_view_t *v, pt_live_slot_t *s, uint64_t head) {
    static const uint64_t lengths[] = {FEW_WORDS, UINT16_MAX};
    bool found = false;
    for (size_t i = 0; i < PT_ARRAY_LEN(lengths) && !found; i++) {
        uint64_t n = PT_MIN(PT_MIN(lengths[i], head), v->header.ring_words);
        uint64_t *words = copy_words(v, s->index, head - n, n);
        found = words != NULL && pt_live_last_record(words, n, &v->sites, &s->last_ticks);
        free(words);
    }
    return found;
}

void pt_live_slot_events(const perftrace__ring_view_t *v, const pt_live_seen_t *seen,
                         pt_live_slot_t *s) {
    uint64_t head = s->stack.word >> 8, from = 0;
    s->since_look = seen != NULL;
    if (seen != NULL) {
        from = seen->word >> 8;
        s->window = head - from;
        if (s->window == 0) {
            s->last_known = seen->last_known;
            s->last_ticks = seen->last_ticks;
            return;
        }
        if (s->window <= SAMPLE_WORDS && s->window <= v->header.ring_words) {
            s->last_known = walk_from(v, s, from, head);
            s->last_ticks = s->sample.last;
            return;
        }
        /* Too much has happened: a part is enough for the mean length of records. */
        if (known_start(v, s, head, true, &from)) {
            (void)walk_from(v, s, from, head);
        }
        return;
    }
    if (known_start(v, s, head, false, &from) && from < head) {
        s->window = head - from;
        s->last_known = walk_from(v, s, from, head);
        s->last_ticks = s->sample.last;
    }
    if (!s->last_known && head > 0) {
        s->last_known = search_last(v, s, head);
    }
}
