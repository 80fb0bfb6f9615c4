/* test_run_parts.c: the small parts of perf-trace-run. SPDX-License-Identifier: MIT */
#include "run_environ.h"
#include "run_prefix.h"
#include "run_profile_util.h"
#include "run_tracer.h"
#include "run_yaml.h"

#include <unistd.h>

static void test_settings(void **state) {
    (void)state;
    pt_settings_t s = PT_SETTINGS_INIT;
    pt_settings_put(&s, "a", "1", "here");
    pt_settings_put(&s, "b", "2", NULL);
    pt_settings_put(&s, "a", "3", "there");
    pt_settings_default(&s, "b", "9", NULL);
    pt_settings_default(&s, "c", "4", NULL);
    assert_int_equal(s.count, 3);
    assert_string_equal(s.items[0].value, "3");
    assert_string_equal(s.items[0].origin, "there");
    assert_string_equal(pt_settings_get(&s, "b"), "2");
    assert_string_equal(pt_settings_get(&s, "c"), "4");
    assert_true(pt_settings_put_pair(&s, "d=x=y", NULL));
    assert_string_equal(pt_settings_get(&s, "d"), "x=y");
    assert_true(pt_settings_put_pair(&s, "e=", NULL));
    assert_false(pt_settings_put_pair(&s, "=x", NULL));
    assert_false(pt_settings_put_pair(&s, "x", NULL));
    pt_settings_remove(&s, "a");
    pt_settings_remove(&s, "absent");
    assert_null(pt_settings_get(&s, "a"));
    assert_string_equal(s.items[0].name, "b");
    assert_false(s.failed);
    pt_settings_free(&s);
}

static void test_environment(void **state) {
    (void)state;
    static const char *const texts[] = {"PATH=/bin", "PERFTRACE_RANK=5", "A=old", "AB=kept", "odd",
                                        NULL};
    char *const *inherited = (char *const *)(uintptr_t)texts;
    const char *const unset[] = {"PERFTRACE_RANK", NULL};
    pt_settings_t set = PT_SETTINGS_INIT;
    pt_settings_put(&set, "A", "new", NULL);
    pt_settings_put(&set, "EMPTY", "", NULL);
    char **env = pt_environ_make(inherited, unset, &set);
    static const char *const wanted[] = {"PATH=/bin", "AB=kept", "odd", "A=new", "EMPTY="};
    for (size_t i = 0; i < PT_ARRAY_LEN(wanted); i++) {
        assert_string_equal(env[i], wanted[i]);
    }
    assert_null(env[PT_ARRAY_LEN(wanted)]);
    free(env);
    env = pt_environ_make(NULL, NULL, &set);
    assert_string_equal(env[0], "A=new");
    assert_null(env[2]);
    free(env);
    pt_settings_free(&set);
}

static void test_programs(void **state) {
    (void)state;
    perftrace__strbuf_t path = PERFTRACE__STRBUF_INIT;
    assert_int_equal(pt_environ_find_program("sh", "/nowhere:/bin:/usr/bin", &path), 0);
    assert_string_equal(path.data, "/bin/sh");
    perftrace__strbuf_clear(&path);
    assert_int_equal(pt_environ_find_program("sh", "/nowhere", &path), 127);
    perftrace__strbuf_clear(&path);
    assert_int_equal(pt_environ_find_program("/etc/passwd", "", &path), 126);
    perftrace__strbuf_clear(&path);
    assert_int_equal(pt_environ_find_program("passwd", "/etc:/nowhere", &path), 126);
    perftrace__strbuf_clear(&path);
    assert_int_equal(pt_environ_find_program("/no/such", NULL, &path), 127);
    perftrace__strbuf_clear(&path);
    assert_int_equal(pt_environ_find_program("", "/bin", &path), 127);
    perftrace__strbuf_free(&path);
}

static void test_prefix(void **state) {
    (void)state;
    pt_prefix_t p = {.text = "[rank 3] "};
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    pt_prefix_feed(&p, "one\ntw", 6, &out);
    assert_string_equal(out.data, "[rank 3] one\n");
    pt_prefix_feed(&p, "o\n\nthree", 8, &out);
    assert_string_equal(out.data, "[rank 3] one\n[rank 3] two\n[rank 3] \n");
    pt_prefix_end(&p, &out);
    pt_prefix_end(&p, &out);
    assert_string_equal(out.data, "[rank 3] one\n[rank 3] two\n[rank 3] \n[rank 3] three\n");
    perftrace__strbuf_clear(&out);
    /* Bytes that are no text go through; a line without end is parted. */
    pt_prefix_feed(&p, "\0\xff\n", 3, &out);
    assert_memory_equal(out.data, "[rank 3] \0\xff\n", 12);
    perftrace__strbuf_clear(&out);
    static char block[1024];
    memset(block, 'x', sizeof(block));
    for (size_t i = 0; i < PT_PREFIX_LINE_MAX / sizeof(block) + 1; i++) {
        pt_prefix_feed(&p, block, sizeof(block), &out);
    }
    assert_true(out.len > PT_PREFIX_LINE_MAX);
    assert_int_equal(p.partial.len, 0);
    perftrace__strbuf_free(&out);
    pt_prefix_free(&p);
}

static void test_yaml(void **state) {
    (void)state;
    static const char text[] = "a: &x 1\n"
                               "b: [*x, \"1\", true, ~, 1.5]\n"
                               "a.b: {c: d}\n"
                               "? [k]\n"
                               ": v\n";
    size_t line;
    perftrace__strbuf_t why = PERFTRACE__STRBUF_INIT;
    pt_yaml_t *yaml = pt_yaml_parse(text, sizeof(text) - 1, &line, &why);
    const pt_yaml_node_t *root = pt_yaml_root(yaml);
    assert_int_equal(pt_yaml_kind(root), PT_YAML_MAP);
    assert_int_equal(pt_yaml_count(root), 4);
    const pt_yaml_node_t *b = pt_yaml_member(yaml, root, "b");
    static const pt_yaml_kind_t kinds[] = {PT_YAML_NUMBER, PT_YAML_TEXT, PT_YAML_BOOL, PT_YAML_NULL,
                                           PT_YAML_TEXT};
    for (size_t i = 0; i < PT_ARRAY_LEN(kinds); i++) {
        assert_int_equal(pt_yaml_kind(pt_yaml_item(yaml, b, i)), kinds[i]);
    }
    assert_int_equal(pt_yaml_line(b), 2);
    assert_string_equal(pt_yaml_text(b), "");
    const pt_yaml_node_t *dotted = pt_yaml_member(yaml, root, "a.b");
    assert_string_equal(pt_yaml_text(pt_yaml_member(yaml, dotted, "c")), "d");
    assert_null(pt_yaml_member(yaml, root, "k"));
    assert_null(pt_yaml_member(yaml, NULL, "k"));
    assert_int_equal(pt_yaml_kind(NULL), PT_YAML_NONE);
    pt_yaml_free(yaml);
    assert_null(pt_yaml_parse("a: b: c\n", 8, &line, &why));
    assert_int_equal(line, 1);
    assert_true(why.len > 0);
    perftrace__strbuf_free(&why);
    pt_yaml_free(NULL);
}

/* Texts that would keep libyaml busy for minutes, and such as hold more than is read. */
static void test_yaml_that_is_too_much(void **state) {
    (void)state;
    perftrace__strbuf_t deep = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_t anchors = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_puts(&deep, "a:\n  ");
    for (int i = 0; i < 200000; i++) {
        perftrace__strbuf_puts(&deep, "[");
        perftrace__strbuf_printf(&anchors, "%s", i < 100000 ? "- &" : "");
        if (i < 100000) {
            perftrace__strbuf_printf(&anchors, "%d x\n", i);
        }
    }
    const struct {
        const char *text;
        size_t len; /* 0: of a C string */
        size_t line;
        const char *why;
    } cases[] = {
        {deep.data, deep.len, 2, "nested too deeply"},
        {anchors.data, PT_MIN(anchors.len, (size_t)PT_YAML_TEXT_MAX), 1001, "too many anchors"},
        {"a: b\n---\na: c\n", 0, 2, "a second document"},
        {"a:\n- \"b\\0c\"\n", 0, 2, "a NUL in a text"},
        {"\"a\\0\": b\n", 0, 1, "a NUL in a text"},
    };
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        size_t line = 0;
        perftrace__strbuf_t why = PERFTRACE__STRBUF_INIT;
        const size_t len = cases[i].len ? cases[i].len : strlen(cases[i].text);
        assert_null(pt_yaml_parse(cases[i].text, len, &line, &why));
        assert_non_null(strstr(perftrace__strbuf_cstr(&why), cases[i].why));
        assert_int_equal(line, cases[i].line);
        perftrace__strbuf_free(&why);
    }
    perftrace__strbuf_free(&deep);
    perftrace__strbuf_free(&anchors);
}

/* A worker that inherits nothing has the same settings. */
static void test_tracer(void **state) {
    (void)state;
    char path[] = "/tmp/perftrace-run-XXXXXX";
    int fd = mkstemp(path);
    static const char text[] = "perf_tracer: {dir: traces, categories: [compute, comm]}\n";
    assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
    close(fd);
    pt_settings_t settings = PT_SETTINGS_INIT;
    perftrace__strbuf_t msgs = PERFTRACE__STRBUF_INIT;
    setenv("PERFTRACE_FLUSH_MS", "70", 1);
    assert_true(pt_tracer_settings(path, NULL, NULL, &settings, &msgs));
    assert_string_equal(pt_settings_get(&settings, "PERFTRACE_FLUSH_MS"), "70");
    assert_string_equal(pt_settings_get(&settings, "PERFTRACE_CATEGORIES"), "compute,comm");
    assert_int_equal(pt_settings_get(&settings, "PERFTRACE_DIR")[0], '/');
    assert_null(pt_settings_get(&settings, "PERFTRACE_RING_SIZE")); /* a default */
    assert_null(pt_settings_get(&settings, "PERFTRACE_FORWARD"));
    pt_settings_free(&settings);
    assert_true(pt_tracer_settings(path, "/elsewhere", "tcp:collector:7400", &settings, &msgs));
    assert_string_equal(pt_settings_get(&settings, "PERFTRACE_DIR"), "/elsewhere");
    assert_string_equal(pt_settings_get(&settings, "PERFTRACE_FORWARD"), "tcp:collector:7400");
    pt_settings_free(&settings);
    perftrace__strbuf_free(&msgs);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings), cmocka_unit_test(test_environment),
        cmocka_unit_test(test_programs), cmocka_unit_test(test_prefix),
        cmocka_unit_test(test_yaml),     cmocka_unit_test(test_yaml_that_is_too_much),
        cmocka_unit_test(test_tracer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
