/* test_config_path.c: names and directories of files. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config_path.h"
#include "os.h"
#include "utf8.h"

#include <perftrace/status.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void labels_become_names(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"actor", "actor"},
        {"actor/ref v2", "actor_ref_v2"},
        {"", "_"},
        {".", "_"},
        {"..", "__"},
        {"...", "..."},
        {"../../etc", ".._.._etc"},
        {"a\nb\x7f\\c:d*e", "a_b__c_d_e"},
        {"lr=1e-4,bs@8+x", "lr=1e-4,bs@8+x"},
        {"\xe5\xae\x9f\xe9\xa8\x93 1", "\xe5\xae\x9f\xe9\xa8\x93_1"},
        {"bad\xff\xc3", "bad__"},
    };
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
        perftrace__path_component(&out, cases[i][0], NULL);
        assert_string_equal(perftrace__strbuf_cstr(&out), cases[i][1]);
        perftrace__strbuf_free(&out);
    }
}

/* A label of `chars` characters of three bytes, at one place another one. */
static void make_label(perftrace__strbuf_t *out, unsigned chars, unsigned other) {
    for (unsigned i = 0; i < chars; i++) {
        perftrace__strbuf_puts(out, i == other ? "\xe9\xa8\x93" : "\xe5\xae\x9f");
    }
}

static void long_labels_that_differ_late_give_different_names(void **state) {
    (void)state;
    perftrace__strbuf_t a = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_t b = PERFTRACE__STRBUF_INIT;
    static const char *const suffixes[] = {NULL, "", "-r12.jsonl", "-r1.jsonl.gz"};
    make_label(&a, 400, 400);
    make_label(&b, 400, 390);
    for (size_t i = 0; i < PT_ARRAY_LEN(suffixes); i++) {
        perftrace__strbuf_t x = PERFTRACE__STRBUF_INIT;
        perftrace__strbuf_t y = PERFTRACE__STRBUF_INIT;
        perftrace__strbuf_t again = PERFTRACE__STRBUF_INIT;
        size_t n = suffixes[i] ? strlen(suffixes[i]) : 0;
        perftrace__path_component(&x, a.data, suffixes[i]);
        perftrace__path_component(&y, b.data, suffixes[i]);
        perftrace__path_component(&again, a.data, suffixes[i]);
        assert_string_not_equal(x.data, y.data);
        assert_string_equal(x.data, again.data);
        assert_in_range(x.len, 250, 255);
        assert_true(perftrace__utf8_valid(x.data, x.len));
        assert_string_equal(x.data + x.len - n, suffixes[i] ? suffixes[i] : "");
        perftrace__strbuf_free(&x);
        perftrace__strbuf_free(&y);
        perftrace__strbuf_free(&again);
    }
    perftrace__strbuf_free(&a);
    perftrace__strbuf_free(&b);
}

static void names_of_up_to_255_bytes_stay_as_they_are(void **state) {
    (void)state;
    char label[300];
    for (size_t len = 240; len < 260; len++) {
        perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
        memset(label, 'x', len);
        label[len] = '\0';
        perftrace__path_component(&out, label, NULL);
        assert_int_equal(out.len, PT_MIN(len, 255));
        assert_int_equal(strcmp(out.data, label) == 0, len <= 255);
        perftrace__strbuf_free(&out);
    }
}

/* Resolves with these variables and returns the status; the trace path for n (-1: none) in out. */
static int path_of(const char *const *env, int n, char out[PATH_MAX], perftrace__strbuf_t *msgs) {
    perftrace__config_t c;
    perftrace__strbuf_t path = PERFTRACE__STRBUF_INIT;
    int status = perftrace__config_resolve_env(NULL, env, &c, msgs);
    out[0] = '\0';
    if (status == PERFTRACE_OK && n >= 0) {
        assert_int_equal(perftrace__config_trace_path(&c, (unsigned)n, &path), PERFTRACE_OK);
        snprintf(out, PATH_MAX, "%s", perftrace__strbuf_cstr(&path));
    }
    assert_int_equal(c.opt.enabled, status == PERFTRACE_OK);
    perftrace__strbuf_free(&path);
    perftrace__config_free(&c);
    return status;
}

static void a_directory_alone_holds_the_files(void **state) {
    (void)state;
    char got[PATH_MAX];
    char unknown[64];
    const char *env[] = {"PERFTRACE_DIR=/d/", "PERFTRACE_RANK=3", "PERFTRACE_ROLE=actor", NULL};
    path_of(env, 0, got, NULL);
    assert_string_equal(got, "/d/traces-r3.jsonl");
    path_of(env, 12, got, NULL);
    assert_string_equal(got, "/d/traces-r3.12.jsonl");
    const char *no_rank[] = {"PERFTRACE_DIR=/", NULL};
    path_of(no_rank, 0, got, NULL);
    snprintf(unknown, sizeof(unknown), "/traces-u%u.jsonl", perftrace__os_pid());
    assert_string_equal(got, unknown);
    path_of(no_rank, 2, got, NULL);
    snprintf(unknown, sizeof(unknown), "/traces-u%u.2.jsonl", perftrace__os_pid());
    assert_string_equal(got, unknown);
}

static void the_layout_of_areal_is_kept(void **state) {
    (void)state;
    char login[256];
    char expected[1024];
    perftrace__os_username(login, sizeof(login));
    const char *env[] = {"PERFTRACE_FILEROOT=/root/x",  "PERFTRACE_EXPERIMENT_NAME=gsm8k-grpo",
                         "PERFTRACE_TRIAL_NAME=t 0",    "RANK=7",
                         "PERFTRACE_ROLE=eval-rollout", NULL};
    perftrace__config_t c;
    perftrace__strbuf_t path = PERFTRACE__STRBUF_INIT;
    assert_int_equal(perftrace__config_resolve_env(NULL, env, &c, NULL), PERFTRACE_OK);
    assert_int_equal(perftrace__config_trace_path(&c, 0, &path), PERFTRACE_OK);
    snprintf(expected, sizeof(expected),
             "/root/x/logs/%s/gsm8k-grpo/t_0/perf_tracer/eval-rollout/traces-r7.jsonl", login);
    assert_string_equal(path.data, expected);
    perftrace__strbuf_clear(&path);
    assert_int_equal(perftrace__config_session_path(&c, 1, &path), PERFTRACE_OK);
    snprintf(expected, sizeof(expected),
             "/root/x/logs/%s/gsm8k-grpo/t_0/session_tracer/eval-rollout/sessions-r7.1.jsonl",
             login);
    assert_string_equal(path.data, expected);
    perftrace__strbuf_free(&path);
    perftrace__config_free(&c);
    env[4] = NULL;
    char got[PATH_MAX];
    path_of(env, 0, got, NULL);
    snprintf(expected, sizeof(expected),
             "/root/x/logs/%s/gsm8k-grpo/t_0/perf_tracer/traces-r7.jsonl", login);
    assert_string_equal(got, expected);
}

static void a_rank_that_becomes_known_later_names_the_file(void **state) {
    (void)state;
    const char *env[] = {"PERFTRACE_DIR=/d", NULL};
    perftrace__config_t c;
    perftrace__strbuf_t path = PERFTRACE__STRBUF_INIT;
    assert_int_equal(perftrace__config_resolve_env(NULL, env, &c, NULL), PERFTRACE_OK);
    c.opt.rank = 5;
    assert_int_equal(perftrace__config_trace_path(&c, 0, &path), PERFTRACE_OK);
    assert_string_equal(path.data, "/d/traces-r5.jsonl");
    perftrace__strbuf_free(&path);
    perftrace__config_free(&c);
}

static void an_incomplete_layout_is_named(void **state) {
    (void)state;
    char got[PATH_MAX];
    perftrace__strbuf_t msgs = PERFTRACE__STRBUF_INIT;
    const char *env[] = {"PERFTRACE_FILEROOT=/root/x", "PERFTRACE_RANK=0", NULL};
    path_of(env, 0, got, &msgs);
    assert_non_null(strstr(got, "/perftrace-out/traces-r0.jsonl"));
    assert_non_null(strstr(perftrace__strbuf_cstr(&msgs), "not set: experiment_name trial_name\n"));
    perftrace__strbuf_free(&msgs);
}

static void a_relative_directory_is_bound_where_the_program_started(void **state) {
    (void)state;
    char cwd[PATH_MAX];
    char expected[PATH_MAX + 64];
    const char *env[] = {"PERFTRACE_DIR=a/b/c", "PERFTRACE_RANK=0", NULL};
    perftrace__config_t c;
    perftrace__strbuf_t path = PERFTRACE__STRBUF_INIT;
    assert_non_null(getcwd(cwd, sizeof(cwd)));
    assert_int_equal(perftrace__config_resolve_env(NULL, env, &c, NULL), PERFTRACE_OK);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(perftrace__config_trace_path(&c, 0, &path), PERFTRACE_OK);
    snprintf(expected, sizeof(expected), "%s/a/b/c/traces-r0.jsonl", cwd);
    assert_string_equal(path.data, expected);
    assert_int_equal(chdir(cwd), 0);
    perftrace__strbuf_free(&path);
    perftrace__config_free(&c);
}

static void directories_beyond_the_systems_limit_are_named_at_once(void **state) {
    (void)state;
    char got[PATH_MAX];
    perftrace__strbuf_t var = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_t msgs = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_printf(&var, "PERFTRACE_DIR=/%0256d", 0);
    const char *env[] = {var.data, "PERFTRACE_RANK=0", NULL};
    assert_int_equal(path_of(env, -1, got, &msgs), PERFTRACE_ERR_TOO_LONG);
    assert_non_null(strstr(perftrace__strbuf_cstr(&msgs), "error: dir: \"/000"));
    assert_non_null(strstr(perftrace__strbuf_cstr(&msgs), "a name of 256 bytes"));
    perftrace__strbuf_clear(&msgs);
    perftrace__strbuf_clear(&var);
    perftrace__strbuf_puts(&var, "PERFTRACE_DIR=");
    for (unsigned i = 0; i < 2100; i++) {
        perftrace__strbuf_puts(&var, "/y");
    }
    env[0] = var.data;
    assert_int_equal(path_of(env, -1, got, &msgs), PERFTRACE_ERR_TOO_LONG);
    assert_non_null(strstr(perftrace__strbuf_cstr(&msgs), "has 4200 bytes"));
    perftrace__strbuf_free(&msgs);
    /* The longest directory that is accepted really has room for the longest name. */
    var.data[strlen("PERFTRACE_DIR=") + PATH_MAX - 48] = '\0';
    env[1] = "PERFTRACE_RANK=2147483646";
    perftrace__config_t c;
    perftrace__strbuf_t path = PERFTRACE__STRBUF_INIT;
    assert_int_equal(perftrace__config_resolve_env(NULL, env, &c, NULL), PERFTRACE_OK);
    assert_int_equal(perftrace__config_session_path(&c, UINT_MAX, &path), PERFTRACE_OK);
    assert_true(path.len < PATH_MAX);
    perftrace__strbuf_free(&path);
    perftrace__strbuf_free(&var);
    perftrace__config_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_become_names),
        cmocka_unit_test(long_labels_that_differ_late_give_different_names),
        cmocka_unit_test(names_of_up_to_255_bytes_stay_as_they_are),
        cmocka_unit_test(a_directory_alone_holds_the_files),
        cmocka_unit_test(the_layout_of_areal_is_kept),
        cmocka_unit_test(a_rank_that_becomes_known_later_names_the_file),
        cmocka_unit_test(an_incomplete_layout_is_named),
        cmocka_unit_test(a_relative_directory_is_bound_where_the_program_started),
        cmocka_unit_test(directories_beyond_the_systems_limit_are_named_at_once),
    };
    return cmocka_run_group_tests_name("config paths", tests, NULL, NULL);
}
