/* test_common_table.c: reports in their three forms. SPDX-License-Identifier: MIT */
#include "number_ranges.h"
#include "table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

static void fill(pt_report_t *r) {
    pt_table_t *t = pt_report_table(r, "facts", "Facts", true);
    pt_table_fact(t, "rows", "rows", PT_COLUMN_COUNT, 1234567);
    pt_table_fact(t, "rate", "rate", PT_COLUMN_SHARE, 0.1234);
    pt_table_fact(t, "none", "none", PT_COLUMN_SECONDS, (double)NAN);
    t = pt_report_table(r, "ranks", "Ranks", false);
    pt_table_column(t, "name", "name", PT_COLUMN_TEXT);
    pt_table_column(t, "mean", "mean", PT_COLUMN_SECONDS);
    pt_table_detail(t, "exact", PT_COLUMN_NUMBER);
    pt_table_column(t, "slow", "slow", PT_COLUMN_FLAG);
    pt_table_cstr(t, "a,\"b\"");
    pt_table_number(t, 0.0123);
    pt_table_number(t, 0.5);
    pt_table_number(t, 1);
    pt_table_text(t, "x\033[31m\xE2\x80\xA8y", 10);
    pt_table_number(t, (double)NAN);
    pt_table_number(t, 2e300);
    pt_table_number(t, 0);
    pt_table_note(t, "A note.");
    pt_report_table(r, "empty", "Empty", false);
    pt_table_column(&r->table[2], "x", "x", PT_COLUMN_TEXT);
}

static void people_get_text(void **state) {
    pt_report_t r = PT_REPORT_INIT;
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    (void)state;
    fill(&r);
    assert_int_equal(pt_table_rows(pt_report_find(&r, "ranks")), 2);
    assert_null(pt_report_find(&r, "rank"));
    pt_report_print_text(&r, false, &out);
    assert_string_equal(perftrace__strbuf_cstr(&out), "Facts\n"
                                                      "  rows  1,234,567\n"
                                                      "  rate  12.3 %\n"
                                                      "  none  -\n"
                                                      "\n"
                                                      "Ranks\n"
                                                      "  name                 mean\n"
                                                      "  a,\"b\"             12.3 ms  slow\n"
                                                      "  x\\x1b[31m\\u2028y        -\n"
                                                      "  A note.\n");
    perftrace__strbuf_clear(&out);
    pt_report_print_text(&r, true, &out);
    assert_non_null(strstr(perftrace__strbuf_cstr(&out), "\033[1mRanks\033[0m\n"));
    assert_non_null(strstr(perftrace__strbuf_cstr(&out), "\033[33m  a,"));
    perftrace__strbuf_free(&out);
    pt_report_free(&r);
}

static void programs_get_json(void **state) {
    pt_report_t r = PT_REPORT_INIT;
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    (void)state;
    fill(&r);
    pt_report_print_json(&r, &out);
    assert_string_equal(
        perftrace__strbuf_cstr(&out),
        "\"facts\": {\"rows\": 1234567, \"rate\": 0.1234, \"none\": null},\n"
        "\"ranks\": [\n"
        "  {\"name\": \"a,\\\"b\\\"\", \"mean\": 0.0123, \"exact\": 0.5, \"slow\": true},\n"
        "  {\"name\": \"x\\u001b[31m\xE2\x80\xA8y\", \"mean\": null, \"exact\": 2e+300, "
        "\"slow\": false}],\n"
        "\"empty\": []");
    perftrace__strbuf_free(&out);
    pt_report_free(&r);
}

static void spreadsheets_get_csv(void **state) {
    pt_report_t r = PT_REPORT_INIT;
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    (void)state;
    fill(&r);
    pt_report_print_csv(&r, &out);
    static const char start[] =
        "table,row,column,value\nfacts,0,rows,1234567\nfacts,0,rate,0.1234\n"
        "facts,0,none,\nranks,0,name,\"a,\"\"b\"\"\"\n";
    assert_memory_equal(perftrace__strbuf_cstr(&out), start, sizeof start - 1);
    perftrace__strbuf_clear(&out);
    r.table[0].left_out = r.table[2].left_out = true;
    pt_report_print_csv(&r, &out);
    assert_string_equal(perftrace__strbuf_cstr(&out),
                        "name,mean,exact,slow\n\"a,\"\"b\"\"\",0.0123,0.5,true\n"
                        "x\033[31m\xE2\x80\xA8y,,2e+300,false\n");
    perftrace__strbuf_free(&out);
    pt_report_free(&r);
}

/* The beginnings of formulas that OWASP's page on CSV injection lists; texts alone, numbers stay.
 */
static void no_name_is_a_formula(void **state) {
    static const char *const cases[][2] = {
        {"=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"},
        {"+1", "'+1"},
        {"-[NSView draw]", "'-[NSView draw]"},
        {"@SUM(A1)", "'@SUM(A1)"},
        {"\tx", "'\tx"},
        {"\r=1", "\"'\r=1\""},
        {"=a,\"b\"", "\"'=a,\"\"b\"\"\""},
        {"'=1", "''=1"},
        {"''=1", "'''=1"},
        {"'a", "'a"},
        {"a=1", "a=1"},
        {" =1", " =1"},
        {"", ""},
        {"'", "'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pt_report_t r = PT_REPORT_INIT;
        perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT, wanted = PERFTRACE__STRBUF_INIT;
        pt_table_t *t = pt_report_table(&r, "t", "T", true);
        pt_table_fact_text(t, "name", "name", cases[i][0]);
        pt_table_fact(t, "n", "n", PT_COLUMN_COUNT, -3);
        pt_report_print_csv(&r, &out);
        perftrace__strbuf_printf(&wanted, "name,n\n%s,-3\n", cases[i][1]);
        assert_string_equal(perftrace__strbuf_cstr(&out), perftrace__strbuf_cstr(&wanted));
        perftrace__strbuf_free(&wanted);
        perftrace__strbuf_free(&out);
        pt_report_free(&r);
    }
}

static void values_are_short(void **state) {
    static const struct {
        pt_column_kind_t kind;
        double value;
        const char *text;
    } cases[] = {
        {PT_COLUMN_SECONDS, 0, "0 s"},
        {PT_COLUMN_SECONDS, 1.5e-9, "1.50 ns"},
        {PT_COLUMN_SECONDS, 0.0000124, "12.4 us"},
        {PT_COLUMN_SECONDS, 0.9996, "1.00 s"},
        {PT_COLUMN_SECONDS, 99.94, "99.9 s"},
        {PT_COLUMN_SECONDS, 999.6, "16.7 min"},
        {PT_COLUMN_SECONDS, 7200, "2.00 h"},
        {PT_COLUMN_SECONDS, 1e6, "11.6 d"},
        {PT_COLUMN_SECONDS, -0.5, "-500 ms"},
        {PT_COLUMN_COUNT, 1e9, "1,000,000,000"},
        {PT_COLUMN_SHARE, 1, "100.0 %"},
        {PT_COLUMN_CHANGE, -0.05, "-5.0 %"},
        {PT_COLUMN_CHANGE, 0.05, "+5.0 %"},
        {PT_COLUMN_NUMBER, 0.123456, "0.123"},
        {PT_COLUMN_NUMBER, 12345.6, "12,346"},
        {PT_COLUMN_NUMBER, -12345.6, "-12,346"},
        {PT_COLUMN_TIME, 1795971108.25, "2026-11-29 16:51:48.250Z"},
        {PT_COLUMN_TIME, 1e300, "1"},
        {PT_COLUMN_SECONDS, (double)INFINITY, "-"},
    };
    (void)state;
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
        pt_table_format(&out, cases[i].kind, cases[i].value);
        assert_memory_equal(perftrace__strbuf_cstr(&out), cases[i].text, strlen(cases[i].text));
        perftrace__strbuf_free(&out);
    }
}

static void text_steers_no_terminal(void **state) {
    static const struct {
        const char *text, *shown;
        unsigned columns;
    } cases[] = {
        {"plain", "plain", 0},
        {"plain", "pla\xE2\x80\xA6", 3},
        {"a\tb\x7F\xC2\x85", "a\\x09b\\x7f\\x85", 0},
        {"\xE2\x80\xAE"
         "evil",
         "\\u202eevil", 0},
        {"\xFF\xC3", "\\ufffd\\ufffd", 0},
        {"\xE4\xBD\xA0\xF0\x9F\x98\x80", "\xE4\xBD\xA0\xF0\x9F\x98\x80", 2},
    };
    (void)state;
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
        pt_table_visible(&out, cases[i].text, cases[i].columns);
        assert_string_equal(perftrace__strbuf_cstr(&out), cases[i].shown);
        perftrace__strbuf_free(&out);
    }
}

static void ranges_are_lists_of_numbers(void **state) {
    static const char *const bad[] = {"", ",", "1,", "a", "3-1", "-1", "1-", "1-2-3", "1 2"};
    pt_number_ranges_t r = {NULL, 0};
    (void)state;
    assert_true(pt_number_ranges_parse(&r, "0,8-9,9223372036854775807"));
    assert_true(pt_number_ranges_has(&r, 0) && pt_number_ranges_has(&r, 9));
    assert_true(pt_number_ranges_has(&r, INT64_MAX));
    assert_false(pt_number_ranges_has(&r, 1) || pt_number_ranges_has(&r, -1));
    pt_number_ranges_free(&r);
    for (size_t i = 0; i < PT_ARRAY_LEN(bad); i++) {
        assert_false(pt_number_ranges_parse(&r, bad[i]));
        pt_number_ranges_free(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(people_get_text),
        cmocka_unit_test(programs_get_json),
        cmocka_unit_test(spreadsheets_get_csv),
        cmocka_unit_test(no_name_is_a_formula),
        cmocka_unit_test(values_are_short),
        cmocka_unit_test(text_steers_no_terminal),
        cmocka_unit_test(ranges_are_lists_of_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
