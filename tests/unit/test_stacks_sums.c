/* test_stacks_sums.c: self and inclusive weights, and their categories. SPDX-License-Identifier:
 * MIT */
#include "stacks_lines.h"

#include "stack_category.h"

typedef struct sum {
    const char *name;
    uint64_t samples;
    double weight;
} sum_t;

static void assert_names(const seen_t *s, const pt_tally_t *t, const sum_t *expected, size_t rows) {
    assert_int_equal(t->rows, rows);
    for (size_t i = 0; i < rows; i++) {
        assert_string_equal(pt_stack_name_text(&s->v, t->row[i].what), expected[i].name);
        assert_int_equal(t->row[i].samples, expected[i].samples);
        assert_true(t->row[i].weight == expected[i].weight);
    }
}

/* What recurs counts once a sample; t is a frame, too. */
static void inclusive_counts_a_sample_once(void **state) {
    static const sum_t expected[] = {{"t", 3, 11}, {"a", 2, 10}, {"b", 2, 9}, {"c", 1, 1}};
    seen_t s;
    pt_tally_t t;
    (void)state;
    see(&s, "t;a;b;a;b 8\nt;a 2\nt;b;c 1\n", NULL);
    assert_true(pt_tally_inclusive(&s.v, &t));
    assert_names(&s, &t, expected, PT_ARRAY_LEN(expected));
    assert_null(pt_tally_find(&t, (uint32_t)s.v.names));
    pt_tally_free(&t);
    unsee(&s);
}

static void self_is_of_the_last_frame(void **state) {
    static const sum_t expected[] = {{"b", 2, 9}, {"a", 1, 2}, {"c", 1, 2}};
    seen_t s;
    pt_tally_t t;
    (void)state;
    see(&s, "t;a;b;a;b 8\nt;a 2\nt;b;c 2\nu;b 1\n", NULL);
    assert_true(pt_tally_self_names(&s.v, &t));
    assert_names(&s, &t, expected, PT_ARRAY_LEN(expected)); /* equal ones as they occur */
    pt_tally_free(&t);
    unsee(&s);
}

static void places_are_apart_but_names_are_not(void **state) {
    pt_profile_t p;
    pt_stack_view_t v;
    pt_tally_t t;
    (void)state;
    pt_profile_init(&p);
    uint32_t thread = pt_profile_thread(&p, "t", 1, PT_UNIT_NONE), root = p.thread[thread].root;
    pt_profile_add(&p, pt_profile_node(&p, root, pt_profile_frame_at(&p, "f", 1, "x", 1, 1)), 1);
    pt_profile_add(&p, pt_profile_node(&p, root, pt_profile_frame_at(&p, "f", 1, "x", 1, 2)), 2);
    pt_profile_add(&p, root, 4); /* a sample without frames is in the total alone */
    assert_true(pt_stack_view_make(&p, NULL, &v));
    assert_true(v.weight == 7);
    assert_true(pt_tally_self(&v, &t));
    assert_int_equal(t.rows, 2);
    assert_int_equal(p.frame[t.row[0].what].line, 2);
    pt_tally_free(&t);
    assert_true(pt_tally_self_names(&v, &t));
    assert_int_equal(t.rows, 1);
    assert_true(t.row[0].weight == 3 && t.row[0].samples == 2);
    pt_tally_free(&t);
    pt_stack_view_free(&v);
    pt_profile_free(&p);
}

static void assert_categories(const char *json, const char *lines, const sum_t *expected,
                              size_t rows) {
    seen_t s;
    pt_tally_t self;
    pt_categories_t c;
    pt_category_table_t table;
    perftrace__json_error_t error;
    const char *problem;
    see(&s, lines, NULL);
    assert_true(pt_tally_self(&s.v, &self));
    assert_true(json != NULL ? pt_categories_parse(json, strlen(json), &c, &error, &problem)
                             : pt_categories_builtin(&c));
    assert_true(pt_category_sum(&c, &s.v, &self, &table));
    assert_int_equal(table.rows, rows);
    for (size_t i = 0; i < rows; i++) {
        assert_string_equal(table.row[i].title, expected[i].name);
        assert_int_equal(table.row[i].names, expected[i].samples);
        assert_true(table.row[i].weight == expected[i].weight);
    }
    pt_category_table_free(&table);
    pt_categories_free(&c);
    pt_tally_free(&self);
    unsee(&s);
}

/* Here samples is the number of functions. */
static void categories_sum_up_self(void **state) {
    static const sum_t own[] = {{"Io", 2, 7}, {"Other", 0, 4}, {"Cpu", 1, 4}};
    static const sum_t later[] = {{"B", 1, 1}};
    static const sum_t builtin[] = {{"HTTP/detect", 1, 5}, {"HeapDict", 1, 2}, {"Other", 0, 1}};
    static const sum_t many[] = {{"A", 8, 8}};
    (void)state;
    assert_categories("{\"Cpu\": [\"add\"], \"Io\": [\"read\", \"write\", \"open\"], \"None\": []}",
                      "t;read 3\nt;x;write 2\nt;add 4\nt;y 4\nu;read 2\n",
                      (const sum_t[]){own[0], own[2], own[1]}, 3);
    assert_categories("{\"A\": [\"f\"], \"B\": [\"f\"]}", "t;f 1\n", later, 1);
    assert_categories("{\"A\": [\"a\\u0062\"]}", "t;ab 1\n", (const sum_t[]){{"A", 1, 1}}, 1);
    assert_categories(NULL, "t;readinto 5\nt;_swap 2\nt;mine 1\n", builtin, 3);
    assert_categories("{\"A\": [\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\",\"h\"]}",
                      "t;a 1\nt;b 1\nt;c 1\nt;d 1\nt;e 1\nt;f 1\nt;g 1\nt;h 1\n", many, 1);
    assert_categories("{}", "t;a 0\n", NULL, 0); /* Other weighs nothing */
}

static void what_is_no_table_of_categories_is_told(void **state) {
    static const char *const shapes[] = {"[]", "1", "{\"a\": \"f\"}", "{\"a\": [1]}",
                                         "{\"a\": {}}"};
    pt_categories_t c;
    perftrace__json_error_t error;
    const char *problem = NULL;
    (void)state;
    for (size_t i = 0; i < PT_ARRAY_LEN(shapes); i++) {
        error = (perftrace__json_error_t){0, 0};
        assert_false(pt_categories_parse(shapes[i], strlen(shapes[i]), &c, &error, &problem));
        assert_int_equal(error.code, PERFTRACE__JSON_E_OK);
        assert_non_null(strstr(problem, "CATEGORY"));
        pt_categories_free(&c);
    }
    assert_false(pt_categories_parse("{\"a\": [}", 8, &c, &error, &problem));
    assert_int_not_equal(error.code, PERFTRACE__JSON_E_OK);
    assert_int_equal(error.offset, 7);
    pt_categories_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inclusive_counts_a_sample_once),
        cmocka_unit_test(self_is_of_the_last_frame),
        cmocka_unit_test(places_are_apart_but_names_are_not),
        cmocka_unit_test(categories_sum_up_self),
        cmocka_unit_test(what_is_no_table_of_categories_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
