/* test_session_fold_task.c: tasks and their sessions. SPDX-License-Identifier: MIT */
#include "session_fold_util.h"

static void finalize_task(perftrace__session_fold_t *f, int64_t task, uint64_t ms,
                          const char *status, const char *reason) {
    assert_true(perftrace__session_fold_finalize_task(f, task, ms * FOLD_MS, text_of(status),
                                                      text_of(reason)));
}

static void a_finalize_reaches_all_live_sessions_of_the_task(void **state) {
    (void)state;
    perftrace__session_fold_t *f = fold_make(1, 0);
    static const int ids[] = {9, 2, 70, 4};
    for (unsigned i = 0; i < PT_ARRAY_LEN(ids); i++) {
        fold_submit(f, ids[i], 5, 0);
    }
    fold_submit(f, 1, 6, 0);
    fold_begin(f, 70, GENERATE, 1);
    fold_finalize(f, 9, 2, "rejected", "early");
    finalize_task(f, 5, 10, NULL, "a reason of more than one cell, for each of them");
    finalize_task(f, 5, 11, "a status that is too late", NULL);
    assert_int_equal(fold_counts(f).ready, 4);
    assert_int_equal(fold_counts(f).late, 0);
    char *lines = fold_take_text(f, PERFTRACE__TAKE_ALL, 0);
    assert_string_equal(fold_ids(lines), "9 2 4 70 1 "); /* 9 keeps its place */
    unsigned n = 0;
    for (const char *p = lines;
         (p = strstr(p, "\"reason\": \"a reason of more than one cell, for each of them\"")) !=
         NULL;
         p++) {
        n++;
    }
    assert_int_equal(n, 3);
    assert_non_null(strstr(lines, "\"rejected\", \"reason\": \"early\"")); /* its own */
    assert_null(strstr(lines, "too late"));
    free(lines);
    assert_int_equal(fold_counts(f).orphans, 0);
    perftrace__session_fold_free(f);
}

/* Whatever comes first: the times decide between the end of a session and that of its task. */
static void an_own_finalize_and_one_of_the_task(void **state) {
    (void)state;
    for (unsigned own_first = 0; own_first < 2; own_first++) {
        for (unsigned own_ms = 9; own_ms <= 11; own_ms += 2) {
            perftrace__session_fold_t *f = fold_make(1, 0);
            fold_submit(f, 0, 5, 0);
            if (own_first) {
                fold_finalize(f, 0, own_ms, "rejected", "own");
            }
            finalize_task(f, 5, 10, "accepted", NULL);
            if (!own_first) {
                fold_finalize(f, 0, own_ms, "rejected", "own");
            }
            /* Late is what a session says of itself after its end. */
            assert_int_equal(fold_counts(f).late, own_ms > 10);
            char *lines = fold_take_text(f, PERFTRACE__TAKE_ALL, 0);
            assert_non_null(strstr(lines, own_ms < 10 ? "\"rejected\", \"reason\": \"own\", "
                                                      : "\"accepted\", \"submit_ts\": "));
            assert_non_null(
                strstr(lines, own_ms < 10 ? "\"total_s\": 0.009" : "\"total_s\": 0.01"));
            free(lines);
            perftrace__session_fold_free(f);
        }
    }
}

/* AReaL keeps every task with every session there ever was. */
static void a_task_goes_with_its_last_session(void **state) {
    (void)state;
    perftrace__session_fold_t *f = fold_make(1, 0);
    uint64_t bytes = 0;
    for (int64_t task = 0; task < 100000; task++) {
        fold_submit(f, 2 * task, task, 0);
        fold_submit(f, 2 * task + 1, task, 0);
        assert_int_equal(fold_counts(f).tasks, 1);
        finalize_task(f, task, 1, "accepted", NULL);
        char *lines = fold_take_text(f, PERFTRACE__TAKE_ALL, 0);
        free(lines);
        assert_int_equal(fold_counts(f).tasks, 0);
        if (task == 5000) {
            bytes = fold_counts(f).bytes;
        }
    }
    assert_int_equal(fold_counts(f).bytes, bytes);
    finalize_task(f, 3, 1, "accepted", NULL);
    assert_int_equal(fold_counts(f).orphans, 1);
    perftrace__session_fold_free(f);
}

static void a_finalize_may_come_before_the_registrations(void **state) {
    (void)state;
    perftrace__session_fold_t *f = fold_make(1, 0);
    finalize_task(f, 5, 10, "rejected", "stale");
    assert_int_equal(fold_counts(f).orphans, 1);
    fold_submit(f, 0, 5, 3);
    assert_int_equal(fold_counts(f).orphans, 0);
    assert_int_equal(fold_counts(f).ready, 1);
    fold_submit(f, 1, 5, 11); /* submitted after it */
    assert_int_equal(fold_counts(f).ready, 1);
    perftrace__session_fold_tick(f);
    fold_begin(f, 2, GENERATE, 4);
    fold_submit(f, 2, 5, 4);
    assert_int_equal(fold_counts(f).ready, 2);
    perftrace__session_fold_tick(f);
    fold_submit(f, 3, 5, 5); /* too late to be out of order */
    assert_int_equal(fold_counts(f).ready, 2);
    char *lines = fold_take_text(f, PERFTRACE__TAKE_ALL, 20);
    assert_string_equal(fold_ids(lines), "0 2 1 3 ");
    assert_non_null(strstr(lines, "\"session_id\": 2, \"rank\": 3, \"role\": \"actor\", "
                                  "\"status\": \"rejected\", \"reason\": \"stale\", "
                                  "\"submit_ts\": 1760000000.004, \"finalized_ts\": "
                                  "1760000000.01, "));
    free(lines);
    perftrace__session_fold_free(f);
}

static void parents_are_remembered(void **state) {
    (void)state;
    perftrace__session_fold_t *f = fold_make(1, 0);
    assert_true(perftrace__session_fold_task(f, 1, NO_ID));
    assert_true(perftrace__session_fold_task(f, 5, 1));
    fold_submit(f, 0, 5, 0);
    fold_submit(f, 1, 1, 0);
    fold_submit(f, 2, 6, 0);
    assert_true(perftrace__session_fold_task(f, 6, 0)); /* after its session */
    char *lines = fold_take_text(f, PERFTRACE__TAKE_ALL, 0);
    assert_non_null(strstr(lines, "\"submit_ts\": 1760000000.0, \"parent_task\": 1}\n{\"task_id\": "
                                  "1, "));
    assert_non_null(strstr(lines, "\"submit_ts\": 1760000000.0}\n{\"task_id\": 6, "));
    assert_non_null(strstr(lines, "\"submit_ts\": 1760000000.0, \"parent_task\": 0}\n"));
    free(lines);
    /* A sample that is made when the others of its task are written has the parent, too. */
    fold_submit(f, 3, 5, 0);
    lines = fold_take_text(f, PERFTRACE__TAKE_ALL, 0);
    assert_non_null(strstr(lines, "\"parent_task\": 1}"));
    free(lines);
    /* But not for ever. */
    for (int64_t task = 100; task < 100 + 4096; task++) {
        assert_true(perftrace__session_fold_task(f, task, 1));
    }
    uint64_t bytes = fold_counts(f).bytes;
    for (int64_t task = 5000; task < 50000; task++) {
        assert_true(perftrace__session_fold_task(f, task, 1));
    }
    assert_int_equal(fold_counts(f).bytes, bytes);
    fold_submit(f, 4, 5, 0);
    fold_submit(f, 5, 49999, 0);
    lines = fold_take_text(f, PERFTRACE__TAKE_ALL, 0);
    assert_non_null(strstr(lines, "\"submit_ts\": 1760000000.0}\n{"));
    assert_non_null(strstr(lines, "\"submit_ts\": 1760000000.0, \"parent_task\": 1}\n"));
    free(lines);
    perftrace__session_fold_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_finalize_reaches_all_live_sessions_of_the_task),
        cmocka_unit_test(an_own_finalize_and_one_of_the_task),
        cmocka_unit_test(a_task_goes_with_its_last_session),
        cmocka_unit_test(a_finalize_may_come_before_the_registrations),
        cmocka_unit_test(parents_are_remembered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
