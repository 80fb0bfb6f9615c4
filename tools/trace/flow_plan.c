/* flow_plan.c: which flow events of a file belong together. SPDX-License-Identifier: MIT
 *
 * Viewers want one start, any number of steps and one end for an id. Producers use ids again, give
 * several ends to one start, and cut traces in the middle of a flow. */
#include "scope_plan.h"

#include <stdlib.h>

static int phase_order(char ph) {
    return ph == 's' ? 0 : ph == 't' ? 1 : 2;
}

/* By key, then by time; at one time the start comes first and the end last. */
static int by_flow(const void *a, const void *b) {
    const pt_scope_note_t *x = a, *y = b;
    if (x->end != y->end) {
        return (x->end > y->end) - (x->end < y->end);
    }
    if (x->ts != y->ts) {
        return (x->ts > y->ts) - (x->ts < y->ts);
    }
    int order = phase_order(pt_scope_note_phase(x)) - phase_order(pt_scope_note_phase(y));
    if (order != 0) {
        return order;
    }
    uint64_t m = pt_scope_note_ordinal(x), n = pt_scope_note_ordinal(y);
    return (m > n) - (m < n);
}

bool pt_scope_plan_flows(pt_scope_plan_t *plan, pt_scope_list_t *list, int64_t lo, int64_t hi) {
    const pt_scope_note_t *last = NULL;
    bool open = false, ok = true;
    if (list->count > 0) {
        qsort(list->note, list->count, sizeof *list->note, by_flow);
    }
    for (size_t i = 0; i < list->count && ok; i++) {
        const pt_scope_note_t *n = &list->note[i];
        char ph = pt_scope_note_phase(n);
        if (n->ts < lo || n->ts > hi) {
            continue;
        }
        if (open && (ph == 's' || last->end != n->end)) {
            plan->open_flows++;
            open = false;
        }
        if (ph != 's' && !open) {
            plan->lone_flows++;
            ok = pt_scope_plan_add(plan, pt_scope_note_ordinal(n), PT_PLAN_LONE, INT64_MIN) != NULL;
            continue;
        }
        plan->chains += ph == 's';
        open = ph != 'f';
        last = n;
        pt_plan_entry_t *e =
            pt_scope_plan_add(plan, pt_scope_note_ordinal(n), PT_PLAN_FLOW, INT64_MIN);
        ok = e != NULL;
        if (ok) {
            e->slot = plan->chains - 1;
        }
    }
    plan->open_flows += open;
    pt_scope_list_free(list);
    return ok;
}
