/* test_profile_text.c: formats by their first bytes, UTF-16, JSON that is cut off.
 * SPDX-License-Identifier: MIT */
#include "collapsed_read.h"
#include "json_close.h"
#include "json_scan.h"
#include "profile_sniff.h"
#include "utf16.h"
#include "utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void formats(void **state) {
    static const struct {
        const char *text;
        pt_profile_format_t format;
    } cases[] = {
        {"", PT_PROFILE_EMPTY},
        {"\n  \r\n# comment ; 3\n", PT_PROFILE_EMPTY},
        {"{}", PT_PROFILE_JSON},
        {" \n{ \"a\": 1}", PT_PROFILE_JSON},
        {"[{\"ph\": \"X\"}]", PT_PROFILE_JSON},
        {"{main};foo 3\n", PT_PROFILE_COLLAPSED},
        {"[unknown];foo 3\n", PT_PROFILE_COLLAPSED},
        {"this\nis no format\n", PT_PROFILE_UNKNOWN},
        {"bad line\nmain;f 3", PT_PROFILE_COLLAPSED},
        {"main 3\n", PT_PROFILE_COLLAPSED},
        {"perf 1/2 [000] 3.4: 1 cycles:\n\tff f (x)\n", PT_PROFILE_PERF_SCRIPT},
        {"    a b c   1 3.4: cycles:\n", PT_PROFILE_PERF_SCRIPT},
        {"# perf\n\nswapper 0 [001] 3.4: 1 cycles:u: \n", PT_PROFILE_PERF_SCRIPT},
        {"1.5: cycles:\n", PT_PROFILE_UNKNOWN}, /* no name before the time */
    };
    (void)state;
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        bool columns;
        assert_int_equal(pt_profile_sniff(cases[i].text, strlen(cases[i].text), true, &columns),
                         cases[i].format);
        assert_false(columns);
    }
}

static void two_columns(void **state) {
    static const struct {
        const char *text;
        bool columns;
    } cases[] = {{"a;b 1 2\nc 3 4\n", true},
                 {"a;b 1 2\n", false},
                 {"a 1 2\nb 3\n", false},
                 {"a 1 x\nb 2 x\n", false},
                 {"a 1 2\n# n\n\nb 0 0.5", true}};
    (void)state;
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        bool columns;
        (void)pt_profile_sniff(cases[i].text, strlen(cases[i].text), true, &columns);
        assert_int_equal(columns, cases[i].columns);
    }
}

static void encodings(void **state) {
    size_t mark;
    (void)state;
    assert_int_equal(pt_text_encoding("\xEF\xBB\xBF{", 4, &mark), PT_TEXT_UTF8);
    assert_int_equal(mark, 3);
    assert_int_equal(pt_text_encoding("\xFF\xFEm\0", 4, &mark), PT_TEXT_UTF16_LE);
    assert_int_equal(mark, 2);
    assert_int_equal(pt_text_encoding("\xFE\xFF\0m", 4, &mark), PT_TEXT_UTF16_BE);
    assert_int_equal(mark, 2);
    assert_int_equal(pt_text_encoding("m\0a\0", 4, &mark), PT_TEXT_UTF16_LE);
    assert_int_equal(mark, 0);
    assert_int_equal(pt_text_encoding("\0m\0a", 4, &mark), PT_TEXT_UTF16_BE);
    assert_int_equal(pt_text_encoding("", 0, &mark), PT_TEXT_UTF8);
}

/* However it is cut, and whatever is in it. */
static void utf16(void **state) {
    static const uint8_t text[] = {'a',  0,    0xE4, 0, 0xAC, 0x20, 0x3D, 0xD8, 0x00, 0xDE,
                                   0x00, 0xD8, 'b',  0, 0x00, 0xDC, 'c',  0,    0x00, 0xD8};
    static const char expected[] = "a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\xEF\xBF\xBD"
                                   "b\xEF\xBF\xBD"
                                   "c\xEF\xBF\xBD";
    (void)state;
    for (size_t cut = 0; cut <= sizeof text; cut++) {
        pt_utf16_t u = {.big_endian = false};
        char out[PT_UTF16_ROOM(sizeof text) + 3];
        size_t n = pt_utf16_feed(&u, text, cut, out);
        n += pt_utf16_feed(&u, text + cut, sizeof text - cut, out + n);
        n += pt_utf16_end(&u, out + n);
        assert_int_equal(n, sizeof expected - 1);
        assert_memory_equal(out, expected, n);
        assert_true(perftrace__utf8_valid(out, n));
        assert_int_equal(u.mended, 3);
    }
}

static void weights(void **state) {
    static const struct {
        const char *text;
        double weight; /* below 0: none */
    } cases[] = {{"0", 0},
                 {"17", 17},
                 {"1.5", 1.5},
                 {"2.", 2},
                 {"007", 7},
                 {"00.5", 0.5},
                 {"1e3", 1000},
                 {"1E-2", .01},
                 {"", -1},
                 {".5", -1},
                 {"-1", -1},
                 {"+1", -1},
                 {"1e", -1},
                 {"1.2.3", -1},
                 {"0x1", -1},
                 {"nan", -1},
                 {"1e999", -1},
                 {"1 ", -1},
                 {"123456789012345678901", 123456789012345678901.0}};
    (void)state;
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        double weight = -1;
        bool good = pt_collapsed_weight(cases[i].text, strlen(cases[i].text), &weight);
        assert_int_equal(good, cases[i].weight >= 0);
        assert_true(!good || weight == cases[i].weight);
    }
}

static void offsets(void **state) {
    static const char *const cases[][2] = {{"f+0x1f", "f"},        {"f", "f"},   {"f+0x", "f+0x"},
                                           {"f+0x1F", "f+0x1F"},   {"+0x1", ""}, {"abc", "abc"},
                                           {"f+0x1+0x2", "f+0x1"}, {"", ""}};
    (void)state;
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        assert_int_equal(pt_collapsed_clean(cases[i][0], strlen(cases[i][0])), strlen(cases[i][1]));
    }
}

/* Every beginning of a document that has a comma is closed to strict JSON. */
static void cut_json(void **state) {
    static const char text[] =
        "{\"a\": [1, {\"b,\\\"\": \"x,[{\", \"c\": [[2,3],[]]}, 4], \"d\": {\"e\": null}}";
    (void)state;
    unsigned closed = 0;
    for (size_t n = 0; n < sizeof text - 1; n++) {
        perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
        if (pt_json_close(text, n, &out)) {
            assert_true(perftrace__json_check(out.data, out.len, NULL, NULL));
            closed++;
        }
        perftrace__strbuf_free(&out);
    }
    assert_int_equal(closed, sizeof text - 1 - sizeof("{\"a\": [1,") + 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats),  cmocka_unit_test(two_columns), cmocka_unit_test(encodings),
        cmocka_unit_test(utf16),    cmocka_unit_test(weights),     cmocka_unit_test(offsets),
        cmocka_unit_test(cut_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
