/* emit.c: the slow halves of the inline path. SPDX-License-Identifier: MIT */
#include "atomics.h"
#include "core_state.h"
#include "os.h"
#include "record_decode.h"
#include "test_point.h"
#include "utf8.h"

#include <perftrace/perftrace.h>

#include <sched.h>
#include <stdio.h>
#include <string.h>

/* ---- room in the ring ---------------------------------------------------------------------------
 */

static void wake_drain(perftrace__ring_header_t *h) {
    /* The flag only saves system calls: a wake that is missed costs one flush period. */
    if (pt_load_relaxed(&h->drain_asleep)) {
        pt_store_relaxed(&h->drain_asleep, 0);
        pt_add_acq_rel(&h->drain_wake, 1);
        perftrace__os_futex_wake_all(&h->drain_wake);
    }
}

static void count_drop(perftrace__slot_t *s, unsigned cause) {
    uint64_t now = perftrace__clock_ticks();
    if (pt_load_relaxed(&s->drop_first) == 0) {
        pt_store_relaxed(&s->drop_first, now);
    }
    pt_store_relaxed(&s->drop_last, now);
    pt_store_release(&s->drops[cause], s->drops[cause] + 1);
}

/* Sets the word of the calling thread's slot, in both places. Publishes what was stored before;
 * pairs with the acquire in the drain's snapshot. */
static void publish(perftrace__slot_t *s, uint64_t word) {
    perftrace_i_thread.word = word;
    pt_store_release(&s->hot.word, word);
}

static bool wait_for_room(perftrace__slot_t *s, perftrace__ring_header_t *h, uint64_t head,
                          uint64_t words) {
    perftrace__core_t *c = &perftrace__core;
    uint64_t give_up = perftrace__os_mono_ns() + pt_load_relaxed(&c->block_ns);
    for (unsigned round = 0;; round++) {
        uint32_t seen = pt_load_acquire(&s->tail_wake);
        /* Pairs with the release in the drain's commit: it has read what we overwrite. */
        if (head + words - pt_load_acquire(&s->tail) <= s->hot.mask + 1) {
            return true;
        }
        if (!pt_load_relaxed(&c->active)) {
            return false;
        }
        uint64_t now = perftrace__os_mono_ns();
        if (now >= give_up) {
            return false;
        }
        wake_drain(h);
        if (round < 50) {
            sched_yield();
            continue;
        }
        pt_store_relaxed(&s->waiting, 1);
        uint64_t left = give_up - now;
        perftrace__os_futex_wait(&s->tail_wake, seen, left < 1000000 ? left : 1000000);
        pt_store_relaxed(&s->waiting, 0);
    }
}

/* Makes sure that words can be written at head, or counts the loss. Moves the limit, at most an
 * eighth of the ring ahead, so that a fast producer comes by now and then and can wake the drain in
 * time. */
static bool make_room(perftrace__slot_t *s, uint64_t head, uint64_t words) {
    perftrace__core_t *c = &perftrace__core;
    perftrace__ring_header_t *h = pt_load_acquire(&c->header);
    uint64_t cap = s->hot.mask + 1; /* of this slot, also when a later run has other rings */
    if (words > cap / 4 || words > UINT16_MAX) {
        pt_store_relaxed(&s->too_long, s->too_long + 1);
        return false;
    }
    uint64_t tail = pt_load_acquire(&s->tail);
    uint64_t used = head - tail;
    if (used > cap / 2) {
        wake_drain(h);
    }
    if (used + words > cap) {
        unsigned cause = 0;
        bool room = false;
        if (pt_load_relaxed(&c->block)) {
            /* After one wait in vain the drain has to move before the next wait. */
            cause = 1;
            if (pt_load_relaxed(&s->gave_up) != tail + 1) {
                room = wait_for_room(s, h, head, words);
                pt_store_relaxed(&s->gave_up, room ? 0 : tail + 1);
            }
        }
        if (!room) {
            count_drop(s, cause);
            return false;
        }
        tail = pt_load_acquire(&s->tail);
    }
    uint64_t limit = head + words + cap / 8;
    if (limit > tail + cap) {
        limit = tail + cap;
    }
    perftrace_i_thread.limit = limit << 8 | 0xFF;
    return true;
}

/* ---- encoding -----------------------------------------------------------------------------------
 */

#define CUT_MARK_MAX 40

/* Bytes of a string that are kept, and the mark that tells how many are not. */
typedef struct cut {
    size_t keep;
    int mark_len;
    char mark[CUT_MARK_MAX];
} cut_t;

static cut_t cut_string(const char *s, size_t max) {
    cut_t c;
    size_t len = strlen(s);
    c.keep = len;
    c.mark_len = 0;
    if (len > max) {
        size_t room = max > CUT_MARK_MAX ? max - CUT_MARK_MAX : 0;
        c.keep = perftrace__utf8_cut(s, len, room);
        c.mark_len = snprintf(c.mark, sizeof(c.mark), "\xE2\x80\xA6[+%zu bytes]", len - c.keep);
    }
    return c;
}

static uint32_t arg_words(const perftrace_i_site_t *site, const uint64_t *values, cut_t *cuts) {
    uint32_t words = 0;
    for (uint32_t i = 0; i < site->nargs; i++) {
        words++;
        if (PERFTRACE_I_TYPE_HAS_BYTES(site->args[i].type)) {
            const char *str = (const char *)(uintptr_t)values[i];
            if (str) {
                cuts[i] = cut_string(str, pt_load_relaxed(&perftrace__core.string_max));
                words += (uint32_t)((cuts[i].keep + (size_t)cuts[i].mark_len + 7) / 8);
            }
        }
    }
    return words;
}

static uint64_t *put_args(uint64_t *at, const perftrace_i_site_t *site, const uint64_t *values,
                          const cut_t *cuts) {
    for (uint32_t i = 0; i < site->nargs; i++) {
        if (!PERFTRACE_I_TYPE_HAS_BYTES(site->args[i].type)) {
            *at++ = values[i];
            continue;
        }
        const char *str = (const char *)(uintptr_t)values[i];
        if (!str) {
            *at++ = PERFTRACE__STR_NULL;
            continue;
        }
        const cut_t *c = &cuts[i];                  /* set by arg_words */
        size_t len = c->keep + (size_t)c->mark_len; /* NOLINT */
        size_t words = (len + 7) / 8;
        *at++ = len;
        if (words) {
            at[words - 1] = 0;
        }
        memcpy(at, str, cuts[i].keep);
        memcpy((char *)at + cuts[i].keep, cuts[i].mark, (size_t)cuts[i].mark_len);
        at += words;
    }
    return at;
}

typedef struct record {
    const perftrace_i_site_t *site;
    uint32_t kind; /* 0: the site's */
    uint32_t id;
    uint32_t flags;
    uint32_t name;
    uint64_t event_id;
    uint64_t start;
    uint64_t end; /* scopes, ends of phases */
    const uint64_t *values;
} record_t;

/* Writes a record and publishes it together with the new depth. */
static void put_record(perftrace__slot_t *s, const record_t *r, uint32_t new_depth) {
    cut_t cuts[PERFTRACE_I_MAX_ARGS];
    uint32_t kind = r->kind ? r->kind : r->site->kind;
    /* The end that names the site of its begin, the scope that was left open. */
    bool bare = !r->site || kind != r->site->kind;
    bool two_times = perftrace__kind_times(kind) == 2;
    bool has_id = perftrace__kind_has_id(kind);
    uint32_t words = (bare ? 0 : arg_words(r->site, r->values, cuts)) + (two_times ? 3u : 2u) +
                     (r->name ? 1u : 0u) + (has_id ? 1u : 0u);
    uint64_t head = s->hot.word >> 8;
    if (!make_room(s, head, words)) {
        publish(s, head << 8 | new_depth);
        return;
    }
    uint64_t *at = perftrace_i_record_at(&s->hot, s->hot.word, s->hot.mask);
    *at++ = PERFTRACE_I_RECORD_HEAD(kind, r->flags | (r->name ? PERFTRACE_I_RECORD_NAMED : 0),
                                    words, r->id);
    *at++ = r->start;
    if (two_times) {
        *at++ = r->end;
    }
    if (r->name) {
        *at++ = r->name;
    }
    if (has_id) {
        *at++ = r->event_id;
    }
    if (!bare) {
        put_args(at, r->site, r->values, cuts);
    }
    PT_TEST_POINT(record_filled);
    publish(s, (head + words) << 8 | new_depth);
    PT_TEST_POINT(record_committed);
}

/* ---- scopes -------------------------------------------------------------------------------------
 */

/* Leaves out closed entries at the top of the stack. */
static uint32_t settled_depth(const perftrace__slot_t *s, uint32_t depth) {
    while (depth > 0 && s->open[depth - 1].site == 0) {
        depth--;
    }
    return depth;
}

/* Puts a scope on the stack; returns its index, or NO_DEPTH when the stack is full. */
static uint32_t push(perftrace__slot_t *s, uint64_t start, uint32_t site, uint32_t name) {
    uint32_t depth = settled_depth(s, (uint8_t)s->hot.word);
    if (depth >= PERFTRACE_I_MAX_DEPTH) {
        return PERFTRACE_I_NO_DEPTH;
    }
    perftrace_i_open_set(&s->open[depth], start, site, name);
    publish(s, (s->hot.word & ~(uint64_t)0xFF) | (depth + 1));
    return depth;
}

static perftrace_i_begun_t begun(uint32_t live, uint32_t depth, uint64_t start) {
    return (perftrace_i_begun_t){live | (uint64_t)depth << 32, start};
}

/* Begins at `at`, or now when that is 0. */
static perftrace_i_begun_t begin_at(perftrace_i_site_t *site, uint32_t name, uint64_t at) {
    uint32_t live = perftrace_i_site_ready(site);
    if (!live) {
        return begun(0, PERFTRACE_I_NO_DEPTH, 0);
    }
    perftrace__slot_t *slot = (perftrace__slot_t *)(void *)perftrace__thread_slot();
    if (slot && live >> PERFTRACE_I_RUN_SHIFT == PERFTRACE_I_RUN_MAX) {
        perftrace__mirror_begin(site, name, settled_depth(slot, (uint8_t)slot->hot.word));
    }
    uint64_t start = at ? at : perftrace__clock_ticks();
    return begun(live,
                 slot ? push(slot, start, PERFTRACE_I_SITE_ID(live), name) : PERFTRACE_I_NO_DEPTH,
                 start);
}

perftrace_i_begun_t perftrace_i_begin_slow(perftrace_i_site_t *site, uint32_t name) {
    return begin_at(site, name, 0);
}

/* The depth after a scope has ended. */
static uint32_t depth_after(perftrace__slot_t *slot, uint32_t depth, uint64_t start, bool span) {
    uint32_t now = (uint8_t)slot->hot.word;
    if (depth >= now || slot->open[depth].start != start) {
        return now; /* no entry, or it went with an enclosing block, or it is of an earlier ring */
    }
    if (span) {
        pt_store_relaxed(&slot->open[depth].site, 0);
        return settled_depth(slot, now);
    }
    return depth; /* whatever the block still had open is left with it */
}

void perftrace_i_end_slow(const perftrace_i_site_t *site, uint64_t live_depth, uint64_t start,
                          uint64_t end, const uint64_t *values, uint64_t nargs_name) {
    static const uint64_t none[PERFTRACE_I_MAX_ARGS];
    perftrace__core_t *c = &perftrace__core;
    uint32_t live = (uint32_t)live_depth;
    perftrace__slot_t *slot = (perftrace__slot_t *)(void *)perftrace__thread_slot();
    uint32_t depth = (uint32_t)(live_depth >> 32);
    bool span = (nargs_name & PERFTRACE_I_SCOPE_SPAN) != 0;
    if (!slot) {
        perftrace__thread_count_lost();
        /* Counted as late: not to be found open by the last sweep too. */
        slot = perftrace__thread_last_slot();
        if (slot) {
            uint32_t left = depth_after(slot, depth, start, span);
            perftrace__mirror_settle(left);
            publish(slot, (slot->hot.word & ~(uint64_t)0xFF) | left);
        }
        return;
    }
    record_t r = {.site = site,
                  .id = PERFTRACE_I_SITE_ID(live),
                  .name = (uint32_t)(nargs_name >> 32),
                  .start = start,
                  .end = pt_load_relaxed(&c->fast_clock) ? end : perftrace__os_mono_ns(),
                  .values = values ? values : none};
    uint64_t ring_born = pt_load_relaxed(&c->born);
    if (start < ring_born) {
        /* Began before this ring was made: in the parent before a fork, or in an earlier run. */
        r.flags |= PERFTRACE_I_RECORD_FORKED;
        r.start = ring_born;
    }
    uint32_t left = depth_after(slot, depth, start, span);
    perftrace__mirror_settle(left);
    put_record(slot, &r, left);
}

perftrace_i_begun_t perftrace_i_lap_slow(const perftrace_i_site_t *site, uint64_t live_depth,
                                         uint64_t start, const uint64_t *values,
                                         uint64_t nargs_name, perftrace_i_site_t *next,
                                         uint32_t next_name) {
    uint64_t now = perftrace__clock_ticks();
    if (live_depth) {
        perftrace_i_end_slow(site, live_depth, start, now, values, nargs_name);
    }
    return begin_at(next, next_name, now);
}

void perftrace__emit_left_open(perftrace__slot_t *slot) {
    uint64_t now = perftrace__clock_ticks();
    for (uint32_t depth = PT_MIN((uint8_t)slot->hot.word, PERFTRACE_I_MAX_DEPTH); depth > 0;
         depth--) {
        const perftrace_i_open_t *open = &slot->open[depth - 1];
        if (open->site) {
            const record_t r = {.kind = PERFTRACE_I_KIND_SCOPE,
                                .id = open->site,
                                .flags = PERFTRACE_I_RECORD_LEFT,
                                .name = open->name,
                                .start = open->start,
                                .end = now};
            put_record(slot, &r, depth - 1);
        }
    }
}

/* ---- points -------------------------------------------------------------------------------------
 */

void perftrace_i_emit_slow(perftrace_i_site_t *site, uint64_t id, const uint64_t *values,
                           uint32_t name) {
    uint32_t sid = perftrace_i_site_ready(site);
    if (!sid) {
        return;
    }
    perftrace__slot_t *slot = (perftrace__slot_t *)(void *)perftrace__thread_slot();
    if (!slot) {
        perftrace__thread_count_lost();
        return;
    }
    record_t r = {.site = site,
                  .id = PERFTRACE_I_SITE_ID(sid),
                  .name = name,
                  .event_id = id,
                  .start = perftrace__clock_ticks(),
                  .values = values};
    put_record(slot, &r, (uint8_t)slot->hot.word);
}

void perftrace_i_emit_words(perftrace_i_site_t *site, uint64_t id, perftrace_i_words_t words,
                            uint32_t name) {
    perftrace_i_emit_slow(site, id, words.v, name);
}

uint64_t perftrace_i_hold_string(const char *text, perftrace_i_hold_t *hold) {
    if (!text) {
        return 0;
    }
    if (hold->left == 0) {
        return perftrace_i_str("(more than four strings in one span)");
    }
    cut_t c = cut_string(text, PERFTRACE_I_SCOPE_STR - 1);
    char *out = hold->next;
    memcpy(out, text, c.keep);
    memcpy(out + c.keep, c.mark, (size_t)c.mark_len);
    out[c.keep + (size_t)c.mark_len] = '\0';
    hold->next += PERFTRACE_I_SCOPE_STR;
    hold->left--;
    return perftrace_i_str(out);
}

/* ---- phases of sessions -------------------------------------------------------------------------
 */

void perftrace_i_phase_begin_slow(perftrace_phase_t *p, perftrace_i_site_t *site,
                                  const uint64_t *values, uint32_t name) {
    uint32_t word = perftrace_i_site_ready(site);
    p->live = 0;
    if (!word) {
        return;
    }
    perftrace__slot_t *slot = (perftrace__slot_t *)(void *)perftrace__thread_slot();
    if (!slot) {
        perftrace__thread_count_lost();
        return;
    }
    p->site = site;
    p->name = name;
    p->live = pt_load_relaxed(&site->word); /* attaching may have begun a new run */
    p->start = perftrace__clock_ticks();
    record_t r = {.site = site,
                  .id = PERFTRACE_I_SITE_ID(word),
                  .name = name,
                  .event_id = (uint64_t)p->session,
                  .start = p->start,
                  .values = values};
    put_record(slot, &r, (uint8_t)slot->hot.word);
}

/* began 0: the fold finds the begin. */
static void put_phase_end(const perftrace_i_site_t *site, uint32_t word, uint32_t name,
                          int64_t session, uint64_t began, const uint64_t *values) {
    perftrace__slot_t *slot = (perftrace__slot_t *)(void *)perftrace__thread_slot();
    if (!slot) {
        perftrace__thread_count_lost();
        return;
    }
    if (began && began < pt_load_relaxed(&perftrace__core.born)) {
        /* Of an earlier run, or of the parent before a fork, whose sessions are not in this file.
         */
        pt_add_relaxed(&perftrace__core.late, 1);
        return;
    }
    record_t r = {.site = site,
                  .kind = PERFTRACE_I_KIND_PHASE_END,
                  .id = PERFTRACE_I_SITE_ID(word),
                  .name = name,
                  .event_id = (uint64_t)session,
                  .start = began,
                  .end = perftrace__clock_ticks(),
                  .values = values};
    put_record(slot, &r, (uint8_t)slot->hot.word);
}

void perftrace_i_phase_end_slow(perftrace_phase_t *p, perftrace_i_site_t *site,
                                const uint64_t *values) {
    uint32_t word = p->live;
    uint32_t name = p->name;
    if (site) {
        /* A site of the end's own: the phase is named like that of the begin. */
        word = perftrace_i_site_ready(site);
        name = name || !p->site->name ? name : perftrace_i_name(p->site->name);
    }
    p->live = 0;
    if (word) {
        put_phase_end(site ? site : p->site, word, name, p->session, p->start, values);
    }
}

void perftrace__phase_end_last(int64_t session, perftrace_i_site_t *site, uint32_t name) {
    uint32_t word = perftrace_i_site_ready(site);
    if (word) {
        put_phase_end(site, word, name, session, 0, NULL);
    }
}

void perftrace_i_phase_words(perftrace_phase_t *p, perftrace_i_site_t *site, int end,
                             perftrace_i_words_t words, uint32_t name) {
    if (end) {
        perftrace_i_phase_end_slow(p, site, words.v);
    } else {
        perftrace_i_phase_begin_slow(p, site, words.v, name);
    }
}

/* ---- twins for bindings
 * -------------------------------------------------------------------------- */

int perftrace_span_begin(perftrace_span_t *span, perftrace_i_site_t *site, const uint64_t *values) {
    uint32_t nstrings = 0;
    for (uint32_t i = 0; i < site->nargs; i++) {
        nstrings += PERFTRACE_I_TYPE_HAS_BYTES(site->args[i].type);
    }
    uint32_t flags = PERFTRACE_I_SCOPE_SPAN | (nstrings ? PERFTRACE_I_SCOPE_SLOW : 0);
    if (!perftrace_i_begin(&span->scope, site, site->nargs | flags, span->values)) {
        return 0;
    }
    if (values) {
        memcpy(span->values, values, site->nargs * sizeof(uint64_t));
    } else {
        memset(span->values, 0, site->nargs * sizeof(uint64_t));
    }
    perftrace_i_hold_t hold = {span->strings, sizeof(span->strings) / PERFTRACE_I_SCOPE_STR};
    for (uint32_t i = 0; nstrings && i < site->nargs; i++) {
        if (PERFTRACE_I_TYPE_HAS_BYTES(site->args[i].type)) {
            span->values[i] =
                perftrace_i_hold_string((const char *)(uintptr_t)span->values[i], &hold);
        }
    }
    return 1;
}

void perftrace_span_end(perftrace_span_t *span) {
    perftrace_i_span_end(span);
}

void perftrace_emit(perftrace_i_site_t *site, uint64_t id, const uint64_t *values) {
    static const uint64_t none[PERFTRACE_I_MAX_ARGS];
    if (pt_load_relaxed(&site->word)) {
        perftrace_i_emit_slow(site, id, values ? values : none, 0);
    }
}
