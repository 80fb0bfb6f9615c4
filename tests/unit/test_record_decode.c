/* test_record_decode.c: from words to events, friendly and hostile. SPDX-License-Identifier: MIT */
#include "record_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static record_set_t set;
static perftrace__strbuf_t site_log;
static perftrace__site_table_t table;

static int make_table(void **state) {
    (void)state;
    uint64_t seed = 20;
    record_random_set(&set, &seed);
    record_random_log(&set, &site_log);
    return perftrace__site_table_parse(&table, (unsigned char *)site_log.data, site_log.len) ? 0
                                                                                             : -1;
}

static int drop_table(void **state) {
    (void)state;
    perftrace__site_table_free(&table);
    perftrace__strbuf_free(&site_log);
    return 0;
}

static void check_event(const perftrace__event_t *ev, const record_model_t *m) {
    const perftrace_i_site_t *s = &set.sites[m->site];
    assert_int_equal(ev->kind, s->kind);
    assert_ptr_equal(ev->site, table.sites[m->site]);
    assert_int_equal(ev->start, m->start);
    assert_int_equal(ev->end, m->end);
    if (s->kind >= PERFTRACE_I_KIND_FLOW_START) {
        assert_int_equal(ev->id, m->id);
    }
    assert_int_equal(ev->nargs, s->nargs);
    const char *name = m->name ? set.names[m->name - 1] : s->name;
    size_t len = m->name ? set.name_lens[m->name - 1] : strlen(s->name);
    assert_int_equal(ev->name_len, len);
    assert_memory_equal(ev->name, name, len);
    const uint64_t *arg = ev->args;
    for (uint32_t i = 0; i < s->nargs; i++) {
        const char *str = NULL;
        uint32_t str_len = 0;
        const uint64_t *next =
            perftrace__arg_next(arg, ev->args_end, s->args[i].type, &str, &str_len);
        assert_non_null(next);
        if (s->args[i].type != PERFTRACE_I_TYPE_STR) {
            assert_int_equal(*arg, m->values[i]);
        } else if (m->lens[i] == PERFTRACE__STR_NULL) {
            assert_null(str);
        } else {
            assert_int_equal(str_len, m->lens[i]);
            assert_memory_equal(str, m->strings[i], str_len);
        }
        arg = next;
    }
    assert_ptr_equal(arg, ev->args_end);
}

static void random_records_are_read_as_they_were_written(void **state) {
    (void)state;
    uint64_t seed = 21;
    for (int round = 0; round < 50000; round++) {
        static uint64_t words[RECORD_WORDS];
        record_model_t m;
        uint32_t n = record_random_put(&set, &seed, words, &m);
        uint64_t *exact = malloc(n * sizeof(*exact));
        memcpy(exact, words, n * sizeof(*exact));
        perftrace__event_t ev;
        uint64_t time;
        assert_int_equal(perftrace__record_decode(exact, n, &table, &ev), n);
        check_event(&ev, &m);
        assert_int_equal(perftrace__record_peek(exact, n, &time), n);
        assert_int_equal(time, m.end);
        free(exact);
    }
}

static void a_record_that_is_cut_is_none(void **state) {
    (void)state;
    uint64_t seed = 22;
    for (int round = 0; round < 2000; round++) {
        static uint64_t words[RECORD_WORDS];
        record_model_t m;
        uint32_t n = record_random_put(&set, &seed, words, &m);
        for (uint32_t left = 0; left < n; left++) {
            uint64_t *exact = malloc(left ? left * sizeof(*exact) : 1);
            memcpy(exact, words, left * sizeof(*exact));
            perftrace__event_t ev;
            uint64_t time;
            assert_int_equal(perftrace__record_decode(exact, left, &table, &ev), 0);
            assert_int_equal(perftrace__record_peek(exact, left, &time), 0);
            free(exact);
        }
    }
}

/* What decoding accepts can be walked to its end without leaving the words. */
static void walk(const perftrace__event_t *ev, const uint64_t *words, uint32_t n) {
    assert_true(ev->args >= words && ev->args_end <= words + n);
    const uint64_t *arg = ev->args;
    for (uint32_t i = 0; i < ev->nargs; i++) {
        const char *str = NULL;
        uint32_t len = 0;
        arg = perftrace__arg_next(arg, ev->args_end, ev->site->args[i].type, &str, &len);
        assert_non_null(arg);
        assert_true(!str || ((const char *)words <= str && str + len <= (const char *)(words + n)));
    }
    assert_ptr_equal(arg, ev->args_end);
    assert_non_null(ev->name);
}

static void hostile_words_are_never_read_beyond_their_end(void **state) {
    (void)state;
    uint64_t seed = 23;
    size_t accepted = 0;
    for (int round = 0; round < 200000; round++) {
        static uint64_t words[RECORD_WORDS];
        record_model_t m;
        uint32_t n = record_random_put(&set, &seed, words, &m);
        n -= base_random_below(&seed, 8) == 0 ? base_random_below(&seed, n) : 0;
        uint64_t *exact = malloc(n * sizeof(*exact));
        memcpy(exact, words, n * sizeof(*exact));
        for (uint32_t k = base_random_below(&seed, 4); k > 0; k--) {
            uint32_t at = base_random_below(&seed, n);
            static const uint64_t nasty[] = {0, 1, 7, 8, UINT32_MAX, UINT64_MAX, UINT64_MAX - 7};
            switch (base_random_below(&seed, 3)) {
            case 0:
                exact[at] = nasty[base_random_below(&seed, 7)];
                break;
            case 1:
                exact[at] ^= (uint64_t)1 << base_random_below(&seed, 64);
                break;
            default:
                exact[at] = base_random(&seed);
            }
        }
        perftrace__event_t ev;
        uint32_t used = perftrace__record_decode(exact, n, &table, &ev);
        assert_true(used <= n);
        if (used) {
            walk(&ev, exact, used);
            accepted++;
        }
        free(exact);
    }
    assert_true(accepted > 1000);
}

static void a_string_length_that_overflows_is_refused(void **state) {
    (void)state;
    uint64_t words[4] = {0};
    const char *str;
    uint32_t len;
    static const uint64_t lens[] = {
        25, UINT32_MAX, (uint64_t)UINT32_MAX + 1, UINT64_MAX - 1, UINT64_MAX - 7, UINT64_MAX / 8};
    for (size_t i = 0; i < PT_ARRAY_LEN(lens); i++) {
        words[0] = lens[i];
        assert_null(perftrace__arg_next(words, words + 4, PERFTRACE_I_TYPE_STR, &str, &len));
    }
    words[0] = 24;
    assert_ptr_equal(perftrace__arg_next(words, words + 4, PERFTRACE_I_TYPE_STR, &str, &len),
                     words + 4);
    assert_int_equal(len, 24);
    assert_null(perftrace__arg_next(words + 4, words + 4, PERFTRACE_I_TYPE_I64, &str, &len));
}

static void an_open_scope_is_an_event_without_arguments(void **state) {
    (void)state;
    perftrace__event_t ev;
    const perftrace_i_open_t open = {123, 1, 0};
    assert_true(perftrace__record_from_open(&open, &table, &ev));
    assert_int_equal(ev.start, 123);
    assert_int_equal(ev.nargs, 0);
    assert_ptr_equal(ev.name, table.sites[0]->name);
    const perftrace_i_open_t named = {5, 28, 2}; /* a scope without a name of its own */
    assert_true(perftrace__record_from_open(&named, &table, &ev));
    assert_memory_equal(ev.name, set.names[1], set.name_lens[1]);
    const perftrace_i_open_t closed = {5, 0, 0};
    assert_false(perftrace__record_from_open(&closed, &table, &ev));
    const perftrace_i_open_t point = {5, 2, 0};
    assert_false(perftrace__record_from_open(&point, &table, &ev));
    const perftrace_i_open_t unknown = {5, RECORD_SITES + 1, 0};
    assert_false(perftrace__record_from_open(&unknown, &table, &ev));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_records_are_read_as_they_were_written),
        cmocka_unit_test(a_record_that_is_cut_is_none),
        cmocka_unit_test(hostile_words_are_never_read_beyond_their_end),
        cmocka_unit_test(a_string_length_that_overflows_is_refused),
        cmocka_unit_test(an_open_scope_is_an_event_without_arguments),
    };
    return cmocka_run_group_tests(tests, make_table, drop_table);
}
