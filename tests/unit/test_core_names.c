/* test_core_names.c: run-time names, categories, filters. SPDX-License-Identifier: MIT */
#include "filter.h"
#include "traced_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void a_category_has_its_canonical_name(void **state) {
    (void)state;
    static const char *const pairs[][2] = {{"compute", "compute"},
                                           {"Communication", "comm"},
                                           {" COMM ", "comm"},
                                           {"synchronization", "sync"},
                                           {"scheduling", "scheduler"},
                                           {"instrumentation", "instr"},
                                           {"IO", "io"},
                                           {"", "misc"},
                                           {"  \t", "misc"},
                                           {"my own ", "my own "},
                                           {"computer", "computer"},
                                           {"Misc", "misc"}};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        assert_string_equal(perftrace__category_canonical(pairs[i][0]), pairs[i][1]);
    }
    assert_string_equal(perftrace__category_canonical(NULL), "misc");
}

static void a_filter_takes_and_leaves_out(void **state) {
    (void)state;
    static const struct {
        const char *categories;
        const char *names;
        const char *category;
        const char *name;
        bool pass;
    } cases[] = {
        {NULL, NULL, "io", "x", true},
        {"", "", "io", "x", true},
        {"compute,comm", NULL, "comm", "x", true},
        {"compute, Communication", NULL, "comm", "x", true},
        {"compute,comm", NULL, "io", "x", false},
        {"-io", NULL, "io", "x", false},
        {"-io", NULL, "comm", "x", true},
        {"io,-io", NULL, "io", "x", false},
        {",,", NULL, "io", "x", true},
        {"mine", NULL, "Mine", "x", true},
        {NULL, "train.,eval.", "io", "train.step", true},
        {NULL, "train.,eval.", "io", "eval", false},
        {NULL, "-debug.", "io", "debug.x", false},
        {NULL, "train.,-train.debug", "io", "train.debug.x", false},
        {NULL, "train.", "io", NULL, true}, /* named at run time */
        {"io", "a", "io", "b", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (perftrace__filter_pass(cases[i].categories, cases[i].names, cases[i].category,
                                   cases[i].name) != cases[i].pass) {
            fail_msg("case %zu", i);
        }
    }
}

static void emit_some(void) {
    PERFTRACE_INSTANT("train.step", "compute");
    PERFTRACE_INSTANT("train.debug", "communication");
    PERFTRACE_INSTANT("eval.step", "io");
}

static void filter_at_run_time(const char *where) {
    CHILD_CHECK(perftrace_set_filter("io", NULL) != 0);
    perftrace_config_t c = traced_config(where);
    c.categories = "comm,compute";
    c.names = "train.,eval.";
    CHILD_CHECK(perftrace_init(&c) == 0);
    emit_some(); /* two */
    CHILD_CHECK(perftrace_set_filter("", NULL) == 0);
    emit_some(); /* three */
    CHILD_CHECK(perftrace_set_filter(NULL, "-train.d") == 0);
    emit_some(); /* two */
    CHILD_CHECK(perftrace_set_filter("none", "") == 0);
    emit_some(); /* none */
    CHILD_CHECK(perftrace_set_filter("", "") == 0);
    emit_some(); /* three */
}

static void filters_can_be_changed_while_running(void **state) {
    (void)state;
    traced_file_t f = run(filter_at_run_time);
    assert_int_equal(traced_count(&f, "train.step"), 4);
    assert_int_equal(traced_count(&f, "train.debug"), 3);
    assert_int_equal(traced_count(&f, "eval.step"), 3);
    assert_non_null(strstr(traced_text(&f, "train.debug", 0), "\"cat\": \"comm\""));
    traced_free(&f);
}

#define NAMES 70000

static unsigned warnings;

static void count_warning(int level, const char *message, void *user) {
    (void)user;
    warnings += level == PERFTRACE_LOG_WARNING && strstr(message, "run-time names") != NULL;
}

static void make_many_names(const char *where) {
    perftrace_config_t c = traced_config(where);
    c.log = count_warning;
    c.overflow = PERFTRACE_OVERFLOW_BLOCK;
    CHILD_CHECK(perftrace_init(&c) == 0);
    char name[32];
    for (int i = 0; i < NAMES; i++) {
        snprintf(name, sizeof(name), "n%d", i);
        PERFTRACE_SCOPE_NAMED(name, "compute");
    }
    for (int i = 0; i < 100; i++) { /* known ones go on working */
        snprintf(name, sizeof(name), "n%d", i);
        PERFTRACE_INSTANT_NAMED(name, "compute");
    }
    PERFTRACE_INSTANT_NAMED(NULL, "compute");
    CHILD_CHECK(warnings == 1);
}

static void seventy_thousand_names_are_all_recorded(void **state) {
    (void)state;
    traced_file_t f = run(make_many_names);
    static unsigned seen[NAMES];
    unsigned further = 0;
    unsigned unnamed = 0;
    for (size_t i = 0; i < f.count; i++) {
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(f.lines[i], "name"));
        if (name[0] == 'n' && name[1] >= '0' && name[1] <= '9') {
            seen[atoi(name + 1)]++;
        }
        further += strcmp(name, "(further run-time names)") == 0;
        unnamed += strcmp(name, "(run-time name)") == 0;
    }
    assert_int_equal(traced_footer(&f, "written"), NAMES + 101);
    assert_int_equal(traced_footer(&f, "emitted"), NAMES + 101);
    assert_int_equal(unnamed, 1);
    unsigned own = 0;
    for (int i = 0; i < NAMES; i++) {
        assert_true(seen[i] <= (i < 100 ? 2u : 1u));
        own += seen[i];
    }
    assert_true(own >= 49000); /* the bound of docs/LIFE_OF_AN_EVENT.md */
    assert_int_equal(own + further, NAMES + 100);
    traced_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(a_category_has_its_canonical_name),
        CASE(a_filter_takes_and_leaves_out),
        CASE(filters_can_be_changed_while_running),
        CASE(seventy_thousand_names_are_all_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
