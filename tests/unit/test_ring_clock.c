/* test_ring_clock.c: ticks to nanoseconds, and the step of an instant. SPDX-License-Identifier: MIT
 */
#include "base_random.h"
#include "ring_clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static perftrace__ring_header_t header;

static uint64_t mult_of(double ns_per_tick) {
    return (uint64_t)(ns_per_tick * 4294967296.0);
}

static void add_anchor(uint64_t ticks, uint64_t ns, uint64_t mult) {
    header.anchors[header.anchor_count % PERFTRACE__RING_ANCHORS] =
        (perftrace__anchor_t){ticks, ns, mult};
    header.anchor_count++;
}

static void one_anchor_is_a_line(void **state) {
    (void)state;
    memset(&header, 0, sizeof(header));
    assert_int_equal(perftrace__ring_ticks_to_ns(&header, 12345), 0);
    add_anchor(1000, 500, mult_of(0.5));
    assert_int_equal(perftrace__ring_ticks_to_ns(&header, 1000), 500);
    assert_int_equal(perftrace__ring_ticks_to_ns(&header, 3000), 1500);
    assert_int_equal(perftrace__ring_ticks_to_ns(&header, 800), 400);
    assert_int_equal(perftrace__ring_ticks_to_ns(&header, 0), 0);
    /* 100 years at 5 GHz do not overflow. */
    header.anchors[0] = (perftrace__anchor_t){0, 0, mult_of(0.2)};
    uint64_t ns = perftrace__ring_ticks_to_ns(&header, 5000000000ull * 3155760000ull);
    assert_true(ns > 3155759900000000000ull && ns < 3155760100000000000ull);
}

/* Anchors as the core makes them: each continues the line before it at a slightly other rate. */
static void times_never_run_backwards_over_many_anchors(void **state) {
    (void)state;
    uint64_t seed = 40;
    for (int round = 0; round < 20; round++) {
        memset(&header, 0, sizeof(header));
        uint64_t ticks = base_random(&seed) >> 20;
        uint64_t first = ticks;
        double rate = 0.2 + base_random_below(&seed, 1000) / 1000.0;
        add_anchor(ticks, 0, mult_of(rate));
        for (uint32_t i = 1; i < 3 * PERFTRACE__RING_ANCHORS / 2; i++) {
            ticks += 1 + base_random_below(&seed, 1000000);
            uint64_t ns = perftrace__ring_ticks_to_ns(&header, ticks);
            add_anchor(ticks, ns,
                       mult_of(rate * (0.999 + base_random_below(&seed, 200) / 100000.0)));
        }
        uint64_t last = 0;
        uint64_t span = ticks - first + 1000000;
        for (int k = 0; k < 5000; k++) {
            uint64_t t = first + span / 5000 * (uint64_t)k + base_random_below(&seed, 3);
            uint64_t ns = perftrace__ring_ticks_to_ns(&header, t);
            assert_true(ns >= last);
            last = ns;
        }
        /* Next to each anchor, tick by tick. */
        for (uint32_t i = 0; i < PERFTRACE__RING_ANCHORS; i++) {
            uint64_t at = header.anchors[i].ticks;
            for (uint64_t t = at - 3; t <= at + 3; t++) {
                assert_true(perftrace__ring_ticks_to_ns(&header, t) >=
                            perftrace__ring_ticks_to_ns(&header, t - 1));
            }
        }
    }
}

static void a_rate_comes_from_two_pairs_or_falls_back(void **state) {
    (void)state;
    assert_int_equal(perftrace__clock_mult(2000, 1000, 1), mult_of(0.5));
    assert_int_equal(perftrace__clock_mult(0, 1000, 77), 77);
    assert_int_equal(perftrace__clock_mult(1000, 0, 77), 77);
    assert_int_equal(perftrace__clock_mult(1, UINT64_MAX, 77), 77);
    assert_int_equal(perftrace__clock_mult(UINT64_MAX, 1, 77), 77);
    assert_int_equal(perftrace__clock_mult(1000000000000ull, 1000000000000ull, 1), mult_of(1));
}

static void a_step_holds_from_its_mark_to_the_next(void **state) {
    (void)state;
    memset(&header, 0, sizeof(header));
    int64_t step = 0;
    assert_false(perftrace__ring_step_at(&header, 1000, &step));
    for (uint64_t i = 0; i < 3 * PERFTRACE__RING_STEPS; i++) {
        header.steps[i % PERFTRACE__RING_STEPS] =
            (perftrace__step_mark_t){1000 + i * 10, (int64_t)i - 5};
        header.step_count = i + 1;
        uint64_t oldest = i < PERFTRACE__RING_STEPS ? 0 : i - PERFTRACE__RING_STEPS + 1;
        assert_false(perftrace__ring_step_at(&header, 1000 + oldest * 10 - 1, &step));
        assert_true(perftrace__ring_step_at(&header, 1000 + oldest * 10, &step));
        assert_int_equal(step, (int64_t)oldest - 5);
        assert_true(perftrace__ring_step_at(&header, 1000 + i * 10 + 5, &step));
        assert_int_equal(step, (int64_t)i - 5);
        assert_true(perftrace__ring_step_at(&header, UINT64_MAX, &step));
        assert_int_equal(step, (int64_t)i - 5);
    }
}

static void only_scopes_carry_the_step_of_their_start(void **state) {
    (void)state;
    memset(&header, 0, sizeof(header));
    add_anchor(0, 0, mult_of(1));
    header.steps[0] = (perftrace__step_mark_t){100, 7};
    header.step_count = 1;
    perftrace__event_t ev = {.kind = PERFTRACE_I_KIND_SCOPE, .start = 150, .end = 250};
    perftrace__ring_resolve(&header, &ev);
    assert_true(ev.has_step && ev.step == 7 && ev.start == 150 && ev.end == 250);
    ev = (perftrace__event_t){.kind = PERFTRACE_I_KIND_SCOPE, .start = 50, .end = 250};
    perftrace__ring_resolve(&header, &ev);
    assert_false(ev.has_step);
    ev = (perftrace__event_t){.kind = PERFTRACE_I_KIND_INSTANT, .start = 150, .end = 150};
    perftrace__ring_resolve(&header, &ev);
    assert_false(ev.has_step);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_anchor_is_a_line),
        cmocka_unit_test(times_never_run_backwards_over_many_anchors),
        cmocka_unit_test(a_rate_comes_from_two_pairs_or_falls_back),
        cmocka_unit_test(a_step_holds_from_its_mark_to_the_next),
        cmocka_unit_test(only_scopes_carry_the_step_of_their_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
