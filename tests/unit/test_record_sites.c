/* test_record_sites.c: the log of sites and names. SPDX-License-Identifier: MIT */
#include "record_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void same_text(const char *have, uint32_t len, const char *want) {
    assert_int_equal(len, strlen(want));
    assert_memory_equal(have, want, len);
}

static void check_site(const record_set_t *set, uint32_t i, const perftrace__site_t *s) {
    const perftrace_i_site_t *want = &set->sites[i];
    assert_non_null(s);
    assert_int_equal(s->id, i + 1);
    assert_int_equal(s->kind, want->kind);
    assert_int_equal(s->line, want->line);
    assert_int_equal(s->nargs, want->nargs);
    same_text(s->name, s->name_len, want->name ? want->name : "(run-time name)");
    same_text(s->category, s->category_len, want->category);
    same_text(s->file, s->file_len, want->file ? want->file : "");
    bool strings = false;
    for (uint32_t k = 0; k < s->nargs; k++) {
        assert_int_equal(s->args[k].type, want->args[k].type);
        same_text(s->args[k].name, s->args[k].name_len, want->args[k].name);
        strings |= want->args[k].type == PERFTRACE_I_TYPE_STR;
    }
    assert_int_equal(s->has_strings, strings);
}

static void check_table(const record_set_t *set, const perftrace__site_table_t *t) {
    for (uint32_t i = 0; i < t->nsites; i++) {
        check_site(set, i, perftrace__site_table_site(t, i + 1));
    }
    for (uint32_t i = 0; i < t->nnames; i++) {
        const perftrace__name_t *name = perftrace__site_table_name(t, i + 1);
        assert_int_equal(name->len, set->name_lens[i]);
        assert_memory_equal(name->text, set->names[i], name->len);
    }
    assert_null(perftrace__site_table_site(t, 0));
    assert_null(perftrace__site_table_site(t, t->nsites + 1));
    assert_null(perftrace__site_table_name(t, 0));
    assert_null(perftrace__site_table_name(t, UINT32_MAX));
}

static void what_is_logged_is_read_back(void **state) {
    (void)state;
    static record_set_t set;
    uint64_t seed = 10;
    for (int round = 0; round < 50; round++) {
        record_random_set(&set, &seed);
        perftrace__strbuf_t log = PERFTRACE__STRBUF_INIT;
        record_random_log(&set, &log);
        assert_int_equal(log.len % 8, 0);
        perftrace__site_table_t t = {0};
        assert_true(perftrace__site_table_parse(&t, (unsigned char *)log.data, log.len));
        assert_int_equal(t.nsites, RECORD_SITES);
        assert_int_equal(t.nnames, RECORD_NAMES);
        assert_int_equal(t.parsed, log.len);
        check_table(&set, &t);
        perftrace__site_table_free(&t);
        perftrace__strbuf_free(&log);
    }
}

static void a_log_that_grows_is_read_piece_by_piece(void **state) {
    (void)state;
    static record_set_t set;
    uint64_t seed = 11;
    record_random_set(&set, &seed);
    perftrace__strbuf_t log = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_reserve(&log, 1 << 16); /* the log stays in place */
    perftrace__site_table_t t = {0};
    for (uint32_t i = 0; i < RECORD_SITES; i++) {
        perftrace__log_site(&log, i + 1, &set.sites[i], set.sites[i].category);
        assert_true(perftrace__site_table_parse(&t, (unsigned char *)log.data, log.len));
        assert_int_equal(t.nsites, i + 1);
        assert_true(perftrace__site_table_parse(&t, (unsigned char *)log.data, log.len));
    }
    check_table(&set, &t);
    perftrace__site_table_free(&t);
    perftrace__site_table_free(NULL);
    perftrace__strbuf_free(&log);
}

static void a_log_cut_at_any_byte_gives_its_whole_entries(void **state) {
    (void)state;
    static record_set_t set;
    uint64_t seed = 12;
    record_random_set(&set, &seed);
    perftrace__strbuf_t log = PERFTRACE__STRBUF_INIT;
    record_random_log(&set, &log);
    for (size_t len = 0; len <= log.len; len++) {
        unsigned char *copy = malloc(len ? len : 1);
        memcpy(copy, log.data, len);
        perftrace__site_table_t t = {0};
        bool whole = perftrace__site_table_parse(&t, copy, len);
        assert_int_equal(whole, t.parsed == len);
        assert_true(t.parsed <= len && len - t.parsed < 1000);
        check_table(&set, &t);
        perftrace__site_table_free(&t);
        free(copy);
    }
    perftrace__strbuf_free(&log);
}

static void a_damaged_log_is_never_read_beyond_its_end(void **state) {
    (void)state;
    static record_set_t set;
    uint64_t seed = 13;
    record_random_set(&set, &seed);
    perftrace__strbuf_t log = PERFTRACE__STRBUF_INIT;
    record_random_log(&set, &log);
    for (int round = 0; round < 20000; round++) {
        size_t len = base_random_below(&seed, (uint32_t)log.len + 1);
        unsigned char *copy = malloc(len ? len : 1);
        memcpy(copy, log.data, len);
        for (uint32_t k = base_random_below(&seed, 4); k > 0 && len; k--) {
            copy[base_random_below(&seed, (uint32_t)len)] = (unsigned char)base_random(&seed);
        }
        perftrace__site_table_t t = {0};
        (void)perftrace__site_table_parse(&t, copy, len);
        for (uint32_t i = 0; i < t.nsites; i++) {
            const perftrace__site_t *s = t.sites[i];
            const unsigned char *name = (const unsigned char *)s->name;
            assert_true(name >= copy && name + s->name_len <= copy + len);
            assert_true(s->nargs <= PERFTRACE_I_MAX_ARGS);
        }
        perftrace__site_table_free(&t);
        free(copy);
    }
    perftrace__strbuf_free(&log);
}

static void ids_come_in_order_or_not_at_all(void **state) {
    (void)state;
    static record_set_t set;
    uint64_t seed = 14;
    record_random_set(&set, &seed);
    perftrace__strbuf_t log = PERFTRACE__STRBUF_INIT;
    perftrace__log_site(&log, 1, &set.sites[0], "c");
    perftrace__log_site(&log, 3, &set.sites[1], "c");
    perftrace__site_table_t t = {0};
    assert_false(perftrace__site_table_parse(&t, (unsigned char *)log.data, log.len));
    assert_true(t.failed);
    assert_int_equal(t.nsites, 1);
    perftrace__site_table_free(&t);
    perftrace__strbuf_free(&log);
}

static void an_unknown_entry_is_passed_over(void **state) {
    (void)state;
    static record_set_t set;
    uint64_t seed = 15;
    record_random_set(&set, &seed);
    perftrace__strbuf_t log = PERFTRACE__STRBUF_INIT;
    const perftrace__log_head_t later = {24, 77, 1, 0};
    perftrace__strbuf_append(&log, &later, sizeof(later));
    perftrace__strbuf_append(&log, "12345678", 8);
    perftrace__log_site(&log, 1, &set.sites[0], "c");
    perftrace__site_table_t t = {0};
    assert_true(perftrace__site_table_parse(&t, (unsigned char *)log.data, log.len));
    assert_int_equal(t.nsites, 1);
    perftrace__site_table_free(&t);
    perftrace__strbuf_free(&log);
}

static void a_site_of_an_unknown_kind_keeps_its_place_and_matches_nothing(void **state) {
    (void)state;
    static record_set_t set;
    uint64_t seed = 16;
    record_random_set(&set, &seed);
    perftrace__strbuf_t log = PERFTRACE__STRBUF_INIT;
    set.sites[0].kind = 300;
    perftrace__log_site(&log, 1, &set.sites[0], "c");
    perftrace__log_site(&log, 2, &set.sites[1], "c");
    perftrace__site_table_t t = {0};
    assert_true(perftrace__site_table_parse(&t, (unsigned char *)log.data, log.len));
    assert_int_equal(t.sites[0]->kind, 0);
    assert_int_equal(t.sites[1]->kind, 2);
    perftrace__event_t ev;
    const perftrace_i_open_t open = {1, 1, 0};
    assert_false(perftrace__record_from_open(&open, &t, &ev));
    const uint64_t words[2] = {PERFTRACE_I_RECORD_HEAD(0, 0, 2, 1), 5};
    assert_int_equal(perftrace__record_decode(words, 2, &t, &ev), 0);
    perftrace__site_table_free(&t);
    perftrace__strbuf_free(&log);
}

static void long_texts_are_cut_on_a_character(void **state) {
    (void)state;
    size_t len = 200001;
    char *text = malloc(len + 1);
    for (size_t i = 0; i < len; i += 3) {
        memcpy(text + i, "\xE2\x82\xAC", 3);
    }
    text[len] = '\0';
    perftrace_i_site_t site = {.kind = 1, .name = text, .category = "c"};
    perftrace__strbuf_t log = PERFTRACE__STRBUF_INIT;
    perftrace__log_site(&log, 1, &site, "c");
    perftrace__site_table_t t = {0};
    assert_true(perftrace__site_table_parse(&t, (unsigned char *)log.data, log.len));
    assert_int_equal(t.sites[0]->name_len, 65535); /* 65536 would cut one */
    perftrace__site_table_free(&t);
    perftrace__strbuf_free(&log);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_logged_is_read_back),
        cmocka_unit_test(a_log_that_grows_is_read_piece_by_piece),
        cmocka_unit_test(a_log_cut_at_any_byte_gives_its_whole_entries),
        cmocka_unit_test(a_damaged_log_is_never_read_beyond_its_end),
        cmocka_unit_test(ids_come_in_order_or_not_at_all),
        cmocka_unit_test(an_unknown_entry_is_passed_over),
        cmocka_unit_test(a_site_of_an_unknown_kind_keeps_its_place_and_matches_nothing),
        cmocka_unit_test(long_texts_are_cut_on_a_character),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
