/* test_forward_key.c: whose a file is, by its first line, and what comes of all of them.
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "address_shown.h"
#include "forward_key.h"
#include "forward_report.h"

#include <stdio.h>
#include <string.h>

static pt_forward_key_t key;
static const char *problem;

static bool reads(const char *line) {
    problem = NULL;
    return pt_forward_key_read(line, strlen(line), &key, &problem);
}

static void a_header(void **state) {
    (void)state;
    assert_true(reads(
        "{\"name\": \"perftrace_header\", \"ph\": \"M\", \"pid\": 7, \"args\": {\"version\": 1, "
        "\"run_id\": \"job-17\", \"rank\": 3, \"world_size\": 8, \"role\": \"actor\", "
        "\"host\": \"node-1\", \"pid\": 4711, \"epoch_ns\": \"1790000000000000005\"}}\n"));
    assert_string_equal(key.key.run, "job-17");
    assert_string_equal(key.key.role, "actor");
    assert_string_equal(key.key.host, "node-1");
    assert_int_equal(key.key.rank, 3);
    assert_int_equal(key.key.world_size, 8);
    assert_int_equal(key.key.pid, 4711);
    assert_false(key.key.sessions);
    assert_true(key.begin_ns == UINT64_C(1790000000000000005));
}

static void what_is_not_known(void **state) {
    (void)state;
    assert_true(
        reads("{\"name\": \"perftrace_header\", \"args\": {\"rank\": null, \"world_size\": null, "
              "\"role\": null}}\n"));
    assert_string_equal(key.key.run, "");
    assert_string_equal(key.key.role, "");
    assert_int_equal(key.key.rank, -1);
    assert_int_equal(key.key.world_size, -1);
    assert_int_equal(key.key.pid, 0);
    assert_int_equal(key.begin_ns, 0);
}

static void a_session(void **state) {
    (void)state;
    assert_true(
        reads("{\"task_id\": 5, \"session_id\": 1, \"rank\": 3, \"role\": \"actor\", \"status\": "
              "\"rejected\", \"submit_ts\": 1760000000.5, \"run_id\": \"6f0c\"}\n"));
    assert_true(key.key.sessions);
    assert_string_equal(key.key.run, "6f0c");
    assert_string_equal(key.key.role, "actor");
    assert_int_equal(key.key.rank, 3);
    assert_int_equal(key.key.world_size, -1);
    assert_true(key.begin_ns == UINT64_C(1760000000500000000));
    pt_forward_key_t trace = {
        .key = {.run = "r", .host = "h", .rank = 4, .world_size = 9, .pid = 5}};
    pt_forward_key_join(&key, &trace);
    assert_true(key.key.sessions);
    assert_string_equal(key.key.run, "r");
    assert_string_equal(key.key.role, "");
    assert_string_equal(key.key.host, "h");
    assert_int_equal(key.key.rank, 4);
    assert_int_equal(key.key.world_size, 9);
    assert_int_equal(key.key.pid, 5);
}

static void what_is_neither(void **state) {
    (void)state;
    static const char *const lines[] = {
        "",
        "\n",
        "{\"name\": \"perftrace_header\", \"args\": {}}", /* no end of line */
        "{\"name\": \"perftrace_header\"}\n",
        "{\"name\": \"perftrace_header\", \"args\": 5}\n",
        "{\"name\": \"perftrace_clock\", \"args\": {}}\n",
        "{\"name\": \"perftrace_header\", \"args\": {}} x\n",
        "{\"session_id\": 1}\n",
        "[]\n",
        "\x80\x81\n",
        "{\"name\": \"perftrace_header\", \"args\": {\"run_id\": 5}}\n",
        "{\"name\": \"perftrace_header\", \"args\": {\"run_id\": \"a\\u0000\"}}\n",
    };
    for (unsigned i = 0; i < PT_ARRAY_LEN(lines); i++) {
        assert_false(reads(lines[i]));
        assert_non_null(problem);
    }
    char line[300];
    for (int len = 64; len <= 65; len++) { /* the longest that a message can hold, and one more */
        snprintf(line, sizeof line,
                 "{\"name\": \"perftrace_header\", \"args\": {\"run_id\": \"%0*d\"}}\n", len, 0);
        assert_int_equal(reads(line), len == 64);
    }
}

static void a_later_header(void **state) {
    (void)state;
    static const char line[] = "{\"name\": \"perftrace_header\", \"args\": {\"run_id\": \"other\", "
                               "\"rank\": 2, \"world_size\": 4}}\n";
    static const char none[] = "{\"name\": \"perftrace_headers\", \"args\": {\"rank\": 3}}\n";
    memset(&key, 0, sizeof key);
    strcpy(key.key.run, "r");
    assert_true(pt_forward_key_update(line, sizeof line - 1, &key));
    assert_int_equal(key.key.rank, 2);
    assert_int_equal(key.key.world_size, 4);
    assert_string_equal(key.key.run, "r");
    assert_false(pt_forward_key_update(none, sizeof none - 1, &key));
    assert_int_equal(key.key.rank, 2);
}

static void secrets_are_not_shown(void **state) {
    (void)state;
    static const struct {
        const char *to;
        const char *shown;
    } cases[] = {
        {"tcp:127.0.0.1:7400", "tcp:127.0.0.1:7400"},
        {"tcp:unix:/a@b/c", "tcp:unix:/a@b/c"},
        {"nats://host", "nats://host"},
        {"nats://user:pw@host:4222", "nats://...@host:4222"},
        {"tls://token@a,b,u:p@q@c", "tls://...@a,b,...@c"},
        {"nats://", "nats://"},
        {"nats://a,,b", "nats://a,,b"},
    };
    char out[100];
    for (unsigned i = 0; i < PT_ARRAY_LEN(cases); i++) {
        perftrace__address_shown(cases[i].to, out, sizeof out);
        assert_string_equal(out, cases[i].shown);
    }
    char small[16];
    perftrace__address_shown("nats://secret:secret@a.long.name,secret@b", small, sizeof small);
    assert_string_equal(small, "nats://...@a.lo");
}

static pt_forward_entry_t entries[8];
static pt_forward_book_t book;
static pt_forward_sums_t sums;

static pt_exit_t exit_of(pt_forward_state_t state, bool named, bool interrupted) {
    memset(entries, 0, sizeof entries);
    book = (pt_forward_book_t){.items = entries, .count = 2};
    entries[0].state = PT_FORWARD_DONE;
    entries[0].size = entries[0].acked = 100;
    entries[0].had = 30;
    entries[1].state = state;
    entries[1].named = named;
    entries[1].size = 50;
    entries[1].acked = state == PT_FORWARD_DONE ? 50 : 10;
    pt_forward_sums(&book, &sums);
    return pt_forward_exit(&book, &sums, interrupted);
}

static void exit_statuses(void **state) {
    (void)state;
    assert_int_equal(exit_of(PT_FORWARD_DONE, false, false), 0);
    assert_int_equal(sums.files, 2);
    assert_int_equal(sums.sent, 120);
    assert_int_equal(sums.there, 30);
    assert_int_equal(sums.left, 0);
    assert_int_equal(exit_of(PT_FORWARD_DONE, false, true), 0);
    assert_int_equal(exit_of(PT_FORWARD_WAITING, false, false), 1);
    assert_int_equal(exit_of(PT_FORWARD_NO_TRACE, false, false), 1);
    assert_int_equal(exit_of(PT_FORWARD_NO_TRACE, true, false), 3);
    assert_int_equal(exit_of(PT_FORWARD_FAILED, false, false), 3);
    assert_int_equal(exit_of(PT_FORWARD_LEFT, false, false), 4);
    assert_int_equal(sums.left, 40);
    assert_int_equal(sums.left_files, 1);
    assert_int_equal(sums.sent, 80);
    assert_int_equal(exit_of(PT_FORWARD_READY, false, true), 130);
    assert_int_equal(exit_of(PT_FORWARD_WAITING, false, true), 1);
    book.worst = PT_EXIT_INTERNAL;
    assert_int_equal(pt_forward_exit(&book, &sums, true), 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_header),       cmocka_unit_test(what_is_not_known),
        cmocka_unit_test(a_session),      cmocka_unit_test(what_is_neither),
        cmocka_unit_test(a_later_header), cmocka_unit_test(secrets_are_not_shown),
        cmocka_unit_test(exit_statuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
