/* test_control_output_dir.c: a client chooses a directory, but not beyond the root.
 * SPDX-License-Identifier: MIT */
#include "output_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char top[64], root[128], real[128];

static int set_up(void **state) {
    (void)state;
    strcpy(top, "/tmp/perftrace-output-XXXXXX");
    if (mkdtemp(top) == NULL) {
        return -1;
    }
    char text[256];
    snprintf(real, sizeof real, "%s/real", top);
    snprintf(root, sizeof root, "%s/root", top); /* a link, as a configuration may have it */
    if (mkdir(real, 0700) != 0 || symlink("real", root) != 0) {
        return -1;
    }
    snprintf(text, sizeof text, "%s/link", real);
    int bad = symlink("/tmp", text) != 0;
    snprintf(text, sizeof text, "%s/inner", real);
    bad |= symlink(".", text) != 0;
    snprintf(text, sizeof text, "%s/file", real);
    FILE *f = fopen(text, "w");
    return bad || f == NULL || fclose(f) != 0 ? -1 : 0;
}

static int tear_down(void **state) {
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", top);
    return system(command); /* NOLINT(cert-env33-c) */
}

/* What is answered, and the path or the problem. */
static char said[4096];

static perftrace__output_dir_result_t find(const char *asked, bool make) {
    perftrace__strbuf_t path = PERFTRACE__STRBUF_INIT, problem = PERFTRACE__STRBUF_INIT;
    perftrace__output_dir_result_t result =
        perftrace__output_dir_find(root, asked, make, &path, &problem);
    const bool good = result == PERFTRACE__OUTPUT_DIR_OK;
    snprintf(said, sizeof said, "%s", perftrace__strbuf_cstr(good ? &path : &problem));
    perftrace__strbuf_free(&path);
    perftrace__strbuf_free(&problem);
    return result;
}

static void expect_below(const char *asked, const char *below) {
    char want[512];
    struct stat st;
    assert_int_equal(find(asked, true), PERFTRACE__OUTPUT_DIR_OK);
    snprintf(want, sizeof want, "%s%s", root, below);
    assert_string_equal(said, want);
    assert_int_equal(stat(want, &st), 0);
    assert_true(S_ISDIR(st.st_mode));
}

static void paths_below_the_root_are_made(void **state) {
    char text[256];
    (void)state;
    expect_below("a", "/a");
    expect_below("a", "/a");
    expect_below("a/b//c/", "/a/b/c");
    expect_below("./d/./e", "/d/e");
    expect_below("...", "/...");
    expect_below("", "");
    expect_below(".", "");
    snprintf(text, sizeof text, "%s/f", root);
    expect_below(text, "/f");
    expect_below(root, "");
    snprintf(text, sizeof text, "%s//g/h", real); /* the same directory by its other name */
    expect_below(text, "/g/h");
}

static void expect_outside(const char *asked, const char *why) {
    assert_int_equal(find(asked, true), PERFTRACE__OUTPUT_DIR_OUTSIDE);
    assert_non_null(strstr(said, why));
    assert_non_null(strstr(said, root));
    assert_int_equal(find(asked, false), PERFTRACE__OUTPUT_DIR_OUTSIDE);
}

static void nothing_else_is_reached(void **state) {
    char text[256];
    (void)state;
    expect_outside("..", "it has a component ..");
    expect_outside("../real", "it has a component ..");
    expect_outside("a/../b", "it has a component ..");
    expect_outside("a/..", "it has a component ..");
    expect_outside("/", "it is another directory");
    expect_outside("/etc", "it is another directory");
    snprintf(text, sizeof text, "%s-other", root);
    expect_outside(text, "it is another directory");
    snprintf(text, sizeof text, "%s/../x", root);
    expect_outside(text, "it has a component ..");
    expect_outside("link", "there is a symbolic link in it");
    expect_outside("link/x", "there is a symbolic link in it");
    expect_outside("inner", "there is a symbolic link in it");
    snprintf(text, sizeof text, "%s/x", top);
    expect_outside(text, "it is another directory");
    assert_int_equal(access(text, F_OK), -1);
}

static void what_cannot_be_made_is_told(void **state) {
    char text[512], more[400];
    (void)state;
    assert_int_equal(find("file", true), PERFTRACE__OUTPUT_DIR_FAILED);
    assert_non_null(strstr(said, "Not a directory"));
    assert_int_equal(find("file/x", true), PERFTRACE__OUTPUT_DIR_FAILED);
    memset(more, 'n', sizeof more - 1);
    more[sizeof more - 1] = '\0';
    assert_int_equal(find(more, true), PERFTRACE__OUTPUT_DIR_FAILED);
    assert_non_null(strstr(said, "File name too long"));
    snprintf(text, sizeof text, "%s/closed", real);
    assert_int_equal(mkdir(text, 0500), 0);
    if (geteuid() != 0) {
        assert_int_equal(find("closed/x", true), PERFTRACE__OUTPUT_DIR_FAILED);
        assert_non_null(strstr(said, "Permission denied"));
    }
}

static void without_files_nothing_is_made(void **state) {
    char text[256];
    (void)state;
    assert_int_equal(find("new/one", false), PERFTRACE__OUTPUT_DIR_OK);
    snprintf(text, sizeof text, "%s/new", root);
    assert_int_equal(access(text, F_OK), -1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(paths_below_the_root_are_made),
        CASE(nothing_else_is_reached),
        CASE(what_cannot_be_made_is_told),
        CASE(without_files_nothing_is_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
