/* test_analyze_store.c: events into the store, whatever way they are read.
 * SPDX-License-Identifier: MIT */
#include "event_fast.h"
#include "event_lean.h"
#include "store_args.h"
#include "store_feed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void read_into(pt_rank_store_t *store, const char *text, bool lean, bool keep_outliers) {
    pt_trace_reader_t reader;
    pt_store_feed_t feed;
    size_t len = strlen(text);
    char *chunk = calloc(1, len + PT_EVENT_PAD);
    memcpy(chunk, text, len);
    pt_store_init(store);
    pt_trace_reader_init(&reader, *text == '[' ? PT_SHAPE_ARRAY : PT_SHAPE_OBJECT);
    pt_store_feed_join(&feed, store, &reader);
    reader.lean = lean;
    pt_trace_reader_feed(&reader, chunk, len, true);
    pt_store_feed_finish(&feed, keep_outliers);
    pt_trace_reader_free(&reader);
    free(chunk);
    assert_false(store->failed);
}

static void the_lean_reader_reads_what_the_exact_one_does(void **state) {
    static const char *const events[] = {
        "{\"ph\": \"X\", \"name\": \"a\", \"cat\": \"kernel\", \"ts\": 1.5, \"dur\": 2, \"pid\": "
        "0, "
        "\"tid\": \"stream 7\", \"args\": {\"correlation\": 5}}",
        "{\"dur\":3,\"ts\":1e3,\"tid\":1,\"pid\":-2,\"name\":\"\\u0041\",\"ph\":\"X\",\"zz\":[{}]}",
        "{\"ph\":\"E\",\"ts\":4,\"pid\":1,\"tid\":1}",
        "{\"ph\":\"s\",\"id\":\"0x5\",\"name\":\"f\",\"cat\":\"ac2g\",\"ts\":4,\"tid\":1}"};
    (void)state;
    for (size_t i = 0; i < PT_ARRAY_LEN(events); i++) {
        size_t len = strlen(events[i]), used;
        char *p = calloc(1, len + PT_EVENT_PAD);
        pt_lean_t lean = {.next = 0};
        pt_event_reader_t exact = {.repairs = 0};
        pt_event_t a, b;
        memcpy(p, events[i], len);
        assert_true(pt_event_read_lean(p, len, &lean, &a));
        assert_int_equal(pt_event_read_json(&exact, p, len, &b, &used), PT_EVENT_FOUND);
        assert_int_equal(a.ph, b.ph);
        assert_int_equal(a.ts, b.ts);
        assert_int_equal(a.dur, b.dur);
        assert_int_equal(a.pid.num, b.pid.num);
        assert_int_equal(a.tid.kind, b.tid.kind);
        assert_true(pt_str_is(a.name, b.name.p, b.name.len));
        assert_true(pt_str_is(a.cat, b.cat.p, b.cat.len));
        assert_true(pt_str_is(a.args, b.args.p, b.args.len));
        assert_true(pt_str_is(a.id, b.id.p, b.id.len));
        pt_event_reader_free(&exact);
        free(p);
    }
}

static void the_lean_reader_leaves_what_is_odd(void **state) {
    static const char *const events[] = {
        "{}",
        "[1]",
        "{\"name\":\"a\"}",
        "{\"ph\":\"X\",\"ts\":1,\"dur\":2}",
        "{\"ph\":\"X\",\"name\":7,\"ts\":1}",
        "{\"ph\":\"X\",\"name\":\"a\",\"ts\":\"1\"}",
        "{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":-1}",
        "{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"args\":[]}",
        "{\"ph\":\"X\",\"name\":\"a\",\"ts\":NaN}",
        "{\"ph\":\"X\",\"name\":\"\\ud83d\\ude00\",\"ts\":1}",
        "{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"args\":{\"x\":1e400}}",
        "{\"p\\u0068\":\"X\",\"name\":\"a\",\"ts\":1}",
        "{\"ph\":\"XX\",\"name\":\"a\",\"ts\":1}",
        "{\"ph\":\"X\",\"name\":\"a\",\"ts\":1} {}",
        "{\"ph\":\"X\",\"name\":\"a\",\"ts\":1",
        "{\"ph\":\"X\",\"name\":\"\xFF\",\"ts\":1}"};
    (void)state;
    for (size_t i = 0; i < PT_ARRAY_LEN(events); i++) {
        size_t len = strlen(events[i]);
        char *p = calloc(1, len + PT_EVENT_PAD);
        pt_lean_t lean = {.next = 0};
        pt_event_t ev;
        memcpy(p, events[i], len);
        assert_false(pt_event_read_lean(p, len, &lean, &ev));
        free(p);
    }
}

static bool lean_reads(pt_lean_t *lean, const char *text, pt_event_t *ret_event) {
    size_t len = strlen(text);
    char *p = calloc(1, len + PT_EVENT_PAD);
    memcpy(p, text, len);
    bool good = pt_event_read_lean(p, len, lean, ret_event);
    free(p);
    return good;
}

static void arrows_are_learned_and_still_strict(void **state) {
#define ARROW(ph, id, ts, end)                                                                     \
    "{\n \"ph\": \"" ph "\", \"id\": " id ", \"pid\": 0, \"tid\": 7, \"ts\": " ts                  \
    ", \"cat\": \"ac2g\", \"name\": \"a9\"" end
    static const struct {
        const char *text;
        bool good;
        char ph;
    } cases[] = {{ARROW("s", "5", "1.5", "}"), true, 's'},
                 {ARROW("f", "5", "1.5", ", \"bp\": \"e\"}"), true, 'f'},
                 {ARROW("s", "123456789", "-4458676416788.066", "}"), true, 's'},
                 {ARROW("f", "0", "1e5", ", \"bp\": \"e\"}"), true, 'f'},
                 {ARROW("s", "05", "1.5", "}"), false, 0},
                 {ARROW("s", "5", "1.", "}"), false, 0},
                 {ARROW("s", "5", "1.5x", "}"), false, 0},
                 {ARROW("s", "", "1.5", "}"), false, 0},
                 {ARROW("s", "5", "1.5", ""), false, 0},
                 {ARROW("s", "5", "NaN", "}"), false, 0}};
    pt_lean_t lean = {.next = 0};
    (void)state;
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        pt_event_t ev;
        assert_int_equal(lean_reads(&lean, cases[i].text, &ev), cases[i].good);
        assert_true(!cases[i].good || ev.ph == cases[i].ph);
        assert_true(!cases[i].good || (ev.has & PT_EVENT_HAS_TS) != 0);
    }
    assert_int_equal(lean.next, 2); /* what is known is not learned again */
}

static void begins_and_ends_become_rows(void **state) {
    static const char text[] =
        "[{\"ph\":\"B\",\"name\":\"a\",\"ts\":10,\"pid\":1,\"tid\":1},"
        "{\"ph\":\"B\",\"name\":\"b\",\"ts\":12,\"pid\":1,\"tid\":1},"
        "{\"ph\":\"E\",\"ts\":15,\"pid\":1,\"tid\":1},"
        "{\"ph\":\"B\",\"name\":\"open\",\"ts\":16,\"pid\":1,\"tid\":2},"
        "{\"ph\":\"E\",\"ts\":20,\"pid\":1,\"tid\":1},"
        "{\"ph\":\"X\",\"name\":\"x\",\"ts\":0,\"dur\":30,\"pid\":1,\"tid\":3},"
        "{\"ph\":\"E\",\"ts\":21,\"pid\":1,\"tid\":1}]";
    (void)state;
    for (unsigned lean = 0; lean < 2; lean++) {
        static const int64_t dur[] = {10000, 3000, 14000, 30000};
        pt_rank_store_t s;
        read_into(&s, text, lean != 0, false);
        assert_int_equal(s.events, 7);
        assert_int_equal(s.rows, 4);
        for (size_t i = 0; i < 4; i++) {
            assert_int_equal(s.row[i].dur, dur[i]);
        }
        assert_int_equal(s.unfinished, 1);
        assert_int_equal(s.stray_ends, 1);
        pt_store_free(&s);
    }
}

static void categories_tell_kinds(void **state) {
    static const struct {
        const char *cat;
        pt_row_kind_t kind;
    } cats[] = {{"kernel", PT_ROW_KERNEL},
                {"Kernel", PT_ROW_KERNEL},
                {"gpu_memcpy", PT_ROW_MEMCPY},
                {"Memset", PT_ROW_MEMSET},
                {"cuda_sync", PT_ROW_SYNC},
                {"cuda_runtime", PT_ROW_RUNTIME},
                {"Runtime", PT_ROW_RUNTIME},
                {"cuda_driver", PT_ROW_RUNTIME},
                {"mtia_runtime", PT_ROW_RUNTIME},
                {"cpu_op", PT_ROW_CPU_OP},
                {"Operator", PT_ROW_CPU_OP},
                {"gpu_user_annotation", PT_ROW_GPU_ANNOTATION},
                {"Trace", PT_ROW_FRAME},
                {"compute", PT_ROW_OTHER},
                {"", PT_ROW_OTHER}};
    (void)state;
    for (size_t i = 0; i < PT_ARRAY_LEN(cats); i++) {
        assert_int_equal(pt_store_kind_of(cats[i].cat, strlen(cats[i].cat)), cats[i].kind);
    }
}

static void arguments_are_found_by_their_keys(void **state) {
    static const char text[] =
        "{\"text\": \"\\\"bytes\\\": 3\", \"key\": \"bytes\", \"bytes\" : 42, "
        "\"deep\": {\"other\": 7}, \"f\": 1.5, \"last\": \"x\"}";
    pt_args_t args = {{text, sizeof text - 1}, false};
    int64_t v = 0;
    (void)state;
    assert_true(pt_args_int(&args, "\"bytes\"", &v));
    assert_int_equal(v, 42);
    assert_false(pt_args_int(&args, "\"f\"", &v));
    assert_false(pt_args_int(&args, "\"missing\"", &v));
    assert_true(PT_STR_IS(pt_args_text(&args, "\"last\""), "\"x\""));
    assert_int_equal(pt_args_text(&args, "\"bytes\"").len, 0);
    assert_false(args.twice);
}

/* In texts of every length, which end where their memory does. */
static void a_key_is_found_at_every_place(void **state) {
    static const char member[] = "\"key\":7";
    (void)state;
    for (size_t len = sizeof member + 1; len < 90; len++) {
        for (size_t at = 1; at + sizeof member <= len; at++) {
            char *text = malloc(len);
            pt_args_t args = {{text, len}, false};
            int64_t v = 0;
            assert_non_null(text);
            memset(text, ' ', len);
            text[0] = '{';
            text[len - 1] = '}';
            memcpy(text + at, member, sizeof member - 1);
            assert_true(pt_args_int(&args, "\"key\"", &v));
            assert_int_equal(v, 7);
            assert_false(pt_args_int(&args, "\"kex\"", &v));
            assert_false(args.twice);
            free(text);
        }
    }
}

static void only_own_keys_count_and_the_last_of_them(void **state) {
    static const struct {
        const char *text;
        int64_t value; /* -1: none */
        bool twice;
    } cases[] = {
        {"{\"k\": 1}", 1, false},
        {"{\"k\": 1, \"k\": 2}", 2, true},
        {"{\"k\":1,\"j\":3,\"k\" : 2}", 2, true},
        {"{\"x\": {\"k\": 9}, \"k\": 1}", 1, false},
        {"{\"k\": 1, \"x\": {\"k\": 9}}", 1, false},
        {"{\"x\": [{\"k\": 9}]}", -1, false},
        {"{\"x\": {\"k\": 9}, \"k\": 1, \"k\": 2}", 2, true},
        {"{\"x\": \"{\", \"k\": 1}", 1, false},
        {"{\"x\": \"}\", \"k\": 1, \"k\": 2}", 2, true},
        {"{\"x\": \"\\\"k\\\": 7\", \"k\": 1}", 1, false},
        {"{\"k\": \"text\"}", -1, false},
        {"{}", -1, false},
        {"", -1, false},
    };
    (void)state;
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        pt_args_t args = {{cases[i].text, strlen(cases[i].text)}, false};
        int64_t value = -1;
        assert_int_equal(pt_args_int(&args, "\"k\"", &value), cases[i].value >= 0);
        assert_true(cases[i].value < 0 || value == cases[i].value);
        assert_int_equal(args.twice, cases[i].twice);
    }
}

static void hours_far_off_are_set_aside(void **state) {
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    (void)state;
    perftrace__strbuf_putc(&text, '[');
    for (unsigned i = 0; i < 500; i++) {
        perftrace__strbuf_printf(
            &text, "%s{\"ph\":\"X\",\"name\":\"a\",\"ts\":%llu,\"dur\":1,\"pid\":1,\"tid\":1}",
            i > 0 ? "," : "", i == 250 ? 0ULL : 1760000000000000ULL + i * 10ULL);
    }
    perftrace__strbuf_putc(&text, ']');
    for (unsigned keep = 0; keep < 2; keep++) {
        pt_rank_store_t s;
        read_into(&s, perftrace__strbuf_cstr(&text), true, keep != 0);
        assert_int_equal(s.outliers, keep != 0 ? 0 : 1);
        assert_int_equal(s.row[250].state, keep != 0 ? PT_ROW_WHOLE : PT_ROW_LEFT_OUT);
        assert_int_equal(s.last - s.first, keep != 0 ? s.last : 4991 * 1000);
        pt_store_free(&s);
    }
    perftrace__strbuf_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_lean_reader_reads_what_the_exact_one_does),
        cmocka_unit_test(the_lean_reader_leaves_what_is_odd),
        cmocka_unit_test(arrows_are_learned_and_still_strict),
        cmocka_unit_test(begins_and_ends_become_rows),
        cmocka_unit_test(categories_tell_kinds),
        cmocka_unit_test(arguments_are_found_by_their_keys),
        cmocka_unit_test(a_key_is_found_at_every_place),
        cmocka_unit_test(only_own_keys_count_and_the_last_of_them),
        cmocka_unit_test(hours_far_off_are_set_aside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
