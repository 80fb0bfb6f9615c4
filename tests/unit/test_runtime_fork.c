/* test_runtime_fork.c: fork, in every situation. SPDX-License-Identifier: MIT */
#include "traced_case.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ThreadSanitizer does not know threads in the child of a process with threads. */
#ifdef __SANITIZE_THREAD__
#    define CHILD_HAS_THREADS 0
#else
#    define CHILD_HAS_THREADS 1
#endif

/* AddressSanitizer's allocator (of gcc 12 and clang 14) is not made ready for the child: a lock of
 * it that another thread holds at the fork is never given back there, and the child hangs in its
 * next malloc or pthread_create. So a child that records is forked while no other thread can be
 * allocating (settle), and the children of a busy process do not record. */
#ifdef __SANITIZE_ADDRESS__
#    define BUSY_CHILD_RECORDS 0
#else
#    define BUSY_CHILD_RECORDS CHILD_HAS_THREADS
#endif

/* Calls of the allocator by this thread (the linker leads them here, see runtime.cmake). */
static _Thread_local size_t allocator_calls;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *p, size_t size);
void __real_free(void *p);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *p, size_t size);
void __wrap_free(void *p);

void *__wrap_malloc(size_t size) {
    allocator_calls++;
    return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
    allocator_calls++;
    return __real_calloc(count, size);
}

void *__wrap_realloc(void *p, size_t size) {
    allocator_calls++;
    return __real_realloc(p, size);
}

void __wrap_free(void *p) {
    allocator_calls++;
    __real_free(p);
}

/* After a save the drain's thread sleeps, and allocates nothing while there is nothing new. */
static void settle(void) {
#ifdef __SANITIZE_ADDRESS__
    CHILD_CHECK(perftrace_save(-1, 0) == 0);
#endif
}

static void need_threads_in_children(void) {
    if (!CHILD_HAS_THREADS) {
        print_message("ThreadSanitizer cannot follow the child\n");
        skip();
    }
}

static void wait_well(pid_t pid) {
    int status = -1;
    CHILD_CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    CHILD_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static traced_file_t child_file(int n) {
    char name[64];
    snprintf(name, sizeof(name), "traces-r0.%d.jsonl", n);
    return traced_read(dir, name);
}

/* ---- one child ---- */

static void fork_once(const char *where) {
    perftrace_config_t c = traced_config(where);
    c.flush_ms = 60000;
    CHILD_CHECK(perftrace_init(&c) == 0);
    CHILD_CHECK(perftrace_save(-1, 0) == 0);
    perftrace_thread_set_name("first");
    for (int i = 0; i < 100; i++) {
        PERFTRACE_INSTANT("pending");
    }
    perftrace_step(41);
    PERFTRACE_SCOPE("around");
    pid_t pid = fork();
    if (pid == 0) {
        CHILD_CHECK(perftrace_is_active());
        for (int i = 0; i < 5; i++) {
            PERFTRACE_SCOPE("child", "compute", PERFTRACE_INT("i", i));
        }
        return; /* ends the scope, then exit(0) */
    }
    wait_well(pid);
    PERFTRACE_INSTANT("parent.after");
}

static void pending_events_are_the_parents_and_the_child_has_its_own_file(void **state) {
    (void)state;
    need_threads_in_children();
    traced_run(fork_once, dir);
    assert_int_equal(traced_files(dir, "traces-*.jsonl"), 2);
    assert_int_equal(traced_files(dir, "*.ring"), 0);
    traced_file_t p = traced_read(dir, "traces-r0.jsonl");
    traced_file_t c = child_file(1);
    assert_int_equal(traced_count(&p, "pending"), 100);
    assert_int_equal(traced_count(&p, "parent.after"), 1);
    assert_int_equal(traced_count(&p, "child"), 0);
    assert_int_equal(traced_count(&p, "around"), 1);
    assert_null(traced_arg(traced_line(&p, "around", 0), "forked"));
    assert_int_equal(traced_count(&c, "pending"), 0);
    assert_int_equal(traced_count(&c, "child"), 5);
    assert_int_equal(traced_arg_number(traced_line(&c, "child", 0), "global_step"), 41);
    assert_true(cJSON_IsTrue(traced_arg(traced_line(&c, "around", 0), "forked")));
    assert_true(traced_number(traced_line(&p, "around", 0), "pid") !=
                traced_number(traced_line(&c, "around", 0), "pid"));
    assert_true(traced_footer(&p, "emitted") == 102 && traced_footer(&p, "written") == 102);
    assert_true(traced_footer(&c, "emitted") == 6 && traced_footer(&c, "written") == 6);
    traced_free(&p);
    traced_free(&c);
}

/* ---- sites, switch, filter, step and rank of a child ---- */

static void configure_in_child(const char *where) {
    traced_start(where);
    PERFTRACE_INSTANT("parent");
    CHILD_CHECK(perftrace_set_filter("-io", NULL) == 0);
    settle();
    pid_t pid = fork();
    if (pid == 0) {
        /* All of these come before the first event, and no site has been used by the parent. */
        CHILD_CHECK(perftrace_set_rank(7, 8) == 0);
        CHILD_CHECK(perftrace_thread_set_name("renamed") == 0);
        PERFTRACE_STEP(5);
        PERFTRACE_SCOPE("own.site", "compute");
        PERFTRACE_SCOPE("filtered", "io");
        return;
    }
    wait_well(pid);
    CHILD_CHECK(perftrace_set_enabled(0) == 0);
    pid = fork();
    if (pid == 0) {
        PERFTRACE_INSTANT("switched.off");
        return;
    }
    wait_well(pid);
}

static void a_child_takes_over_and_may_set_before_its_first_event(void **state) {
    (void)state;
    need_threads_in_children();
    traced_run(configure_in_child, dir);
    assert_int_equal(traced_files(dir, "traces-*.jsonl"), 2);
    traced_file_t c = traced_read(dir, "traces-r7.jsonl");
    const cJSON *own = traced_line(&c, "own.site", 0);
    assert_int_equal(traced_arg_number(own, "global_step"), 5);
    assert_int_equal(traced_arg_number(own, "rank"), 7);
    assert_int_equal(traced_count(&c, "filtered"), 0);
    assert_string_equal(cJSON_GetStringValue(traced_arg(traced_line(&c, "thread_name", 0), "name")),
                        "renamed");
    assert_int_equal(traced_arg_number(traced_line(&c, "perftrace_header", 0), "world_size"), 8);
    traced_free(&c);
}

/* ---- children of children, children that do nothing ---- */

static void fork_deep(const char *where) {
    traced_start(where);
    PERFTRACE_INSTANT("generation", "compute", PERFTRACE_INT("n", 0));
    settle();
    pid_t pid = fork();
    if (pid == 0) { /* emits nothing */
        pid = fork();
        if (pid == 0) {
            PERFTRACE_INSTANT("generation", "compute", PERFTRACE_INT("n", 2));
            settle();
            pid = fork();
            if (pid == 0) {
                PERFTRACE_INSTANT("generation", "compute", PERFTRACE_INT("n", 3));
                return;
            }
            wait_well(pid);
            return;
        }
        wait_well(pid);
        return;
    }
    wait_well(pid);
}

static void children_of_children_record_too(void **state) {
    (void)state;
    need_threads_in_children();
    traced_run(fork_deep, dir);
    assert_int_equal(traced_files(dir, "traces-*.jsonl"), 3);
    for (int i = 0; i < 3; i++) {
        traced_file_t f = i ? child_file(i) : traced_read(dir, "traces-r0.jsonl");
        assert_int_equal(traced_count(&f, "generation"), 1);
        assert_int_equal(traced_arg_number(traced_line(&f, "generation", 0), "n"), i ? i + 1 : 0);
        traced_free(&f);
    }
}

static void late_in_child(void) {
    PERFTRACE_INSTANT("too.late");
}

static void fork_and_leave(const char *where) {
    atexit(late_in_child); /* before init: runs after the tracer's end */
    traced_start(where);
    PERFTRACE_INSTANT("parent");
    settle();
    for (int i = 0; i < 4; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            if (i == 0) {
                _exit(0);
            }
            if (i == 1) {
                exit(0);
            }
            if (i == 2) {
                CHILD_CHECK(perftrace_shutdown() == 0);
                PERFTRACE_INSTANT("after.shutdown");
                exit(0);
            }
            execl("/bin/true", "true", (char *)NULL);
            _exit(1);
        }
        wait_well(pid);
    }
}

static void a_child_without_events_leaves_no_file(void **state) {
    (void)state;
    traced_run(fork_and_leave, dir);
    assert_int_equal(traced_files(dir, "traces-*"), 1);
    assert_int_equal(traced_files(dir, "*.ring"), 0);
    traced_file_t f = traced_read(dir, "traces-r0.jsonl");
    assert_int_equal(traced_count(&f, "parent"), 1);
    traced_free(&f);
}

static void start_in_child(const char *where) {
    traced_start(where);
    PERFTRACE_INSTANT("parent");
    settle();
    pid_t pid = fork();
    if (pid == 0) {
        perftrace_config_t c = traced_config(where);
        c.rank = 9;
        CHILD_CHECK(perftrace_init(&c) == 0);
        PERFTRACE_INSTANT("own.init");
        CHILD_CHECK(perftrace_init(&c) == PERFTRACE_ERR_STATE);
        CHILD_CHECK(perftrace_shutdown() == 0);
        PERFTRACE_INSTANT("late");
        return;
    }
    wait_well(pid);
}

static void a_child_may_start_by_itself(void **state) {
    (void)state;
    need_threads_in_children();
    traced_run(start_in_child, dir);
    assert_int_equal(traced_files(dir, "traces-*.jsonl"), 2);
    traced_file_t f = traced_read(dir, "traces-r9.jsonl");
    assert_int_equal(traced_count(&f, "own.init"), 1);
    traced_free(&f);
}

/* ---- threads in a child before its first event ---- */

static void *emit_first(void *arg) {
    (void)arg;
    for (int i = 0; i < 100; i++) {
        PERFTRACE_INSTANT("many");
    }
    return NULL;
}

static void fork_then_threads(const char *where) {
    traced_start(where);
    PERFTRACE_INSTANT("parent");
    settle();
    pid_t pid = fork();
    if (pid == 0) {
        pthread_t t[8];
        for (int i = 0; i < 8; i++) {
            CHILD_CHECK(pthread_create(&t[i], NULL, emit_first, NULL) == 0);
        }
        for (int i = 0; i < 8; i++) {
            pthread_join(t[i], NULL);
        }
        return;
    }
    wait_well(pid);
}

static void no_thread_of_a_child_loses_its_first_events(void **state) {
    (void)state;
    need_threads_in_children();
    traced_run(fork_then_threads, dir);
    traced_file_t c = child_file(1);
    assert_int_equal(traced_count(&c, "many"), 800);
    assert_true(traced_footer(&c, "emitted") == 800);
    traced_free(&c);
}

/* ---- under load ---- */

#define FORKS 500

static int stop;

static void *load(void *arg) {
    uint64_t n = 0;
    char name[32];
    for (unsigned round = 1; !__atomic_load_n(&stop, __ATOMIC_RELAXED); round++) {
        PERFTRACE_SCOPE("load", "compute", PERFTRACE_STRING("s", "some text"));
        PERFTRACE_INSTANT("point");
        n += 2;
        if (round % 25 == 0) {
            usleep(100); /* the file is to be read again */
        }
        if (round % 500 == 0) { /* the slow paths and their lock */
            snprintf(name, sizeof(name), "n%u", round / 500 % 500);
            PERFTRACE_INSTANT_NAMED(name, "compute");
            perftrace_step(round);
            n++;
        }
    }
    *(uint64_t *)arg = n;
    return NULL;
}

static void *save(void *arg) {
    (void)arg;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        CHILD_CHECK(perftrace_save(-1, 0) == 0);
    }
    return NULL;
}

static void fork_under_load(const char *where) {
    alarm(590); /* minutes on a busy machine; ctest gives it 600 s */
    perftrace_config_t c = traced_config(where);
    c.overflow = PERFTRACE_OVERFLOW_BLOCK;
    c.flush_ms = 1;
    c.ring_size = 65536;
    CHILD_CHECK(perftrace_init(&c) == 0);
    uint64_t n[2];
    pthread_t t[3];
    for (int i = 0; i < 2; i++) {
        CHILD_CHECK(pthread_create(&t[i], NULL, load, &n[i]) == 0);
    }
    CHILD_CHECK(pthread_create(&t[2], NULL, save, NULL) == 0);
    for (size_t i = 0; i < traced_scale(FORKS); i++) {
        size_t calls = allocator_calls;
        pid_t pid = fork();
        CHILD_CHECK(pid >= 0);
        if (pid == 0) {
            alarm(60); /* a deadlock ends by SIGALRM */
            /* Whose allocator may be locked for ever must be able to fork and exec. */
            CHILD_CHECK(allocator_calls == calls && perftrace_is_active());
            if (i % 5 || !BUSY_CHILD_RECORDS) { /* starting costs a disk's time; forking alone is
                                                   what is tried here */
                _exit(0);
            }
            PERFTRACE_INSTANT("child", "compute", PERFTRACE_UINT("i", i));
            CHILD_CHECK(i % 2 || perftrace_save(-1, 0) == 0);
            exit(0);
        }
        wait_well(pid);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 3; i++) {
        pthread_join(t[i], NULL);
    }
    perftrace_stats_t s = {.struct_size = sizeof(s)};
    CHILD_CHECK(perftrace_save(-1, 0) == 0 && perftrace_get_stats(&s) == 0);
    CHILD_CHECK(s.written == n[0] + n[1] && s.emitted == s.written);
}

static void forks_under_load_neither_hang_nor_lose(void **state) {
    (void)state;
    traced_run(fork_under_load, dir);
    size_t children = BUSY_CHILD_RECORDS ? (traced_scale(FORKS) + 4) / 5 : 0;
    assert_int_equal(traced_files(dir, "traces-*.jsonl"), children + 1);
    assert_int_equal(traced_files(dir, "*.ring"), 0);
    traced_file_t p = traced_read(dir, "traces-r0.jsonl");
    assert_int_equal(traced_count(&p, "child"), 0);
    assert_true(traced_footer(&p, "written") == traced_footer(&p, "emitted"));
    assert_true(traced_footer(&p, "written") ==
                (double)(traced_phase(&p, "X") + traced_phase(&p, "i")));
    traced_free(&p);
    for (size_t i = 1; i <= children; i++) {
        traced_file_t c = child_file((int)i);
        assert_int_equal(traced_count(&c, "child"), 1);
        assert_true(traced_footer(&c, "emitted") == 1 && traced_footer(&c, "written") == 1);
        traced_free(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(pending_events_are_the_parents_and_the_child_has_its_own_file),
        CASE(a_child_takes_over_and_may_set_before_its_first_event),
        CASE(children_of_children_record_too),
        CASE(a_child_without_events_leaves_no_file),
        CASE(a_child_may_start_by_itself),
        CASE(no_thread_of_a_child_loses_its_first_events),
        CASE(forks_under_load_neither_hang_nor_lose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
