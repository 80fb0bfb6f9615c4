/* test_session_fold_order.c: spans, and events that come out of order. SPDX-License-Identifier: MIT
 */
#include "session_fold_util.h"

/* The value of "phases" of the only record; the fold is freed. */
static const char *phases_of(perftrace__session_fold_t *f) {
    static char phases[4096];
    char *line = fold_take_text(f, PERFTRACE__TAKE_ALL, 1000);
    const char *at = strstr(line, "\"phases\": ");
    assert_non_null(at);
    const char *end = strstr(at, "}]}");
    assert_non_null(end);
    /* Times without their common part, spans as [a b]. */
    size_t n = 0;
    for (at += 10; at < end + 3;) {
        static const char *const cut[] = {"{\"start_ts\": ", "\"end_ts\": ", "1760000000"};
        bool found = false;
        for (int i = 0; i < 3 && !found; i++) {
            found = strncmp(at, cut[i], strlen(cut[i])) == 0;
            at += found ? strlen(cut[i]) : 0;
        }
        if (!found) {
            phases[n++] = *at++;
        }
    }
    phases[n] = '\0';
    free(line);
    perftrace__session_fold_free(f);
    return phases;
}

static char *line_of(perftrace__session_fold_t *f) {
    char *line = fold_take_text(f, PERFTRACE__TAKE_ALL, 1000);
    perftrace__session_fold_free(f);
    return line;
}

/* AReaL keeps one "current" span: of two that overlap, the first never ends there and the second
 * end makes a span without length. */
static void parallel_spans_keep_their_own_begin_and_end(void **state) {
    (void)state;
    perftrace__session_fold_t *f = fold_make(1, 0);
    fold_submit(f, 0, 1, 0);
    fold_begin(f, 0, TOOLCALL, 10);
    fold_begin(f, 0, TOOLCALL, 20);
    fold_begin(f, 0, TOOLCALL, 30);
    fold_end(f, 0, TOOLCALL, 10, 40);
    fold_end(f, 0, TOOLCALL, 30, 50);
    fold_end(f, 0, TOOLCALL, 20, 60);
    fold_finalize(f, 0, 60, NULL, NULL);
    char *line = line_of(f);
    assert_non_null(strstr(line, "\"status\": \"accepted\""));
    assert_non_null(strstr(line, "\"toolcall_s\": 0.09"));
    assert_non_null(strstr(line, "[{\"start_ts\": 1760000000.01, \"end_ts\": 1760000000.04}, "
                                 "{\"start_ts\": 1760000000.02, \"end_ts\": 1760000000.06}, "
                                 "{\"start_ts\": 1760000000.03, \"end_ts\": 1760000000.05}]"));
    free(line);
}

static void an_end_that_does_not_say_since_when_ends_the_last_one(void **state) {
    (void)state;
    perftrace__session_fold_t *f = fold_make(1, 0);
    fold_begin(f, 0, TOOLCALL, 10);
    fold_begin(f, 0, REWARD, 15);
    fold_begin(f, 0, TOOLCALL, 20);
    fold_end(f, 0, TOOLCALL, 0, 30);
    fold_end(f, 0, TOOLCALL, 0, 40);
    fold_end(f, 0, TOOLCALL, 0, 50);
    assert_string_equal(phases_of(f), "{\"reward\": [.015, null}], "
                                      "\"toolcall\": [.01, .04}, .02, .03}, .05, .05}]}");
}

static void in_a_phase_of_one_at_a_time_a_begin_ends_the_one_before(void **state) {
    (void)state;
    for (int declared_late = 0; declared_late < 2; declared_late++) {
        perftrace__session_fold_t *f = fold_make(1, 0);
        uint32_t verify = 4;
        if (!declared_late) {
            assert_true(perftrace__session_fold_declare(f, text_of("verify"), false, false));
        }
        assert_int_equal(perftrace__session_fold_phase(f, text_of("verify")), verify);
        fold_begin(f, 0, verify, 10);
        fold_begin(f, 0, verify, 20);
        fold_begin(f, 0, verify, 30);
        fold_end(f, 0, verify, 20, 40); /* its own end comes too late */
        if (declared_late) {
            assert_true(perftrace__session_fold_declare(f, text_of("verify"), false, false));
        }
        fold_end(f, 0, verify, 0, 50);
        fold_end(f, 0, verify, 0, 60); /* nothing is open */
        assert_string_equal(phases_of(f),
                            "{\"verify\": [.01, .02}, .02, .03}, .03, .05}, .06, .06}]}");
    }
}

static void an_end_may_come_before_its_begin(void **state) {
    (void)state;
    perftrace__session_fold_t *f = fold_make(1, 0);
    assert_true(perftrace__session_fold_phase_end(f, 0, REWARD, 10 * FOLD_MS, 20 * FOLD_MS,
                                                  text_of("\"b\": 2")));
    fold_end(f, 0, REWARD, 12, 22);
    fold_end(f, 0, TOOLCALL, 10, 30);
    fold_finalize(f, 0, 30, NULL, NULL);
    assert_true(
        perftrace__session_fold_phase_begin(f, 0, REWARD, 10 * FOLD_MS, text_of("\"a\": 1")));
    fold_begin(f, 0, REWARD, 11); /* another one, whose end never comes */
    fold_submit(f, 0, 5, 1);
    assert_int_equal(fold_counts(f).sessions, 1);
    fold_expect(f, 0,
                "{\"task_id\": 5, \"session_id\": 0, \"rank\": 3, \"role\": \"actor\", \"status\": "
                "\"failed\", \"submit_ts\": 1760000000.001, \"finalized_ts\": 1760000000.03, "
                "\"total_s\": 0.029, \"reward_s\": 0.02, \"toolcall_s\": 0.02, \"phases\": "
                "{\"reward\": [{\"start_ts\": 1760000000.01, \"end_ts\": 1760000000.02, "
                "\"start\": {\"a\": 1}, \"end\": {\"b\": 2}}, {\"start_ts\": 1760000000.011, "
                "\"end_ts\": null}, {\"start_ts\": 1760000000.012, \"end_ts\": 1760000000.022}], "
                "\"toolcall\": [{\"start_ts\": 1760000000.01, \"end_ts\": 1760000000.03}]}, "
                "\"queue_s\": 0.009, \"unfinished\": {\"reward\": 0.019}}\n");
}

static void many_ends_wait_for_their_begins(void **state) {
    (void)state;
    perftrace__session_fold_t *f = fold_make(1, 0);
    for (uint64_t i = 1; i <= 60; i++) {
        fold_end(f, 0, GENERATE, i, 100 + i);
    }
    for (uint64_t i = 1; i <= 60; i++) {
        fold_begin(f, 0, GENERATE, i);
    }
    fold_finalize(f, 0, 200, NULL, NULL);
    char *line = line_of(f);
    assert_non_null(strstr(line, "\"status\": \"accepted\""));
    assert_non_null(strstr(line, "\"generate_s\": 6.0, "));
    assert_null(strstr(line, "\"end_ts\": null"));
    free(line);
}

static void no_time_is_negative(void **state) {
    (void)state;
    perftrace__session_fold_t *f = fold_make(1, 0);
    fold_submit(f, 0, 1, 100);
    fold_begin(f, 0, REWARD, 90);
    fold_end(f, 0, REWARD, 90, 80);
    fold_end(f, 0, TOOLCALL, 95, 94);
    fold_begin(f, 0, GENERATE, 120); /* after the finalize */
    fold_finalize(f, 0, 50, NULL, NULL);
    char *line = fold_take_text(f, PERFTRACE__TAKE_ALL, 10);
    assert_non_null(strstr(line, "\"total_s\": 0.0, \"reward_s\": 0.0, \"toolcall_s\": 0.0, "));
    assert_non_null(strstr(line, "{\"start_ts\": 1760000000.09, \"end_ts\": 1760000000.09}"));
    assert_non_null(strstr(line, "{\"start_ts\": 1760000000.095, \"end_ts\": 1760000000.095}"));
    assert_non_null(strstr(line, "\"queue_s\": 0.0, \"unfinished\": {\"generate\": 0.0}"));
    free(line);
    assert_int_equal(fold_counts(f).clamped, 3); /* two ends and the finalize */
    perftrace__session_fold_free(f);
}

static void many_spans_are_sorted_by_begin(void **state) {
    (void)state;
    perftrace__session_fold_t *f = fold_make(1, 0);
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t at = 1 + i * 7 % 1000;
        fold_begin(f, 0, i % 2 ? REWARD : GENERATE, at);
        fold_end(f, 0, i % 2 ? REWARD : GENERATE, at, at + 5);
    }
    char *line = line_of(f);
    double last = 0;
    unsigned n = 0;
    for (const char *p = line; (p = strstr(p, "\"start_ts\": ")) != NULL; n++) {
        p += 12;
        double at = strtod(p, NULL);
        assert_true(at > last || n == 500);
        last = at;
    }
    assert_int_equal(n, 1000);
    free(line);
}

static void a_registration_counts_whenever_it_comes(void **state) {
    (void)state;
    perftrace__session_fold_t *f = fold_make(1, 0);
    fold_begin(f, 0, GENERATE, 10);
    fold_submit(f, 0, 4, 20); /* later than a phase: what it says holds */
    fold_submit(f, 0, 5, 15); /* again: the first task, the earlier time */
    assert_true(perftrace__session_fold_counter(f, 1, text_of("n"), 1));
    fold_expect(f, 10,
                "{\"task_id\": 4, \"session_id\": 0, \"rank\": 3, \"role\": \"actor\", \"status\": "
                "\"pending\", \"submit_ts\": 1760000000.015, \"phases\": {\"generate\": "
                "[{\"start_ts\": 1760000000.01, \"end_ts\": null}]}, \"queue_s\": 0.0, "
                "\"unfinished\": {\"generate\": 0.0}}\n"
                /* Of a session that only counted, no time is known. */
                "{\"task_id\": null, \"session_id\": 1, \"rank\": 3, \"role\": \"actor\", "
                "\"status\": \"pending\", \"counters\": {\"n\": 1}, \"partial\": true}\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parallel_spans_keep_their_own_begin_and_end),
        cmocka_unit_test(an_end_that_does_not_say_since_when_ends_the_last_one),
        cmocka_unit_test(in_a_phase_of_one_at_a_time_a_begin_ends_the_one_before),
        cmocka_unit_test(an_end_may_come_before_its_begin),
        cmocka_unit_test(many_ends_wait_for_their_begins),
        cmocka_unit_test(no_time_is_negative),
        cmocka_unit_test(many_spans_are_sorted_by_begin),
        cmocka_unit_test(a_registration_counts_whenever_it_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
