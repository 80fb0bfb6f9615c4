/* test_trace_curve.c: one clock against another by readings with errors.
 * SPDX-License-Identifier: MIT */
#include "clock_trips.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define S INT64_C(1000000000)

/* Where the sender asks: five bursts 2 s apart, then one every 10 s. */
static double burst_at(unsigned i) {
    return (double)S * (i < 5 ? 2.0 * i : 8 + 10.0 * (i - 4));
}

static double off_by(const pt_clock_curve_t *c, const trip_net_t *n, double t, double *ret_bound) {
    double own = trip_own(n, t);
    pt_clock_delta_t d = pt_clock_curve_at(c, (int64_t)own);
    *ret_bound = d.bound;
    return (double)((int64_t)own + d.ns) - t;
}

/* Readings without noise: the answer is known. The clock is 250 ms ahead and 20 ppm fast. */
static pt_clock_reading_t exact(int64_t t, int64_t error) {
    return (pt_clock_reading_t){1, S / 4 + t + t / 50000, t, error};
}

static void offset_and_drift_are_found(void **state) {
    pt_clock_reading_t r[10];
    pt_clock_curve_t c;
    (void)state;
    for (int i = 0; i < 10; i++) {
        r[9 - i] = exact(10 * i * S, 20000); /* in no order */
    }
    assert_true(pt_clock_curve_fit(r, 10, &c));
    assert_int_equal(c.used, 10);
    assert_int_equal(c.refused, 0);
    for (int64_t t = 0; t <= 90 * S; t += S) {
        pt_clock_delta_t d = pt_clock_curve_at(&c, exact(t, 0).mono_ns);
        assert_in_range(d.ns + S / 4 + t / 50000 + 50, 0, 100);
        /* An interval of 20 us half, 5 s away at most, 1 ppm and what 40 us in 90 s leave open. */
        assert_true(d.bound >= 15000 && d.bound < 20000 + 5 * 1500);
        assert_in_range(pt_clock_curve_own(&c, t) - exact(t, 0).mono_ns + 50, 0, 100);
    }
    /* 20 ppm of the reference's time are 19.9996 ppm of its own. */
    assert_true(fabs(c.rate + 19.9996e-6) < 1e-9);
    pt_clock_curve_free(&c);
}

static void the_bound_grows_away_from_the_readings(void **state) {
    pt_clock_reading_t r[] = {exact(0, 10000), exact(100 * S, 10000)};
    pt_clock_curve_t c;
    (void)state;
    assert_true(pt_clock_curve_fit(r, 2, &c));
    double at = pt_clock_curve_at(&c, r[1].mono_ns).bound;
    double later = pt_clock_curve_at(&c, r[1].mono_ns + 100 * S).bound;
    double earlier = pt_clock_curve_at(&c, r[0].mono_ns - 100 * S).bound;
    assert_true(at <= 10000);
    /* 20 us over 100 s leave 0.2 ppm open; 1 ppm is what the drift may change. */
    assert_true(later >= at + 110000 && later <= at + 130000);
    assert_true(earlier >= at + 110000 && earlier <= at + 130000);
    pt_clock_curve_free(&c);
}

static void one_reading_gives_an_offset(void **state) {
    pt_clock_reading_t r = exact(7 * S, 30000);
    pt_clock_curve_t c;
    (void)state;
    assert_true(pt_clock_curve_fit(&r, 1, &c));
    assert_int_equal(pt_clock_curve_at(&c, r.mono_ns).ns, 7 * S - r.mono_ns);
    assert_true(pt_clock_curve_at(&c, r.mono_ns).bound <= 30000);
    /* Nothing is known of the drift: 500 ppm. */
    pt_clock_delta_t d = pt_clock_curve_at(&c, r.mono_ns + 10 * S);
    assert_int_equal(d.ns, 7 * S - r.mono_ns);
    assert_true(d.bound >= 30000 + 10 * 500000 && d.bound < 30000 + 10 * 502000);
    pt_clock_curve_free(&c);
}

static void asymmetry_stays_within_the_error(void **state) {
    pt_clock_reading_t r[12];
    pt_clock_curve_t c;
    (void)state;
    /* Every other reading's delay was all on one way: off by its whole error, 80 us. */
    for (int i = 0; i < 12; i++) {
        r[i] = exact(10 * i * S, i % 2 ? 80000 : 5000);
        r[i].ref_ns += i % 2 ? 79000 : 0;
    }
    assert_true(pt_clock_curve_fit(r, 12, &c));
    assert_int_equal(c.refused, 0);
    for (int64_t t = 0; t <= 110 * S; t += S) {
        pt_clock_delta_t d = pt_clock_curve_at(&c, exact(t, 0).mono_ns);
        int64_t off_ns = d.ns + S / 4 + t / 50000;
        double off = fabs((double)off_ns);
        assert_true(off <= d.bound && off < 10000);
    }
    pt_clock_curve_free(&c);
}

static void wrong_readings_are_refused(void **state) {
    pt_clock_reading_t r[40];
    pt_clock_curve_t c;
    (void)state;
    for (int i = 0; i < 40; i++) {
        r[i] = exact(10 * i * S, 10000);
    }
    r[0].ref_ns += 3000000; /* the first, the last, two beside each other, and far ones */
    r[12].ref_ns -= 500000;
    r[13].ref_ns -= 480000;
    r[39].ref_ns += 3600 * S;
    assert_true(pt_clock_curve_fit(r, 40, &c));
    assert_int_equal(c.refused, 4);
    assert_int_equal(c.used, 36);
    for (int64_t t = 0; t <= 390 * S; t += S) {
        pt_clock_delta_t d = pt_clock_curve_at(&c, exact(t, 0).mono_ns);
        assert_in_range(d.ns + S / 4 + t / 50000 + 5000, 0, 10000);
    }
    pt_clock_curve_free(&c);
}

static void a_drift_that_changes_is_followed(void **state) {
    /* 20 ppm for 300 s, then 35 ppm. */
    trip_net_t n = {.offset_ns = 250e6, .ppm = 20, .knee_ns = 300e9, .later_ppm = 35};
    pt_clock_reading_t r[61];
    pt_clock_curve_t c;
    double bound;
    (void)state;
    for (int i = 0; i <= 60; i++) {
        r[i] = (pt_clock_reading_t){1, (int64_t)trip_own(&n, 10e9 * i), 10 * i * S, 20000};
    }
    assert_true(pt_clock_curve_fit(r, 61, &c));
    assert_int_equal(c.refused, 0);
    for (int second = 0; second <= 600; second++) {
        double off = fabs(off_by(&c, &n, 1e9 * second, &bound));
        assert_true(off <= bound);
        assert_true(off <= 50000 && bound <= 100000);
    }
    pt_clock_curve_free(&c);
}

static void nonsense_says_nothing(void **state) {
    static const pt_clock_reading_t bad[] = {
        {1, -1, 5, 5},
        {1, 5, -1, 5},
        {1, 5, 5, -1},
        {1, INT64_MAX, 5, 5},
        {1, 5, INT64_MAX, 5},
        {1, 5, 5, INT64_MAX},
        {1, INT64_MIN, INT64_MIN, INT64_MIN},
    };
    pt_clock_reading_t r[7], ends[2];
    pt_clock_curve_t c;
    (void)state;
    for (size_t i = 0; i < 7; i++) {
        r[i] = bad[i];
    }
    assert_true(pt_clock_curve_fit(r, 7, &c));
    assert_int_equal(c.count, 0);
    assert_int_equal(c.refused, 7);
    assert_true(pt_clock_curve_fit(NULL, 0, &c));
    assert_int_equal(c.count, 0);
    /* Two that cannot both be true: which one is not known, so neither is taken. */
    ends[0] = (pt_clock_reading_t){1, 0, 0, 10};
    ends[1] = (pt_clock_reading_t){1, 1000, 30 * S, 10};
    assert_true(pt_clock_curve_fit(ends, 2, &c));
    assert_int_equal(c.count, 0);
    assert_int_equal(c.refused, 2);
    /* The ends of what a number may be. */
    ends[0] = (pt_clock_reading_t){1, 0, PT_CLOCK_LIMIT - 1, 0};
    ends[1] = (pt_clock_reading_t){1, PT_CLOCK_LIMIT - 1, 0, 0};
    assert_true(pt_clock_curve_fit(ends, 2, &c));
    assert_int_equal(c.count, 0);
}

static void many_equal_and_many_more(void **state) {
    enum { MANY = 30000 };
    pt_clock_reading_t *r = calloc(MANY, sizeof *r);
    pt_clock_curve_t c;
    (void)state;
    assert_non_null(r);
    for (int i = 0; i < MANY; i++) {
        r[i] = exact(5 * S, 10000);
    }
    assert_true(pt_clock_curve_fit(r, MANY, &c));
    assert_in_range(pt_clock_curve_at(&c, r[0].mono_ns).ns + S / 4 + S / 10000 + 10, 0, 20);
    pt_clock_curve_free(&c);
    for (int i = 0; i < MANY; i++) {
        r[i] = exact(i * S, 10000 + i % 7);
    }
    assert_true(pt_clock_curve_fit(r, MANY, &c));
    assert_true(c.used > 1000);
    for (int64_t t = 0; t < MANY * S; t += 100 * S) {
        pt_clock_delta_t d = pt_clock_curve_at(&c, exact(t, 0).mono_ns);
        assert_in_range(d.ns + S / 4 + t / 50000 + 100, 0, 200);
    }
    pt_clock_curve_free(&c);
    free(r);
}

/* 300 runs of round trips with queues of random length, now and then a burst on one way. */
static void the_bound_holds(void **state) {
    enum { RUNS = 300, ASKED = 40 };
    unsigned within = 0, close = 0, calm = 0;
    (void)state;
    for (unsigned run = 0; run < RUNS; run++) {
        uint64_t seed = 1000 + run;
        trip_net_t n = {.base_ns = 5e3 + 95e3 * trip_uniform(&seed),
                        .queue_ns = 5e3 + 395e3 * trip_uniform(&seed),
                        .odd = 0.1 * trip_uniform(&seed),
                        .offset_ns = 1e9 * (1 + trip_uniform(&seed)),
                        .ppm = 200 * trip_uniform(&seed) - 100};
        pt_clock_reading_t r[60];
        pt_clock_curve_t c;
        bool good = true, near = true;
        unsigned bursts = 2 + base_random_below(&seed, 58);
        for (unsigned i = 0; i < bursts; i++) {
            r[i] = trip_burst(&n, burst_at(i), 16, &seed);
        }
        assert_true(pt_clock_curve_fit(r, bursts, &c));
        assert_true(c.count > 0);
        for (unsigned i = 0; i < ASKED; i++) {
            double bound, end = burst_at(bursts - 1), at = trip_uniform(&seed) * end;
            double off = fabs(off_by(&c, &n, at, &bound));
            good &= off <= bound + 1;
            near &= off <= 50000;
            at = (i % 2 ? end : 0) + (i % 2 ? 60e9 : -60e9) * trip_uniform(&seed);
            off = fabs(off_by(&c, &n, at, &bound)); /* before the first and after the last, too */
            good &= off <= bound + 1;
        }
        within += good;
        calm += n.queue_ns <= 150e3;
        close += near && n.queue_ns <= 150e3;
        pt_clock_curve_free(&c);
    }
    assert_true(within * 100 >= RUNS * 99);
    assert_true(calm > 50 && close * 100 >= calm * 99);
}

/* The drift wanders as that of a machine that warms up: a ppm up and down within ten minutes. */
static void the_bound_holds_while_the_drift_wanders(void **state) {
    unsigned good = 0;
    (void)state;
    for (unsigned run = 0; run < 100; run++) {
        uint64_t seed = 77 + run;
        trip_net_t n = {.base_ns = 20e3, .queue_ns = 40e3, .offset_ns = 1e9, .ppm = 20};
        double swing = 1e-6 * 600e9 / 6.283185307, phase = 6.283185307 * trip_uniform(&seed);
        pt_clock_reading_t r[100];
        pt_clock_curve_t c;
        bool all = true;
        for (unsigned i = 0; i < 100; i++) {
            r[i] = trip_burst(&n, burst_at(i), 16, &seed);
            r[i].mono_ns += (int64_t)(swing * sin(burst_at(i) / 600e9 * 6.283185307 + phase));
        }
        assert_true(pt_clock_curve_fit(r, 100, &c));
        for (unsigned i = 0; i < 200; i++) {
            double t = trip_uniform(&seed) * burst_at(99);
            double own = trip_own(&n, t) + swing * sin(t / 600e9 * 6.283185307 + phase);
            pt_clock_delta_t d = pt_clock_curve_at(&c, (int64_t)own);
            all &= fabs((double)((int64_t)own + d.ns) - t) <= d.bound + 1;
        }
        good += all;
        pt_clock_curve_free(&c);
    }
    assert_true(good >= 99);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offset_and_drift_are_found),
        cmocka_unit_test(the_bound_grows_away_from_the_readings),
        cmocka_unit_test(one_reading_gives_an_offset),
        cmocka_unit_test(asymmetry_stays_within_the_error),
        cmocka_unit_test(wrong_readings_are_refused),
        cmocka_unit_test(a_drift_that_changes_is_followed),
        cmocka_unit_test(nonsense_says_nothing),
        cmocka_unit_test(many_equal_and_many_more),
        cmocka_unit_test(the_bound_holds),
        cmocka_unit_test(the_bound_holds_while_the_drift_wanders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
