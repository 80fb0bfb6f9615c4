/* test_trace_flow.c: ids and flows of many files do not meet. SPDX-License-Identifier: MIT */
#include "flow_table.h"
#include "scope_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static uint32_t map(pt_id_space_t *s, const char *text, bool *kept) {
    return pt_id_space_map(s, (pt_str_t){text, strlen(text)}, 0, kept);
}

static void ids_keep_their_value_in_their_files_block(void **state) {
    pt_id_space_t a, b;
    bool kept;
    (void)state;
    pt_id_space_init(&a, 0, 2);
    pt_id_space_init(&b, 1, 2);
    assert_int_equal(map(&a, "17", &kept), 17);
    assert_true(kept);
    assert_int_equal(map(&a, "\"0x1f\"", &kept), 31);
    assert_int_equal(map(&b, "17", &kept), b.base + 17);
    assert_true(b.base >= a.base + 2 * a.half);
    uint32_t large = map(&a, "7168000000", &kept);
    assert_false(kept);
    assert_int_equal(map(&a, "7168000000", &kept), large);
    assert_int_not_equal(map(&a, "\"abc xyz\"", &kept), large);
    assert_true(large >= a.half && large < 2 * a.half);
    assert_true((uint64_t)b.base + 2 * (uint64_t)b.half <= INT32_MAX);
    pt_id_space_free(&a);
    pt_id_space_free(&b);
}

static void every_chain_has_a_number_of_its_own(void **state) {
    pt_id_space_t ids;
    pt_flow_table_t t = {.ids = &ids};
    bool started;
    (void)state;
    pt_id_space_init(&ids, 0, 1);
    uint32_t first = pt_flow_number(&t, 's', 5, 1000, &started);
    assert_int_equal(pt_flow_number(&t, 't', 5, 1500, &started), first);
    assert_int_equal(pt_flow_number(&t, 'f', 5, 2000, &started), first);
    assert_int_not_equal(pt_flow_number(&t, 's', 5, 10000, &started), first);
    assert_true(started);
    uint32_t early = pt_flow_number(&t, 'f', 6, 900, &started); /* before its start in the file */
    assert_false(started);
    assert_int_equal(pt_flow_number(&t, 's', 6, 800, &started), early);
    assert_true(started);
    pt_flow_table_finish(&t);
    assert_int_equal(t.open_starts, 1);
}

static void many_chains_are_forgotten_at_their_end(void **state) {
    pt_id_space_t ids;
    pt_flow_table_t t = {.ids = &ids};
    bool started;
    (void)state;
    pt_id_space_init(&ids, 0, 1);
    for (uint64_t i = 1; i <= 100000; i++) {
        uint32_t n = pt_flow_number(&t, 's', i, (int64_t)i, &started);
        if (i > 10) {
            pt_flow_number(&t, 'f', i - 10, (int64_t)i, &started);
            assert_true(started);
        }
        assert_true(n < INT32_MAX);
    }
    assert_true(t.cap <= 64);
    pt_flow_table_finish(&t);
    assert_int_equal(t.open_starts, 10);
}

static void a_plan_leaves_out_what_has_no_arrow(void **state) {
    pt_scope_plan_t plan = {.count = 0};
    pt_scope_list_t list = {NULL, 0, 0};
    /* phase, ts, key: two uses of key 5, a lone end and a second end of key 6, any order in the
     * file */
    static const struct {
        char ph;
        int64_t ts, key;
    } notes[] = {{'f', 20, 5}, {'s', 10, 5}, {'s', 100, 5}, {'f', 110, 5},
                 {'f', 5, 6},  {'s', 6, 6},  {'f', 7, 6},   {'f', 8, 6}};
    static const pt_plan_what_t expected[] = {PT_PLAN_FLOW, PT_PLAN_FLOW, PT_PLAN_FLOW,
                                              PT_PLAN_FLOW, PT_PLAN_LONE, PT_PLAN_FLOW,
                                              PT_PLAN_FLOW, PT_PLAN_LONE};
    uint32_t slot[8];
    (void)state;
    for (size_t i = 0; i < 8; i++) {
        assert_true(pt_scope_list_add(&list, notes[i].ph, notes[i].ts, notes[i].key, i + 1));
    }
    assert_true(pt_scope_plan_flows(&plan, &list, 0, 1000) && pt_scope_plan_finish(&plan));
    for (size_t i = 0; i < 8; i++) {
        const pt_plan_entry_t *e = pt_scope_plan_find(&plan, i + 1);
        assert_non_null(e);
        assert_int_equal(e->what, expected[i]);
        slot[i] = e->slot;
    }
    assert_int_equal(slot[0], slot[1]);
    assert_int_equal(slot[2], slot[3]);
    assert_int_equal(slot[5], slot[6]);
    assert_int_not_equal(slot[0], slot[2]);
    assert_int_equal(plan.chains, 3);
    assert_int_equal(plan.lone_flows, 2);
    pt_scope_plan_free(&plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_keep_their_value_in_their_files_block),
        cmocka_unit_test(every_chain_has_a_number_of_its_own),
        cmocka_unit_test(many_chains_are_forgotten_at_their_end),
        cmocka_unit_test(a_plan_leaves_out_what_has_no_arrow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
