/* test_collect_tally.c: what is counted of the lines that go by. SPDX-License-Identifier: MIT */
#include "collect_tally.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define HEADER                                                                                     \
    "{\"name\": \"perftrace_header\", \"ph\": \"M\", \"pid\": 71, \"tid\": 71, \"args\": {"        \
    "\"version\": 1, \"rank\": 3, \"world_size\": 8, \"host\": \"node\\u002d1\", \"pid\": 71, "    \
    "\"epoch_ns\": \"1790000000123456789\"}}\n"
#define THREAD                                                                                     \
    "{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 71, \"tid\": 71, \"args\": {\"name\": "   \
    "\"main\"}}\n"
#define EVENT(name, ts, args)                                                                      \
    "{\"name\": \"" name "\", \"ph\": \"X\", \"ts\": " ts ", \"dur\": 1.000, \"pid\": 71, "        \
    "\"tid\": 71, \"cat\": \"c\", \"args\": {" args "}}\n"
#define DROP(n)                                                                                    \
    "{\"name\": \"perftrace_drop\", \"ph\": \"M\", \"pid\": 71, \"tid\": 71, \"args\": {"          \
    "\"cause\": \"ring_full\", \"count\": " n ", \"first_ts\": 0.000, \"last_ts\": 0.000}}\n"
#define UNFINISHED                                                                                 \
    "{\"name\": \"open\", \"ph\": \"B\", \"ts\": 2.000, \"pid\": 71, \"tid\": 71, \"cat\": "       \
    "\"c\", "                                                                                      \
    "\"args\": {\"unfinished\": true}}\n"
#define FOOTER_OPEN(emitted, written, dropped, unfinished)                                         \
    "{\"name\": \"perftrace_footer\", \"ph\": \"M\", \"pid\": 71, \"tid\": 71, \"args\": {"        \
    "\"emitted\": " emitted ", \"written\": " written ", \"dropped\": {" dropped "}, "             \
    "\"unfinished\": " unfinished ", \"recovered\": true}}\n"
#define FOOTER(emitted, written, dropped) FOOTER_OPEN(emitted, written, dropped, "0")

static void add(pt_collect_tally_t *t, const char *text) {
    pt_collect_tally_add(t, text, strlen(text));
}

static void events_and_metadata_are_told_apart(void **state) {
    (void)state;
    pt_collect_tally_t t = PT_COLLECT_TALLY_INIT;
    add(&t, HEADER THREAD);
    assert_int_equal(t.lines, 2);
    assert_int_equal(t.events, 0);
    assert_int_equal(t.rank, 3);
    assert_int_equal(t.world_size, 8);
    assert_int_equal(t.pid, 71);
    assert_string_equal(t.host, "node-1");
    assert_int_equal(t.epoch_ns, UINT64_C(1790000000123456789));
    /* Names that look like the end of one, or like metadata. */
    add(&t, EVENT("perftrace_footer", "1.000", "")
                EVENT("a\\\"\", \\\"ph\\\": \\\"M\\\", ", "2.500", "")
                    EVENT("back\\\\", "3.125", "\"x\": \"\\\", \\\"ph\\\": \\\"M\\\"\""));
    assert_int_equal(t.events, 3);
    assert_int_equal(t.last_ns, 3125);
    assert_false(t.footer);
}

static void steps_losses_and_the_footer_are_read(void **state) {
    (void)state;
    pt_collect_tally_t t = PT_COLLECT_TALLY_INIT;
    assert_int_equal(t.step, -1);
    add(&t, EVENT("a", "5.000", "\"global_step\": 41") EVENT("b", "4.000", "\"global_step\": 42"));
    assert_int_equal(t.step, 42);
    add(&t, EVENT("c", "3.000", ""));
    assert_int_equal(t.step, 42);
    assert_int_equal(t.last_ns, 4000); /* of the last line of each piece */
    add(&t, DROP("7") DROP("5"));
    assert_int_equal(t.dropped, 12);
    add(&t, FOOTER("15", "3", "\"ring_full\": 10, \"too_long\": 2"));
    assert_true(t.footer);
    assert_true(t.recovered);
    assert_int_equal(t.emitted, 15);
    assert_int_equal(t.written, 3);
    assert_int_equal(t.left_out, 12);
}

static void names_are_kept(void **state) {
    (void)state;
    perftrace__strbuf_t names = PERFTRACE__STRBUF_INIT;
    pt_collect_tally_t t = PT_COLLECT_TALLY_INIT;
    t.names = &names;
    add(&t, HEADER EVENT("a", "1.000", "") THREAD DROP("1") FOOTER("2", "1", "\"late\": 1"));
    assert_string_equal(perftrace__strbuf_cstr(&names), HEADER THREAD);
    perftrace__strbuf_free(&names);
}

static void the_last_header_is_found(void **state) {
    (void)state;
    pt_collect_tally_t t = PT_COLLECT_TALLY_INIT;
    add(&t, HEADER THREAD);
    assert_int_equal(t.header_at, 0);
    assert_int_equal(t.header_len, strlen(HEADER));
    add(&t, THREAD HEADER EVENT("a", "1.000", "") HEADER THREAD);
    assert_int_equal(t.header_at, strlen(THREAD HEADER EVENT("a", "1.000", "")));
    assert_int_equal(t.header_len, strlen(HEADER));
    add(&t, THREAD);
    assert_int_equal(t.header_len, 0);
}

static void expect_rank(const char *line, int64_t rank) {
    assert_int_equal(pt_collect_tally_line_rank(line, strlen(line)), rank);
}

static void events_tell_their_rank(void **state) {
    (void)state;
    expect_rank(EVENT("a", "1.000", "\"rank\": 3"), 3);
    expect_rank(EVENT("a", "1.000", "\"rank\": 12, \"role\": \"actor\""), 12);
    expect_rank(EVENT("a", "1.000", "\"rank\": 7, \"x\": 1, \"rank\": 3"), 3);
    expect_rank(EVENT("a", "1.000", ""), -1);
    expect_rank(EVENT("a", "1.000", "\"s\": \"\\\"rank\\\": 3\""), -1);
    expect_rank(EVENT("a", "1.000", "\"rank\": \"3\""), -1);
    expect_rank(HEADER, 3);
    expect_rank("{\"name\": \"mem\", \"ph\": \"C\", \"ts\": 1.000, \"pid\": 71, \"tid\": 71, "
                "\"cat\": \"c\", \"args\": {\"rank\": 3}}",
                -1); /* a series of that name */
    expect_rank("\"rank\": ", -1);
    expect_rank("", -1);
}

static void judge(const char *text, const char *expected) {
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    pt_collect_tally_t t = PT_COLLECT_TALLY_INIT;
    add(&t, text);
    pt_collect_tally_judge(&t, &out);
    assert_string_equal(perftrace__strbuf_cstr(&out), expected);
    perftrace__strbuf_free(&out);
}

static void accounts_balance_or_not(void **state) {
    (void)state;
    judge("", "");
    judge(HEADER EVENT("a", "1.000", ""), "");
    judge(HEADER EVENT("a", "1.000", "") FOOTER("1", "1", ""), "");
    judge(HEADER EVENT("a", "1.000", "") FOOTER("4", "1", "\"late\": 1, \"no_slot\": 2"), "");
    judge(HEADER EVENT("a", "1.000", "") FOOTER("3", "1", "\"late\": 1"),
          "its footer says 3 emitted, but 1 written and 1 dropped");
    judge(HEADER EVENT("a", "1.000", "") FOOTER("2", "2", ""),
          "its footer says 2 written and 0 unfinished, but 1 events are in it");
    /* A scope that was open when its process was killed. */
    judge(HEADER EVENT("a", "1.000", "") UNFINISHED FOOTER_OPEN("1", "1", "", "1"), "");
    judge(HEADER EVENT("a", "1.000", "") FOOTER_OPEN("1", "1", "", "1"),
          "its footer says 1 written and 1 unfinished, but 1 events are in it");
}

static void anything_is_a_line(void **state) {
    (void)state;
    pt_collect_tally_t t = PT_COLLECT_TALLY_INIT;
    add(&t, "\n\n{\n{\"name\": \"\n{\"name\": \"perftrace_footer\", \"ph\": \"M\", \n"
            "{\"name\": \"perftrace_header\", \"ph\": \"M\", \"args\": 5}\n");
    assert_int_equal(t.lines, 6);
    assert_false(t.footer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_and_metadata_are_told_apart),
        cmocka_unit_test(steps_losses_and_the_footer_are_read),
        cmocka_unit_test(names_are_kept),
        cmocka_unit_test(the_last_header_is_found),
        cmocka_unit_test(events_tell_their_rank),
        cmocka_unit_test(accounts_balance_or_not),
        cmocka_unit_test(anything_is_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
