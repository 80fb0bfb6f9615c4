/* test_common_text.c: orders, numbers, lists and paragraphs. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "human.h"
#include "natural.h"
#include "progress.h"
#include "string_list.h"
#include "text_wrap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void natural_order_is_by_value_of_numbers(void **state) {
    (void)state;
    static const char *const sorted[] = {"",
                                         "a",
                                         "a/b",
                                         "a/c1",
                                         "a-b",
                                         "r",
                                         "r0",
                                         "r00",
                                         "r1",
                                         "r1.jsonl",
                                         "r01.jsonl",
                                         "r1.1.jsonl",
                                         "r1.10.jsonl",
                                         "r2",
                                         "r10",
                                         "r010",
                                         "r99999999999999999999998",
                                         "r99999999999999999999999",
                                         "ra",
                                         "rb"};
    for (size_t i = 0; i < PT_ARRAY_LEN(sorted); i++) {
        assert_int_equal(pt_natural_compare(sorted[i], sorted[i]), 0);
        for (size_t j = i + 1; j < PT_ARRAY_LEN(sorted); j++) {
            if (strstr(sorted[i], "jsonl") && strstr(sorted[j], "jsonl")) {
                continue; /* checked below: '.' and digits part them elsewhere */
            }
            if (pt_natural_compare(sorted[i], sorted[j]) >= 0 ||
                pt_natural_compare(sorted[j], sorted[i]) <= 0) {
                fail_msg("%s should stand before %s", sorted[i], sorted[j]);
            }
        }
    }
    assert_true(pt_natural_compare("traces-r2.jsonl", "traces-r10.jsonl") < 0);
    assert_true(pt_natural_compare("traces-r1.2.jsonl", "traces-r1.10.jsonl") < 0);
    assert_true(pt_natural_compare("r1.jsonl", "r01.jsonl") < 0);
}

static void natural_order_is_total(void **state) {
    (void)state;
    static const char alphabet[] = "019a/.-";
    srand(7);
    char words[3][8];
    for (int round = 0; round < 20000; round++) {
        for (int w = 0; w < 3; w++) {
            int len = rand() % 7;
            for (int i = 0; i < len; i++) {
                words[w][i] = alphabet[(size_t)rand() % (sizeof(alphabet) - 1)];
            }
            words[w][len] = '\0';
        }
        int ab = pt_natural_compare(words[0], words[1]);
        int ba = pt_natural_compare(words[1], words[0]);
        int bc = pt_natural_compare(words[1], words[2]);
        int ac = pt_natural_compare(words[0], words[2]);
        assert_int_equal(ab == 0, strcmp(words[0], words[1]) == 0);
        assert_true((ab < 0) == (ba > 0));
        if (ab < 0 && bc < 0 && ac >= 0) {
            fail_msg("%s < %s < %s, but not the ends", words[0], words[1], words[2]);
        }
    }
}

static void numbers_are_printed_for_people(void **state) {
    (void)state;
    char out[PT_HUMAN_MAX];
    assert_string_equal(pt_human_bytes(out, 0), "0 B");
    assert_string_equal(pt_human_bytes(out, 999), "999 B");
    assert_string_equal(pt_human_bytes(out, 1234), "1.2 kB");
    assert_string_equal(pt_human_bytes(out, 34567890), "34 MB");
    assert_string_equal(pt_human_bytes(out, 999999999), "999 MB");
    assert_string_equal(pt_human_bytes(out, UINT64_C(1200000000)), "1.2 GB");
    assert_string_equal(pt_human_bytes(out, UINT64_MAX), "18 EB");
    assert_string_equal(pt_human_count(out, 12), "12");
    assert_string_equal(pt_human_count(out, 3400000), "3.4 M");
    assert_string_equal(pt_human_exact(out, 0), "0");
    assert_string_equal(pt_human_exact(out, 1234567), "1,234,567");
    assert_string_equal(pt_human_exact(out, UINT64_MAX), "18,446,744,073,709,551,615");
    char counted[PT_HUMAN_COUNTED_MAX];
    assert_string_equal(pt_human_counted(counted, 0, "event", "events"), "0 events");
    assert_string_equal(pt_human_counted(counted, 1, "event", "events"), "1 event");
    assert_string_equal(pt_human_counted(counted, 2345, "event", "events"), "2,345 events");
    assert_string_equal(pt_human_duration(out, 12), "12 ns");
    assert_string_equal(pt_human_duration(out, 3450), "3.4 us");
    assert_string_equal(pt_human_duration(out, 56000000), "56 ms");
    assert_string_equal(pt_human_duration(out, UINT64_C(7800000000)), "7.8 s");
    assert_string_equal(pt_human_duration(out, UINT64_C(185000000000)), "3 min 5 s");
    assert_string_equal(pt_human_duration(out, UINT64_C(7800000000000)), "2 h 10 min");
}

static void whole_numbers_are_read_whole(void **state) {
    (void)state;
    uint64_t u = 7;
    int64_t i = 7;
    assert_true(pt_parse_uint64("18446744073709551615", &u) && u == UINT64_MAX);
    assert_true(pt_parse_uint64("0x1F", &u) && u == 31);
    u = 7;
    static const char *const bad[] = {"",   " 1", "1 ",    "-1",  "+1",
                                      "1k", "0x", "0x0x1", "1.0", "18446744073709551616"};
    for (size_t k = 0; k < PT_ARRAY_LEN(bad); k++) {
        assert_false(pt_parse_uint64(bad[k], &u));
        assert_int_equal(u, 7);
    }
    assert_true(pt_parse_int64("-9223372036854775808", &i) && i == INT64_MIN);
    assert_true(pt_parse_int64("+5", &i) && i == 5);
    assert_false(pt_parse_int64("9223372036854775808", &i));
    assert_false(pt_parse_int64("--5", &i));
}

static void fractions_sizes_and_times_are_read(void **state) {
    (void)state;
    double d = 0;
    uint64_t n = 7;
    assert_true(pt_parse_double("-2.5e3", &d) && d == -2500.0);
    assert_false(pt_parse_double("nan", &d) || pt_parse_double("inf", &d) ||
                 pt_parse_double("0x10", &d) || pt_parse_double("1e999", &d) ||
                 pt_parse_double(" 1", &d) || pt_parse_double("1,5", &d));
    static const struct {
        const char *text;
        uint64_t value;
    } sizes[] = {{"0", 0},
                 {"4096", 4096},
                 {"64k", 64000},
                 {"64K", 64000},
                 {"64Ki", 65536},
                 {"64KiB", 65536},
                 {"1.5M", 1500000},
                 {"2G", 2000000000},
                 {"2Gi", UINT64_C(2147483648)},
                 {"100B", 100},
                 {"1T", UINT64_C(1000000000000)},
                 {"0.5Mi", 524288},
                 {"18E", UINT64_C(18000000000000000000)}};
    for (size_t k = 0; k < PT_ARRAY_LEN(sizes); k++) {
        assert_true(pt_parse_size(sizes[k].text, &n));
        assert_int_equal(n, sizes[k].value);
    }
    assert_false(pt_parse_size("1q", &n) || pt_parse_size("-1", &n) || pt_parse_size("k", &n) ||
                 pt_parse_size("19E", &n) || pt_parse_size("1 k", &n) || pt_parse_size("", &n));
    static const struct {
        const char *text;
        uint64_t ns;
    } times[] = {{"0", 0},
                 {"250ns", 250},
                 {"1.5us", 1500},
                 {"20ms", 20000000},
                 {"3s", UINT64_C(3000000000)},
                 {"2m", UINT64_C(120000000000)},
                 {"2min", UINT64_C(120000000000)},
                 {"1h", UINT64_C(3600000000000)}};
    for (size_t k = 0; k < PT_ARRAY_LEN(times); k++) {
        assert_true(pt_parse_duration(times[k].text, &n));
        assert_int_equal(n, times[k].ns);
    }
    assert_false(pt_parse_duration("5", &n) || pt_parse_duration("5 s", &n) ||
                 pt_parse_duration("-1s", &n) || pt_parse_duration("99999999h", &n));
}

static void lists_are_split_at_commas(void **state) {
    (void)state;
    pt_string_list_t list = PT_STRING_LIST_INIT;
    assert_true(pt_string_list_split(&list, " a, b c ,,d,", ','));
    assert_int_equal(list.count, 3);
    assert_string_equal(list.items[1], "b c");
    assert_true(pt_string_list_has(&list, "d"));
    assert_false(pt_string_list_has(&list, ""));
    for (int i = 0; i < 100; i++) {
        assert_true(pt_string_list_add_len(&list, "xyz", 2));
    }
    assert_string_equal(list.items[102], "xy");
    pt_string_list_free(&list);
    assert_int_equal(list.count, 0);
    pt_string_list_free(NULL);
}

static void paragraphs_keep_the_width(void **state) {
    (void)state;
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    pt_text_wrap(&out, "one two three four\n\n  kept   as it is\nlast", 12, 0, 2);
    assert_string_equal(out.data, "  one two\n  three four\n\n    kept   as it is\n  last\n");
    perftrace__strbuf_clear(&out);
    perftrace__strbuf_puts(&out, "name");
    pt_text_wrap(&out, "a b", 20, 4, 8);
    assert_string_equal(out.data, "name    a b\n");
    perftrace__strbuf_clear(&out);
    pt_text_wrap(&out, "\xc3\xa4\xc3\xb6\xc3\xbc \xc3\xa4\xc3\xb6\xc3\xbc", 7, 0, 0);
    assert_string_equal(out.data, "\xc3\xa4\xc3\xb6\xc3\xbc \xc3\xa4\xc3\xb6\xc3\xbc\n");
    perftrace__strbuf_free(&out);
}

static void progress_line_fits_the_terminal(void **state) {
    (void)state;
    char out[256];
    pt_progress_format(out, sizeof(out), "converting", 430000000, 1000000000, 1000000000, 79);
    assert_string_equal(out, "converting   43% [#############                  ] 430 MB  430 MB/s  "
                             "1.0 s left");
    for (unsigned width = 0; width < 130; width++) {
        pt_progress_format(out, sizeof(out), "converting", width, 100, UINT64_MAX, width);
        assert_true(strlen(out) <= width);
    }
    pt_progress_format(out, sizeof(out), "reading", 5000000, 0, 500000000, 60);
    assert_string_equal(out, "reading  5.0 MB  10 MB/s");
    pt_progress_format(out, sizeof(out), "reading", UINT64_MAX, 1, 0, 120);
    assert_non_null(strstr(out, "100%"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(natural_order_is_by_value_of_numbers),
        cmocka_unit_test(natural_order_is_total),
        cmocka_unit_test(numbers_are_printed_for_people),
        cmocka_unit_test(whole_numbers_are_read_whole),
        cmocka_unit_test(fractions_sizes_and_times_are_read),
        cmocka_unit_test(lists_are_split_at_commas),
        cmocka_unit_test(paragraphs_keep_the_width),
        cmocka_unit_test(progress_line_fits_the_terminal),
    };
    return cmocka_run_group_tests_name("common_text", tests, NULL, NULL);
}
