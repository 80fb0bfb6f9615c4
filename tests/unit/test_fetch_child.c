/* test_fetch_child.c: other programs run to their end. SPDX-License-Identifier: MIT */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static bool shell(const char *script, pt_child_request_t request, pt_child_result_t *ret) {
    pt_string_list_t argv = PT_STRING_LIST_INIT;
    assert_true(pt_string_list_add(&argv, "sh") && pt_string_list_add(&argv, "-c") &&
                pt_string_list_add(&argv, script));
    request.argv = &argv;
    request.out_max = request.out_max ? request.out_max : 1U << 20;
    request.held_fd = request.held_fd ? request.held_fd : -1;
    bool good = pt_child_run(&request, ret);
    pt_string_list_free(&argv);
    return good;
}

static void assert_end(const pt_child_result_t *result, const char *wanted) {
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    pt_child_request_t request = {.timeout_ns = 200000000};
    pt_child_put_end(&request, result, &text);
    assert_string_equal(perftrace__strbuf_cstr(&text), wanted);
    perftrace__strbuf_free(&text);
}

/* A process that is gone, or a zombie that nobody waits for. */
static bool is_gone(int pid) {
    char path[64], state = 'X';
    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    if (file) {
        if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1) { // NOLINT(cert-err34-c)
            state = 'X';
        }
        fclose(file);
    }
    return state == 'X' || state == 'Z';
}

static int pid_at(const char *text, char **ret_end) {
    long pid = strtol(text, ret_end, 10);
    assert_true(pid > 1);
    return (int)pid;
}

static void wait_until_gone(int pid) {
    for (int i = 0; !is_gone(pid); i++) {
        assert_true(i < 1000);
        usleep(10000);
    }
}

static void test_output(void **state) {
    (void)state;
    pt_child_result_t r;
    assert_true(shell("cat; printf 'a\\0b'; echo no >&2", (pt_child_request_t){.out_fd = -1}, &r));
    assert_int_equal(r.out.len, 3); /* nothing came from its standard input */
    assert_memory_equal(r.out.data, "a\0b", 3);
    assert_string_equal(perftrace__strbuf_cstr(&r.err), "no\n");
    assert_end(&r, "");
    pt_child_result_free(&r);
    assert_true(shell("pwd", (pt_child_request_t){.out_fd = -1, .dir = "/"}, &r));
    assert_string_equal(perftrace__strbuf_cstr(&r.out), "/\n");
    pt_child_result_free(&r);
}

static void test_statuses(void **state) {
    (void)state;
    pt_child_result_t r;
    assert_false(shell("exit 3", (pt_child_request_t){.out_fd = -1}, &r));
    assert_end(&r, "ended with status 3");
    pt_child_result_free(&r);
    assert_false(shell("kill -9 $$", (pt_child_request_t){.out_fd = -1}, &r));
    assert_int_equal(r.status, 137);
    assert_end(&r, "was ended by signal 9");
    pt_child_result_free(&r);
    /* As the aws CLI ends when it has no credentials: no signal has the number 127. */
    assert_false(shell("exit 255", (pt_child_request_t){.out_fd = -1}, &r));
    assert_end(&r, "ended with status 255");
    pt_child_result_free(&r);
    pt_string_list_t argv = PT_STRING_LIST_INIT;
    assert_true(pt_string_list_add(&argv, "no-such-program-here"));
    pt_child_request_t q = {.argv = &argv, .out_fd = -1, .held_fd = -1};
    assert_false(pt_child_run(&q, &r));
    /* valgrind and qemu-user make a fork of the vfork whose child tells us why: 127 is all then. */
    assert_true(r.error == ENOENT || (r.error == 0 && r.status == 127));
    pt_child_result_free(&r);
    pt_string_list_free(&argv);
}

static void count_line(const char *text, void *user) {
    int *lines = user;
    assert_non_null(strstr(text, "line"));
    (*lines)++;
}

static void test_long_errors(void **state) {
    (void)state;
    pt_child_result_t r;
    int lines = 0;
    assert_false(shell("i=0; while [ $i -lt 3000 ]; do echo line $i >&2; i=$((i+1)); done; "
                       "echo last line >&2; exit 1",
                       (pt_child_request_t){.out_fd = -1}, &r));
    assert_int_equal(r.err.len, 8192);
    assert_string_equal(r.err.data + r.err.len - 10, "last line\n");
    r.err.data[0] = 'l'; /* the first one is cut anywhere */
    memmove(r.err.data, "line", 4);
    pt_child_err_lines(&r, count_line, &lines);
    assert_true(lines > 700);
    pt_child_result_free(&r);
}

static void keep_line(const char *text, void *user) {
    perftrace__strbuf_printf(user, "<%s>", text);
}

static void test_hostile_errors(void **state) {
    (void)state;
    pt_child_result_t r;
    perftrace__strbuf_t lines = PERFTRACE__STRBUF_INIT;
    assert_false(shell("printf 'a\\033[2Jb\\n\\n\\377\\xc3\\xbc\\nend' >&2; exit 1",
                       (pt_child_request_t){.out_fd = -1}, &r));
    pt_child_err_lines(&r, keep_line, &lines);
    const char *text = perftrace__strbuf_cstr(&lines);
    assert_null(strchr(text, '\033'));
    assert_null(strchr(text, '\377'));
    assert_non_null(strstr(text, "<a\\x1b[2Jb>"));
    assert_non_null(strstr(text, "<end>"));
    perftrace__strbuf_free(&lines);
    pt_child_result_free(&r);
}

static void test_too_long(void **state) {
    (void)state;
    pt_child_result_t r;
    assert_false(shell("sleep 600 & echo $$ $!; wait", /* the one below is stopped, too */
                       (pt_child_request_t){.out_fd = -1, .timeout_ns = 200000000}, &r));
    assert_true(r.timed_out);
    assert_end(&r, "did not end within 200 ms and was stopped");
    char *end = NULL;
    wait_until_gone(pid_at(perftrace__strbuf_cstr(&r.out), &end));
    wait_until_gone(pid_at(end, &end));
    pt_child_result_free(&r);
}

static void test_too_much(void **state) {
    (void)state;
    pt_child_result_t r;
    assert_false(shell("yes", (pt_child_request_t){.out_fd = -1, .out_max = 100000}, &r));
    assert_true(r.too_much);
    assert_end(&r, "printed more than fits into memory");
    pt_child_result_free(&r);
}

static void test_left_behind(void **state) {
    (void)state;
    pt_child_result_t r;
    char *end = NULL;
    assert_true(shell("sleep 600 & echo $!", (pt_child_request_t){.out_fd = -1}, &r));
    wait_until_gone(pid_at(perftrace__strbuf_cstr(&r.out), &end));
    pt_child_result_free(&r);
}

static void test_descriptors(void **state) {
    (void)state;
    pt_child_result_t r;
    char script[64];
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_true(fd > 2);
    snprintf(script, sizeof(script), "test -e /proc/self/fd/%d", fd);
    assert_false(shell(script, (pt_child_request_t){.out_fd = -1}, &r));
    pt_child_result_free(&r);
    assert_true(shell(script, (pt_child_request_t){.out_fd = -1, .held_fd = fd}, &r));
    pt_child_result_free(&r);
    close(fd);
}

/* Last: a signal is kept. */
static void test_signal(void **state) {
    (void)state;
    pt_child_result_t r;
    char script[64];
    pt_child_catch_signals();
    assert_int_equal(pt_child_signal(), 0);
    snprintf(script, sizeof(script), "kill -TERM %d; exec sleep 600", (int)getpid());
    assert_false(shell(script, (pt_child_request_t){.out_fd = -1}, &r));
    assert_true(r.interrupted);
    assert_int_equal(pt_child_signal(), SIGTERM);
    assert_end(&r, "was interrupted");
    pt_child_result_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_output),      cmocka_unit_test(test_statuses),
        cmocka_unit_test(test_long_errors), cmocka_unit_test(test_hostile_errors),
        cmocka_unit_test(test_too_long),    cmocka_unit_test(test_too_much),
        cmocka_unit_test(test_left_behind), cmocka_unit_test(test_descriptors),
        cmocka_unit_test(test_signal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
