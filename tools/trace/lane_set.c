/* lane_set.c: keeps scopes of one thread from crossing. SPDX-License-Identifier: MIT */
#include "lane_set.h"

#include <stdlib.h>
#include <string.h>

typedef enum fit { FIT_YES, FIT_CROSSES, FIT_UNSURE } fit_t;

static int compare_gap(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The gap below which half of the lane's gaps lie, from a sample of evenly spaced ones. */
static int64_t median_gap(const pt_lane_t *lane) {
    int64_t sample[255];
    size_t n = 0, step = lane->count / PT_ARRAY_LEN(sample) + 1;
    for (size_t i = step; i < lane->count && n < PT_ARRAY_LEN(sample); i += step) {
        sample[n++] = lane->scope[i].start - lane->scope[i - 1].end;
    }
    qsort(sample, n, sizeof sample[0], compare_gap);
    return n > 0 ? sample[n / 2] : 0;
}

/* Merges neighbours over small gaps. What encloses a group of scopes starts before the group, as a
 * rule in a wider gap than those inside it, so the wide gaps are worth keeping. */
static void lane_merge(pt_lane_t *lane) {
    int64_t small = median_gap(lane);
    size_t kept = 0;
    for (size_t i = 1; i < lane->count; i++) {
        pt_lane_scope_t *last = &lane->scope[kept];
        if (lane->scope[i].start - last->end <= small) {
            last->end = lane->scope[i].end;
            last->late = lane->scope[i].late;
            last->merged = true;
        } else {
            lane->scope[++kept] = lane->scope[i];
        }
    }
    lane->count = kept + 1;
}

static bool lane_room(pt_lane_t *lane, size_t limit) {
    if (lane->count < lane->cap) {
        return true;
    }
    if (lane->cap >= limit) {
        lane_merge(lane);
        return true;
    }
    size_t cap = lane->cap == 0 ? 16 : lane->cap * 2;
    cap = cap > limit ? limit : cap;
    pt_lane_scope_t *scope = realloc(lane->scope, cap * sizeof *scope);
    if (scope == NULL) {
        return false;
    }
    lane->scope = scope;
    lane->cap = cap;
    return true;
}

/* The first scope of the lane that starts at or after t. */
static size_t lane_find(const pt_lane_t *lane, int64_t t) {
    size_t lo = 0, hi = lane->count;
    if (hi == 0 || lane->scope[hi - 1].start < t) {
        return hi;
    }
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (lane->scope[mid].start < t) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

/* Tries to put [start, end) into the lane, replacing the scopes it encloses. */
static fit_t lane_try(pt_lane_t *lane, int64_t start, int64_t end, size_t limit,
                      pt_touch_t *ret_touch) {
    size_t first = lane_find(lane, start), past = lane->count;
    *ret_touch = (pt_touch_t){0, 0};
    if (first > 0 && lane->scope[first - 1].end >= start) {
        const pt_lane_scope_t *before = &lane->scope[first - 1];
        if (before->end > start) {
            /* Inside a finished scope: what else that one encloses is forgotten. */
            bool inside = before->end >= end;
            return before->merged || inside ? FIT_UNSURE : FIT_CROSSES;
        }
        ret_touch->start_late = before->late + 1;
    }
    if (past > first && lane->scope[past - 1].end > end) {
        past = first;
        while (past < lane->count && lane->scope[past].end <= end) {
            past++;
        }
        if (lane->scope[past].start < end) {
            return lane->scope[past].start == start ? FIT_UNSURE : FIT_CROSSES;
        }
    }
    if (past > first && lane->scope[past - 1].end == end) {
        ret_touch->end_late = (int32_t)lane->scope[past - 1].late + 1;
    }
    if (past == first) {
        size_t count = lane->count;
        if (!lane_room(lane, limit)) {
            return FIT_YES;
        }
        if (lane->count != count) {
            return lane_try(lane, start, end, limit, ret_touch);
        }
    }
    if (past != first + 1) {
        memmove(&lane->scope[first + 1], &lane->scope[past],
                (lane->count - past) * sizeof *lane->scope);
        lane->count = lane->count + first + 1 - past;
    }
    lane->scope[first] = (pt_lane_scope_t){start, end, (uint32_t)ret_touch->end_late, false};
    return FIT_YES;
}

unsigned pt_lane_set_place_among(pt_lane_set_t *set, int64_t start, int64_t end,
                                 pt_touch_t *ret_touch) {
    size_t limit = set->limit != 0 ? set->limit : PT_LANE_LIMIT;
    bool unsure = false;
    unsigned n = 0;
    for (; n < set->count; n++) {
        fit_t fit = lane_try(&set->lane[n], start, end, limit, ret_touch);
        if (fit == FIT_YES) {
            break;
        }
        unsure |= fit == FIT_UNSURE;
    }
    if (n == set->count) {
        pt_lane_t *lane = n < PT_LANE_MAX ? realloc(set->lane, (n + 1) * sizeof *lane) : NULL;
        if (lane == NULL) {
            set->moved++;
            *ret_touch = (pt_touch_t){0, 0};
            return PT_LANE_MAX;
        }
        set->lane = lane;
        lane[n] = (pt_lane_t){NULL, 0, 0};
        set->count = n + 1;
        lane_try(&lane[n], start, end, limit, ret_touch);
    }
    if (n > 0) {
        set->moved++;
        set->unsure += unsure;
    }
    return n;
}

void pt_lane_set_free(pt_lane_set_t *set) {
    if (set == NULL) {
        return;
    }
    for (unsigned n = 0; n < set->count; n++) {
        free(set->lane[n].scope);
    }
    free(set->lane);
    *set = (pt_lane_set_t){.limit = set->limit};
}
