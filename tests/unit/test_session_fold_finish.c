/* test_session_fold_finish.c: when sessions are finished, taken and forgotten.
 * SPDX-License-Identifier: MIT */
#include "session_fold_util.h"

static void expect_status(perftrace__session_fold_t *f, const char *status) {
    char want[128];
    snprintf(want, sizeof(want), "\"status\": %s, ", status);
    char *line = fold_take_text(f, PERFTRACE__TAKE_ALL, 100);
    assert_non_null(strstr(line, want));
    free(line);
    perftrace__session_fold_free(f);
}

static void two_ticks(perftrace__session_fold_t *f) {
    perftrace__session_fold_tick(f);
    perftrace__session_fold_tick(f);
}

static void without_status_accepted_when_every_phase_has_ended(void **state) {
    (void)state;
    for (int i = 0; i < 5; i++) {
        perftrace__session_fold_t *f = fold_make(1, 0);
        fold_submit(f, 0, 1, 0);
        if (i != 0) {
            fold_begin(f, 0, GENERATE, 10);
        }
        if (i == 1) {
            fold_end(f, 0, GENERATE, 10, 50);
        }
        fold_finalize(f, 0, 50, NULL, i == 4 ? "why" : NULL);
        if (i == 3) {
            fold_end(f, 0, GENERATE, 10, 49); /* was on its way from another thread */
        } else if (i == 4) {
            fold_end(f, 0, GENERATE, 10, 51); /* ended after the finalize */
        }
        static const char *const want[] = {"\"accepted\"", "\"accepted\"", "\"failed\"",
                                           "\"accepted\"", "\"failed\", \"reason\": \"why\""};
        expect_status(f, want[i]);
    }
}

/* AReaL never writes such a session before the end, and each later event tries to flush. */
static void a_session_without_status_and_one_of_unknown_status_are_ready(void **state) {
    (void)state;
    perftrace__session_fold_t *f = fold_make(2, 0);
    fold_submit(f, 0, 1, 0);
    fold_submit(f, 1, 1, 0);
    fold_finalize(f, 0, 1, NULL, NULL);
    fold_finalize(f, 1, 2, "timed out", NULL);
    assert_int_equal(fold_counts(f).ready, 2);
    two_ticks(f);
    char *lines = fold_take_text(f, PERFTRACE__TAKE_DUE, 0);
    assert_non_null(strstr(lines, "\"session_id\": 0, \"rank\": 3, \"role\": \"actor\", "
                                  "\"status\": \"accepted\""));
    assert_non_null(strstr(lines, "\"status\": \"timed out\""));
    free(lines);
    assert_int_equal(fold_counts(f).ready, 0);
    assert_int_equal(fold_counts(f).live, 0);
    perftrace__session_fold_free(f);
}

static void a_given_status_is_kept(void **state) {
    (void)state;
    static const char *const given[] = {
        "accepted", "rejected", "failed", "dropped",
        "pending",  "",         "x",      "a rather long status text"};
    for (unsigned i = 0; i < PT_ARRAY_LEN(given); i++) {
        perftrace__session_fold_t *f = fold_make(1, 0);
        fold_submit(f, 0, 1, 0);
        fold_begin(f, 0, GENERATE, 1); /* open: makes no difference */
        fold_finalize(f, 0, 5, given[i], NULL);
        char want[64];
        snprintf(want, sizeof(want), "\"%s\"", given[i]);
        expect_status(f, want);
    }
}

/* In AReaL it depends on whether the record was written in between. */
static void of_several_finalizes_the_earliest_counts(void **state) {
    (void)state;
    perftrace__session_fold_t *f = fold_make(1, 0);
    for (int i = 0; i < 4; i++) {
        fold_submit(f, i, NO_ID, 0);
    }
    fold_finalize(f, 0, 10, "a status of some length that fills cells", "first");
    fold_finalize(f, 1, 11, NULL, NULL);
    fold_finalize(f, 0, 20, NULL, "second");
    fold_finalize(f, 0, 30, "rejected", NULL);
    fold_finalize(f, 1, 30, "other", NULL);
    assert_int_equal(fold_counts(f).late, 3);
    fold_finalize(f, 2, 9, "failed", "why");
    fold_finalize(f, 2, 9, "failed", ""); /* at the same time: as they come */
    assert_int_equal(fold_counts(f).late, 4);
    fold_finalize(f, 3, 12, "rejected", "a reason of another thread, which was later");
    fold_finalize(f, 3, 8, "dropped", NULL);
    assert_int_equal(fold_counts(f).late, 5);
    char *lines = fold_take_text(f, PERFTRACE__TAKE_ALL, 0);
    assert_string_equal(fold_ids(lines), "0 1 2 3 ");
    assert_non_null(strstr(lines, "\"a status of some length that fills cells\", \"reason\": "
                                  "\"first\", \"submit_ts\": "
                                  "1760000000.0, \"finalized_ts\": 1760000000.01"));
    assert_non_null(strstr(lines, "\"accepted\", \"submit_ts\": 1760000000.0, \"finalized_ts\": "
                                  "1760000000.011"));
    assert_non_null(strstr(lines, "\"failed\", \"reason\": \"why\", "));
    assert_non_null(strstr(lines, "\"dropped\", \"submit_ts\": 1760000000.0, \"finalized_ts\": "
                                  "1760000000.008"));
    free(lines);
    perftrace__session_fold_free(f);
}

/* In AReaL the order inside a batch is that of a hash set. */
static void records_come_in_the_order_of_the_finalizes(void **state) {
    (void)state;
    perftrace__session_fold_t *f = fold_make(1, 0);
    static const int order[] = {5, 900, 3, 77, 4, 0, 1000000, 64, 63, 2};
    for (unsigned i = 0; i < PT_ARRAY_LEN(order); i++) {
        fold_submit(f, order[PT_ARRAY_LEN(order) - 1 - i], 1, i);
    }
    fold_submit(f, 8, 1, 0);
    fold_submit(f, 7, 1, 0);
    for (unsigned i = 0; i < PT_ARRAY_LEN(order); i++) {
        fold_finalize(f, order[i], 100 + i, "accepted", NULL);
    }
    /* The live ones follow in the order of their ids. */
    fold_expect_ids(f, PERFTRACE__TAKE_ALL, "5 900 3 77 4 0 1000000 64 63 2 7 8 ");
    perftrace__session_fold_free(f);
}

static void stragglers_have_two_ticks(void **state) {
    (void)state;
    perftrace__session_fold_t *f = fold_make(1, 0);
    fold_submit(f, 0, 1, 0);
    fold_begin(f, 0, GENERATE, 1);
    fold_finalize(f, 0, 10, NULL, NULL);
    fold_expect_ids(f, PERFTRACE__TAKE_READY, "");
    perftrace__session_fold_tick(f);
    fold_finalize(f, 1, 11, NULL, NULL);
    fold_expect_ids(f, PERFTRACE__TAKE_READY, "");
    fold_end(f, 0, GENERATE, 1, 9);
    perftrace__session_fold_tick(f);
    char *lines = fold_take_text(f, PERFTRACE__TAKE_READY, 0);
    assert_string_equal(fold_ids(lines), "0 ");
    assert_non_null(strstr(lines, "\"accepted\""));
    free(lines);
    fold_expect_ids(f, PERFTRACE__TAKE_READY, "");
    perftrace__session_fold_tick(f);
    fold_expect_ids(f, PERFTRACE__TAKE_READY, "1 ");
    perftrace__session_fold_free(f);
}

static void the_threshold_counts_what_may_be_taken(void **state) {
    (void)state;
    perftrace__session_fold_t *f = fold_make(3, 0);
    for (int i = 0; i < 6; i++) {
        fold_submit(f, i, 1, 0);
    }
    fold_finalize(f, 0, 1, NULL, NULL);
    fold_finalize(f, 1, 2, NULL, NULL);
    two_ticks(f);
    fold_finalize(f, 2, 3, NULL, NULL);
    fold_expect_ids(f, PERFTRACE__TAKE_DUE, "");
    assert_int_equal(fold_counts(f).ready, 3);
    two_ticks(f);
    fold_finalize(f, 3, 3, NULL, NULL);
    fold_expect_ids(f, PERFTRACE__TAKE_DUE, "0 1 2 ");
    two_ticks(f);
    fold_expect_ids(f, PERFTRACE__TAKE_DUE, "");
    fold_expect_ids(f, PERFTRACE__TAKE_READY, "3 ");
    fold_expect_ids(f, PERFTRACE__TAKE_READY, "");
    fold_expect_ids(f, PERFTRACE__TAKE_ALL, "4 5 ");
    perftrace__session_fold_free(f);
}

static void what_comes_after_the_record_is_counted(void **state) {
    (void)state;
    perftrace__session_fold_t *f = fold_make(1, 0);
    fold_submit(f, 0, 1, 0);
    fold_finalize(f, 0, 1, "accepted", NULL);
    fold_expect_ids(f, PERFTRACE__TAKE_ALL, "0 ");
    fold_submit(f, 0, 1, 2);
    fold_begin(f, 0, GENERATE, 2);
    fold_end(f, 0, GENERATE, 2, 3);
    fold_finalize(f, 0, 4, "rejected", NULL);
    assert_true(perftrace__session_fold_counter(f, 0, text_of("n"), 1));
    perftrace__fold_counts_t c = fold_counts(f);
    assert_int_equal(c.late, 5);
    assert_int_equal(c.sessions, 1);
    assert_int_equal(c.written, 1);
    assert_int_equal(c.live, 0);
    fold_expect(f, 0, "");
}

static void the_end_of_some_phases_finishes_the_session(void **state) {
    (void)state;
    perftrace__session_fold_t *f = fold_make(1, 0);
    assert_true(perftrace__session_fold_declare(f, text_of("reward"), true, true));
    for (int i = 0; i < 4; i++) {
        fold_submit(f, i, 1, 0);
    }
    fold_begin(f, 0, REWARD, 1);
    fold_begin(f, 0, REWARD, 2);
    fold_end(f, 0, REWARD, 1, 3);
    assert_int_equal(fold_counts(f).ready, 0); /* one is still open */
    fold_end(f, 0, REWARD, 2, 4);
    assert_int_equal(fold_counts(f).ready, 1);
    fold_begin(f, 1, GENERATE, 1); /* stays open: failed */
    fold_end(f, 1, REWARD, 5, 6);  /* its begin comes later */
    fold_begin(f, 1, REWARD, 5);
    fold_finalize(f, 2, 3, "dropped", NULL);
    fold_begin(f, 2, REWARD, 4);
    fold_end(f, 2, REWARD, 4, 5); /* finalized already */
    fold_begin(f, 3, REWARD, 1);
    fold_end(f, 3, REWARD, 1, 7);
    fold_finalize(f, 3, 9, "rejected", "later"); /* the word of the program counts */
    char *lines = fold_take_text(f, PERFTRACE__TAKE_ALL, 0);
    assert_string_equal(fold_ids(lines), "0 1 2 3 ");
    assert_non_null(strstr(lines, "\"accepted\", \"submit_ts\": 1760000000.0, \"finalized_ts\": "
                                  "1760000000.004, "));
    assert_non_null(strstr(lines, "\"failed\", \"submit_ts\": 1760000000.0, \"finalized_ts\": "
                                  "1760000000.006, "));
    assert_non_null(strstr(lines, "\"dropped\", \"submit_ts\": 1760000000.0, \"finalized_ts\": "
                                  "1760000000.003, "));
    assert_non_null(strstr(lines, "\"rejected\", \"reason\": \"later\", \"submit_ts\": "
                                  "1760000000.0, \"finalized_ts\": 1760000000.007, "));
    free(lines);
    perftrace__session_fold_free(f);
}

static void above_the_ceiling_the_oldest_goes(void **state) {
    (void)state;
    perftrace__session_fold_t *f = fold_make(100, 3);
    fold_submit(f, 9, 1, 0);
    for (int i = 0; i < 3; i++) {
        fold_submit(f, i, 1, 0); /* 9 goes */
    }
    fold_finalize(f, 1, 1, NULL, NULL);
    fold_submit(f, 3, 1, 0);
    fold_submit(f, 4, 1, 0); /* 0 goes */
    assert_int_equal(fold_counts(f).ready, 3);
    assert_int_equal(fold_counts(f).evicted, 0);
    fold_finalize(f, 0, 2, NULL, NULL); /* in time */
    two_ticks(f);
    char *lines =
        fold_take_text(f, PERFTRACE__TAKE_DUE, 0); /* for the ceiling, not the threshold */
    assert_string_equal(fold_ids(lines), "9 1 0 ");
    const char *first_end = strchr(lines, '\n');
    const char *evicted = strstr(lines, "\"status\": \"pending\", \"submit_ts\": 1760000000.0, "
                                        "\"evicted\": true}");
    assert_true(evicted && evicted < first_end);
    assert_null(strstr(first_end, "evicted"));
    free(lines);
    assert_int_equal(fold_counts(f).evicted, 1);
    assert_int_equal(fold_counts(f).live, 3);
    fold_begin(f, 9, GENERATE, 3);
    assert_int_equal(fold_counts(f).late, 1);
    fold_expect_ids(f, PERFTRACE__TAKE_ALL, "2 3 4 ");
    assert_int_equal(fold_counts(f).evicted, 1);
    perftrace__session_fold_free(f);
}

static void sessions_of_an_older_file_are_skipped(void **state) {
    (void)state;
    perftrace__session_fold_t *f = fold_make(1, 0);
    static const int64_t ids[] = {0, 1, 2, 64, 5000, INT64_MAX, -1};
    for (unsigned i = 0; i < PT_ARRAY_LEN(ids); i++) {
        assert_true(perftrace__session_fold_skip(f, ids[i]));
        assert_true(perftrace__session_fold_skip(f, ids[i]));
        fold_submit(f, ids[i], 1, 0);
        fold_finalize(f, ids[i], 1, NULL, NULL);
    }
    fold_submit(f, 3, 1, 0);
    assert_true(perftrace__session_fold_skip(f, 3)); /* live: it stays */
    assert_int_equal(fold_counts(f).late, 0);
    assert_int_equal(fold_counts(f).sessions, 1);
    fold_expect_ids(f, PERFTRACE__TAKE_ALL, "3 ");
    perftrace__session_fold_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_status_accepted_when_every_phase_has_ended),
        cmocka_unit_test(a_session_without_status_and_one_of_unknown_status_are_ready),
        cmocka_unit_test(a_given_status_is_kept),
        cmocka_unit_test(of_several_finalizes_the_earliest_counts),
        cmocka_unit_test(records_come_in_the_order_of_the_finalizes),
        cmocka_unit_test(stragglers_have_two_ticks),
        cmocka_unit_test(the_threshold_counts_what_may_be_taken),
        cmocka_unit_test(what_comes_after_the_record_is_counted),
        cmocka_unit_test(the_end_of_some_phases_finishes_the_session),
        cmocka_unit_test(above_the_ceiling_the_oldest_goes),
        cmocka_unit_test(sessions_of_an_older_file_are_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
