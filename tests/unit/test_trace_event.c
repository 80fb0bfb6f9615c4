/* test_trace_event.c: the fast way and the long way read the same event. SPDX-License-Identifier:
 * MIT */
#include "event_fast.h"
#include "event_json.h"
#include "event_lean.h"
#include "event_write.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define X                                                                                          \
    "{\"name\": \"train.step\", \"ph\": \"X\", \"ts\": 305.125, \"dur\": 40.250, \"pid\": 71, "    \
    "\"tid\": 72, "

static const char *const ours[] = {
    X "\"cat\": \"compute\", \"args\": {\"global_step\": 9, \"rank\": 3, \"role\": \"actor\"}}",
    X "\"cat\": \"compute\", \"args\": {}}",
    X "\"args\": {\"a\": -1.5, \"b\": true, \"c\": null, \"d\": false, \"e\": \"\"}}",
    X "\"args\": {\"a\": 9.999000099990002e-05, \"b\": 1e+22, \"c\": -0.0, \"d\": 2E5, \"e\": "
      "-1234567890123456789012345678.5}}",
    "{\"name\": \"queue\", \"ph\": \"i\", \"ts\": 0.001, \"pid\": 1, \"tid\": 0, \"cat\": \"c\", "
    "\"args\": {\"depth\": 4}, \"s\": \"t\"}",
    "{\"name\": \"loss\", \"ph\": \"C\", \"ts\": 309.004, \"pid\": 71, \"tid\": 71, \"cat\": "
    "\"m\", "
    "\"args\": {\"loss\": 0.5, \"lr\": 3}}",
    "{\"name\": \"f\", \"ph\": \"f\", \"ts\": 9.004, \"pid\": 71, \"tid\": 71, \"cat\": \"m\", "
    "\"args\": {}, \"id\": 5, \"bp\": \"e\"}",
    "{\"name\": \"r\", \"ph\": \"b\", \"ts\": 9.004, \"pid\": 71, \"tid\": 71, \"cat\": \"m\", "
    "\"args\": {}, \"id\": \"0x1f\"}"};

/* Copies a text to memory with the padding that readers ask for. */
static char *padded(const char *text) {
    char *p = calloc(1, strlen(text) + PT_EVENT_PAD + 1);
    assert_non_null(p);
    memcpy(p, text, strlen(text));
    return p;
}

static void same_text(pt_str_t a, pt_str_t b) {
    assert_int_equal(a.len, b.len);
    assert_true(a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

static void both_ways_agree_on_our_lines(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
        char *text = padded(ours[i]);
        pt_event_reader_t reader = {.repairs = 0};
        pt_event_t fast, slow;
        size_t used;
        bool plain;
        assert_ptr_equal(pt_line_end(text, text + strlen(text), &plain), text + strlen(text));
        assert_true(plain);
        assert_true(pt_event_read_fast(text, text + strlen(text), &fast));
        assert_int_equal(pt_event_read_json(&reader, text, strlen(text), &slow, &used),
                         PT_EVENT_FOUND);
        assert_int_equal(used, strlen(text));
        assert_int_equal(fast.ph, slow.ph);
        assert_int_equal(fast.ts, slow.ts);
        assert_int_equal(fast.has & (PT_EVENT_HAS_TS | PT_EVENT_HAS_DUR),
                         slow.has & (PT_EVENT_HAS_TS | PT_EVENT_HAS_DUR));
        assert_true(fast.ph != 'X' || fast.dur == slow.dur);
        assert_int_equal(fast.pid.num, slow.pid.num);
        assert_int_equal(fast.tid.num, slow.tid.num);
        same_text(fast.name, slow.name);
        same_text(fast.cat, slow.cat);
        same_text(fast.args, slow.args);
        same_text(fast.id, slow.id);
        same_text(fast.s, slow.s);
        same_text(fast.bp, slow.bp);
        pt_event_reader_free(&reader);
        free(text);
    }
}

/* Every prefix, and every line with one byte changed, is refused or understood as by the long way.
 */
static void the_fast_way_takes_nothing_that_is_not_strict(void **state) {
    static const char bytes[] = "\"{}[]:,0.-e \\xu\t";
    (void)state;
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
        size_t len = strlen(ours[i]);
        for (size_t at = 0; at < len; at++) {
            for (size_t b = 0; b < sizeof bytes; b++) {
                char *text = padded(ours[i]);
                size_t n = b + 1 == sizeof bytes ? at : len;
                bool plain;
                pt_event_t ev;
                text[at] = bytes[b];
                pt_line_end(text, text + n, &plain);
                if (plain && pt_event_read_fast(text, text + n, &ev)) {
                    assert_true(perftrace__json_check(text, n, NULL, NULL));
                }
                free(text);
            }
        }
    }
}

static void odd_forms_are_understood(void **state) {
    static const struct {
        const char *text;
        pt_event_found_t found;
        int64_t ts;
        unsigned odd;
    } cases[] = {
        {"{\"ph\":\"X\",\"name\":\"n\",\"ts\":\"5.25\",\"pid\":\"12\",\"tid\":\"stream 7\"}",
         PT_EVENT_FOUND, 5250, 0},
        {"{\"ph\":\"X\",\"ts\":5.25e3}", PT_EVENT_FOUND, 5250000, PT_EVENT_ODD_NAME},
        {"{\"ph\":\"E\",\"ts\":1}", PT_EVENT_FOUND, 1000, 0},
        {"{\"ph\":\"X\",\"name\":\"n\",\"ts\":1,\"args\":[]}", PT_EVENT_FOUND, 1000,
         PT_EVENT_ODD_ARGS},
        {"{\"ph\":\"X\",\"name\":\"n\",\"ts\":1,\"dur\":-3}", PT_EVENT_FOUND, 1000,
         PT_EVENT_ODD_NEGATIVE},
        {"{\"ph\":\"X\",\"name\":\"n\",\"ts\":true}", PT_EVENT_FOUND, 0, PT_EVENT_ODD_TS},
        {"{}", PT_EVENT_FOUND_EMPTY, 0, 0},
        {"{\"a\": 1}", PT_EVENT_FOUND_OTHER, 0, 0},
        {"[1,2]", PT_EVENT_FOUND_SCALAR, 0, 0},
        {"  ", PT_EVENT_FOUND_BLANK, 0, 0},
        {"{\"ph\":\"X\",\"na", PT_EVENT_FOUND_DAMAGED, 0, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = padded(cases[i].text);
        pt_event_reader_t reader = {.repairs = 0};
        pt_event_t ev;
        size_t used;
        assert_int_equal(pt_event_read_json(&reader, text, strlen(text), &ev, &used),
                         cases[i].found);
        if (cases[i].found == PT_EVENT_FOUND) {
            assert_int_equal(ev.ts, cases[i].ts);
            assert_int_equal(reader.odd, cases[i].odd);
        }
        pt_event_reader_free(&reader);
        free(text);
    }
}

static void unknown_members_are_kept_and_tables_of_the_file_are_not(void **state) {
    char *text =
        padded("{\"ph\":\"X\",\"name\":\"n\",\"ts\":1,\"dur\":2,\"cname\":\"good\",\"sf\":7,"
               "\"in\":{\"tts\":6},\"tts\":5}");
    pt_event_reader_t reader = {.repairs = 0};
    pt_event_t ev;
    size_t used;
    (void)state;
    assert_int_equal(pt_event_read_json(&reader, text, strlen(text), &ev, &used), PT_EVENT_FOUND);
    assert_true(PT_STR_IS(ev.rest, ", \"cname\": \"good\", \"in\": {\"tts\":6}, \"tts\": 5"));
    assert_int_equal(reader.repairs, 0);
    pt_event_reader_free(&reader);
    free(text);
}

/* As JSON.parse and json.loads have it, and it is told: known members, unknown ones and args. */
static void of_equal_members_the_last_one_counts(void **state) {
    static const char *const texts[] = {
        "{\"ph\":\"X\",\"name\":\"n\",\"ts\":1,\"ts\":2,\"pid\":5}",
        "{\"ph\":\"X\",\"name\":\"m\",\"ts\":2,\"pid\":5,\"name\":\"n\"}",
        "{\"ph\":\"X\",\"name\":\"n\",\"ts\":2,\"pid\":4,\"pid\":5}",
        "{\"ph\":\"X\",\"name\":\"n\",\"ts\":2,\"pid\":5,\"cname\":\"a\",\"cname\":\"b\"}",
        "{\"ph\":\"X\",\"name\":\"n\",\"ts\":2,\"pid\":5,\"args\":{\"k\":1,\"k\":2}}",
        "{\"ph\":\"X\",\"name\":\"n\",\"ts\":2,\"pid\":5,\"args\":{\"k\":1},\"args\":{\"k\":2}}"};
    (void)state;
    for (size_t i = 0; i < PT_ARRAY_LEN(texts); i++) {
        char *text = padded(texts[i]);
        pt_event_reader_t reader = {.repairs = 0};
        pt_lean_t lean = {.next = 0};
        pt_event_t ev;
        size_t used;
        assert_int_equal(pt_event_read_json(&reader, text, strlen(text), &ev, &used),
                         PT_EVENT_FOUND);
        assert_true((reader.repairs & PERFTRACE__JSON_REPAIR_DUPLICATE_KEY) != 0);
        assert_int_equal(ev.ts, 2000);
        assert_int_equal(ev.pid.num, 5);
        assert_true(PT_STR_IS(ev.name, "\"n\""));
        assert_true(ev.rest.len == 0 || PT_STR_IS(ev.rest, ", \"cname\": \"b\""));
        assert_true(ev.args.len == 0 || ev.args.p[ev.args.len - 2] == '2');
        /* The short way leaves known members to the exact one, and looks at no others. */
        assert_int_equal(pt_event_read_lean(text, strlen(text), &lean, &ev), i == 3 || i == 4);
        pt_event_reader_free(&reader);
        free(text);
    }
}

static void an_event_is_written_in_the_order_of_keys(void **state) {
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    pt_track_text_t track;
    pt_track_text_set(&track, 3, 3001);
    pt_put_t put = {.name = {"\"n\"", 3},
                    .cat = {"\"c\"", 3},
                    .args = {"{}", 2},
                    .track = &track,
                    .ts = 1234567,
                    .dur = 1,
                    .number = 9,
                    .has_number = true,
                    .bind_enclosing = true,
                    .ph = 'X',
                    .s = {"\"t\"", 3}};
    (void)state;
    pt_event_put(&out, &put);
    assert_string_equal(
        perftrace__strbuf_cstr(&out),
        "{\"name\": \"n\", \"ph\": \"X\", \"ts\": 1234.567, \"dur\": 0.001, \"pid\": 3, "
        "\"tid\": 3001, \"cat\": \"c\", \"id\": 9, \"bp\": \"e\", \"args\": {}, "
        "\"s\": \"t\"},\n");
    perftrace__strbuf_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ways_agree_on_our_lines),
        cmocka_unit_test(the_fast_way_takes_nothing_that_is_not_strict),
        cmocka_unit_test(odd_forms_are_understood),
        cmocka_unit_test(unknown_members_are_kept_and_tables_of_the_file_are_not),
        cmocka_unit_test(of_equal_members_the_last_one_counts),
        cmocka_unit_test(an_event_is_written_in_the_order_of_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
