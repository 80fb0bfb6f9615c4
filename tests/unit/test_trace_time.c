/* test_trace_time.c: microsecond texts are read exactly. SPDX-License-Identifier: MIT */
#include "plain_text.h"
#include "trace_time.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void texts_become_nanoseconds(void **state) {
    static const struct {
        const char *text;
        int64_t ns;
    } good[] = {{"0", 0},
                {"5", 5000},
                {"5.25", 5250},
                {"5.25e3", 5250000},
                {"-17000", -17000000},
                {"1760000000000000.123", 1760000000000000123},
                {"1712195495406752.8", 1712195495406752800},
                {"0.0004", 0},
                {"0.0005", 1},
                {"-0.0005", -1},
                {"1.0005", 1001},
                {"118.81602047948613", 118816},
                {"2e-3", 2},
                {"0.000e5", 0},
                {"25E+2", 2500000},
                {"00012", 12000},
                {"4611686018427387.903", 4611686018427387903}};
    static const char *const bad[] = {
        "", "-", ".5", "x", "1x", "1e", "1e+", "5 ", "4611686018427388", "1e40", "NaN"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        int64_t ns = 99;
        assert_true(pt_time_parse_us(good[i].text, strlen(good[i].text), &ns));
        assert_int_equal(ns, good[i].ns);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t ns = 99;
        assert_false(pt_time_parse_us(bad[i], strlen(bad[i]), &ns));
    }
}

static void the_writers_form_is_read_alone(void **state) {
    static const char other[][64] = {"5,",      "5.2,",    "5.25,",  "05.250,",
                                     ".250,",   "-5.250,", "5.2x0,", "1234567890123456.000,",
                                     "5.2501,", ","};
    static const char good[][64] = {
        "305.125,",       "0.001,",          "0.000}",         "12345678.901,",
        "123456789.012,", "1234567890.123,", "100000000.000,", "123456789012345.678,"};
    static const int64_t ns[] = {
        305125, 1, 0, 12345678901, 123456789012, 1234567890123, 100000000000, 123456789012345678};
    int64_t got;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_ptr_equal(pt_plain_time(good[i], &got), good[i] + strlen(good[i]) - 1);
        assert_int_equal(got, ns[i]);
    }
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++) {
        assert_null(pt_plain_time(other[i], &got));
    }
}

static void plain_numbers_are_json_numbers(void **state) {
    static const char good[][64] = {"0",
                                    "-0",
                                    "7",
                                    "10",
                                    "0.5",
                                    "-12.25",
                                    "1e5",
                                    "1E+5",
                                    "1e-05",
                                    "2.5e1",
                                    "1e99",
                                    "12345678901234567890",
                                    "0.333333333333333314829616256"};
    static const char bad[][64] = {
        "",   "-",    "01",    "-01", "1.",
        ".5", "1.e5", "1e",    "1e+", "+1",
        "e5", "1e-",  "1e100", "NaN", "12345678901234567890123456789012"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_ptr_equal(pt_plain_number(good[i]), good[i] + strlen(good[i]));
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_null(pt_plain_number(bad[i]));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_become_nanoseconds),
        cmocka_unit_test(the_writers_form_is_read_alone),
        cmocka_unit_test(plain_numbers_are_json_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
