/* test_profiler_request.c: what a start asks for beside its steps. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profiler_book.h"

static void run_stage(perftrace_profiler_t *p, const char *stage, int failed) {
    int64_t token = perftrace_profiler_stage_begin(p, stage, 0);
    int64_t inner = perftrace_profiler_stage_begin(p, "inner", 0);
    assert_true(token >= 0 && inner == 0); /* the outer one has the window */
    assert_int_equal(perftrace_profiler_stage_end(p, inner, 0), 0);
    assert_int_equal(perftrace_profiler_stage_end(p, token, failed), 0);
}

static void run_steps(perftrace_profiler_t *p, int64_t from, int64_t to) {
    for (int64_t step = from; step <= to; step++) {
        perftrace_profiler_step(p, step);
        run_stage(p, "generate", 0);
        run_stage(p, "update", 0);
    }
}

static perftrace_profiler_status_t status_now(void) {
    perftrace_profiler_status_t s = {.struct_size = sizeof s};
    assert_int_equal(perftrace_profiler_get_status(&s), 0);
    return s;
}

static void stages_of_so_many_steps(void **state) {
    (void)state;
    perftrace_profiler_options_t o = book_options();
    perftrace_profiler_t *p = book_open(&o);
    perftrace_profiler_request_t r = PERFTRACE_PROFILER_REQUEST_INIT;
    r.by_stage = 1;
    r.at_next_step = 1;
    r.label = "asked";
    r.schedule.active = 2;
    run_steps(p, 0, 2);
    assert_int_equal(book.starts, 0);
    assert_int_equal(perftrace_profiler_start(p, &r), 0);
    run_stage(p, "generate", 0); /* the step before: not yet */
    assert_int_equal(book.starts, 0);
    assert_int_equal(status_now().state, PERFTRACE_PROFILER_WAITING);
    assert_int_equal(perftrace_profiler_start(p, &r), PERFTRACE_ERR_STATE);
    run_steps(p, 3, 6);
    assert_string_equal(book.all, "3-3 3-3 4-4 4-4");
    assert_string_equal(book.stage, "asked update");
    assert_non_null(strstr(book.path, "_asked-update.txt"));
    assert_int_equal(status_now().state, PERFTRACE_PROFILER_IDLE);
    assert_int_equal(files_of(0), 4);
    /* It is over: the next one is an ordinary one. */
    r.by_stage = 0;
    assert_int_equal(perftrace_profiler_start(p, &r), 0);
    run_steps(p, 7, 9);
    assert_string_equal(book.all, "3-3 3-3 4-4 4-4 7-8");
    perftrace_profiler_close(p);
}

static void stages_until_the_stop(void **state) {
    (void)state;
    perftrace_profiler_options_t o = book_options();
    perftrace_profiler_t *p = book_open(&o);
    perftrace_profiler_request_t r = PERFTRACE_PROFILER_REQUEST_INIT;
    r.by_stage = 1;
    perftrace_profiler_step(p, 5);
    assert_int_equal(perftrace_profiler_start(p, &r), 0);
    run_stage(p, "generate", 0); /* from now on */
    run_stage(p, "update", 1);
    assert_string_equal(book.all, "5-5 5-5[aborted]");
    int64_t token = perftrace_profiler_stage_begin(p, "cut", 0);
    assert_true(token > 0);
    assert_int_equal(status_now().state, PERFTRACE_PROFILER_RECORDING);
    assert_int_equal(perftrace_profiler_stop(p), 0);
    assert_int_equal(perftrace_profiler_stage_end(p, token, 0), 0);
    run_stage(p, "after", 0);
    assert_int_equal(book.starts, 3);
    assert_int_equal(book.stops, 3);
    perftrace_profiler_close(p);
}

static void other_profilers_stages_are_not_asked_for(void **state) {
    (void)state;
    perftrace_profiler_options_t o = book_options();
    perftrace_profiler_t *p = book_open(&o);
    o.discrete = 1;
    perftrace_profiler_t *q = book_open(&o);
    perftrace_profiler_request_t r = PERFTRACE_PROFILER_REQUEST_INIT;
    r.by_stage = 1;
    assert_int_equal(perftrace_profiler_start(p, &r), 0);
    run_stage(q, "theirs", 0);
    assert_int_equal(book.starts, 0);
    run_stage(p, "ours", 0);
    assert_int_equal(book.starts, 1);
    perftrace_profiler_close(p);
    run_stage(q, "theirs", 0);
    assert_int_equal(book.starts, 2);
    perftrace_profiler_close(q);
}

static void window(perftrace_profiler_t *p, const perftrace_profiler_request_t *r) {
    assert_int_equal(perftrace_profiler_start(p, r), 0);
    assert_int_equal(perftrace_profiler_stop(p), 0);
}

static void files_go_where_it_says(void **state) {
    char want[400], long_one[5000];
    (void)state;
    perftrace_profiler_options_t o = book_options();
    perftrace_profiler_t *p = book_open(&o);
    perftrace_profiler_request_t r = PERFTRACE_PROFILER_REQUEST_INIT;
    r.dir = "below/it";
    window(p, &r);
    snprintf(want, sizeof want, "%s/below/it/rank0_", dir);
    assert_memory_equal(book.path, want, strlen(want));
    assert_int_equal(unlink(book.path), 0);
    snprintf(want, sizeof want, "%s/absolute", dir);
    r.dir = want;
    window(p, &r);
    assert_memory_equal(book.path, want, strlen(want));
    assert_int_equal(unlink(book.path), 0);
    window(p, NULL); /* the next one is in the profiler's again */
    snprintf(want, sizeof want, "%s/rank0_", dir);
    assert_memory_equal(book.path, want, strlen(want));
    assert_int_equal(unlink(book.path), 0);
    memset(long_one, 'x', sizeof long_one - 1);
    long_one[sizeof long_one - 1] = '\0';
    r.dir = long_one;
    assert_int_equal(perftrace_profiler_start(p, &r), PERFTRACE_ERR_TOO_LONG);
    r.dir = NULL;
    r.categories = long_one;
    assert_int_equal(perftrace_profiler_start(p, &r), PERFTRACE_ERR_INVALID);
    perftrace_profiler_close(p);
    static const char *const made[] = {"below/it", "below", "absolute"};
    for (size_t i = 0; i < 3; i++) {
        snprintf(want, sizeof want, "%s/%s", dir, made[i]);
        assert_int_equal(rmdir(want), 0);
    }
}

static book_t gpu_book;

static void activities_choose_back_ends(void **state) {
    (void)state;
    perftrace_profiler_back_end_t gpu = book_calls;
    perftrace_profiler_options_t o = book_options();
    perftrace_profiler_request_t r = PERFTRACE_PROFILER_REQUEST_INIT;
    memset(&gpu_book, 0, sizeof gpu_book);
    gpu.name = "gpu";
    gpu.gpu = 1;
    gpu.user = &gpu_book;
    o.callback = &gpu;
    o.back_ends = "self"; /* looks at the CPU, and has no file */
    perftrace_profiler_t *p = book_open(&o);
    window(p, &r);
    assert_int_equal(gpu_book.starts, 1);
    r.activities = PERFTRACE_PROFILER_CPU;
    window(p, &r);
    assert_int_equal(gpu_book.starts, 1);
    assert_int_equal(told("self recorded"), 2);
    r.activities = PERFTRACE_PROFILER_GPU;
    window(p, &r);
    assert_true(gpu_book.starts == 2 && gpu_book.stops == 2);
    assert_int_equal(told("self recorded"), 2);
    perftrace_profiler_close(p);
    o.back_ends = NULL;
    p = book_open(&o);
    r.activities = PERFTRACE_PROFILER_CPU;
    assert_int_equal(perftrace_profiler_start(p, &r), PERFTRACE_ERR_NOT_FOUND);
    assert_int_equal(gpu_book.starts, 2);
    perftrace_profiler_close(p);
}

static void the_status_says_what_went_wrong(void **state) {
    char want[400];
    (void)state;
    perftrace_profiler_options_t o = book_options();
    perftrace_profiler_t *p = book_open(&o);
    assert_string_equal(status_now().problem, "");
    book.fail_start = 1;
    assert_int_equal(perftrace_profiler_start(p, NULL), PERFTRACE_ERR_UNSUPPORTED);
    assert_non_null(strstr(status_now().problem, "book does not record: "));
    book.fail_stop = 1;
    window(p, NULL);
    assert_non_null(strstr(status_now().problem, "book lost the window: "));
    book.fail_stop = 0;
    window(p, NULL);
    assert_string_equal(status_now().problem, "");
    perftrace_profiler_close(p);
    snprintf(want, sizeof want, "%s/file", dir);
    FILE *f = fopen(want, "w");
    assert_true(f && fclose(f) == 0);
    o.dir = want;
    p = book_open(&o);
    assert_true(perftrace_profiler_start(p, NULL) < 0);
    assert_non_null(strstr(status_now().problem, "no files can be made in "));
    assert_non_null(strstr(status_now().problem, "/file: Not a directory"));
    perftrace_profiler_close(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        BOOK_CASE(stages_of_so_many_steps),
        BOOK_CASE(stages_until_the_stop),
        BOOK_CASE(other_profilers_stages_are_not_asked_for),
        BOOK_CASE(files_go_where_it_says),
        BOOK_CASE(activities_choose_back_ends),
        BOOK_CASE(the_status_says_what_went_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
