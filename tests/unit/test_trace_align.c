/* test_trace_align.c: clocks that were measured against others. SPDX-License-Identifier: MIT */
#include "clock_align.h"

#include "clock_trips.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define EPOCH INT64_C(1790000000000000000)
#define S     INT64_C(1000000000)
#define MAX   64

/* A machine of a test: its monotonic clock at true time t, its wall clock ahead of true time. */
typedef struct machine {
    const char *boot;
    trip_net_t clock;
    int64_t wall_ns;
    pt_clock_reading_t reading[MAX];
    pt_sync_mark_t mark[MAX];
    pt_clock_pair_t pair[MAX];
    pt_clock_notes_t notes;
} machine_t;

static int64_t mono(const machine_t *m, int64_t t) {
    return (int64_t)llround(trip_own(&m->clock, (double)t));
}

/* From true time 0 to 200 s; its ts 0 is true time 0. */
static pt_clock_in_t file_of(machine_t *m) {
    m->notes.reading = m->reading;
    m->notes.mark = m->mark;
    m->notes.pair = m->pair;
    return (pt_clock_in_t){.kind = PT_CLOCK_EPOCH,
                           .boot_id = m->boot,
                           .has_mono = true,
                           .epoch_ns = EPOCH + m->wall_ns,
                           .mono_ns = mono(m, 0),
                           .first_ts = 0,
                           .last_ts = mono(m, 200 * S) - mono(m, 0),
                           .notes = &m->notes};
}

/* Its clock against another one, every ten seconds, exactly. */
static void measure(machine_t *m, const machine_t *ref, int from, int count) {
    for (int i = from; i < from + count; i++) {
        m->reading[m->notes.readings++] =
            (pt_clock_reading_t){pt_clock_name(ref->boot, strlen(ref->boot)), mono(m, i * 10 * S),
                                 mono(ref, i * 10 * S), 20000};
    }
}

static void pass_barriers(machine_t *m, int count, int64_t late) {
    for (int i = 0; i < count; i++) {
        m->mark[m->notes.marks++] =
            (pt_sync_mark_t){(uint64_t)i + 100, mono(m, (i * 20 + 5) * S) - mono(m, 0) + late};
    }
}

/* The largest difference between the aligned times of two files at the same true times. */
static double apart(const pt_clock_out_t *a, const machine_t *of_a, const pt_clock_out_t *b,
                    const machine_t *of_b) {
    double worst = 0;
    for (int64_t t = 0; t <= 200 * S; t += S / 2) {
        int64_t x = pt_clock_map(a, mono(of_a, t) - mono(of_a, 0));
        int64_t y = pt_clock_map(b, mono(of_b, t) - mono(of_b, 0));
        worst = fmax(worst, fabs((double)(x - y)));
    }
    return worst;
}

static void free_all(pt_clock_out_t *out, size_t n) {
    for (size_t i = 0; i < n; i++) {
        pt_clock_out_free(&out[i]);
    }
}

/* The collector runs on a third machine. 20 ppm against each other, wall clocks an hour off. */
static void one_reference_joins_two_machines(void **state) {
    machine_t a = {.boot = "a", .clock = {.offset_ns = 5e9, .ppm = -7}};
    machine_t b = {.boot = "b", .clock = {.offset_ns = 1e15, .ppm = 13}, .wall_ns = 3600 * S};
    machine_t c = {.boot = "c", .clock = {.offset_ns = 77e9, .ppm = 1}};
    pt_clock_out_t out[2];
    int64_t base;
    (void)state;
    measure(&a, &c, 0, 21);
    measure(&b, &c, 0, 21);
    pt_clock_in_t in[] = {file_of(&a), file_of(&b)};
    assert_true(pt_clock_align(in, 2, out, &base));
    assert_int_equal(base, EPOCH);
    assert_int_equal(out[1].method, PT_CLOCK_METHOD_EXCHANGE);
    assert_true(apart(&out[0], &a, &out[1], &b) < 100);
    assert_in_range(out[1].offset_ns, 3600 * S - 1000, 3600 * S + 1000);
    assert_true(fabs(out[1].drift_ppm - 20) < 0.01);
    assert_int_equal(out[1].readings, 21);
    assert_true(out[1].bound_ns > 20000 && out[1].bound_ns < 80000);
    free_all(out, 2);
}

/* What runs on the collector's machine has its clock: nothing need be measured. */
static void the_reference_may_have_files(void **state) {
    machine_t a = {.boot = "a", .clock = {.offset_ns = 5e9}};
    machine_t b = {.boot = "b", .clock = {.offset_ns = 9e9, .ppm = 20}, .wall_ns = -S / 4};
    pt_clock_out_t out[2];
    int64_t base;
    (void)state;
    measure(&b, &a, 0, 21);
    for (int turn = 0; turn < 2; turn++) {
        pt_clock_in_t in[] = {turn ? file_of(&b) : file_of(&a), turn ? file_of(&a) : file_of(&b)};
        assert_true(pt_clock_align(in, 2, out, &base));
        assert_int_equal(out[1].method, PT_CLOCK_METHOD_EXCHANGE);
        assert_true(apart(&out[0], turn ? &b : &a, &out[1], turn ? &a : &b) < 100);
        assert_true(out[1].bound_ns > 10000 && out[1].bound_ns < 50000);
        assert_true(fabs(out[1].drift_ppm - (turn ? -20 : 20)) < 0.01);
        free_all(out, 2);
    }
}

/* a - c - b - d - e: two collectors, c and d, and b, which went from one to the other. */
static void two_references_are_joined_by_who_has_both(void **state) {
    machine_t a = {.boot = "a", .clock = {.offset_ns = 5e9}};
    machine_t b = {.boot = "b", .clock = {.offset_ns = 9e9, .ppm = 20}};
    machine_t e = {.boot = "e", .clock = {.offset_ns = 3e9, .ppm = -50}, .wall_ns = 99 * S};
    machine_t c = {.boot = "c", .clock = {.offset_ns = 1e9}}, d = {.boot = "d"};
    pt_clock_out_t out[3];
    int64_t base;
    (void)state;
    measure(&a, &c, 0, 21);
    measure(&b, &c, 0, 11);
    measure(&b, &d, 10, 11);
    measure(&e, &d, 0, 21);
    pt_clock_in_t in[] = {file_of(&a), file_of(&b), file_of(&e)};
    assert_true(pt_clock_align(in, 3, out, &base));
    assert_int_equal(out[2].method, PT_CLOCK_METHOD_EXCHANGE);
    assert_true(apart(&out[0], &a, &out[1], &b) < 2000);
    assert_true(apart(&out[0], &a, &out[2], &e) < 2000);
    assert_true(out[2].bound_ns > out[1].bound_ns && out[1].bound_ns > 0);
    free_all(out, 3);
}

/* b was measured, d only passed barriers with b, e has a wall clock only, f has no clock. */
static void every_file_gets_the_best_there_is(void **state) {
    machine_t a = {.boot = "a", .clock = {.offset_ns = 5e9}}, c = {.boot = "c"};
    machine_t b = {.boot = "b", .clock = {.offset_ns = 9e9, .ppm = 20}, .wall_ns = S};
    machine_t d = {.boot = "d", .clock = {.offset_ns = 4e9, .ppm = -30}, .wall_ns = -S};
    machine_t e = {.boot = "e", .clock = {.offset_ns = 6e9}, .wall_ns = 2 * S};
    machine_t b2 = b, g = {.boot = "g", .clock = {.offset_ns = 8e9}, .wall_ns = 7 * S};
    pt_clock_out_t out[7];
    int64_t base;
    (void)state;
    measure(&a, &c, 0, 21);
    measure(&b, &c, 0, 21);
    pass_barriers(&b, 10, 0);
    pass_barriers(&d, 10, 0);
    measure(&g, &e, 0, 21); /* who knows e's clock goes where e goes */
    pt_clock_in_t in[] = {file_of(&a),
                          file_of(&b),
                          file_of(&d),
                          file_of(&e),
                          file_of(&g),
                          file_of(&b2),
                          {.first_ts = 0, .last_ts = S}};
    assert_true(pt_clock_align(in, 7, out, &base));
    assert_int_equal(out[0].method, PT_CLOCK_METHOD_REFERENCE);
    assert_int_equal(out[0].bound_ns, 0);
    assert_int_equal(out[1].method, PT_CLOCK_METHOD_EXCHANGE);
    assert_int_equal(out[2].method, PT_CLOCK_METHOD_BARRIER);
    assert_int_equal(out[2].marks, 10);
    assert_int_equal(out[3].method, PT_CLOCK_METHOD_WALL);
    assert_int_equal(out[3].bound_ns, -1);
    assert_int_equal(out[4].method, PT_CLOCK_METHOD_WALL);
    assert_int_equal(out[4].bound_ns, -1);
    assert_int_equal(out[5].method, PT_CLOCK_METHOD_EXCHANGE); /* by the readings of b */
    assert_int_equal(out[6].method, PT_CLOCK_METHOD_NONE);
    assert_true(apart(&out[0], &a, &out[1], &b) < 100);
    assert_true(apart(&out[0], &a, &out[2], &d) < 1000);
    assert_true(apart(&out[3], &e, &out[4], &g) < 1000);
    assert_true(apart(&out[1], &b, &out[5], &b2) <= 1);
    assert_true(apart(&out[0], &a, &out[3], &e) > 1.9e9);
    free_all(out, 7);
}

/* Readings count before barriers, whatever rank is late to leave these. */
static void readings_count_before_barriers(void **state) {
    machine_t a = {.boot = "a", .clock = {.offset_ns = 5e9}}, c = {.boot = "c"};
    machine_t b = {.boot = "b", .clock = {.offset_ns = 9e9, .ppm = 20}};
    pt_clock_out_t out[2];
    int64_t base;
    (void)state;
    measure(&a, &c, 0, 21);
    measure(&b, &c, 0, 21);
    pass_barriers(&a, 10, 0);
    pass_barriers(&b, 10, 5000000);
    pt_clock_in_t in[] = {file_of(&a), file_of(&b)};
    assert_true(pt_clock_align(in, 2, out, &base));
    assert_int_equal(out[1].method, PT_CLOCK_METHOD_EXCHANGE);
    assert_int_equal(out[1].marks, 0);
    assert_true(apart(&out[0], &a, &out[1], &b) < 100);
    free_all(out, 2);
}

/* b counts its barriers anew and gives the numbers 100 and 101 twice: those are of no use. */
static void a_number_given_twice_is_of_no_use(void **state) {
    machine_t a = {.boot = "a", .clock = {.offset_ns = 5e9}};
    machine_t b = {.boot = "b", .clock = {.offset_ns = 9e9, .ppm = 20}};
    pt_clock_out_t out[2];
    int64_t base;
    (void)state;
    pass_barriers(&a, 10, 0);
    pass_barriers(&b, 10, 0);
    pass_barriers(&b, 2, 150 * S);
    pt_clock_in_t in[] = {file_of(&a), file_of(&b)};
    assert_true(pt_clock_align(in, 2, out, &base));
    assert_int_equal(out[1].method, PT_CLOCK_METHOD_BARRIER);
    assert_int_equal(out[1].marks, 8);
    assert_true(apart(&out[0], &a, &out[1], &b) < 1000);
    free_all(out, 2);
}

/* The wall clock of b is set by an hour after 50 s, that of a by a second back after 150 s. */
static void steps_of_the_wall_clock_are_told(void **state) {
    machine_t a = {.boot = "a", .clock = {.offset_ns = 5e9}}, c = {.boot = "c"};
    machine_t b = {.boot = "b", .clock = {.offset_ns = 9e9, .ppm = 20}};
    pt_clock_out_t out[2];
    int64_t base;
    (void)state;
    for (int i = 0; i <= 20; i++) {
        int64_t t = i * 10 * S;
        a.pair[a.notes.pairs++] = (pt_clock_pair_t){mono(&a, t) - mono(&a, 0), mono(&a, t),
                                                    EPOCH + t - (i >= 15 ? S : 0)};
        b.pair[b.notes.pairs++] = (pt_clock_pair_t){mono(&b, t) - mono(&b, 0), mono(&b, t),
                                                    EPOCH + t + (i >= 15 ? 3600 * S : 0)};
    }
    for (int turn = 0; turn < 2; turn++) {
        pt_clock_in_t in[] = {file_of(&a), file_of(&b)};
        assert_true(pt_clock_align(in, 2, out, &base));
        assert_int_equal(out[0].wall_steps, 1);
        assert_int_equal(out[0].wall_step_ns, -S);
        assert_int_equal(out[1].wall_steps, 1);
        /* By its own clock, which ran 20 ppm fast for ten seconds in between. */
        assert_in_range(out[1].wall_step_ns, 3600 * S - S / 1000, 3600 * S + S / 1000);
        assert_int_equal(out[1].method, turn ? PT_CLOCK_METHOD_EXCHANGE : PT_CLOCK_METHOD_WALL);
        /* The longest stretch that nobody set is the same in both: right without readings, too. */
        assert_true(apart(&out[0], &a, &out[1], &b) < 1000);
        free_all(out, 2);
        measure(&a, &c, 0, 21);
        measure(&b, &c, 0, 21);
    }
}

/* The drift of b changes from 20 to 35 ppm half way: the map bends, and keeps the order. */
static void a_map_that_bends_keeps_order(void **state) {
    machine_t a = {.boot = "a", .clock = {.offset_ns = 5e9}}, c = {.boot = "c"};
    machine_t b = {.boot = "b",
                   .clock = {.offset_ns = 9e9, .ppm = 20, .knee_ns = 100e9, .later_ppm = 35}};
    pt_clock_out_t out[2];
    int64_t base, last = INT64_MIN;
    (void)state;
    measure(&a, &c, 0, 21);
    measure(&b, &c, 0, 21);
    pt_clock_in_t in[] = {file_of(&a), file_of(&b)};
    assert_true(pt_clock_align(in, 2, out, &base));
    double off = apart(&out[0], &a, &out[1], &b);
    assert_true(off <= 100000 && off <= (double)out[1].bound_ns);
    assert_true(fabs(out[1].drift_ppm - 27.5) < 2);
    for (int64_t ts = -20 * S; ts < 240 * S; ts += 9999991) {
        for (int64_t at = ts; at < ts + 3; at++) {
            int64_t now = pt_clock_map(&out[1], at);
            assert_true(now >= last);
            last = now;
        }
    }
    free_all(out, 2);
}

/* Whatever numbers a file gives: an answer, and times that keep their order. */
static void odd_files_do_no_harm(void **state) {
    static const int64_t odd[] = {INT64_MIN, -1, 0, 1, S, EPOCH, PT_CLOCK_LIMIT, INT64_MAX};
    static const char *const boots[] = {"", "a", "b", NULL};
    uint64_t seed = 5;
    (void)state;
    for (unsigned run = 0; run < 3000; run++) {
        machine_t m[4] = {{0}};
        pt_clock_in_t in[4];
        pt_clock_out_t out[4];
        int64_t base;
        for (unsigned i = 0; i < 4; i++) {
#define ODD() odd[base_random_below(&seed, PT_ARRAY_LEN(odd))]
            in[i] = file_of(&m[i]);
            in[i].boot_id = boots[base_random_below(&seed, 4)];
            in[i].kind = base_random_below(&seed, 2) ? PT_CLOCK_EPOCH : PT_CLOCK_OWN_ZERO;
            in[i].epoch_ns = ODD();
            in[i].mono_ns = ODD();
            /* What a reader lets through: trace_time.h. */
            in[i].first_ts = ODD() / 2;
            in[i].last_ts = ODD() / 2;
            m[i].notes.readings = m[i].notes.marks = m[i].notes.pairs = base_random_below(&seed, 6);
            for (unsigned k = 0; k < m[i].notes.readings; k++) {
                m[i].reading[k] =
                    (pt_clock_reading_t){base_random_below(&seed, 3), ODD(), ODD(), ODD()};
                m[i].reading[k].ref =
                    m[i].reading[k].ref == 1 ? pt_clock_name("a", 1) : m[i].reading[k].ref;
                m[i].mark[k] = (pt_sync_mark_t){base_random_below(&seed, 3), ODD() / 2};
                m[i].pair[k] = (pt_clock_pair_t){ODD() / 2, llabs(ODD() / 8), llabs(ODD() / 8)};
            }
#undef ODD
        }
        assert_true(pt_clock_align(in, 4, out, &base));
        for (unsigned i = 0; i < 4; i++) {
            assert_true(out[i].bound_ns >= -1);
        }
        free_all(out, 4);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_reference_joins_two_machines),
        cmocka_unit_test(the_reference_may_have_files),
        cmocka_unit_test(two_references_are_joined_by_who_has_both),
        cmocka_unit_test(every_file_gets_the_best_there_is),
        cmocka_unit_test(readings_count_before_barriers),
        cmocka_unit_test(a_number_given_twice_is_of_no_use),
        cmocka_unit_test(steps_of_the_wall_clock_are_told),
        cmocka_unit_test(a_map_that_bends_keeps_order),
        cmocka_unit_test(odd_files_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
