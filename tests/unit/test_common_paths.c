/* test_common_paths.c: operands to inputs. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common_temp.h"
#include "message.h"
#include "paths.h"
#include "strbuf.h"

static pt_paths_t paths;
static char said[65536];

static bool is_jsonl(const char *name, void *ctx) {
    (void)ctx;
    size_t len = strlen(name);
    return len > 6 && strcmp(name + len - 6, ".jsonl") == 0;
}

/* Collects a NULL-ended list of operands; messages are in said. */
static pt_exit_t collect_list(const char *const *arguments) {
    static const pt_paths_request_t request = {.filter = is_jsonl, .looked_for = "*.jsonl"};
    char *operands[10];
    size_t count = 0;
    for (const char *const *arg = arguments; *arg; arg++) {
        operands[count++] = (char *)(uintptr_t)*arg;
    }
    pt_paths_free(&paths);
    char err[TEMP_PATH_MAX + 8];
    snprintf(err, sizeof(err), "%s.err", temp_folder); /* not beside the inputs */
    temp_catch(2, err);
    pt_exit_t status = pt_paths_collect(&request, operands, count, &paths);
    snprintf(said, sizeof(said), "%s", temp_uncatch(2, err));
    unlink(err);
    return status;
}

#define collect(...) collect_list((const char *const[]){__VA_ARGS__})

/* The names found, joined by blanks. */
static const char *found(void) {
    static char names[4096];
    size_t len = 0;
    names[0] = '\0';
    for (size_t i = 0; i < paths.count; i++) {
        len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s", i ? " " : "",
                                paths.items[i].name);
    }
    return names;
}

static int enter(void **state) {
    (void)state;
    temp_enter();
    pt_message_init("t", NULL, PT_NORMAL);
    mkdir("run", 0700);
    mkdir("run/sub", 0700);
    mkdir("run/sub/deep", 0700);
    mkdir("run/.hidden", 0700);
    mkdir("empty", 0700);
    temp_puts("run/r10.jsonl", "0123456789");
    temp_puts("run/r2.jsonl", "01");
    temp_puts("run/notes.txt", "x");
    temp_puts("run/.r3.jsonl.17.tmp", "x");
    temp_puts("run/.hidden/r4.jsonl", "x");
    temp_puts("run/sub/r1.jsonl", "x");
    temp_puts("run/sub/deep/r0.jsonl", "x");
    temp_puts("one.json", "x");
    temp_puts("odd[1].json", "x");
    return 0;
}

static int leave(void **state) {
    (void)state;
    pt_paths_free(&paths);
    temp_leave();
    return 0;
}

static void directories_are_searched_in_natural_order(void **state) {
    (void)state;
    assert_int_equal(collect("run", NULL), PT_EXIT_OK);
    assert_string_equal(found(),
                        "run/r2.jsonl run/r10.jsonl run/sub/deep/r0.jsonl run/sub/r1.jsonl");
    assert_int_equal(pt_paths_total_size(&paths), 14);
    assert_false(paths.items[0].named);
    assert_int_equal(collect("run/", "one.json", NULL), PT_EXIT_OK);
    assert_string_equal(
        found(), "one.json run/r2.jsonl run/r10.jsonl run/sub/deep/r0.jsonl run/sub/r1.jsonl");
    assert_true(paths.items[0].named && paths.items[0].regular && !paths.items[0].is_stdin);
}

static void named_files_are_taken_whatever_their_name(void **state) {
    (void)state;
    assert_int_equal(collect("run/notes.txt", "run/.hidden/r4.jsonl", NULL), PT_EXIT_OK);
    assert_string_equal(found(), "run/.hidden/r4.jsonl run/notes.txt");
    assert_int_equal(collect("/dev/null", NULL), PT_EXIT_OK);
    assert_false(paths.items[0].regular);
    assert_int_equal(pt_paths_total_size(&paths), 0);
}

static void globs_are_expanded_when_no_file_has_the_name(void **state) {
    (void)state;
    assert_int_equal(collect("odd[1].json", NULL), PT_EXIT_OK);
    assert_string_equal(found(), "odd[1].json");
    assert_int_equal(collect("run/r*.jsonl", NULL), PT_EXIT_OK);
    assert_string_equal(found(), "run/r2.jsonl run/r10.jsonl");
    assert_int_equal(collect("run/**/r?.jsonl", NULL), PT_EXIT_OK);
    assert_string_equal(found(), "run/r2.jsonl run/sub/deep/r0.jsonl run/sub/r1.jsonl");
    assert_int_equal(collect("**/deep/*", NULL), PT_EXIT_OK);
    assert_string_equal(found(), "run/sub/deep/r0.jsonl");
    assert_int_equal(collect("r*n", NULL), PT_EXIT_OK); /* a directory that a glob names */
    assert_int_equal(paths.count, 4);
    char absolute[TEMP_PATH_MAX + 32];
    snprintf(absolute, sizeof(absolute), "%s/*/r[0-9].jsonl", temp_folder);
    assert_int_equal(collect(absolute, NULL), PT_EXIT_OK);
    assert_int_equal(paths.count, 1);
    assert_int_equal(paths.items[0].name[0], '/');
}

static void one_file_is_taken_once_whatever_leads_to_it(void **state) {
    (void)state;
    assert_int_equal(symlink("run/r2.jsonl", "zlink.jsonl"), 0);
    assert_int_equal(link("run/r2.jsonl", "zhard.jsonl"), 0);
    assert_int_equal(symlink("..", "run/sub/circle"), 0);
    assert_int_equal(collect("zlink.jsonl", "run", "zhard.jsonl", "./run/r2.jsonl", "run", NULL),
                     PT_EXIT_OK);
    assert_string_equal(found(),
                        "./run/r2.jsonl run/r10.jsonl run/sub/deep/r0.jsonl run/sub/r1.jsonl");
    assert_string_equal(said, "");
    unlink("zlink.jsonl");
    unlink("zhard.jsonl");
    unlink("run/sub/circle");
}

static void everything_wrong_is_told(void **state) {
    (void)state;
    assert_int_equal(collect("none.json", "empty", "run/*.gone", "run/r2.jsonl", "", NULL),
                     PT_EXIT_INPUT);
    assert_string_equal(found(), "run/r2.jsonl");
    assert_non_null(strstr(said, "error: none.json: No such file or directory\n"));
    assert_non_null(strstr(said, "error: empty: no *.jsonl in this directory or below\n"));
    assert_non_null(strstr(said, "error: run/*.gone: matches no file\n"));
    assert_int_equal(symlink("nowhere", "run/dangling.jsonl"), 0);
    assert_int_equal(collect("run", NULL), PT_EXIT_OK);
    assert_non_null(strstr(said, "warning: run/dangling.jsonl: left out: No such file"));
    unlink("run/dangling.jsonl");
}

static void unreadable_files_are_errors(void **state) {
    (void)state;
    if (geteuid() == 0) {
        skip(); /* root reads everything */
    }
    temp_puts("run/locked.jsonl", "x");
    chmod("run/locked.jsonl", 0);
    chmod("run/sub", 0);
    assert_int_equal(collect("run", NULL), PT_EXIT_INPUT);
    assert_non_null(strstr(said, "error: run/locked.jsonl: Permission denied\n"));
    assert_non_null(strstr(said, "warning: run/sub: not searched: Permission denied\n"));
    chmod("run/sub", 0700);
    unlink("run/locked.jsonl");
}

static void standard_input_is_an_operand(void **state) {
    (void)state;
    assert_int_equal(collect("-", "run/r2.jsonl", "-", NULL), PT_EXIT_OK);
    assert_int_equal(paths.count, 2);
    assert_true(paths.items[0].is_stdin);
    assert_int_equal(pt_paths_total_size(&paths), 0);
    char dash[] = "-";
    char *operands[] = {dash};
    pt_paths_request_t request = {.refuse_stdin = true};
    pt_paths_free(&paths);
    temp_catch(2, "err");
    assert_int_equal(pt_paths_collect(&request, operands, 1, &paths), PT_EXIT_INPUT);
    assert_non_null(strstr(temp_uncatch(2, "err"), "error: -: standard input cannot be read"));
    unlink("err");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(directories_are_searched_in_natural_order),
        cmocka_unit_test(named_files_are_taken_whatever_their_name),
        cmocka_unit_test(globs_are_expanded_when_no_file_has_the_name),
        cmocka_unit_test(one_file_is_taken_once_whatever_leads_to_it),
        cmocka_unit_test(everything_wrong_is_told),
        cmocka_unit_test(unreadable_files_are_errors),
        cmocka_unit_test(standard_input_is_an_operand),
    };
    return cmocka_run_group_tests_name("common_paths", tests, enter, leave);
}
