/* test_json_scan.c: the cursor and the strict check. SPDX-License-Identifier: MIT */
#include "json_scan.h"
#include "strbuf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* The text in memory of just its size, so that a sanitizer sees each byte read beyond it. */
static bool check_exact(const char *text, size_t len, perftrace__json_error_t *error,
                        unsigned *notes) {
    char *copy = malloc(len ? len : 1);
    assert_non_null(copy);
    memcpy(copy, text, len);
    bool good = perftrace__json_check(copy, len, error, notes);
    free(copy);
    return good;
}

typedef struct bad {
    const char *text;
    size_t len;
    int code;
    size_t offset;
} bad_t;

#define BAD(text, code, offset)                                                                    \
    { text, sizeof(text) - 1, PERFTRACE__JSON_E_##code, offset }

static const bad_t bad_texts[] = {
    BAD("", EMPTY, 0),
    BAD(" \n\t\r", EMPTY, 4),
    BAD("{", INCOMPLETE, 1),
    BAD("{\"a\"", INCOMPLETE, 4),
    BAD("{\"a\":", INCOMPLETE, 5),
    BAD("{\"a\":1", INCOMPLETE, 6),
    BAD("{\"a\":1,", INCOMPLETE, 7),
    BAD("[1,", INCOMPLETE, 3),
    BAD("[tru", INCOMPLETE, 4),
    BAD("-", INCOMPLETE, 1),
    BAD("[1.", INCOMPLETE, 3),
    BAD("[1e", INCOMPLETE, 3),
    BAD("[1e+", INCOMPLETE, 4),
    BAD("\"abc", UNTERMINATED_STRING, 4),
    BAD("\"abc\\", UNTERMINATED_STRING, 5),
    BAD("\"abc\\u00", UNTERMINATED_STRING, 8),
    BAD("\"\\u00e", UNTERMINATED_STRING, 6),
    BAD("{\"name\": \"0123456789abcdef0123456789", UNTERMINATED_STRING, 36),
    BAD("@", UNEXPECTED_BYTE, 0),
    BAD("[1 @]", UNEXPECTED_BYTE, 3),
    BAD("[,1]", UNEXPECTED_BYTE, 1),
    BAD("[1,,2]", UNEXPECTED_BYTE, 3),
    BAD("{\"a\":}", UNEXPECTED_BYTE, 5),
    BAD("{\"a\"::1}", UNEXPECTED_BYTE, 5),
    BAD("\v1", UNEXPECTED_BYTE, 0),
    BAD("]", UNEXPECTED_BYTE, 0),
    BAD("\xEF\xBB\xBF{}", BYTE_ORDER_MARK, 0),
    BAD("\0{}", NUL_BYTE, 0),
    BAD("{}\0", NUL_BYTE, 2),
    BAD("{'a':1}", SINGLE_QUOTE, 1),
    BAD("['a']", SINGLE_QUOTE, 1),
    BAD("{} // c", COMMENT, 3),
    BAD("[1, /* c */ 2]", COMMENT, 4),
    BAD("[True]", BAD_LITERAL, 1),
    BAD("[None]", BAD_LITERAL, 1),
    BAD("[nul]", BAD_LITERAL, 1),
    BAD("[truex]", BAD_LITERAL, 5),
    BAD("[NaN]", NONFINITE, 1),
    BAD("[nan]", NONFINITE, 1),
    BAD("[Infinity]", NONFINITE, 1),
    BAD("[-Infinity]", NONFINITE, 1),
    BAD("[-inf]", NONFINITE, 1),
    BAD("[007]", BAD_NUMBER, 2),
    BAD("[-01]", BAD_NUMBER, 3),
    BAD("[+1]", BAD_NUMBER, 1),
    BAD("[.5]", BAD_NUMBER, 1),
    BAD("[5.]", BAD_NUMBER, 3),
    BAD("[1.e5]", BAD_NUMBER, 3),
    BAD("[1e]", BAD_NUMBER, 3),
    BAD("[1e+]", BAD_NUMBER, 4),
    BAD("[1.5e5.5]", BAD_NUMBER, 6),
    BAD("[0x10]", BAD_NUMBER, 2),
    BAD("[1_000]", BAD_NUMBER, 2),
    BAD("[1.2.3]", BAD_NUMBER, 4),
    BAD("[--1]", BAD_NUMBER, 2),
    BAD("\"a\x01"
        "b\"",
        CONTROL_BYTE, 2),
    BAD("\"a\tb\"", CONTROL_BYTE, 2),
    BAD("\"a\0b\"", CONTROL_BYTE, 2),
    BAD("{\"k\n\": 1}", CONTROL_BYTE, 3),
    BAD("\"a\xFF"
        "b\"",
        BAD_UTF8, 2),
    BAD("\"\xC0\x80\"", BAD_UTF8, 1),
    BAD("\"\xED\xA0\x80\"", BAD_UTF8, 1),
    BAD("\"\xE2\x82\"", BAD_UTF8, 1),
    BAD("\"\xE2\x82\xAC\xE0\x80\x80\"", BAD_UTF8, 4),
    BAD("\"\xF4\x90\x80\x80\"", BAD_UTF8, 1),
    BAD("\"\x80\"", BAD_UTF8, 1),
    BAD("\"\\x41\"", BAD_ESCAPE, 1),
    BAD("\"\\'\"", BAD_ESCAPE, 1),
    BAD("\"\\u12g4\"", BAD_ESCAPE, 1),
    BAD("\"\\U0041\"", BAD_ESCAPE, 1),
    BAD("\"\\ud83d\"", LONE_SURROGATE, 1),
    BAD("\"\\ude00\\ud83d\"", LONE_SURROGATE, 1),
    BAD("\"\\ud83d\\u0041\"", LONE_SURROGATE, 1),
    BAD("\"\\ud83d\\ud83d\\ude00\"", LONE_SURROGATE, 1),
    BAD("{\"a\" 1}", MISSING_COLON, 5),
    BAD("{\"a\", 1}", MISSING_COLON, 4),
    BAD("[1 2]", MISSING_COMMA, 3),
    BAD("[\"a\" \"b\"]", MISSING_COMMA, 5),
    BAD("{\"a\":1 \"b\":2}", MISSING_COMMA, 7),
    BAD("{1:2}", KEY_NOT_STRING, 1),
    BAD("{a:2}", KEY_NOT_STRING, 1),
    BAD("{\"a\":1, 2}", KEY_NOT_STRING, 8),
    BAD("[1,]", TRAILING_COMMA, 2),
    BAD("{\"a\":1,}", TRAILING_COMMA, 6),
    BAD("{\"a\":1 , }", TRAILING_COMMA, 7),
    BAD("[1}", MISMATCHED_BRACKET, 2),
    BAD("{\"a\":1]", MISMATCHED_BRACKET, 6),
    BAD("{]", MISMATCHED_BRACKET, 1),
    BAD("[[1]}", MISMATCHED_BRACKET, 4),
    BAD("{}{}", TRAILING_BYTES, 2),
    BAD("{} xyz", TRAILING_BYTES, 3),
    BAD("1 2", TRAILING_BYTES, 2),
};

static void each_fault_has_its_code_and_offset(void **state) {
    (void)state;
    for (size_t i = 0; i < PT_ARRAY_LEN(bad_texts); i++) {
        const bad_t *b = &bad_texts[i];
        perftrace__json_error_t error;
        bool good = check_exact(b->text, b->len, &error, NULL);
        if (good || error.code != b->code || error.offset != b->offset) {
            fail_msg("%s: code %d (%s) at %zu, expected %d (%s) at %zu", b->text, error.code,
                     perftrace__json_error_text(error.code), error.offset, b->code,
                     perftrace__json_error_text(b->code), b->offset);
        }
    }
}

/* The same faults where the vector path may read behind the text. */
static void faults_are_the_same_with_readable_bytes_behind(void **state) {
    (void)state;
    for (size_t i = 0; i < PT_ARRAY_LEN(bad_texts); i++) {
        const bad_t *b = &bad_texts[i];
        static const char *const tails[] = {"\"}]0123456789", "                ", "]]]]}}}}"};
        for (size_t t = 0; t < PT_ARRAY_LEN(tails); t++) {
            char room[256 + PERFTRACE__JSON_SPARE];
            memset(room, tails[t][0], sizeof(room));
            memcpy(room, b->text, b->len);
            memcpy(room + b->len, tails[t], strlen(tails[t]));
            perftrace__json_cursor_t c;
            perftrace__json_slice_t v;
            perftrace__json_cursor_init_readable(&c, room, b->len, sizeof(room));
            int got = perftrace__json_next_value(&c, &v);
            if (b->code == PERFTRACE__JSON_E_EMPTY) {
                assert_int_equal(got, 0);
                continue;
            }
            assert_true(got < 0 || !perftrace__json_at_end(&c));
            assert_int_equal(c.error.code, b->code);
            assert_int_equal(c.error.offset, b->offset);
        }
    }
}

static void valid_texts_are_accepted_with_their_notes(void **state) {
    (void)state;
    static const struct {
        const char *text;
        unsigned notes;
    } good[] = {
        {"0", 0},
        {"-0.0", 0},
        {" [ ] ", 0},
        {"{}", 0},
        {"{\"\":{}}\r", 0},
        {"[1,2.5,-3e+10,4E-2,true,false,null,\"x\",[],{}]", 0},
        {"{\"a\":1,\"a\":2}", 0},
        {"\"\x7F\"", 0},
        {"\"\xE2\x80\xA8\"", PERFTRACE__JSON_NOTE_NON_ASCII},
        {"\"\xC2\x80\xDF\xBF\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xF0\x90\x80\x80\xF4\x8F\xBF\xBF\"",
         PERFTRACE__JSON_NOTE_NON_ASCII},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00fF\"", PERFTRACE__JSON_NOTE_ESCAPE},
        {"[\"\\u0000\"]", PERFTRACE__JSON_NOTE_ESCAPE | PERFTRACE__JSON_NOTE_NUL_ESCAPE},
        {"{\"\\ud83d\\ude00\":1}", PERFTRACE__JSON_NOTE_ESCAPE | PERFTRACE__JSON_NOTE_PAIR_ESCAPE},
        {"1e400", PERFTRACE__JSON_NOTE_HUGE_NUMBER},
        {"[-1.7976931348623159e308]", PERFTRACE__JSON_NOTE_HUGE_NUMBER},
        {"[1.7976931348623157e308, 1e-400, 0e999999999999999999999]", 0},
        {"1180591620717411303424", 0},
    };
    for (size_t i = 0; i < PT_ARRAY_LEN(good); i++) {
        perftrace__json_error_t error;
        unsigned notes;
        if (!check_exact(good[i].text, strlen(good[i].text), &error, &notes)) {
            fail_msg("%s: %s at %zu", good[i].text, perftrace__json_error_text(error.code),
                     error.offset);
        }
        assert_int_equal(notes, good[i].notes);
    }
}

static void a_long_integer_is_noted_as_huge(void **state) {
    (void)state;
    char digits[400];
    unsigned notes;
    memset(digits, '9', sizeof(digits));
    assert_true(perftrace__json_check(digits, 308, NULL, &notes));
    assert_int_equal(notes, 0);
    assert_true(perftrace__json_check(digits, sizeof(digits), NULL, &notes));
    assert_int_equal(notes, PERFTRACE__JSON_NOTE_HUGE_NUMBER);
}

/* Every fault and value at each place relative to the 16 bytes that are looked at together. */
static void what_is_found_does_not_depend_on_alignment(void **state) {
    (void)state;
    for (size_t pad = 0; pad < 40; pad++) {
        char text[128];
        perftrace__json_error_t error;
        memset(text, 'x', sizeof(text));
        text[0] = '"';
        text[pad + 1] = '\x1F';
        text[pad + 2] = '"';
        assert_false(check_exact(text, pad + 3, &error, NULL));
        assert_int_equal(error.code, PERFTRACE__JSON_E_CONTROL_BYTE);
        assert_int_equal(error.offset, pad + 1);
        text[pad + 1] = '"';
        assert_true(check_exact(text, pad + 2, &error, NULL));

        memset(text, '1', sizeof(text));
        assert_true(check_exact(text, pad + 1, &error, NULL));
        text[pad + 1] = '.';
        assert_false(check_exact(text, pad + 2, &error, NULL));
        assert_int_equal(error.code, PERFTRACE__JSON_E_INCOMPLETE);
        assert_true(check_exact(text, pad + 3, &error, NULL));
        text[pad + 30] = '.';
        assert_int_equal(check_exact(text, pad + 40, &error, NULL), false);
        assert_int_equal(error.code, PERFTRACE__JSON_E_TRAILING_BYTES);
        assert_int_equal(error.offset, pad + 30);

        memset(text, ' ', sizeof(text));
        text[pad] = '[';
        text[2 * pad + 1] = ']';
        assert_true(check_exact(text, 2 * pad + 2, &error, NULL));
    }
}

static void depth_ends_at_the_limit_without_recursion(void **state) {
    (void)state;
    size_t deep = 100000;
    char *text = malloc(2 * deep);
    assert_non_null(text);
    memset(text, '[', deep);
    memset(text + deep, ']', deep);
    perftrace__json_error_t error;
    size_t limit = PERFTRACE__JSON_MAX_DEPTH;
    assert_true(perftrace__json_check(text + deep - limit, 2 * limit, &error, NULL));
    assert_false(perftrace__json_check(text + deep - limit - 1, 2 * limit + 2, &error, NULL));
    assert_int_equal(error.code, PERFTRACE__JSON_E_TOO_DEEP);
    assert_int_equal(error.offset, limit);
    assert_false(perftrace__json_check(text, 2 * deep, &error, NULL));
    assert_int_equal(error.code, PERFTRACE__JSON_E_TOO_DEEP);

    /* Entering by cursors counts alike. */
    perftrace__json_cursor_t c;
    perftrace__json_slice_t v;
    perftrace__json_cursor_init(&c, text + deep - limit, 2 * limit);
    for (size_t i = 1; i < limit; i++) {
        perftrace__json_cursor_t inner;
        assert_true(perftrace__json_enter_array(&c));
        assert_int_equal(perftrace__json_next_element(&c, &v), 1);
        perftrace__json_cursor_nested(&inner, &c, &v);
        c = inner;
    }
    assert_true(perftrace__json_enter_array(&c));
    assert_int_equal(perftrace__json_next_element(&c, &v), 0);
    free(text);
}

static void assert_slice(const perftrace__json_slice_t *s, perftrace__json_type_t type,
                         const char *text) {
    assert_int_equal(s->type, type);
    assert_int_equal(s->len, strlen(text));
    assert_memory_equal(s->p, text, s->len);
}

static void members_come_in_order_with_their_slices(void **state) {
    (void)state;
    static const char text[] = "  { \"a\" : -1.5e3 ,\"b\":\"x\\ny\",\n\"c\": [1, {\"z\":\"]\"}],"
                               "\"d\":{},\"e\":true,\"f\":false,\"g\":null} \n";
    perftrace__json_cursor_t c;
    perftrace__json_slice_t k;
    perftrace__json_slice_t v;
    perftrace__json_cursor_init(&c, text, sizeof(text) - 1);
    assert_true(perftrace__json_enter_object(&c));
    assert_int_equal(perftrace__json_next_member(&c, &k, &v), 1);
    assert_slice(&k, PERFTRACE__JSON_STRING, "a");
    assert_slice(&v, PERFTRACE__JSON_NUMBER, "-1.5e3");
    assert_int_equal(perftrace__json_next_member(&c, &k, &v), 1);
    assert_slice(&v, PERFTRACE__JSON_STRING, "x\\ny");
    assert_true(v.escaped);
    assert_int_equal(v.notes, PERFTRACE__JSON_NOTE_ESCAPE);
    assert_int_equal(perftrace__json_next_member(&c, &k, &v), 1);
    assert_slice(&v, PERFTRACE__JSON_ARRAY, "[1, {\"z\":\"]\"}]");

    perftrace__json_cursor_t inner;
    perftrace__json_slice_t e;
    perftrace__json_cursor_nested(&inner, &c, &v);
    assert_false(perftrace__json_enter_object(&inner));
    assert_int_equal(inner.error.code, PERFTRACE__JSON_E_NOT_OBJECT);
    assert_int_equal(inner.error.offset, v.p - text);
    perftrace__json_cursor_nested(&inner, &c, &v);
    assert_true(perftrace__json_enter_array(&inner));
    assert_int_equal(perftrace__json_next_element(&inner, &e), 1);
    assert_slice(&e, PERFTRACE__JSON_NUMBER, "1");
    assert_int_equal(perftrace__json_next_element(&inner, &e), 1);
    assert_slice(&e, PERFTRACE__JSON_OBJECT, "{\"z\":\"]\"}");
    assert_int_equal(perftrace__json_next_element(&inner, &e), 0);
    assert_int_equal(perftrace__json_next_element(&inner, &e), 0);
    assert_true(perftrace__json_at_end(&inner));

    static const perftrace__json_type_t rest[] = {PERFTRACE__JSON_OBJECT, PERFTRACE__JSON_TRUE,
                                                  PERFTRACE__JSON_FALSE, PERFTRACE__JSON_NULL};
    for (size_t i = 0; i < PT_ARRAY_LEN(rest); i++) {
        assert_int_equal(perftrace__json_next_member(&c, &k, &v), 1);
        assert_int_equal(v.type, rest[i]);
    }
    assert_int_equal(perftrace__json_next_member(&c, &k, &v), 0);
    assert_int_equal(perftrace__json_next_member(&c, &k, &v), 0);
    assert_true(perftrace__json_at_end(&c));
    assert_int_equal(c.notes, PERFTRACE__JSON_NOTE_ESCAPE);
}

/* Lines of different making share the hints; with bytes behind, and without. */
static void hints_change_nothing(void **state) {
    (void)state;
    static const char text[] =
        "{\"name\": \"n\", \"ts\": 305.125, \"args\": {\"rank\": 3, \"role\": \"actor\"}}\n"
        "{\"name\": \"n\", \"ts\": 305.125, \"args\": {\"rank\": 3, \"role\": \"actor\"}}\n"
        "{\"ph\":\"X\",\"External id\":  17,\n   \"a key of more than sixteen bytes\": {\"a\": "
        "1}}\n"
        "{\"a key of more than sixteen bytes, and longer than thirty-two\": [], \"\": -1}\n";
    static const char *const want[] = {
        "name",
        "ts",
        "args",
        "name",
        "ts",
        "args",
        "ph",
        "External id",
        "a key of more than sixteen bytes",
        "a key of more than sixteen bytes, and longer than thirty-two",
        ""};
    perftrace__json_hints_t hints = {{0}};
    for (int round = 0; round < 4; round++) {
        char room[sizeof(text) + PERFTRACE__JSON_SPARE] = {0};
        size_t seen = 0;
        memcpy(room, text, sizeof(text) - 1);
        for (char *line = room; *line; line++) {
            perftrace__json_cursor_t c;
            perftrace__json_slice_t k;
            perftrace__json_slice_t v;
            size_t len = (size_t)(strchr(line, '}') - line);
            while (line[len] != '\n' || line[len - 1] != '}') {
                len++;
            }
            size_t readable = round % 2 ? len : (size_t)(room + sizeof(room) - line);
            perftrace__json_cursor_init_readable(&c, line, len, readable);
            perftrace__json_cursor_hint(&c, round < 2 ? &hints : NULL);
            assert_true(perftrace__json_enter_object(&c));
            while (perftrace__json_next_member(&c, &k, &v) > 0) {
                assert_int_equal(k.len, strlen(want[seen]));
                assert_memory_equal(k.p, want[seen], k.len);
                seen++;
            }
            assert_int_equal(c.error.code, PERFTRACE__JSON_E_OK);
            assert_true(perftrace__json_at_end(&c));
            line += len;
        }
        assert_int_equal(seen, PT_ARRAY_LEN(want));
    }
}

static void an_error_stays(void **state) {
    (void)state;
    static const char text[] = "{\"a\": NaN, \"b\": 2}";
    perftrace__json_cursor_t c;
    perftrace__json_slice_t k;
    perftrace__json_slice_t v;
    perftrace__json_cursor_init(&c, text, sizeof(text) - 1);
    assert_true(perftrace__json_enter_object(&c));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(perftrace__json_next_member(&c, &k, &v), -1);
        assert_int_equal(c.error.offset, 6);
    }
    assert_false(perftrace__json_at_end(&c));
    assert_false(perftrace__json_enter_array(&c));
    assert_int_equal(perftrace__json_next_value(&c, &v), -1);
    assert_int_equal(c.error.code, PERFTRACE__JSON_E_NONFINITE);
}

static void values_one_after_the_other_are_given_out(void **state) {
    (void)state;
    static const char text[] = "{\"a\":1}{\"b\":2} [3]\n4 \"five\" {\"tor";
    static const perftrace__json_type_t types[] = {PERFTRACE__JSON_OBJECT, PERFTRACE__JSON_OBJECT,
                                                   PERFTRACE__JSON_ARRAY, PERFTRACE__JSON_NUMBER,
                                                   PERFTRACE__JSON_STRING};
    perftrace__json_cursor_t c;
    perftrace__json_slice_t v;
    perftrace__json_cursor_init(&c, text, sizeof(text) - 1);
    for (size_t i = 0; i < PT_ARRAY_LEN(types); i++) {
        assert_int_equal(perftrace__json_next_value(&c, &v), 1);
        assert_int_equal(v.type, types[i]);
    }
    assert_int_equal(perftrace__json_next_value(&c, &v), -1);
    assert_true(perftrace__json_error_is_short(c.error.code));
    assert_string_equal(c.p, " {\"tor");
    perftrace__json_cursor_init(&c, NULL, 0);
    assert_int_equal(perftrace__json_next_value(&c, &v), 0);
    perftrace__json_cursor_init(&c, "", 0);
    assert_false(perftrace__json_enter_object(&c));
    assert_int_equal(c.error.code, PERFTRACE__JSON_E_EMPTY);
}

static void every_code_has_a_text(void **state) {
    (void)state;
    for (int i = 0; i < PERFTRACE__JSON_E_COUNT; i++) {
        assert_string_not_equal(perftrace__json_error_text(i), "unknown error");
    }
    assert_string_equal(perftrace__json_error_text(-1), "unknown error");
    assert_string_equal(perftrace__json_error_text(PERFTRACE__JSON_E_COUNT), "unknown error");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_fault_has_its_code_and_offset),
        cmocka_unit_test(faults_are_the_same_with_readable_bytes_behind),
        cmocka_unit_test(valid_texts_are_accepted_with_their_notes),
        cmocka_unit_test(a_long_integer_is_noted_as_huge),
        cmocka_unit_test(what_is_found_does_not_depend_on_alignment),
        cmocka_unit_test(depth_ends_at_the_limit_without_recursion),
        cmocka_unit_test(members_come_in_order_with_their_slices),
        cmocka_unit_test(hints_change_nothing),
        cmocka_unit_test(an_error_stays),
        cmocka_unit_test(values_one_after_the_other_are_given_out),
        cmocka_unit_test(every_code_has_a_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
