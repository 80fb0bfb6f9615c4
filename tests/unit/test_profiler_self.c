/* test_profiler_self.c: more detail in the trace within windows. SPDX-License-Identifier: MIT */
#include "traced_case.h"

#include <perftrace/profiler.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static perftrace_profiler_t *open_self(const char *categories, int64_t first, int64_t active) {
    perftrace_profiler_options_t o = PERFTRACE_PROFILER_OPTIONS_INIT;
    perftrace_profiler_t *p = NULL;
    o.back_ends = "self";
    o.detail_categories = categories;
    o.name.role = "actor";
    o.schedule.skip_first = first;
    o.schedule.active = active;
    o.schedule.repeat = 1;
    CHILD_CHECK(perftrace_profiler_open(&o, &p) == 0);
    return p;
}

static void steps(perftrace_profiler_t *p, int n) {
    for (int i = 0; i < n; i++) {
        perftrace_profiler_step(p, i);
        PERFTRACE_SCOPE("train", "compute", PERFTRACE_INT("step", i));
        PERFTRACE_INSTANT("layer", "detail", PERFTRACE_INT("step", i));
        PERFTRACE_INSTANT("packet", "Communication", PERFTRACE_INT("step", i));
    }
}

static void in_a_window(const char *where) {
    traced_start(where);
    perftrace_profiler_t *p = open_self("detail,comm", 3, 2);
    steps(p, 10);
    CHILD_CHECK(perftrace_profiler_close(p) == 0);
    steps(NULL, 1); /* without a profiler they are on */
}

static void categories_are_off_outside_of_windows(void **state) {
    (void)state;
    traced_file_t f = run(in_a_window);
    assert_int_equal(traced_count(&f, "train"), 11);
    assert_int_equal(traced_count(&f, "layer"), 3);
    assert_int_equal(traced_count(&f, "packet"), 3);
    assert_true(traced_arg_number(traced_line(&f, "layer", 0), "step") == 3);
    assert_true(traced_arg_number(traced_line(&f, "layer", 1), "step") == 4);
    assert_true(traced_arg_number(traced_line(&f, "layer", 2), "step") == 0);
    const cJSON *begin = traced_line(&f, "profiler.window_begin", 0);
    const cJSON *end = traced_line(&f, "profiler.window_end", 0);
    assert_true(traced_number(begin, "ts") < traced_number(traced_line(&f, "layer", 0), "ts"));
    assert_true(traced_number(end, "ts") > traced_number(traced_line(&f, "layer", 1), "ts"));
    assert_string_equal(cJSON_GetStringValue(traced_arg(end, "mark")), "");
    assert_true(traced_arg_number(begin, "first_step") == 3);
    assert_true(traced_arg_number(end, "first_step") == 3);
    traced_free(&f);
}

/* Two profilers of a process: each has its own categories, and takes none of the other's away. */
static void with_two(const char *where) {
    traced_start(where);
    perftrace_profiler_t *a = open_self("detail,compute", 2, 2);
    perftrace_profiler_t *b = open_self("comm,compute", 6, 2);
    for (int i = 0; i < 10; i++) {
        perftrace_profiler_step(a, i);
        perftrace_profiler_step(b, i);
        steps(NULL, 1);
    }
    CHILD_CHECK(perftrace_profiler_close(b) == 0);
    steps(NULL, 1); /* detail and compute are still kept, comm is on */
    CHILD_CHECK(perftrace_profiler_close(a) == 0);
    steps(NULL, 1); /* all on */
}

static void two_profilers_keep_their_categories(void **state) {
    (void)state;
    traced_file_t f = run(with_two);
    assert_int_equal(traced_count(&f, "layer"), 2 + 1);     /* a's window; the end */
    assert_int_equal(traced_count(&f, "packet"), 2 + 2);    /* b's window; after b; the end */
    assert_int_equal(traced_count(&f, "train"), 2 + 2 + 1); /* both windows; the end */
    traced_free(&f);
}

static int failing(void *arg) {
    (void)arg;
    PERFTRACE_INSTANT("in.body", "compute");
    return 4;
}

/* Stages of a continuous window are scopes of the trace. */
static void with_stages(const char *where) {
    traced_start(where);
    perftrace_profiler_t *p = open_self("detail", 1, 2);
    for (int i = 0; i < 4; i++) {
        perftrace_profiler_step(p, i);
        perftrace_profiler_run(p, "generate", 0, NULL, NULL);
        if (i == 2) {
            CHILD_CHECK(perftrace_profiler_run(p, "update", 0, failing, NULL) == 4);
        }
    }
    CHILD_CHECK(perftrace_profiler_close(p) == 0);
}

static void stages_are_scopes_of_the_trace(void **state) {
    (void)state;
    traced_file_t f = run(with_stages);
    assert_int_equal(traced_count(&f, "actor.generate"), 2); /* of steps 1 and 2 */
    assert_int_equal(traced_count(&f, "actor.update"), 1);
    const cJSON *scope = traced_line(&f, "actor.update", 0);
    const cJSON *body = traced_line(&f, "in.body", 0);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(scope, "ph")), "X");
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(scope, "cat")), "instr");
    const double begin = traced_number(scope, "ts");
    assert_true(begin <= traced_number(body, "ts"));
    assert_true(traced_number(body, "ts") <= begin + traced_number(scope, "dur") + 0.001);
    const cJSON *end = traced_line(&f, "profiler.window_end", 0);
    assert_string_equal(cJSON_GetStringValue(traced_arg(end, "mark")), "aborted at step 2 of 2");
    assert_true(traced_number(end, "ts") >= begin + traced_number(scope, "dur"));
    traced_free(&f);
}

static void cut_short(const char *where) {
    perftrace_profiler_t *p = open_self("detail", 3, 4); /* before the tracer starts */
    traced_start(where);
    steps(p, 5);
    /* left open: at exit it is saved before the trace is finished */
}

static void a_cut_window_is_marked_in_the_trace(void **state) {
    (void)state;
    traced_file_t f = run(cut_short);
    assert_int_equal(traced_count(&f, "layer"), 2);
    assert_int_equal(traced_count(&f, "packet"), 5);
    traced_free(&f);
}

static void cut_short_after_init(const char *where) {
    traced_start(where);
    steps(open_self("detail", 3, 4), 5);
}

static void at_exit_the_mark_is_in_the_trace(void **state) {
    (void)state;
    traced_file_t f = run(cut_short_after_init);
    const cJSON *end = traced_line(&f, "profiler.window_end", 0);
    assert_string_equal(cJSON_GetStringValue(traced_arg(end, "mark")), "partial 2/4");
    traced_free(&f);
}

static void filtered(const char *where) {
    perftrace_config_t c = traced_config(where);
    c.categories = "-comm";
    CHILD_CHECK(perftrace_init(&c) == 0);
    perftrace_profiler_t *p = open_self("detail,comm", 0, 2);
    steps(p, 4);
    perftrace_profiler_close(p);
}

static void the_filter_still_rules(void **state) {
    (void)state;
    traced_file_t f = run(filtered);
    assert_int_equal(traced_count(&f, "layer"), 2);
    assert_int_equal(traced_count(&f, "packet"), 0);
    traced_free(&f);
}

static void chosen(const char *where) {
    traced_start(where);
    perftrace_profiler_options_t o = PERFTRACE_PROFILER_OPTIONS_INIT;
    perftrace_profiler_request_t r = PERFTRACE_PROFILER_REQUEST_INIT;
    perftrace_profiler_t *p = NULL;
    o.back_ends = "self";
    o.detail_categories = "detail,comm";
    CHILD_CHECK(perftrace_profiler_open(&o, &p) == 0);
    static const char *const lists[] = {"comm", "-comm", "other", ""};
    for (int i = 0; i < 4; i++) {
        r.categories = lists[i];
        CHILD_CHECK(perftrace_profiler_start(p, &r) == 0);
        steps(NULL, 1);
        CHILD_CHECK(perftrace_profiler_stop(p) == 0);
        steps(NULL, 1);
    }
    perftrace_profiler_close(p);
}

static void a_request_chooses_among_them(void **state) {
    (void)state;
    traced_file_t f = run(chosen);
    assert_int_equal(traced_count(&f, "train"), 8);
    assert_int_equal(traced_count(&f, "layer"), 2);  /* without comm, all */
    assert_int_equal(traced_count(&f, "packet"), 2); /* comm, all */
    traced_free(&f);
}

static void forks(const char *where) {
    traced_start(where);
    perftrace_profiler_t *p = open_self("detail", 0, 100);
    steps(p, 2);
    /* No other thread allocates at the fork: see settle in test_runtime_fork.c. */
    CHILD_CHECK(perftrace_save(-1, 0) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        /* The window is the parent's: here details are off. */
        for (int i = 0; i < 3; i++) {
            PERFTRACE_INSTANT("layer", "detail", PERFTRACE_INT("step", i));
            PERFTRACE_INSTANT("train.child", "compute");
        }
        exit(0);
    }
    int status = 0;
    CHILD_CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    steps(p, 1);
}

static void a_childs_details_are_off(void **state) {
    (void)state;
#ifdef __SANITIZE_THREAD__
    print_message("under ThreadSanitizer a forked child cannot start threads\n");
    skip();
#endif
    traced_file_t f = run(forks);
    assert_int_equal(traced_count(&f, "layer"), 3);
    traced_free(&f);
    f = traced_read(dir, "traces-r0.1.jsonl");
    assert_int_equal(traced_count(&f, "train.child"), 3);
    assert_int_equal(traced_count(&f, "layer"), 0);
    traced_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(categories_are_off_outside_of_windows), CASE(two_profilers_keep_their_categories),
        CASE(stages_are_scopes_of_the_trace),        CASE(a_cut_window_is_marked_in_the_trace),
        CASE(at_exit_the_mark_is_in_the_trace),      CASE(the_filter_still_rules),
        CASE(a_request_chooses_among_them),          CASE(a_childs_details_are_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
