/* test_session_html_sample.c: which points of many are shown. SPDX-License-Identifier: MIT */
#include "base_random.h"
#include "html_sample.h"

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

/* Points in order of time; dense around y = 1, few elsewhere. */
static pt_html_point_t *make(size_t n, uint32_t groups, uint64_t seed) {
    pt_html_point_t *p = malloc((n + 1) * sizeof *p);
    assert_non_null(p);
    for (size_t i = 0; i < n; i++) {
        double y = 1 + 0.1 * unit(&seed);
        y += base_random_below(&seed, 10) == 0 ? 9 * unit(&seed) : 0;
        p[i] = (pt_html_point_t){(double)i, y, base_random_below(&seed, groups), (uint32_t)i};
    }
    return p;
}

static size_t count_between(const pt_html_point_t *p, size_t n, double low, double high) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        count += p[i].y >= low && p[i].y < high;
    }
    return count;
}

static void few_points_are_all_kept(void **state) {
    (void)state;
    pt_html_point_t *p = make(1000, 3, 1);
    assert_int_equal(pt_html_sample(p, 1000, 1.05, 1000), 1000);
    assert_int_equal(pt_html_sample(p, 0, (double)NAN, 10), 0);
    free(p);
}

static void of_many_what_is_rare_and_how_dense_it_is_stays(void **state) {
    const size_t n = 100000, most = 20000;
    (void)state;
    pt_html_point_t *p = make(n, 8, 2), *all = make(n, 8, 2);
    /* Far below all others. */
    p[777].y = all[777].y = 0.001;
    double high = 9.5;
    size_t above = count_between(all, n, high, 100);
    assert_true(above > 100 && above < most / 2);
    size_t kept = pt_html_sample(p, n, high, most);
    assert_int_equal(kept, most);
    assert_int_equal(count_between(p, kept, nextafter(high, 100), 100), above);
    assert_int_equal(count_between(p, kept, 0, 0.5), 1);
    for (size_t i = 0; i < kept; i++) {
        assert_true(i == 0 || p[i].row > p[i - 1].row);
        assert_memory_equal(&p[i], &all[p[i].row], sizeof p[i]);
    }
    /* Nine in ten lie in the dense band; the cells thin it out, but it stays the densest by far. */
    assert_true(count_between(p, kept, 1, 1.1) > kept / 2);
    /* Time is covered evenly. */
    size_t first_half = 0;
    for (size_t i = 0; i < kept; i++) {
        first_half += p[i].x < (double)n / 2;
    }
    assert_in_range(first_half, kept * 48 / 100, kept * 52 / 100);
    free(p);
    free(all);
}

static void many_above_are_thinned_too(void **state) {
    const size_t n = 50000, most = 4000;
    (void)state;
    pt_html_point_t *p = make(n, 2, 3);
    size_t kept = pt_html_sample(p, n, 1.05, most);
    assert_int_equal(kept, most);
    size_t above = 0;
    for (size_t i = 0; i < kept; i++) {
        above += p[i].y > 1.05;
    }
    assert_int_equal(above, most / 2);
    free(p);
}

static void odd_points_are_no_trouble(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed < 200; seed++) {
        uint64_t random = seed;
        size_t n = 1 + base_random_below(&random, 3000);
        size_t most = 1 + base_random_below(&random, 3000);
        pt_html_point_t *p = make(n, 1 + base_random_below(&random, 5000), seed);
        double scale = pow(10, (double)base_random_below(&random, 300));
        bool same_time = base_random_below(&random, 2) == 0;
        for (size_t i = 0; i < n; i++) {
            p[i].x = same_time ? 5 : -p[i].x * scale;
            p[i].y = base_random_below(&random, 3) == 0 ? 1 : p[i].y * scale;
        }
        double high = seed % 3 == 0 ? (double)NAN : seed % 3 == 1 ? 0 : 2 * scale;
        size_t kept = pt_html_sample(p, n, high, most);
        assert_true(kept <= most && kept <= n);
        assert_true(kept >= (n < most ? n : most / 2));
        free(p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_points_are_all_kept),
        cmocka_unit_test(of_many_what_is_rare_and_how_dense_it_is_stays),
        cmocka_unit_test(many_above_are_thinned_too),
        cmocka_unit_test(odd_points_are_no_trouble),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
