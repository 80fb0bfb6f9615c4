/* slot_stack.c. SPDX-License-Identifier: MIT */
#include "slot_stack.h"

#include "atomics.h"
#include "compiler.h"

static uint32_t depth_of(uint64_t word) {
    uint32_t depth = (uint8_t)word;
    return depth <= PERFTRACE_I_MAX_DEPTH ? depth : 0;
}

/* Acquires, so that each load stays before the look at `word` that follows. They pair with the
 * release in perftrace_i_publish. */
static perftrace_i_open_t load_entry(const perftrace_i_open_t *e) {
    perftrace_i_open_t copy;
    copy.start = pt_load_acquire(&e->start);
    copy.site = pt_load_acquire(&e->site);
    copy.name = pt_load_acquire(&e->name);
    return copy;
}

static bool same(const perftrace_i_open_t *a, const perftrace_i_open_t *b) {
    return a->start == b->start && a->site == b->site && a->name == b->name;
}

/* One look; true when it shows the whole stack.
 *
 * The word alone does not tell: a scope whose record found no room leaves it as it was, and so does
 * the next begin at the same depth. Therefore every entry is read twice, with a look at the word
 * before, between and after. An entry that is the same both times, and was on the stack each time,
 * is one scope that was open all the while: a place is never written twice with the same start. One
 * that is caught half written is not on the stack at the look that follows, or differs. */
static bool look(const perftrace__slot_t *s, perftrace__slot_stack_t *r) {
    uint64_t first = pt_load_acquire(&s->hot.word);
    uint32_t depth = depth_of(first);
    for (uint32_t i = 0; i < depth; i++) {
        r->open[i] = load_entry(&s->open[i]);
    }
    uint64_t second = pt_load_acquire(&s->hot.word);
    uint32_t kept = PT_MIN(depth, depth_of(second));
    for (uint32_t i = 0; i < kept; i++) {
        perftrace_i_open_t again = load_entry(&s->open[i]);
        if (!same(&again, &r->open[i])) {
            kept = i;
        }
    }
    r->word = pt_load_acquire(&s->hot.word);
    r->depth = PT_MIN(kept, depth_of(r->word));
    r->whole = first == second && second == r->word && r->depth == depth;
    return r->whole;
}

void perftrace__slot_stack(const perftrace__slot_t *slot, unsigned tries,
                           perftrace__slot_stack_t *ret_stack) {
    while (!look(slot, ret_stack) && tries > 1) {
        tries--;
    }
}
