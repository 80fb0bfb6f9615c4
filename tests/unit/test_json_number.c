/* test_json_number.c: decimal text to exact values. SPDX-License-Identifier: MIT */
#include "json_scan.h"
#include "json_writer.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static perftrace__json_slice_t slice(const char *text, perftrace__json_type_t type) {
    perftrace__json_slice_t s = {text, strlen(text), type, false, 0};
    return s;
}

static perftrace__json_slice_t number(const char *text) {
    return slice(text, PERFTRACE__JSON_NUMBER);
}

static void integers_are_exact_in_64_bits(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {
        {"0", 0},
        {"-0", 0},
        {"-0.000", 0},
        {"0e5", 0},
        {"7", 7},
        {"-17", -17},
        {"5.0", 5},
        {"5e3", 5000},
        {"5000e-3", 5},
        {"1.25e2", 125},
        {"9007199254740993", INT64_C(9007199254740993)},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
        {"-9223372036854775808.0", INT64_MIN},
        {"922337203685477580.7e1", INT64_MAX},
    };
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        perftrace__json_slice_t s = number(cases[i].text);
        int64_t v = 99;
        assert_true(perftrace__json_to_i64(&s, &v));
        assert_int_equal(v, cases[i].value);
        s.type = PERFTRACE__JSON_STRING;
        assert_true(perftrace__json_to_i64(&s, &v));
        assert_int_equal(v, cases[i].value);
    }
    uint64_t u = 0;
    perftrace__json_slice_t s = number("18446744073709551615");
    assert_true(perftrace__json_to_u64(&s, &u));
    assert_true(u == UINT64_MAX);
    s = number("1844674407370955161.5e1");
    assert_true(perftrace__json_to_u64(&s, &u));
    assert_true(u == UINT64_MAX);
}

static void what_is_no_integer_is_refused_and_untouched(void **state) {
    (void)state;
    static const char *const signed_bad[] = {"9223372036854775808",
                                             "-9223372036854775809",
                                             "1e19",
                                             "1180591620717411303424",
                                             "0.5",
                                             "5.25",
                                             "1e-1",
                                             "1e400",
                                             "1e99999999999999999999"};
    static const char *const unsigned_bad[] = {"18446744073709551616", "-1", "2e19", "0.1",
                                               "184467440737095516150"};
    static const char *const strings[] = {"", " 5", "5 ", "+5", "0x5", "5.", "abc", "1e", "05"};
    for (size_t i = 0; i < PT_ARRAY_LEN(signed_bad); i++) {
        perftrace__json_slice_t s = number(signed_bad[i]);
        int64_t v = 99;
        assert_false(perftrace__json_to_i64(&s, &v));
        assert_int_equal(v, 99);
    }
    for (size_t i = 0; i < PT_ARRAY_LEN(unsigned_bad); i++) {
        perftrace__json_slice_t s = number(unsigned_bad[i]);
        uint64_t v = 99;
        assert_false(perftrace__json_to_u64(&s, &v));
        assert_int_equal(v, 99);
    }
    for (size_t i = 0; i < PT_ARRAY_LEN(strings); i++) {
        perftrace__json_slice_t s = slice(strings[i], PERFTRACE__JSON_STRING);
        int64_t v = 99;
        double d = 99;
        assert_false(perftrace__json_to_i64(&s, &v));
        assert_false(perftrace__json_to_double(&s, &d));
        assert_false(perftrace__json_to_ns(&s, &v));
        assert_int_equal(v, 0);
    }
    perftrace__json_slice_t t = slice("true", PERFTRACE__JSON_TRUE);
    int64_t v;
    assert_false(perftrace__json_to_i64(&t, &v));
    assert_false(perftrace__json_to_ns(&t, &v));
}

static void microseconds_become_exact_nanoseconds(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t ns;
    } cases[] = {
        {"0", 0},
        {"-0", 0},
        {"5", 5000},
        {"5.2", 5200},
        {"5.25", 5250},
        {"305.125", 305125},
        {"-305.125", -305125},
        {"5.25e3", 5250000},
        {"5.25E-3", 5},
        {"1.0004", 1000},
        {"1.0005", 1001},
        {"-1.0005", -1001},
        {"1.00049999999999999999999", 1000},
        {"0.0005", 1},
        {"0.00049", 0},
        {"0.9999999", 1000},
        {"5e-4", 1},
        {"4e-4", 0},
        {"1e-99999999999", 0},
        {"1760000000000000.123", INT64_C(1760000000000000123)},
        {"1.7600000000000001235e15", INT64_C(1760000000000000124)},
        {"999999999999999.999", INT64_C(999999999999999999)},
        {"9223372036854775.807", INT64_MAX},
        {"9223372036854775.8074", INT64_MAX},
        {"-9223372036854775.808", INT64_MIN},
    };
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        perftrace__json_slice_t s = number(cases[i].text);
        int64_t v = 99;
        assert_true(perftrace__json_to_ns(&s, &v));
        assert_int_equal(v, cases[i].ns);
        s.type = PERFTRACE__JSON_STRING;
        assert_true(perftrace__json_to_ns(&s, &v));
        assert_int_equal(v, cases[i].ns);
    }
}

static void times_out_of_range_give_the_limit(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t ns;
    } cases[] = {
        {"9223372036854775.808", INT64_MAX},
        {"9223372036854775.8075", INT64_MAX},
        {"-9223372036854775.809", INT64_MIN},
        {"1e300", INT64_MAX},
        {"-1e16", INT64_MIN},
        {"99999999999999999999", INT64_MAX},
        {"1e99999999999999999999", INT64_MAX},
    };
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        perftrace__json_slice_t s = number(cases[i].text);
        int64_t v = 99;
        assert_false(perftrace__json_to_ns(&s, &v));
        assert_int_equal(v, cases[i].ns);
    }
}

static void doubles_are_the_nearest(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"0", 0.0},
        {"0.1", 0.1},
        {"-5.25", -5.25},
        {"1e22", 1e22},
        {"1e23", 1e23},
        {"8.5e-323", 8.5e-323},
        {"2.2250738585072011e-308", 2.2250738585072011e-308},
        {"1.7976931348623157e308", DBL_MAX},
        {"9007199254740993", 9007199254740992.0},
        {"9007199254740993.0000000000000000000000000001", 9007199254740994.0},
        {"18446744073709551615", 18446744073709551616.0},
        {"123456789012345678901234567890", 123456789012345678901234567890.0},
        {"1e-400", 0.0},
        {"0.000000000000000000000000000000001e33", 1.0},
    };
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        perftrace__json_slice_t s = number(cases[i].text);
        double v = 99;
        assert_true(perftrace__json_to_double(&s, &v));
        assert_memory_equal(&v, &cases[i].value, sizeof(v));
    }
    perftrace__json_slice_t s = number("-0.0");
    double v = 99;
    assert_true(perftrace__json_to_double(&s, &v));
    assert_true(v == 0 && signbit(v));
    s = number("-1e400");
    assert_true(perftrace__json_to_double(&s, &v));
    assert_true(isinf(v) && v < 0);
}

static void a_tie_is_decided_by_the_last_of_a_thousand_digits(void **state) {
    (void)state;
    /* 2^53 + 1 lies half way between two doubles. */
    char text[1100] = "9007199254740993.";
    double v;
    size_t at = strlen(text);
    memset(text + at, '0', 1000);
    perftrace__json_slice_t s = {text, at + 1000, PERFTRACE__JSON_NUMBER, false, 0};
    assert_true(perftrace__json_to_double(&s, &v));
    assert_true(v == 9007199254740992.0);
    text[at + 999] = '1';
    assert_true(perftrace__json_to_double(&s, &v));
    assert_true(v == 9007199254740994.0);
}

static void random_doubles_read_back_as_strtod_reads_them(void **state) {
    (void)state;
    uint64_t x = 88172645463325252u;
    for (int i = 0; i < 100000; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        double want;
        memcpy(&want, &x, sizeof(want));
        if (!isfinite(want)) {
            continue;
        }
        char text[40];
        snprintf(text, sizeof(text), i % 2 ? "%.17g" : "%.9e", want);
        want = strtod(text, NULL);
        double got = 0;
        perftrace__json_slice_t s = number(text);
        assert_true(perftrace__json_to_double(&s, &got));
        assert_memory_equal(&got, &want, sizeof(got));
    }
}

/* Up to 21 digits with a point anywhere and any small exponent: what the quick way takes, and a
 * little beyond. */
static void doubles_are_read_quickly_and_exactly(void **state) {
    (void)state;
    uint64_t x = 88172645463325252u;
    unsigned quick = 0;
    for (int i = 0; i < 200000; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        char digits[32], text[PERFTRACE__JSON_SPARE + 64] = "";
        int n = 1 + (int)(x % 19), point = (int)(x / 19 % 20), exponent = (int)(x / 400 % 40) - 32;
        snprintf(digits, sizeof(digits), "%019llu",
                 (unsigned long long)(x / 3 % 10000000000000000000u));
        digits[n] = 0;
        if (point >= n) {
            snprintf(text, 64, "%s%s", x & 64 ? "-" : "", digits + strspn(digits, "0"));
        } else {
            snprintf(text, 64, "0.%.*s%s", point, "0000000000000000000", digits);
        }
        if (text[0] == 0 || text[strlen(text) - 1] == '-') {
            continue;
        }
        if (x & 128) {
            snprintf(text + strlen(text), 8, "e%d", exponent);
        }
        double got, want = strtod(text, NULL);
        const char *end = perftrace__json_read_double(text, &got);
        if (end != NULL) {
            assert_ptr_equal(end, text + strlen(text));
            assert_memory_equal(&got, &want, sizeof(got));
            quick++;
        }
    }
    assert_true(quick > 100000);
    static const char *const refused[] = {"", "-", ".5", "01", "1.", "1e", "1e+", "-x", "1e9999"};
    for (size_t i = 0; i < PT_ARRAY_LEN(refused); i++) {
        char text[PERFTRACE__JSON_SPARE + 16] = "";
        double v;
        memcpy(text, refused[i], strlen(refused[i]));
        assert_null(perftrace__json_read_double(text, &v));
    }
}

static void random_times_read_back_as_they_were_written(void **state) {
    (void)state;
    uint64_t x = 88172645463325252u;
    for (unsigned i = 0; i < 100000; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        uint64_t ns = x >> (1 + i % 63);
        char text[PERFTRACE__US_MAX];
        char *end = perftrace__put_us(text, ns);
        perftrace__json_slice_t s = {text, (size_t)(end - text), PERFTRACE__JSON_NUMBER, false, 0};
        int64_t got = -1;
        assert_true(perftrace__json_to_ns(&s, &got));
        assert_true(got == (int64_t)ns);
    }
}

static void the_locale_plays_no_part(void **state) {
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    const char *found = NULL;
    for (size_t i = 0; i < PT_ARRAY_LEN(names) && !found; i++) {
        found = setlocale(LC_ALL, names[i]);
    }
    if (!found) {
        print_message("no locale with a decimal comma is installed\n");
        skip();
    }
    perftrace__json_slice_t s = number("1.2345678901234567890123e-5");
    double v;
    assert_true(perftrace__json_to_double(&s, &v));
    setlocale(LC_ALL, "C");
    assert_true(v == 1.2345678901234567890123e-5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_exact_in_64_bits),
        cmocka_unit_test(what_is_no_integer_is_refused_and_untouched),
        cmocka_unit_test(microseconds_become_exact_nanoseconds),
        cmocka_unit_test(times_out_of_range_give_the_limit),
        cmocka_unit_test(doubles_are_the_nearest),
        cmocka_unit_test(a_tie_is_decided_by_the_last_of_a_thousand_digits),
        cmocka_unit_test(random_doubles_read_back_as_strtod_reads_them),
        cmocka_unit_test(doubles_are_read_quickly_and_exactly),
        cmocka_unit_test(random_times_read_back_as_they_were_written),
        cmocka_unit_test(the_locale_plays_no_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
