/* test_profiler_schedule.c: when windows open. SPDX-License-Identifier: MIT */
#include "base_random.h"

#include <perftrace/profiler.h>
#include <perftrace/status.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define NONE   PERFTRACE_PROFILER_NONE
#define WARMUP PERFTRACE_PROFILER_WARMUP
#define RECORD PERFTRACE_PROFILER_RECORD
#define SAVE   PERFTRACE_PROFILER_RECORD_AND_SAVE

/* ---- cycles -------------------------------------------------------------------------------------
 */

/* The same table walked step by step, by counting down what is left of each stretch. */
typedef struct walker {
    const perftrace_schedule_t *s;
    int64_t skip, wait, warmup, active; /* left of the present stretch and of what follows it */
    int64_t cycle;
} walker_t;

static void next_cycle(walker_t *w) {
    w->wait = w->s->wait;
    w->warmup = w->s->warmup;
    w->active = w->s->active;
}

static walker_t walk_from_zero(const perftrace_schedule_t *s) {
    walker_t w = {.s = s, .skip = s->skip_first};
    next_cycle(&w);
    w.wait = s->skip_first_wait ? 0 : s->wait;
    return w;
}

static int walk(walker_t *w) {
    if (w->skip > 0) {
        w->skip--;
        return NONE;
    }
    if (w->s->repeat > 0 && w->cycle == w->s->repeat) {
        return NONE;
    }
    if (w->wait > 0) {
        w->wait--;
        return NONE;
    }
    if (w->warmup > 0) {
        w->warmup--;
        return WARMUP;
    }
    if (--w->active > 0) {
        return RECORD;
    }
    w->cycle++;
    next_cycle(w);
    return SAVE;
}

static void cycles_are_those_of_the_table(void **state) {
    (void)state;
    uint64_t seed = 5;
    size_t saved = 0;
    for (int i = 0; i < 10000; i++) {
        perftrace_schedule_t s = PERFTRACE_SCHEDULE_INIT;
        s.skip_first = base_random_below(&seed, 8);
        s.wait = base_random_below(&seed, 6);
        s.warmup = base_random_below(&seed, 5);
        s.active = 1 + base_random_below(&seed, 6);
        s.repeat = base_random_below(&seed, 4);
        s.skip_first_wait = (int)base_random_below(&seed, 2);
        int64_t windows = 0;
        int64_t first = -1;
        walker_t w = walk_from_zero(&s);
        for (int64_t step = 0; step < 80; step++) {
            perftrace_schedule_window_t window;
            int want = walk(&w);
            assert_int_equal(perftrace_schedule_action(&s, step, &window), want);
            if (want < RECORD) {
                assert_true(window.index == -1 && window.first == -1 && window.last == -1);
                continue;
            }
            first = first < 0 ? step : first;
            assert_int_equal(window.index, windows);
            assert_int_equal(window.last - window.first + 1, s.active);
            assert_true(window.first <= step && step <= window.last);
            assert_int_equal(want == SAVE, step == window.last);
            windows += want == SAVE;
            saved += want == SAVE;
        }
        int64_t told_first;
        assert_int_equal(perftrace_schedule_windows(&s, &told_first), s.repeat ? s.repeat : -1);
        assert_int_equal(told_first, first);
    }
    assert_true(saved > 10000);
}

static void expect(const perftrace_schedule_t *s, const char *letters) {
    static const char known[] = ".wrs";
    for (size_t i = 0; letters[i]; i++) {
        int action = perftrace_schedule_action(s, (int64_t)i, NULL);
        assert_true(action >= NONE && action <= SAVE);
        assert_int_equal(known[action], letters[i]);
    }
}

static void the_worked_example(void **state) {
    (void)state;
    perftrace_schedule_t s = PERFTRACE_SCHEDULE_INIT;
    s.skip_first = 1;
    s.wait = 1;
    s.warmup = 1;
    s.active = 2;
    expect(&s, "..wrs.wrs.wrs");
    s.skip_first_wait = 1;
    expect(&s, ".wrs.wrs.wrs");
    s.repeat = 2;
    expect(&s, ".wrs.wrs.........");
    s.skip_first_wait = 0;
    expect(&s, "..wrs.wrs........");
    s.wait = s.warmup = s.skip_first = s.repeat = 0;
    s.active = 1;
    expect(&s, "ssss");
}

static void far_steps_are_exact(void **state) {
    (void)state;
    perftrace_schedule_t s = PERFTRACE_SCHEDULE_INIT;
    s.wait = 1;
    s.active = 2;
    perftrace_schedule_window_t w;
    /* INT64_MAX = 3 * 3074457345618258602 + 1: the first recorded step of its cycle. */
    assert_int_equal(perftrace_schedule_action(&s, INT64_MAX, &w), RECORD);
    assert_int_equal(w.index, 3074457345618258602);
    assert_int_equal(w.first, INT64_MAX);
    assert_int_equal(w.last, -1); /* a number beyond all steps */
    s.skip_first_wait = 1;
    assert_int_equal(perftrace_schedule_action(&s, INT64_MAX, &w), SAVE);
    assert_int_equal(w.first, INT64_MAX - 1);
}

/* ---- steps ---- */

static void adjacent_steps_are_one_window(void **state) {
    (void)state;
    perftrace_schedule_t s = PERFTRACE_SCHEDULE_INIT;
    perftrace_schedule_window_t w;
    int64_t first;
    s.steps = "9, 1,3,5-7, 8,6";
    expect(&s, ".s.s.rrrrs.");
    assert_int_equal(perftrace_schedule_action(&s, 7, &w), RECORD);
    assert_true(w.index == 2 && w.first == 5 && w.last == 9);
    assert_int_equal(perftrace_schedule_windows(&s, &first), 3);
    assert_int_equal(first, 1);
    s.steps_apart = 1;
    expect(&s, ".s.s.sssss.");
    assert_int_equal(perftrace_schedule_action(&s, 7, &w), SAVE);
    assert_true(w.index == 4 && w.first == 7 && w.last == 7);
    assert_int_equal(perftrace_schedule_windows(&s, NULL), 7);
    s.steps = "0-9223372036854775807";
    assert_int_equal(perftrace_schedule_windows(&s, NULL), INT64_MAX);
    assert_int_equal(perftrace_schedule_action(&s, INT64_MAX, &w), SAVE);
    assert_int_equal(w.index, INT64_MAX);
}

static void no_steps_are_no_windows(void **state) {
    (void)state;
    perftrace_schedule_t s = PERFTRACE_SCHEDULE_INIT;
    int64_t first = 5;
    s.steps = " ";
    expect(&s, "......");
    assert_int_equal(perftrace_schedule_windows(&s, &first), 0);
    assert_int_equal(first, -1);
}

/* ---- iterations ---- */

static void iterations_are_delayed_and_counted(void **state) {
    (void)state;
    perftrace_schedule_t s = PERFTRACE_SCHEDULE_INIT;
    expect(&s, "rrrrrr");                 /* nothing given: all */
    s.wait = s.warmup = s.skip_first = 2; /* without active steps there are no cycles */
    expect(&s, "rrrrrr");
    s.wait = s.warmup = s.skip_first = 0;
    assert_int_equal(perftrace_schedule_windows(&s, NULL), 1);
    s.max_iterations = 3;
    expect(&s, "rrs...");
    s.delay_iterations = 2;
    expect(&s, "..rrs...");
    s.max_iterations = 0;
    expect(&s, "..rrrrrr");
    assert_int_equal(perftrace_schedule_action(&s, 1LL << 62, NULL), RECORD);
}

/* vLLM's profiler as it counts its calls of step: an own copy of its rule, run beside ours. */
static void vllm_counts_more_than_n(void **state) {
    (void)state;
    for (int64_t delay = 0; delay < 6; delay++) {
        for (int64_t max = 0; max < 6; max++) {
            if (delay + max == 0) {
                continue;
            }
            perftrace_schedule_t s = PERFTRACE_SCHEDULE_INIT;
            s.delay_iterations = delay;
            s.max_iterations = max;
            s.max_iterations_exceeded = 1;
            bool running = delay == 0;
            bool stopped = false;
            int64_t counted = 0;
            for (int64_t calls = 0; calls < 20; calls++) {
                if (calls > 0 && !stopped) {
                    running = running || calls == delay;
                    counted += running;
                    stopped = max > 0 && counted > max;
                }
                bool recorded = running && !stopped;
                assert_int_equal(perftrace_schedule_action(&s, calls, NULL) >= RECORD, recorded);
            }
        }
    }
}

static void tokens_become_iterations(void **state) {
    (void)state;
    perftrace_schedule_t s = PERFTRACE_SCHEDULE_INIT;
    assert_int_equal(perftrace_schedule_set_tokens(&s, 100, 110), 0);
    assert_true(s.delay_iterations == 100 && s.max_iterations == 10);
    assert_int_equal(perftrace_schedule_set_tokens(&s, -1, 4), 0);
    assert_true(s.delay_iterations == 0 && s.max_iterations == 4);
    assert_int_equal(perftrace_schedule_set_tokens(&s, 7, -1), 0);
    assert_true(s.delay_iterations == 7 && s.max_iterations == 0);
    static const int64_t bad[][2] = {{5, 5}, {5, 4}, {-2, 4}, {0, -2}, {-1, 0}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(perftrace_schedule_set_tokens(&s, bad[i][0], bad[i][1]),
                         PERFTRACE_ERR_INVALID);
        assert_int_equal(s.delay_iterations, 7); /* as it was */
    }
}

/* ---- what cannot be followed ---- */

static void refused(const perftrace_schedule_t *s, const char *why) {
    const char *reason = NULL;
    assert_int_equal(perftrace_schedule_check(s, &reason), PERFTRACE_ERR_INVALID);
    assert_non_null(reason);
    assert_non_null(strstr(reason, why));
    assert_int_equal(perftrace_schedule_action(s, 0, NULL), PERFTRACE_ERR_INVALID);
    assert_int_equal(perftrace_schedule_windows(s, NULL), 0);
}

static void bad_schedules_are_refused_with_a_reason(void **state) {
    (void)state;
    const perftrace_schedule_t good = PERFTRACE_SCHEDULE_INIT;
    perftrace_schedule_t s;
    const size_t numbers[] = {offsetof(perftrace_schedule_t, skip_first),
                              offsetof(perftrace_schedule_t, wait),
                              offsetof(perftrace_schedule_t, warmup),
                              offsetof(perftrace_schedule_t, active),
                              offsetof(perftrace_schedule_t, repeat),
                              offsetof(perftrace_schedule_t, delay_iterations),
                              offsetof(perftrace_schedule_t, max_iterations)};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        const int64_t minus = -1;
        s = good;
        memcpy((char *)&s + numbers[i], &minus, sizeof(minus));
        refused(&s, "negative");
    }
    static const char *const lists[] = {"x",  "1,",  ",",   "3-1",
                                        "-1", "1.5", "1;2", "9223372036854775808"};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        s = good;
        s.steps = lists[i];
        refused(&s, "no list");
    }
    s = good;
    s.active = 1;
    s.steps = "1";
    refused(&s, "only one");
    s.steps = NULL;
    s.max_iterations = 1;
    refused(&s, "only one");
    s = good;
    s.active = INT64_MAX;
    s.wait = 1;
    refused(&s, "too many");
    s = good;
    s.delay_iterations = INT64_MAX;
    refused(&s, "too many");
    s = good;
    s.struct_size = 0;
    refused(&s, "no schedule");
    refused(NULL, "no schedule");
    assert_int_equal(perftrace_schedule_action(&good, -1, NULL), PERFTRACE_ERR_INVALID);
    assert_int_equal(perftrace_schedule_check(&good, NULL), 0);
}

static void an_older_program_gives_fewer_fields(void **state) {
    (void)state;
    perftrace_schedule_t s = PERFTRACE_SCHEDULE_INIT;
    s.struct_size = offsetof(perftrace_schedule_t, skip_first_wait);
    s.wait = 1;
    s.active = 1;
    s.skip_first_wait = 1; /* beyond its structure: something else */
    s.steps = "x";
    expect(&s, ".s.s");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cycles_are_those_of_the_table),
        cmocka_unit_test(the_worked_example),
        cmocka_unit_test(far_steps_are_exact),
        cmocka_unit_test(adjacent_steps_are_one_window),
        cmocka_unit_test(no_steps_are_no_windows),
        cmocka_unit_test(iterations_are_delayed_and_counted),
        cmocka_unit_test(vllm_counts_more_than_n),
        cmocka_unit_test(tokens_become_iterations),
        cmocka_unit_test(bad_schedules_are_refused_with_a_reason),
        cmocka_unit_test(an_older_program_gives_fewer_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
