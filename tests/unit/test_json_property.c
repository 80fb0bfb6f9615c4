/* test_json_property.c: random and damaged JSON against cJSON. SPDX-License-Identifier: MIT
 *
 * The properties themselves are the fuzzer's (tests/fuzz/fuzz_json_scan.c), which stops the process
 * where one does not hold; here they are tried on inputs that are JSON, or nearly. */
#include "json_random.h"
#include "json_scan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_exact(const perftrace__strbuf_t *b) {
    uint8_t *copy = malloc(b->len ? b->len : 1);
    assert_non_null(copy);
    if (b->len > 0) {
        memcpy(copy, b->data, b->len);
    }
    LLVMFuzzerTestOneInput(copy, b->len);
    free(copy);
}

static void random_values_are_accepted_and_read_as_cjson_reads_them(void **state) {
    (void)state;
    json_random_t r = {1, 0, false};
    perftrace__strbuf_t b = PERFTRACE__STRBUF_INIT;
    for (int round = 0; round < 3000; round++) {
        perftrace__strbuf_clear(&b);
        r.unique_keys = round % 2;
        json_random_space(&r, &b);
        json_random_value(&r, &b, false);
        json_random_space(&r, &b);
        perftrace__json_error_t error;
        if (!perftrace__json_check(b.data, b.len, &error, NULL)) {
            fail_msg("%s: %s at %zu", b.data, perftrace__json_error_text(error.code), error.offset);
        }
        try_exact(&b);
    }
    perftrace__strbuf_free(&b);
}

static void damaged_values_are_refused_where_cjson_refuses_them(void **state) {
    (void)state;
    json_random_t r = {2, 0, false};
    perftrace__strbuf_t b = PERFTRACE__STRBUF_INIT;
    for (int round = 0; round < 20000; round++) {
        perftrace__strbuf_clear(&b);
        json_random_value(&r, &b, true);
        json_random_damage(&r, &b);
        try_exact(&b);
    }
    perftrace__strbuf_free(&b);
}

static void every_prefix_of_a_value_is_short(void **state) {
    (void)state;
    json_random_t r = {3, 0, false};
    perftrace__strbuf_t b = PERFTRACE__STRBUF_INIT;
    for (int round = 0; round < 200; round++) {
        perftrace__strbuf_clear(&b);
        json_random_value(&r, &b, true);
        for (size_t len = 1; len < b.len; len++) {
            perftrace__json_error_t error;
            assert_false(perftrace__json_check(b.data, len, &error, NULL));
            assert_true(perftrace__json_error_is_short(error.code));
            assert_int_equal(error.offset, len);
        }
    }
    perftrace__strbuf_free(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_values_are_accepted_and_read_as_cjson_reads_them),
        cmocka_unit_test(damaged_values_are_refused_where_cjson_refuses_them),
        cmocka_unit_test(every_prefix_of_a_value_is_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
