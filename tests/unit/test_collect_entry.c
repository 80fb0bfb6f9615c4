/* test_collect_entry.c: the journal of the one file. SPDX-License-Identifier: MIT */
#include "collect_one.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static pt_collect_entry_t some_entry(void) {
    pt_collect_entry_t e;
    memset(&e, 0, sizeof e);
    e.key = (perftrace__stream_key_t){.run = "a \"run\"",
                                      .stream = UINT64_C(0xfedcba9876543210),
                                      .name = "traces-r3.jsonl",
                                      .rank = 3,
                                      .world_size = -1,
                                      .role = "actor",
                                      .host = "node-1",
                                      .pid = 71};
    e.have = 123456;
    e.end = UINT64_C(9876543210123);
    e.ended = true;
    e.header_at = UINT64_C(9876543209000);
    e.header_len = 700;
    e.tally = (pt_collect_tally_t)PT_COLLECT_TALLY_INIT;
    e.tally.lines = 10;
    e.tally.events = 8;
    e.tally.dropped = 2;
    e.tally.epoch_ns = UINT64_C(1790000000123456789);
    e.tally.last_ns = 55;
    e.tally.step = 42;
    e.tally.footer = true;
    e.tally.emitted = 10;
    e.tally.written = 8;
    e.tally.left_out = 2;
    return e;
}

static void entries_come_back(void **state) {
    (void)state;
    for (int64_t step = -1; step < 2; step++) {
        perftrace__strbuf_t line = PERFTRACE__STRBUF_INIT;
        pt_collect_entry_t e = some_entry(), back;
        e.tally.step = step;
        pt_collect_entry_put(&line, &e);
        assert_true(line.len > 0 && line.data[line.len - 1] == '\n');
        assert_null(memchr(line.data, '\n', line.len - 1));
        assert_true(pt_collect_entry_parse(line.data, line.len - 1, &back));
        assert_string_equal(back.key.run, e.key.run);
        assert_string_equal(back.key.name, e.key.name);
        assert_string_equal(back.key.role, e.key.role);
        assert_true(back.key.stream == e.key.stream && back.key.rank == 3 &&
                    back.key.world_size == -1 && back.key.pid == 71);
        assert_true(back.have == e.have && back.end == e.end && back.ended);
        assert_true(back.header_at == e.header_at && back.header_len == 700);
        assert_true(back.tally.lines == 10 && back.tally.events == 8 && back.tally.dropped == 2 &&
                    back.tally.epoch_ns == e.tally.epoch_ns && back.tally.last_ns == 55 &&
                    back.tally.step == step && back.tally.footer && back.tally.emitted == 10 &&
                    back.tally.written == 8 && back.tally.left_out == 2);
        perftrace__strbuf_free(&line);
    }
}

static void a_header_beyond_the_end_is_none(void **state) {
    static const uint64_t bad[][2] = {{900, 101}, {1001, 1}, {0, 1u << 20}, {UINT64_MAX, 2}};
    (void)state;
    for (size_t i = 0; i < PT_ARRAY_LEN(bad); i++) {
        perftrace__strbuf_t line = PERFTRACE__STRBUF_INIT;
        pt_collect_entry_t e = some_entry(), back;
        e.end = 1000;
        e.header_at = bad[i][0];
        e.header_len = bad[i][1];
        pt_collect_entry_put(&line, &e);
        assert_true(pt_collect_entry_parse(line.data, line.len - 1, &back));
        assert_true(back.header_at == 0 && back.header_len == 0);
        perftrace__strbuf_free(&line);
    }
}

/* As versions wrote it that did not keep where the header is. */
static void an_older_entry_has_no_header(void **state) {
    perftrace__strbuf_t line = PERFTRACE__STRBUF_INIT;
    pt_collect_entry_t e = some_entry();
    (void)state;
    pt_collect_entry_put(&line, &e);
    char *from = strstr(line.data, ", \"header_at\"");
    char *to = strstr(line.data, ", \"at\"");
    assert_true(from != NULL && to > from);
    size_t len = line.len - 1 - (size_t)(to - from);
    memmove(from, to, line.len - (size_t)(to - line.data));
    assert_true(pt_collect_entry_parse(line.data, len, &e));
    assert_true(e.header_len == 0 && e.have == 123456);
    perftrace__strbuf_free(&line);
}

static void what_is_cut_is_no_entry(void **state) {
    perftrace__strbuf_t line = PERFTRACE__STRBUF_INIT;
    pt_collect_entry_t e = some_entry();
    (void)state;
    pt_collect_entry_put(&line, &e);
    for (size_t len = 0; len + 1 < line.len; len++) {
        assert_false(pt_collect_entry_parse(line.data, len, &e));
    }
    static const char *const others[] = {"{}", "[]", "5", "{\"at\": {}}", "{\"at\": 5}"};
    for (size_t i = 0; i < PT_ARRAY_LEN(others); i++) {
        assert_false(pt_collect_entry_parse(others[i], strlen(others[i]), &e));
    }
    perftrace__strbuf_free(&line);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_come_back),
        cmocka_unit_test(a_header_beyond_the_end_is_none),
        cmocka_unit_test(an_older_entry_has_no_header),
        cmocka_unit_test(what_is_cut_is_no_entry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
