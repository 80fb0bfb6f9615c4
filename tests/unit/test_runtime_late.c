/* test_runtime_late.c: events during and after the end. SPDX-License-Identifier: MIT */
#include "traced_case.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- after shutdown ---- */

static void emit_late(const char *where) {
    traced_start(where);
    perftrace_stats_t s = {.struct_size = sizeof(s)};
    PERFTRACE_INSTANT("early");
    {
        PERFTRACE_SCOPE("across");
        CHILD_CHECK(perftrace_shutdown() == 0);
        PERFTRACE_INSTANT("early");
    }
    for (int i = 0; i < 10; i++) {
        PERFTRACE_SCOPE("late.scope", "compute", PERFTRACE_INT("i", i), PERFTRACE_STRING("s", "x"));
        PERFTRACE_COUNTER("late.counter", i);
        PERFTRACE_SCOPE_NAMED("late.name", "io");
    }
    CHILD_CHECK(perftrace_get_stats(&s) == 0);
    CHILD_CHECK(s.dropped[PERFTRACE_DROP_late] == 32);
    PERFTRACE_STEP(1);
    CHILD_CHECK(perftrace_thread_set_name("late") == 0);
    CHILD_CHECK(perftrace_set_rank(1, 2) == PERFTRACE_ERR_DISABLED);
    /* A new run counts its own. */
    traced_start(where);
    PERFTRACE_INSTANT("again");
}

static void what_comes_after_the_end_is_counted(void **state) {
    (void)state;
    traced_file_t f = run(emit_late);
    assert_int_equal(traced_count(&f, "early"), 1);
    assert_int_equal(traced_phase(&f, "B"), 1); /* across */
    assert_int_equal(traced_count(&f, "late.scope"), 0);
    traced_free(&f);
    f = traced_read(dir, "traces-r0.1.jsonl");
    assert_int_equal(traced_count(&f, "again"), 1);
    assert_true(traced_footer(&f, "written") == 1);
    traced_free(&f);
}

/* ---- at exit ---- */

static pthread_key_t key;

static void emit_from_destructor(void *value) {
    (void)value;
    PERFTRACE_SCOPE("destructor");
}

static void emit_at_exit_after(void) {
    PERFTRACE_SCOPE("atexit.after");
}

static void emit_at_exit_before(void) {
    PERFTRACE_SCOPE("atexit.before");
}

static void *emit_for_ever(void *arg) {
    (void)arg;
    pthread_setspecific(key, (void *)1);
    for (uint64_t n = 0;; n++) {
        PERFTRACE_SCOPE("detached", "compute", PERFTRACE_INT("n", n));
        PERFTRACE_INSTANT("detached.point", "io", PERFTRACE_STRING("s", "text"));
        for (volatile int i = 0; i < 300; i++) {
        }
    }
    return NULL;
}

static void exit_with_everybody_emitting(const char *where) {
    atexit(emit_at_exit_after);
    perftrace_config_t c = traced_config(where);
    c.flush_ms = 1;
    c.ring_size = 65536; /* small files */
    CHILD_CHECK(perftrace_init(&c) == 0);
    atexit(emit_at_exit_before);
    pthread_key_create(&key, emit_from_destructor);
    pthread_setspecific(key, (void *)1);
    for (int i = 0; i < 3; i++) {
        pthread_t t;
        CHILD_CHECK(pthread_create(&t, NULL, emit_for_ever, NULL) == 0);
        pthread_detach(t);
    }
    PERFTRACE_INSTANT("main");
    usleep(2000);
}

static void an_exit_with_everybody_emitting_is_clean(void **state) {
    (void)state;
    size_t runs = traced_scale(60);
    for (size_t i = 0; i < runs; i++) {
        traced_file_t f = run(exit_with_everybody_emitting);
        assert_int_equal(traced_count(&f, "main"), 1);
        assert_int_equal(traced_count(&f, "atexit.before"), 1);
        assert_int_equal(traced_count(&f, "atexit.after"), 0);
        assert_int_equal(traced_count(&f, "perftrace_footer"), 1);
        assert_true(traced_dropped(&f, "damaged") == 0);
        assert_int_equal(traced_files(dir, "*.ring"), 0);
        assert_true(traced_footer(&f, "written") ==
                    (double)(traced_phase(&f, "X") + traced_phase(&f, "i")));
        traced_free(&f);
        drop_dir(NULL);
        traced_dir_make(dir);
    }
}

static void *leave_main_thread(void *arg) {
    (void)arg;
    usleep(20000);
    PERFTRACE_INSTANT("last");
    exit(0);
}

static void exit_on_a_side_thread(const char *where) {
    traced_start(where);
    PERFTRACE_INSTANT("main");
    pthread_t t;
    CHILD_CHECK(pthread_create(&t, NULL, leave_main_thread, NULL) == 0);
#ifdef __SANITIZE_ADDRESS__
    pause(); /* what only this thread's stack points to would count as leaked */
#else
    pthread_exit(NULL);
#endif
}

static void a_side_thread_may_end_the_process(void **state) {
    (void)state;
    traced_file_t f = run(exit_on_a_side_thread);
    assert_int_equal(traced_count(&f, "main"), 1);
    assert_int_equal(traced_count(&f, "last"), 1);
    assert_int_equal(traced_count(&f, "perftrace_footer"), 1);
    traced_free(&f);
}

/* ---- SIGTERM ---- */

static void wait_for_sigterm(const char *where) {
    perftrace_config_t c = traced_config(where);
    c.sigterm = 1;
    c.flush_ms = 60000;
    CHILD_CHECK(perftrace_init(&c) == 0);
    for (int i = 0; i < 200; i++) {
        PERFTRACE_INSTANT("i");
    }
    PERFTRACE_SCOPE("open");
    raise(SIGTERM);
    for (;;) {
        pause();
    }
}

static void sigterm_writes_all_and_still_kills(void **state) {
    (void)state;
    int status = traced_wait_status(wait_for_sigterm, dir);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    traced_file_t f = traced_read(dir, "traces-r0.jsonl");
    assert_int_equal(traced_count(&f, "i"), 200);
    assert_true(traced_footer(&f, "unfinished") == 1);
    assert_int_equal(traced_files(dir, "*.ring"), 0);
    traced_free(&f);
}

/* The signal may stop any instruction of the emitting thread, the slow paths included. */
static void emit_until_killed(const char *where) {
    perftrace_config_t c = traced_config(where);
    c.sigterm = 1;
    c.shutdown_ms =
        60000; /* a busy machine and sanitizers take longer than the 3 s of a shutdown */
    CHILD_CHECK(perftrace_init(&c) == 0);
    const pid_t me = getpid();
    const pid_t killer = fork();
    if (killer == 0) {
        usleep(10000);
        kill(me, SIGTERM);
        _exit(0);
    }
    char name[32];
    for (unsigned n = 0;; n++) {
        snprintf(name, sizeof(name), "name-%u", n % 40000);
        PERFTRACE_INSTANT_NAMED(name, "compute");
        perftrace_step((int64_t)n);
    }
}

static void sigterm_inside_the_library_leaves_a_whole_file(void **state) {
    (void)state;
    size_t runs = traced_scale(20);
    for (size_t i = 0; i < runs; i++) {
        int status = traced_wait_status(emit_until_killed, dir);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
        traced_file_t f = traced_read(dir, "traces-r0.jsonl");
        assert_int_equal(traced_count(&f, "perftrace_footer"), 1);
        traced_free(&f);
        drop_dir(NULL);
        traced_dir_make(dir);
    }
}

/* Called by fork behind the library's own preparation, so with its locks held. */
static void raise_while_forking(void) {
    usleep(50000); /* the drain's thread, every millisecond, waits for one of them by now */
    raise(SIGTERM);
}

static void fork_and_be_killed(const char *where) {
    CHILD_CHECK(pthread_atfork(raise_while_forking, NULL, NULL) == 0);
    perftrace_config_t c = traced_config(where);
    c.sigterm = 1;
    c.flush_ms = 1;
    c.shutdown_ms = 60000;
    CHILD_CHECK(perftrace_init(&c) == 0);
    for (int i = 0; i < 200; i++) {
        PERFTRACE_INSTANT("i");
    }
    const pid_t child = fork();
    if (child == 0) {
        _exit(0);
    }
    for (;;) { /* it is let go on until its file is whole */
        PERFTRACE_INSTANT("after");
        usleep(1000);
    }
}

static void sigterm_with_locks_held_leaves_a_whole_file(void **state) {
    (void)state;
    int status = traced_wait_status(fork_and_be_killed, dir);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    traced_file_t f = traced_read(dir, "traces-r0.jsonl");
    assert_int_equal(traced_count(&f, "i"), 200);
    assert_int_equal(traced_count(&f, "perftrace_footer"), 1);
    assert_true(traced_footer(&f, "written") == (double)traced_phase(&f, "i"));
    assert_int_equal(traced_files(dir, "*.ring"), 0);
    traced_free(&f);
}

/* A thread that ends the run is stopped in the middle of it, with the log's function as the place.
 */
static void raise_at_end(int level, const char *message, void *user) {
    (void)level;
    (void)user;
    if (strstr(message, "wrote ")) {
        raise(SIGTERM);
    }
}

static void end_and_be_killed(const char *where) {
    perftrace_config_t c = traced_config(where);
    c.sigterm = 1;
    c.shutdown_ms = 60000;
    c.log = raise_at_end;
    CHILD_CHECK(perftrace_init(&c) == 0);
    PERFTRACE_INSTANT("i");
    perftrace_shutdown();
    for (;;) {
        pause();
    }
}

static void sigterm_during_the_end_leaves_a_whole_file(void **state) {
    (void)state;
    int status = traced_wait_status(end_and_be_killed, dir);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    traced_file_t f = traced_read(dir, "traces-r0.jsonl");
    assert_int_equal(traced_count(&f, "perftrace_footer"), 1);
    assert_int_equal(traced_files(dir, "*.ring"), 0);
    traced_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(what_comes_after_the_end_is_counted),
        CASE(an_exit_with_everybody_emitting_is_clean),
        CASE(a_side_thread_may_end_the_process),
        CASE(sigterm_writes_all_and_still_kills),
        CASE(sigterm_inside_the_library_leaves_a_whole_file),
        CASE(sigterm_with_locks_held_leaves_a_whole_file),
        CASE(sigterm_during_the_end_leaves_a_whole_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
