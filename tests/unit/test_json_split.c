/* test_json_split.c: ends of values, over every cut. SPDX-License-Identifier: MIT */
#include "json_random.h"
#include "json_scan.h"
#include "json_split.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

typedef size_t (*split_fn)(perftrace__json_split_t *, const char *, size_t, bool *);

static const split_fn paths[] = {perftrace__json_split, perftrace__json_split_portable};

/* Bytes of the value at text when it is fed in pieces that end at cut and then every step bytes,
 * each in memory of its own size; SIZE_MAX when it does not end. */
static size_t split_in_pieces(split_fn split, const char *text, size_t len, size_t cut,
                              size_t step) {
    perftrace__json_split_t s = PERFTRACE__JSON_SPLIT_INIT;
    size_t pos = 0;
    size_t piece = cut;
    while (pos < len) {
        size_t n = PT_MIN(piece, len - pos);
        char *copy = malloc(n ? n : 1);
        bool done;
        assert_non_null(copy);
        memcpy(copy, text + pos, n);
        size_t used = split(&s, copy, n, &done);
        free(copy);
        assert_true(used <= n);
        pos += used;
        if (done) {
            return pos;
        }
        assert_int_equal(used, n);
        piece = step;
    }
    return SIZE_MAX;
}

static void every_kind_of_value_ends_where_it_ends(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t end; /* SIZE_MAX: does not end */
    } cases[] = {
        {"{}", 2},
        {"[]x", 2},
        {"{\"a\": [1, {\"b\": \"}\"}]}, {", 22},
        {"{\"a\\\"}\": 1}]", 11},
        {"{\"a\\\\\": 1}}", 10},
        {"{\"a\\\\\\\"}\": 1}", 13},
        {"[NaN, \"\x01\xFF\"] ", 11},
        {"\"abc\\\"d\", 1", 8},
        {"\"\" ", 2},
        {"123,", 3},
        {"-1.5e3]", 6},
        {"true}", 4},
        {"nan \n", 3},
        {"12", SIZE_MAX},
        {"{\"a\": 1", SIZE_MAX},
        {"\"abc\\\"", SIZE_MAX},
        {"[\"]", SIZE_MAX},
        {"[\"\\", SIZE_MAX},
        {",", 0},
        {"]", 0},
    };
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        size_t len = strlen(cases[i].text);
        for (size_t p = 0; p < PT_ARRAY_LEN(paths); p++) {
            for (size_t cut = 1; cut <= len; cut++) {
                size_t end = split_in_pieces(paths[p], cases[i].text, len, cut, len);
                if (end != cases[i].end) {
                    fail_msg("%s cut at %zu: %zu", cases[i].text, cut, end);
                }
            }
            assert_true(split_in_pieces(paths[p], cases[i].text, len, 1, 1) == cases[i].end);
        }
    }
}

static void nothing_to_read_changes_nothing(void **state) {
    (void)state;
    perftrace__json_split_t s = PERFTRACE__JSON_SPLIT_INIT;
    bool done = true;
    assert_int_equal(perftrace__json_split(&s, "", 0, &done), 0);
    assert_false(done);
    assert_false(s.started);
}

/* Random containers, cut at each place, end where the strict cursor says. */
static void random_values_end_the_same_at_every_cut(void **state) {
    (void)state;
    json_random_t r = {20240517, 0, false};
    perftrace__strbuf_t b = PERFTRACE__STRBUF_INIT;
    for (int round = 0; round < 300; round++) {
        perftrace__strbuf_clear(&b);
        json_random_value(&r, &b, true);
        size_t end = b.len;
        perftrace__strbuf_puts(&b, ", {\"next\": \"}]\\\"");
        perftrace__json_cursor_t c;
        perftrace__json_slice_t v;
        perftrace__json_cursor_init(&c, b.data, b.len);
        assert_int_equal(perftrace__json_next_value(&c, &v), 1);
        assert_int_equal(v.len, end);
        for (size_t p = 0; p < PT_ARRAY_LEN(paths); p++) {
            for (size_t cut = 1; cut <= end; cut += end > 400 ? 7 : 1) {
                assert_true(split_in_pieces(paths[p], b.data, b.len, cut, b.len) == end);
            }
            assert_true(split_in_pieces(paths[p], b.data, b.len, 64, 64) == end);
            assert_true(split_in_pieces(paths[p], b.data, b.len, 1, 3) == end);
        }
    }
    perftrace__strbuf_free(&b);
}

/* Damaged text too: both paths must agree, whatever it is. */
static void the_paths_agree_on_any_bytes(void **state) {
    (void)state;
    json_random_t r = {99, 0, false};
    perftrace__strbuf_t b = PERFTRACE__STRBUF_INIT;
    for (int round = 0; round < 3000; round++) {
        perftrace__strbuf_clear(&b);
        json_random_value(&r, &b, true);
        json_random_damage(&r, &b);
        if (b.len == 0) {
            continue;
        }
        size_t want = split_in_pieces(perftrace__json_split_portable, b.data, b.len, b.len, 1);
        size_t cut = 1 + json_random_below(&r, (unsigned)b.len);
        assert_true(split_in_pieces(perftrace__json_split, b.data, b.len, b.len, 1) == want);
        assert_true(split_in_pieces(perftrace__json_split, b.data, b.len, cut, 64) == want);
    }
    perftrace__strbuf_free(&b);
}

static void a_state_is_fresh_after_a_value(void **state) {
    (void)state;
    static const char text[] = "{\"a\":\"\\\\\"}[2],\"x\",17 ,{}";
    static const size_t lens[] = {10, 3, 3, 2, 2};
    perftrace__json_split_t s = PERFTRACE__JSON_SPLIT_INIT;
    size_t pos = 0;
    for (size_t i = 0; i < PT_ARRAY_LEN(lens); i++) {
        bool done;
        pos += perftrace__json_skip_separators(text + pos, sizeof(text) - 1 - pos);
        size_t used = perftrace__json_split(&s, text + pos, sizeof(text) - 1 - pos, &done);
        assert_true(done);
        assert_int_equal(used, lens[i]);
        pos += used;
    }
    assert_int_equal(pos, sizeof(text) - 1);
}

static void lines_end_before_their_newline(void **state) {
    (void)state;
    bool found;
    assert_int_equal(perftrace__json_line_end("ab\ncd", 5, &found), 2);
    assert_true(found);
    assert_int_equal(perftrace__json_line_end("\n", 1, NULL), 0);
    assert_int_equal(perftrace__json_line_end("ab\r", 3, &found), 3);
    assert_false(found);
    assert_int_equal(perftrace__json_line_end(NULL, 0, &found), 0);
    assert_false(found);
}

static void the_path_in_use_has_a_name(void **state) {
    (void)state;
    static const char *const names[] = {"avx2", "sse2", "neon", "portable"};
    const char *name = perftrace__json_split_path();
    unsigned known = 0;
    for (size_t i = 0; i < PT_ARRAY_LEN(names); i++) {
        known += strcmp(names[i], name) == 0;
    }
    print_message("vector path: %s\n", name);
    assert_int_equal(known, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_value_ends_where_it_ends),
        cmocka_unit_test(nothing_to_read_changes_nothing),
        cmocka_unit_test(random_values_end_the_same_at_every_cut),
        cmocka_unit_test(the_paths_agree_on_any_bytes),
        cmocka_unit_test(a_state_is_fresh_after_a_value),
        cmocka_unit_test(lines_end_before_their_newline),
        cmocka_unit_test(the_path_in_use_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
