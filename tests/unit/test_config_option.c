/* test_config_option.c: the table and the values of its members. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config_message.h"
#include "config_option.h"
#include "nearest_name.h"

#include <perftrace/status.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define OPTION(field) (&perftrace__options[PERFTRACE__OPT_##field])

static void the_table_covers_the_whole_structure(void **state) {
    (void)state;
    size_t covered = sizeof(size_t) + sizeof(perftrace_log_fn) + sizeof(void *) +
                     sizeof((perftrace_config_t *)NULL)->reserved;
    for (size_t i = 0; i < PERFTRACE__OPT_COUNT; i++) {
        covered += perftrace__options[i].size;
    }
    assert_int_equal(covered, sizeof(perftrace_config_t));
}

static void names_are_unique_and_follow_the_field(void **state) {
    (void)state;
    for (size_t i = 0; i < PERFTRACE__OPT_COUNT; i++) {
        const perftrace__option_t *o = &perftrace__options[i];
        char env[64] = PERFTRACE__CONFIG_PREFIX;
        size_t n = strlen(env);
        for (const char *p = o->field; *p; p++) {
            env[n++] = (char)toupper((unsigned char)*p);
        }
        env[n] = '\0';
        if (i != PERFTRACE__OPT_config_path) {
            assert_string_equal(o->env, env);
        }
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(o->env, perftrace__options[j].env);
            assert_string_not_equal(o->key, perftrace__options[j].key);
            assert_int_not_equal(o->offset, perftrace__options[j].offset);
        }
    }
}

static void every_default_is_readable_and_a_fresh_structure_is_unset(void **state) {
    (void)state;
    perftrace_config_t c = PERFTRACE_CONFIG_INIT;
    for (size_t i = 0; i < PERFTRACE__OPT_COUNT; i++) {
        const perftrace__option_t *o = &perftrace__options[i];
        perftrace__strbuf_t msgs = PERFTRACE__STRBUF_INIT;
        assert_false(perftrace__option_is_set(o, &c));
        if (o->def[0]) {
            assert_int_equal(perftrace__option_read(o, o->field, o->def, &c, &msgs), PERFTRACE_OK);
            assert_true(perftrace__option_is_set(o, &c));
        }
        assert_int_equal(msgs.len, 0);
        perftrace__option_free(o, &c);
    }
    assert_int_equal(c.ring_size, 1 << 20);
    assert_int_equal(c.enabled, 1);
}

typedef struct value_case {
    perftrace__option_id_t id;
    const char *text;
    const char *value; /* read back; NULL: refused */
} value_case_t;

static const value_case_t value_cases[] = {
    {PERFTRACE__OPT_enabled, "1", "true"},
    {PERFTRACE__OPT_enabled, " Yes ", "true"},
    {PERFTRACE__OPT_enabled, "ON", "true"},
    {PERFTRACE__OPT_enabled, "0", "false"},
    {PERFTRACE__OPT_enabled, "False", "false"},
    {PERFTRACE__OPT_enabled, "2", NULL},
    {PERFTRACE__OPT_enabled, "", NULL},
    {PERFTRACE__OPT_enabled, "tru", NULL},
    {PERFTRACE__OPT_rank, "0", "0"},
    {PERFTRACE__OPT_rank, "2147483646", "2147483646"},
    {PERFTRACE__OPT_rank, "2147483647", NULL},
    {PERFTRACE__OPT_rank, "-1", NULL},
    {PERFTRACE__OPT_rank, "1.0", NULL},
    {PERFTRACE__OPT_rank, "99999999999999999999999", NULL},
    {PERFTRACE__OPT_world_size, "0", NULL},
    {PERFTRACE__OPT_flush_ms, "1", "1"},
    {PERFTRACE__OPT_flush_ms, "0", NULL},
    {PERFTRACE__OPT_flush_ms, "60001", NULL},
    {PERFTRACE__OPT_flush_ms, "5s", NULL},
    {PERFTRACE__OPT_block_ms, "0", "0"},
    {PERFTRACE__OPT_save_interval, "0", "1"},
    {PERFTRACE__OPT_save_interval, "-7", "1"},
    {PERFTRACE__OPT_save_interval, "3", "3"},
    {PERFTRACE__OPT_save_interval, "x", NULL},
    {PERFTRACE__OPT_session_flush_threshold, "0", "1"},
    {PERFTRACE__OPT_ring_size, "0", "1048576"},
    {PERFTRACE__OPT_ring_size, "1", "65536"},
    {PERFTRACE__OPT_ring_size, "65536", "65536"},
    {PERFTRACE__OPT_ring_size, "65537", "131072"},
    {PERFTRACE__OPT_ring_size, "4M", "4194304"},
    {PERFTRACE__OPT_ring_size, "3 MiB", "4194304"},
    {PERFTRACE__OPT_ring_size, "128kb", "131072"},
    {PERFTRACE__OPT_ring_size, "1g", "1073741824"},
    {PERFTRACE__OPT_ring_size, "1073741825", NULL},
    {PERFTRACE__OPT_ring_size, "2G", NULL},
    {PERFTRACE__OPT_ring_size, "9000000000000000000G", NULL},
    {PERFTRACE__OPT_ring_size, "-1", NULL},
    {PERFTRACE__OPT_ring_size, "4 parsecs", NULL},
    {PERFTRACE__OPT_ring_size, "4Mx", NULL},
    {PERFTRACE__OPT_overflow, "block", "block"},
    {PERFTRACE__OPT_overflow, "Drop", "drop"},
    {PERFTRACE__OPT_overflow, "overwrite", NULL},
    {PERFTRACE__OPT_ranks, "0,8-9", "0,8-9"},
    {PERFTRACE__OPT_ranks, "9-8", NULL},
    {PERFTRACE__OPT_role, "", ""},
    {PERFTRACE__OPT_role, "actor/ref v2", "actor/ref v2"},
    {PERFTRACE__OPT_ring_dir, "/a/b//", "/a/b"},
    {PERFTRACE__OPT_ring_dir, "/", "/"},
    {PERFTRACE__OPT_ring_dir, "/x/${PERFTRACE_TEST_NOT_SET}/y", NULL},
    {PERFTRACE__OPT_ring_dir, "$PERFTRACE_TEST_NOT_SET", NULL},
    {PERFTRACE__OPT_ring_dir, "/x/${a.b}", NULL},
    {PERFTRACE__OPT_ring_dir, "${PERFTRACE_TEST_A}/y", "/from/env/y"},
    {PERFTRACE__OPT_ring_dir, "~/y", "/home/of/test/y"},
    {PERFTRACE__OPT_profile_steps, "3, 10,3", "3,10"},
    {PERFTRACE__OPT_profile_steps, "", ""},
    {PERFTRACE__OPT_profile_steps, "1,x,-2,,4", "1,4"},
    {PERFTRACE__OPT_profile_steps, "1, 3 ,5-7,5-7,9-8, 11 - 12", "1,3,5-7,11-12"},
};

static void values_are_read_or_refused(void **state) {
    (void)state;
    setenv("PERFTRACE_TEST_A", "/from/env", 1);
    setenv("HOME", "/home/of/test", 1);
    for (size_t i = 0; i < PT_ARRAY_LEN(value_cases); i++) {
        const value_case_t *v = &value_cases[i];
        const perftrace__option_t *o = &perftrace__options[v->id];
        perftrace_config_t c = PERFTRACE_CONFIG_INIT;
        perftrace__strbuf_t msgs = PERFTRACE__STRBUF_INIT;
        perftrace__strbuf_t back = PERFTRACE__STRBUF_INIT;
        int status = perftrace__option_read(o, "here:3", v->text, &c, &msgs);
        perftrace__option_put_value(o, &c, &back);
        if ((status == PERFTRACE_OK) != (v->value != NULL)) {
            fail_msg("%s = \"%s\": status %d", o->field, v->text, status);
        }
        assert_string_equal(perftrace__strbuf_cstr(&back), v->value ? v->value : "");
        if (!v->value) {
            assert_int_equal(status, PERFTRACE_ERR_PARSE);
            assert_memory_equal(perftrace__strbuf_cstr(&msgs), "warning: here:3: \"", 18);
            assert_ptr_equal(strchr(perftrace__strbuf_cstr(&msgs), '\n'), msgs.data + msgs.len - 1);
        }
        perftrace__option_free(o, &c);
        perftrace__strbuf_free(&msgs);
        perftrace__strbuf_free(&back);
    }
}

static void a_refused_value_leaves_the_member_and_says_what_is_accepted(void **state) {
    (void)state;
    perftrace_config_t c = PERFTRACE_CONFIG_INIT;
    perftrace__strbuf_t msgs = PERFTRACE__STRBUF_INIT;
    c.flush_ms = 77;
    assert_int_equal(
        perftrace__option_read(OPTION(flush_ms), "PERFTRACE_FLUSH_MS", "soon\n", &c, &msgs),
        PERFTRACE_ERR_PARSE);
    assert_int_equal(c.flush_ms, 77);
    assert_string_equal(perftrace__strbuf_cstr(&msgs),
                        "warning: PERFTRACE_FLUSH_MS: \"soon?\" is not used: a "
                        "whole number from 1 to 60000\n");
    perftrace__strbuf_free(&msgs);
}

static void steps_that_are_none_are_each_named(void **state) {
    (void)state;
    perftrace_config_t c = PERFTRACE_CONFIG_INIT;
    perftrace__strbuf_t msgs = PERFTRACE__STRBUF_INIT;
    assert_int_equal(perftrace__option_read(OPTION(profile_steps), "f", "a,2,b", &c, &msgs),
                     PERFTRACE_OK);
    assert_string_equal(c.profile_steps, "2");
    assert_non_null(strstr(perftrace__strbuf_cstr(&msgs), "\"a\""));
    assert_non_null(strstr(perftrace__strbuf_cstr(&msgs), "\"b\""));
    perftrace__option_free(OPTION(profile_steps), &c);
    perftrace__strbuf_free(&msgs);
}

static void fields_of_the_program_are_checked_too(void **state) {
    (void)state;
    perftrace_config_t from = PERFTRACE_CONFIG_INIT;
    perftrace_config_t c = PERFTRACE_CONFIG_INIT;
    from.enabled = 2;
    from.ring_size = 70000;
    from.flush_ms = 0;
    from.save_interval = 0;
    from.rank = -5;
    assert_int_equal(perftrace__option_copy(OPTION(enabled), "p", &from, &c, NULL),
                     PERFTRACE_ERR_PARSE);
    assert_int_equal(perftrace__option_copy(OPTION(flush_ms), "p", &from, &c, NULL),
                     PERFTRACE_ERR_PARSE);
    assert_int_equal(perftrace__option_copy(OPTION(rank), "p", &from, &c, NULL),
                     PERFTRACE_ERR_PARSE);
    assert_int_equal(perftrace__option_copy(OPTION(ring_size), "p", &from, &c, NULL), PERFTRACE_OK);
    assert_int_equal(perftrace__option_copy(OPTION(save_interval), "p", &from, &c, NULL),
                     PERFTRACE_OK);
    assert_int_equal(c.ring_size, 131072);
    assert_int_equal(c.save_interval, 1);
    assert_int_equal(c.flush_ms, PERFTRACE_UNSET_U32);
    from.ring_size = UINT64_MAX - 1;
    assert_int_equal(perftrace__option_copy(OPTION(ring_size), "p", &from, &c, NULL),
                     PERFTRACE_ERR_PARSE);
}

static void distances_count_edits(void **state) {
    (void)state;
    assert_int_equal(perftrace__name_distance("flush_ms", "FLUSH_MS"), 0);
    assert_int_equal(perftrace__name_distance("flsuh_ms", "flush_ms"), 1);
    assert_int_equal(perftrace__name_distance("flush", "flush_ms"), 3);
    assert_int_equal(perftrace__name_distance("", "abc"), 3);
    assert_int_equal(perftrace__name_distance("kitten", "sitting"), 3);
    char longer[70];
    memset(longer, 'a', sizeof(longer) - 1);
    longer[69] = '\0';
    assert_int_equal(perftrace__name_distance(longer, longer), 1000);
}

typedef struct seen {
    unsigned count[3];
    char text[256];
} seen_t;

static void count_message(int level, const char *message, void *user) {
    seen_t *s = user;
    s->count[level]++;
    strncat(s->text, message, sizeof(s->text) - strlen(s->text) - 1);
    strncat(s->text, "|", sizeof(s->text) - strlen(s->text) - 1);
}

static void messages_are_handed_out_line_by_line_with_their_level(void **state) {
    (void)state;
    perftrace__strbuf_t msgs = PERFTRACE__STRBUF_INIT;
    seen_t seen = {{0}, ""};
    perftrace__message_add(&msgs, PERFTRACE_LOG_NOTE, "old");
    size_t from = msgs.len;
    perftrace__message_add(&msgs, PERFTRACE_LOG_ERROR, "a\nb%d", 1);
    perftrace__message_add(&msgs, PERFTRACE_LOG_WARNING, "note: c");
    assert_int_equal(perftrace__message_log(&msgs, from, count_message, &seen), 2);
    assert_string_equal(seen.text, "a?b1|note: c|");
    assert_int_equal(seen.count[PERFTRACE_LOG_ERROR], 1);
    assert_int_equal(seen.count[PERFTRACE_LOG_WARNING], 1);
    assert_int_equal(perftrace__message_log(&msgs, 0, NULL, NULL), 0);
    perftrace__strbuf_free(&msgs);
}

static void quoted_values_are_short_and_valid(void **state) {
    (void)state;
    perftrace__strbuf_t b = PERFTRACE__STRBUF_INIT;
    perftrace__message_quote(&b, "a\xff\xc3\xa9");
    assert_string_equal(perftrace__strbuf_cstr(&b), "\"a?\xc3\xa9\"");
    perftrace__strbuf_clear(&b);
    char text[200];
    memset(text, 'x', sizeof(text) - 1);
    text[199] = '\0';
    memcpy(text + 79, "\xc3\xa9", 2);
    perftrace__message_quote(&b, text);
    assert_int_equal(b.len, 79 + 5);
    perftrace__strbuf_free(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_covers_the_whole_structure),
        cmocka_unit_test(names_are_unique_and_follow_the_field),
        cmocka_unit_test(every_default_is_readable_and_a_fresh_structure_is_unset),
        cmocka_unit_test(values_are_read_or_refused),
        cmocka_unit_test(a_refused_value_leaves_the_member_and_says_what_is_accepted),
        cmocka_unit_test(steps_that_are_none_are_each_named),
        cmocka_unit_test(fields_of_the_program_are_checked_too),
        cmocka_unit_test(distances_count_edits),
        cmocka_unit_test(messages_are_handed_out_line_by_line_with_their_level),
        cmocka_unit_test(quoted_values_are_short_and_valid),
    };
    return cmocka_run_group_tests_name("config options", tests, NULL, NULL);
}
