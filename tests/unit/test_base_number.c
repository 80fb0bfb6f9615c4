/* test_base_number.c: numbers as text, in every locale. SPDX-License-Identifier: MIT */
#include "base_random.h"
#include "json_writer.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Any magnitude alike. */
static uint64_t any_u64(uint64_t *seed) {
    return base_random(seed) >> base_random_below(seed, 64);
}

static void whole_numbers_are_as_printf_has_them(void **state) {
    (void)state;
    uint64_t seed = 2;
    uint64_t power = 1;
    for (int i = 0; i < 200000; i++) {
        char out[64];
        char want[64];
        uint64_t v = any_u64(&seed);
        if (i < 60) {
            v = power - 1 + (uint64_t)(i % 3);
            power *= i % 3 == 2 ? 10 : 1;
        }
        memset(out, '#', sizeof(out));
        size_t n = (size_t)(perftrace__put_u64(out, v) - out);
        snprintf(want, sizeof(want), "%" PRIu64, v);
        assert_true(n == strlen(want) && memcmp(out, want, n) == 0 && n <= PERFTRACE__U64_MAX);
        n = (size_t)(perftrace__put_i64(out, (int64_t)v) - out);
        snprintf(want, sizeof(want), "%" PRId64, (int64_t)v);
        assert_true(n == strlen(want) && memcmp(out, want, n) == 0 && n <= PERFTRACE__I64_MAX);
    }
    char out[32];
    *perftrace__put_i64(out, INT64_MIN) = '\0';
    assert_string_equal(out, "-9223372036854775808");
}

static void check_us(uint64_t ns) {
    char out[40];
    char want[40];
    memset(out, '#', sizeof(out));
    size_t n = (size_t)(perftrace__put_us(out, ns) - out);
    snprintf(want, sizeof(want), "%" PRIu64 ".%03" PRIu64, ns / 1000, ns % 1000);
    if (n != strlen(want) || memcmp(out, want, n) != 0) {
        fail_msg("%s became %.*s", want, (int)n, out);
    }
    for (size_t i = PERFTRACE__US_MAX; i < sizeof(out); i++) {
        assert_int_equal(out[i], '#');
    }
}

static void microseconds_have_three_decimals_and_lose_nothing(void **state) {
    (void)state;
    uint64_t seed = 3;
    uint64_t power = 1;
    for (int digits = 0; digits < 20; digits++, power *= 10) {
        for (uint64_t near = 0; near < 3; near++) {
            check_us(power - 1 + near);
        }
    }
    for (uint64_t ns = 0; ns < 200000; ns++) {
        check_us(ns);
    }
    for (int i = 0; i < 300000; i++) {
        check_us(any_u64(&seed));
    }
    check_us(UINT64_MAX);
}

static double any_double(uint64_t *seed) {
    double v;
    uint64_t bits = base_random(seed);
    memcpy(&v, &bits, sizeof(v));
    switch (base_random_below(seed, 4)) {
    case 0:
        return (double)(int64_t)any_u64(seed);
    case 1:
        return (double)(int32_t)bits / 1000.0;
    default:
        return v;
    }
}

/* In the present locale: the text is a JSON number of the "C" locale that reads back as v. */
static void check_double(double v, locale_t c_locale) {
    char out[PERFTRACE__DOUBLE_MAX + 2];
    memset(out, '#', sizeof(out));
    size_t n = (size_t)(perftrace__put_double(out, v, false) - out);
    assert_true(n <= PERFTRACE__DOUBLE_MAX && out[n] == '#');
    out[n] = '\0';
    size_t points = 0;
    for (size_t i = 0; i < n; i++) {
        points += out[i] == '.';
        if (!strchr("0123456789.e+-", out[i])) {
            fail_msg("%s", out);
        }
    }
    assert_true(points <= 1);
    char *end;
    double back = strtod_l(out, &end, c_locale);
    if (*end != '\0' || back != v || signbit(back) != signbit(v)) {
        fail_msg("%.17g became %s", v, out);
    }
}

static void check_doubles(int count, locale_t c_locale) {
    static const double edges[] = {0.0,
                                   -0.0,
                                   1.0,
                                   0.1,
                                   1e22,
                                   5e-324,
                                   1.7976931348623157e308,
                                   2.5e-10,
                                   1e16,
                                   1e-5,
                                   1e15,
                                   9007199254740993.0,
                                   123456.789,
                                   1e100,
                                   -1e21,
                                   1.5e9,
                                   0.3,
                                   2.2250738585072014e-308};
    for (size_t i = 0; i < PT_ARRAY_LEN(edges); i++) {
        check_double(edges[i], c_locale);
        check_double(-edges[i], c_locale);
    }
    uint64_t seed = 4;
    for (int i = 0; i < count; i++) {
        double v = any_double(&seed);
        if (isfinite(v)) {
            check_double(v, c_locale);
        }
    }
}

static void a_double_reads_back_as_itself(void **state) {
    (void)state;
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    check_doubles(200000, c_locale);
    freelocale(c_locale);
}

static void what_is_not_finite_is_a_string_or_null(void **state) {
    (void)state;
    static const struct {
        double v;
        const char *text;
    } cases[] = {{(double)NAN, "\"NaN\""},
                 {-(double)NAN, "\"NaN\""},
                 {(double)INFINITY, "\"Infinity\""},
                 {-(double)INFINITY, "\"-Infinity\""}};
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        char out[40];
        *perftrace__put_double(out, cases[i].v, false) = '\0';
        assert_string_equal(out, cases[i].text);
        *perftrace__put_double(out, cases[i].v, true) = '\0';
        assert_string_equal(out, "null");
    }
}

/* Locales with a comma and with a decimal point of two bytes; made here, since few systems have
 * them installed. */
static void the_locale_does_not_reach_the_text(void **state) {
    (void)state;
    static const char *const names[] = {"de_DE", "ps_AF"};
    char dir[] = "/tmp/perftrace-locale-XXXXXX";
    char command[512];
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    assert_non_null(mkdtemp(dir));
    setenv("LOCPATH", dir, 1);
    unsigned tried = 0;
    for (size_t i = 0; i < PT_ARRAY_LEN(names); i++) {
        snprintf(command, sizeof(command),
                 "localedef --no-archive -i %s -f UTF-8 %s/%s.UTF-8 >/dev/null 2>&1", names[i], dir,
                 names[i]);
        char name[32];
        snprintf(name, sizeof(name), "%s.UTF-8", names[i]);
        if (system(command) != -1 && setlocale(LC_NUMERIC, name)) {
            assert_string_not_equal(localeconv()->decimal_point, ".");
            check_doubles(20000, c_locale);
            tried++;
        }
        setlocale(LC_NUMERIC, "C");
    }
    snprintf(command, sizeof(command), "rm -r %s", dir);
    assert_int_equal(system(command), 0);
    unsetenv("LOCPATH");
    freelocale(c_locale);
    if (tried == 0) {
        print_message("no locale could be made: localedef or its sources are missing\n");
        skip();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_are_as_printf_has_them),
        cmocka_unit_test(microseconds_have_three_decimals_and_lose_nothing),
        cmocka_unit_test(a_double_reads_back_as_itself),
        cmocka_unit_test(what_is_not_finite_is_a_string_or_null),
        cmocka_unit_test(the_locale_does_not_reach_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
