/* test_json_cases.c: the shared nasty lines, read and mended. SPDX-License-Identifier: MIT
 *
 * What is expected is the strict column of the matrix that came with the lines: what node or
 * Python's json in its strictest reading accepts. The lines lie outside of the source tree; without
 * them the test is skipped. */
#include "json_repair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define REFUSED (-1)

static const struct {
    const char *name;
    int code;    /* of the strict check */
    int repairs; /* bits, 0 for "fine as it is", or REFUSED */
} cases[] = {
#define CASE(name, code, repairs)                                                                  \
    { name, PERFTRACE__JSON_E_##code, repairs }
#define MEND(bit) PERFTRACE__JSON_REPAIR_##bit
    CASE("00_good", OK, 0),
    CASE("01_torn", INCOMPLETE, REFUSED),
    CASE("02_torn_in_string", UNTERMINATED_STRING, REFUSED),
    CASE("03_NaN", NONFINITE, MEND(NONFINITE)),
    CASE("04_Infinity", NONFINITE, MEND(NONFINITE)),
    CASE("05_-Infinity", NONFINITE, MEND(NONFINITE)),
    CASE("06_nan_lower", NONFINITE, MEND(NONFINITE)),
    CASE("07_BOM", BYTE_ORDER_MARK, MEND(BYTE_ORDER_MARK)),
    CASE("08_CR_end", OK, 0),
    CASE("09_dup_key", OK, MEND(DUPLICATE_KEY)),
    CASE("10_int_2p53+1", OK, 0),
    CASE("11_int_u64max", OK, 0),
    CASE("12_int_2p70", OK, 0),
    CASE("13_float_1e400", OK, MEND(HUGE_NUMBER)),
    CASE("14_bad_utf8_ff", BAD_UTF8, MEND(BAD_UTF8)),
    CASE("15_utf8_surrogate_EDA080", BAD_UTF8, MEND(BAD_UTF8)),
    CASE("16_lone_surrogate_esc", LONE_SURROGATE, MEND(LONE_SURROGATE)),
    CASE("17_surrogate_pair_esc", OK, MEND(PAIR_ESCAPE)),
    CASE("18_raw_ctl_01", CONTROL_BYTE, MEND(CONTROL_BYTE)),
    CASE("19_raw_tab", CONTROL_BYTE, MEND(CONTROL_BYTE)),
    CASE("20_NUL_byte_in_string", CONTROL_BYTE, MEND(CONTROL_BYTE)),
    CASE("21_NUL_block_prefix", NUL_BYTE, MEND(NUL_BLOCK)),
    CASE("22_esc_u0000", OK, 0),
    CASE("23_whitespace_only", EMPTY, REFUSED),
    CASE("24_two_objects", TRAILING_BYTES, MEND(TRAILING_BYTES)),
    CASE("25_trailing_comma_obj", TRAILING_COMMA, MEND(TRAILING_COMMA)),
    CASE("26_trailing_garbage", TRAILING_BYTES, MEND(TRAILING_BYTES)),
    CASE("27_leading_zero", BAD_NUMBER, MEND(NUMBER_FORM)),
    CASE("28_plus_sign", BAD_NUMBER, MEND(NUMBER_FORM)),
    CASE("29_dot5", BAD_NUMBER, MEND(NUMBER_FORM)),
    CASE("30_single_quotes", SINGLE_QUOTE, REFUSED),
    CASE("31_True_None", BAD_LITERAL, MEND(PYTHON_WORD)),
    CASE("32_comment", COMMENT, MEND(COMMENT)),
    CASE("33_nest_100", OK, 0),
    CASE("34_nest_1500", TOO_DEEP, MEND(TOO_DEEP)),
    CASE("35_nest_100k", TOO_DEEP, MEND(TOO_DEEP)),
    CASE("37_bad_escape__x", BAD_ESCAPE, MEND(BAD_ESCAPE)),
    CASE("38_escaped_key", OK, 0),
    CASE("39_array_line", OK, 0),
    CASE("40_scalar_line", OK, 0),
    CASE("41_empty_key", OK, 0),
    CASE("42_ts_string", OK, 0),
    CASE("43_ts_exp", OK, 0),
    CASE("44_ts_abs_ns", OK, 0),
    CASE("45_pid_string", OK, 0),
    CASE("46_pid_neg", OK, 0),
    CASE("47_pid_2p33", OK, 0),
    CASE("48_tid_neg", OK, 0),
    CASE("49_slash_escape", OK, 0),
    CASE("50_del_7f", OK, 0),
    CASE("51_u2028_raw", OK, 0),
};

/* The bytes of a case; NULL when it is not there. */
static char *read_case(const char *name, size_t *ret_len) {
    char path[1024];
    snprintf(path, sizeof(path), "%s/../shared/cases/lines/%s", PERFTRACE_TEST_SOURCE_DIR, name);
    FILE *f = fopen(path, "rb");
    if (!f) {
        return NULL;
    }
    size_t room = 1 << 20;
    char *text = malloc(room);
    assert_non_null(text);
    *ret_len = fread(text, 1, room, f);
    fclose(f);
    return text;
}

static void each_line_is_judged_as_the_strict_readers_do(void **state) {
    (void)state;
    size_t found = 0;
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        size_t len = 0;
        char *text = read_case(cases[i].name, &len);
        perftrace__json_error_t error;
        if (!text) {
            continue;
        }
        found++;
        (void)perftrace__json_check(text, len, &error, NULL);
        if (error.code != cases[i].code) {
            fail_msg("%s: %s at %zu", cases[i].name, perftrace__json_error_text(error.code),
                     error.offset);
        }
        free(text);
    }
    if (found == 0) {
        print_message("the shared cases are not here\n");
        skip();
    }
    assert_int_equal(found, PT_ARRAY_LEN(cases));
}

static void each_line_is_mended_or_refused(void **state) {
    (void)state;
    size_t found = 0;
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        size_t len = 0;
        char *text = read_case(cases[i].name, &len);
        perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
        perftrace__json_error_t error;
        unsigned repairs;
        if (!text) {
            continue;
        }
        found++;
        bool good = perftrace__json_repair(text, len, &out, &repairs, NULL, &error);
        if (good != (cases[i].repairs != REFUSED) ||
            (good && repairs != (unsigned)cases[i].repairs)) {
            fail_msg("%s: repairs %x, %s at %zu", cases[i].name, repairs,
                     perftrace__json_error_text(error.code), error.offset);
        }
        assert_true(!good || perftrace__json_check(out.data, out.len, NULL, NULL));
        perftrace__strbuf_free(&out);
        free(text);
    }
    if (found == 0) {
        print_message("the shared cases are not here\n");
        skip();
    }
}

static void times_of_the_lines_are_exact(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int64_t ns;
    } times[] = {{"00_good", 5000},
                 {"42_ts_string", 5250},
                 {"43_ts_exp", 5250000},
                 {"44_ts_abs_ns", INT64_C(1760000000000000123)}};
    for (size_t i = 0; i < PT_ARRAY_LEN(times); i++) {
        size_t len = 0;
        char *text = read_case(times[i].name, &len);
        if (!text) {
            print_message("the shared cases are not here\n");
            skip();
        }
        perftrace__json_cursor_t c;
        perftrace__json_slice_t object;
        perftrace__json_slice_t ts;
        int64_t ns = 0;
        perftrace__json_cursor_init(&c, text, len);
        assert_int_equal(perftrace__json_next_value(&c, &object), 1);
        assert_true(perftrace__json_find(&object, "ts", &ts));
        assert_true(perftrace__json_to_ns(&ts, &ns));
        assert_true(ns == times[i].ns);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_line_is_judged_as_the_strict_readers_do),
        cmocka_unit_test(each_line_is_mended_or_refused),
        cmocka_unit_test(times_of_the_lines_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
