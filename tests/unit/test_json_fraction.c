/* test_json_fraction.c: decimal fractions to the nearest double. SPDX-License-Identifier: MIT
 *
 * Built twice: as the library is, and without what only some processors have (json.cmake). */
#include "base_random.h"
#include "json_scan.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define TEXT_MAX 64

static uint64_t state_of_random = 88172645463325252u;

static unsigned below(unsigned limit) {
    return base_random_below(&state_of_random, limit);
}

/* Reads a text (shorter than TEXT_MAX) that goes on with `behind`. True when it is taken; then all
 * of it must be, with the right value. */
static bool reads(const char *text, char behind) {
    char line[TEXT_MAX + 1 + PERFTRACE__JSON_SPARE];
    size_t len = strlen(text);
    double got, want = strtod(text, NULL);
    memset(line, behind, sizeof line);
    memcpy(line, text, len);
    const char *end = perftrace__json_read_double(line, &got);
    if (end != NULL) {
        if (end != line + len || got != want || !signbit(got) != !signbit(want)) {
            fail_msg("%s: read as %.17g, %d bytes; is %.17g", text, got, (int)(end - line), want);
        }
    }
    return end != NULL;
}

/* Digits that are likely to make trouble: any, nines, ones of a few kinds, zeros but for the last.
 */
static void put_digits(char *to, unsigned count) {
    unsigned kind = below(4);
    for (unsigned i = 0; i < count; i++) {
        to[i] = (char)('0' + (kind == 0   ? below(10)
                              : kind == 1 ? 9
                              : kind == 2 ? 5 * below(2)
                                          : i + 1 == count));
    }
    to[count] = '\0';
}

static void fractions_of_every_length_are_exact(void **state) {
    (void)state;
    static const char behind[] = {',', '}', ' ', '\n', '\0', '"', '\x80', '/', ':'};
    for (unsigned whole = 1; whole <= 19; whole++) {
        for (unsigned part = 1; part <= 24; part++) {
            for (unsigned i = 0; i < 200; i++) {
                char text[TEXT_MAX];
                char *p = text;
                *p = '-';
                p += below(2);
                put_digits(p, whole);
                *p = *p == '0' && whole > 1 ? '1' : *p;
                p += whole;
                *p++ = '.';
                put_digits(p, part);
                bool taken = reads(text, behind[below(sizeof behind)]);
                assert_true(taken || whole + part > 19);
            }
        }
    }
}

static void whole_numbers_are_exact(void **state) {
    (void)state;
    static const char behind[] = {',', '}', ' ', '\n', '\0', '"', '\x80', '/', ':'};
    for (unsigned whole = 1; whole <= 19; whole++) {
        for (unsigned i = 0; i < 1000; i++) {
            char text[TEXT_MAX] = "-";
            char *p = text + below(2);
            put_digits(p, whole);
            *p = *p == '0' && whole > 1 ? '1' : *p;
            assert_true(reads(text, behind[below(sizeof behind)]));
        }
    }
}

static void fractions_below_one_are_exact(void **state) {
    (void)state;
    for (unsigned zeros = 0; zeros <= 20; zeros++) {
        for (unsigned part = 1; part <= 19; part++) {
            for (unsigned i = 0; i < 200; i++) {
                char text[TEXT_MAX] = "0.00000000000000000000";
                put_digits(text + 2 + zeros, part);
                (void)reads(text, ',');
                if (zeros + part <= 17) {
                    assert_true(reads(text, ','));
                }
            }
        }
    }
}

/* A double, and what lies in the middle between it and the next one, printed in full. */
static void ties_go_to_the_even_one(void **state) {
    (void)state;
    unsigned ties = 0;
    for (unsigned i = 0; i < 20000; i++) {
        unsigned decimals = 1 + below(4);
        double step = ldexp(1, -(int)decimals);
        uint64_t m = ((uint64_t)1 << 53) + ((uint64_t)below(UINT32_MAX) << 21 | below(1U << 21));
        char text[TEXT_MAX];
        /* m * step with m of 54 bits: an odd m is a tie. */
        uint64_t whole = m >> decimals;
        double part = step * (double)(m & ((1U << decimals) - 1));
        snprintf(text, sizeof text, "%llu%s", (unsigned long long)whole, "");
        char fraction[16];
        snprintf(fraction, sizeof fraction, "%.*f", (int)decimals, part);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s", fraction + 1);
        bool taken = reads(text, ',');
        ties += taken && (m & 1) != 0;
    }
    assert_true(ties > 1000);
}

static void other_numbers_are_told_apart(void **state) {
    (void)state;
    static const char *const taken[] = {
        "0",   "-0",  "0.0",    "-0.0", "12",      "1.5e3",      "1.5E-3",  "12.0",
        "0.5", "1e5", "0.00e1", "0e0",  "1.25e+2", "1790000000", "-12.125", "0.0e0"};
    static const char *const refused[] = {".5",  "1.",   "01.5", "00.5", "-01.5", "1.5e", "1.5e+",
                                          "-.5", "1.-5", "1..5", "a.5",  "1.e5",  "-",    ""};
    for (size_t i = 0; i < PT_ARRAY_LEN(taken); i++) {
        assert_true(reads(taken[i], ','));
    }
    for (size_t i = 0; i < PT_ARRAY_LEN(refused); i++) {
        char line[TEXT_MAX + PERFTRACE__JSON_SPARE] = "";
        double v;
        memcpy(line, refused[i], strlen(refused[i]));
        assert_null(perftrace__json_read_double(line, &v));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fractions_of_every_length_are_exact),
        cmocka_unit_test(whole_numbers_are_exact),
        cmocka_unit_test(fractions_below_one_are_exact),
        cmocka_unit_test(ties_go_to_the_even_one),
        cmocka_unit_test(other_numbers_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
