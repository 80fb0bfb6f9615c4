/* test_analyze_spans.c: stretches of time against a line of single moments.
 * SPDX-License-Identifier: MIT */
#include "base_random.h"
#include "span_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LINE 400

/* Spans in the order of their starts, and the moments they cover. */
static void make(uint64_t *seed, pt_span_list_t *list, bool covered[LINE]) {
    int64_t at = 0;
    memset(covered, 0, LINE * sizeof *covered);
    for (unsigned i = 0; i < 30; i++) {
        at += base_random_below(seed, 15);
        int64_t length = base_random_below(seed, 25);
        int64_t to = PT_MIN(at + length, (int64_t)LINE);
        for (int64_t t = at; t < to; t++) {
            covered[t] = true;
        }
        assert_true(pt_spans_add(list, at, PT_MAX(to, at)));
        if (at > LINE - 20) {
            break;
        }
    }
}

static void lists_cover_what_their_spans_cover(void **state) {
    uint64_t seed = 7;
    (void)state;
    for (unsigned round = 0; round < 2000; round++) {
        bool in_a[LINE], in_b[LINE];
        pt_span_list_t a = {NULL, 0, 0}, b = {NULL, 0, 0};
        make(&seed, &a, in_a);
        make(&seed, &b, in_b);
        int64_t from = base_random_below(&seed, LINE), to = base_random_below(&seed, LINE);
        int64_t total = 0, within = 0, both = 0;
        for (int64_t t = 0; t < LINE; t++) {
            total += in_a[t];
            within += in_a[t] && t >= from && t < to;
            both += in_a[t] && in_b[t];
        }
        assert_int_equal(pt_spans_total(&a), total);
        assert_int_equal(pt_spans_within(&a, from, PT_MAX(from, to)), within);
        assert_int_equal(pt_spans_overlap(&a, &b), both);
        assert_int_equal(pt_spans_overlap(&b, &a), both);
        for (size_t i = 1; i < a.count; i++) {
            assert_true(a.span[i].from > a.span[i - 1].to);
        }
        pt_spans_free(&a);
        pt_spans_free(&b);
    }
}

static void order_is_stable_and_by_the_key(void **state) {
    static const size_t sizes[] = {0, 1, 2, 3, 1000, 70000};
    uint64_t seed = 3;
    (void)state;
    for (unsigned round = 0; round < 24; round++) {
        size_t n = sizes[round % PT_ARRAY_LEN(sizes)];
        int64_t *key = malloc((n + 1) * sizeof *key);
        uint32_t *order = malloc((n + 1) * sizeof *order);
        for (size_t i = 0; i < n; i++) {
            uint64_t r = base_random(&seed);
            key[i] = round < 6    ? (int64_t)(r % 5)
                     : round < 12 ? (int64_t)r
                     : round < 18 ? (int64_t)i
                                  : INT64_MIN + (int64_t)(r % 100000);
            order[i] = (uint32_t)i;
        }
        assert_true(pt_order_by_key(key, order, n));
        for (size_t i = 1; i < n; i++) {
            assert_true(key[order[i - 1]] < key[order[i]] ||
                        (key[order[i - 1]] == key[order[i]] && order[i - 1] < order[i]));
        }
        free(key);
        free(order);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_cover_what_their_spans_cover),
        cmocka_unit_test(order_is_stable_and_by_the_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
