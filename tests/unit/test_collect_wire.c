/* test_collect_wire.c: messages out of bytes, however they are cut. SPDX-License-Identifier: MIT */
#include "collect_wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define KEY                                                                                        \
    "\"v\": 1, \"run\": \"r\", \"stream\": \"0123456789abcdef\", \"kind\": \"trace\", "            \
    "\"name\": \"t.jsonl\", \"rank\": 0"
#define DATA(offset, size, packed)                                                                 \
    "{\"type\": \"data\", " KEY ", \"offset\": " #offset ", \"size\": " #size                      \
    ", \"packed\": " #packed ", \"last\": false}\n"

static const char text[] = "{\"type\": \"hello\", \"v\": 1, \"run\": \"r\"}\n" DATA(
    5, 9, 4) "abcd"
             "{\"type\": \"clock\", \"t1\": \"x\"}\n" DATA(14, 0, 0) DATA(14, 9, 3) "\n{\n";

/* Feeds all in pieces of `cut` bytes; checks each message. */
static void feed_cut(size_t cut) {
    pt_collect_wire_t *w = calloc(1, sizeof *w);
    unsigned messages = 0;
    assert_non_null(w);
    for (size_t at = 0; at < sizeof text - 1;) {
        size_t len = PT_MIN(cut, sizeof text - 1 - at), used;
        pt_collect_wire_found_t found = pt_collect_wire_feed(w, text + at, len, &used);
        assert_true(used <= len);
        at += used;
        if (found == PT_COLLECT_WIRE_MORE) {
            assert_int_equal(used, len);
            continue;
        }
        assert_int_equal(found, PT_COLLECT_WIRE_MESSAGE);
        static const perftrace__stream_type_t types[] = {
            PERFTRACE__STREAM_HELLO, PERFTRACE__STREAM_DATA, PERFTRACE__STREAM_CLOCK,
            PERFTRACE__STREAM_DATA, PERFTRACE__STREAM_DATA};
        static const char *const bodies[] = {"", "abcd", "", "", "\n{\n"};
        assert_true(messages < PT_ARRAY_LEN(types));
        assert_int_equal(w->message.type, types[messages]);
        assert_string_equal(perftrace__strbuf_cstr(&w->body), bodies[messages]);
        messages++;
    }
    assert_int_equal(messages, 5);
    pt_collect_wire_free(w);
    free(w);
}

static void messages_do_not_depend_on_how_they_are_cut(void **state) {
    (void)state;
    for (size_t cut = 1; cut <= sizeof text; cut++) {
        feed_cut(cut);
    }
}

static void garbage_is_noticed_at_once(void **state) {
    static const char *const bad[] = {"GET / HTTP/1.1\r\n",
                                      "\n",
                                      "x",
                                      "{}\n",
                                      "{\"type\": 5}\n",
                                      "{\"type\": \"data\", " KEY "}\n",
                                      DATA(0, 4194305, 10),
                                      DATA(0, 5, 4198401),
                                      DATA(0, 0, 5)};
    (void)state;
    for (size_t i = 0; i < PT_ARRAY_LEN(bad); i++) {
        pt_collect_wire_t *w = calloc(1, sizeof *w);
        size_t used;
        assert_non_null(w);
        assert_int_equal(pt_collect_wire_feed(w, bad[i], strlen(bad[i]), &used),
                         PT_COLLECT_WIRE_GARBAGE);
        assert_non_null(w->problem);
        assert_int_equal(pt_collect_wire_feed(w, "{", 1, &used), PT_COLLECT_WIRE_GARBAGE);
        assert_int_equal(used, 0);
        pt_collect_wire_free(w);
        free(w);
    }
}

static void a_line_without_an_end_is_garbage(void **state) {
    pt_collect_wire_t *w = calloc(1, sizeof *w);
    char some[1000];
    size_t used;
    unsigned fed = 0;
    (void)state;
    assert_non_null(w);
    memset(some, ' ', sizeof some);
    some[0] = '{';
    while (pt_collect_wire_feed(w, some, sizeof some, &used) == PT_COLLECT_WIRE_MORE) {
        assert_true(++fed < 5);
    }
    assert_int_equal(fed, 4);
    pt_collect_wire_free(w);
    free(w);
}

/* A body of 4 MiB is announced, 100 bytes come. */
static void memory_is_that_of_what_came(void **state) {
    static const char big[] = DATA(0, 4000000, 4000000);
    pt_collect_wire_t *w = calloc(1, sizeof *w);
    char some[100] = {0};
    size_t used;
    (void)state;
    assert_non_null(w);
    assert_int_equal(pt_collect_wire_feed(w, big, sizeof big - 1, &used), PT_COLLECT_WIRE_MORE);
    assert_int_equal(pt_collect_wire_feed(w, some, sizeof some, &used), PT_COLLECT_WIRE_MORE);
    assert_true(pt_collect_wire_held(w) < 4096);
    pt_collect_wire_free(w);
    free(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_do_not_depend_on_how_they_are_cut),
        cmocka_unit_test(garbage_is_noticed_at_once),
        cmocka_unit_test(a_line_without_an_end_is_garbage),
        cmocka_unit_test(memory_is_that_of_what_came),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
