/* test_json_string.c: decoding, comparing, paths and keys. SPDX-License-Identifier: MIT */
#include "json_scan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static perftrace__json_slice_t string(const char *text) {
    perftrace__json_slice_t s = {text, strlen(text), PERFTRACE__JSON_STRING,
                                 strchr(text, '\\') != NULL, 0};
    return s;
}

static perftrace__json_slice_t whole(const char *text) {
    perftrace__json_cursor_t c;
    perftrace__json_slice_t v;
    perftrace__json_cursor_init(&c, text, strlen(text));
    assert_int_equal(perftrace__json_next_value(&c, &v), 1);
    return v;
}

static const struct {
    const char *text, *decoded;
    size_t len;
} cases[] = {
    {"", "", 0},
    {"plain", "plain", 5},
    {"a\\\"\\\\\\/\\b\\f\\n\\r\\tz", "a\"\\/\b\f\n\r\tz", 10},
    {"\\u0041\\u00e9\\u20AC", "A\xC3\xA9\xE2\x82\xAC", 6},
    {"\\ud83d\\ude00!", "\xF0\x9F\x98\x80!", 5},
    {"x\\ud83dy", "x\xEF\xBF\xBDy", 5},
    {"\\ude00", "\xEF\xBF\xBD", 3},
    {"\\ud83d\\u0041",
     "\xEF\xBF\xBD"
     "A",
     4},
    {"a\\u0000b", "a\0b", 3},
    {"a\\x41", "a\\x41", 5},
    {"a\\u12", "a\\u12", 5},
    {"a\\", "a\\", 2},
    {"\xE2\x82\xAC\\n", "\xE2\x82\xAC\n", 4},
};

static void strings_are_decoded(void **state) {
    (void)state;
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        perftrace__json_slice_t s = string(cases[i].text);
        char out[64];
        size_t n = perftrace__json_decode(&s, out);
        assert_int_equal(n, cases[i].len);
        assert_memory_equal(out, cases[i].decoded, n);
    }
}

static void strings_are_decoded_in_their_own_memory(void **state) {
    (void)state;
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        size_t len = strlen(cases[i].text);
        char *own = malloc(len + 1);
        assert_non_null(own);
        memcpy(own, cases[i].text, len + 1);
        perftrace__json_slice_t s = string(own);
        size_t n = perftrace__json_decode(&s, own);
        assert_int_equal(n, cases[i].len);
        assert_memory_equal(own, cases[i].decoded, n);
        free(own);
    }
}

static void comparing_decodes(void **state) {
    (void)state;
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        perftrace__json_slice_t s = string(cases[i].text);
        char other[64];
        size_t len = cases[i].len;
        memcpy(other, cases[i].decoded, len);
        other[len] = '!';
        assert_true(perftrace__json_equal(&s, other, len));
        assert_false(perftrace__json_equal(&s, other, len + 1));
        if (len > 0) {
            assert_false(perftrace__json_equal(&s, other, len - 1));
            other[len - 1] = (char)(other[len - 1] + 1);
            assert_false(perftrace__json_equal(&s, other, len));
        }
    }
    perftrace__json_slice_t s = string("\\u0072ank2");
    assert_true(perftrace__json_is(&s, "rank2"));
    s.type = PERFTRACE__JSON_NUMBER;
    assert_false(perftrace__json_is(&s, "rank2"));
    s.escaped = false;
    assert_false(perftrace__json_is(&s, "\\u0072ank2"));
}

static void a_path_leads_to_a_value(void **state) {
    (void)state;
    perftrace__json_slice_t doc = whole("{\"a\": {\"\\u0062\": [10, {\"c\": \"deep\"}], \"\": 7},"
                                        " \"a\": 2, \"0\": 3}");
    perftrace__json_slice_t v;
    assert_true(perftrace__json_find(&doc, "a.b.1.c", &v));
    assert_true(perftrace__json_is(&v, "deep"));
    assert_true(perftrace__json_find(&doc, "a.b.0", &v));
    assert_memory_equal(v.p, "10", 2);
    assert_true(perftrace__json_find(&doc, "0", &v));
    assert_memory_equal(v.p, "3", 1);
    assert_true(perftrace__json_find(&doc, "a..", &v));
    assert_memory_equal(v.p, "7", 1);
    assert_true(perftrace__json_find(&doc, "", &v));
    assert_ptr_equal(v.p, doc.p);
    static const char *const absent[] = {"b", "a.b.2", "a.b.-1", "a.b.x", "a.b.0.c", "a.b.1e0.d"};
    for (size_t i = 0; i < PT_ARRAY_LEN(absent); i++) {
        assert_false(perftrace__json_find(&doc, absent[i], &v));
    }
}

static void equal_keys_are_found_however_they_are_written(void **state) {
    (void)state;
    static const struct {
        const char *text;
        const char *key; /* NULL: none */
    } objects[] = {
        {"{}", NULL},
        {"{\"a\":1}", NULL},
        {"{\"a\":1,\"b\":2,\"ab\":3,\"\":4}", NULL},
        {"{\"a\":1,\"b\":{\"a\":2},\"c\":[{\"a\":3,\"a\":4}]}", NULL},
        {"{\"a\":1,\"b\":2,\"a\":3}", "a"},
        {"{\"\":1,\"\":2}", ""},
        {"{\"rank\":1,\"\\u0072ank\":2}", "\\u0072ank"},
        {"{\"\\u0072ank\":1,\"rank\":2}", "rank"},
        {"{\"r\\u0061nk\":1,\"x\":0,\"\\u0072ank\":2}", "\\u0072ank"},
        {"{\"External id\":1,\"External in\":2,\"External id \":3}", NULL},
        {"{\"External id\":1,\"q\":2,\"External id\":3}", "External id"},
    };
    for (size_t i = 0; i < PT_ARRAY_LEN(objects); i++) {
        perftrace__json_slice_t object = whole(objects[i].text);
        perftrace__json_slice_t key;
        bool found = perftrace__json_duplicate_key(&object, &key);
        assert_int_equal(found, objects[i].key != NULL);
        if (found && objects[i].key) {
            assert_int_equal(key.len, strlen(objects[i].key));
            assert_memory_equal(key.p, objects[i].key, key.len);
        }
    }
    perftrace__json_slice_t array = whole("[1,1]");
    assert_false(perftrace__json_duplicate_key(&array, NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_are_decoded),
        cmocka_unit_test(strings_are_decoded_in_their_own_memory),
        cmocka_unit_test(comparing_decodes),
        cmocka_unit_test(a_path_leads_to_a_value),
        cmocka_unit_test(equal_keys_are_found_however_they_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
