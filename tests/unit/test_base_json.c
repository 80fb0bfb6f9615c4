/* test_base_json.c: any bytes as a JSON string; the buffer they go to. SPDX-License-Identifier: MIT
 */
#include "base_random.h"
#include "json_scan.h"
#include "json_writer.h"
#include "utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void any_bytes_become_a_strict_string_within_the_stated_room(void **state) {
    (void)state;
    uint64_t seed = 6;
    for (int round = 0; round < 50000; round++) {
        size_t len = base_random_below(&seed, 40);
        unsigned char *in = malloc(len ? len : 1);
        char *out = malloc(PERFTRACE__JSON_STRING_ROOM(len));
        assert_true(in && out);
        for (size_t i = 0; i < len; i++) {
            in[i] =
                (unsigned char)(base_random_below(&seed, 2) ? base_random(&seed)
                                                            : 0x20 + base_random_below(&seed, 96));
        }
        size_t n = (size_t)(perftrace__put_json_string(out, in, len) - out);
        assert_true(n >= 2 && n <= PERFTRACE__JSON_STRING_ROOM(len));
        perftrace__json_error_t error;
        if (!perftrace__json_check(out, n, &error, NULL)) {
            fail_msg("%.*s", (int)n, out);
        }
        if (perftrace__utf8_valid(in, len)) {
            /* Nothing is lost: it reads back byte for byte. */
            perftrace__json_slice_t s = {0};
            perftrace__json_cursor_t c;
            char *array = malloc(n + 2);
            array[0] = '[';
            memcpy(array + 1, out, n);
            array[n + 1] = ']';
            perftrace__json_cursor_init(&c, array, n + 2);
            assert_true(perftrace__json_enter_array(&c) &&
                        perftrace__json_next_element(&c, &s) == 1);
            char *back = malloc(s.len + 1);
            assert_int_equal(perftrace__json_decode(&s, back), len);
            assert_memory_equal(back, in, len);
            free(back);
            free(array);
        }
        free(in);
        free(out);
    }
}

static void bad_bytes_become_replacement_characters(void **state) {
    (void)state;
    static const struct {
        const char *in;
        size_t len;
        const char *out;
    } cases[] = {
        {"a\"b\\c/d", 7, "\"a\\\"b\\\\c/d\""},
        {"\n\r\t\b\0\x1F\x7F", 7, "\"\\n\\r\\t\\u0008\\u0000\\u001f\x7F\""},
        {"x\xFFy", 3, "\"x\xEF\xBF\xBDy\""},
        {"\xE2\x82", 2, "\"\xEF\xBF\xBD\""},
        {"\xED\xA0\x80", 3, "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""},
        {"\xE2\x82\xAC", 3, "\"\xE2\x82\xAC\""},
        {"", 0, "\"\""},
    };
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        perftrace__strbuf_t b = PERFTRACE__STRBUF_INIT;
        perftrace__strbuf_json(&b, cases[i].in, cases[i].len);
        assert_string_equal(perftrace__strbuf_cstr(&b), cases[i].out);
        perftrace__strbuf_free(&b);
    }
    perftrace__strbuf_t b = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_json_cstr(&b, NULL);
    assert_string_equal(perftrace__strbuf_cstr(&b), "null");
    perftrace__strbuf_free(&b);
}

static void a_buffer_is_the_sum_of_what_was_appended(void **state) {
    (void)state;
    uint64_t seed = 7;
    static char model[200000];
    size_t len = 0;
    perftrace__strbuf_t b = PERFTRACE__STRBUF_INIT;
    assert_string_equal(perftrace__strbuf_cstr(&b), "");
    while (len < sizeof(model) - 400) {
        char piece[300];
        size_t n = base_random_below(&seed, sizeof(piece) - 1);
        memset(piece, 'a' + (int)base_random_below(&seed, 26), n);
        piece[n] = '\0';
        switch (base_random_below(&seed, 3)) {
        case 0:
            perftrace__strbuf_append(&b, piece, n);
            break;
        case 1:
            perftrace__strbuf_puts(&b, piece);
            break;
        default:
            perftrace__strbuf_printf(&b, "%s", piece);
        }
        memcpy(model + len, piece, n);
        len += n;
        assert_int_equal(b.len, len);
        assert_true(b.len == 0 || b.data[b.len] == '\0');
    }
    assert_memory_equal(b.data, model, len);
    perftrace__strbuf_clear(&b);
    assert_int_equal(b.len, 0);
    assert_string_equal(perftrace__strbuf_cstr(&b), "");
    perftrace__strbuf_free(&b);
    perftrace__strbuf_free(NULL);
}

static void a_buffer_that_cannot_grow_says_so_and_keeps_what_it_has(void **state) {
    (void)state;
    perftrace__strbuf_t b = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_puts(&b, "kept");
    assert_false(perftrace__strbuf_reserve(&b, SIZE_MAX - 2));
    assert_true(b.failed);
    assert_string_equal(perftrace__strbuf_cstr(&b), "kept");
    perftrace__strbuf_clear(&b);
    assert_false(b.failed);
    perftrace__strbuf_free(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_bytes_become_a_strict_string_within_the_stated_room),
        cmocka_unit_test(bad_bytes_become_replacement_characters),
        cmocka_unit_test(a_buffer_is_the_sum_of_what_was_appended),
        cmocka_unit_test(a_buffer_that_cannot_grow_says_so_and_keeps_what_it_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
