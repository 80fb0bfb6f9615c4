/* test_trace_time.c: microsecond texts are read exactly. SPDX-License-Identifier: MIT */
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
    static const char *const other[] = {
        "5", "5.2", "5.25", "05.250", ".250", "-5.250", "1234567890123456.000", "5.2x0"};
    int64_t ns;
    const char text[] = "305.125,";
    (void)state;
    assert_ptr_equal(pt_time_read_fixed(text, text + sizeof text - 1, &ns), text + 7);
    assert_int_equal(ns, 305125);
    assert_null(pt_time_read_fixed(text, text + 6, &ns)); /* cut in the decimals */
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++) {
        assert_null(pt_time_read_fixed(other[i], other[i] + strlen(other[i]), &ns));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_become_nanoseconds),
        cmocka_unit_test(the_writers_form_is_read_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
