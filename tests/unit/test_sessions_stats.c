/* test_sessions_stats.c: percentiles, bins, steps, bootstrap. SPDX-License-Identifier: MIT */
#include "session_bins.h"
#include "session_bootstrap.h"
#include "session_stats.h"
#include "session_steps.h"
#include "session_tally.h"
#include "sessions_util.h"

#include <math.h>

static bool near(double a, double b) {
    return fabs(a - b) <= 1e-12 * (fabs(a) + fabs(b)) + 1e-15;
}

static uint64_t random_state = 88172645463325252u;

static double random_unit(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (double)(random_state >> 11) * 0x1p-53;
}

static int by_number(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void many_and_few_values_are_sorted(void **state) {
    static const size_t sizes[] = {0, 1, 2, 511, 512, 5000, 100000};
    (void)state;
    for (size_t s = 0; s < PT_ARRAY_LEN(sizes); s++) {
        size_t n = sizes[s];
        double *v = malloc((n + 1) * sizeof *v), *w = malloc((n + 1) * sizeof *w);
        double *scratch = malloc((n + 1) * sizeof *scratch);
        for (size_t i = 0; i < n; i++) {
            double u = random_unit();
            v[i] = i % 7 == 0   ? 0
                   : i % 5 == 0 ? -1e300 * u
                   : i % 3 == 0 ? 1e-300 * u
                                : 1.79e9 + 1000 * u;
            /* Some that differ in their last bits only. */
            v[i] = s % 2 == 1 && i % 2 == 0 ? 1 + 0x1p-52 * (double)((n - i) % 1000000) : v[i];
            w[i] = v[i];
        }
        pt_sort_doubles(v, n, scratch);
        qsort(w, n, sizeof *w, by_number);
        assert_memory_equal(v, w, n * sizeof *v);
        free(v);
        free(w);
        free(scratch);
    }
}

static pt_summary_t tallied(const double *v, size_t n, size_t top, double *ret_limit) {
    pt_tally_t *t = calloc(1, sizeof *t);
    assert_non_null(t);
    for (size_t i = 0; i < n; i++) {
        pt_tally_count(t, v[i]);
    }
    assert_true(pt_tally_choose(t, top));
    for (size_t i = 0; i < n; i++) {
        pt_tally_keep(t, v[i]);
    }
    pt_summary_t s = pt_tally_summary(t, ret_limit);
    pt_tally_free(t);
    free(t);
    return s;
}

static void only_some_places_are_sorted(void **state) {
    static const size_t sizes[] = {1, 2, 511, 512, 513, 5000, 100000};
    (void)state;
    for (unsigned kind = 0; kind < 6; kind++) {
        for (size_t s = 0; s < PT_ARRAY_LEN(sizes); s++) {
            size_t n = sizes[s], place[9] = {0, n - 1, n / 3, n - 1};
            double *v = malloc(n * sizeof *v), *w = malloc(n * sizeof *w);
            double *x = malloc(n * sizeof *x), *scratch = malloc(n * sizeof *scratch), limit;
            pt_quantile_places(n, 0.5, &place[4]);
            pt_quantile_places(n, 0.99, &place[6]);
            place[8] = (size_t)(random_unit() * (double)n);
            for (size_t i = 0; i < n; i++) {
                double u = random_unit();
                w[i] = kind == 0   ? u
                       : kind == 1 ? 7.25                     /* all alike */
                       : kind == 2 ? (u < 0.6 ? 1 : 1000 * u) /* most */
                       : kind == 3 ? (u - 0.5) * 1e300        /* far apart */
                       : kind == 4 ? 1 + 0x1p-52 * (double)(i % 3)
                                   : (i == n / 2 ? 1e-300 : 1e300);
                v[i] = x[i] = w[i];
            }
            pt_sort_places(v, n, scratch, place, PT_ARRAY_LEN(place));
            pt_summary_t got = tallied(x, n, 3, &limit);
            qsort(w, n, sizeof *w, by_number);
            pt_summary_t want = pt_summarise(w, n);
            for (size_t i = 0; i < PT_ARRAY_LEN(place); i++) {
                assert_true(v[place[i]] == w[place[i]]);
            }
            assert_true(got.n == n && got.min == w[0] && got.max == w[n - 1]);
            assert_true(got.p50 == want.p50 && got.p90 == want.p90 && got.p99 == want.p99);
            assert_true(got.median_low == w[(n - 1) / 2] && limit == pt_top_limit(w, n, 3));
            assert_true(kind == 3 || (got.sum == want.sum && got.mean == want.mean));
            (void)tallied(x, n, 0, &limit);
            assert_true(isinf(limit) && limit > 0);
            (void)tallied(x, n, n, &limit);
            assert_true(isinf(limit) && limit < 0);
            free(v);
            free(w);
            free(x);
            free(scratch);
        }
    }
}

static void sums_do_not_depend_on_the_order(void **state) {
    static const double v[] = {1e16, 1, 1, -1e16, 0.5}, w[] = {1, 0.5, 1e16, -1e16, 1};
    static const double most[] = {1e308, 1e308, 1};
    (void)state;
    assert_true(pt_sum(v, 5) == 2.5 && pt_sum(w, 5) == 2.5 && pt_sum(NULL, 0) == 0);
    assert_true(isinf(pt_sum(most, 3)));
}

static void no_values_have_no_figures(void **state) {
    double limit;
    (void)state;
    pt_summary_t s = tallied(NULL, 0, 3, &limit);
    assert_true(s.n == 0 && s.sum == 0 && isnan(s.mean) && isnan(s.min) && isnan(s.max));
    assert_true(isnan(s.p50) && isnan(s.p99) && isnan(s.median_low));
    assert_true(isinf(limit) && limit < 0);
}

/* Expected values from numpy.percentile and statistics.median_low. */
static void percentiles_are_interpolated(void **state) {
    static const double ten[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 100};
    static const double two[] = {1, 3};
    (void)state;
    pt_summary_t s = pt_summarise(ten, 10);
    assert_true(near(s.p50, 5.5) && near(s.p90, 18.1) && near(s.p99, 91.81));
    assert_true(near(s.sum, 145) && near(s.mean, 14.5) && s.min == 1 && s.max == 100);
    assert_true(s.median_low == 5 && s.n == 10);
    s = pt_summarise(two, 2);
    assert_true(near(s.p50, 2) && near(s.p90, 2.8) && s.median_low == 1);
    s = pt_summarise(two, 1);
    assert_true(s.p50 == 1 && s.p99 == 1 && s.median_low == 1);
    s = pt_summarise(NULL, 0);
    assert_true(isnan(s.p50) && isnan(s.mean) && isnan(s.max) && s.sum == 0 && s.n == 0);
    double v[] = {1, 1, 2, 2, 4, 6, 9}, scratch[7]; /* median 2, deviations 0 0 1 1 2 4 7 */
    assert_true(near(pt_scaled_mad(v, 7, scratch), 1.4826));
    assert_true(pt_top_limit(ten, 10, 3) == 8);
    assert_true(isinf(pt_top_limit(ten, 10, 0)) && pt_top_limit(ten, 10, 11) < 0);
}

/* The rule of the reference, worked out by hand. */
static void bins_are_those_of_the_reference(void **state) {
    double v[1000];
    pt_bins_t b;
    (void)state;
    b = pt_bins_make(NULL, 0, 0, 120);
    assert_true(b.start == 0 && b.end == 1 && b.width == 0.1);
    v[0] = 4;
    b = pt_bins_make(v, 1, 0, 120); /* width 0.05 * 4 / 8 */
    assert_true(near(b.width, 0.025) && near(b.start, 3.9875) && near(b.end, 4.0375));
    v[0] = 0.001;
    b = pt_bins_make(v, 1, 0, 120); /* 0.05 * 1 / 8 */
    assert_true(near(b.width, 0.00625));
    for (size_t i = 0; i < 1000; i++) {
        v[i] = (double)i;
    }
    b = pt_bins_make(v, 1000, 0, 120); /* 2 * 499.5 / 10 */
    assert_true(near(b.width, 99.9) && b.start == 0 && b.end == 999);
    assert_int_equal(pt_bins_count(&b), 10);
    b = pt_bins_make(v, 1000, 0, 5); /* not below the span by max_bins */
    assert_true(near(b.width, 199.8));
    b = pt_bins_overall(v, 1000); /* at most the span by 120, which is the floor, too */
    assert_true(near(b.width, 999.0 / 120));
    b = pt_bins_step(v, 1000); /* min 500, max 800 */
    assert_true(near(b.width, 999.0 / 500));
    b = pt_bins_overall(v, 8); /* min(120, max(4, 96)) = 96 */
    assert_true(near(b.width, 7.0 / 96));
    for (size_t i = 0; i < 999; i++) {
        v[i] = 0; /* no IQR: the span by min(max_bins, max(40, n / 2)) */
    }
    v[999] = 12;
    b = pt_bins_make(v, 1000, 0, 120);
    assert_true(near(b.width, 0.1));
    v[999] = 0.05; /* not below 0.001 */
    b = pt_bins_make(v, 1000, 96, 120);
    assert_true(near(b.width, 0.001));
    uint64_t count[50];
    assert_int_equal(pt_bins_count(&b), 50);
    pt_bins_fill(&b, v, 1000, count, 50);
    assert_int_equal(count[0], 999);
    assert_int_equal(count[49], 1);
}

/* Two ranks, B = 4, so two tasks each a step; times are 100 + the number given. */
static void steps_follow_the_consumer(void **state) {
    static const struct {
        int rank, task;
        double end;
        const char *status;
        unsigned step;
    } row[] = {
        {0, 0, 1, "accepted", 0},  {0, 0, 5, "accepted", 0}, /* the task is done at 5 */
        {0, 1, 3, "accepted", 0},  {0, 2, 9, "accepted", 1},  {0, 3, 6, "rejected", 0},
        {0, 4, 7, "accepted", 0},  {1, 0, 2, "accepted", 0},  {1, 1, 8, "accepted", 0},
        {1, 2, 10, "accepted", 1}, {1, 3, 11, "accepted", 1}, {1, 4, 12, "accepted", 99}, /* tail */
        {-1, 9, 4, "accepted", 0}, /* no rank: counts for no step, lies in one */
    };
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    pt_session_model_t m;
    pt_session_steps_t steps;
    pt_problems_t *book = new_book();
    (void)state;
    for (size_t i = 0; i < PT_ARRAY_LEN(row); i++) {
        perftrace__strbuf_printf(
            &text, "{\"task_id\": %d, \"session_id\": %zu, \"rank\": ", row[i].task, i);
        perftrace__strbuf_printf(&text, row[i].rank < 0 ? "null" : "%d", row[i].rank);
        perftrace__strbuf_printf(
            &text, ", \"status\": \"%s\", \"submit_ts\": 100, \"finalized_ts\": %g}\n",
            row[i].status, 100 + row[i].end);
    }
    const char *file = text.data;
    load_files(&m, book, &file, 1, true);
    assert_int_equal(m.rows, PT_ARRAY_LEN(row));
    assert_true(pt_session_steps_find(&m, 4, &steps));
    /* Rank 0 completes at 3 5 | 7 9, rank 1 at 2 8 | 10 11 | 12. */
    assert_int_equal(steps.count, 2);
    assert_true(steps.step[0].end == 108 && steps.step[0].first_end == 105);
    assert_int_equal(steps.step[0].first_rank, 0);
    assert_int_equal(steps.step[0].last_rank, 1);
    assert_true(steps.step[1].end == 111 && steps.step[1].first_end == 109);
    for (size_t i = 0; i < m.rows; i++) {
        assert_int_equal(steps.step_of[i], row[i].step == 99 ? PT_NO_STEP : row[i].step);
    }
    pt_session_steps_free(&steps);
    assert_true(pt_session_steps_find(&m, 5, &steps)); /* rounded down: the same */
    assert_int_equal(steps.count, 2);
    pt_session_steps_free(&steps);
    assert_true(pt_session_steps_find(&m, 1, &steps)); /* a rank without a quota */
    assert_int_equal(steps.count, 0);
    assert_int_equal(steps.too_small, 1);
    pt_session_steps_free(&steps);
    pt_session_model_free(&m);
    perftrace__strbuf_free(&text);
    pt_problems_free(book);
}

/* ---- bootstrap ---- */

#define TASKS   200U
#define SAMPLES 4U

/* Samples of a task are alike: each is the task's value and a little noise. */
static void fill(pt_boot_list_t *list, double shift) {
    list->n = TASKS * SAMPLES;
    list->item = malloc(list->n * sizeof *list->item);
    assert_non_null(list->item);
    for (uint32_t task = 0; task < TASKS; task++) {
        double base = 1 + random_unit();
        for (uint32_t i = 0; i < SAMPLES; i++) {
            list->item[task * SAMPLES + i] =
                (pt_boot_value_t){base + shift + 0.01 * random_unit(), task};
        }
    }
    pt_boot_sort(list);
}

static void replicates_spread_as_tasks_do(void **state) {
    enum { R = 1000 };
    pt_boot_list_t list;
    double figure[PT_BOOT_FIGURES], low, high, mean[R];
    double *a = malloc(R * (PT_BOOT_FIGURES + 1) * sizeof *a);
    double *b = malloc(R * (PT_BOOT_FIGURES + 1) * sizeof *b);
    uint32_t part[TASKS], of[TASKS];
    (void)state;
    fill(&list, 0);
    for (uint32_t i = 0; i < TASKS; i++) {
        of[i] = SAMPLES;
        part[i] = i % 2 == 0 ? SAMPLES : 0; /* one half */
    }
    pt_boot_share_t share = {part, of};
    pt_boot_t boot = {&list, &share, 1, 1, TASKS, 7};
    assert_true(pt_boot_run(&boot, R, 1, a) && pt_boot_run(&boot, R, 3, b));
    assert_memory_equal(a, b, R * (PT_BOOT_FIGURES + 1) * sizeof *a);
    assert_true(pt_boot_figures(&list, figure));
    /* The mean of 200 tasks spread over a unit: a standard deviation of 0.289 / sqrt(200). */
    for (size_t r = 0; r < R; r++) {
        mean[r] = a[r * (PT_BOOT_FIGURES + 1)];
    }
    pt_boot_interval(mean, R, 95, &low, &high);
    assert_true(low < figure[PT_BOOT_MEAN] && figure[PT_BOOT_MEAN] < high);
    assert_true(high - low > 0.06 && high - low < 0.10); /* 0.080 */
    /* The share of one half: sqrt(0.25 / 200) = 0.0354. */
    for (size_t r = 0; r < R; r++) {
        mean[r] = a[r * (PT_BOOT_FIGURES + 1) + PT_BOOT_FIGURES];
    }
    pt_boot_interval(mean, R, 95, &low, &high);
    assert_true(low < 0.5 && 0.5 < high && high - low > 0.11 && high - low < 0.17); /* 0.139 */
    free(list.item);
    free(a);
    free(b);
}

static void figures_are_those_of_the_summary(void **state) {
    (void)state;
    for (size_t n = 1; n < 20000; n = n * 3 + 1) {
        double *v = malloc(n * sizeof *v), *scratch = malloc(n * sizeof *scratch);
        pt_boot_list_t list = {malloc(n * sizeof *list.item), n};
        double figure[PT_BOOT_FIGURES];
        for (size_t i = 0; i < n; i++) {
            v[i] = random_unit();
            list.item[i] = (pt_boot_value_t){v[i], 0};
        }
        pt_sort_doubles(v, n, scratch);
        pt_boot_sort(&list);
        pt_summary_t s = pt_summarise(v, n);
        assert_true(pt_boot_figures(&list, figure));
        assert_true(near(figure[PT_BOOT_MEAN], s.mean) && near(figure[PT_BOOT_P50], s.p50));
        assert_true(near(figure[PT_BOOT_P90], s.p90) && near(figure[PT_BOOT_P99], s.p99));
        free(v);
        free(scratch);
        free(list.item);
    }
    pt_boot_list_t none = {NULL, 0};
    double figure[PT_BOOT_FIGURES];
    assert_true(pt_boot_figures(&none, figure) && isnan(figure[PT_BOOT_P50]));
}

static void intervals_pass_over_what_is_no_number(void **state) {
    double v[] = {3, (double)NAN, 1, 2, (double)NAN};
    double low, high;
    (void)state;
    pt_boot_interval(v, 5, 100, &low, &high);
    assert_true(low == 1 && high == 3);
    double w[] = {1, (double)NAN, (double)NAN};
    pt_boot_interval(w, 3, 99, &low, &high);
    assert_true(isnan(low) && isnan(high));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_and_few_values_are_sorted),
        cmocka_unit_test(only_some_places_are_sorted),
        cmocka_unit_test(no_values_have_no_figures),
        cmocka_unit_test(sums_do_not_depend_on_the_order),
        cmocka_unit_test(percentiles_are_interpolated),
        cmocka_unit_test(bins_are_those_of_the_reference),
        cmocka_unit_test(steps_follow_the_consumer),
        cmocka_unit_test(replicates_spread_as_tasks_do),
        cmocka_unit_test(figures_are_those_of_the_summary),
        cmocka_unit_test(intervals_pass_over_what_is_no_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
