/* test_stacks_text.c: tables, weights and the data of the page, as text. SPDX-License-Identifier:
 * MIT */
#include "stacks_lines.h"

#include "markdown.h"
#include "stack_page.h"
#include "stacks_report.h"

static void cells_are_padded_and_kept_apart(void **state) {
    static const char *const title[] = {"N", "Name"};
    static const char expected[] = "|  N | Name      |\n"
                                   "| -: | --------- |\n"
                                   "|  1 | a\\|b      |\n"
                                   "| 10 | \xc3\xa4\\x0aline |\n";
    pt_markdown_t m = PT_MARKDOWN_INIT(title, "rl");
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    (void)state;
    pt_markdown_cellf(&m, "%d", 1);
    pt_markdown_cell(&m, "a|b");
    pt_markdown_cell(&m, "10");
    pt_markdown_cell(&m, "\xc3\xa4\nline");
    pt_markdown_end(&m, &out);
    assert_string_equal(perftrace__strbuf_cstr(&out), expected);
    perftrace__strbuf_clear(&out);
    pt_markdown_end(&m, &out); /* no rows: the titles alone, as wide as they are */
    assert_string_equal(perftrace__strbuf_cstr(&out), "| N | Name |\n| : | ---- |\n");
    perftrace__strbuf_free(&out);
}

static void weights_have_their_unit(void **state) {
    static const struct {
        double weight;
        pt_profile_unit_t unit;
        const char *text;
    } expected[] = {{2.314, PT_UNIT_SECONDS, "2.31s"}, {0, PT_UNIT_SECONDS, "0.00s"},
                    {12, PT_UNIT_NONE, "12"},          {1.5, PT_UNIT_BYTES, "1.50 B"},
                    {4096, PT_UNIT_BYTES, "4096 B"},   {-3, PT_UNIT_NONE, "-3"}};
    (void)state;
    for (size_t i = 0; i < PT_ARRAY_LEN(expected); i++) {
        perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
        pt_weight_put(&out, expected[i].weight, expected[i].unit);
        assert_string_equal(perftrace__strbuf_cstr(&out), expected[i].text);
        perftrace__strbuf_free(&out);
    }
}

/* One row a function, in both forms. */
static void a_report_grows_in_both_forms(void **state) {
    static const char text[] = "\n## Functions by self weight, top 1 of 2\n\n"
                               "| Samples | Self % | Self weight | Function | Location |\n"
                               "| ------: | -----: | ----------: | -------- | -------- |\n"
                               "|       1 |  75.0% |           3 | f        | :?       |\n";
    seen_t s;
    pt_tally_t self;
    (void)state;
    see(&s, "t;f 3\nt;g 1\n", NULL);
    pt_stacks_report_t r = {.view = &s.v, .text = PERFTRACE__STRBUF_INIT, .tables = PT_REPORT_INIT};
    assert_true(pt_tally_self(&s.v, &self));
    assert_true(pt_report_self(&r, &self, 1));
    assert_string_equal(perftrace__strbuf_cstr(&r.text), text);
    const pt_table_t *t = pt_report_find(&r.tables, "self");
    assert_non_null(t);
    assert_int_equal(pt_table_rows(t), 1);
    pt_tally_free(&self);
    pt_stacks_report_free(&r);
    unsee(&s);
}

static void a_function_that_is_nowhere_has_tables(void **state) {
    seen_t s;
    bool found = true;
    (void)state;
    see(&s, "t;f 3\n", NULL);
    pt_stacks_report_t r = {.view = &s.v, .text = PERFTRACE__STRBUF_INIT, .tables = PT_REPORT_INIT};
    assert_true(pt_report_callgraph(&r, "nowhere", 5, 5, &found));
    assert_false(found);
    assert_int_equal(r.text.len, 0);
    assert_int_equal(pt_table_rows(pt_report_find(&r.tables, "callgraph")), 1);
    assert_int_equal(pt_table_rows(pt_report_find(&r.tables, "callgraph_callers")), 0);
    assert_int_equal(pt_table_rows(pt_report_find(&r.tables, "callgraph_callees")), 0);
    pt_stacks_report_free(&r);
    unsee(&s);
}

/* ---- the page ---- */

static void assert_page(const char *lines, size_t most, const char *about, const char *threads) {
    const pt_stack_page_t page = {.title = "</script>", .maker = "m", .most_nodes = most};
    seen_t s;
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    see(&s, lines, NULL);
    assert_true(pt_stack_page_data(&s.v, &page, &out));
    assert_non_null(strstr(perftrace__strbuf_cstr(&out), about));
    assert_non_null(strstr(perftrace__strbuf_cstr(&out), threads));
    perftrace__strbuf_free(&out);
    unsee(&s);
}

static void the_lightest_boxes_are_put_into_their_callers(void **state) {
    (void)state;
    /* t, then t;a and t;a;b: a box's parent has a lower number, and 0 is the thread. */
    assert_page("t;a;b 1\nt;a 2\n", 100, "1 thread, 2 samples\"",
                "\"parent_of\":[0,1,2],\"name_of\":[0,1,2],\"self_of\":[0.0,2.0,1.0],\"samples_"
                "of\":[0,1,1]");
    assert_page("t;a;b 1\nt;a 2\n", 3, "1 of the lightest boxes",
                "\"parent_of\":[0,1],\"name_of\":[0,1],\"self_of\":[0.0,3.0],\"samples_of\":[0,2]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_padded_and_kept_apart),
        cmocka_unit_test(weights_have_their_unit),
        cmocka_unit_test(a_report_grows_in_both_forms),
        cmocka_unit_test(a_function_that_is_nowhere_has_tables),
        cmocka_unit_test(the_lightest_boxes_are_put_into_their_callers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
