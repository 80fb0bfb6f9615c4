/* test_core_left.c: threads that end within scopes. SPDX-License-Identifier: MIT */
#include "recover.h"
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

static void leave_from_within(void) {
    PERFTRACE_SCOPE("block", "compute", PERFTRACE_INT("n", 1));
    pthread_exit(NULL); /* C runs no cleanup here */
}

static void *leave_four(void *unused) {
    (void)unused;
    char name[] = "made at run time";
    static __thread perftrace_span_t spans[4];
    PERFTRACE_BEGIN(&spans[0], "span", "io", PERFTRACE_STRING("text", "lost"));
    PERFTRACE_BEGIN(&spans[1], "ended in between");
    PERFTRACE_BEGIN_NAMED(&spans[2], name, "misc");
    PERFTRACE_BEGIN(&spans[3], "innermost");
    PERFTRACE_END(&spans[1]);
    leave_from_within();
    return NULL;
}

static void *end_well(void *unused) {
    PERFTRACE_SCOPE("after");
    return unused;
}

static void on_thread(void *(*body)(void *)) {
    pthread_t t;
    CHILD_CHECK(pthread_create(&t, NULL, body, NULL) == 0);
    pthread_join(t, NULL);
}

static void check_lines(const traced_file_t *f, unsigned times) {
    static const char *const left[] = {"span", "made at run time", "innermost", "block"};
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(traced_count(f, left[i]), times);
        const cJSON *line = traced_line(f, left[i], 0);
        assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(line, "ph")), "B");
        assert_true(cJSON_IsTrue(traced_arg(line, "unfinished")));
        assert_null(traced_arg(line, "text"));
        assert_true(traced_number(line, "tid") != traced_number(line, "pid"));
    }
    assert_true(traced_number(traced_line(f, "span", 0), "ts") <=
                traced_number(traced_line(f, "block", 0), "ts"));
    assert_int_equal(traced_count(f, "ended in between"), times);
    assert_true(traced_footer(f, "unfinished") == 4 * times);
    assert_true(traced_footer(f, "emitted") == traced_footer(f, "written"));
}

static void run_threads(const char *where) {
    perftrace_config_t c = traced_config(where);
    c.max_threads = 4;
    CHILD_CHECK(perftrace_init(&c) == 0);
    for (int i = 0; i < 20; i++) {
        on_thread(leave_four);
        CHILD_CHECK(perftrace_save(-1, 0) == 0); /* the slot is free again */
        on_thread(end_well);
        CHILD_CHECK(perftrace_save(-1, 0) == 0);
    }
}

static void what_a_thread_leaves_open_is_unfinished(void **state) {
    (void)state;
    traced_file_t f = run(run_threads);
    check_lines(&f, 20);
    assert_int_equal(traced_count(&f, "after"), 20);
    assert_int_equal(traced_phase(&f, "X"), 40);
    assert_true(traced_footer(&f, "written") == 40);
    traced_free(&f);
}

/* Written before the kill, in the ring at the kill: told once, and counted. */
static void be_killed(const char *where, bool saved) {
    perftrace_config_t c = traced_config(where);
    c.flush_ms = 60000;
    CHILD_CHECK(perftrace_init(&c) == 0);
    on_thread(leave_four);
    CHILD_CHECK(!saved || perftrace_save(-1, 0) == 0);
    kill(getpid(), SIGKILL);
}

static void be_killed_saved(const char *where) {
    be_killed(where, true);
}

static void be_killed_unsaved(const char *where) {
    be_killed(where, false);
}

static void recovery_tells_them_once(void **state) {
    (void)state;
    for (int saved = 0; saved < 2; saved++) {
        int status = traced_wait_status(saved ? be_killed_saved : be_killed_unsaved, dir);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        char link[160];
        snprintf(link, sizeof(link), "%s/traces-r0.ring", dir);
        perftrace__recovered_t r;
        assert_int_equal(perftrace__recover_ring(link, 0, &r), 0);
        assert_int_equal(r.unfinished, 4);
        assert_int_equal(r.written, 1);
        traced_file_t f = traced_read(dir, "traces-r0.jsonl");
        check_lines(&f, 1);
        traced_free(&f);
        traced_dir_remove(dir);
        traced_dir_make(dir);
    }
}

/* A ring that is full: what cannot be told is counted like any other loss. */
static void *fill_and_leave(void *unused) {
    for (int i = 0; i < 100000; i++) {
        PERFTRACE_INSTANT("fill");
    }
    static __thread perftrace_span_t span;
    PERFTRACE_BEGIN(&span, "span");
    return unused;
}

static void run_full(const char *where) {
    perftrace_config_t c = traced_config(where);
    c.ring_size = 65536;
    c.flush_ms = 60000;
    c.enabled = 1;
    CHILD_CHECK(perftrace_init(&c) == 0);
    on_thread(fill_and_leave);
}

static void a_full_ring_counts_them(void **state) {
    (void)state;
    traced_file_t f = run(run_full);
    double told = traced_footer(&f, "unfinished");
    assert_int_equal(traced_count(&f, "span"), (size_t)told);
    assert_true(traced_footer(&f, "emitted") + told == 100001);
    traced_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(what_a_thread_leaves_open_is_unfinished),
        CASE(recovery_tells_them_once),
        CASE(a_full_ring_counts_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
