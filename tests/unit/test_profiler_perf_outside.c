/* test_profiler_perf_outside.c: a perf record that runs around the process; here a process that
 * answers as perf does. The real one: tests/cli/run_perf.test.js. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profiler_book.h"

#include <fcntl.h>
#include <sys/wait.h>

static char commands[128], answers[128], heard[128], control[300];
static pid_t perf; /* 0: none */

/* Holds both pipes open as perf does, and writes down what it hears; ends at "stop" or after
 * `limit` commands. */
static void be_perf(int limit) {
    int in = open(commands, O_RDWR | O_CLOEXEC);
    int out = open(answers, O_RDWR | O_CLOEXEC);
    int book_fd = open(heard, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    char line[64];
    size_t n = 0;
    if (write(book_fd, "", 1) != 1) { /* ready */
        _exit(1);
    }
    while (limit > 0 && read(in, line + n, 1) == 1) {
        if (line[n++] == '\n') {
            limit--;
            if (write(book_fd, line, n) != (ssize_t)n ||
                (limit >= 0 && write(out, "ack\n", 5) != 5)) {
                _exit(1);
            }
            n = 0;
        }
    }
    _exit(0);
}

static void start_perf(int limit) {
    struct stat st;
    unlink(heard);
    perf = fork();
    assert_true(perf >= 0);
    if (perf == 0) {
        be_perf(limit);
    }
    while (stat(heard, &st) != 0 || st.st_size == 0) {
        usleep(1000);
    }
}

static void end_perf(void) {
    if (perf > 0) {
        kill(perf, SIGKILL);
        waitpid(perf, NULL, 0);
        perf = 0;
    }
}

static const char *what_it_heard(void) {
    static char text[1024];
    FILE *f = fopen(heard, "r");
    assert_non_null(f);
    (void)fgetc(f);
    text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
    fclose(f);
    return text;
}

static int set_up(void **state) {
    if (book_set_up(state)) {
        return -1;
    }
    snprintf(commands, sizeof(commands), "%s/commands", dir);
    snprintf(answers, sizeof(answers), "%s/answers", dir);
    snprintf(heard, sizeof(heard), "%s/heard", dir);
    snprintf(control, sizeof(control), "fifo:%s,%s", commands, answers);
    return mkfifo(commands, 0600) || mkfifo(answers, 0600);
}

static int tear_down(void **state) {
    end_perf();
    return book_tear_down(state);
}

static perftrace_profiler_t *open_profiler(const char *steps) {
    perftrace_profiler_options_t o = book_options();
    o.callback = NULL;
    o.back_ends = "perf";
    o.perf_control = control;
    o.perf_command = "/nonexistent/perf"; /* none is started */
    o.steps = steps;
    return book_open(&o);
}

static void run_steps(perftrace_profiler_t *p, int64_t first, int64_t last) {
    for (int64_t step = first; step <= last; step++) {
        assert_true(perftrace_profiler_step(p, step) >= 0);
    }
}

static void listed_steps_switch_it(void **state) {
    (void)state;
    start_perf(100);
    perftrace_profiler_t *p = open_profiler("3,5-6");
    run_steps(p, 0, 2);
    assert_string_equal(what_it_heard(), "");
    run_steps(p, 3, 3);
    assert_string_equal(what_it_heard(), "enable\n");
    run_steps(p, 4, 4);
    assert_string_equal(what_it_heard(), "enable\ndisable\n");
    run_steps(p, 5, 6);
    perftrace_profiler_close(p); /* a window that is open is ended */
    assert_string_equal(what_it_heard(), "enable\ndisable\nenable\ndisable\n");
    assert_int_equal(told("perf recorded step 3\n"), 1);
    assert_int_equal(told("perf recorded step 5 to 6\n"), 1);
    assert_int_equal(message_count, 2);
}

static void one_that_has_ended_is_told(void **state) {
    (void)state;
    perftrace_profiler_t *p = open_profiler("1,5");
    run_steps(p, 0, 1); /* nobody reads the pipe */
    assert_int_equal(told("perf does not record: "), 1);
    assert_int_equal(told("/commands: perf record has ended"), 1);
    start_perf(1);
    run_steps(p, 2, 5); /* it answers once, and ends */
    assert_string_equal(what_it_heard(), "enable\n");
    assert_int_equal(waitpid(perf, NULL, 0), perf);
    perf = 0;
    run_steps(p, 6, 6);
    assert_int_equal(told("perf lost the window step 5: "), 1);
    assert_int_equal(told("perf record does not answer, or has ended"), 1);
    perftrace_profiler_close(p);
}

/* Of several processes below a perf, each with the same settings, one switches it. */
static void one_process_switches_it(void **state) {
    (void)state;
    int status = -1;
    start_perf(100);
    perftrace_profiler_t *p = open_profiler("1,3");
    run_steps(p, 0, 1);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        messages[0] = '\0';
        run_steps(p, 2, 3); /* with its parent's profiler */
        bool good = told("another process switches this perf record") == 1;
        messages[0] = '\0';
        perftrace_profiler_t *own = open_profiler("1");
        run_steps(own, 0, 1);
        good = good && told("another process switches this perf record") == 1;
        _exit(good ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_string_equal(what_it_heard(), "enable\n"); /* the parent's window is open still */
    run_steps(p, 2, 3);
    perftrace_profiler_close(p);
    assert_string_equal(what_it_heard(), "enable\ndisable\nenable\ndisable\n");
    /* When it has closed its profiler another one may. */
    p = open_profiler("1");
    run_steps(p, 0, 1);
    perftrace_profiler_close(p);
    assert_int_equal(told("another process"), 0);
}

static void what_is_no_pipe_is_told(void **state) {
    (void)state;
    static const struct {
        const char *control, *says;
    } cases[] = {
        {"fd:10,11", "perf_control must be fifo:COMMANDS,ANSWERS, not fd:10,11"},
        {"fifo:only", "perf_control must be fifo:COMMANDS,ANSWERS, not fifo:only"},
        {"fifo:,x", "perf_control must be fifo:"},
        {"fifo:x,", "perf_control must be fifo:"},
        {"fifo:/nonexistent/c,/nonexistent/a", "/nonexistent/c: No such file or directory"},
        {"fifo:/dev/null,/dev/null", "/dev/null: Invalid argument"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        messages[0] = '\0';
        snprintf(control, sizeof(control), "%s", cases[i].control);
        perftrace_profiler_t *p = open_profiler(NULL);
        assert_int_equal(perftrace_profiler_start(p, NULL), PERFTRACE_ERR_UNSUPPORTED);
        if (told(cases[i].says) != 1) {
            fail_msg("%s: %s", cases[i].control, messages);
        }
        perftrace_profiler_close(p);
    }
    /* Commands are there, answers are not. */
    start_perf(100);
    snprintf(control, sizeof(control), "fifo:%s,/nonexistent/a", commands);
    perftrace_profiler_t *p = open_profiler(NULL);
    assert_int_equal(perftrace_profiler_start(p, NULL), PERFTRACE_ERR_UNSUPPORTED);
    assert_int_equal(told("/nonexistent/a: No such file or directory"), 1);
    perftrace_profiler_close(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(listed_steps_switch_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_that_has_ended_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_process_switches_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_pipe_is_told, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
