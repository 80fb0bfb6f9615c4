/* live_thread.c: from a slot to a thread of the model. SPDX-License-Identifier: MIT */
#include "live_thread.h"

#include "ring_clock.h"
#include "text_copy.h"

#include <math.h>
#include <stdio.h>

static char *copy_cut(const char *text, uint32_t len) {
    return pt_text_copy(text != NULL ? text : "", text != NULL ? len : 0);
}

static char *unknown_site(uint32_t site) {
    char text[32];
    int n = snprintf(text, sizeof text, "(unknown site %u)", site);
    return copy_cut(text, (uint32_t)n);
}

static bool make_scope(const perftrace__ring_view_t *v, const pt_live_rules_t *rules,
                       const perftrace_i_open_t *open, uint64_t now_ns, pt_live_scope_t *s) {
    perftrace__event_t ev;
    bool known = perftrace__record_from_open(open, &v->sites, &ev);
    *s = (pt_live_scope_t){.start_ns = perftrace__ring_ticks_to_ns(&v->header, open->start)};
    s->age_ns = now_ns > s->start_ns ? now_ns - s->start_ns : 0;
    s->has_step = perftrace__ring_step_at(&v->header, open->start, &s->step) != 0;
    s->name = known ? copy_cut(ev.name, ev.name_len) : unknown_site(open->site);
    s->category = copy_cut(known ? ev.site->category : "", known ? ev.site->category_len : 0);
    if (s->name == NULL || s->category == NULL) {
        free(s->name);
        free(s->category);
        return false;
    }
    s->comm = pt_live_comm_of(rules, s->name, s->category);
    return true;
}

static bool make_scopes(const perftrace__ring_view_t *v, const pt_live_rules_t *rules,
                        const pt_live_slot_t *slot, uint64_t now_ns, pt_live_thread_t *t) {
    t->scope = calloc(slot->stack.depth + 1, sizeof *t->scope);
    if (t->scope == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < slot->stack.depth; i++) {
        if (slot->stack.open[i].site == 0) {
            continue; /* ended before those within it */
        }
        if (!make_scope(v, rules, &slot->stack.open[i], now_ns, &t->scope[t->scopes])) {
            return false;
        }
        t->scopes++;
    }
    return true;
}

static uint64_t lost_of(const pt_live_slot_t *s) {
    return s->lost[0] + s->lost[1] + s->lost[2];
}

/* The time of the last thing that happened, as far as the ring tells. */
static void judge_stillness(const perftrace__ring_view_t *v, const pt_live_slot_t *slot,
                            const pt_live_seen_t *seen, uint64_t now_ns, uint64_t mono_ns,
                            pt_live_thread_t *t) {
    const perftrace__ring_header_t *h = &v->header;
    uint64_t last = 0;
    const pt_live_scope_t *inner = pt_live_thread_inner(t);
    if (inner != NULL) {
        last = inner->start_ns;
    }
    if (slot->last_known) {
        last = PT_MAX(last, perftrace__ring_ticks_to_ns(h, slot->last_ticks));
    }
    if (slot->drop_last != 0) {
        last = PT_MAX(last, perftrace__ring_ticks_to_ns(h, slot->drop_last));
    }
    /* A ring without an event: nothing has happened but what is open. */
    t->still_known = t->whole && (slot->last_known || slot->stack.word >> 8 == 0);
    t->still_ns = now_ns > last ? now_ns - last : 0;
    if (t->moved) {
        t->still_ns = PT_MIN(t->still_ns, mono_ns - seen->at_ns);
    } else if (!t->still_known) {
        /* There may have been events since the innermost scope began: only what was watched. */
        uint64_t watched = seen != NULL ? mono_ns - seen->changed_ns : 0;
        t->still_ns = PT_MIN(t->still_ns, watched);
    }
}

static double rate_of(const pt_live_slot_t *slot, const pt_live_seen_t *seen, uint64_t mono_ns) {
    if (seen == NULL || mono_ns <= seen->at_ns) {
        return NAN;
    }
    double seconds = (double)(mono_ns - seen->at_ns) / 1e9;
    if (slot->window == 0) {
        return 0;
    }
    if (slot->sample.words == 0) {
        return NAN;
    }
    double each = (double)slot->sample.events / (double)slot->sample.words;
    return (double)slot->window * each / seconds;
}

bool pt_live_thread_make(const perftrace__ring_view_t *v, const pt_live_rules_t *rules,
                         const pt_live_slot_t *slot, const pt_live_seen_t *seen, uint64_t now_ns,
                         uint64_t mono_ns, pt_live_thread_t *t, pt_live_seen_t *ret_seen) {
    *t = (pt_live_thread_t){.tid = slot->tid, .slot = slot->index};
    memcpy(t->name, slot->name, sizeof t->name);
    t->name[sizeof t->name - 1] = '\0';
    t->whole = slot->stack.whole;
    t->moved = !t->whole ||
               (seen != NULL && (seen->word != slot->stack.word || seen->lost != lost_of(slot)));
    bool ok = make_scopes(v, rules, slot, now_ns, t);
    if (seen == NULL && t->moved) {
        t->still_ns = 0;
    } else {
        judge_stillness(v, slot, seen, now_ns, mono_ns, t);
    }
    t->rate = rate_of(slot, seen, mono_ns);
    *ret_seen = (pt_live_seen_t){
        .word = slot->stack.word,
        .lost = lost_of(slot),
        .at_ns = mono_ns,
        .changed_ns = seen != NULL && !t->moved ? seen->changed_ns : mono_ns,
        .last_ticks = slot->last_ticks,
        .last_known = slot->last_known,
    };
    return ok;
}
