/* test_trace_lanes.c: scopes of one lane never cross. SPDX-License-Identifier: MIT */
#include "lane_set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct scope {
    int64_t start, end;
    unsigned lane;
} scope_t;

static uint64_t random_state = 42;
static uint64_t random_below(uint64_t n) {
    random_state = random_state * 6364136223846793005U + 1442695040888963407U;
    return (random_state >> 33) % n;
}

static int by_end(const void *a, const void *b) {
    const scope_t *x = a, *y = b;
    if (x->end != y->end) {
        return (x->end > y->end) - (x->end < y->end);
    }
    return (x->start < y->start) - (x->start > y->start); /* inner ones end first */
}

static bool cross(const scope_t *x, const scope_t *y) {
    bool apart = x->end <= y->start || y->end <= x->start;
    bool nested =
        (x->start <= y->start && y->end <= x->end) || (y->start <= x->start && x->end <= y->end);
    return !apart && !nested;
}

static unsigned place(pt_lane_set_t *set, int64_t start, int64_t end) {
    pt_touch_t touch; /* test_trace_touch.c looks at these */
    return pt_lane_set_place(set, start, end, &touch);
}

static void check(const scope_t *s, size_t n) {
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++) {
            assert_false(s[i].lane == s[k].lane && cross(&s[i], &s[k]));
        }
    }
}

/* A tree of scopes, children inside their parents. */
static size_t grow_tree(scope_t *out, size_t n, size_t cap, int64_t start, int64_t end, int depth) {
    if (n == cap || end - start < 4) {
        return n;
    }
    out[n++] = (scope_t){start, end, 0};
    for (int64_t at = start + (int64_t)random_below(3); depth > 0 && at < end - 2;) {
        int64_t stop = at + 1 + (int64_t)random_below((uint64_t)(end - at));
        n = grow_tree(out, n, cap, at, stop < end ? stop : end, depth - 1);
        at = stop + (int64_t)random_below(5);
    }
    return n;
}

static void nested_scopes_stay_in_the_first_lane(void **state) {
    (void)state;
    for (int round = 0; round < 200; round++) {
        scope_t s[300];
        pt_lane_set_t set = {.limit = 0};
        size_t n = grow_tree(s, 0, 300, 0, 4000, 6);
        qsort(s, n, sizeof s[0], by_end);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(place(&set, s[i].start, s[i].end), 0);
        }
        assert_int_equal(set.moved, 0);
        pt_lane_set_free(&set);
    }
}

static void any_scopes_in_any_order_never_cross_in_a_lane(void **state) {
    (void)state;
    for (int round = 0; round < 300; round++) {
        scope_t s[120];
        pt_lane_set_t set = {.limit = round % 3 == 0 ? 8 : 0};
        size_t n = 1 + random_below(120);
        for (size_t i = 0; i < n; i++) {
            s[i].start = (int64_t)random_below(200);
            s[i].end = s[i].start + 1 + (int64_t)random_below(60);
        }
        if (round % 2 == 0) {
            qsort(s, n, sizeof s[0], by_end);
        }
        for (size_t i = 0; i < n; i++) {
            s[i].lane = place(&set, s[i].start, s[i].end);
        }
        check(s, n);
        pt_lane_set_free(&set);
    }
}

static void one_crossing_scope_moves_to_one_further_lane(void **state) {
    pt_lane_set_t set = {.limit = 0};
    (void)state;
    assert_int_equal(place(&set, 0, 100), 0);
    assert_int_equal(place(&set, 60, 160), 1);
    assert_int_equal(place(&set, 160, 200), 0); /* touching is not crossing */
    assert_int_equal(set.moved, 1);
    assert_int_equal(set.unsure, 0);
    pt_lane_set_free(&set);
}

/* A loop of more steps than a lane keeps, inside a scope that starts after another one ended. */
static void a_long_loop_is_still_enclosed_by_its_scope(void **state) {
    pt_lane_set_t set = {.limit = 1024};
    int64_t t = 5000;
    (void)state;
    assert_int_equal(place(&set, 0, 4000), 0);
    for (int i = 0; i < 100000; i++, t += 110) {
        assert_int_equal(place(&set, t, t + 100), 0);
    }
    assert_true(set.lane[0].count <= 1024);
    assert_int_equal(place(&set, 4500, t + 50), 0);
    assert_int_equal(set.lane[0].count, 2);
    pt_lane_set_free(&set);
}

static void what_crosses_in_every_lane_gets_none(void **state) {
    pt_lane_set_t set = {.limit = 0};
    (void)state;
    for (unsigned i = 0; i < PT_LANE_MAX + 2; i++) {
        unsigned want = i < PT_LANE_MAX ? i : PT_LANE_MAX;
        assert_int_equal(place(&set, i, 5000 + i), want);
    }
    assert_int_equal(place(&set, 9000, 9001), 0);
    pt_lane_set_free(&set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested_scopes_stay_in_the_first_lane),
        cmocka_unit_test(any_scopes_in_any_order_never_cross_in_a_lane),
        cmocka_unit_test(one_crossing_scope_moves_to_one_further_lane),
        cmocka_unit_test(what_crosses_in_every_lane_gets_none),
        cmocka_unit_test(a_long_loop_is_still_enclosed_by_its_scope),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
