/* test_stacks_view.c: which part of a profile is looked at. SPDX-License-Identifier: MIT */
#include "stacks_lines.h"

#include <math.h>

static void a_filter_takes_parts_of_names(void **state) {
    static const struct {
        const char *filter;
        size_t matching;
        double weight;
    } expected[] = {{NULL, 3, 7},       {"", 3, 7},      {"main", 1, 1},
                    {"MAIN", 1, 1},     {"hread", 2, 6}, {"threadx", 0, 0},
                    {"Thread-2", 1, 4}, {"n", 1, 1},     {"2", 1, 4}};
    (void)state;
    for (size_t i = 0; i < PT_ARRAY_LEN(expected); i++) {
        seen_t s;
        see(&s, "Main;a 1\nThread-1;a 2\nThread-2;b 4\n", expected[i].filter);
        assert_int_equal(s.v.matching, expected[i].matching);
        assert_true(s.v.weight == expected[i].weight);
        assert_int_equal(s.v.left_out, 0);
        unsee(&s);
    }
}

static void an_empty_profile_has_nothing(void **state) {
    seen_t s;
    (void)state;
    see(&s, "", NULL);
    assert_int_equal(s.v.matching, 0);
    assert_int_equal(s.v.entries, 0);
    assert_int_equal(pt_stack_name(&s.v, "a"), PT_PROFILE_NONE);
    unsee(&s);
}

static void another_unit_is_left_out(void **state) {
    pt_profile_t p;
    pt_stack_view_t v;
    (void)state;
    pt_profile_init(&p);
    const pt_profile_unit_t unit[] = {PT_UNIT_SECONDS, PT_UNIT_BYTES, PT_UNIT_SECONDS};
    for (size_t i = 0; i < PT_ARRAY_LEN(unit); i++) {
        uint32_t t = pt_profile_thread_new(&p, "t", 1, unit[i]);
        pt_profile_add(&p, pt_profile_node(&p, p.thread[t].root, pt_profile_frame(&p, "f", 1)),
                       (double)(1 << i));
    }
    assert_true(pt_stack_view_make(&p, NULL, &v));
    assert_int_equal(v.unit, PT_UNIT_SECONDS);
    assert_int_equal(v.matching, 3);
    assert_int_equal(v.left_out, 1);
    assert_int_equal(v.samples, 2);
    assert_true(v.weight == 5);
    assert_true(v.wanted[1] && !v.taken[1]);
    assert_int_equal(v.entries, 2);
    pt_stack_view_free(&v);
    pt_profile_free(&p);
}

static void names_are_numbered_once(void **state) {
    pt_profile_t p;
    pt_stack_view_t v;
    (void)state;
    pt_profile_init(&p);
    uint32_t f = pt_profile_frame_at(&p, "f", 1, "x.py", 4, 1);
    uint32_t g = pt_profile_frame(&p, "g", 1);
    uint32_t f2 = pt_profile_frame_at(&p, "f", 1, "x.py", 4, 2);
    assert_true(pt_stack_view_make(&p, NULL, &v));
    assert_int_equal(v.names, 2);
    assert_int_equal(v.name[f], v.name[f2]);
    assert_int_not_equal(v.name[f], v.name[g]);
    assert_int_equal(v.frame_of[v.name[f2]], f);
    assert_int_equal(pt_stack_name(&v, "g"), v.name[g]);
    assert_int_equal(pt_stack_name(&v, "gg"), PT_PROFILE_NONE);
    assert_int_equal(pt_stack_name(&v, ""), PT_PROFILE_NONE);
    pt_stack_view_free(&v);
    pt_profile_free(&p);
}

/* By thread, then by the first sample; callers that end no sample are none. */
static void entries_are_in_the_order_of_samples(void **state) {
    static const char *const leaf[] = {"c", "b", "b", "d"};
    seen_t s;
    (void)state;
    see(&s, "t;a;c 1\nu;b 1\nt;a;b 1\nt;a;c 1\nu;d 1\n", NULL);
    assert_int_equal(s.v.entries, PT_ARRAY_LEN(leaf));
    for (size_t i = 0; i < PT_ARRAY_LEN(leaf); i++) {
        const pt_profile_node_t *n = &s.p.node[s.v.entry[i]];
        assert_string_equal(pt_frame_name(&s.p, n->frame), leaf[i]);
        assert_int_equal(n->thread, i / 2);
    }
    unsee(&s);
}

static void sums_in_another_order_rank_alike(void **state) {
    seen_t s;
    (void)state;
    see(&s, "t;a 0.1\nt;b 0.2\nt;c 0.3\n", NULL);
    double one = 0.1 + 0.2 + 0.3, other = 0.3 + 0.2 + 0.1;
    assert_true(one != other);
    assert_true(pt_stack_rank(&s.v, one) == pt_stack_rank(&s.v, other));
    assert_true(pt_stack_rank(&s.v, 0.1) < pt_stack_rank(&s.v, 0.1001));
    unsee(&s);
    see(&s, "t;a 9007199254740992\n", NULL); /* whole ones are what they are */
    assert_true(pt_stack_rank(&s.v, 1) < pt_stack_rank(&s.v, 2));
    unsee(&s);
}

static void shares_end_at_one(void **state) {
    (void)state;
    assert_true(pt_share(1, 4) == 0.25);
    assert_true(pt_share(0, 0) == 0);
    assert_true(pt_share(nextafter(3, 4), 3) == 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_filter_takes_parts_of_names),
        cmocka_unit_test(an_empty_profile_has_nothing),
        cmocka_unit_test(another_unit_is_left_out),
        cmocka_unit_test(names_are_numbered_once),
        cmocka_unit_test(entries_are_in_the_order_of_samples),
        cmocka_unit_test(sums_in_another_order_rank_alike),
        cmocka_unit_test(shares_end_at_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
