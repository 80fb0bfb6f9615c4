/* test_forward_file.c: a file on its way, read in whole lines. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common_temp.h"
#include "forward_file.h"

#include <errno.h>
#include <sys/resource.h>

typedef perftrace__forward_file_t file_t;

static perftrace__strbuf_t buf;
static const perftrace__stream_key_t key = {.run = "r", .rank = 3, .world_size = 4};

static int enter(void **state) {
    (void)state;
    temp_enter();
    return 0;
}

static int leave(void **state) {
    (void)state;
    perftrace__strbuf_free(&buf);
    temp_leave();
    return 0;
}

static file_t *made(const char *path, const char *text) {
    if (text) {
        temp_puts(path, text);
    }
    file_t *f = perftrace__forward_file_new(path, &key);
    assert_non_null(f);
    f->limit = text ? strlen(text) : 0;
    return f;
}

/* The next read is this text. */
static void expect(file_t *f, size_t wanted, const char *text) {
    size_t len = 99;
    assert_true(perftrace__forward_file_read(f, &buf, wanted, &len));
    assert_int_equal(len, strlen(text));
    assert_memory_equal(buf.data, text, len);
    f->sent += len;
}

static void fails(file_t *f, int err) {
    size_t len = 99;
    assert_false(perftrace__forward_file_read(f, &buf, 100, &len));
    assert_int_equal(len, 0);
    assert_int_equal(f->failed, err);
    assert_false(perftrace__forward_file_read(f, &buf, 100, &len)); /* and stays */
}

static void names(void **state) {
    (void)state;
    char path[5000];
    file_t *f = perftrace__forward_file_new("a/b/traces-r3.jsonl", &key);
    assert_string_equal(f->key.name, "traces-r3.jsonl");
    assert_string_equal(f->key.run, "r");
    assert_int_equal(f->key.rank, 3);
    assert_int_equal(f->fd, -1);
    perftrace__forward_file_free(f);
    perftrace__forward_file_free(NULL);
    f = perftrace__forward_file_new("plain", &key);
    assert_string_equal(f->key.name, "plain");
    perftrace__forward_file_free(f);
    memset(path, 'x', sizeof path);
    path[4096] = '\0';
    assert_null(perftrace__forward_file_new(path, &key));
    path[4095] = '\0';
    f = perftrace__forward_file_new(path, &key);
    assert_int_equal(strlen(f->key.name), 255); /* what a message can hold */
    perftrace__forward_file_free(f);
}

static void whole_lines_below_the_limit(void **state) {
    (void)state;
    file_t *f = made("f", "one\ntwo\nthree\nfour\n");
    expect(f, 8, "one\ntwo\n");
    expect(f, 3, "three\nfour\n"); /* a line is longer than what is wanted */
    expect(f, 100, "");
    f->sent = 0;
    f->limit = 14;
    expect(f, 100, "one\ntwo\nthree\n");
    f->sent = 4;
    expect(f, 5, "two\n");
    assert_int_equal(f->failed, 0);
    perftrace__forward_file_free(f);
}

static void which_stream_it_is(void **state) {
    (void)state;
    file_t *f = made("f", "{\"a\": 1}\nmore\n");
    uint64_t limit = f->limit;
    f->limit = 0;
    assert_false(perftrace__forward_file_identify(f)); /* nothing is final yet */
    assert_int_equal(f->failed, 0);
    f->limit = limit;
    f->sent = 9;
    assert_true(perftrace__forward_file_identify(f));
    assert_int_equal(f->sent, 9);
    assert_true(f->key.stream == UINT64_C(0xa29a22b1b40c8b6f));
    assert_true(perftrace__forward_file_identify(f));
    perftrace__forward_file_free(f);
}

static void long_lines(void **state) {
    (void)state;
    size_t size = (5u << 20);
    char *text = malloc(size + 1);
    memset(text, 'x', size);
    text[size] = '\0';
    text[(4u << 20) - 1] = '\n'; /* just as long as a piece can be */
    text[size - 1] = '\n';
    file_t *f = made("f", text);
    size_t len;
    assert_true(perftrace__forward_file_read(f, &buf, 4096, &len));
    assert_int_equal(len, 4u << 20);
    assert_memory_equal(buf.data, text, len);
    f->sent = len;
    assert_true(perftrace__forward_file_read(f, &buf, 4096, &len));
    assert_int_equal(len, 1u << 20);
    perftrace__forward_file_free(f);
    text[(4u << 20) - 1] = 'x';
    f = made("g", text);
    fails(f, EFBIG);
    assert_string_equal(perftrace__forward_file_problem(f), "a line is longer than 4 MiB");
    assert_false(perftrace__forward_file_identify(f));
    perftrace__forward_file_free(f);
    free(text);
}

static void what_is_not_there(void **state) {
    (void)state;
    file_t *f = made("none", NULL);
    f->limit = 5;
    assert_false(perftrace__forward_file_identify(f));
    assert_int_equal(f->failed, ENOENT);
    perftrace__forward_file_free(f);
    f = made("f", "one\ntwo\n");
    f->limit = 12; /* it was longer */
    fails(f, ENODATA);
    assert_string_equal(perftrace__forward_file_problem(f), "shorter than it was");
    perftrace__forward_file_free(f);
    assert_int_equal(symlink("f", "link"), 0);
    f = made("link", NULL);
    f->limit = 4;
    fails(f, ELOOP);
    perftrace__forward_file_free(f);
    temp_write("hole", "\0\0\0\0one\n", 8); /* given back to the system */
    f = made("hole", NULL);
    f->limit = 8;
    fails(f, ENODATA);
    perftrace__forward_file_free(f);
}

static void a_closed_descriptor_is_opened_again(void **state) {
    (void)state;
    file_t *f = made("f", "one\ntwo\n");
    expect(f, 4, "one\n");
    close(f->fd);
    expect(f, 4, "two\n");
    f->sent = 0;
    close(f->fd);
    int other = open("/dev/null", O_RDONLY | O_CLOEXEC); /* takes the number */
    assert_int_equal(other, f->fd);
    expect(f, 4, "one\n");
    assert_int_not_equal(other, f->fd);
    close(f->fd);
    assert_int_equal(rename("f", "kept"), 0);
    temp_puts("f", "one\nTWO\n"); /* another file */
    fails(f, ENOENT);
    perftrace__forward_file_free(f);
    assert_int_equal(fcntl(other, F_GETFD), FD_CLOEXEC); /* not closed: it is not ours */
    close(other);
}

static void without_descriptors_it_is_read_later(void **state) {
    (void)state;
    struct rlimit before;
    size_t len;
    file_t *f = made("few.jsonl", "{}\n");
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    const struct rlimit none = {.rlim_cur = 0, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    bool identified = perftrace__forward_file_identify(f);
    bool was_read = perftrace__forward_file_read(f, &buf, 100, &len);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_false(identified || was_read);
    assert_int_equal(f->failed, 0);
    assert_true(perftrace__forward_file_identify(f));
    expect(f, 100, "{}\n");
    perftrace__forward_file_free(f);
}

static void when_it_is_done(void **state) {
    (void)state;
    file_t f = {.limit = 10, .acked = 10};
    assert_false(perftrace__forward_file_done(&f));
    f.ended = true;
    assert_false(perftrace__forward_file_done(&f)); /* the other side does not know */
    f.last_acked = true;
    assert_true(perftrace__forward_file_done(&f));
    f = (file_t){.ended = true}; /* nothing was ever written */
    assert_true(perftrace__forward_file_done(&f));
}

static void a_spool_gives_back_what_is_acknowledged(void **state) {
    (void)state;
    size_t size = 4u << 20;
    char *text = malloc(size + 1);
    memset(text, 'x', size);
    for (size_t i = 99; i < size; i += 100) {
        text[i] = '\n';
    }
    text[size - 1] = '\n';
    text[size] = '\0';
    file_t *f = made("f", text);
    f->spool = true;
    f->acked = (3u << 20) + 12345;
    perftrace__forward_file_punch(f);
    if (f->kept) {
        perftrace__forward_file_free(f);
        free(text);
        skip(); /* the file system cannot */
    }
    char *now = malloc(size);
    int fd = open("f", O_RDONLY | O_CLOEXEC);
    assert_int_equal(read(fd, now, size), size); /* as long as before */
    close(fd);
    assert_memory_equal(now, text, 65536); /* its beginning stays */
    for (size_t i = 65536; i < 3u << 20; i++) {
        assert_int_equal(now[i], 0);
    }
    assert_memory_equal(now + (3u << 20), text + (3u << 20), 1u << 20);
    assert_int_equal(f->punched, 3u << 20);
    f->sent = 1u << 20; /* the other side lost it: nothing to be done */
    fails(f, ENODATA);
    perftrace__forward_file_free(f);
    free(now);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(whole_lines_below_the_limit),
        cmocka_unit_test(which_stream_it_is),
        cmocka_unit_test(long_lines),
        cmocka_unit_test(what_is_not_there),
        cmocka_unit_test(a_closed_descriptor_is_opened_again),
        cmocka_unit_test(without_descriptors_it_is_read_later),
        cmocka_unit_test(when_it_is_done),
        cmocka_unit_test(a_spool_gives_back_what_is_acknowledged),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
