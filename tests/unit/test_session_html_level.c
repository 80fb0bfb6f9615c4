/* test_session_html_level.c: buckets of time, and how many intervals cover them.
 * SPDX-License-Identifier: MIT */
#include "base_random.h"
#include "html_level.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static double unit(uint64_t *random) {
    return (double)(base_random(random) >> 11) * 0x1p-53;
}

static void widths_are_what_people_count_in(void **state) {
    static const struct {
        double first, last, width;
        size_t most;
    } cases[] = {
        {0, 3.8, 0.02, 300},
        {0, 3660, 15, 300},
        {0, 298, 1, 300},
        {0, 0.001, 5e-6, 300},
        {0, 86400, 300, 300},
        {0, 400.0 * 86400, 2.0 * 86400, 300},
        {1000.5, 1010, 1, 12},
        {0, 0, 1e-6, 300},
        {5, 5, 1e-6, 1},
        {-10, 10, 0.1, 300},
        {0, 3e9, 200.0 * 86400, 300},
    };
    (void)state;
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        pt_buckets_t b = pt_buckets_over(cases[i].first, cases[i].last, cases[i].most);
        assert_true(fabs(b.width - cases[i].width) < 1e-9 * cases[i].width);
    }
}

static void all_times_have_a_bucket(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed < 2000; seed++) {
        uint64_t random = seed;
        double first = (unit(&random) - 0.5) * pow(10, unit(&random) * 9);
        double last = first + pow(10, unit(&random) * 15 - 7);
        size_t most = 3 + base_random_below(&random, 500);
        pt_buckets_t b = pt_buckets_over(first, last, most);
        double end = b.from + (double)b.count * b.width;
        assert_true(b.count >= 1 && b.count <= most);
        assert_true(b.from <= first && last < end + 1e-9 * (fabs(last) + b.width));
        for (int i = 0; i < 20; i++) {
            double t = first + unit(&random) * (last - first);
            size_t at = pt_bucket_of(&b, t);
            double from = b.from + (double)at * b.width, slack = 1e-9 * (fabs(t) + b.width);
            assert_true(at < b.count && t > from - slack && t < from + b.width + slack);
        }
        assert_int_equal(pt_bucket_of(&b, -1e300), 0);
        assert_int_equal(pt_bucket_of(&b, 1e300), b.count - 1);
    }
}

/* The level at a moment. */
static double level_at(const double *begin, const double *end, size_t n, double t) {
    double level = 0;
    for (size_t i = 0; i < n; i++) {
        level += begin[i] <= t && t < end[i];
    }
    return level;
}

static void means_and_peaks_are_right(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed < 60; seed++) {
        uint64_t random = seed;
        enum { MOST = 80 };
        double begin[MOST], end[MOST], copy_begin[MOST], copy_end[MOST], mean[40], peak[40];
        size_t n = base_random_below(&random, MOST);
        for (size_t i = 0; i < n; i++) {
            /* Whole numbers, so that intervals meet. */
            copy_begin[i] = begin[i] = (double)base_random_below(&random, 100);
            copy_end[i] = end[i] = begin[i] + 1 + (double)base_random_below(&random, 30);
        }
        pt_intervals_t v = {begin, end, n};
        pt_buckets_t b = {0, 3.5, 40}; /* 0 to 140: the last interval ends before */
        assert_true(pt_level(&v, &b, mean, peak));
        for (size_t k = 0; k < b.count; k++) {
            double sum = 0, most = 0;
            for (int q = 0; q < 7; q++) { /* the level changes at whole numbers only */
                double level = level_at(copy_begin, copy_end, n, (double)k * 3.5 + q * 0.5 + 0.25);
                sum += level / 7;
                most = fmax(most, level);
            }
            assert_true(fabs(mean[k] - sum) < 1e-9);
            assert_true(peak[k] == most);
        }
    }
}

static void nothing_covers_nothing(void **state) {
    double mean[3], peak[3];
    (void)state;
    pt_intervals_t v = {mean, mean, 0};
    pt_buckets_t b = {0, 1, 3};
    assert_true(pt_level(&v, &b, mean, peak));
    for (int i = 0; i < 3; i++) {
        assert_true(mean[i] == 0 && peak[i] == 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widths_are_what_people_count_in),
        cmocka_unit_test(all_times_have_a_bucket),
        cmocka_unit_test(means_and_peaks_are_right),
        cmocka_unit_test(nothing_covers_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
