/* test_fetch.c: what is to be fetched, and by which commands. SPDX-License-Identifier: MIT */
#include "aws_command.h"
#include "bucket_key.h"
#include "bucket_list.h"
#include "fetch_options.h"
#include "fetch_report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* ---- keys ---------------------------------------------------------------------------------------
 */

static bool allowed(const char *path) {
    return pt_bucket_key_refused(path, strlen(path)) == NULL;
}

static void test_keys(void **state) {
    (void)state;
    char longest[300];
    static const char *const good[] = {
        "a",        "a/b/c",     "...",  "..a/b..", "sp ace", "new\nline",       "-dash",
        "a\\..\\b", "x/.hidden", "\xff", "~/x",     "C:/x",   "a/job_output.log"};
    static const char *const bad[] = {"",
                                      "/",
                                      "/etc/passwd",
                                      "..",
                                      "../x",
                                      "a/../b",
                                      "a/..",
                                      ".",
                                      "./a",
                                      "a/.",
                                      "a//b",
                                      "a/",
                                      ".perf-trace-fetch/x",
                                      ".perf-trace-fetch",
                                      "job_output.log",
                                      "job_output.incomplete.log"};
    for (size_t i = 0; i < PT_ARRAY_LEN(good); i++) {
        assert_true(allowed(good[i]));
    }
    for (size_t i = 0; i < PT_ARRAY_LEN(bad); i++) {
        assert_false(allowed(bad[i]));
    }
    assert_non_null(pt_bucket_key_refused("a\0b", 3));
    memset(longest, 'n', sizeof(longest));
    assert_null(pt_bucket_key_refused(longest, 255));
    assert_non_null(pt_bucket_key_refused(longest, 256));
}

static void test_patterns_of_keys(void **state) {
    (void)state;
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    pt_bucket_key_pattern("a[1]*?.txt", &out);
    assert_string_equal(perftrace__strbuf_cstr(&out), "a[[]1][*][?].txt");
    perftrace__strbuf_free(&out);
}

static void test_order_of_keys(void **state) {
    (void)state;
    /* "a-b" sorts before "a/b" by bytes; what lies below "a" must follow it at once. */
    static const char *const order[] = {"a",   "a/b", "a/b/c", "a/b-c",
                                        "a-b", "a.b", "b",     "\xc3\xbc"};
    for (size_t i = 0; i < PT_ARRAY_LEN(order); i++) {
        for (size_t k = 0; k < PT_ARRAY_LEN(order); k++) {
            int c = pt_bucket_key_compare(order[i], order[k]);
            assert_int_equal((c > 0) - (c < 0), (i > k) - (i < k));
        }
    }
    assert_true(pt_bucket_key_covers("a", "a"));
    assert_true(pt_bucket_key_covers("a", "a/b"));
    assert_false(pt_bucket_key_covers("a", "a-b"));
    assert_false(pt_bucket_key_covers("a/b", "a"));
}

static void test_kinds(void **state) {
    (void)state;
    /* Names as the profiling of Ray Data makes them. */
    static const struct {
        const char *path;
        pt_upload_kind_t kind;
    } cases[] = {{"gpu_usage_10_0_0_1.csv", PT_UPLOAD_GPU},
                 {"net_counters_10_0_0_1.csv", PT_UPLOAD_NET},
                 {"nsys_worker.nsys-rep", PT_UPLOAD_NSYS},
                 {"torch_profile_0.json.gz", PT_UPLOAD_TORCH},
                 {"driver_gc.json", PT_UPLOAD_GC},
                 {"deep/er/pyspy_driver.speedscope.json", PT_UPLOAD_PYSPY},
                 {"perf_gcs_10_0_0_1_collapsed.txt", PT_UPLOAD_PERF},
                 {"result_1.json", PT_UPLOAD_RESULT},
                 {"result.txt", PT_UPLOAD_OTHER},
                 {"object_store_state.jsonl", PT_UPLOAD_STORE},
                 {"actor_placement.json", PT_UPLOAD_ACTORS},
                 {"plasma_stats.csv", PT_UPLOAD_PLASMA},
                 {"perf_x/notes.txt", PT_UPLOAD_OTHER}};
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        assert_int_equal(pt_upload_kind_of(cases[i].path), cases[i].kind);
    }
    const char *near = NULL;
    assert_int_equal(pt_upload_find("store", &near), PT_UPLOAD_STORE);
    assert_int_equal(pt_upload_find("other", &near), PT_UPLOAD_OTHER);
    assert_int_equal(pt_upload_find("pispy", &near), PT_UPLOAD_COUNT);
    assert_string_equal(near, "pyspy");
}

/* ---- lists --------------------------------------------------------------------------------------
 */

static int parse(const char *text, pt_bucket_list_t *list, perftrace__strbuf_t *problem) {
    *list = (pt_bucket_list_t)PT_BUCKET_LIST_INIT;
    return pt_bucket_list_parse(text, strlen(text), "p/", list, problem);
}

static void test_times(void **state) {
    (void)state;
    /* By `date -u -d 2026-11-30T20:52:45Z +%s`. */
    static const struct {
        const char *text;
        int64_t seconds;
    } cases[] = {{"2026-11-30T20:52:45+00:00", 1796071965},
                 {"2026-11-30T20:52:45Z", 1796071965},
                 {"2026-11-30T20:52:45.000Z", 1796071965},
                 {"2026-11-30T20:52:45", 1796071965},
                 {"2026-11-30T20:52:45+01:00", 0},
                 {"2026-11-30", 0},
                 {"2026-13-30T20:52:45Z", 0},
                 {"yesterday", 0},
                 {"", 0},
                 {"1970-01-01T00:00:01Z", 1}};
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        assert_int_equal(pt_bucket_time(cases[i].text, strlen(cases[i].text)), cases[i].seconds);
    }
}

static void test_list(void **state) {
    (void)state;
    pt_bucket_list_t list;
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
    static const char text[] =
        "[[\"p/perf_b.txt\", 20, \"1970-01-01T00:01:40+00:00\"], [\"p/a\\nb\", 3, null],\n"
        " [\"p/\", 0, null], [\"p/dir/\", 0, null], [\"p/../up\", 7, null],\n"
        " [\"p/perf_b.txt/c\", 1, null], [\"p/a\\nb\", 4, null]]\n";
    assert_int_equal(parse(text, &list, &problem), 1);
    assert_int_equal(list.count, 5);
    assert_int_equal(list.markers, 2);
    uint64_t bytes = 0;
    assert_int_equal(pt_bucket_list_count(&list, PT_OBJECT_WANTED, &bytes), 2);
    assert_int_equal(pt_bucket_list_count(&list, PT_OBJECT_REFUSED, NULL), 3);
    for (size_t i = 0; i < list.count; i++) {
        if (strcmp(list.items[i].path, "perf_b.txt") == 0) {
            assert_int_equal(list.items[i].state, PT_OBJECT_WANTED);
            assert_int_equal(list.items[i].kind, PT_UPLOAD_PERF);
            assert_int_equal(list.items[i].modified, 100);
            assert_true(pt_object_is(&list.items[i], true, 20, 100));
            assert_true(pt_object_is(&list.items[i], true, 20, 101));
            assert_false(pt_object_is(&list.items[i], true, 20, 99));
            assert_false(pt_object_is(&list.items[i], true, 19, 101));
            assert_false(pt_object_is(&list.items[i], false, 20, 101));
            assert_true(pt_object_may_have(&list.items[i], NULL));
            assert_true(pt_object_may_have(&list.items[i], "\"any\"")); /* its own is not known */
        }
    }
    pt_string_list_t patterns = PT_STRING_LIST_INIT;
    assert_true(pt_string_list_add(&patterns, "p*f_?.txt"));
    pt_bucket_list_choose(&list, NULL, &patterns);
    assert_int_equal(pt_bucket_list_count(&list, PT_OBJECT_WANTED, NULL), 1);
    assert_int_equal(pt_bucket_list_count(&list, PT_OBJECT_LEFT_OUT, NULL), 4);
    bool kinds[PT_UPLOAD_COUNT] = {false};
    pt_bucket_list_choose(&list, kinds, &patterns);
    assert_int_equal(pt_bucket_list_count(&list, PT_OBJECT_WANTED, NULL), 0);
    pt_string_list_free(&patterns);
    pt_bucket_list_free(&list);

    assert_int_equal(parse("null", &list, &problem), 1);
    assert_int_equal(list.count, 0);
    assert_int_equal(problem.len, 0);
    perftrace__strbuf_free(&problem);
}

static void test_bad_lists(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      "{}",
                                      "[",
                                      "[[\"p/a\", 1, null]",
                                      "[[\"p/a\", 1, null]] x",
                                      "[[\"p/a\", 1]]",
                                      "[[\"p/a\", 1, null, 2]]",
                                      "[[\"p/a\", 1, null, \"e\", \"f\"]]",
                                      "[[\"p/a\", -1, null]]",
                                      "[[\"p/a\", \"1\", null]]",
                                      "[[7, 1, null]]",
                                      "[[\"q/a\", 1, null]]",
                                      "[\"p/a\"]",
                                      "An error occurred"};
    for (size_t i = 0; i < PT_ARRAY_LEN(bad); i++) {
        pt_bucket_list_t list;
        perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
        assert_int_equal(parse(bad[i], &list, &problem), -1);
        assert_true(problem.len > 0);
        perftrace__strbuf_free(&problem);
        pt_bucket_list_free(&list);
    }
}

/* ---- commands -----------------------------------------------------------------------------------
 */

static void join(const pt_string_list_t *argv, perftrace__strbuf_t *out) {
    perftrace__strbuf_clear(out);
    for (size_t i = 0; i < argv->count; i++) {
        perftrace__strbuf_printf(out, "%s%s", i ? " " : "", argv->items[i]);
    }
}

static void test_commands(void **state) {
    (void)state;
    pt_aws_t aws = {"aws", NULL, "bkt", "p/", false, 60};
    pt_bucket_list_t list;
    pt_string_list_t argv = PT_STRING_LIST_INIT;
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT, problem = PERFTRACE__STRBUF_INIT;
    assert_true(pt_aws_list(&aws, &argv));
    join(&argv, &text);
    assert_string_equal(perftrace__strbuf_cstr(&text),
                        "aws --cli-connect-timeout=60 --cli-read-timeout=60 s3api list-objects-v2 "
                        "--bucket=bkt --prefix=p/ --query=Contents[].[Key,Size,LastModified,ETag] "
                        "--output=json");
    pt_string_list_free(&argv);

    aws.endpoint_url = "http://h:1";
    aws.no_sign_request = true;
    assert_int_equal(parse("[[\"p/b\", 1, null], [\"p/a\", 1, null]]", &list, &problem), 1);
    size_t at = 0;
    assert_true(pt_aws_copy(&aws, &list, "/to", &at, &argv));
    join(&argv, &text);
    assert_string_equal(perftrace__strbuf_cstr(&text),
                        "aws --endpoint-url=http://h:1 --no-sign-request --cli-connect-timeout=60 "
                        "--cli-read-timeout=60 s3 cp s3://bkt/p/ /to --recursive "
                        "--only-show-errors");
    assert_int_equal(at, 2);
    pt_string_list_free(&argv);

    list.items[0].state = PT_OBJECT_PRESENT;
    at = 0;
    assert_true(pt_aws_copy(&aws, &list, "/to", &at, &argv));
    assert_string_equal(argv.items[argv.count - 2], "--exclude=*");
    assert_string_equal(argv.items[argv.count - 1], "--include=b");
    pt_string_list_free(&argv);
    pt_bucket_list_free(&list);
    perftrace__strbuf_free(&text);
    perftrace__strbuf_free(&problem);
}

/* Each wanted object is named once, in command lines of bounded length. */
static void test_many_commands(void **state) {
    (void)state;
    pt_aws_t aws = {"aws", NULL, "bkt", "p/", false, 60};
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT, problem = PERFTRACE__STRBUF_INIT;
    for (int i = 0; i < 1000; i++) {
        perftrace__strbuf_printf(&text, "%c[\"p/%0900d\", 1, null]\n", i ? ',' : '[', i);
    }
    perftrace__strbuf_puts(&text, ",[\"p/../x\", 1, null]]");
    pt_bucket_list_t list;
    assert_int_equal(parse(perftrace__strbuf_cstr(&text), &list, &problem), 1);
    /* A part of 900 bytes is refused: shorter ones, in folders. */
    assert_int_equal(pt_bucket_list_count(&list, PT_OBJECT_WANTED, NULL), 0);
    pt_bucket_list_free(&list);
    perftrace__strbuf_clear(&text);
    for (int i = 0; i < 1000; i++) {
        perftrace__strbuf_printf(&text, "%c[\"p/%0240d/%0240d/%0240d\", 1, null]\n", i ? ',' : '[',
                                 i, i, i);
    }
    perftrace__strbuf_puts(&text, ",[\"p/../x\", 1, null]]");
    assert_int_equal(parse(perftrace__strbuf_cstr(&text), &list, &problem), 1);
    size_t named = 0, runs = 0;
    for (size_t at = 0; at < list.count; runs++) {
        pt_string_list_t argv = PT_STRING_LIST_INIT;
        size_t bytes = 0;
        assert_true(pt_aws_copy(&aws, &list, "/to", &at, &argv));
        for (size_t i = 0; i < argv.count; i++) {
            bytes += strlen(argv.items[i]);
            named += strncmp(argv.items[i], "--include=", 10) == 0;
        }
        assert_true(bytes < 128U * 1024U);
        pt_string_list_free(&argv);
    }
    assert_int_equal(named, 1000);
    assert_true(runs > 5 && runs < 30);
    pt_bucket_list_free(&list);
    perftrace__strbuf_free(&text);
    perftrace__strbuf_free(&problem);
}

/* ---- options ------------------------------------------------------------------------------------
 */

static const char *no_env(const char *name) {
    (void)name;
    return NULL;
}
static const char *some_env(const char *name) {
    return strcmp(name, "PROFILING_S3_BUCKET") == 0     ? "from-env"
           : strcmp(name, "PROFILING_LOG_COMMAND") == 0 ? "logs"
           : strcmp(name, "AWS_ENDPOINT_URL") == 0      ? "http://env:1"
                                                        : NULL;
}

static int options(pt_fetch_options_t *o, pt_fetch_env_fn env, const char *const *words) {
    char *argv[12] = {NULL};
    int argc = 0;
    for (; words[argc]; argc++) {
        argv[argc] = (char *)(uintptr_t)words[argc];
    }
    return pt_fetch_options_parse(o, argc, argv, env);
}
#define OPTIONS(o, env, ...) options(o, env, (const char *const[]){"fetch", __VA_ARGS__, NULL})

static void test_options(void **state) {
    (void)state;
    pt_fetch_options_t o;
    assert_int_equal(OPTIONS(&o, some_env, "job", "/pre/fix//"), PT_OPTION_GO_ON);
    assert_string_equal(perftrace__strbuf_cstr(&o.bucket), "from-env");
    assert_string_equal(perftrace__strbuf_cstr(&o.prefix), "/pre/fix/");
    assert_string_equal(perftrace__strbuf_cstr(&o.folder), "job");
    assert_string_equal(o.job, "job");
    assert_string_equal(o.log_command, "logs");
    assert_string_equal(o.endpoint_url, "http://env:1");
    pt_fetch_options_free(&o);

    assert_int_equal(
        OPTIONS(&o, no_env, "-d", "to/", "-l", "mine", "-e", "http://x", "job", "s3://other/a b"),
        PT_OPTION_GO_ON);
    assert_string_equal(perftrace__strbuf_cstr(&o.bucket), "other");
    assert_string_equal(perftrace__strbuf_cstr(&o.prefix), "a b/");
    assert_string_equal(perftrace__strbuf_cstr(&o.folder), "to/job");
    assert_string_equal(o.job, "job");
    assert_string_equal(o.log_command, "mine");
    assert_string_equal(o.endpoint_url, "http://x");
    pt_fetch_options_free(&o);

    assert_int_equal(OPTIONS(&o, no_env, "--no-copy", "job"), PT_OPTION_GO_ON);
    assert_string_equal(o.log_command, "anyscale logs job --id \"$1\" --download --download-dir .");
    assert_null(o.endpoint_url);
    pt_fetch_options_free(&o);
}

static void test_wrong_options(void **state) {
    (void)state;
    static const char *const wrong[][6] = {{"fetch", "job", "prefix"}, /* no bucket */
                                           {"fetch", "-b", "b", "job"},
                                           {"fetch", "-b", "b", "../job", "p"},
                                           {"fetch", "-b", "b", "..", "p"},
                                           {"fetch", "-b", "b", "", "p"},
                                           {"fetch", "-b", "b", "a\nb", "p"},
                                           {"fetch", "-b", "b", "job", "/"},
                                           {"fetch", "-b", "b", "job", ""},
                                           {"fetch", "-b", "b/c", "job", "p"},
                                           {"fetch", "-b", "b", "job", "s3://c/p"},
                                           {"fetch", "job", "s3:///p"},
                                           {"fetch", "job", "s3://b"},
                                           {"fetch", "--no-copy", "job", "p"},
                                           {"fetch", "--no-copy", "--no-logs", "job"},
                                           {"fetch", "-kperv", "job", "s3://b/p"}};
    for (size_t i = 0; i < PT_ARRAY_LEN(wrong); i++) {
        pt_fetch_options_t o;
        assert_int_equal(options(&o, no_env, wrong[i]), PT_EXIT_USAGE);
        pt_fetch_options_free(&o);
    }
}

static void test_report(void **state) {
    (void)state;
    pt_bucket_list_t list;
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT, problem = PERFTRACE__STRBUF_INIT;
    pt_report_t report = PT_REPORT_INIT;
    assert_int_equal(parse("[[\"p/perf_a\", 5, null], [\"p/perf_b\", 6, null]]", &list, &problem),
                     1);
    list.items[1].state = PT_OBJECT_FAILED;
    list.items[1].why = "broken";
    pt_fetch_report(&list, true, &report);
    pt_report_print_csv(&report, &out);
    assert_non_null(strstr(perftrace__strbuf_cstr(&out), "kinds,0,bytes,11\n"));
    assert_non_null(strstr(perftrace__strbuf_cstr(&out), "kinds,0,failed,1\n"));
    assert_non_null(strstr(perftrace__strbuf_cstr(&out), "files,1,why,broken\n"));
    pt_report_free(&report);
    pt_bucket_list_free(&list);
    perftrace__strbuf_free(&out);
    perftrace__strbuf_free(&problem);
}

static void test_etags(void **state) {
    pt_bucket_list_t list = PT_BUCKET_LIST_INIT;
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
    (void)state;
    assert_int_equal(
        parse("[[\"p/a\", 1, null, \"\\\"0cc1\\\"\"], [\"p/b\", 1, null, null]]", &list, &problem),
        1);
    assert_int_equal(list.count, 2);
    assert_string_equal(list.items[0].etag, "\"0cc1\"");
    assert_true(pt_object_may_have(&list.items[0], "\"0cc1\""));
    assert_true(pt_object_may_have(&list.items[0], NULL));
    assert_false(pt_object_may_have(&list.items[0], "\"0cc2\""));
    assert_false(pt_object_may_have(&list.items[0], "0cc1"));
    assert_null(list.items[1].etag);
    pt_bucket_list_free(&list);
    perftrace__strbuf_free(&problem);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_etags),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_patterns_of_keys),
        cmocka_unit_test(test_order_of_keys),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_bad_lists),
        cmocka_unit_test(test_commands),
        cmocka_unit_test(test_many_commands),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_wrong_options),
        cmocka_unit_test(test_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
