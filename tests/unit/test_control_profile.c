/* test_control_profile.c: what a body of POST /start_profile asks for. SPDX-License-Identifier: MIT
 */
#include "profile_request.h"

#include <perftrace/status.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* What has every back end; nothing but the tracer itself. */
static const perftrace__profiler_traits_t all_of_it = {
    "/root", true, true, PERFTRACE_PROFILER_CPU | PERFTRACE_PROFILER_GPU};
static const perftrace__profiler_traits_t self_only = {"/root", false, false,
                                                       PERFTRACE_PROFILER_CPU};
static const perftrace__profiler_traits_t *traits = &self_only;

typedef struct asked {
    bool good;
    perftrace__profile_request_t request;
    char problem[200];
} asked_t;

static asked_t a; /* its texts point into it */

static void ask(const char *body, int64_t step) {
    perftrace__json_doc_t *doc = perftrace__json_doc_load(body, strlen(body), 0, NULL);
    assert_non_null(doc);
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
    a.good = perftrace__profile_request_read(perftrace__json_doc_root(doc), traits, step >= 0, step,
                                             &a.request, &problem);
    strncpy(a.problem, perftrace__strbuf_cstr(&problem), sizeof a.problem - 1);
    a.problem[sizeof a.problem - 1] = '\0';
    perftrace__strbuf_free(&problem);
    perftrace__json_doc_free(doc);
}

static void expect(const char *body, int64_t step, const perftrace_schedule_t *want, bool at_next,
                   const char *ignored) {
    ask(body, step);
    assert_string_equal(a.problem, "");
    assert_true(a.good);
    assert_memory_equal(&a.request.request.schedule, want, sizeof *want);
    assert_int_equal(a.request.request.at_next_step, at_next);
    assert_string_equal(perftrace__strbuf_cstr(&a.request.ignored), ignored);
    perftrace__strbuf_free(&a.request.ignored);
}

static void bodies_of_the_servers_are_understood(void **state) {
    (void)state;
    perftrace_schedule_t s = PERFTRACE_SCHEDULE_INIT;
    expect("{}", -1, &s, false, "[]"); /* vLLM's */
    s.active = 3;
    s.repeat = 1;
    expect("{\"num_steps\": 3}", 7, &s, true, "[]");
    expect("{\"output_dir\": \"/tmp/x\", \"num_steps\": 3, \"activities\": [\"CPU\", \"GPU\"], "
           "\"profile_by_stage\": false, \"with_stack\": true, \"record_shapes\": null}",
           -1, &s, true, "[\"output_dir\", \"activities: GPU\", \"with_stack\"]");
    traits = &all_of_it;
    expect("{\"output_dir\": \"/tmp/x\", \"num_steps\": 3, \"activities\": [\"CPU\", \"GPU\"], "
           "\"profile_by_stage\": true, \"with_stack\": true, \"record_shapes\": true}",
           -1, &s, true, "[\"with_stack\", \"record_shapes\"]");
    traits = &self_only;
    s.skip_first = 2; /* 8 and 9 */
    expect("{\"num_steps\": 3, \"start_step\": 10}", 7, &s, true, "[]");
    s.skip_first = 10; /* of a run that has marked no step yet */
    expect("{\"num_steps\": 3, \"start_step\": 10}", -1, &s, true, "[]");
    s = (perftrace_schedule_t)PERFTRACE_SCHEDULE_INIT;
    s.delay_iterations = 4;
    s.max_iterations = 5;
    expect("{\"delay_iterations\": 4, \"max_iterations\": 5}", 7, &s, false, "[]");
    s = (perftrace_schedule_t)PERFTRACE_SCHEDULE_INIT;
    s.skip_first = 1;
    s.wait = 2;
    s.warmup = 3;
    s.active = 4;
    s.repeat = 5;
    expect("{\"skip_first\": 1, \"wait\": 2, \"warmup\": 3, \"num_steps\": 4, \"repeat\": 5}", 0,
           &s, true, "[]");
}

static void a_label_is_kept(void **state) {
    (void)state;
    ask("{\"label\": \"update \\u00e4\"}", 1);
    assert_true(a.good);
    assert_string_equal(a.request.label, "update \xc3\xa4");
    perftrace__strbuf_free(&a.request.ignored);
    ask("{\"label\": \"\"}", 1);
    assert_true(a.good && a.request.request.label == NULL);
    perftrace__strbuf_free(&a.request.ignored);
}

static void what_has_a_meaning_is_taken(void **state) {
    (void)state;
    traits = &all_of_it;
    ask("{\"output_dir\": \"a/b\", \"categories\": \"io,comm\", \"activities\": [\"gpu\"], "
        "\"profile_by_stage\": true}",
        1);
    assert_true(a.good);
    assert_string_equal(a.request.output_dir, "a/b");
    assert_null(a.request.request.dir); /* whoever looks at the disk sets it */
    assert_string_equal(a.request.request.categories, "io,comm");
    assert_int_equal(a.request.request.activities, PERFTRACE_PROFILER_GPU);
    assert_int_equal(a.request.request.by_stage, 1);
    assert_string_equal(perftrace__strbuf_cstr(&a.request.ignored), "[]");
    perftrace__strbuf_free(&a.request.ignored);
    ask("{\"categories\": [\"io\", \"comm\"], \"activities\": [\"CUDA\", \"CPU\", \"MEM\"]}", 1);
    assert_true(a.good);
    assert_string_equal(a.request.request.categories, "io,comm");
    assert_int_equal(a.request.request.activities, PERFTRACE_PROFILER_CPU | PERFTRACE_PROFILER_GPU);
    assert_string_equal(perftrace__strbuf_cstr(&a.request.ignored), "[\"activities: MEM\"]");
    perftrace__strbuf_free(&a.request.ignored);
    ask("{\"activities\": [], \"categories\": [], \"output_dir\": \"\"}", 1);
    assert_true(a.good && a.request.request.activities == 0 && a.request.absent == 0);
    assert_string_equal(a.request.request.categories, "");
    perftrace__strbuf_free(&a.request.ignored);
    traits = &self_only;
    ask("{\"activities\": [\"GPU\"], \"categories\": \"io\"}", 1);
    assert_true(a.good);
    assert_int_equal(a.request.absent, PERFTRACE_PROFILER_GPU);
    assert_string_equal(perftrace__strbuf_cstr(&a.request.ignored),
                        "[\"activities: GPU\", \"categories\"]");
    perftrace__strbuf_free(&a.request.ignored);
}

static void what_cannot_be_is_named(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"{\"num_steps\": 0}", "num_steps is a whole number from 1 on"},
        {"{\"num_steps\": \"3\"}", "num_steps is a whole number from 1 on"},
        {"{\"num_steps\": 1.5}", "num_steps is a whole number from 1 on"},
        {"{\"num_steps\": 99999999999999999999}", "num_steps is a whole number from 1 on"},
        {"{\"start_step\": -1}", "start_step is a whole number from 0 on"},
        {"{\"start_step\": 9}", "num_steps is missing"},
        {"{\"wait\": 1}", "num_steps is missing"},
        {"{\"num_steps\": 1, \"start_step\": 7}", "start_step 7 is over: the run is at step 7"},
        {"{\"num_steps\": 1, \"skip_first\": 9, \"start_step\": 9223372036854775807}",
         "start_step and skip_first are too large together"},
        {"{\"num_steps\": 1, \"skip_first\": 9223372036854775807, \"start_step\": 9}",
         "start_step and skip_first are too large together"},
        {"{\"num_steps\": 1, \"max_iterations\": 7}", "iterations and steps do not go together"},
        {"{\"label\": 5}", "label is a text of at most 127 bytes"},
        {"{\"output_dir\": [\"a\"]}", "output_dir is a text of at most 2999 bytes"},
        {"{\"categories\": 5}", "categories is a text of at most 999 bytes"},
        {"{\"categories\": [\"a\", 5]}", "categories is a list of names, at most 999 bytes in all"},
        {"{\"categories\": [\"\"]}", "categories is a list of names, at most 999 bytes in all"},
        {"{\"categories\": [\"a,b\"]}", "categories is a list of names, at most 999 bytes in all"},
        {"{\"activities\": \"CPU\"}", "activities is a list of texts, CPU and GPU"},
        {"{\"activities\": [1]}", "activities is a list of texts, CPU and GPU"},
        {"{\"profile_by_stage\": 1}", "profile_by_stage is true or false"},
        {"{\"num_steps\": 9223372036854775807, \"skip_first\": 9223372036854775807}", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ask(cases[i][0], 7);
        assert_false(a.good);
        assert_true(a.problem[0] != '\0');
        if (cases[i][1][0] != '\0') {
            assert_string_equal(a.problem, cases[i][1]);
        }
        perftrace__strbuf_free(&a.request.ignored);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_of_the_servers_are_understood),
        cmocka_unit_test(a_label_is_kept),
        cmocka_unit_test(what_has_a_meaning_is_taken),
        cmocka_unit_test(what_cannot_be_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
