/* test_common_message.c: messages and the book of problems. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common_temp.h"
#include "message.h"
#include "problems.h"
#include "strbuf.h"

#include <pthread.h>

static int enter(void **state) {
    (void)state;
    temp_enter();
    pt_message_init("perf-trace-test", "/usr/bin/perf-trace-test", PT_NORMAL);
    return 0;
}

static int leave(void **state) {
    (void)state;
    temp_leave();
    return 0;
}

static void message_names_program_and_place(void **state) {
    (void)state;
    temp_catch(2, "err");
    pt_place_t place = {"traces-r3.jsonl", 17, 4711};
    pt_warn_at(&place, "bad %s", "value");
    place.line = 0;
    pt_error_at(&place, "lost");
    place.offset = PT_NO_OFFSET;
    pt_warn_at(&place, "odd");
    pt_note("done");
    assert_string_equal(temp_uncatch(2, "err"),
                        "perf-trace-test: warning: traces-r3.jsonl:17 (offset 4711): bad value\n"
                        "perf-trace-test: error: traces-r3.jsonl (offset 4711): lost\n"
                        "perf-trace-test: warning: traces-r3.jsonl: odd\n"
                        "perf-trace-test: done\n");
}

static void quiet_keeps_errors_only(void **state) {
    (void)state;
    uint64_t warnings = pt_message_warning_count();
    temp_catch(2, "err");
    pt_message_set_verbosity(PT_QUIET);
    pt_warn("a");
    pt_note("b");
    pt_detail("c");
    pt_error("d");
    pt_message_set_verbosity(PT_NORMAL);
    pt_detail("e");
    pt_message_set_verbosity(PT_VERBOSE);
    pt_detail("f");
    pt_message_set_verbosity(PT_NORMAL);
    assert_string_equal(temp_uncatch(2, "err"), "perf-trace-test: error: d\nperf-trace-test: f\n");
    assert_int_equal(pt_message_warning_count(), warnings + 1);
}

static void control_bytes_do_not_reach_the_terminal(void **state) {
    (void)state;
    temp_catch(2, "err");
    pt_note("%s", "a\033[31mb\rc\x7f");
    assert_string_equal(temp_uncatch(2, "err"), "perf-trace-test: a\\x1b[31mb\\x0dc\\x7f\n");
    temp_catch(2, "err");
    pt_message_status("nothing is drawn in a file");
    assert_string_equal(temp_uncatch(2, "err"), "");
}

static void name_comes_from_the_program_without_argv(void **state) {
    (void)state;
    pt_message_init("perf-trace-test", NULL, PT_NORMAL);
    assert_string_equal(pt_message_program(), "perf-trace-test");
    pt_message_init("perf-trace-test", "", PT_NORMAL);
    assert_string_equal(pt_message_program(), "perf-trace-test");
    pt_message_init("perf-trace-test", "./other", PT_NORMAL);
    assert_string_equal(pt_message_program(), "other");
    pt_message_init("perf-trace-test", NULL, PT_NORMAL);
    assert_false(pt_message_has_color());
}

/* What comes out of a terminal on standard error while a few messages are made. */
static const char *on_a_terminal(void) {
    static char text[4096];
    text[0] = '\0';
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    int line = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    int saved = dup(2);
    dup2(line, 2);
    close(line);
    pt_message_init("t", NULL, PT_NORMAL);
    pt_message_status("half way");
    pt_error("lost");
    pt_message_status("nearly");
    pt_message_status(NULL);
    pt_message_status(NULL);
    pt_note("done");
    size_t len = 0;
    while (!strstr(text, "t: done") && len < sizeof(text) - 1) {
        ssize_t n = read(terminal, text + len, sizeof(text) - 1 - len);
        assert_true(n > 0);
        len += (size_t)n;
        text[len] = '\0';
    }
    dup2(saved, 2);
    close(saved);
    close(terminal);
    pt_message_init("perf-trace-test", NULL, PT_NORMAL);
    return text;
}

static void terminal_gets_colours_and_a_status_line(void **state) {
    (void)state;
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    assert_non_null(strstr(on_a_terminal(), "\r\033[Khalf way"
                                            "\r\033[Kt: \033[1;31merror: \033[0mlost\r\n"
                                            "\r\033[Knearly\r\033[Kt: done"));
}

static void no_color_is_honoured(void **state) {
    (void)state;
    setenv("NO_COLOR", "1", 1);
    assert_non_null(strstr(on_a_terminal(), "\r\033[Kt: error: lost\r\n"));
    unsetenv("NO_COLOR");
    setenv("TERM", "dumb", 1);
    assert_true(strncmp(on_a_terminal(), "t: error: lost\r\nt: done", 23) == 0);
}

#define PROBLEM_LIST(X)                                                                            \
    X(CUT, "string_cut", "string cut", PT_PROBLEM_NOTE)                                            \
    X(NAN, "nan_mended", "bare NaN mended", PT_PROBLEM_MENDED)                                     \
    X(TORN, "torn_line", "torn line left out", PT_PROBLEM_SKIPPED)

enum {
#define X(name, id, text, weight) PROBLEM_##name,
    PROBLEM_LIST(X)
#undef X
        PROBLEM_COUNT
};

static const pt_problem_kind_t kinds[] = {
#define X(name, id, text, weight) {id, text, weight},
    PROBLEM_LIST(X)
#undef X
};

static void each_kind_is_told_once_a_file_with_its_first_place(void **state) {
    (void)state;
    pt_problems_t *book = pt_problems_new(kinds, PROBLEM_COUNT);
    unsigned a = pt_problems_add_file(book, "a.jsonl");
    unsigned b = pt_problems_add_file(book, "b.jsonl");
    pt_problems_add(book, PROBLEM_NAN, b, 30, 900, "later");
    pt_problems_add(book, PROBLEM_NAN, b, 17, 471, "earlier");
    pt_problems_add_many(book, PROBLEM_NAN, b, 40, 1000, NULL, 10);
    pt_problems_add_many(book, PROBLEM_NAN, b, 1, 0, NULL, 0);
    pt_problems_add(book, PROBLEM_NAN, a, 5, PT_NO_OFFSET, NULL);
    pt_problems_add(book, PROBLEM_TORN, a, 0, 12, NULL);
    pt_problems_add(book, PROBLEM_CUT, a, 2, 7, NULL);
    assert_int_equal(pt_problems_count(book, PROBLEM_NAN), 13);
    assert_int_equal(pt_problems_total(book, PT_PROBLEM_NOTE), 15);
    assert_int_equal(pt_problems_total(book, PT_PROBLEM_MENDED), 14);
    assert_int_equal(pt_problems_total(book, PT_PROBLEM_SKIPPED), 1);
    temp_catch(2, "err");
    pt_problems_print(book, false, 0);
    assert_string_equal(
        temp_uncatch(2, "err"),
        "perf-trace-test: a.jsonl:2 (byte 7): string cut\n"
        "perf-trace-test: warning: a.jsonl:5: bare NaN mended\n"
        "perf-trace-test: warning: b.jsonl:17 (byte 471): bare NaN mended: earlier (12 times in "
        "all)\n"
        "perf-trace-test: warning: a.jsonl (byte 12): torn line left out\n");
    temp_catch(2, "err");
    pt_problems_print(book, true, 1);
    const char *text = temp_uncatch(2, "err");
    assert_non_null(strstr(text, "error: a.jsonl:5: bare NaN mended\n"));
    assert_non_null(strstr(text, "error: 1 more file: bare NaN mended (12 times)\n"));
    pt_problems_free(book);
    pt_problems_free(NULL);
}

static void first_place_does_not_depend_on_the_order(void **state) {
    (void)state;
    static const uint64_t offsets[] = {500, 3, 77, PT_NO_OFFSET, 3000};
    for (size_t shift = 0; shift < 5; shift++) {
        pt_problems_t *book = pt_problems_new(kinds, PROBLEM_COUNT);
        unsigned file = pt_problems_add_file(book, "f");
        for (size_t i = 0; i < 5; i++) {
            pt_problems_add(book, PROBLEM_NAN, file, 0, offsets[(i + shift) % 5], NULL);
        }
        temp_catch(2, "err");
        pt_problems_print(book, false, 0);
        assert_non_null(strstr(temp_uncatch(2, "err"), "f (byte 3): bare NaN mended (5 times"));
        pt_problems_free(book);
    }
}

static void details_are_bounded_and_unknown_numbers_harmless(void **state) {
    (void)state;
    pt_problems_t *book = pt_problems_new(kinds, PROBLEM_COUNT);
    char text[2000];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    pt_problems_add(book, PROBLEM_TORN, 0, 1, 1, NULL); /* no file was registered */
    unsigned file = pt_problems_add_file(book, "f");
    pt_problems_add(book, PROBLEM_COUNT, file, 1, 1, NULL);
    pt_problems_add(book, PROBLEM_NAN, file, 1, 1, text);
    assert_int_equal(pt_problems_total(book, PT_PROBLEM_NOTE), 2);
    temp_catch(2, "err");
    pt_problems_print(book, false, 0);
    assert_true(strlen(temp_uncatch(2, "err")) < 400);
    pt_problems_free(book);
}

static pt_problems_t *shared;

static void *add_a_thousand(void *argument) {
    (void)argument;
    for (uint64_t i = 0; i < 1000; i++) {
        pt_problems_add(shared, PROBLEM_NAN, 0, i + 1, i * 10 + 5, "detail");
    }
    return NULL;
}

static void threads_may_add_at_once(void **state) {
    (void)state;
    shared = pt_problems_new(kinds, PROBLEM_COUNT);
    pt_problems_add_file(shared, "f");
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, add_a_thousand, NULL), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(pt_problems_count(shared, PROBLEM_NAN), 4000);
    temp_catch(2, "err");
    pt_problems_print(shared, false, 0);
    assert_string_equal(temp_uncatch(2, "err"), "perf-trace-test: warning: f:1 (byte 5): bare NaN "
                                                "mended: detail (4000 times in all)\n");
    pt_problems_free(shared);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(message_names_program_and_place),
        cmocka_unit_test(quiet_keeps_errors_only),
        cmocka_unit_test(control_bytes_do_not_reach_the_terminal),
        cmocka_unit_test(name_comes_from_the_program_without_argv),
        cmocka_unit_test(terminal_gets_colours_and_a_status_line),
        cmocka_unit_test(no_color_is_honoured),
        cmocka_unit_test(each_kind_is_told_once_a_file_with_its_first_place),
        cmocka_unit_test(first_place_does_not_depend_on_the_order),
        cmocka_unit_test(details_are_bounded_and_unknown_numbers_harmless),
        cmocka_unit_test(threads_may_add_at_once),
    };
    return cmocka_run_group_tests_name("common_message", tests, enter, leave);
}
