/* test_common_output.c: an output is there whole or not at all. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common_temp.h"

#include "output.h"

#include <errno.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

static perftrace__strbuf_t problem;

static int enter(void **state) {
    (void)state;
    temp_enter();
    umask(022);
    assert_int_equal(mkdir("out", 0700), 0);
    return 0;
}

static int leave(void **state) {
    (void)state;
    perftrace__strbuf_free(&problem);
    temp_leave();
    return 0;
}

static pt_output_t *open_good(const char *path, const pt_output_options_t *options) {
    pt_output_t *output = NULL;
    perftrace__strbuf_clear(&problem);
    int status = pt_output_open(path, options, &output, &problem);
    if (status != 0) {
        fail_msg("%s: %s", path, perftrace__strbuf_cstr(&problem));
    }
    return output;
}

static void assert_refused(const char *path, const pt_output_options_t *options, int status,
                           const char *says) {
    pt_output_t *output;
    perftrace__strbuf_clear(&problem);
    assert_int_equal(pt_output_open(path, options, &output, &problem), status);
    if (!strstr(perftrace__strbuf_cstr(&problem), says)) {
        fail_msg("%s: %s", path, perftrace__strbuf_cstr(&problem));
    }
}

static void file_appears_at_commit_and_whole(void **state) {
    (void)state;
    static char big[700000];
    memset(big, 'b', sizeof(big));
    pt_output_options_t options = {.sync = true};
    pt_output_t *output = open_good("out/new.json", &options);
    assert_string_equal(pt_output_name(output), "out/new.json");
    assert_int_equal(pt_output_write(output, "abc", 3), 0);
    assert_int_equal(pt_output_write(output, big, sizeof(big)), 0);
    assert_int_equal(pt_output_write(output, "", 0), 0);
    assert_int_equal(pt_output_write(output, "xyz", 3), 0);
    assert_int_equal(pt_output_offset(output), sizeof(big) + 6);
    assert_false(temp_exists("out/new.json"));
    assert_int_equal(temp_count("out"), 1);
    assert_int_equal(pt_output_commit(output, &problem), 0);
    assert_int_equal(temp_count("out"), 1);
    struct stat st;
    assert_int_equal(stat("out/new.json", &st), 0);
    assert_int_equal(st.st_size, sizeof(big) + 6);
    assert_int_equal(st.st_mode & 0777, 0644);
    assert_memory_equal(temp_read("out/new.json"), "abcbbb", 6);
    unlink("out/new.json");
}

static void abort_leaves_nothing_and_keeps_what_was_there(void **state) {
    (void)state;
    pt_output_t *output = open_good("out/x", NULL);
    pt_output_write(output, "abc", 3);
    pt_output_abort(output);
    assert_int_equal(temp_count("out"), 0);
    temp_puts("out/x", "old");
    output = open_good("out/x", NULL);
    pt_output_write(output, "new", 3);
    pt_output_abort(output);
    pt_output_abort(NULL);
    assert_int_equal(temp_count("out"), 1);
    assert_string_equal(temp_read("out/x"), "old");
    unlink("out/x");
}

static void replaced_file_keeps_its_mode_and_links_stay_links(void **state) {
    (void)state;
    temp_puts("out/real", "old");
    chmod("out/real", 0640);
    assert_int_equal(symlink("real", "out/link"), 0);
    assert_int_equal(symlink("out/link", "outer"), 0);
    pt_output_t *output = open_good("outer", NULL);
    pt_output_write(output, "new", 3);
    assert_int_equal(pt_output_commit(output, NULL), 0);
    struct stat st;
    assert_int_equal(lstat("outer", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(lstat("out/real", &st), 0);
    assert_true(S_ISREG(st.st_mode));
    assert_int_equal(st.st_mode & 07777, 0640);
    assert_string_equal(temp_read("out/real"), "new");
    unlink("out/real"); /* now the links lead nowhere: the file is made where they point */
    output = open_good("outer", NULL);
    assert_int_equal(pt_output_commit(output, NULL), 0);
    assert_true(temp_exists("out/real"));
    unlink("outer");
    unlink("out/link");
    unlink("out/real");
    assert_int_equal(symlink("round", "round"), 0);
    assert_refused("round", NULL, -ELOOP, "");
    unlink("round");
}

static void two_names_of_one_target_are_told(void **state) {
    (void)state;
    assert_int_equal(symlink("out", "folder"), 0);
    assert_int_equal(symlink("out/a", "link"), 0);
    /* Before it is there, and when it is. */
    for (int i = 0; i < 2; i++) {
        assert_true(pt_output_is_same("out/a", "out/a"));
        assert_true(pt_output_is_same("./out//a", "out/../out/a"));
        assert_true(pt_output_is_same("folder/a", "link"));
        assert_false(pt_output_is_same("out/a", "a"));
        assert_false(pt_output_is_same("out/a", "out/b"));
        assert_false(pt_output_is_same("out/a", "-"));
        temp_puts("out/a", "");
    }
    assert_true(pt_output_is_same("-", "/dev/stdout"));
    assert_false(pt_output_is_same("-", "/dev/stderr"));
    assert_false(pt_output_is_same("", ""));
    assert_false(pt_output_is_same("none/a", "none/a"));
    unlink("out/a");
    unlink("folder");
    unlink("link");
}

static void inputs_are_never_overwritten(void **state) {
    (void)state;
    temp_puts("in.jsonl", "data");
    assert_int_equal(link("in.jsonl", "hard"), 0);
    assert_int_equal(symlink("in.jsonl", "soft"), 0);
    pt_paths_t paths;
    pt_paths_request_t request = {.filter = NULL};
    char name[] = "in.jsonl";
    char *operands[] = {name};
    assert_int_equal(pt_paths_collect(&request, operands, 1, &paths), PT_EXIT_OK);
    pt_output_options_t options = {.inputs = &paths};
    assert_refused("in.jsonl", &options, -EEXIST, "is one of the inputs");
    assert_refused("./in.jsonl", &options, -EEXIST, "is one of the inputs");
    assert_refused("hard", &options, -EEXIST, "is one of the inputs");
    assert_refused("soft", &options, -EEXIST, "is one of the inputs");
    temp_catch(1, "soft"); /* tool in.jsonl > soft would have emptied it, >> not */
    temp_puts("in.jsonl", "data");
    pt_output_t *output;
    int status = pt_output_open("-", &options, &output, NULL);
    temp_uncatch(1, "soft");
    assert_int_equal(status, -EEXIST);
    assert_string_equal(temp_read("in.jsonl"), "data");
    pt_paths_free(&paths);
    unlink("hard");
    unlink("soft");
    unlink("in.jsonl");
}

static void what_cannot_be_written_is_explained(void **state) {
    (void)state;
    assert_refused("nowhere/x", NULL, -ENOENT, "there is no directory nowhere");
    assert_refused("out", NULL, -EISDIR, "is a directory");
    assert_refused("", NULL, -ENOENT, "No such file");
    temp_puts("file", "x");
    assert_refused("file/x", NULL, -ENOTDIR, "there is no directory file");
    pt_output_options_t options = {.no_replace = true};
    assert_refused("file", &options, -EEXIST, "exists already");
    if (geteuid() != 0) {
        chmod("out", 0500);
        assert_refused("out/x", NULL, -EACCES, "no file can be made in out: Permission denied");
        chmod("out", 0700);
        chmod("file", 0400);
        assert_refused("file", NULL, -EACCES, "Permission denied");
    }
    unlink("file");
}

static void no_replace_holds_until_commit(void **state) {
    (void)state;
    pt_output_options_t options = {.no_replace = true};
    pt_output_t *output = open_good("out/x", &options);
    temp_puts("out/x", "came in between");
    perftrace__strbuf_clear(&problem);
    assert_int_equal(pt_output_commit(output, &problem), -EEXIST);
    assert_string_equal(temp_read("out/x"), "came in between");
    unlink("out/x");
    output = open_good("out/x", &options);
    assert_int_equal(pt_output_commit(output, &problem), 0);
    assert_int_equal(temp_count("out"), 1);
    unlink("out/x");
}

static void longest_names_work(void **state) {
    (void)state;
    char name[300] = "out/";
    memset(name + 4, 'n', 255);
    name[259] = '\0';
    pt_output_t *output = open_good(name, NULL);
    assert_int_equal(pt_output_commit(output, NULL), 0);
    assert_true(temp_exists(name));
    unlink(name);
}

static void temp_name_left_by_another_is_not_touched(void **state) {
    (void)state;
    char stale[64];
    snprintf(stale, sizeof(stale), "out/.x.%d.tmp", (int)getpid());
    temp_puts(stale, "stale");
    pt_output_t *output = open_good("out/x", NULL);
    assert_int_equal(pt_output_commit(output, NULL), 0);
    assert_string_equal(temp_read(stale), "stale");
    unlink(stale);
    unlink("out/x");
}

static void devices_and_pipes_are_written_straight(void **state) {
    (void)state;
    pt_output_t *output = open_good("/dev/null", NULL);
    assert_int_equal(pt_output_write(output, "abc", 3), 0);
    assert_int_equal(pt_output_commit(output, NULL), 0);
    temp_catch(1, "stdout");
    static const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1"};
    for (size_t i = 0; i < 3; i++) {
        output = open_good(names[i], NULL);
        assert_string_equal(pt_output_name(output), "standard output");
        assert_int_equal(pt_output_write(output, names[i], strlen(names[i])), 0);
        assert_int_equal(pt_output_commit(output, NULL), 0);
    }
    assert_string_equal(temp_uncatch(1, "stdout"), "-/dev/stdout/dev/fd/1");
    assert_int_equal(mkfifo("fifo", 0600), 0);
    int reader = open("fifo", O_RDONLY | O_NONBLOCK);
    output = open_good("fifo", NULL);
    assert_int_equal(pt_output_write(output, "abc", 3), 0);
    assert_int_equal(pt_output_commit(output, NULL), 0);
    char got[8];
    assert_int_equal(read(reader, got, sizeof(got)), 3);
    struct stat st;
    assert_int_equal(stat("fifo", &st), 0);
    assert_true(S_ISFIFO(st.st_mode));
    output = open_good("fifo", NULL);
    close(reader);
    pt_output_write(output, "abc", 3);
    perftrace__strbuf_clear(&problem);
    assert_int_equal(pt_output_commit(output, &problem), -EPIPE);
    assert_string_equal(problem.data, "whoever reads it has gone away");
    unlink("fifo");
    if (access("/dev/full", W_OK) == 0) {
        output = open_good("/dev/full", NULL);
        pt_output_write(output, "abc", 3);
        perftrace__strbuf_clear(&problem);
        assert_int_equal(pt_output_commit(output, &problem), -ENOSPC);
        assert_string_equal(problem.data, "No space left on device after 0 B");
    }
}

/* Writes 8 MiB to folder/x, where that cannot fit; nothing may be left. */
static void write_too_much(const char *folder, int expected, const char *says) {
    static char block[65536];
    char path[64];
    snprintf(path, sizeof(path), "%s/x", folder);
    for (size_t piece = 1000; piece <= sizeof(block); piece += sizeof(block) - 1000) {
        pt_output_t *output = open_good(path, NULL);
        int status = 0;
        for (size_t done = 0; done < (size_t)8 << 20 && status == 0; done += piece) {
            status = pt_output_write(output, block, piece);
        }
        assert_int_equal(status, -1);
        assert_int_equal(pt_output_write(output, block, 1), -1);
        assert_non_null(strstr(pt_output_problem(output), says));
        perftrace__strbuf_clear(&problem);
        assert_int_equal(pt_output_commit(output, &problem), expected);
        assert_non_null(strstr(problem.data, says));
        assert_int_equal(temp_count(folder), 0);
    }
}

static void full_disk_leaves_nothing(void **state) {
    (void)state;
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit limit = {(rlim_t)1 << 20, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    write_too_much("out", -EFBIG, "File too large after 1.0 MB");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);

    assert_int_equal(mkdir("small", 0700), 0);
    if (geteuid() == 0 && mount("none", "small", "tmpfs", 0, "size=1m") == 0) {
        write_too_much("small", -ENOSPC, "no space is left in small after 1.0 MB");
        assert_int_equal(umount("small"), 0);
    }
    assert_int_equal(rmdir("small"), 0);
}

/* A child that has an output open waits for the signal. */
static void signal_removes_the_temporary_file(void **state) {
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < 3; i++) {
        int ready[2];
        assert_int_equal(pipe(ready), 0);
        pid_t child = fork();
        if (child == 0) {
            signal(signals[i], SIG_DFL);
            pt_output_catch_signals();
            pt_output_t *output;
            if (pt_output_open("out/x", NULL, &output, NULL) != 0 ||
                pt_output_write(output, "abc", 3) != 0 || write(ready[1], "r", 1) != 1) {
                _exit(1);
            }
            for (;;) {
                pause();
            }
        }
        close(ready[1]);
        char byte;
        assert_int_equal(read(ready[0], &byte, 1), 1);
        close(ready[0]);
        assert_int_equal(temp_count("out"), 1);
        kill(child, signals[i]);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == signals[i]);
        assert_int_equal(temp_count("out"), 0);
    }
}

static void ignored_signals_stay_ignored(void **state) {
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        signal(SIGHUP, SIG_IGN);
        pt_output_catch_signals();
        raise(SIGHUP);
        _exit(17);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 17);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_appears_at_commit_and_whole),
        cmocka_unit_test(abort_leaves_nothing_and_keeps_what_was_there),
        cmocka_unit_test(replaced_file_keeps_its_mode_and_links_stay_links),
        cmocka_unit_test(two_names_of_one_target_are_told),
        cmocka_unit_test(inputs_are_never_overwritten),
        cmocka_unit_test(what_cannot_be_written_is_explained),
        cmocka_unit_test(no_replace_holds_until_commit),
        cmocka_unit_test(longest_names_work),
        cmocka_unit_test(temp_name_left_by_another_is_not_touched),
        cmocka_unit_test(devices_and_pipes_are_written_straight),
        cmocka_unit_test(full_disk_leaves_nothing),
        cmocka_unit_test(signal_removes_the_temporary_file),
        cmocka_unit_test(ignored_signals_stay_ignored),
    };
    return cmocka_run_group_tests_name("common_output", tests, enter, leave);
}
