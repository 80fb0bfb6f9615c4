/* test_writer_file.c: the trace file, its names and its sink. SPDX-License-Identifier: MIT */
#include "jsonl_sink.h"
#include "trace_file.h"
#include "traced_case.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void every_file_has_a_name_of_its_own(void **state) {
    (void)state;
    char stem[256];
    char path[4096];
    char want[512];
    snprintf(stem, sizeof(stem), "%s/a/b/traces-r0", dir);
    for (int i = 0; i < 12; i++) {
        int fd = -1;
        assert_int_equal(perftrace__trace_file_create(stem, ".jsonl", path, sizeof(path), &fd), 0);
        snprintf(want, sizeof(want), i ? "%s.%d.jsonl" : "%s.jsonl", stem, i);
        assert_string_equal(path, want);
        assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
        close(fd);
    }
    /* A dangling link is a name that is taken, too. */
    char link[300];
    snprintf(link, sizeof(link), "%s/link.jsonl", dir);
    assert_int_equal(symlink("/no/such/place", link), 0);
    snprintf(stem, sizeof(stem), "%s/link", dir);
    int fd = -1;
    assert_int_equal(perftrace__trace_file_create(stem, ".jsonl", path, sizeof(path), &fd), 0);
    assert_non_null(strstr(path, "/link.1.jsonl"));
    close(fd);
}

static void what_cannot_be_made_has_an_error(void **state) {
    (void)state;
    char path[4096];
    int fd = -1;
    char stem[6000];
    snprintf(stem, sizeof(stem), "%s/t", dir);
    char small[8];
    assert_int_equal(perftrace__trace_file_create(stem, ".jsonl", small, sizeof(small), &fd),
                     -ENAMETOOLONG);
    memset(stem, 'x', sizeof(stem));
    stem[0] = '/';
    stem[5000] = '/';
    stem[sizeof(stem) - 1] = '\0';
    assert_int_equal(perftrace__trace_file_create(stem, ".jsonl", path, sizeof(path), &fd),
                     -ENAMETOOLONG);
    assert_int_equal(perftrace__trace_file_create("/dev/null/t", ".jsonl", path, sizeof(path), &fd),
                     -ENOTDIR);
    assert_true(perftrace__trace_file_create("/proc/t", ".jsonl", path, sizeof(path), &fd) < 0);
}

static perftrace__sink_t *open_sink(const char *name, char path[4096]) {
    char stem[256];
    int fd = -1;
    snprintf(stem, sizeof(stem), "%s/%s", dir, name);
    assert_int_equal(perftrace__trace_file_create(stem, ".jsonl", path, 4096, &fd), 0);
    const perftrace__run_meta_t meta = {.rank = 2, .pid = 7};
    perftrace__sink_t *s = perftrace__jsonl_sink_open(fd, 0, &meta);
    assert_non_null(s);
    return s;
}

static uint64_t size_of(const char *path) {
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return (uint64_t)st.st_size;
}

static void a_sink_writes_what_it_has_when_it_is_flushed(void **state) {
    (void)state;
    char path[4096];
    perftrace__sink_t *s = open_sink("one", path);
    assert_int_equal(size_of(path), 0);
    assert_int_equal(s->ops->flush(s, PERFTRACE__FLUSH_WRITE), 0);
    uint64_t header = s->ops->offset(s);
    assert_true(header > 0 && size_of(path) == header);
    s->ops->thread(s, 9, "worker");
    assert_int_equal(size_of(path), header);
    assert_int_equal(s->ops->offset(s), header);
    assert_int_equal(s->ops->flush(s, PERFTRACE__FLUSH_DISK), 0);
    assert_int_equal(size_of(path), s->ops->offset(s));
    assert_int_equal(perftrace__jsonl_sink_errno(s), 0);
    assert_false(s->ops->full(s));
    for (int i = 0; !s->ops->full(s); i++) {
        assert_true(i < 100000);
        s->ops->thread(s, 9, "worker");
    }
    assert_int_equal(s->ops->flush(s, PERFTRACE__FLUSH_WRITE), 0);
    assert_false(s->ops->full(s));
    assert_int_equal(size_of(path), s->ops->offset(s));
    perftrace__sink_close(s);
    perftrace__sink_close(NULL);
    traced_file_t f = traced_read(dir, "one.jsonl");
    assert_true(traced_count(&f, "thread_name") > 100);
    assert_int_equal(traced_count(&f, "perftrace_header"), 1);
    traced_free(&f);
}

static void a_failed_write_is_offered_again_and_nothing_is_twice(void **state) {
    (void)state;
    char path[4096];
    const perftrace__run_meta_t meta = {.rank = 2, .pid = 7};
    int full = open("/dev/full", O_WRONLY);
    perftrace__sink_t *s = perftrace__jsonl_sink_open(full, 0, &meta);
    assert_int_equal(s->ops->flush(s, PERFTRACE__FLUSH_WRITE), PERFTRACE_ERR_FULL);
    assert_int_equal(perftrace__jsonl_sink_errno(s), ENOSPC);
    assert_int_equal(s->ops->offset(s), 0);
    perftrace__sink_close(s);
    s = open_sink("full", path);
    struct rlimit before;
    getrlimit(RLIMIT_FSIZE, &before);
    struct rlimit low = {.rlim_cur = 10, .rlim_max = before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &low);
    int status = s->ops->flush(s, PERFTRACE__FLUSH_WRITE);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_not_equal(status, 0);
    assert_int_equal(perftrace__jsonl_sink_errno(s), EFBIG);
    assert_int_equal(s->ops->offset(s), 0);
    assert_int_equal(s->ops->flush(s, PERFTRACE__FLUSH_WRITE), 0);
    assert_int_equal(perftrace__jsonl_sink_errno(s), 0);
    assert_int_equal(s->ops->offset(s), size_of(path));
    perftrace__sink_close(s);
    traced_file_t t = traced_read(dir, "full.jsonl");
    assert_int_equal(traced_count(&t, "perftrace_header"), 1);
    traced_free(&t);
}

static void a_new_rank_is_told_from_the_next_line_on(void **state) {
    (void)state;
    char path[4096];
    perftrace__sink_t *s = open_sink("rank", path);
    s->ops->thread(s, 9, "before");
    const perftrace__run_meta_t meta = {.rank = 5, .pid = 7, .world_size = 6};
    perftrace__jsonl_sink_header(s, &meta);
    s->ops->thread(s, 9, "after");
    assert_int_equal(s->ops->flush(s, PERFTRACE__FLUSH_WRITE), 0);
    perftrace__sink_close(s);
    traced_file_t f = traced_read(dir, "rank.jsonl");
    assert_int_equal(traced_count(&f, "perftrace_header"), 2);
    assert_int_equal(traced_arg_number(traced_line(&f, "thread_name", 0), "rank"), 2);
    assert_int_equal(traced_arg_number(traced_line(&f, "perftrace_header", 1), "rank"), 5);
    assert_int_equal(traced_arg_number(traced_line(&f, "thread_name", 1), "rank"), 5);
    traced_free(&f);
}

static int create_second(void *user) {
    (void)user;
    char path[256];
    snprintf(path, sizeof(path), "%s/second.jsonl", dir);
    return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

static void a_file_that_was_removed_is_followed_by_another(void **state) {
    (void)state;
    char path[4096];
    perftrace__sink_t *s = open_sink("gone", path);
    perftrace__jsonl_sink_on_gone(s, path, create_second, NULL);
    s->ops->thread(s, 9, "first");
    assert_int_equal(s->ops->flush(s, PERFTRACE__FLUSH_WRITE), 0);
    assert_false(s->ops->replaced(s));
    unlink(path);
    s->ops->thread(s, 9, "second");
    assert_int_equal(s->ops->flush(s, PERFTRACE__FLUSH_WRITE), 0);
    assert_true(s->ops->replaced(s));
    assert_false(s->ops->replaced(s));
    perftrace__sink_close(s);
    /* The new file stands alone: it begins with the names of the threads so far. */
    traced_file_t f = traced_read(dir, "second.jsonl");
    assert_int_equal(traced_count(&f, "perftrace_header"), 1);
    for (size_t i = 0; i < traced_count(&f, "thread_name"); i++) {
        const cJSON *line = traced_line(&f, "thread_name", i);
        assert_string_equal(cJSON_GetStringValue(traced_arg(line, "name")), "second");
    }
    traced_free(&f);
}

/* Closes all descriptors of a file. The lowest number that was free, which is the next one given
 * out but for those. */
static int close_those_of(const char *path) {
    int free_one = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(free_one);
    for (int fd = 3; fd < free_one; fd++) {
        struct stat st;
        struct stat named;
        if (fstat(fd, &st) == 0 && stat(path, &named) == 0 && st.st_ino == named.st_ino &&
            st.st_dev == named.st_dev) {
            close(fd);
        }
    }
    return free_one;
}

static void a_file_that_the_program_closed_is_opened_again(void **state) {
    (void)state;
    char path[4096];
    char other[256];
    snprintf(other, sizeof(other), "%s/other", dir);
    perftrace__sink_t *s = open_sink("closed", path);
    perftrace__jsonl_sink_on_gone(s, path, create_second, NULL);
    assert_int_equal(s->ops->flush(s, PERFTRACE__FLUSH_WRITE), 0);
    uint64_t header = s->ops->offset(s);
    int free_one = close_those_of(path);
    int mine = open(other, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    assert_true(mine >= 0 && mine < free_one);
    s->ops->thread(s, 9, "worker");
    assert_int_equal(s->ops->flush(s, PERFTRACE__FLUSH_DISK), 0);
    assert_false(s->ops->replaced(s));
    assert_true(s->ops->offset(s) > header && s->ops->offset(s) == size_of(path));
    perftrace__sink_close(s);
    assert_int_equal(size_of(other), 0);
    assert_true(fcntl(mine, F_GETFD) >= 0);
    close(mine);
    traced_file_t f = traced_read(dir, "closed.jsonl");
    assert_int_equal(traced_count(&f, "perftrace_header"), 1);
    assert_int_equal(traced_count(&f, "thread_name"), 1);
    traced_free(&f);
}

/* There is no descriptor left at the moment when it would be opened again. */
static void a_file_that_cannot_be_opened_again_is_so_later(void **state) {
    (void)state;
    char path[4096];
    struct rlimit before;
    perftrace__sink_t *s = open_sink("later", path);
    perftrace__jsonl_sink_on_gone(s, path, create_second, NULL);
    assert_int_equal(s->ops->flush(s, PERFTRACE__FLUSH_WRITE), 0);
    (void)close_those_of(path);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    const struct rlimit none = {.rlim_cur = 0, .rlim_max = before.rlim_max};
    s->ops->thread(s, 9, "worker");
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    int first = s->ops->flush(s, PERFTRACE__FLUSH_WRITE);
    int second = s->ops->flush(s, PERFTRACE__FLUSH_WRITE);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_true(first < 0 && second < 0);
    assert_int_equal(s->ops->flush(s, PERFTRACE__FLUSH_WRITE), 0);
    assert_false(s->ops->replaced(s));
    assert_int_equal(s->ops->offset(s), size_of(path));
    perftrace__sink_close(s);
    traced_file_t f = traced_read(dir, "later.jsonl");
    assert_int_equal(traced_count(&f, "perftrace_header"), 1);
    assert_int_equal(traced_count(&f, "thread_name"), 1);
    traced_free(&f);
}

static void an_opened_file_goes_on_where_it_counts(void **state) {
    (void)state;
    char path[4096];
    perftrace__sink_t *s = open_sink("more", path);
    assert_int_equal(s->ops->flush(s, PERFTRACE__FLUSH_WRITE), 0);
    uint64_t offset = s->ops->offset(s);
    perftrace__sink_close(s);
    const perftrace__run_meta_t meta = {.rank = 2, .pid = 7};
    s = perftrace__jsonl_sink_open(open(path, O_RDWR), offset, &meta);
    s->ops->thread(s, 9, "more");
    assert_int_equal(s->ops->flush(s, PERFTRACE__FLUSH_WRITE), 0);
    assert_int_equal(s->ops->offset(s), size_of(path));
    perftrace__sink_close(s);
    traced_file_t f = traced_read(dir, "more.jsonl");
    assert_int_equal(traced_count(&f, "perftrace_header"), 1);
    assert_int_equal(traced_count(&f, "thread_name"), 1);
    traced_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_file_has_a_name_of_its_own),
        cmocka_unit_test(what_cannot_be_made_has_an_error),
        cmocka_unit_test(a_sink_writes_what_it_has_when_it_is_flushed),
        cmocka_unit_test(a_failed_write_is_offered_again_and_nothing_is_twice),
        cmocka_unit_test(a_new_rank_is_told_from_the_next_line_on),
        cmocka_unit_test(a_file_that_was_removed_is_followed_by_another),
        cmocka_unit_test(a_file_that_the_program_closed_is_opened_again),
        cmocka_unit_test(a_file_that_cannot_be_opened_again_is_so_later),
        cmocka_unit_test(an_opened_file_goes_on_where_it_counts),
    };
    return cmocka_run_group_tests(tests, make_dir, drop_dir);
}
