/* test_json_repair.c: what is mended, what is refused, what is said. SPDX-License-Identifier: MIT
 */
#include "json_repair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define REPAIRED(bit) PERFTRACE__JSON_REPAIR_##bit

typedef struct mend {
    const char *text;
    size_t len;
    const char *strict;
    unsigned repairs;
} mend_t;

#define MEND(text, strict, repairs)                                                                \
    { text, sizeof(text) - 1, strict, repairs }

static const mend_t mends[] = {
    MEND("{\"a\":1,\"b\":[true,null,\"x\"]}", "{\"a\": 1, \"b\": [true, null, \"x\"]}", 0),
    MEND(" {}\r", "{}", 0),
    MEND("{\"a\":[],\"b\":{}}", "{\"a\": [], \"b\": {}}", 0),
    MEND("17", "17", 0),
    MEND("[NaN,nan,-nan,-NaN]", "[\"NaN\", \"NaN\", \"NaN\", \"NaN\"]", REPAIRED(NONFINITE)),
    MEND("[Infinity,+inf,INF]", "[\"Infinity\", \"Infinity\", \"Infinity\"]", REPAIRED(NONFINITE)),
    MEND("{\"v\": -Infinity, \"w\": -inf}", "{\"v\": \"-Infinity\", \"w\": \"-Infinity\"}",
         REPAIRED(NONFINITE)),
    MEND("[True,False,None,TRUE]", "[true, false, null, true]", REPAIRED(PYTHON_WORD)),
    MEND("\"a\x01\t\n\r\x1F\x7F\"", "\"a\\u0001\\t\\n\\r\\u001f\x7F\"", REPAIRED(CONTROL_BYTE)),
    MEND("\"a\0b\"", "\"a\\u0000b\"", REPAIRED(CONTROL_BYTE)),
    MEND("\"a\xFF"
         "b\xE2\x82"
         "c\xED\xA0\x80\"",
         "\"a\xEF\xBF\xBD"
         "b\xEF\xBF\xBD"
         "c\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"",
         REPAIRED(BAD_UTF8)),
    MEND("\"a\\ud83db\\ude00\"",
         "\"a\xEF\xBF\xBD"
         "b\xEF\xBF\xBD\"",
         REPAIRED(LONE_SURROGATE)),
    MEND("\"\\ud83d\\ud83d\\ude00\"", "\"\xEF\xBF\xBD\xF0\x9F\x98\x80\"",
         REPAIRED(LONE_SURROGATE) | REPAIRED(PAIR_ESCAPE)),
    MEND("{\"\\ud83d\\ude00\":1}", "{\"\xF0\x9F\x98\x80\": 1}", REPAIRED(PAIR_ESCAPE)),
    MEND("\"\\u0041\\u0000\\/\\n\xC3\xA9\"", "\"\\u0041\\u0000\\/\\n\xC3\xA9\"", 0),
    MEND("\"a\\x41\\'\\u12\"", "\"a\\\\x41\\\\'\\\\u12\"", REPAIRED(BAD_ESCAPE)),
    MEND("\"C:\\Users\\name\"", "\"C:\\\\Users\\name\"", REPAIRED(BAD_ESCAPE)),
    MEND("{\"a\":[1,2,],\"b\":{\"c\":3 , },}", "{\"a\": [1, 2], \"b\": {\"c\": 3}}",
         REPAIRED(TRAILING_COMMA)),
    MEND("[007,-007,+1,.5,-.5,5.,1.e3,00,00.5,+0]", "[7, -7, 1, 0.5, -0.5, 5, 1e3, 0, 0.5, 0]",
         REPAIRED(NUMBER_FORM)),
    MEND("[1e400,-1e400,1.7976931348623157e308]", "[\"1e400\", \"-1e400\", 1.7976931348623157e308]",
         REPAIRED(HUGE_NUMBER)),
    MEND("+01e999", "\"1e999\"", REPAIRED(HUGE_NUMBER) | REPAIRED(NUMBER_FORM)),
    MEND("\xEF\xBB\xBF{\"a\":1}", "{\"a\": 1}", REPAIRED(BYTE_ORDER_MARK)),
    MEND("\0\0\0 {\"a\":1}", "{\"a\": 1}", REPAIRED(NUL_BLOCK)),
    MEND("\0\xEF\xBB\xBF{}", "{}", REPAIRED(NUL_BLOCK) | REPAIRED(BYTE_ORDER_MARK)),
    MEND("{\"a\":1} // c", "{\"a\": 1}", REPAIRED(COMMENT)),
    MEND("{\"a\":1} /* c */", "{\"a\": 1}", REPAIRED(COMMENT)),
    MEND("{\"a\":1}# c", "{\"a\": 1}", REPAIRED(COMMENT)),
    MEND("{\"a\":1}xyz", "{\"a\": 1}", REPAIRED(TRAILING_BYTES)),
    MEND("{\"a\":1}{\"b\":2}", "{\"a\": 1}", REPAIRED(TRAILING_BYTES)),
    MEND("{\"a\":1}\0\0", "{\"a\": 1}", REPAIRED(TRAILING_BYTES)),
    MEND("{\"a\":1,\"b\":2,\"a\":3}", "{\"b\": 2, \"a\": 3}", REPAIRED(DUPLICATE_KEY)),
    MEND("{\"a\":1,\"a\":2,\"a\":3}", "{\"a\": 3}", REPAIRED(DUPLICATE_KEY)),
    MEND("{\"x\":{\"a\":{\"q\":1},\"b\":[1,2],\"a\":\"}\",\"b\":3},\"x2\":4}",
         "{\"x\": {\"a\": \"}\", \"b\": 3}, \"x2\": 4}", REPAIRED(DUPLICATE_KEY)),
    MEND("{\"rank\":1,\"\\u0072ank\":2}", "{\"\\u0072ank\": 2}", REPAIRED(DUPLICATE_KEY)),
    MEND("[{\"a\":1},{\"a\":2}]", "[{\"a\": 1}, {\"a\": 2}]", 0),
    MEND("{\"a\":1,\"b\":{\"a\":2}}", "{\"a\": 1, \"b\": {\"a\": 2}}", 0),
};

static void each_damage_is_mended_and_named(void **state) {
    (void)state;
    for (size_t i = 0; i < PT_ARRAY_LEN(mends); i++) {
        const mend_t *m = &mends[i];
        perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
        perftrace__json_error_t error;
        unsigned repairs;
        size_t used;
        char *copy = malloc(m->len);
        assert_non_null(copy);
        memcpy(copy, m->text, m->len);
        perftrace__strbuf_puts(&out, "before ");
        if (!perftrace__json_repair(copy, m->len, &out, &repairs, &used, &error)) {
            fail_msg("%s: %s at %zu", m->text, perftrace__json_error_text(error.code),
                     error.offset);
        }
        assert_string_equal(perftrace__strbuf_cstr(&out) + 7, m->strict);
        assert_int_equal(repairs, m->repairs);
        assert_int_equal(error.code, PERFTRACE__JSON_E_OK);
        assert_true(perftrace__json_check(out.data + 7, out.len - 7, NULL, NULL));
        assert_true(used <= m->len);
        perftrace__strbuf_free(&out);
        free(copy);
    }
}

static void what_cannot_be_mended_is_refused_with_the_place(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int code;
        size_t offset;
    } cases[] = {
        {"", PERFTRACE__JSON_E_EMPTY, 0},
        {"   ", PERFTRACE__JSON_E_EMPTY, 3},
        {"{\"a\": 1, \"dur\":", PERFTRACE__JSON_E_INCOMPLETE, 15},
        {"{\"a\": \"abc", PERFTRACE__JSON_E_UNTERMINATED_STRING, 10},
        {"{\"a\": \"abc\\", PERFTRACE__JSON_E_UNTERMINATED_STRING, 11},
        {"{\"a\": 1", PERFTRACE__JSON_E_INCOMPLETE, 7},
        {"{\"a\": 1e", PERFTRACE__JSON_E_INCOMPLETE, 8},
        {"[1, Na", PERFTRACE__JSON_E_BAD_LITERAL, 4},
        {"[1, tru", PERFTRACE__JSON_E_INCOMPLETE, 7},
        {"{'a': 1}", PERFTRACE__JSON_E_SINGLE_QUOTE, 1},
        {"{\"a\": 'x'}", PERFTRACE__JSON_E_SINGLE_QUOTE, 6},
        {"{a: 1}", PERFTRACE__JSON_E_KEY_NOT_STRING, 1},
        {"{\"a\" 1}", PERFTRACE__JSON_E_MISSING_COLON, 5},
        {"[1 2]", PERFTRACE__JSON_E_MISSING_COMMA, 3},
        {"[1}", PERFTRACE__JSON_E_MISMATCHED_BRACKET, 2},
        {"[,]", PERFTRACE__JSON_E_UNEXPECTED_BYTE, 1},
        {"[1,,2]", PERFTRACE__JSON_E_UNEXPECTED_BYTE, 3},
        {"[-]", PERFTRACE__JSON_E_BAD_LITERAL, 1},
        {"[0x10]", PERFTRACE__JSON_E_BAD_NUMBER, 1},
        {"[undefined]", PERFTRACE__JSON_E_BAD_LITERAL, 1},
        {"// only a comment", PERFTRACE__JSON_E_COMMENT, 0},
    };
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
        perftrace__json_error_t error;
        unsigned repairs = 99;
        perftrace__strbuf_puts(&out, "kept");
        assert_false(perftrace__json_repair(cases[i].text, strlen(cases[i].text), &out, &repairs,
                                            NULL, &error));
        if (error.code != cases[i].code || error.offset != cases[i].offset) {
            fail_msg("%s: %s at %zu", cases[i].text, perftrace__json_error_text(error.code),
                     error.offset);
        }
        assert_int_equal(repairs, 0);
        assert_string_equal(perftrace__strbuf_cstr(&out), "kept");
        perftrace__strbuf_free(&out);
    }
}

static void two_objects_on_a_line_can_be_taken_one_by_one(void **state) {
    (void)state;
    static const char text[] = "{\"a\":1} {\"b\":2}";
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    unsigned repairs;
    size_t used;
    assert_true(perftrace__json_repair(text, sizeof(text) - 1, &out, &repairs, &used, NULL));
    assert_int_equal(used, 7);
    assert_int_equal(repairs, PERFTRACE__JSON_REPAIR_TRAILING_BYTES);
    assert_true(
        perftrace__json_repair(text + used, sizeof(text) - 1 - used, &out, &repairs, &used, NULL));
    assert_int_equal(repairs, 0);
    assert_int_equal(used, 8);
    assert_string_equal(out.data, "{\"a\": 1}{\"b\": 2}");
    perftrace__strbuf_free(&out);
}

static void what_lies_too_deep_is_replaced(void **state) {
    (void)state;
    size_t deep = 100000;
    char *text = malloc(2 * deep + 20);
    assert_non_null(text);
    static const char front[] = {'{', '"', 'v', '"', ':', ' '};
    static const char back[] = ", \"w\": 1}";
    memcpy(text, front, sizeof(front));
    memset(text + 6, '[', deep);
    memset(text + 6 + deep, ']', deep);
    memcpy(text + 6 + 2 * deep, back, sizeof(back));
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    unsigned repairs;
    assert_true(perftrace__json_repair(text, 2 * deep + 15, &out, &repairs, NULL, NULL));
    assert_int_equal(repairs, PERFTRACE__JSON_REPAIR_TOO_DEEP);
    assert_true(perftrace__json_check(out.data, out.len, NULL, NULL));
    assert_non_null(strstr(out.data, "[\"\xE2\x80\xA6(nested too deep)\"]"));
    assert_non_null(strstr(out.data, ", \"w\": 1}"));
    perftrace__strbuf_clear(&out);
    assert_false(perftrace__json_repair(text, 2 * deep, &out, &repairs, NULL, NULL));
    perftrace__strbuf_free(&out);
    free(text);
}

static void objects_of_very_many_members_are_left_as_they_are(void **state) {
    (void)state;
    perftrace__strbuf_t in = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    unsigned repairs;
    perftrace__strbuf_puts(&in, "{\"a\": 0");
    for (int i = 1; i < 257; i++) {
        perftrace__strbuf_printf(&in, ", \"%s\": %d", i % 2 ? "a" : "b", i);
    }
    perftrace__strbuf_puts(&in, "}");
    assert_true(perftrace__json_repair(in.data, in.len, &out, &repairs, NULL, NULL));
    assert_int_equal(repairs, 0);
    assert_string_equal(out.data, in.data);
    perftrace__strbuf_free(&in);
    perftrace__strbuf_free(&out);
}

static void every_repair_has_a_text(void **state) {
    (void)state;
    for (unsigned i = 0; i < PERFTRACE__JSON_REPAIR_COUNT; i++) {
        assert_string_not_equal(perftrace__json_repair_text(i), "");
    }
    assert_string_equal(perftrace__json_repair_text(PERFTRACE__JSON_REPAIR_COUNT), "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_damage_is_mended_and_named),
        cmocka_unit_test(what_cannot_be_mended_is_refused_with_the_place),
        cmocka_unit_test(two_objects_on_a_line_can_be_taken_one_by_one),
        cmocka_unit_test(what_lies_too_deep_is_replaced),
        cmocka_unit_test(objects_of_very_many_members_are_left_as_they_are),
        cmocka_unit_test(every_repair_has_a_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
