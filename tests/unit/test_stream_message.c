/* test_stream_message.c: messages to a collector. SPDX-License-Identifier: MIT */
#include "stream_message.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

typedef perftrace__stream_message_t message_t;

static const perftrace__stream_key_t key = {.run = "run 7/\"a\"",
                                            .stream = 0x00c0ffee12345678u,
                                            .name = "traces-r3.jsonl",
                                            .rank = 3,
                                            .world_size = 8,
                                            .role = "actor",
                                            .host = "node-1",
                                            .pid = 71};

static message_t parsed(perftrace__strbuf_t *line) {
    message_t m;
    const char *problem = NULL;
    bool ok = perftrace__stream_parse(line->data, line->len, &m, &problem);
    if (!ok) {
        print_error("%s: %s\n", line->data, problem);
    }
    assert_true(ok);
    assert_int_equal(line->data[line->len - 1], '\n');
    assert_null(memchr(line->data, '\n', line->len - 1));
    perftrace__strbuf_free(line);
    return m;
}

static void assert_key(const message_t *m) {
    assert_string_equal(m->key.run, key.run);
    assert_true(m->key.stream == key.stream);
    assert_string_equal(m->key.name, key.name);
    assert_int_equal(m->key.rank, 3);
    assert_int_equal(m->key.world_size, 8);
    assert_string_equal(m->key.role, "actor");
    assert_string_equal(m->key.host, "node-1");
    assert_int_equal(m->key.pid, 71);
}

static void data_comes_back(void **state) {
    (void)state;
    perftrace__strbuf_t b = PERFTRACE__STRBUF_INIT;
    perftrace__stream_put_data(&b, &key, 9007199254740993u, 70000, 812, 4711, true);
    message_t m = parsed(&b);
    assert_int_equal(m.type, PERFTRACE__STREAM_DATA);
    assert_int_equal(m.version, 1);
    assert_key(&m);
    assert_false(m.key.sessions);
    assert_true(m.offset == 9007199254740993u); /* beyond a double */
    assert_int_equal(m.size, 70000);
    assert_int_equal(m.packed, 812);
    assert_int_equal(m.acked, 4711);
    assert_true(m.last);
}

/* The text of the format, letter by letter: other programs are written by it. */
static void the_text_of_data(void **state) {
    (void)state;
    perftrace__strbuf_t b = PERFTRACE__STRBUF_INIT;
    perftrace__stream_key_t k = {.run = "r",
                                 .stream = 255,
                                 .sessions = true,
                                 .name = "sessions-u9.jsonl",
                                 .rank = -1,
                                 .world_size = -1};
    perftrace__stream_put_data(&b, &k, 0, 5, 13, 0, false);
    assert_string_equal(b.data,
                        "{\"type\": \"data\", \"v\": 1, \"run\": \"r\", \"stream\": "
                        "\"00000000000000ff\", \"kind\": \"sessions\", \"name\": "
                        "\"sessions-u9.jsonl\", \"rank\": null, \"world_size\": null, \"role\": "
                        "\"\", \"host\": \"\", \"pid\": 0, \"offset\": 0, \"size\": 5, "
                        "\"packed\": 13, \"acked\": 0, \"last\": false}\n");
    message_t m = parsed(&b);
    assert_true(m.key.sessions);
    assert_int_equal(m.key.rank, -1);
    assert_int_equal(m.key.world_size, -1);
    assert_false(m.last);
}

static void the_others_come_back(void **state) {
    (void)state;
    perftrace__strbuf_t b = PERFTRACE__STRBUF_INIT;
    perftrace__stream_put_hello(&b, key.run, "se\"cret");
    message_t m = parsed(&b);
    assert_int_equal(m.type, PERFTRACE__STREAM_HELLO);
    assert_string_equal(m.key.run, key.run);
    assert_string_equal(m.token, "se\"cret");
    perftrace__stream_put_hello(&b, "r", NULL);
    assert_string_equal(parsed(&b).token, "");
    perftrace__stream_put_hello_answer(&b, "boot");
    m = parsed(&b);
    assert_int_equal(m.type, PERFTRACE__STREAM_HELLO);
    assert_string_equal(m.ref, "boot");
    perftrace__stream_put_have(&b, &key);
    m = parsed(&b);
    assert_int_equal(m.type, PERFTRACE__STREAM_HAVE);
    assert_key(&m);
    perftrace__stream_put_have_answer(&b, key.stream, 77, true);
    m = parsed(&b);
    assert_int_equal(m.type, PERFTRACE__STREAM_HAVE);
    assert_true(m.key.stream == key.stream && m.offset == 77 && m.last);
    perftrace__stream_put_ack(&b, key.stream, 78, false);
    m = parsed(&b);
    assert_int_equal(m.type, PERFTRACE__STREAM_ACK);
    assert_true(m.key.stream == key.stream && m.offset == 78 && !m.last);
    perftrace__stream_put_clock(&b, "123");
    m = parsed(&b);
    assert_int_equal(m.type, PERFTRACE__STREAM_CLOCK);
    assert_string_equal(m.t1, "123");
    perftrace__stream_put_clock_answer(&b, "123", UINT64_MAX, 5, "boot");
    m = parsed(&b);
    assert_true(m.t2 == UINT64_MAX && m.t3 == 5);
    assert_string_equal(m.ref, "boot");
    perftrace__stream_put_error(&b, "wrong token");
    m = parsed(&b);
    assert_int_equal(m.type, PERFTRACE__STREAM_ERROR);
    assert_string_equal(m.text, "wrong token");
}

#define KEY              "\"run\": \"r\", \"stream\": \"00000000000000ff\", \"kind\": \"trace\", \"rank\": 0, "
#define DATA(name, rest) "{\"type\": \"data\", " KEY "\"name\": \"" name "\", " rest "}"
#define GOOD_PIECE       "\"offset\": 0, \"size\": 5, \"packed\": 13"

static void what_is_wrong_is_refused(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "",
        "{",
        "[]",
        "{}",
        "{\"type\": \"\"}",
        "{\"type\": \"dat\"}",
        "{\"type\": 3}",
        "{\"type\": \"hello\"}",
        "{\"type\": \"hello\", \"v\": 1}",
        "{\"type\": \"hello\", \"v\": 1, \"run\": \"\"}",
        "{\"type\": \"hello\", \"v\": -1, \"run\": \"r\"}",
        "{\"type\": \"hello\", \"v\": 1, \"run\": \"a\\u0000b\"}",
        "{\"type\": \"have\", " KEY "\"name\": \"..\"}",
        "{\"type\": \"ack\"}",
        "{\"type\": \"ack\", \"stream\": \"ff\", \"offset\": 1}",
        "{\"type\": \"ack\", \"stream\": \"00000000000000FF\", \"offset\": 1}",
        "{\"type\": \"ack\", \"stream\": \"00000000000000ff\", \"offset\": -1}",
        "{\"type\": \"ack\", \"stream\": \"00000000000000ff\", \"offset\": 9223372036854775808}",
        "{\"type\": \"clock\"}",
        "{\"type\": \"clock\", \"t1\": \"1\", \"t2\": \"2\"}",
        "{\"type\": \"clock\", \"t1\": \"12345678901234567890123456789012345678901\"}",
        DATA("a", "\"offset\": 0, \"size\": 5"),
        DATA("a", "\"offset\": 0, \"size\": 0, \"packed\": 8"),
        DATA("a", "\"offset\": 0, \"size\": 5, \"packed\": 0"),
        DATA("a", "\"offset\": 0, \"size\": 4194305, \"packed\": 13"),
        DATA("a", "\"offset\": 0, \"size\": 5, \"packed\": 4198401"),
        DATA("a", "\"offset\": 0.5, \"size\": 5, \"packed\": 13"),
        DATA("a", GOOD_PIECE ", \"last\": 1"),
        DATA("a/b", GOOD_PIECE),
        DATA("../b", GOOD_PIECE),
        DATA("", GOOD_PIECE),
        DATA(".streams", GOOD_PIECE),
        DATA("a\\nb", GOOD_PIECE),
        DATA("a", GOOD_PIECE ", \"role\": \"../x\""),
        DATA("a", GOOD_PIECE) "x",
    };
    for (size_t i = 0; i < PT_ARRAY_LEN(wrong); i++) {
        message_t m;
        const char *problem = NULL;
        if (perftrace__stream_parse(wrong[i], strlen(wrong[i]), &m, &problem)) {
            print_error("taken: %s\n", wrong[i]);
            fail();
        }
        assert_non_null(problem);
    }
    const char *good = DATA("a", GOOD_PIECE ", \"later\": {\"x\": [1]}");
    message_t m;
    const char *problem;
    assert_true(perftrace__stream_parse(good, strlen(good), &m, &problem));
}

static void a_long_error_is_cut_between_letters(void **state) {
    (void)state;
    char text[1200];
    perftrace__strbuf_t b = PERFTRACE__STRBUF_INIT;
    for (size_t i = 0; i + 2 < sizeof text; i += 2) {
        memcpy(text + i, "\xc3\xa4", 2);
    }
    text[sizeof text - 2] = '\0';
    perftrace__stream_put_error(&b, text);
    message_t m = parsed(&b);
    assert_int_equal(strlen(m.text), 510); /* not half a letter */
}

static void numbers_of_files(void **state) {
    (void)state;
    /* The test values of the draft that describes FNV: "", "a", "foobar". */
    assert_true(perftrace__stream_id("", 0) == 0xcbf29ce484222325u);
    assert_true(perftrace__stream_id("a", 1) == 0xaf63dc4c8601ec8cu);
    assert_true(perftrace__stream_id("foobar", 6) == 0x85944171f73967e8u);
}

static void names_of_runs(void **state) {
    (void)state;
    char name[65];
    perftrace__stream_run_name("a.b>c *d-E_9", name);
    assert_string_equal(name, "a_b_c__d-E_9");
    perftrace__stream_run_name("", name);
    assert_string_equal(name, "_");
    assert_false(perftrace__stream_name_ok("."));
    assert_true(perftrace__stream_name_ok("traces-r3.1.jsonl"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_comes_back),
        cmocka_unit_test(the_text_of_data),
        cmocka_unit_test(the_others_come_back),
        cmocka_unit_test(what_is_wrong_is_refused),
        cmocka_unit_test(a_long_error_is_cut_between_letters),
        cmocka_unit_test(numbers_of_files),
        cmocka_unit_test(names_of_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
