/* test_json_doc.c: small documents and their getters. SPDX-License-Identifier: MIT */
#include "json_doc.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static perftrace__json_doc_t *load(const char *text) {
    perftrace__json_doc_error_t error;
    perftrace__json_doc_t *doc = perftrace__json_doc_load(text, strlen(text), 0, &error);
    if (!doc) {
        fail_msg("%s: %s at %zu:%zu", text, perftrace__json_error_text(error.code), error.line,
                 error.column);
    }
    return doc;
}

static void values_are_read_by_path(void **state) {
    (void)state;
    perftrace__json_doc_t *doc =
        load("{\"perf_tracer\": {\"enabled\": true, \"save_interval\": 5, \"ratio\": 0.25,\n"
             "\"ranks\": [0, 8, {\"x\": \"y\"}], \"a.b\": 1, \"none\": null}, \"d\": 1, \"d\": 2}");
    const perftrace__json_node_t *root = perftrace__json_doc_root(doc);
    bool b = false;
    int64_t i = 0;
    double d = 0;
    const char *s = NULL;
    assert_true(perftrace__json_get_bool(root, "perf_tracer.enabled", &b));
    assert_true(b);
    assert_true(perftrace__json_get_i64(root, "perf_tracer.save_interval", &i));
    assert_int_equal(i, 5);
    assert_true(perftrace__json_get_double(root, "perf_tracer.ratio", &d));
    assert_true(d == 0.25);
    assert_true(perftrace__json_get_double(root, "perf_tracer.save_interval", &d));
    assert_true(d == 5);
    assert_true(perftrace__json_get_string(root, "perf_tracer.ranks.2.x", &s));
    assert_string_equal(s, "y");
    assert_true(perftrace__json_get_i64(root, "d", &i));
    assert_int_equal(i, 2);
    const perftrace__json_node_t *tracer = perftrace__json_node_at(root, "perf_tracer");
    assert_string_equal(perftrace__json_node_key(tracer), "perf_tracer");
    assert_true(perftrace__json_get_i64(perftrace__json_node_member(tracer, "a.b"), "", &i));
    assert_int_equal(i, 1);

    /* Absent, or of another type: untouched. */
    i = 99;
    assert_false(perftrace__json_get_i64(root, "perf_tracer.ratio", &i));
    assert_false(perftrace__json_get_i64(root, "perf_tracer.enabled", &i));
    assert_false(perftrace__json_get_i64(root, "perf_tracer.ranks.3", &i));
    assert_false(perftrace__json_get_i64(root, "perf_tracer.ranks.-1", &i));
    assert_false(perftrace__json_get_i64(root, "perf_tracer.ranks.99999999999", &i));
    assert_false(perftrace__json_get_i64(root, "Perf_tracer.save_interval", &i));
    assert_false(perftrace__json_get_i64(NULL, "d", &i));
    assert_int_equal(i, 99);
    assert_false(perftrace__json_get_string(root, "d", &s));
    assert_false(perftrace__json_get_double(root, "perf_tracer.ranks", &d));
    assert_false(perftrace__json_get_bool(root, "perf_tracer.none", &b));
    assert_null(perftrace__json_node_member(NULL, "d"));
    assert_null(perftrace__json_node_member(perftrace__json_node_at(root, "d"), "d"));
    assert_int_equal(perftrace__json_node_type(NULL), PERFTRACE__JSON_NONE);
    assert_int_equal(perftrace__json_node_type(perftrace__json_node_at(root, "perf_tracer.none")),
                     PERFTRACE__JSON_NULL);
    perftrace__json_doc_free(doc);
    perftrace__json_doc_free(NULL);
}

/* Wherever it is, and nothing that only looks like it. */
static void an_escaped_nul_is_known(void **state) {
    static const struct {
        const char *text;
        bool has_nul;
    } cases[] = {
        {"{\"a\": \"b\"}", false},
        {"{\"a\": \"b\\u0000c\"}", true},
        {"{\"a\\u0000\": 1}", true},
        {"{\"a\": [1, {\"b\": {\"c\\u0000\": \"d\"}}]}", true},
        {"{\"a\": \"\\\\\\u0000\"}", true}, /* behind an escaped backslash */
        {"{\"a\": \"\\\\u0000\"}", false},  /* a backslash, u and zeros */
        {"\xEF\xBB\xBF{\"a\": \"\\u0000\"}", true},
        {"{\"a\": \"\\u0001\\u1000\"}", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        perftrace__json_doc_t *doc = load(cases[i].text);
        if (perftrace__json_doc_has_nul(doc) != cases[i].has_nul) {
            fail_msg("%s", cases[i].text);
        }
        perftrace__json_doc_free(doc);
    }
}

static void elements_are_walked_in_order(void **state) {
    (void)state;
    static const perftrace__json_type_t types[] = {PERFTRACE__JSON_NUMBER, PERFTRACE__JSON_STRING,
                                                   PERFTRACE__JSON_TRUE,   PERFTRACE__JSON_FALSE,
                                                   PERFTRACE__JSON_NULL,   PERFTRACE__JSON_ARRAY,
                                                   PERFTRACE__JSON_OBJECT};
    perftrace__json_doc_t *doc = load("[1, \"two\", true, false, null, [], {}]");
    const perftrace__json_node_t *root = perftrace__json_doc_root(doc);
    size_t i = 0;
    assert_int_equal(perftrace__json_node_count(root), PT_ARRAY_LEN(types));
    for (const perftrace__json_node_t *n = perftrace__json_node_first(root); n;
         n = perftrace__json_node_next(n)) {
        assert_int_equal(perftrace__json_node_type(n), types[i++]);
        assert_null(perftrace__json_node_key(n));
    }
    assert_int_equal(i, PT_ARRAY_LEN(types));
    assert_int_equal(perftrace__json_node_count(perftrace__json_node_at(root, "5")), 0);
    assert_int_equal(perftrace__json_node_count(perftrace__json_node_at(root, "0")), 0);
    assert_int_equal(perftrace__json_node_count(NULL), 0);
    perftrace__json_doc_free(doc);
}

static void integers_keep_all_their_bits(void **state) {
    (void)state;
    perftrace__json_doc_t *doc =
        load("{\"a\": \"-12\\\"34\", \"b\": [1, 9007199254740993, [], {\"c\": {}}], \"d\": -5,"
             "\"e\": 9223372036854775807, \"f\": -9223372036854775808, \"g\": 18446744073709551615,"
             "\"h\": 1e300, \"i\": 1e400, \"j\": 9.007199254740993e15}");
    const perftrace__json_node_t *root = perftrace__json_doc_root(doc);
    int64_t v = 0;
    double d = 0;
    assert_true(perftrace__json_get_i64(root, "b.1", &v));
    assert_true(v == INT64_C(9007199254740993));
    assert_true(perftrace__json_get_i64(root, "d", &v));
    assert_int_equal(v, -5);
    assert_true(perftrace__json_get_i64(root, "e", &v));
    assert_true(v == INT64_MAX);
    assert_true(perftrace__json_get_i64(root, "f", &v));
    assert_true(v == INT64_MIN);
    assert_false(perftrace__json_get_i64(root, "g", &v));
    assert_false(perftrace__json_get_i64(root, "h", &v));
    assert_false(perftrace__json_get_i64(root, "i", &v));
    assert_true(perftrace__json_get_double(root, "i", &d));
    assert_true(isinf(d));
    assert_true(perftrace__json_get_i64(root, "j", &v));
    assert_true(v == INT64_C(9007199254740993));
    perftrace__json_doc_free(doc);
}

static void faults_are_told_by_line_and_column(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int code;
        size_t offset, line, column;
    } cases[] = {
        {"", PERFTRACE__JSON_E_EMPTY, 0, 1, 1},
        {"{\n  \"a\": 1,\n  \"b\": tru }", PERFTRACE__JSON_E_BAD_LITERAL, 19, 3, 8},
        {"{\"a\": 1,}", PERFTRACE__JSON_E_TRAILING_COMMA, 7, 1, 8},
        {"\xEF\xBB\xBF{\"a\": }", PERFTRACE__JSON_E_UNEXPECTED_BYTE, 9, 1, 10},
        {"[1]\n\n]", PERFTRACE__JSON_E_TRAILING_BYTES, 5, 3, 1},
        {"[1,\n\"-0.1\", 1234567890123456789012345678901234567890123456789012345678901234]",
         PERFTRACE__JSON_E_LONG_NUMBER, 12, 2, 9},
    };
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        perftrace__json_doc_error_t e;
        assert_null(perftrace__json_doc_load(cases[i].text, strlen(cases[i].text), 0, &e));
        assert_int_equal(e.code, cases[i].code);
        assert_int_equal(e.offset, cases[i].offset);
        assert_int_equal(e.line, cases[i].line);
        assert_int_equal(e.column, cases[i].column);
    }
    perftrace__json_doc_error_t e;
    assert_null(perftrace__json_doc_load("[1, 2]", 6, 5, &e));
    assert_int_equal(e.code, PERFTRACE__JSON_E_TOO_LARGE);
    perftrace__json_doc_free(perftrace__json_doc_load("[1, 2]", 6, 6, &e));
    assert_int_equal(e.code, PERFTRACE__JSON_E_OK);
}

static void a_byte_order_mark_is_skipped(void **state) {
    (void)state;
    perftrace__json_doc_t *doc = load("\xEF\xBB\xBF{\"a\": 1}");
    int64_t v = 0;
    assert_true(perftrace__json_get_i64(perftrace__json_doc_root(doc), "a", &v));
    assert_int_equal(v, 1);
    perftrace__json_doc_free(doc);
}

static void nesting_ends_at_the_same_limit_as_everywhere(void **state) {
    (void)state;
    char text[2 * PERFTRACE__JSON_MAX_DEPTH + 2];
    size_t limit = PERFTRACE__JSON_MAX_DEPTH;
    perftrace__json_doc_error_t e;
    memset(text, '[', limit);
    memset(text + limit, ']', limit);
    perftrace__json_doc_t *doc = perftrace__json_doc_load(text, 2 * limit, 0, &e);
    assert_non_null(doc);
    perftrace__json_doc_free(doc);
    memset(text, '[', limit + 1);
    memset(text + limit + 1, ']', limit + 1);
    assert_null(perftrace__json_doc_load(text, 2 * limit + 2, 0, &e));
    assert_int_equal(e.code, PERFTRACE__JSON_E_TOO_DEEP);
}

static void *load_often(void *arg) {
    size_t *wrong = arg;
    for (int i = 0; i < 2000; i++) {
        static const char good[] = "{\"a\": [1, 2, 3.5]}";
        static const char bad[] = "{\"a\":\n [1, 2, }";
        perftrace__json_doc_error_t e;
        double v = 0;
        perftrace__json_doc_t *doc = perftrace__json_doc_load(good, sizeof(good) - 1, 0, &e);
        *wrong += !doc || !perftrace__json_get_double(perftrace__json_doc_root(doc), "a.2", &v) ||
                  v != 3.5;
        perftrace__json_doc_free(doc);
        *wrong += perftrace__json_doc_load(bad, sizeof(bad) - 1, 0, &e) != NULL || e.line != 2;
    }
    return NULL;
}

static void threads_load_without_disturbing_each_other(void **state) {
    (void)state;
    pthread_t threads[4];
    size_t wrong[4] = {0};
    for (size_t i = 0; i < PT_ARRAY_LEN(threads); i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, load_often, &wrong[i]), 0);
    }
    for (size_t i = 0; i < PT_ARRAY_LEN(threads); i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(wrong[i], 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_read_by_path),
        cmocka_unit_test(an_escaped_nul_is_known),
        cmocka_unit_test(elements_are_walked_in_order),
        cmocka_unit_test(integers_keep_all_their_bits),
        cmocka_unit_test(faults_are_told_by_line_and_column),
        cmocka_unit_test(a_byte_order_mark_is_skipped),
        cmocka_unit_test(nesting_ends_at_the_same_limit_as_everywhere),
        cmocka_unit_test(threads_load_without_disturbing_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
