/* test_session_html_data.c: the page's data, and that it is safe in a page.
 * SPDX-License-Identifier: MIT */
#include "html_json.h"
#include "html_page.h"
#include "session_problem.h"
#include "session_report.h"
#include "sessions_util.h"

#include <math.h>

static void styles_have_a_name_a_colour_and_perhaps_a_label(void **state) {
    static const char *const good[] = {"validation=#14b8a6:Validation", "a=#abc",
                                       "x y=#ABCDEF:", "q=#123456:a:b=c"};
    static const char *const bad[] = {"",      "validation", "=#123456",  "a=",          "a=red",
                                      "a=#12", "a=#1234567", "a=#12345g", "a=#123456;x", "a=123456",
                                      "a=#:x"};
    (void)state;
    pt_phase_styles_t styles = {.count = 0};
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
    for (size_t i = 0; i < PT_ARRAY_LEN(good); i++) {
        assert_true(pt_phase_styles_add(&styles, good[i], &problem));
    }
    assert_int_equal(problem.len, 0);
    for (size_t i = 0; i < PT_ARRAY_LEN(bad); i++) {
        problem.len = 0;
        assert_false(pt_phase_styles_add(&styles, bad[i], &problem));
        assert_non_null(strstr(problem.data, "NAME=#RRGGBB"));
    }
    assert_int_equal(styles.count, 4);
    const pt_phase_style_t *s = pt_phase_styles_find(&styles, (pt_name_t){"validation", 10});
    assert_string_equal(s->color, "#14b8a6");
    assert_string_equal(s->label, "Validation");
    assert_null(pt_phase_styles_find(&styles, (pt_name_t){"x y", 3})->label);
    assert_string_equal(pt_phase_styles_find(&styles, (pt_name_t){"q", 1})->label, "a:b=c");
    assert_null(pt_phase_styles_find(&styles, (pt_name_t){"val", 3}));
    assert_true(pt_phase_styles_add(&styles, "validation=#000000", &problem)); /* the last counts */
    s = pt_phase_styles_find(&styles, (pt_name_t){"validation", 10});
    assert_string_equal(s->color, "#000000");
    pt_phase_styles_free(&styles);
    perftrace__strbuf_free(&problem);
}

static void what_could_end_the_element_is_escaped(void **state) {
    static const char json[] = "[\"</script><b>x\",\"<!--\",\"&lt;\",\"\xE2\x80\xA8\xE2\x80\xA9"
                               "\xE2\x80\xA7\xC3\xA9\",\"\xE2\",\"\xE2\x80\"]";
    (void)state;
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    pt_html_embed(&out, json, sizeof json - 1);
    assert_string_equal(out.data,
                        "[\"\\u003c/script\\u003e\\u003cb\\u003ex\",\"\\u003c!--\",\"\\u0026lt;\","
                        "\"\\u2028\\u2029\xE2\x80\xA7\xC3\xA9\",\"\xE2\",\"\xE2\x80\"]");
    perftrace__strbuf_free(&out);
}

static void numbers_are_short_and_missing_ones_null(void **state) {
    (void)state;
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    const double values[] = {0.1234567891, 1234567.5, 0, 1e-30, -2.5, (double)NAN, 1.0 / 3, 1e300};
    for (size_t i = 0; i < PT_ARRAY_LEN(values); i++) {
        pt_html_rounded(&out, values[i]);
        perftrace__strbuf_putc(&out, ' ');
    }
    pt_html_moment(&out, 3599.123456789);
    assert_string_equal(out.data,
                        "0.123457 1234567.5 0 1e-30 -2.5 null 0.333333 1e+300 3599.123457");
    perftrace__strbuf_free(&out);
}

/* The data of some files, as the tool makes it. Free with free(). */
static char *data_of(const char *const *file, size_t files, uint64_t batch,
                     const pt_html_options_t *options) {
    pt_session_model_t model;
    pt_session_steps_t steps = {.count = 0};
    pt_selection_t selection = {.rows = 0};
    pt_session_filter_t filter = {.from = (double)-INFINITY, .to = (double)INFINITY};
    pt_report_t tables = PT_REPORT_INIT;
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    pt_problems_t *book = pt_problems_new(pt_session_problem_kinds(), PT_SESSION_PROBLEM_COUNT);
    static const char *const names[] = {"a", "b", "c"};
    load_files(&model, book, file, files, true);
    assert_true(batch == 0 || pt_session_steps_find(&model, batch, &steps));
    assert_true(pt_session_select(&model, batch == 0 ? NULL : &steps, &filter, &selection));
    assert_true(pt_session_report_make(&selection, names, 3, 1, &tables));
    assert_true(pt_html_data(&selection, names, files, &tables, options, &out));
    pt_report_free(&tables);
    pt_selection_free(&selection);
    pt_session_steps_free(&steps);
    pt_session_model_free(&model);
    pt_problems_free(book);
    return out.data;
}

static const pt_phase_styles_t no_styles = {.count = 0};
static const pt_html_options_t usual = {
    .timelines = 200, .points = 20000, .threads = 1, .maker = "test", .styles = &no_styles};

static void no_session_makes_data_all_the_same(void **state) {
    static const char *const none[] = {""};
    (void)state;
    char *data = data_of(none, 1, 4, &usual);
    assert_non_null(strstr(data, "\"scatter\":{\"of\":0,\"p50\":null,\"p95\":null"));
    assert_non_null(strstr(data, "\"rows\":[]"));
    free(data);
}

/* Ids that a double cannot hold, and those that are texts, stay what they are. */
static void ids_stay_exact(void **state) {
    static const char *const file[] = {
        "{\"task_id\": 9007199254740993, \"session_id\": 9007199254740992, \"rank\": 0, "
        "\"status\": "
        "\"accepted\", \"submit_ts\": 1760000000, \"finalized_ts\": 1760000002}\n"
        "{\"task_id\": \"</script><b>x\", \"session_id\": -1, \"rank\": null, \"status\": "
        "\"accepted\", \"submit_ts\": 1760000001, \"finalized_ts\": 1760000003}\n"};
    (void)state;
    char *data = data_of(file, 1, 0, &usual);
    assert_non_null(strstr(data, "\"task\":[\"9007199254740993\",\"</script><b>x\"]"));
    assert_non_null(strstr(data, "\"session\":[9007199254740992,\"-1\"]"));
    assert_non_null(strstr(data, "\"ranks\":[null,0]"));
    free(data);
}

/* Of each order the first ones over all ranks and of each rank. */
static void timelines_are_the_first_of_each_order(void **state) {
    (void)state;
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    for (int i = 0; i < 3000; i++) {
        int rank = i % 3 == 0 ? 1 : 0;
        perftrace__strbuf_printf(
            &text,
            "{\"task_id\": 0, \"session_id\": %d, \"rank\": %d, \"status\": \"accepted\", "
            "\"submit_ts\": %d, \"finalized_ts\": %d, \"phases\": {\"generate\": [{\"start_ts\": "
            "%d, \"end_ts\": %d}]}}\n",
            i, rank, 1760000000 + i, 1760000010 + 2 * i, 1760000001 + i, 1760000002 + i);
    }
    const char *const file[] = {text.data};
    pt_html_options_t few = usual;
    few.timelines = 5;
    char *data = data_of(file, 1, 0, &few);
    assert_non_null(strstr(data, "\"timeline\":{\"most\":5,\"mostOfRank\":5,\"of\":{\"first\":3000,"
                                 "\"slowest\":3000,\"unfinished\":0}"));
    size_t rows = 0;
    const char *at = strstr(data, "\"rows\":[");
    for (const char *end = strstr(at, "\"cut\""); at != NULL && at < end; at++) {
        rows += strncmp(at, "\n[", 2) == 0;
    }
    /* First and last five of each of two ranks; those over all ranks are among them. */
    assert_int_equal(rows, 20);
    free(data);
    few.timelines = 0;
    data = data_of(file, 1, 0, &few);
    assert_non_null(strstr(data, "\"rows\":[]"));
    free(data);
    perftrace__strbuf_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(styles_have_a_name_a_colour_and_perhaps_a_label),
        cmocka_unit_test(what_could_end_the_element_is_escaped),
        cmocka_unit_test(numbers_are_short_and_missing_ones_null),
        cmocka_unit_test(no_session_makes_data_all_the_same),
        cmocka_unit_test(ids_stay_exact),
        cmocka_unit_test(timelines_are_the_first_of_each_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
