/* lane_set.h: keeps scopes of one thread from crossing. SPDX-License-Identifier: MIT
 *
 * Viewers want the scopes of a thread to nest. Scopes that cross go to further lanes, each of which
 * nests. Meant for streams in which scopes come when they end (children before parents): a lane is
 * then the list of finished scopes that no later scope has enclosed yet. The list is bounded: when
 * it is full, neighbours with the smallest gaps between them are merged. A scope that starts in a
 * gap that was given up may nest or cross, nobody knows; it goes to the next lane and is counted as
 * unsure, so that the output nests in any case. Pure; one thread at a time. */
#ifndef PERFTRACE_TRACE_LANE_SET_H
#define PERFTRACE_TRACE_LANE_SET_H
#include "scope_text.h"

typedef struct pt_lane_scope {
    int64_t start, end;
    uint32_t late; /* steps that the end is written late */
    bool merged;   /* a stretch of several */
} pt_lane_scope_t;

typedef struct pt_lane {
    pt_lane_scope_t *scope; /* by start; disjoint */
    size_t count, cap;
} pt_lane_t;

typedef struct pt_lane_set {
    pt_lane_t *lane;
    unsigned count;
    size_t limit;    /* scopes kept in a lane; 0 means PT_LANE_LIMIT */
    uint64_t moved;  /* scopes that were given another lane than the first */
    uint64_t unsure; /* of these, how many may have nested */
} pt_lane_set_t;

#define PT_LANE_LIMIT 65536U
#define PT_LANE_MAX   1024U /* lanes of one thread; also what a scope gets that fits in none */

/* The lane, counted from 0, in which the scope [start, end) nests; end > start. PT_LANE_MAX when it
 * nests in none, or for lack of memory. *ret_touch: how to write its times beside those that came
 * before it: what was written cannot be changed any more, so a scope that begins where another one
 * of its lane ended begins late, and one that ends with a scope in it ends late. */
PT_ALWAYS_INLINE unsigned pt_lane_set_place(pt_lane_set_t *set, int64_t start, int64_t end,
                                            pt_touch_t *ret_touch);

/* The same for a scope that does not just follow all others. */
unsigned pt_lane_set_place_among(pt_lane_set_t *set, int64_t start, int64_t end,
                                 pt_touch_t *ret_touch);

/* Frees; the set is empty and usable again. Accepts NULL. */
void pt_lane_set_free(pt_lane_set_t *set);

PT_ALWAYS_INLINE unsigned pt_lane_set_place(pt_lane_set_t *set, int64_t start, int64_t end,
                                            pt_touch_t *ret_touch) {
    pt_lane_t *lane = set->lane;
    if (PT_LIKELY(set->count > 0 && lane->count > 0 && lane->count < lane->cap)) {
        pt_lane_scope_t *last = &lane->scope[lane->count - 1];
        if (last->end <= start) {
            *ret_touch = (pt_touch_t){last->end == start ? last->late + 1 : 0, 0};
            last[1] = (pt_lane_scope_t){start, end, 0, false};
            lane->count++;
            return 0;
        }
    }
    return pt_lane_set_place_among(set, start, end, ret_touch);
}

#endif
