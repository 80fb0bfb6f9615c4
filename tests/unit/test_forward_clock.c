/* test_forward_clock.c: the collector's clock out of round trips. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "forward_clock.h"

#include <string.h>

typedef perftrace__forward_clock_t bursts_t; /* clock_t is the system's */
typedef perftrace__reference_t reference_t;

#define S UINT64_C(1000000000)

/* One round trip: asked at t1, answered at t4. */
static void trip(bursts_t *c, uint64_t t1, uint64_t t2, uint64_t t3, uint64_t t4, const char *ref) {
    perftrace__forward_clock_ask(c, t1);
    perftrace__forward_clock_answer(c, t1, t4, t2, t3, ref);
}

static void fill(bursts_t *c, uint64_t t1) {
    while (c->trips < PERFTRACE__FORWARD_TRIPS) {
        trip(c, t1, 900, 900, t1 + 100000, "a"); /* slow ones: error 50001 */
    }
}

static void shortest_trip_counts(void **state) {
    (void)state;
    bursts_t c = {0};
    reference_t r;
    bool any = false;
    assert_true(perftrace__forward_clock_due(&c, 0));
    perftrace__forward_clock_begin(&c);
    assert_false(perftrace__forward_clock_due(&c, 100 * S));
    trip(&c, 1000, 50010, 50030, 1200, "a"); /* 200 less 20: error 90 + 1 */
    trip(&c, 2000, 51010, 51030, 2100, "a"); /* 100 less 20: error 40 + 1 */
    trip(&c, 3000, 52010, 52030, 3300, "a");
    assert_false(perftrace__forward_clock_over(&c, 4000, &any, &r));
    fill(&c, 5000);
    assert_true(perftrace__forward_clock_over(&c, 200000, &any, &r));
    assert_true(any);
    assert_int_equal(r.mono_ns, 2050);
    assert_int_equal(r.ref_ns, 51020);
    assert_int_equal(r.error_ns, 41);
    assert_string_equal(r.ref, "a");
}

static void what_cannot_be_is_left_out(void **state) {
    (void)state;
    bursts_t c = {0};
    reference_t r;
    bool any = true;
    perftrace__forward_clock_answer(&c, 0, 10, 5, 5, "a"); /* nothing was asked */
    assert_int_equal(c.trips, 0);
    perftrace__forward_clock_begin(&c);
    perftrace__forward_clock_answer(&c, 0, 10, 5, 5, "a");
    assert_int_equal(c.trips, 0);
    perftrace__forward_clock_ask(&c, 1000);
    perftrace__forward_clock_answer(&c, 999, 1100, 5, 5, "a"); /* another question's */
    assert_int_equal(c.trips, 0);
    assert_true(c.waiting);
    perftrace__forward_clock_answer(&c, 1000, 1100, 20, 10, "a"); /* answered before it came */
    perftrace__forward_clock_answer(&c, 1000, 1100, 10, 10, "a"); /* a second time */
    assert_int_equal(c.trips, 1);
    trip(&c, 2000, 10, 1000, 2100, "a"); /* was there longer than on its way */
    trip(&c, 3000, 10, 10, 2999, "a");   /* came before it was asked */
    trip(&c, 4000, 10, 10, 4100, "");    /* nobody's clock */
    assert_int_equal(c.trips, 4);
    assert_false(c.any);
    while (c.trips < PERFTRACE__FORWARD_TRIPS) {
        trip(&c, 5000, 10, 10, 5100, "");
    }
    assert_true(perftrace__forward_clock_over(&c, 6000, &any, &r));
    assert_false(any);
}

static void another_collector_begins_anew(void **state) {
    (void)state;
    bursts_t c = {0};
    reference_t r;
    bool any;
    perftrace__forward_clock_begin(&c);
    trip(&c, 1000, 500, 500, 1010, "a");
    trip(&c, 2000, 90000, 90000, 2400, "b"); /* longer, but it is what answers now */
    while (c.trips < PERFTRACE__FORWARD_TRIPS) {
        trip(&c, 3000, 91000, 91000, 3500, "b");
    }
    assert_true(perftrace__forward_clock_over(&c, 4000, &any, &r));
    assert_string_equal(r.ref, "b");
    assert_int_equal(r.mono_ns, 2200);
    assert_int_equal(r.ref_ns, 90000);
    assert_int_equal(r.error_ns, 201);
}

static void bursts_come_soon_then_later(void **state) {
    (void)state;
    bursts_t c = {0};
    reference_t r;
    bool any;
    uint64_t now = 7 * S;
    static const uint64_t pauses_ms[] = {125, 250, 500, 1000, 2000, 4000, 8000, 10000, 10000};
    for (unsigned i = 0; i < PT_ARRAY_LEN(pauses_ms); i++) {
        assert_true(perftrace__forward_clock_due(&c, now));
        perftrace__forward_clock_begin(&c);
        fill(&c, now);
        assert_true(perftrace__forward_clock_over(&c, now + 5, &any, &r));
        assert_false(perftrace__forward_clock_over(&c, now + 5, &any, &r));
        uint64_t next = now + 5 + pauses_ms[i] * 1000000u;
        assert_false(perftrace__forward_clock_due(&c, next - 1));
        assert_true(perftrace__forward_clock_due(&c, next));
        now = next;
    }
}

static void a_late_answer_ends_the_burst(void **state) {
    (void)state;
    bursts_t c = {0};
    reference_t r;
    bool any;
    perftrace__forward_clock_begin(&c);
    trip(&c, 1000, 500, 500, 1100, "a");
    perftrace__forward_clock_ask(&c, 2000);
    assert_false(perftrace__forward_clock_over(&c, 2000 + 2 * S, &any, &r));
    assert_true(perftrace__forward_clock_over(&c, 2001 + 2 * S, &any, &r));
    assert_true(any); /* the one that came */
    assert_int_equal(r.error_ns, 51);
    perftrace__forward_clock_answer(&c, 2000, 3 * S, 1, 1, "a"); /* too late */
    assert_false(c.bursting);
    perftrace__forward_clock_begin(&c);
    perftrace__forward_clock_ask(&c, 10 * S);
    assert_true(perftrace__forward_clock_over(&c, 13 * S, &any, &r));
    assert_false(any);
}

static void a_break_asks_at_once(void **state) {
    (void)state;
    bursts_t c = {0};
    perftrace__forward_clock_begin(&c);
    perftrace__forward_clock_ask(&c, 1000);
    perftrace__forward_clock_skip(&c, 1000);
    assert_false(perftrace__forward_clock_due(&c, 1000));
    perftrace__forward_clock_broke(&c);
    assert_true(perftrace__forward_clock_due(&c, 1000));
    perftrace__forward_clock_begin(&c);
    perftrace__forward_clock_answer(&c, 1000, 1100, 1, 1, "a"); /* of the way that broke */
    assert_int_equal(c.trips, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shortest_trip_counts),
        cmocka_unit_test(what_cannot_be_is_left_out),
        cmocka_unit_test(another_collector_begins_anew),
        cmocka_unit_test(bursts_come_soon_then_later),
        cmocka_unit_test(a_late_answer_ends_the_burst),
        cmocka_unit_test(a_break_asks_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
