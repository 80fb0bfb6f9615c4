/* test_base_utf8.c: strict UTF-8 against a second decoder. SPDX-License-Identifier: MIT */
#include "base_random.h"
#include "utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Length of the valid sequence at p by decoding it and looking at the number, 0 when invalid. */
static unsigned decode(const unsigned char *p, size_t left) {
    unsigned n = p[0] < 0x80 ? 1 : p[0] >= 0xF8 ? 0 : p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : 2;
    if (n == 0 || n > left || (p[0] >= 0x80 && p[0] < 0xC0)) {
        return 0;
    }
    uint32_t c = n == 1 ? p[0] : p[0] & (0xFFu >> (n + 1));
    for (unsigned i = 1; i < n; i++) {
        if ((p[i] & 0xC0) != 0x80) {
            return 0;
        }
        c = c << 6 | (p[i] & 0x3Fu);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    bool surrogate = c >= 0xD800 && c <= 0xDFFF;
    return c < least[n] || c > 0x10FFFF || surrogate ? 0 : n;
}

static void every_sequence_of_up_to_three_bytes_is_judged_right(void **state) {
    (void)state;
    for (uint32_t v = 0; v < 1u << 24; v++) {
        const unsigned char p[3] = {(unsigned char)(v >> 16), (unsigned char)(v >> 8),
                                    (unsigned char)v};
        if (perftrace__utf8_sequence(p, 3) != decode(p, 3)) {
            fail_msg("%06x", v);
        }
        if (p[1] == 0x80 && perftrace__utf8_sequence(p, 1) != decode(p, 1)) {
            fail_msg("%02x alone", p[0]);
        }
    }
}

static void sequences_of_four_bytes_are_judged_right_at_every_edge(void **state) {
    (void)state;
    static const unsigned char edges[] = {0x00, 0x7F, 0x80, 0x8F, 0x90,
                                          0x9F, 0xA0, 0xBF, 0xC0, 0xFF};
    for (unsigned a = 0xE0; a <= 0xFF; a++) {
        for (unsigned b = 0; b <= 0xFF; b++) {
            for (unsigned k = 0; k < sizeof(edges) * sizeof(edges); k++) {
                const unsigned char p[4] = {(unsigned char)a, (unsigned char)b,
                                            edges[k / sizeof(edges)], edges[k % sizeof(edges)]};
                assert_int_equal(perftrace__utf8_sequence(p, 4), decode(p, 4));
                assert_int_equal(perftrace__utf8_sequence(p, 3), decode(p, 3));
            }
        }
    }
}

static void a_text_is_valid_when_each_of_its_sequences_is(void **state) {
    (void)state;
    uint64_t seed = 1;
    static const unsigned char alphabet[] = {0x41, 0x80, 0xBF, 0xC3, 0xE2,
                                             0xED, 0xA0, 0xF0, 0x9F, 0xF4};
    for (int round = 0; round < 200000; round++) {
        size_t len = base_random_below(&seed, 24);
        unsigned char *p = malloc(len + 1); /* exact, so that a sanitizer sees what is read */
        assert_non_null(p);
        for (size_t i = 0; i < len; i++) {
            p[i] = base_random_below(&seed, 3) ? 'a' : alphabet[base_random_below(&seed, 10)];
        }
        bool good = true;
        for (size_t i = 0; i < len && good;) {
            unsigned n = decode(p + i, len - i);
            good = n != 0;
            i += n;
        }
        assert_int_equal(perftrace__utf8_valid(p, len), good);
        free(p);
    }
}

/* The table of Unicode chapter 3.9, "maximal subpart", is what these are. */
static void a_bad_sequence_is_replaced_by_its_longest_sensible_prefix(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        unsigned left;
        unsigned prefix;
    } cases[] = {{"\xC0\xAF", 2, 1},         {"\xE0\x80\xBF", 3, 1},     {"\xF0\x91\x92\x41", 4, 3},
                 {"\xED\xA0\x80", 3, 1},     {"\xF4\x91\x92\x93", 4, 1}, {"\xFF", 1, 1},
                 {"\xE1\x80\xE2\xF0", 4, 2}, {"\xF1\xBF", 2, 2},         {"\x80\x80", 2, 1}};
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        const unsigned char *p = (const unsigned char *)cases[i].bytes;
        assert_int_equal(perftrace__utf8_sequence(p, cases[i].left), 0);
        assert_int_equal(perftrace__utf8_bad_prefix(p, cases[i].left), cases[i].prefix);
    }
}

static void a_cut_falls_between_characters_and_loses_at_most_three_bytes(void **state) {
    (void)state;
    static const char text[] = "a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80z";
    for (size_t limit = 0; limit <= sizeof(text) + 3; limit++) {
        size_t n = perftrace__utf8_cut(text, sizeof(text) - 1, limit);
        assert_true(n <= limit && n <= sizeof(text) - 1);
        assert_true(perftrace__utf8_valid(text, n));
        assert_true(n + 3 >= limit || n == sizeof(text) - 1);
    }
    static const char tails[] = "\x80\x80\x80\x80\x80\x80\x80\x80";
    assert_int_equal(perftrace__utf8_cut(tails, 8, 5), 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sequence_of_up_to_three_bytes_is_judged_right),
        cmocka_unit_test(sequences_of_four_bytes_are_judged_right_at_every_edge),
        cmocka_unit_test(a_text_is_valid_when_each_of_its_sequences_is),
        cmocka_unit_test(a_bad_sequence_is_replaced_by_its_longest_sensible_prefix),
        cmocka_unit_test(a_cut_falls_between_characters_and_loses_at_most_three_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
