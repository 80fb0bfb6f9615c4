/* test_live_event.c: the last events of a ring, and views cut to a screen.
 * SPDX-License-Identifier: MIT */
#include "base_random.h"
#include "live_event.h"
#include "live_screen.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A log with a scope without arguments (1), one with three (2), an instant with a string (3). */
static perftrace__site_table_t sites;
static perftrace__strbuf_t log_text = PERFTRACE__STRBUF_INIT;

static int make_sites(void **state) {
    (void)state;
    static const perftrace_i_arg_t three[] = {
        {"a", PERFTRACE_I_TYPE_I64}, {"b", PERFTRACE_I_TYPE_U64}, {"c", PERFTRACE_I_TYPE_F64}};
    static const perftrace_i_arg_t text[] = {{"s", PERFTRACE_I_TYPE_STR}};
    const perftrace_i_site_t plain = {.kind = PERFTRACE_I_KIND_SCOPE, .name = "plain"};
    const perftrace_i_site_t full = {
        .kind = PERFTRACE_I_KIND_SCOPE, .name = "full", .nargs = 3, .args = three};
    const perftrace_i_site_t point = {
        .kind = PERFTRACE_I_KIND_INSTANT, .name = "point", .nargs = 1, .args = text};
    perftrace__log_site(&log_text, 1, &plain, "x");
    perftrace__log_site(&log_text, 2, &full, "x");
    perftrace__log_site(&log_text, 3, &point, "x");
    return !perftrace__site_table_parse(&sites, (const unsigned char *)log_text.data, log_text.len);
}

static int free_sites(void **state) {
    (void)state;
    perftrace__site_table_free(&sites);
    perftrace__strbuf_free(&log_text);
    return 0;
}

/* Puts a random record that ends at `time`; returns its length. */
static uint64_t put_record(uint64_t *at, uint64_t time, uint64_t *random) {
    switch (base_random_below(random, 3)) {
    case 0:
        at[0] = PERFTRACE_I_RECORD_HEAD(PERFTRACE_I_KIND_SCOPE, 0, 3, 1);
        at[1] = time - 1;
        at[2] = time;
        return 3;
    case 1:
        at[0] = PERFTRACE_I_RECORD_HEAD(PERFTRACE_I_KIND_SCOPE, 0, 6, 2);
        at[1] = time - 1;
        at[2] = time;
        for (int i = 3; i < 6; i++) {
            at[i] = base_random(random);
        }
        return 6;
    default: {
        uint64_t words = base_random_below(random, 200);
        at[0] = PERFTRACE_I_RECORD_HEAD(PERFTRACE_I_KIND_INSTANT, 0, 3 + words, 3);
        at[1] = time;
        at[2] = words * 8;
        for (uint64_t i = 0; i < words; i++) {
            at[3 + i] = base_random(random);
        }
        return 3 + words;
    }
    }
}

static void the_last_record_is_found_from_its_end(void **state) {
    (void)state;
    uint64_t random = 7, words[4096];
    for (int round = 0; round < 300; round++) {
        uint64_t n = 0, time = 1000, events = 0;
        while (n < 3000) {
            time += 1 + base_random_below(&random, 50);
            n += put_record(words + n, time, &random);
            events++;
        }
        pt_live_walk_t w = pt_live_walk(words, n);
        assert_int_equal(w.events, events);
        assert_int_equal(w.words, n);
        assert_int_equal(w.last, time);
        uint64_t found = 0;
        assert_true(pt_live_last_record(words, n, &sites, &found));
        assert_int_equal(found, time);
        /* From the middle of records on it is the same. */
        uint64_t cut = base_random_below(&random, 2000);
        assert_true(pt_live_last_record(words + cut, n - cut, &sites, &found));
        assert_int_equal(found, time);
        /* A record that is cut off at its end counts no more. */
        w = pt_live_walk(words, n - 1);
        assert_int_equal(w.events, events - 1);
    }
}

static void doubtful_ends_are_not_guessed(void **state) {
    (void)state;
    /* An argument that looks like a record, in a record that is one. */
    uint64_t words[6] = {PERFTRACE_I_RECORD_HEAD(PERFTRACE_I_KIND_SCOPE, 0, 6, 2), 10, 20,
                         PERFTRACE_I_RECORD_HEAD(PERFTRACE_I_KIND_SCOPE, 0, 3, 1), 4,  5};
    uint64_t found;
    assert_false(pt_live_last_record(words, 6, &sites, &found));
    assert_true(pt_live_last_record(words + 1, 5, &sites, &found)); /* nothing speaks against it */
    assert_int_equal(found, 5);
    words[3] = 0;
    assert_true(pt_live_last_record(words, 6, &sites, &found));
    assert_int_equal(found, 20);
    words[0] ^= (uint64_t)1 << 40; /* a site that is not known */
    assert_false(pt_live_last_record(words, 6, &sites, &found));
    assert_false(pt_live_last_record(words, 0, &sites, &found));
}

static void scopes_left_open_are_no_events(void **state) {
    (void)state;
    uint64_t words[3] = {
        PERFTRACE_I_RECORD_HEAD(PERFTRACE_I_KIND_SCOPE, PERFTRACE_I_RECORD_LEFT, 3, 1), 4, 5};
    pt_live_walk_t w = pt_live_walk(words, 3);
    assert_int_equal(w.events, 0);
    assert_int_equal(w.words, 3);
    words[0] = 0; /* no record at all */
    w = pt_live_walk(words, 3);
    assert_int_equal(w.words, 0);
}

static void check_fit(const char *text, unsigned rows, unsigned columns, const char *expected) {
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    pt_live_screen_fit(text, rows, columns, &out);
    assert_string_equal(perftrace__strbuf_cstr(&out), expected);
    perftrace__strbuf_free(&out);
}

static void a_view_is_cut_to_the_screen(void **state) {
    (void)state;
    check_fit("one\ntwo\n", 2, 10, "one\033[K\r\ntwo\033[K");
    check_fit("one\ntwo\n", 2, 2, "on\033[K\r\ntw\033[K");
    check_fit("one\ntwo\nthree\n", 2, 20, "one\033[K\r\n... 2 more lines\033[K");
    check_fit("one\ntwo\n", 1, 20, "... 2 more lines\033[K");
    check_fit("one\n", 0, 20, "");
    check_fit("", 5, 20, "");
    /* Characters count, not bytes; colours take no room and end also where text is cut off. */
    check_fit("\303\244\303\266\303\274x\n", 1, 3, "\303\244\303\266\303\274\033[K");
    check_fit("\033[1mbold\033[0m\n", 1, 2, "\033[1mbo\033[0m\033[K");
    check_fit("\033[\n", 1, 2, "\033[\033[K");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_record_is_found_from_its_end),
        cmocka_unit_test(doubtful_ends_are_not_guessed),
        cmocka_unit_test(scopes_left_open_are_no_events),
        cmocka_unit_test(a_view_is_cut_to_the_screen),
    };
    return cmocka_run_group_tests(tests, make_sites, free_sites);
}
