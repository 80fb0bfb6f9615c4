/* test_config_yaml.c: YAML and JSON to dotted paths. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config_yaml.h"

#include <perftrace/status.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct doc_case {
    const char *text;
    const char
        *entries; /* "path=value;" in order; "~" null, "{}" mapping, "[..]" list, "!" refused */
    const char *messages;
} doc_case_t;

static const doc_case_t doc_cases[] = {
    {"", "", ""},
    {"# only a comment\n", "", ""},
    {"perf_tracer:\n  enabled: true\n  dir: /x # why\n",
     "perf_tracer={};perf_tracer.enabled=true;perf_tracer.dir=/x;", ""},
    {"{\"perf_tracer\": {\"enabled\": true,\n\t\"ranks\": [0, \"8-9\"], \"role\": \"\\u00e9\"}}",
     "perf_tracer={};perf_tracer.enabled=true;perf_tracer.ranks=[0,8-9];perf_tracer.role=\xc3\xa9;",
     ""},
    {"a: {b: {c: 1, d: 2}, e: 3}\nf: 4\n", "a={};a.b={};a.b.c=1;a.b.d=2;a.e=3;f=4;", ""},
    {"a: null\nb: ~\nc:\nd: 'null'\ne: \"\"\n", "a=~;b=~;c=~;d=null;e=;", ""},
    {"a: &x 5\nb: *x\nc: [*x, 6]\n", "a=5;b=5;c=[5,6];", ""},
    {"a: &x {b: 1}\nc: *x\nd: 2\n", "a={};a.b=1;c=!;d=2;", ""},
    {"perf_tracer:\n  dir: *x\n", "perf_tracer={};perf_tracer.dir=!;",
     "warning: t:2: perf_tracer.dir: this alias has no anchor, it is not used\n"},
    {"x: &x {a: 1}\nperf_tracer:\n  <<: *x\n  dir: d\n",
     "x={};x.a=1;perf_tracer={};perf_tracer.<<=!;perf_tracer.dir=d;",
     "warning: t:3: perf_tracer.<<: only aliases of scalar values are understood, this one is not "
     "used\n"},
    {"perf_tracer: {dir: !!str 5, role: !mine x}\n",
     "perf_tracer={};perf_tracer.dir=5;perf_tracer.role=!;",
     "warning: t:1: perf_tracer.role: this tag is not understood, the value is not used\n"},
    {"other: !mine x\n", "other=!;", ""},
    {"perf_tracer: {role: \"a\\0b\"}\n", "perf_tracer={};perf_tracer.role=!;",
     "warning: t:1: perf_tracer.role: a NUL character in a value, the value is not used\n"},
    {"perf_tracer:\n  dir: a\n  dir: b\n", "perf_tracer={};perf_tracer.dir=a;perf_tracer.dir=b;",
     "warning: t:3: perf_tracer.dir: given twice, the last one counts\n"},
    {"perf_tracer:\n  ranks: [1, [2, 3], {x: y}, 4]\n  dir: d\n",
     "perf_tracer={};perf_tracer.ranks=[1,4];perf_tracer.dir=d;",
     "warning: t:2: perf_tracer.ranks: a list within a list is not understood and left out\n"
     "warning: t:2: perf_tracer.ranks: a list within a list is not understood and left out\n"},
    {"? [a, b]\n: c\n? {d: e}\n: {f: g}\nh: i\n", "h=i;", ""},
    {"a: 1\n---\na: 2\n", "a=1;", "warning: t:2: only the first document of the file is read\n"},
    {"--- text\n", "", ""},
    {"- a\n- b: c\n", "", ""},
    {"a: [1, 2\n", "", "warning: t:2:1: did not find expected ',' or ']'; the file is not used\n"},
    {"perf_tracer:\n  enabled: true\n dir: x\n", "",
     "warning: t:3:2: did not find expected key; the file is not used\n"},
    {"a: \xff\n", "", "warning: t:1:1: invalid leading UTF-8 octet; the file is not used\n"},
};

static void describe(const perftrace__config_doc_t *d, perftrace__strbuf_t *out) {
    for (size_t i = 0; i < d->count; i++) {
        const perftrace__entry_t *e = &d->entries[i];
        perftrace__strbuf_printf(out, "%s=", e->path);
        switch (e->kind) {
        case PERFTRACE__ENTRY_SCALAR:
            perftrace__strbuf_puts(out, e->value);
            break;
        case PERFTRACE__ENTRY_NULL:
            perftrace__strbuf_puts(out, "~");
            break;
        case PERFTRACE__ENTRY_LIST:
            perftrace__strbuf_printf(out, "[%s]", e->value);
            break;
        case PERFTRACE__ENTRY_MAP:
            perftrace__strbuf_puts(out, "{}");
            break;
        case PERFTRACE__ENTRY_REFUSED:
            perftrace__strbuf_puts(out, "!");
            break;
        }
        perftrace__strbuf_putc(out, ';');
    }
}

static void texts_become_paths_and_problems_have_their_line(void **state) {
    (void)state;
    for (size_t i = 0; i < PT_ARRAY_LEN(doc_cases); i++) {
        const doc_case_t *c = &doc_cases[i];
        perftrace__config_doc_t d = PERFTRACE__CONFIG_DOC_INIT;
        perftrace__strbuf_t msgs = PERFTRACE__STRBUF_INIT;
        perftrace__strbuf_t got = PERFTRACE__STRBUF_INIT;
        perftrace__config_doc_parse(c->text, strlen(c->text), "t", &d, &msgs);
        describe(&d, &got);
        assert_string_equal(perftrace__strbuf_cstr(&got), c->entries);
        assert_string_equal(perftrace__strbuf_cstr(&msgs), c->messages);
        perftrace__config_doc_free(&d);
        perftrace__strbuf_free(&msgs);
        perftrace__strbuf_free(&got);
    }
}

static int parse_status(const char *text, size_t len, perftrace__strbuf_t *msgs) {
    perftrace__config_doc_t d = PERFTRACE__CONFIG_DOC_INIT;
    int status = perftrace__config_doc_parse(text, len, "t", &d, msgs);
    perftrace__config_doc_free(&d);
    return status;
}

static void sizes_are_bounded(void **state) {
    (void)state;
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_t msgs = PERFTRACE__STRBUF_INIT;
    for (unsigned i = 0; i < 65; i++) {
        perftrace__strbuf_puts(&text, "{a: ");
    }
    assert_int_equal(parse_status(text.data, text.len, &msgs), PERFTRACE_ERR_TOO_LONG);
    assert_non_null(strstr(perftrace__strbuf_cstr(&msgs), "nested too deeply"));
    perftrace__strbuf_clear(&text);
    for (unsigned i = 0; i < 16385; i++) {
        perftrace__strbuf_printf(&text, "k%u: 1\n", i);
    }
    assert_int_equal(parse_status(text.data, text.len, &msgs), PERFTRACE_ERR_TOO_LONG);
    assert_non_null(strstr(perftrace__strbuf_cstr(&msgs), "t:16385: too many values"));
    perftrace__strbuf_clear(&text);
    while (text.len <= PERFTRACE__CONFIG_FILE_MAX) {
        perftrace__strbuf_puts(&text, "# a comment\n");
    }
    assert_int_equal(parse_status(text.data, text.len, &msgs), PERFTRACE_ERR_TOO_LONG);
    assert_int_equal(parse_status(text.data, PERFTRACE__CONFIG_FILE_MAX - 4, &msgs), PERFTRACE_OK);
    perftrace__strbuf_clear(&text);
    /* A key beyond every path of ours is passed over, what stands around it is read. */
    perftrace__strbuf_puts(&text, "a: 1\n");
    for (unsigned i = 0; i < 600; i++) {
        perftrace__strbuf_putc(&text, 'k');
    }
    perftrace__strbuf_puts(&text, ": {x: [y]}\nb: 2\n");
    perftrace__config_doc_t d = PERFTRACE__CONFIG_DOC_INIT;
    assert_int_equal(perftrace__config_doc_parse(text.data, text.len, "t", &d, NULL), PERFTRACE_OK);
    assert_int_equal(d.count, 2);
    perftrace__config_doc_free(&d);
    perftrace__strbuf_free(&text);
    perftrace__strbuf_free(&msgs);
}

static const char *get_one(const char *name, void *user) {
    (void)user;
    return strcmp(name, "SCRATCH") == 0 ? "/scratch" : strcmp(name, "a.b") == 0 ? "wrong" : NULL;
}

typedef struct reference_case {
    const char *value;
    int status;
    const char *result; /* or the name that is not known */
} reference_case_t;

static void references_are_resolved(void **state) {
    (void)state;
    static const char text[] = "a: {b: one, c: '${a.b}-two'}\n"
                               "circle: ${ring}\nring: ${circle}\n"
                               "e0: ''\ne1: ${e0}${e0}${e0}${e0}${e0}${e0}${e0}${e0}\n"
                               "e2: ${e1}${e1}${e1}${e1}${e1}${e1}${e1}${e1}\n"
                               "e3: ${e2}${e2}${e2}${e2}${e2}${e2}${e2}${e2}\n"
                               "e4: ${e3}${e3}${e3}${e3}${e3}${e3}${e3}${e3}\n"
                               "list: [1]\nnothing: null\n";
    static const reference_case_t cases[] = {
        {"", PERFTRACE_OK, ""},
        {"plain", PERFTRACE_OK, "plain"},
        {"${a.b}", PERFTRACE_OK, "one"},
        {"<${a.c}/${SCRATCH}>", PERFTRACE_OK, "<one-two//scratch>"},
        {"${oc.env:SCRATCH}", PERFTRACE_OK, "/scratch"},
        {"${oc.env:NONE,/tmp/x}", PERFTRACE_OK, "/tmp/x"},
        {"${oc.env:NONE}", PERFTRACE_ERR_NOT_FOUND, "oc.env:NONE"},
        {"${a}", PERFTRACE_ERR_NOT_FOUND, "a"},
        {"${list}", PERFTRACE_ERR_NOT_FOUND, "list"},
        {"${nothing}", PERFTRACE_ERR_NOT_FOUND, "nothing"},
        {"${a.b}${cluster.fileroot}", PERFTRACE_ERR_NOT_FOUND, "cluster.fileroot"},
        {"${circle}", PERFTRACE_ERR_TOO_LONG, NULL},
        {"${e4}", PERFTRACE_ERR_TOO_LONG, NULL},
        {"${open", PERFTRACE_OK, "${open"},
        {"$a {b}", PERFTRACE_OK, "$a {b}"},
    };
    perftrace__config_doc_t d = PERFTRACE__CONFIG_DOC_INIT;
    assert_int_equal(perftrace__config_doc_parse(text, strlen(text), "t", &d, NULL), PERFTRACE_OK);
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
        char *name = NULL;
        int status =
            perftrace__config_doc_interpolate(&d, cases[i].value, get_one, NULL, &out, &name);
        assert_int_equal(status, cases[i].status);
        if (status == PERFTRACE_OK) {
            assert_string_equal(perftrace__strbuf_cstr(&out), cases[i].result);
        } else if (status == PERFTRACE_ERR_NOT_FOUND) {
            assert_string_equal(name, cases[i].result);
        }
        free(name);
        perftrace__strbuf_free(&out);
    }
    perftrace__config_doc_free(&d);
}

static int read_status(const char *path, const char *expected) {
    perftrace__config_doc_t d = PERFTRACE__CONFIG_DOC_INIT;
    perftrace__strbuf_t msgs = PERFTRACE__STRBUF_INIT;
    int status = perftrace__config_doc_read(path, &d, &msgs);
    assert_non_null(strstr(perftrace__strbuf_cstr(&msgs), expected));
    perftrace__strbuf_free(&msgs);
    perftrace__config_doc_free(&d);
    return status;
}

static void only_readable_regular_files_are_read(void **state) {
    (void)state;
    char dir[] = "/tmp/perftrace-config-XXXXXX";
    char path[64];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/pipe", dir);
    assert_int_equal(read_status(path, "No such file"), PERFTRACE_ERR_NOT_FOUND);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(read_status(path, "not a regular file"), PERFTRACE_ERR_IO);
    assert_int_equal(read_status(dir, "not a regular file"), PERFTRACE_ERR_IO);
    unlink(path);
    rmdir(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_become_paths_and_problems_have_their_line),
        cmocka_unit_test(sizes_are_bounded),
        cmocka_unit_test(references_are_resolved),
        cmocka_unit_test(only_readable_regular_files_are_read),
    };
    return cmocka_run_group_tests_name("config files", tests, NULL, NULL);
}
