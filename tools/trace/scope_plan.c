/* scope_plan.c: decides, before a second pass over a file, what becomes of its scopes.
 * SPDX-License-Identifier: MIT */
#include "scope_plan.h"

#include "lane_set.h"

#include <stdlib.h>
#include <string.h>

#define ORDINAL_BITS 56
#define ORDINAL_MASK ((UINT64_C(1) << ORDINAL_BITS) - 1)

static bool grow(void **items, size_t count, size_t *cap, size_t size) {
    if (count < *cap) {
        return true;
    }
    size_t want = *cap == 0 ? 64 : *cap + *cap / 2;
    void *more = realloc(*items, want * size);
    if (more == NULL) {
        return false;
    }
    *items = more;
    *cap = want;
    return true;
}

bool pt_scope_list_add(pt_scope_list_t *list, char ph, int64_t ts, int64_t end, uint64_t ordinal) {
    void *items = list->note;
    bool ok = grow(&items, list->count, &list->cap, sizeof *list->note);
    list->note = items;
    if (ok) {
        list->note[list->count++] = (pt_scope_note_t){
            ts, end, (ordinal & ORDINAL_MASK) | (uint64_t)(unsigned char)ph << ORDINAL_BITS};
    }
    return ok;
}

void pt_scope_list_free(pt_scope_list_t *list) {
    if (list != NULL) {
        free(list->note);
        *list = (pt_scope_list_t){NULL, 0, 0};
    }
}

pt_plan_entry_t *pt_scope_plan_add(pt_scope_plan_t *plan, uint64_t ordinal, pt_plan_what_t what,
                                   int64_t ts) {
    void *items = plan->entry;
    bool ok = grow(&items, plan->count, &plan->cap, sizeof *plan->entry);
    plan->entry = items;
    if (!ok) {
        return NULL;
    }
    pt_plan_entry_t *e = &plan->entry[plan->count++];
    *e = (pt_plan_entry_t){.ordinal = ordinal, .ts = ts, .what = what & 7U};
    return e;
}

static int by_time(const void *a, const void *b) {
    const pt_scope_note_t *x = a, *y = b;
    if (x->ts != y->ts) {
        return (x->ts > y->ts) - (x->ts < y->ts);
    }
    uint64_t m = pt_scope_note_ordinal(x), n = pt_scope_note_ordinal(y);
    return (m > n) - (m < n);
}

/* Outer scopes before inner ones. */
static int by_start(const void *a, const void *b) {
    const pt_scope_note_t *x = a, *y = b;
    if (x->ts != y->ts) {
        return (x->ts > y->ts) - (x->ts < y->ts);
    }
    if (x->end != y->end) {
        return (x->end < y->end) - (x->end > y->end);
    }
    uint64_t m = pt_scope_note_ordinal(x), n = pt_scope_note_ordinal(y);
    return (m > n) - (m < n);
}

static bool in_order(const pt_scope_note_t *n, size_t count,
                     int (*compare)(const void *, const void *)) {
    for (size_t i = 1; i < count; i++) {
        if (compare(&n[i - 1], &n[i]) > 0) {
            return false;
        }
    }
    return true;
}

static void sort_notes(pt_scope_note_t *n, size_t count,
                       int (*compare)(const void *, const void *)) {
    if (!in_order(n, count, compare)) {
        qsort(n, count, sizeof *n, compare);
    }
}

/* Moves the notes of the wanted phases to the front; returns how many. */
static size_t part_notes(pt_scope_note_t *n, size_t count, const char *phases) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (strchr(phases, pt_scope_note_phase(&n[i])) != NULL) {
            pt_scope_note_t moved = n[i];
            n[i] = n[kept];
            n[kept++] = moved;
        }
    }
    return kept;
}

/* Joins begins and ends. A joined or open begin becomes a note that looks like an X, at the front;
 * *ret_scopes says how many. Entries of a pair carry its number in `slot` until _finish. */
static bool match_pairs(pt_scope_plan_t *plan, pt_scope_note_t *n, size_t count, int64_t last,
                        size_t *ret_scopes) {
    size_t depth = 0, scopes = 0;
    pt_scope_note_t *stack = malloc((count + 1) * sizeof *stack);
    bool ok = stack != NULL;
    sort_notes(n, count, by_time);
    for (size_t i = 0; i < count && ok; i++) {
        pt_scope_note_t end = n[i];
        if (pt_scope_note_phase(&end) == 'B') {
            stack[depth++] = end;
        } else if (depth == 0) {
            plan->stray++;
            ok = pt_scope_plan_add(plan, pt_scope_note_ordinal(&end), PT_PLAN_STRAY, 0) != NULL;
        } else {
            pt_scope_note_t begin = stack[--depth];
            bool forward = pt_scope_note_ordinal(&begin) < pt_scope_note_ordinal(&end);
            pt_plan_entry_t *b =
                pt_scope_plan_add(plan, pt_scope_note_ordinal(&begin), PT_PLAN_BEGIN, end.ts);
            if (b != NULL) {
                b->first = forward;
                b->slot = plan->pairs;
            }
            pt_plan_entry_t *e =
                pt_scope_plan_add(plan, pt_scope_note_ordinal(&end), PT_PLAN_END, begin.ts);
            if (e != NULL) {
                e->first = !forward;
                e->slot = plan->pairs++;
            }
            ok = b != NULL && e != NULL;
            begin.end = end.ts;
            n[scopes++] = begin; /* fewer scopes than notes read: never overtakes i */
        }
    }
    while (depth > 0 && ok) {
        pt_scope_note_t begin = stack[--depth];
        begin.end = PT_MAX(last, begin.ts);
        plan->open++;
        ok =
            pt_scope_plan_add(plan, pt_scope_note_ordinal(&begin), PT_PLAN_OPEN, begin.end) != NULL;
        n[scopes++] = begin;
    }
    free(stack);
    *ret_scopes = scopes;
    return ok;
}

/* One lane of the sweep: the scopes around the current time. */
typedef struct open_lane {
    pt_scope_note_t *note;
    size_t depth, cap;
    int64_t empty_at; /* where the last scope without a length was, if there was one */
    unsigned empty_late;
    bool has_empty;
} open_lane_t;

static bool add_scope(pt_scope_plan_t *plan, const pt_scope_note_t *n, unsigned lane, size_t early,
                      unsigned late) {
    /* A begin has an entry already; _finish joins them. */
    pt_plan_entry_t *e = pt_scope_plan_add(plan, pt_scope_note_ordinal(n), PT_PLAN_SCOPE, 0);
    if (e != NULL) {
        e->lane = lane & 2047U;
        e->early = (unsigned)PT_MIN(early, (size_t)1023) & 1023U;
        e->late = PT_MIN(late, 127U) & 127U;
    }
    return e != NULL;
}

/* Takes those scopes off that end by `ts`. Of those that end together the inner ones end early, and
 * all of them when another scope begins then. False without memory. */
static bool lane_pop(pt_scope_plan_t *plan, open_lane_t *lane, int64_t ts) {
    size_t together = 0;
    bool ok = true;
    while (lane->depth > 0 && lane->note[lane->depth - 1].end <= ts && ok) {
        const pt_scope_note_t *n = &lane->note[lane->depth - 1];
        while (together < lane->depth && n[-(ptrdiff_t)together].end == n->end) {
            together++;
        }
        lane->depth--;
        together--;
        size_t early = together + (n->end == ts);
        ok = early == 0 || add_scope(plan, n, 0, early, 0);
    }
    return ok;
}

/* By how much a scope without a length begins late: so that it is alone at its time. A reader that
 * takes ends before begins of the same time would end it before it has begun, and then never. */
static unsigned empty_late(open_lane_t *lane, const pt_scope_note_t *n) {
    if (n->end != n->ts) {
        return 0;
    }
    if (lane->has_empty && lane->empty_at == n->ts) {
        return ++lane->empty_late;
    }
    lane->has_empty = true;
    lane->empty_at = n->ts;
    lane->empty_late = lane->depth > 0 && lane->note[lane->depth - 1].ts == n->ts;
    return lane->empty_late;
}

static bool lane_push(open_lane_t *lane, const pt_scope_note_t *n) {
    void *items = lane->note;
    bool ok = grow(&items, lane->depth, &lane->cap, sizeof *lane->note);
    lane->note = items;
    if (ok) {
        lane->note[lane->depth++] = *n;
    }
    return ok;
}

/* Gives lanes to notes sorted by start. */
static bool assign_lanes(pt_scope_plan_t *plan, const pt_scope_note_t *n, size_t count) {
    open_lane_t *lane = calloc(PT_LANE_MAX, sizeof *lane);
    bool ok = lane != NULL;
    for (size_t i = 0; i < count && ok; i++) {
        unsigned k = 0;
        for (; k < PT_LANE_MAX && ok; k++) {
            ok = lane_pop(plan, &lane[k], n[i].ts);
            if (lane[k].depth == 0 || lane[k].note[lane[k].depth - 1].end >= n[i].end) {
                break;
            }
        }
        unsigned late = ok && k < PT_LANE_MAX ? empty_late(&lane[k], &n[i]) : 0;
        ok = ok && (k == PT_LANE_MAX || lane_push(&lane[k], &n[i]));
        plan->moved += k > 0;
        if ((k > 0 || late > 0) && ok) {
            ok = add_scope(plan, &n[i], k, 0, late);
        }
    }
    for (unsigned k = 0; lane != NULL && k < PT_LANE_MAX; k++) {
        ok = ok && lane_pop(plan, &lane[k], INT64_MAX);
        free(lane[k].note);
    }
    free(lane);
    return ok;
}

/* A flow end without bp binds to the next scope that starts on its thread. */
static bool bind_flows(pt_scope_plan_t *plan, const pt_scope_note_t *scope, size_t scopes,
                       const pt_scope_note_t *flow, size_t flows) {
    for (size_t i = 0; i < flows; i++) {
        size_t lo = 0, hi = scopes;
        while (lo < hi) {
            size_t mid = lo + (hi - lo) / 2;
            if (scope[mid].ts < flow[i].ts) {
                lo = mid + 1;
            } else {
                hi = mid;
            }
        }
        if (lo < scopes && scope[lo].ts != flow[i].ts &&
            pt_scope_plan_add(plan, pt_scope_note_ordinal(&flow[i]), PT_PLAN_BIND, scope[lo].ts) ==
                NULL) {
            return false;
        }
    }
    return true;
}

bool pt_scope_plan_thread(pt_scope_plan_t *plan, pt_scope_list_t *list, int64_t lo, int64_t hi,
                          int64_t last) {
    pt_scope_note_t *n = list->note;
    size_t count = 0, scopes = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (n[i].ts >= lo && n[i].ts <= hi) {
            n[count++] = n[i];
        }
    }
    size_t flows = count > 0 ? part_notes(n, count, "f") : 0;
    pt_scope_note_t *flow = n, *rest = n + flows;
    size_t pairs = part_notes(rest, count - flows, "BE");
    bool ok = match_pairs(plan, rest, pairs, last, &scopes);
    size_t xs = count - flows - pairs;
    memmove(rest + scopes, rest + pairs, xs * sizeof *rest);
    scopes += xs;
    sort_notes(rest, scopes, by_start);
    ok = ok && assign_lanes(plan, rest, scopes) && bind_flows(plan, rest, scopes, flow, flows);
    pt_scope_list_free(list);
    return ok;
}

static int by_ordinal(const void *a, const void *b) {
    const pt_plan_entry_t *x = a, *y = b;
    return (x->ordinal > y->ordinal) - (x->ordinal < y->ordinal);
}

/* A scope can have an entry for its lane, one for its end and one for being a begin, a flow end
 * that was bound has two: side by side now, one is kept. */
static void join_entries(pt_scope_plan_t *plan) {
    size_t kept = 0;
    for (size_t i = 0; i < plan->count; i++) {
        pt_plan_entry_t *last = kept > 0 ? &plan->entry[kept - 1] : NULL;
        if (last == NULL || last->ordinal != plan->entry[i].ordinal) {
            plan->entry[kept++] = plan->entry[i];
        } else if (last->what == PT_PLAN_BIND || plan->entry[i].what == PT_PLAN_BIND) {
            int64_t ts = last->what == PT_PLAN_BIND ? last->ts : plan->entry[i].ts;
            *last = last->what == PT_PLAN_BIND ? plan->entry[i] : *last;
            last->ts = ts;
        } else {
            pt_plan_entry_t other = plan->entry[i];
            if (last->what == PT_PLAN_SCOPE) {
                pt_plan_entry_t swap = *last;
                *last = other;
                other = swap;
            }
            last->lane |= other.lane;
            last->early |= other.early;
            last->late |= other.late;
        }
    }
    plan->count = kept;
}

/* Numbers the chains in the order in which the file first has something of them. */
static bool number_chains(pt_scope_plan_t *plan) {
    uint32_t next = 0;
    uint32_t *number = malloc((plan->chains + 1) * sizeof *number);
    if (number == NULL) {
        return false;
    }
    memset(number, 0xFF, (plan->chains + 1) * sizeof *number);
    for (size_t i = 0; i < plan->count; i++) {
        pt_plan_entry_t *e = &plan->entry[i];
        if (e->what == PT_PLAN_FLOW) {
            number[e->slot] = number[e->slot] == UINT32_MAX ? next++ : number[e->slot];
            e->slot = number[e->slot];
        }
    }
    free(number);
    return true;
}

bool pt_scope_plan_finish(pt_scope_plan_t *plan) {
    size_t free_count = 0;
    uint32_t *slot_of = malloc((plan->pairs + 1) * sizeof *slot_of);
    uint32_t *free_slot = malloc((plan->pairs + 1) * sizeof *free_slot);
    bool ok = slot_of != NULL && free_slot != NULL;
    if (plan->count > 0) {
        qsort(plan->entry, plan->count, sizeof *plan->entry, by_ordinal);
        join_entries(plan);
    }
    for (size_t i = 0; i < plan->count && ok; i++) {
        pt_plan_entry_t *e = &plan->entry[i];
        if (e->what != PT_PLAN_BEGIN && e->what != PT_PLAN_END) {
            continue;
        }
        uint32_t pair = e->slot;
        if (e->first) {
            slot_of[pair] = free_count > 0 ? free_slot[--free_count] : plan->slots++;
        } else {
            free_slot[free_count++] = slot_of[pair];
        }
        e->slot = slot_of[pair];
    }
    free(slot_of);
    free(free_slot);
    return ok && number_chains(plan);
}

const pt_plan_entry_t *pt_scope_plan_find(pt_scope_plan_t *plan, uint64_t ordinal) {
    while (plan->next < plan->count && plan->entry[plan->next].ordinal < ordinal) {
        plan->next++;
    }
    return plan->next < plan->count && plan->entry[plan->next].ordinal == ordinal
               ? &plan->entry[plan->next]
               : NULL;
}

void pt_scope_plan_free(pt_scope_plan_t *plan) {
    if (plan != NULL) {
        free(plan->entry);
        *plan = (pt_scope_plan_t){.entry = NULL};
    }
}
