/* test_convert_edit.c: args, held lines and filters of the converter. SPDX-License-Identifier: MIT
 */
#include "args_edit.h"
#include "event_filter.h"
#include "flow_wait.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static pt_str_t str(const char *text) {
    return (pt_str_t){text, strlen(text)};
}

static void is(pt_str_t got, const char *expected) {
    assert_int_equal(got.len, strlen(expected));
    assert_true(got.len == 0 || memcmp(got.p, expected, got.len) == 0);
}

static void the_ends_args_win_over_the_begins(void **state) {
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    (void)state;
    is(pt_args_merge(&out, str("{\"a\": 1, \"b\": [2]}"), str("{\"b\": 3, \"c\": \"x\"}")),
       "{\"a\": 1, \"b\": 3, \"c\": \"x\"}");
    is(pt_args_merge(&out, str(""), str("{\"b\": 3}")), "{\"b\": 3}");
    is(pt_args_merge(&out, str("{\"b\": 3}"), str("")), "{\"b\": 3}");
    is(pt_args_merge(&out, str("{}"), str("{}")), "{}");
    perftrace__strbuf_free(&out);
}

static void a_member_is_added_once(void **state) {
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    (void)state;
    is(pt_args_add(&out, str(""), "unfinished", str("true")), "{\"unfinished\": true}");
    is(pt_args_add(&out, str("{ }"), "k", str("1")), "{\"k\": 1}");
    is(pt_args_add(&out, str("{\"a\": 1 }"), "k", str("\"0x1\"")), "{\"a\": 1, \"k\": \"0x1\"}");
    is(pt_args_add(&out, str("{\"k\": 2}"), "k", str("1")), "{\"k\": 2}");
    perftrace__strbuf_free(&out);
}

static void links_are_numbered_and_none_stays_none(void **state) {
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    pt_id_space_t ids;
    (void)state;
    pt_id_space_init(&ids, 1, 4);
    char expected[128];
    snprintf(expected, sizeof expected,
             "{\"correlation\": %u, \"External id\": 0, \"x\": 7, \"correlation\": -1}",
             ids.base + 7);
    is(pt_args_links(&out,
                     str("{\"correlation\": 7, \"External id\": 0, \"x\": 7, \"correlation\": -1}"),
                     &ids),
       expected);
    pt_id_space_free(&ids);
    perftrace__strbuf_free(&out);
}

static void counters_keep_numbers_only(void **state) {
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    unsigned nonfinite, not_numeric;
    (void)state;
    is(pt_args_counter(
           &out,
           str("{\"a\": 1.5, \"b\": \"NaN\", \"c\": \"6.25\", \"d\": null, \"e\": \"x\", "
               "\"f\": [1], \"g\": 1e999}"),
           &nonfinite, &not_numeric),
       "{\"a\": 1.5, \"c\": 6.25}");
    assert_int_equal(nonfinite, 3);
    assert_int_equal(not_numeric, 2);
    perftrace__strbuf_free(&out);
}

static void waiting_lines_come_out_with_their_number(void **state) {
    pt_flow_wait_t wait = {.line = NULL};
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    uint64_t count[128] = {0};
    (void)state;
    pt_flow_wait_add(&wait, 5, 'f', "five,", 5);
    pt_flow_wait_add(&wait, 6, 't', "six,", 4);
    pt_flow_wait_add(&wait, 5, 't', "5b,", 3);
    pt_flow_wait_take(&wait, 5, &out, count);
    assert_string_equal(perftrace__strbuf_cstr(&out), "five,5b,");
    assert_int_equal(count['f'], 1);
    assert_int_equal(count['t'], 1);
    for (uint32_t i = 0; i < PT_FLOW_WAIT_LIMIT + 10; i++) {
        pt_flow_wait_add(&wait, 100 + i, 'f', "x", 1);
    }
    assert_true(wait.count <= PT_FLOW_WAIT_LIMIT);
    pt_flow_wait_finish(&wait);
    assert_int_equal(wait.given_up, PT_FLOW_WAIT_LIMIT + 11);
    perftrace__strbuf_free(&out);
}

static bool takes(const pt_convert_options_t *o, const char *name, const char *cat,
                  const char *args, int64_t start, int64_t end) {
    return pt_event_filter_takes(o, str(name), str(cat), str(args), start, end, true);
}

static void filters_take_what_was_asked_for(void **state) {
    pt_convert_options_t o = {.from = "1us", .from_ns = 1000, .to = "2us", .to_ns = 2000};
    (void)state;
    assert_true(pt_event_filter_active(&o));
    assert_true(takes(&o, "\"n\"", "", "", 0, 1000));
    assert_true(takes(&o, "\"n\"", "", "", 2000, 9000));
    assert_true(takes(&o, "\"n\"", "", "", 0, 9000));
    assert_false(takes(&o, "\"n\"", "", "", 0, 999));
    assert_false(takes(&o, "\"n\"", "", "", 2001, 9000));
    o = (pt_convert_options_t){
        .to_ns = UINT64_MAX, .has_steps = true, .first_step = 3, .last_step = 4};
    assert_true(takes(&o, "\"n\"", "", "{\"global_step\": 4}", 0, 1));
    assert_false(takes(&o, "\"n\"", "", "{\"global_step\": 5}", 0, 1));
    assert_false(takes(&o, "\"n\"", "", "{\"step\": 4}", 0, 1));
    o = (pt_convert_options_t){.to_ns = UINT64_MAX, .min_dur_ns = 10};
    assert_true(takes(&o, "\"n\"", "", "", 0, 10));
    assert_false(takes(&o, "\"n\"", "", "", 0, 9));
    o = (pt_convert_options_t){.to_ns = UINT64_MAX};
    assert_false(pt_event_filter_active(&o));
    assert_true(pt_string_list_add(&o.names, "all*\xC3\xA9"));
    assert_true(takes(&o, "\"all/caf\\u00e9\"", "", "", 0, 1));
    assert_false(takes(&o, "\"fall\"", "", "", 0, 1));
    pt_string_list_free(&o.names);
    assert_true(pt_string_list_add(&o.categories, "comm"));
    assert_true(takes(&o, "\"n\"", "\"io,comm\"", "", 0, 1));
    assert_false(takes(&o, "\"n\"", "\"compute\"", "", 0, 1));
    pt_string_list_free(&o.categories);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ends_args_win_over_the_begins),
        cmocka_unit_test(a_member_is_added_once),
        cmocka_unit_test(links_are_numbered_and_none_stays_none),
        cmocka_unit_test(counters_keep_numbers_only),
        cmocka_unit_test(waiting_lines_come_out_with_their_number),
        cmocka_unit_test(filters_take_what_was_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
