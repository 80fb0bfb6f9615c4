/* test_profiler_threads.c: windows and several threads. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profiler_book.h"

#include "atomics.h"

#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define NEXT PERFTRACE_PROFILER_NEXT

static perftrace_profiler_t *shared;
static int stop_now;
static int inside;   /* back end functions that run at this moment */
static int overlaps; /* of them */
static pid_t called_by;
static int slow_stop_ms;
static int slow_start_ms;

static void enter(void) {
    if (pt_add_acq_rel(&inside, 1) != 0) {
        pt_add_relaxed(&overlaps, 1);
    }
}

static void leave(void) {
    pt_add_acq_rel(&inside, -1);
}

static int start(void *user, const perftrace_profiler_window_t *w) {
    enter();
    if (slow_start_ms) {
        usleep((useconds_t)slow_start_ms * 1000);
    }
    called_by = (pid_t)syscall(SYS_gettid);
    int status = book_start(user, w);
    leave();
    return status;
}

static int stop(void *user, const perftrace_profiler_window_t *w) {
    enter();
    if (slow_stop_ms) {
        usleep((useconds_t)slow_stop_ms * 1000);
    }
    called_by = (pid_t)syscall(SYS_gettid);
    int status = book_stop(user, w);
    leave();
    return status;
}

static void step(void *user, int64_t number, int action) {
    enter();
    book_step(user, number, action);
    leave();
}

static const perftrace_profiler_back_end_t calls = {.struct_size = sizeof(calls),
                                                    .name = "watched",
                                                    .extension = ".txt",
                                                    .start = start,
                                                    .stop = stop,
                                                    .step = step,
                                                    .user = &book};

static int set_up(void **state) {
    stop_now = inside = overlaps = slow_stop_ms = slow_start_ms = 0;
    return book_set_up(state);
}

static perftrace_profiler_options_t options(void) {
    perftrace_profiler_options_t o = book_options();
    o.callback = &calls;
    return o;
}

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- racing stops ---- */

static void *stop_thread(void *arg) {
    (void)arg;
    return (void *)(intptr_t)perftrace_profiler_stop(shared);
}

static void pt12_racing_stops_export_once(void **state) {
    (void)state;
    perftrace_profiler_options_t o = options();
    shared = book_open(&o);
    for (int round = 0; round < 100; round++) {
        pthread_t t[4];
        assert_int_equal(perftrace_profiler_start(shared, NULL), 0);
        for (int i = 0; i < 4; i++) {
            assert_int_equal(pthread_create(&t[i], NULL, stop_thread, NULL), 0);
        }
        for (int i = 0; i < 4; i++) {
            void *status;
            pthread_join(t[i], &status);
            assert_null(status);
        }
        assert_int_equal(book.starts, round + 1);
        assert_int_equal(book.stops, round + 1);
    }
    perftrace_profiler_close(shared);
    assert_int_equal(files_of(0), 100);
    assert_int_equal(overlaps, 0);
}

/* ---- a trainer and a control thread ---- */

static void *control_thread(void *arg) {
    (void)arg;
    for (int i = 0; !pt_load_acquire(&stop_now); i++) {
        perftrace_profiler_request_t r = PERFTRACE_PROFILER_REQUEST_INIT;
        perftrace_profiler_status_t s = {.struct_size = sizeof(s)};
        r.schedule.max_iterations = i % 4;
        r.schedule.delay_iterations = i % 3;
        r.at_next_step = i % 2;
        perftrace_profiler_start(shared, &r);
        perftrace_profiler_get_status(&s);
        if (i % 5 == 0) {
            perftrace_profiler_stop(shared);
        }
    }
    return NULL;
}

static int fail_sometimes(void *arg) {
    int64_t n = *(int64_t *)arg;
    perftrace_profiler_step(shared, n % 3 ? n : NEXT);
    return n % 97 == 0;
}

static void a_storm_leaves_nothing_open(void **state) {
    (void)state;
    perftrace_profiler_options_t o = options();
    perftrace_profiler_back_end_t no_file = calls;
    no_file.extension = NULL;
    o.callback = &no_file;
    o.log = NULL;
    shared = book_open(&o);
    pthread_t t[3];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&t[i], NULL, control_thread, NULL), 0);
    }
    double end = now_s() + 1;
    for (int64_t n = 0; now_s() < end; n++) {
        int result = perftrace_profiler_run(shared, "x", 0, fail_sometimes, &n);
        assert_int_equal(result, n % 97 == 0);
    }
    pt_store_release(&stop_now, 1);
    for (int i = 0; i < 3; i++) {
        pthread_join(t[i], NULL);
    }
    perftrace_profiler_close(shared);
    assert_true(book.starts > 10);
    assert_int_equal(book.starts, book.stops);
    assert_int_equal(overlaps, 0);
    perftrace_profiler_status_t s = {.struct_size = sizeof(s)};
    perftrace_profiler_get_status(&s);
    assert_int_equal(s.state, PERFTRACE_PROFILER_IDLE);
}

/* ---- while it is being saved ---- */

static void nobody_waits_for_a_save(void **state) {
    (void)state;
    perftrace_profiler_options_t o = options();
    shared = book_open(&o);
    slow_stop_ms = 400;
    assert_int_equal(perftrace_profiler_start(shared, NULL), 0);
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, stop_thread, NULL), 0);
    perftrace_profiler_status_t s = {.struct_size = sizeof(s)};
    do {
        perftrace_profiler_get_status(&s);
    } while (s.state != PERFTRACE_PROFILER_SAVING);
    double begin = now_s();
    perftrace_profiler_step(shared, 5);
    assert_int_equal(perftrace_profiler_start(shared, NULL), PERFTRACE_ERR_STATE);
    assert_int_equal(perftrace_profiler_stop(shared), 0);
    perftrace_profiler_get_status(&s);
    assert_true(now_s() - begin < 0.2);
    assert_int_equal(s.state, PERFTRACE_PROFILER_SAVING);
    perftrace_profiler_close(shared); /* waits */
    assert_int_equal(book.stops, 1);
    pthread_join(t, NULL);
    assert_int_equal(files_of(0), 1);
    assert_int_equal(told("there is no window"), 0);
}

static void *stop_while_it_starts(void *arg) {
    perftrace_profiler_status_t s = {.struct_size = sizeof(s)};
    do {
        perftrace_profiler_get_status(&s);
    } while (s.state != PERFTRACE_PROFILER_STARTING);
    return stop_thread(arg);
}

static void a_stop_while_it_starts_is_kept(void **state) {
    (void)state;
    perftrace_profiler_status_t s = {.struct_size = sizeof(s)};
    for (int by_step = 0; by_step < 2; by_step++) {
        perftrace_profiler_options_t o = options();
        o.schedule.active = by_step ? 100 : 0;
        shared = book_open(&o);
        slow_start_ms = 100;
        pthread_t t;
        assert_int_equal(pthread_create(&t, NULL, stop_while_it_starts, NULL), 0);
        if (by_step) {
            perftrace_profiler_step(shared, 0);
        } else {
            assert_int_equal(perftrace_profiler_start(shared, NULL), 0);
        }
        pthread_join(t, NULL);
        perftrace_profiler_get_status(&s);
        assert_int_equal(s.state, PERFTRACE_PROFILER_IDLE);
        assert_int_equal(book.stops, by_step + 1); /* by the thread that started it */
        perftrace_profiler_close(shared);
    }
    assert_int_equal(files_of(0), 2);
}

static int exit_in_stop(void *user, const perftrace_profiler_window_t *w) {
    (void)user;
    (void)w;
    exit(5);
}

static void a_back_end_may_end_the_process(void **state) {
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        perftrace_profiler_back_end_t ends = calls;
        perftrace_profiler_options_t o = options();
        ends.stop = exit_in_stop;
        o.callback = &ends;
        alarm(20); /* it would wait for itself */
        if (perftrace_profiler_open(&o, &shared) || perftrace_profiler_start(shared, NULL)) {
            _exit(99);
        }
        perftrace_profiler_stop(shared);
        _exit(98);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 5);
}

/* ---- same_thread ---- */

static void *start_and_stop_thread(void *arg) {
    if (arg) {
        return stop_thread(NULL);
    }
    return (void *)(intptr_t)perftrace_profiler_start(shared, NULL);
}

static void in_thread(void *arg) {
    pthread_t t;
    void *status;
    assert_int_equal(pthread_create(&t, NULL, start_and_stop_thread, arg), 0);
    pthread_join(t, &status);
    assert_null(status);
}

static void same_thread_keeps_calls_in_the_stepping_thread(void **state) {
    (void)state;
    perftrace_profiler_options_t o = options();
    o.same_thread = 1;
    shared = book_open(&o);
    const pid_t me = (pid_t)syscall(SYS_gettid);
    in_thread(NULL);
    assert_int_equal(book.starts, 0);
    perftrace_profiler_step(shared, 3);
    assert_int_equal(book.starts, 1);
    assert_int_equal(called_by, me);
    perftrace_profiler_step(shared, 4);
    in_thread(&o);
    assert_int_equal(book.stops, 0);
    perftrace_profiler_step(shared, 5);
    assert_int_equal(book.stops, 1);
    assert_int_equal(called_by, me);
    assert_string_equal(book.all, "3-4");
    perftrace_profiler_close(shared);
}

/* ---- fork ---- */

static void a_forked_child_tells_nothing_of_the_parents(void **state) {
    (void)state;
    int out[2];
    assert_int_equal(pipe(out), 0);
    perftrace_profiler_options_t o = options();
    o.schedule.active = 1;
    o.schedule.wait = 5;
    o.schedule.repeat = 1;
    shared = book_open(&o);
    pid_t pid = fork();
    if (pid == 0) {
        perftrace_profiler_close(shared); /* as at its exit */
        char n = (char)message_count;
        _exit(write(out[1], &n, 1) != 1);
    }
    char n = 99;
    int status;
    assert_int_equal(read(out[0], &n, 1), 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(n, 0);
    close(out[0]);
    close(out[1]);
    perftrace_profiler_close(shared);
    assert_int_equal(told("0 of 1 windows recorded"), 1);
}

static void a_forked_child_has_no_window(void **state) {
    (void)state;
    perftrace_profiler_options_t o = options();
    shared = book_open(&o);
    assert_int_equal(perftrace_profiler_start(shared, NULL), 0);
    pid_t pid = fork();
    if (pid == 0) {
        perftrace_profiler_status_t s = {.struct_size = sizeof(s)};
        perftrace_profiler_get_status(&s);
        int wrong = s.state != PERFTRACE_PROFILER_IDLE;
        wrong |= perftrace_profiler_stop(shared) != 0 || book.stops != 0;
        wrong |= perftrace_profiler_start(shared, NULL) != 0; /* one of its own */
        wrong |= perftrace_profiler_stop(shared) != 0 || book.stops != 1;
        wrong |= perftrace_profiler_close(shared) != 0;
        _exit(wrong);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(book.stops, 0);
    perftrace_profiler_close(shared);
    assert_int_equal(book.stops, 1);
    assert_int_equal(files_of(0), 2);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, book_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(pt12_racing_stops_export_once),  CASE(a_storm_leaves_nothing_open),
        CASE(nobody_waits_for_a_save),        CASE(a_stop_while_it_starts_is_kept),
        CASE(a_back_end_may_end_the_process), CASE(same_thread_keeps_calls_in_the_stepping_thread),
        CASE(a_forked_child_has_no_window),   CASE(a_forked_child_tells_nothing_of_the_parents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
