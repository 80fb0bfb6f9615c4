/* test_common_ordered.c: work in parallel, results in order. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "atomics.h"
#include "ordered.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define TASKS 600
#define LANES 7

typedef struct job {
    uint32_t lane;
    unsigned number;
    unsigned seen; /* the lane's counter when the task ran */
    int fails_with;
    bool in_emit; /* fails_with is returned by emit */
    int released;
} job_t;

/* Lane counters and the output are plain memory on purpose: only the pipeline keeps threads apart,
 * which the thread sanitizer checks. */
typedef struct run {
    job_t jobs[TASKS];
    unsigned lane_count[LANES];
    unsigned worked[64];
    unsigned output[TASKS];
    unsigned output_len;
    unsigned alive, alive_most; /* atomics: tasks between submission and release */
} run_t;

static int work(void *ctx, void *task, unsigned worker) {
    run_t *run = ctx;
    job_t *job = task;
    run->worked[worker]++;
    if (job->lane < LANES) {
        job->seen = run->lane_count[job->lane]++;
    }
    for (unsigned i = job->number * 7919 % 5; i; i--) {
        sched_yield();
    }
    return job->in_emit ? 0 : job->fails_with;
}

static int emit(void *ctx, void *task) {
    run_t *run = ctx;
    const job_t *job = task;
    if (job->in_emit) {
        return job->fails_with;
    }
    run->output[run->output_len++] = job->number;
    return 0;
}

static void release(void *ctx, void *task) {
    run_t *run = ctx;
    job_t *job = task;
    job->released++;
    pt_add_relaxed(&run->alive, (unsigned)-1);
}

static pt_ordered_t *start(run_t *run, unsigned threads, unsigned in_flight) {
    pt_ordered_options_t options = {.threads = threads,
                                    .in_flight = in_flight,
                                    .lanes = LANES,
                                    .ctx = run,
                                    .work = work,
                                    .emit = emit,
                                    .release = release};
    pt_ordered_t *ordered = pt_ordered_new(&options);
    assert_non_null(ordered);
    assert_int_equal(pt_ordered_threads(ordered), threads);
    return ordered;
}

/* Submits all jobs; returns how many were taken. */
static unsigned submit_all(run_t *run, pt_ordered_t *ordered, bool lanes) {
    for (unsigned i = 0; i < TASKS; i++) {
        job_t *job = &run->jobs[i];
        job->number = i;
        job->lane = lanes && i % 11 ? i % LANES : PT_ORDERED_NO_LANE;
        unsigned alive = pt_add_relaxed(&run->alive, 1) + 1;
        run->alive_most = PT_MAX(run->alive_most, alive);
        if (pt_ordered_submit(ordered, job->lane, job) != 0) {
            pt_add_relaxed(&run->alive, (unsigned)-1);
            return i;
        }
    }
    return TASKS;
}

static void results_come_in_order_of_submission(void **state) {
    (void)state;
    for (unsigned threads = 0; threads <= 4; threads++) {
        for (unsigned in_flight = 1; in_flight < 20; in_flight += 6) {
            run_t *run = calloc(1, sizeof(*run));
            pt_ordered_t *ordered = start(run, threads, in_flight);
            assert_int_equal(submit_all(run, ordered, true), TASKS);
            assert_int_equal(pt_ordered_finish(ordered), 0);
            assert_int_equal(run->output_len, TASKS);
            unsigned lane_next[LANES] = {0};
            for (unsigned i = 0; i < TASKS; i++) {
                assert_int_equal(run->output[i], i);
                assert_int_equal(run->jobs[i].released, 1);
                if (run->jobs[i].lane < LANES) {
                    assert_int_equal(run->jobs[i].seen, lane_next[run->jobs[i].lane]++);
                }
            }
            /* One more than in_flight: the one that submit is waiting to hand over. */
            assert_true(run->alive_most <= in_flight + 1);
            pt_ordered_free(ordered);
            free(run);
        }
    }
}

static void first_failure_in_order_counts_and_what_is_before_it_is_emitted(void **state) {
    (void)state;
    for (unsigned threads = 0; threads <= 4; threads++) {
        for (unsigned bad = 0; bad < 200; bad += 37) {
            for (int in_emit = 0; in_emit < 2; in_emit++) {
                run_t *run = calloc(1, sizeof(*run));
                run->jobs[bad].fails_with = 11;
                run->jobs[bad].in_emit = in_emit;
                run->jobs[bad + 1].fails_with = 12; /* may be met first */
                run->jobs[bad + 5].fails_with = 13;
                pt_ordered_t *ordered = start(run, threads, 8);
                unsigned taken = submit_all(run, ordered, true);
                assert_int_equal(pt_ordered_finish(ordered), 11);
                assert_int_equal(pt_ordered_submit(ordered, 0, &run->jobs[TASKS - 1]), 11);
                pt_ordered_free(ordered);
                assert_int_equal(run->output_len, bad);
                for (unsigned i = 0; i < TASKS; i++) {
                    assert_int_equal(run->jobs[i].released, i < taken);
                }
                free(run);
            }
        }
    }
}

static int cancel_at_300(void *ctx, void *task, unsigned worker) {
    (void)worker;
    job_t *job = task;
    if (job->number == 300) {
        pt_ordered_cancel(*(pt_ordered_t **)ctx, 99);
    }
    return 0;
}

static void cancel_stops_and_releases_nothing_twice(void **state) {
    (void)state;
    for (unsigned threads = 1; threads <= 3; threads++) {
        run_t *run = calloc(1, sizeof(*run));
        pt_ordered_t *ordered;
        pt_ordered_options_t options = {
            .threads = threads, .lanes = LANES, .ctx = &ordered, .work = cancel_at_300};
        ordered = pt_ordered_new(&options);
        assert_true(submit_all(run, ordered, false) >= 300);
        assert_int_equal(pt_ordered_finish(ordered), 99);
        pt_ordered_free(ordered);
        free(run);
    }
}

static void more_may_be_submitted_after_finish(void **state) {
    (void)state;
    run_t *run = calloc(1, sizeof(*run));
    pt_ordered_t *ordered = start(run, 2, 0);
    assert_int_equal(pt_ordered_finish(ordered), 0);
    for (unsigned i = 0; i < 50; i++) {
        run->jobs[i].number = i;
        run->jobs[i].lane = 0;
        assert_int_equal(pt_ordered_submit(ordered, 0, &run->jobs[i]), 0);
        assert_int_equal(pt_ordered_finish(ordered), 0);
        assert_int_equal(run->output_len, i + 1);
    }
    pt_ordered_free(ordered);
    pt_ordered_free(NULL);
    free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_come_in_order_of_submission),
        cmocka_unit_test(first_failure_in_order_counts_and_what_is_before_it_is_emitted),
        cmocka_unit_test(cancel_stops_and_releases_nothing_twice),
        cmocka_unit_test(more_may_be_submitted_after_finish),
    };
    return cmocka_run_group_tests_name("common_ordered", tests, NULL, NULL);
}
