/* test_stacks_chain.c: parts of stacks. SPDX-License-Identifier: MIT */
#include "stacks_lines.h"

#include "stack_chain.h"
#include "stack_diff.h"

typedef struct expected {
    const char *chain;
    const char *thread; /* NULL: any */
    uint64_t samples;
    double weight;
} expected_t;

typedef bool (*chains_fn)(const pt_stack_view_t *, uint32_t, uint64_t, pt_chains_t *);

static void assert_chains(const seen_t *s, const pt_chains_t *c, const expected_t *e,
                          size_t count) {
    assert_int_equal(c->count, count);
    for (size_t i = 0; i < count; i++) {
        perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
        for (uint32_t k = 0; k < c->chain[i].len; k++) {
            perftrace__strbuf_puts(&text, k > 0 ? ";" : "");
            perftrace__strbuf_puts(&text, pt_stack_name_text(&s->v, c->name[c->chain[i].at + k]));
        }
        assert_string_equal(perftrace__strbuf_cstr(&text), e[i].chain);
        perftrace__strbuf_free(&text);
        assert_int_equal(c->chain[i].samples, e[i].samples);
        assert_true(c->chain[i].weight == e[i].weight);
        if (e[i].thread != NULL) {
            assert_string_equal(pt_thread_name(&s->p, c->chain[i].thread), e[i].thread);
        } else {
            assert_int_equal(c->chain[i].thread, PT_PROFILE_NONE);
        }
    }
}

static void assert_part(chains_fn make, const char *lines, const char *name, uint64_t depth,
                        const expected_t *e, size_t count) {
    seen_t s;
    pt_chains_t c;
    double weight = 0;
    see(&s, lines, NULL);
    assert_true(make(&s.v, pt_stack_name(&s.v, name), depth, &c));
    assert_chains(&s, &c, e, count);
    for (size_t i = 0; i < count; i++) {
        weight += e[i].weight;
    }
    assert_true(c.weight == weight);
    pt_chains_free(&c);
    unsee(&s);
}

#define LINES "t;a;b;c;b;d 4\nt;a;b 2\nu;a;b;c;b 1\nu;x 8\n"

static void callers_end_at_the_deepest(void **state) {
    static const expected_t all[] = {
        {"t;a;b;c;b", "t", 1, 4}, {"t;a;b", "t", 1, 2}, {"u;a;b;c;b", "u", 1, 1}};
    static const expected_t two[] = {{"c;b", "t", 1, 4}, {"a;b", "t", 1, 2}, {"c;b", "u", 1, 1}};
    (void)state;
    assert_part(pt_chains_callers, LINES, "b", 0, all, PT_ARRAY_LEN(all));
    assert_part(pt_chains_callers, LINES, "b", 2, two, PT_ARRAY_LEN(two));
    assert_part(pt_chains_callers, LINES, "b", UINT64_MAX, all, PT_ARRAY_LEN(all));
}

static void the_call_graph_is_cut_at_the_shallowest(void **state) {
    static const expected_t above[] = {{"a;b", NULL, 3, 7}}; /* whatever the thread */
    static const expected_t below[] = {
        {"b;c;b;d", NULL, 1, 4}, {"b", NULL, 1, 2}, {"b;c;b", NULL, 1, 1}};
    static const expected_t two[] = {{"b;c", NULL, 2, 5}, {"b", NULL, 1, 2}};
    static const expected_t root[] = {{"t", NULL, 2, 6}};
    (void)state;
    assert_part(pt_chains_above, LINES, "b", 2, above, PT_ARRAY_LEN(above));
    assert_part(pt_chains_below, LINES, "b", 0, below, PT_ARRAY_LEN(below));
    assert_part(pt_chains_below, LINES, "b", 2, two, PT_ARRAY_LEN(two));
    assert_part(pt_chains_above, LINES, "t", 1, root, PT_ARRAY_LEN(root));
}

static void whole_stacks_are_put_together(void **state) {
    static const expected_t expected[] = {
        {"t;a", NULL, 2, 6}, {"t;b", NULL, 1, 6}, {"t", NULL, 1, 1}};
    seen_t s;
    pt_chains_t c;
    (void)state;
    see(&s, "t 1\nt;a 4\nt;b 6\nt;a 2\n", NULL);
    assert_true(pt_chains_full(&s.v, &c));
    assert_chains(&s, &c, expected, PT_ARRAY_LEN(expected));
    assert_int_equal(c.samples, 4);
    pt_chains_free(&c);
    unsee(&s);
}

/* ---- differences ---- */

static void assert_diff(const char *before, const char *after, double scale,
                        const pt_diff_row_t *expected, size_t rows) {
    seen_t a, b;
    pt_diff_t diff;
    see(&a, before, NULL);
    see(&b, after, NULL);
    assert_true(pt_diff_make(&a.v, &b.v, scale, &diff));
    assert_int_equal(diff.rows, rows);
    for (size_t i = 0; i < rows; i++) {
        assert_string_equal(diff.row[i].name, expected[i].name);
        for (unsigned side = 0; side < 2; side++) {
            assert_true(diff.row[i].self[side] == expected[i].self[side]);
            assert_true(diff.row[i].inclusive[side] == expected[i].inclusive[side]);
        }
    }
    pt_diff_free(&diff);
    unsee(&a);
    unsee(&b);
}

static void functions_are_compared_by_name(void **state) {
    static const pt_diff_row_t plain[] = {{"gone", {5, 0}, {5, 0}},
                                          {"new", {0, 4}, {0, 4}},
                                          {"f", {1, 2}, {1, 2}},
                                          {"t", {0, 0}, {6, 6}}};
    static const pt_diff_row_t scaled[] = {{"gone", {10, 0}, {10, 0}},
                                           {"new", {0, 4}, {0, 4}},
                                           {"t", {0, 0}, {12, 6}},
                                           {"f", {2, 2}, {2, 2}}};
    (void)state;
    assert_diff("t;gone 5\nt;f 1\n", "t;new 4\nt;f 2\n", 1, plain, PT_ARRAY_LEN(plain));
    assert_diff("t;gone 5\nt;f 1\n", "t;new 4\nt;f 2\n", 2, scaled, PT_ARRAY_LEN(scaled));
    assert_diff("", "", 1, NULL, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callers_end_at_the_deepest),
        cmocka_unit_test(the_call_graph_is_cut_at_the_shallowest),
        cmocka_unit_test(whole_stacks_are_put_together),
        cmocka_unit_test(functions_are_compared_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
