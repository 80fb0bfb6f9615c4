/* test_profiler_stage.c: annotated stages, discrete and continuous. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profiler_book.h"

#define NEXT PERFTRACE_PROFILER_NEXT

typedef struct body {
    perftrace_profiler_t *p;
    int calls, result, batches;
    const char *inner; /* a stage within */
    int inner_result;
} body_t;

static int inner_body(void *arg) {
    body_t *b = arg;
    return b->inner_result;
}

static int outer_body(void *arg) {
    body_t *b = arg;
    b->calls++;
    for (int i = 0; i < b->batches; i++) {
        perftrace_profiler_step(b->p, NEXT);
    }
    if (b->inner) {
        assert_int_equal(perftrace_profiler_run(b->p, b->inner, 0, inner_body, b), b->inner_result);
    }
    return b->result;
}

static void each_stage_has_its_file(void **state) {
    (void)state;
    perftrace_profiler_options_t o = book_options();
    o.discrete = 1;
    o.steps = "2,4";
    o.name.role = "actor";
    perftrace_profiler_t *p = book_open(&o);
    body_t b = {.p = p};
    for (int step = 0; step < 6; step++) {
        assert_int_equal(perftrace_profiler_step(p, step), PERFTRACE_PROFILER_NONE);
        assert_int_equal(perftrace_profiler_start(p, NULL), 0); /* nothing, in this mode */
        assert_int_equal(perftrace_profiler_run(p, "generate", 0, outer_body, &b), 0);
        assert_int_equal(perftrace_profiler_run(p, "update actor", 0, outer_body, &b), 0);
        assert_int_equal(perftrace_profiler_stop(p), 0);
    }
    assert_int_equal(b.calls, 12);
    assert_int_equal(book.starts, 4);
    assert_int_equal(book.stops, 4);
    assert_string_equal(book.all, "2-2 2-2 4-4 4-4");
    assert_int_equal(book.first_step, 4);
    assert_string_equal(book.stage, "update actor");
    assert_non_null(strstr(book.path, "/actor_step4_rank0_"));
    assert_non_null(strstr(book.path, "_update-actor.txt"));
    assert_int_equal(files_of(0), 4);
    perftrace_profiler_close(p);
    assert_int_equal(told("windows recorded"), 0);
}

static void nested_stages_are_ignored_and_siblings_honoured(void **state) {
    (void)state;
    perftrace_profiler_options_t o = book_options();
    o.discrete = 1;
    perftrace_profiler_t *p = book_open(&o);
    body_t b = {.p = p, .inner = "inner"};
    assert_int_equal(perftrace_profiler_run(p, "outer", 0, outer_body, &b), 0);
    assert_string_equal(book.stage, "outer");
    assert_int_equal(book.starts, 1);
    b.inner = NULL;
    assert_int_equal(perftrace_profiler_run(p, "sibling", 0, outer_body, &b), 0);
    assert_string_equal(book.stage, "sibling");
    assert_int_equal(book.starts, 2);
    /* An inner failure that the outer body deals with is no failure of the outer stage. */
    b.inner = "inner";
    b.inner_result = 5;
    assert_int_equal(perftrace_profiler_run(p, "outer", 0, outer_body, &b), 0);
    assert_string_equal(book.mark, "");
    assert_int_equal(book.stops, 3);
    /* Tokens by hand: only the opener's ends the window. */
    int64_t first = perftrace_profiler_stage_begin(p, "a", 0);
    int64_t second = perftrace_profiler_stage_begin(p, "b", 0);
    assert_true(first > 0 && second == 0);
    assert_int_equal(perftrace_profiler_stage_end(p, second, 1), 0);
    assert_int_equal(perftrace_profiler_stage_end(p, first + 100, 1), 0);
    assert_int_equal(book.stops, 3);
    assert_int_equal(perftrace_profiler_stage_end(p, first, 0), 0);
    assert_int_equal(perftrace_profiler_stage_end(p, first, 0), 0); /* once more: nothing */
    assert_int_equal(book.stops, 4);
    assert_string_equal(book.mark, "");
    perftrace_profiler_close(p);
}

static void a_failing_body_is_run_once_and_stopped_once(void **state) {
    (void)state;
    perftrace_profiler_options_t o = book_options();
    o.discrete = 1;
    perftrace_profiler_t *p = book_open(&o);
    body_t b = {.p = p, .result = -77};
    assert_int_equal(perftrace_profiler_run(p, "boom", 0, outer_body, &b), -77);
    assert_true(b.calls == 1 && book.starts == 1 && book.stops == 1);
    assert_string_equal(book.mark, "aborted");
    assert_true(book.last.aborted);
    assert_int_equal(files_of(0), 1);
    perftrace_profiler_status_t s = {.struct_size = sizeof(s)};
    perftrace_profiler_get_status(&s);
    assert_true(s.state == PERFTRACE_PROFILER_IDLE && s.aborted);
    assert_string_equal(s.last_mark, "aborted");
    /* A start that fails: the body alone, and what it returns. */
    book.fail_start = 1;
    assert_int_equal(perftrace_profiler_run(p, "boom", 0, outer_body, &b), -77);
    assert_true(b.calls == 2 && book.stops == 1);
    /* A mode in which nothing is open. */
    assert_int_equal(perftrace_profiler_run(NULL, "boom", 0, outer_body, &b), -77);
    assert_int_equal(b.calls, 3);
    assert_int_equal(perftrace_profiler_run(p, "none", 0, NULL, NULL), 0);
    perftrace_profiler_close(p);
}

static void only_scheduled_stages_follow_the_schedule(void **state) {
    (void)state;
    perftrace_profiler_options_t o = book_options();
    o.discrete = 1;
    o.schedule.skip_first = o.schedule.wait = o.schedule.warmup = 1;
    o.schedule.active = 2;
    o.schedule.repeat = 2;
    perftrace_profiler_t *p = book_open(&o);
    perftrace_profiler_step(p, 7);
    body_t b = {.p = p, .batches = 20};
    /* Not marked: traced in full, whatever the mini-batches. */
    assert_int_equal(perftrace_profiler_run(p, "generate", 0, outer_body, &b), 0);
    assert_string_equal(book.all, "7-7");
    assert_null(strstr(book.path, "_mb"));
    /* Marked: two cycles, the second a part of its own. */
    assert_int_equal(
        perftrace_profiler_run(p, "update", PERFTRACE_PROFILER_STAGE_SCHEDULED, outer_body, &b), 0);
    assert_int_equal(book.starts, 3);
    assert_string_equal(book.all, "7-7 7-7 7-7");
    assert_non_null(strstr(book.path, "_mb7-8_part1_update"));
    /* Again, flushed when the fifth mini-batch ends. */
    b.batches = 5;
    assert_int_equal(
        perftrace_profiler_run(p, "update", PERFTRACE_PROFILER_STAGE_SCHEDULED, outer_body, &b), 0);
    assert_non_null(strstr(book.path, "_mb3-4_update"));
    /* Cut short: partial, and what it has is saved. */
    b.batches = 4;
    assert_int_equal(
        perftrace_profiler_run(p, "update", PERFTRACE_PROFILER_STAGE_SCHEDULED, outer_body, &b), 0);
    assert_string_equal(book.mark, "partial 1/2");
    assert_non_null(strstr(book.path, "_mb3_partial1-of-2_update"));
    /* A failure in the second recorded mini-batch. */
    b.result = 1;
    assert_int_equal(
        perftrace_profiler_run(p, "update", PERFTRACE_PROFILER_STAGE_SCHEDULED, outer_body, &b), 1);
    assert_string_equal(book.mark, "aborted at step 2 of 2");
    /* Too short for a window: no file. */
    int stops = book.stops;
    b.batches = 1;
    b.result = 0;
    assert_int_equal(
        perftrace_profiler_run(p, "update", PERFTRACE_PROFILER_STAGE_SCHEDULED, outer_body, &b), 0);
    assert_int_equal(book.stops, stops);
    perftrace_profiler_close(p);
    assert_int_equal(book.starts, book.stops);
}

static void continuous_stages_are_no_windows(void **state) {
    (void)state;
    perftrace_profiler_options_t o = book_options();
    o.steps = "1-2";
    perftrace_profiler_t *p = book_open(&o);
    body_t b = {.p = p};
    for (int step = 0; step < 5; step++) {
        perftrace_profiler_step(p, step);
        assert_int_equal(perftrace_profiler_run(p, "generate", 0, outer_body, &b), 0);
        b.result = 3;
        int want = step >= 1 && step <= 2;
        if (step == 2) {
            assert_int_equal(perftrace_profiler_run(p, "update", 0, outer_body, &b), 3);
        }
        b.result = 0;
        assert_int_equal(book.starts, want || step > 2);
    }
    assert_string_equal(book.all, "1-2[aborted at step 2 of 2]");
    assert_int_equal(book.stops, 1);
    perftrace_profiler_close(p);
}

/* ---- ranges ---- */

static char ranges[1024]; /* what the back end was told: "<label" and ">" */

static void range_begin(void *user, const char *label) {
    (void)user;
    strncat(ranges, "<", sizeof(ranges) - strlen(ranges) - 1);
    strncat(ranges, label, sizeof(ranges) - strlen(ranges) - 1);
}

static void range_end(void *user) {
    (void)user;
    strncat(ranges, ">", sizeof(ranges) - strlen(ranges) - 1);
}

static int inner_stage(void *arg) {
    const body_t *b = arg;
    perftrace_profiler_run(b->p, "inner", 0, NULL, NULL);
    return b->result;
}

static int stopping_body(void *arg) {
    const body_t *b = arg;
    return perftrace_profiler_stop(b->p);
}

static void stages_of_a_window_are_ranges(void **state) {
    (void)state;
    perftrace_profiler_back_end_t calls = book_calls;
    perftrace_profiler_options_t o = book_options();
    calls.range_begin = range_begin;
    calls.range_end = range_end;
    o.callback = &calls;
    o.name.role = "actor";
    o.steps = "1-2,4";
    perftrace_profiler_t *p = book_open(&o);
    body_t b = {.p = p};
    ranges[0] = '\0';
    perftrace_profiler_step(p, 0);
    assert_int_equal(perftrace_profiler_run(p, "update", 0, inner_stage, &b), 0);
    assert_string_equal(ranges, ""); /* no window, no range */
    perftrace_profiler_step(p, 1);
    assert_int_equal(perftrace_profiler_run(p, "update", 0, inner_stage, &b), 0);
    assert_string_equal(ranges, "<actor.update<actor.inner>>");
    ranges[0] = '\0';
    perftrace_profiler_step(p, 2);
    b.result = 5;
    assert_int_equal(perftrace_profiler_run(p, "update", 0, inner_stage, &b), 5);
    assert_string_equal(ranges, "<actor.update<actor.inner>>"); /* also where it fails */
    assert_string_equal(book.all, "1-2[aborted at step 2 of 2]");
    ranges[0] = '\0';
    perftrace_profiler_step(p, 4);
    assert_int_equal(perftrace_profiler_run(p, NULL, 0, stopping_body, &b), 0);
    assert_string_equal(ranges, "<actor>"); /* its window is over before it */
    assert_int_equal(book.stops, 2);
    ranges[0] = '\0';
    assert_int_equal(perftrace_profiler_run(p, "update", 0, NULL, NULL), 0);
    assert_string_equal(ranges, "");
    perftrace_profiler_close(p);
}

static void ranges_of_other_modes_and_roles(void **state) {
    (void)state;
    perftrace_profiler_back_end_t calls = book_calls;
    perftrace_profiler_options_t o = book_options();
    calls.range_begin = range_begin;
    calls.range_end = range_end;
    o.callback = &calls;
    ranges[0] = '\0';
    o.discrete = 1;
    perftrace_profiler_t *p = book_open(&o);
    body_t b = {.p = p};
    perftrace_profiler_step(p, 0);
    perftrace_profiler_run(p, "update", 0, inner_stage, &b);
    assert_string_equal(ranges, "<update<inner>>");
    assert_int_equal(book.starts, 1);
    perftrace_profiler_close(p);
    /* A back end hears of ranges in windows that it records itself. */
    o.discrete = 0;
    ranges[0] = '\0';
    p = book_open(&o);
    perftrace_profiler_t *other = book_open(&o);
    assert_int_equal(perftrace_profiler_start(other, NULL), 0);
    perftrace_profiler_run(p, "ours", 0, NULL, NULL);
    perftrace_profiler_run(other, NULL, 0, NULL, NULL);
    assert_string_equal(ranges, "<stage>");
    perftrace_profiler_close(other);
    perftrace_profiler_close(p);
    /* Ranks that do not profile have none. */
    ranges[0] = '\0';
    o.name.rank = 3;
    p = book_open(&o);
    assert_int_equal(perftrace_profiler_start(p, NULL), 0);
    assert_int_equal(perftrace_profiler_stage_begin(p, "x", 0), 0);
    assert_int_equal(perftrace_profiler_stage_end(p, 0, 0), 0);
    assert_string_equal(ranges, "");
    perftrace_profiler_close(p);
}

static void another_roles_failure_is_not_ours(void **state) {
    (void)state;
    perftrace_profiler_options_t o = book_options();
    perftrace_profiler_t *ours = book_open(&o);
    perftrace_profiler_t *theirs = book_open(&o);
    assert_int_equal(perftrace_profiler_start(ours, NULL), 0);
    body_t b = {.p = theirs, .result = 9};
    assert_int_equal(perftrace_profiler_run(theirs, "x", 0, outer_body, &b), 9);
    assert_int_equal(book.stops, 0);
    b.p = ours;
    assert_int_equal(perftrace_profiler_run(ours, "x", 0, outer_body, &b), 9);
    assert_int_equal(book.stops, 1);
    assert_string_equal(book.mark, "aborted at step 1");
    perftrace_profiler_close(theirs);
    perftrace_profiler_close(ours);
}

static int wait_for_ever(void *arg) {
    (void)arg;
    for (;;) {
        pause(); /* a point of cancellation */
    }
    return 0;
}

static void *cancelled(void *arg) {
    perftrace_profiler_run(arg, "cancelled", 0, wait_for_ever, NULL);
    return NULL;
}

static void a_cancelled_thread_ends_its_stage(void **state) {
    (void)state;
#ifdef __SANITIZE_THREAD__
    print_message("ThreadSanitizer does not follow locks in a thread that is being cancelled\n");
    skip();
#endif
    perftrace_profiler_options_t o = book_options();
    o.discrete = 1;
    perftrace_profiler_t *p = book_open(&o);
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, cancelled, p), 0);
    perftrace_profiler_status_t s = {.struct_size = sizeof(s)};
    do {
        usleep(1000);
        perftrace_profiler_get_status(&s);
    } while (s.state != PERFTRACE_PROFILER_RECORDING);
    assert_string_equal(s.stage, "cancelled");
    pthread_cancel(t);
    pthread_join(t, NULL);
    assert_string_equal(book.mark, "aborted");
    assert_int_equal(book.stops, 1);
    perftrace_profiler_close(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        BOOK_CASE(each_stage_has_its_file),
        BOOK_CASE(nested_stages_are_ignored_and_siblings_honoured),
        BOOK_CASE(a_failing_body_is_run_once_and_stopped_once),
        BOOK_CASE(only_scheduled_stages_follow_the_schedule),
        BOOK_CASE(continuous_stages_are_no_windows),
        BOOK_CASE(stages_of_a_window_are_ranges),
        BOOK_CASE(ranges_of_other_modes_and_roles),
        BOOK_CASE(another_roles_failure_is_not_ours),
        BOOK_CASE(a_cancelled_thread_ends_its_stage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
