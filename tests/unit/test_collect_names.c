/* test_collect_names.c: names, claims and parts. SPDX-License-Identifier: MIT */
#include "collect_claim.h"
#include "collect_parts.h"
#include "stream_message.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[64];

static int make_dir(void **state) {
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/perftrace-collect-XXXXXX");
    return mkdtemp(dir) != NULL ? 0 : -1;
}

static int remove_dir(void **state) {
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    return system(command);
}

static void put_file(const char *name, const char *text) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void names_are_numbered_before_their_ending(void **state) {
    char out[PT_COLLECT_NAME_MAX];
    (void)state;
    pt_collect_name_nth(out, "traces-r3.jsonl", 0);
    assert_string_equal(out, "traces-r3.jsonl");
    pt_collect_name_nth(out, "traces-r3.jsonl", 12);
    assert_string_equal(out, "traces-r3.12.jsonl");
    pt_collect_name_nth(out, "a.b/plain", 1);
    assert_string_equal(out, "a.b/plain.1");
    pt_collect_name_part(out, "actor/traces-r3.1.jsonl", 1);
    assert_string_equal(out, "actor/traces-r3.1.jsonl");
    pt_collect_name_part(out, "actor/traces-r3.1.jsonl", 2);
    assert_string_equal(out, "actor/traces-r3.1.part2.jsonl");
    pt_collect_name_first(out, "", "x.jsonl");
    assert_string_equal(out, "x.jsonl");
    pt_collect_name_first(out, "actor", "x.jsonl");
    assert_string_equal(out, "actor/x.jsonl");
}

static void claims_come_back_and_nothing_else_does(void **state) {
    static const char *const bad[] = {
        "",
        "0123456789abcdef",
        "0123456789abcdef+",
        "0123456789abcdef+1",
        "0123456789abcdef+1+",
        "0123456789abcde+1+2",
        "0123456789abcdeg+1+2",
        "0123456789abcdef+1+2 ",
        "0123456789abcdef+-1+2",
        "0123456789abcdef0+1+2",
        "/somewhere/else",
        "0123456789ABCDEF+1+2",
    };
    char text[PT_COLLECT_CLAIM_MAX];
    pt_collect_claim_t claim = {UINT64_C(0xfedcba9876543210), 123456789012, 77}, back;
    (void)state;
    pt_collect_claim_put(text, &claim);
    assert_string_equal(text, "fedcba9876543210+123456789012+77");
    assert_true(pt_collect_claim_parse(text, &back));
    assert_memory_equal(&claim, &back, sizeof claim);
    for (size_t i = 0; i < PT_ARRAY_LEN(bad); i++) {
        assert_false(pt_collect_claim_parse(bad[i], &back));
    }
}

static void find(uint64_t stream, const char *first, const char *expected) {
    char name[PT_COLLECT_NAME_MAX];
    assert_int_equal(pt_collect_claim_find(dir, first, stream, name), 0);
    assert_string_equal(name, expected);
}

static void a_name_is_the_first_ones_for_ever(void **state) {
    static const char line[] = "{\"mine\": 1}\n";
    (void)state;
    for (int again = 0; again < 2; again++) {
        find(1, "t.jsonl", "t.jsonl");
        find(2, "t.jsonl", "t.1.jsonl");
        find(3, "t.jsonl", "t.2.jsonl");
        find(2, "role/t.jsonl", "role/t.jsonl");
    }
    put_file("u.jsonl", line);
    find(4, "u.jsonl", "u.1.jsonl");
    find(perftrace__stream_id(line, sizeof line - 1), "u.jsonl", "u.jsonl");
    put_file("empty.jsonl", "");
    find(5, "empty.jsonl", "empty.1.jsonl");
}

typedef struct seen {
    unsigned count;
    uint64_t streams;
} seen_t;

static void see(void *ctx, const char *name, const pt_collect_claim_t *claim) {
    seen_t *seen = ctx;
    assert_non_null(name);
    seen->count++;
    seen->streams += claim->stream;
}

static void claims_are_listed_without_later_parts(void **state) {
    const pt_collect_claim_t part = {6, 100, 10};
    seen_t seen = {0, 0};
    (void)state;
    assert_int_equal(pt_collect_claim_each(dir, see, &seen), 0);
    assert_int_equal(seen.count, 0);
    find(1, "a.jsonl", "a.jsonl");
    find(2, "role/a.jsonl", "role/a.jsonl");
    assert_int_equal(pt_collect_claim_make(dir, "a.part2.jsonl", &part), 0);
    assert_int_equal(pt_collect_claim_make(dir, "a.part2.jsonl", &part), -EEXIST);
    assert_int_equal(pt_collect_claim_each(dir, see, &seen), 0);
    assert_int_equal(seen.count, 2);
    assert_int_equal(seen.streams, 3);
}

static void one_has_the_lock(void **state) {
    int first, second;
    (void)state;
    assert_int_equal(pt_collect_claim_lock(dir, &first), 0);
    assert_int_equal(pt_collect_claim_lock(dir, &second), -EBUSY);
    assert_int_equal(second, -1);
    close(first);
    assert_int_equal(pt_collect_claim_lock(dir, &second), 0);
    close(second);
}

/* ---- parts ---- */

static void open_parts(pt_collect_files_t *files, pt_collect_parts_t *p) {
    memset(p, 0, sizeof *p);
    assert_int_equal(pt_collect_parts_open(files, p, dir, "t.jsonl", 7), 0);
}

static void expect_text(pt_collect_files_t *files, pt_collect_parts_t *p, uint64_t offset,
                        const char *text) {
    char got[64];
    assert_int_equal(pt_collect_parts_read(files, p, offset, got, sizeof got), strlen(text));
    assert_memory_equal(got, text, strlen(text));
}

static void parts_are_one_stream(void **state) {
    perftrace__strbuf_t names = PERFTRACE__STRBUF_INIT;
    pt_collect_files_t files;
    pt_collect_parts_t p;
    uint64_t bytes;
    (void)state;
    pt_collect_files_init(&files, 4, false);
    perftrace__strbuf_puts(&names, "name\n");
    open_parts(&files, &p);
    assert_int_equal(pt_collect_parts_end(&files, &p), 0);
    assert_int_equal(pt_collect_parts_write(&files, &p, 0, "first\nhalf", 10), 0);
    assert_int_equal(pt_collect_parts_end(&files, &p), 6);
    assert_int_equal(pt_collect_parts_write(&files, &p, 6, "2\n", 2), 0);
    assert_int_equal(pt_collect_parts_write(&files, &p, 8, "4\n", 2), 0);
    assert_int_equal(pt_collect_parts_add(&files, &p, 10, &names), 0);
    assert_int_equal(pt_collect_parts_write(&files, &p, 10, "third\n", 6), 0);
    assert_int_equal(pt_collect_parts_add(&files, &p, 16, &names), 0);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(pt_collect_parts_base(&p), 16);
        assert_int_equal(pt_collect_parts_end(&files, &p), 16);
        expect_text(&files, &p, 0, "first\n2\n4\n");
        expect_text(&files, &p, 10, "third\n");
        expect_text(&files, &p, 12, "ird\n");
        expect_text(&files, &p, 16, "");
        assert_int_equal(pt_collect_parts_next(&p, 0), 10);
        assert_int_equal(pt_collect_parts_next(&p, 10), 16);
        assert_int_equal(pt_collect_parts_next(&p, 16), UINT64_MAX);
        assert_int_equal(pt_collect_parts_close(&files, &p), 0);
        open_parts(&files, &p);
    }
    assert_int_equal(pt_collect_parts_expire(&p, 2, 0, &bytes), 1);
    assert_int_equal(bytes, 10);
    assert_int_equal(pt_collect_parts_read(&files, &p, 0, &bytes, 4), -ENODATA);
    expect_text(&files, &p, 10, "third\n");
    assert_int_equal(pt_collect_parts_expire(&p, 0, 10, &bytes), 1); /* 11 with its copy */
    assert_int_equal(pt_collect_parts_close(&files, &p), 0);
    perftrace__strbuf_free(&names);
}

/* As a collector leaves it that was killed behind the claim. */
static void a_part_that_has_no_name_yet_gets_it(void **state) {
    const pt_collect_claim_t claim = {7, 6, 5};
    pt_collect_files_t files;
    pt_collect_parts_t p;
    (void)state;
    pt_collect_files_init(&files, 4, false);
    open_parts(&files, &p);
    assert_int_equal(pt_collect_parts_write(&files, &p, 0, "first\n", 6), 0);
    assert_int_equal(pt_collect_parts_close(&files, &p), 0);
    put_file(PT_COLLECT_CLAIM_DIR "/t.part2.jsonl.new", "name\n");
    assert_int_equal(pt_collect_claim_make(dir, "t.part2.jsonl", &claim), 0);
    open_parts(&files, &p);
    assert_int_equal(pt_collect_parts_base(&p), 6);
    assert_int_equal(pt_collect_parts_end(&files, &p), 6);
    assert_int_equal(pt_collect_parts_write(&files, &p, 6, "second\n", 7), 0);
    expect_text(&files, &p, 0, "first\n");
    expect_text(&files, &p, 6, "second\n");
    assert_int_equal(pt_collect_parts_close(&files, &p), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_numbered_before_their_ending),
        cmocka_unit_test(claims_come_back_and_nothing_else_does),
        cmocka_unit_test_setup_teardown(a_name_is_the_first_ones_for_ever, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(claims_are_listed_without_later_parts, make_dir,
                                        remove_dir),
        cmocka_unit_test_setup_teardown(one_has_the_lock, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(parts_are_one_stream, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(a_part_that_has_no_name_yet_gets_it, make_dir, remove_dir),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
