/* test_trace_plan.c: begins find their ends, and crossing scopes their lanes.
 * SPDX-License-Identifier: MIT */
#include "lane_set.h"
#include "scope_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void plan_of(pt_scope_plan_t *plan, pt_scope_list_t *list, int64_t last) {
    assert_true(pt_scope_plan_thread(plan, list, 0, 1000000, last));
    assert_true(pt_scope_plan_finish(plan));
}

static void begins_and_ends_pair_by_time_whatever_their_order_in_the_file(void **state) {
    pt_scope_plan_t plan = {.count = 0};
    pt_scope_list_t list = {NULL, 0, 0};
    (void)state;
    pt_scope_list_add(&list, 'E', 30, 0, 1); /* of the outer one */
    pt_scope_list_add(&list, 'B', 10, 0, 2); /* inner */
    pt_scope_list_add(&list, 'B', 5, 0, 3);  /* outer */
    pt_scope_list_add(&list, 'E', 20, 0, 4); /* of the inner one */
    pt_scope_list_add(&list, 'E', 40, 0, 5); /* stray */
    pt_scope_list_add(&list, 'B', 50, 0, 6); /* never ends */
    plan_of(&plan, &list, 60);
    const pt_plan_entry_t *e = plan.entry;
    assert_int_equal(plan.count, 6);
    assert_int_equal(e[0].what, PT_PLAN_END);
    assert_true(e[0].first);
    assert_int_equal(e[0].ts, 5);
    assert_int_equal(e[1].what, PT_PLAN_BEGIN);
    assert_int_equal(e[1].ts, 20);
    assert_true(e[1].first);
    assert_int_equal(e[2].what, PT_PLAN_BEGIN);
    assert_int_equal(e[2].ts, 30);
    assert_false(e[2].first);
    assert_int_equal(e[2].slot, e[0].slot);
    assert_int_equal(e[3].slot, e[1].slot);
    assert_int_equal(e[4].what, PT_PLAN_STRAY);
    assert_int_equal(e[5].what, PT_PLAN_OPEN);
    assert_int_equal(e[5].ts, 60);
    assert_int_equal(plan.slots, 2);
    pt_scope_plan_free(&plan);
}

static void only_events_that_need_it_have_an_entry(void **state) {
    pt_scope_plan_t plan = {.count = 0};
    pt_scope_list_t list = {NULL, 0, 0};
    (void)state;
    pt_scope_list_add(&list, 'X', 60, 160, 1); /* crosses the next */
    pt_scope_list_add(&list, 'X', 0, 100, 2);
    pt_scope_list_add(&list, 'X', 10, 20, 3);
    pt_scope_list_add(&list, 'X', 160, 160, 4); /* without a length it crosses nothing */
    pt_scope_list_add(&list, 'f', 8, 0, 5);     /* binds to the scope that starts at 10 */
    plan_of(&plan, &list, 160);
    assert_null(pt_scope_plan_find(&plan, 0));
    const pt_plan_entry_t *e = pt_scope_plan_find(&plan, 1);
    assert_non_null(e);
    assert_int_equal(e->what, PT_PLAN_SCOPE);
    assert_int_equal(e->lane, 1);
    assert_null(pt_scope_plan_find(&plan, 2));
    assert_null(pt_scope_plan_find(&plan, 4));
    e = pt_scope_plan_find(&plan, 5);
    assert_int_equal(e->what, PT_PLAN_BIND);
    assert_int_equal(e->ts, 10);
    assert_int_equal(plan.moved, 1);
    pt_scope_plan_free(&plan);
}

static void a_begin_that_crosses_keeps_its_pair_and_gets_its_lane(void **state) {
    pt_scope_plan_t plan = {.count = 0};
    pt_scope_list_t list = {NULL, 0, 0};
    (void)state;
    pt_scope_list_add(&list, 'X', 0, 100, 1);
    pt_scope_list_add(&list, 'B', 60, 0, 2);
    pt_scope_list_add(&list, 'E', 160, 0, 3);
    plan_of(&plan, &list, 160);
    assert_int_equal(plan.count, 2);
    assert_int_equal(plan.entry[0].what, PT_PLAN_BEGIN);
    assert_int_equal(plan.entry[0].lane, 1);
    assert_int_equal(plan.entry[0].ts, 160);
    pt_scope_plan_free(&plan);
}

static void what_crosses_in_every_lane_gets_none(void **state) {
    pt_scope_plan_t plan = {.count = 0};
    pt_scope_list_t list = {NULL, 0, 0};
    (void)state;
    for (unsigned i = 0; i < PT_LANE_MAX + 2; i++) {
        pt_scope_list_add(&list, 'X', i, 5000 + i, i);
    }
    plan_of(&plan, &list, 9000);
    assert_int_equal(pt_scope_plan_find(&plan, PT_LANE_MAX - 1)->lane, PT_LANE_MAX - 1);
    assert_int_equal(pt_scope_plan_find(&plan, PT_LANE_MAX)->lane, PT_LANE_MAX);
    assert_int_equal(pt_scope_plan_find(&plan, PT_LANE_MAX + 1)->lane, PT_LANE_MAX);
    pt_scope_plan_free(&plan);
}

/* Random scopes: within each lane they nest. */
static void lanes_never_hold_scopes_that_cross(void **state) {
    uint64_t seed = 7;
    (void)state;
    for (int round = 0; round < 200; round++) {
        pt_scope_plan_t plan = {.count = 0};
        pt_scope_list_t list = {NULL, 0, 0};
        int64_t start[80], end[80];
        unsigned lane[80];
        for (uint64_t i = 0; i < 80; i++) {
            seed = seed * 6364136223846793005U + 1442695040888963407U;
            start[i] = (int64_t)((seed >> 33) % 300);
            end[i] = start[i] + (int64_t)((seed >> 50) % 70);
            pt_scope_list_add(&list, 'X', start[i], end[i], i + 1);
        }
        plan_of(&plan, &list, 1000);
        for (uint64_t i = 0; i < 80; i++) {
            const pt_plan_entry_t *e = pt_scope_plan_find(&plan, i + 1);
            lane[i] = e != NULL ? e->lane : 0;
            for (uint64_t k = 0; k < i; k++) {
                bool apart = end[i] <= start[k] || end[k] <= start[i];
                bool nested = (start[i] <= start[k] && end[k] <= end[i]) ||
                              (start[k] <= start[i] && end[i] <= end[k]);
                assert_true(lane[i] != lane[k] || apart || nested);
            }
        }
        pt_scope_plan_free(&plan);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(begins_and_ends_pair_by_time_whatever_their_order_in_the_file),
        cmocka_unit_test(only_events_that_need_it_have_an_entry),
        cmocka_unit_test(a_begin_that_crosses_keeps_its_pair_and_gets_its_lane),
        cmocka_unit_test(what_crosses_in_every_lane_gets_none),
        cmocka_unit_test(lanes_never_hold_scopes_that_cross),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
