/* test_profiler_inside.c: the program's own back end calls profilers, exit() and fork() within its
 * functions. SPDX-License-Identifier: MIT */
#include <perftrace/profiler.h>
#include <perftrace/status.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define STEPS   6
#define AT_STEP 3 /* of the listed steps 2 to 5 */

/* What the functions do and have seen; reset by each test. */
static struct {
    perftrace_profiler_t *own, *other;
    int (*in_start)(void), (*in_step)(void), (*in_stop)(void);
    int result;
    int starts, stops;
    int64_t stopped_at;
    char mark[64];
    int pipe[2];
} book;

static int book_start(void *user, const perftrace_profiler_window_t *w) {
    (void)user;
    (void)w;
    book.starts++;
    book.result = book.in_start ? book.in_start() : book.result;
    return 0;
}

static int book_stop(void *user, const perftrace_profiler_window_t *w) {
    (void)user;
    book.stops++;
    book.stopped_at = w->last_step;
    snprintf(book.mark, sizeof book.mark, "%s", w->mark);
    if (book.pipe[1] > 0) {
        assert_int_equal(write(book.pipe[1], w->mark, strlen(w->mark)), strlen(w->mark));
    }
    book.result = book.in_stop ? book.in_stop() : book.result;
    return 0;
}

static void book_step(void *user, int64_t step, int action) {
    (void)user;
    (void)action;
    if (step == AT_STEP && book.in_step) {
        book.result = book.in_step();
    }
}

static void open_two(const char *steps) {
    static const perftrace_profiler_back_end_t calls = {.struct_size = sizeof calls,
                                                        .name = "book",
                                                        .start = book_start,
                                                        .stop = book_stop,
                                                        .step = book_step};
    perftrace_profiler_options_t o = PERFTRACE_PROFILER_OPTIONS_INIT;
    memset(&book, 0, sizeof book);
    o.callback = &calls;
    assert_int_equal(perftrace_profiler_open(&o, &book.other), 0);
    o.steps = steps;
    assert_int_equal(perftrace_profiler_open(&o, &book.own), 0);
}

static void run_steps(void) {
    for (int64_t step = 0; step < STEPS; step++) {
        perftrace_profiler_step(book.own, step);
    }
}

static void close_two(void) {
    perftrace_profiler_close(book.own);
    perftrace_profiler_close(book.other);
}

static int stop_own(void) {
    return perftrace_profiler_stop(book.own);
}

static int stop_other(void) {
    return perftrace_profiler_stop(book.other);
}

static int start_other(void) {
    return perftrace_profiler_start(book.other, NULL);
}

static int leave(void) {
    exit(7);
}

/* The step is over before the window is: both steps that began are in it. */
static void check_stopped_in_step(int (*stop)(void)) {
    open_two("2-5");
    book.in_step = stop;
    run_steps();
    assert_int_equal(book.result, 0);
    assert_int_equal(book.stops, 1);
    assert_int_equal(book.stopped_at, AT_STEP);
    assert_string_equal(book.mark, "partial 2/4");
    close_two();
    assert_int_equal(book.stops, 1);
}

static void test_a_stop_in_a_step(void **state) {
    (void)state;
    check_stopped_in_step(stop_own);
    check_stopped_in_step(stop_other);
}

static void test_a_start_in_a_step(void **state) {
    (void)state;
    open_two(NULL); /* nothing records */
    book.in_step = start_other;
    run_steps();
    assert_int_equal(book.result, PERFTRACE_ERR_STATE);
    assert_int_equal(book.starts, 0);
    assert_int_equal(perftrace_profiler_start(book.other, NULL),
                     0); /* it is not held up for ever */
    assert_int_equal(book.starts, 1);
    close_two();
    assert_int_equal(book.stops, 1);
}

static void test_a_stop_in_a_start(void **state) {
    (void)state;
    open_two(NULL);
    book.in_start = stop_other;
    assert_int_equal(perftrace_profiler_start(book.own, NULL), 0);
    assert_int_equal(book.result, 0);
    assert_int_equal(book.stops, 1);
    close_two();
    assert_int_equal(book.stops, 1);
}

/* What a child's functions say of its window, and its status. */
static int child_status(int (*in_step)(void), char *ret_mark, size_t size) {
    int pair[2];
    int status = 0;
    assert_int_equal(pipe(pair), 0);
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        open_two("2-5");
        book.pipe[1] = pair[1];
        book.in_step = in_step;
        run_steps();
        _exit(1);
    }
    close(pair[1]);
    const ssize_t n = read(pair[0], ret_mark, size - 1);
    ret_mark[n > 0 ? n : 0] = '\0';
    close(pair[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void test_exit_in_a_step_saves_the_window(void **state) {
    (void)state;
    char mark[64];
    const int status = child_status(leave, mark, sizeof mark);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
    assert_string_equal(mark, "partial 2/4");
}

/* The child goes on from within the function, without the parent's window. */
static pid_t child_here;

static int fork_here(void) {
    child_here = fork();
    if (child_here == 0) {
        alarm(20);
        book.in_start = book.in_step = book.in_stop = NULL;
    }
    return 0;
}

/* The child's own window; its exit status is what is wrong. */
static int run_child(void) {
    perftrace_profiler_status_t s = {.struct_size = sizeof s};
    perftrace_profiler_get_status(&s);
    if (s.state != PERFTRACE_PROFILER_IDLE || perftrace_profiler_stop(book.own) != 0) {
        return 2;
    }
    book.starts = book.stops = 0;
    if (perftrace_profiler_start(book.other, NULL) != 0 || book.starts != 1) {
        return 3;
    }
    return perftrace_profiler_stop(book.other) != 0 || book.stops != 1 ? 4 : 0;
}

static void check_fork(int (**place)(void)) {
    int status = 0;
    open_two(NULL);
    *place = fork_here;
    perftrace_profiler_start(book.own, NULL);
    perftrace_profiler_step(book.own, AT_STEP);
    perftrace_profiler_stop(book.own);
    if (child_here == 0) {
        _exit(run_child());
    }
    assert_int_equal(book.stops, 1);
    assert_int_equal(waitpid(child_here, &status, 0), child_here);
    assert_int_equal(status, 0);
    close_two();
}

static void test_fork_within_each_function(void **state) {
    (void)state;
    check_fork(&book.in_start);
    check_fork(&book.in_step);
    check_fork(&book.in_stop);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stop_in_a_step),
        cmocka_unit_test(test_a_start_in_a_step),
        cmocka_unit_test(test_a_stop_in_a_start),
        cmocka_unit_test(test_exit_in_a_step_saves_the_window),
        cmocka_unit_test(test_fork_within_each_function),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
