/* test_run_launch.c: workers below their profilers, reports, the writer's thread.
 * SPDX-License-Identifier: MIT */
#include "run_process.h"
#include "run_report.h"
#include "run_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "common_temp.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define IS(text, ...) is_command(text, sizeof(text), __VA_ARGS__, NULL)

static bool is_command(const char *cmdline, size_t len, ...) {
    pt_string_list_t command = PT_STRING_LIST_INIT;
    va_list ap;
    va_start(ap, len);
    for (const char *word = va_arg(ap, const char *); word; word = va_arg(ap, const char *)) {
        pt_string_list_add(&command, word);
    }
    va_end(ap);
    bool is = pt_process_is_command(cmdline, len, &command);
    pt_string_list_free(&command);
    return is;
}

static void test_command_lines(void **state) {
    (void)state;
    assert_true(IS("python3\0train.py", "python3", "train.py"));
    assert_true(IS("/usr/bin/python3\0train.py", "python3", "train.py"));
    assert_true(IS("/bin/sh\0./train.sh\0a", "./train.sh", "a"));       /* a script */
    assert_true(IS("/bin/bash\0-e\0./train.sh\0a", "./train.sh", "a")); /* with an argument */
    assert_false(IS("python3\0train.py\0x", "python3", "train.py"));
    assert_false(IS("python3", "python3", "train.py"));
    assert_false(IS("nsys\0profile\0-o\0x\0python3\0train.py", "python3", "train.py"));
    assert_false(IS("python\0train.py", "python3", "train.py"));
    assert_false(is_command("", 0, "python3", NULL));
    assert_false(is_command("python3", 7, "python3", NULL)); /* cut off */
}

/* A "profiler" that starts the worker below a helper. */
static void test_find_worker(void **state) {
    (void)state;
    pt_string_list_t command = PT_STRING_LIST_INIT;
    pt_string_list_add(&command, "sleep");
    pt_string_list_add(&command, "98.7");
    pid_t profiler = fork();
    if (profiler == 0) {
        execl("/bin/sh", "sh", "-c", "(sleep 98.7; :) & wait", "sleep", "98.7", (char *)NULL);
        _exit(127);
    }
    pt_process_t worker = {0, 0};
    for (int i = 0; i < 500 && !worker.pid; i++) {
        usleep(10000);
        worker = pt_process_find(profiler, &command);
    }
    assert_true(worker.pid > 0 && worker.pid != profiler);
    assert_true(pt_process_is_alive(&worker));
    pt_process_t stale = {worker.pid, worker.start + 1};
    assert_false(pt_process_signal(&stale, SIGKILL)); /* the number alone is not enough */
    assert_true(pt_process_is_alive(&worker));
    assert_int_equal(pt_process_only_child(worker.pid).pid, 0);
    pt_process_kill_tree(profiler);
    int status;
    assert_int_equal(waitpid(profiler, &status, 0), profiler);
    assert_true(WIFSIGNALED(status));
    for (int i = 0; i < 500 && pt_process_is_alive(&worker); i++) {
        usleep(10000);
    }
    assert_false(pt_process_is_alive(&worker));
    assert_int_equal(pt_process_find(profiler, &command).pid, 0);
    pt_string_list_free(&command);
}

static void test_reports(void **state) {
    (void)state;
    static const char dir[] = ".";
    pt_string_list_t before = PT_STRING_LIST_INIT;
    temp_enter();
    temp_puts("rep_1_old.nsys-rep", "old");
    assert_true(pt_run_report_remember(dir, "rep_1_", &before));
    assert_int_equal(before.count, 1);
    assert_false(pt_run_report_find(dir, "rep_1_", &before, NULL)); /* it was there */
    temp_puts("rep_1_5.qdstrm", "half");
    temp_puts("rep_1_5.nsys-rep.tmp", "half");
    temp_puts("rep_1_5.nsys-rep", "");
    temp_puts("rep_10_5.nsys-rep", "of rank 10");
    assert_false(pt_run_report_find(dir, "rep_1_", &before, NULL));
    temp_puts("rep_1_5.nsys-rep", "whole");
    perftrace__strbuf_t path = PERFTRACE__STRBUF_INIT;
    assert_true(pt_run_report_find(dir, "rep_1_", &before, &path));
    assert_non_null(strstr(path.data, "/rep_1_5.nsys-rep"));
    perftrace__strbuf_free(&path);
    pt_string_list_free(&before);
    /* One that is written anew counts. */
    assert_true(pt_run_report_remember(dir, "rep_1_", &before));
    assert_false(pt_run_report_find(dir, "rep_1_", &before, NULL));
    temp_puts("rep_1_old.nsys-rep", "new text");
    assert_true(pt_run_report_find(dir, "rep_1_", &before, NULL));
    pt_string_list_free(&before);
    assert_true(pt_run_report_remember("/no/such/directory", "x", &before));
    assert_false(pt_run_report_find("/no/such/directory", "x", &before, NULL));
    temp_leave();
}

static void count_room(void *user) {
    atomic_fetch_add_explicit((atomic_int *)user, 1, memory_order_relaxed);
}

/* A reader that is slow fills the queue, and nothing is lost. */
static void test_writer(void **state) {
    (void)state;
    int ends[2];
    int saved = dup(STDOUT_FILENO);
    atomic_int rooms = 0;
    static char block[65536];
    size_t total = 0;
    size_t full_at = 0;
    assert_int_equal(pipe(ends), 0);
    fflush(stdout);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[1]);
    pt_writer_t *w = pt_writer_start(count_room, &rooms);
    assert_non_null(w);
    memset(block, 'x', sizeof(block));
    for (int i = 0; i < 200; i++) {
        bool more = pt_writer_put(w, STDOUT_FILENO, block, sizeof(block));
        full_at = !more && !full_at ? (size_t)i + 1 : full_at;
    }
    assert_true(full_at > 10 && full_at < 200);
    assert_int_equal(atomic_load_explicit(&rooms, memory_order_relaxed), 0);
    while (total < 200 * sizeof(block)) {
        ssize_t n = read(ends[0], block, sizeof(block));
        assert_true(n > 0);
        total += (size_t)n;
    }
    assert_true(pt_writer_end(w));
    assert_int_equal(atomic_load_explicit(&rooms, memory_order_relaxed), 1);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(ends[0]);
    assert_true(pt_writer_end(NULL));
}

/* A reader that is gone is told once, and does not stop the rest. */
static void test_writer_broken(void **state) {
    (void)state;
    int ends[2];
    int saved = dup(STDOUT_FILENO);
    atomic_int rooms = 0;
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(ends), 0);
    fflush(stdout);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[1]);
    close(ends[0]);
    pt_writer_t *w = pt_writer_start(count_room, &rooms);
    pt_writer_put(w, STDOUT_FILENO, "a", 1);
    pt_writer_put(w, STDOUT_FILENO, "b", 1);
    bool ok = pt_writer_end(w);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    assert_false(ok);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_command_lines), cmocka_unit_test(test_find_worker),
        cmocka_unit_test(test_reports),       cmocka_unit_test(test_writer),
        cmocka_unit_test(test_writer_broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
