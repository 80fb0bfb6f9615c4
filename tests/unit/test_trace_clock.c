/* test_trace_clock.c: clocks of several files on one axis. SPDX-License-Identifier: MIT */
#include "clock_align.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define EPOCH INT64_C(1790000000123456789)
#define S     INT64_C(1000000000)

static void one_machine_is_exact_by_its_monotonic_clock(void **state) {
    /* The wall clock was set back between the two starts: it plays no part. */
    pt_clock_in_t in[] = {{.kind = PT_CLOCK_EPOCH,
                           .boot_id = "a",
                           .has_mono = true,
                           .epoch_ns = EPOCH,
                           .mono_ns = 100},
                          {.kind = PT_CLOCK_EPOCH,
                           .boot_id = "a",
                           .has_mono = true,
                           .epoch_ns = EPOCH - S,
                           .mono_ns = 1600}};
    pt_clock_out_t out[2];
    int64_t base;
    (void)state;
    assert_true(pt_clock_align(in, 2, out, &base));
    assert_int_equal(base, EPOCH);
    assert_int_equal(pt_clock_map(&out[0], 5), 5);
    assert_int_equal(pt_clock_map(&out[1], 5), 1505);
    assert_int_equal(out[1].method, PT_CLOCK_METHOD_MONOTONIC);
    assert_true(out[1].bound_ns > 0 && out[1].bound_ns <= 1000);
}

static void an_earlier_file_moves_the_base(void **state) {
    pt_clock_in_t in[] = {{.kind = PT_CLOCK_EPOCH,
                           .boot_id = "a",
                           .has_mono = true,
                           .epoch_ns = EPOCH,
                           .mono_ns = 1600},
                          {.kind = PT_CLOCK_EPOCH,
                           .boot_id = "a",
                           .has_mono = true,
                           .epoch_ns = EPOCH,
                           .mono_ns = 100}};
    pt_clock_out_t out[2];
    int64_t base;
    (void)state;
    assert_true(pt_clock_align(in, 2, out, &base));
    assert_int_equal(base, EPOCH - 1500);
    assert_int_equal(pt_clock_map(&out[0], 0), 1500);
    assert_int_equal(pt_clock_map(&out[1], 0), 0);
}

/* Two hosts; the second one's clock is off by 250 ms and fast by 20 ppm. */
static int64_t skewed(int64_t t) {
    return S / 4 + t + t / 50000;
}

static void markers_give_offset_and_drift(void **state) {
    pt_sync_mark_t ref[] = {{7, 5 * S}, {9, 15 * S}, {8, 10 * S}};
    pt_sync_mark_t own[] = {{9, skewed(15 * S)}, {7, skewed(5 * S)}, {8, skewed(10 * S)}, {1, 3}};
    pt_clock_notes_t ref_notes = {.mark = ref, .marks = 3}, own_notes = {.mark = own, .marks = 4};
    pt_clock_in_t in[] = {{.kind = PT_CLOCK_EPOCH,
                           .boot_id = "a",
                           .has_mono = true,
                           .epoch_ns = EPOCH,
                           .mono_ns = 100,
                           .notes = &ref_notes},
                          {.kind = PT_CLOCK_EPOCH,
                           .boot_id = "b",
                           .has_mono = true,
                           .epoch_ns = EPOCH,
                           .mono_ns = 900,
                           .notes = &own_notes}};
    pt_clock_out_t out[2];
    int64_t base;
    (void)state;
    assert_true(pt_clock_align(in, 2, out, &base));
    assert_int_equal(out[1].method, PT_CLOCK_METHOD_BARRIER);
    for (int64_t t = 0; t < 100 * S; t += S) {
        assert_in_range(pt_clock_map(&out[1], skewed(t)) - pt_clock_map(&out[0], t) + 50, 0, 100);
    }
    assert_in_range(out[1].offset_ns, S / 4 - 100, S / 4 + 100);
    assert_true(out[1].drift_ppm > 19.99 && out[1].drift_ppm < 20.01);
    assert_int_equal(out[1].marks, 3);
    assert_true(out[1].bound_ns >= 0 && out[1].bound_ns < 50000);
}

/* Each of very many machines passed barriers with its two neighbours only, and is 1 ms ahead of the
 * one before. What takes a look at all pairs of them does not come to an end here. */
static void a_long_chain_of_machines_is_followed(void **state) {
    enum { MACHINES = 6000 };
    static pt_sync_mark_t mark[MACHINES][2];
    static pt_clock_notes_t notes[MACHINES];
    static char boot[MACHINES][16];
    pt_clock_in_t *in = calloc(MACHINES, sizeof *in);
    pt_clock_out_t *out = calloc(MACHINES, sizeof *out);
    int64_t base;
    (void)state;
    assert_true(in != NULL && out != NULL);
    for (int i = 0; i < MACHINES; i++) {
        snprintf(boot[i], sizeof boot[i], "%d", i);
        for (int k = 0; k < 2; k++) {
            mark[i][k] = (pt_sync_mark_t){(uint64_t)(i + k), (i + k) * S + i * (S / 1000)};
        }
        notes[i] = (pt_clock_notes_t){.mark = mark[i], .marks = 2};
        in[i] = (pt_clock_in_t){.kind = PT_CLOCK_EPOCH,
                                .boot_id = boot[i],
                                .has_mono = true,
                                .epoch_ns = EPOCH,
                                .mono_ns = 100,
                                .first_ts = 0,
                                .last_ts = MACHINES * S,
                                .notes = &notes[i]};
    }
    assert_true(pt_clock_align(in, MACHINES, out, &base));
    for (int i = 0; i < MACHINES; i++) {
        int64_t off = pt_clock_map(&out[i], mark[i][0].ts) - pt_clock_map(&out[0], 0) - i * S;
        assert_true(llabs(off) <= 2); /* a nanosecond of rounding at either end */
        assert_int_equal(out[i].method,
                         i == 0 ? PT_CLOCK_METHOD_REFERENCE : PT_CLOCK_METHOD_BARRIER);
        pt_clock_out_free(&out[i]);
    }
    free(in);
    free(out);
}

static void mapping_keeps_order(void **state) {
    pt_clock_out_t c = {.shift_ns = 100, .rate = -20e-6, .pivot_ns = 12345};
    int64_t last = pt_clock_map(&c, 0);
    (void)state;
    for (int64_t t = 1; t < 200000; t++) {
        int64_t now = pt_clock_map(&c, t);
        assert_true(now >= last);
        last = now;
    }
}

static void wall_clocks_are_said_to_be_uncorrected(void **state) {
    /* The second host's monotonic clock runs 10 ppm fast against its own wall clock. */
    pt_clock_pair_t pairs[] = {{0, 900, EPOCH + S},
                               {0, 900 + 100 * S + 100 * S / 100000, EPOCH + 101 * S}};
    pt_clock_notes_t notes = {.pair = pairs, .pairs = 2};
    pt_clock_in_t in[] = {{.kind = PT_CLOCK_EPOCH,
                           .boot_id = "a",
                           .has_mono = true,
                           .epoch_ns = EPOCH,
                           .mono_ns = 100},
                          {.kind = PT_CLOCK_EPOCH,
                           .boot_id = "b",
                           .has_mono = true,
                           .epoch_ns = EPOCH + S,
                           .mono_ns = 900,
                           .notes = &notes}};
    pt_clock_out_t out[2];
    int64_t base;
    (void)state;
    assert_true(pt_clock_align(in, 2, out, &base));
    assert_int_equal(out[1].method, PT_CLOCK_METHOD_WALL);
    assert_int_equal(out[1].bound_ns, -1);
    assert_in_range(pt_clock_map(&out[1], 0) + 10, S, S + 20);
    assert_in_range(pt_clock_map(&out[1], 100 * S + 100 * S / 100000) + 10, 101 * S, 101 * S + 20);
}

static void unknown_clocks_start_at_their_own_zero(void **state) {
    pt_clock_in_t in[] = {{.first_ts = 246000, .last_ts = S},
                          {.first_ts = 336000, .last_ts = 2 * S}};
    pt_clock_out_t out[2];
    int64_t base;
    (void)state;
    assert_true(pt_clock_align(in, 2, out, &base));
    assert_int_equal(base, INT64_MIN);
    assert_int_equal(out[1].method, PT_CLOCK_METHOD_NONE);
    assert_int_equal(pt_clock_map(&out[0], 246000), 246000);
    assert_int_equal(pt_clock_map(&out[1], 336000), 336000);
}

static void large_and_negative_times_are_brought_to_zero(void **state) {
    static const int64_t firsts[] = {-33000000, INT64_C(14607090374289000)};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        pt_clock_in_t in = {.first_ts = firsts[i], .last_ts = firsts[i] + S};
        pt_clock_out_t out;
        int64_t base;
        assert_true(pt_clock_align(&in, 1, &out, &base));
        assert_int_equal(pt_clock_map(&out, firsts[i]), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_machine_is_exact_by_its_monotonic_clock),
        cmocka_unit_test(an_earlier_file_moves_the_base),
        cmocka_unit_test(markers_give_offset_and_drift),
        cmocka_unit_test(a_long_chain_of_machines_is_followed),
        cmocka_unit_test(mapping_keeps_order),
        cmocka_unit_test(wall_clocks_are_said_to_be_uncorrected),
        cmocka_unit_test(unknown_clocks_start_at_their_own_zero),
        cmocka_unit_test(large_and_negative_times_are_brought_to_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
