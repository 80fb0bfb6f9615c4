/* test_session_fold_record.c: what a record looks like. SPDX-License-Identifier: MIT */
#include "json_scan.h"
#include "session_fold_util.h"

#define HEAD(task, id)                                                                             \
    "{\"task_id\": " task ", \"session_id\": " id ", \"rank\": 3, \"role\": \"actor\""

/* The record that the format of AReaL is explained with. */
static void it_writes_all_of_areal_s_keys_in_its_order(void **state) {
    (void)state;
    perftrace__session_fold_t *f = fold_make(1, 0);
    fold_submit(f, 1, 5, 100);
    fold_begin(f, 1, GENERATE, 200);
    fold_end(f, 1, GENERATE, 200, 1700);
    fold_begin(f, 1, REWARD, 1800);
    fold_end(f, 1, REWARD, 1800, 2050);
    fold_begin(f, 1, REWARD, 2100);
    fold_begin(f, 1, TOOLCALL, 2200);
    fold_end(f, 1, TOOLCALL, 2200, 2300);
    assert_true(perftrace__session_fold_counter(f, 1, text_of("retries"), 5));
    fold_finalize(f, 1, 2350, "rejected", "stale_weight");
    fold_expect(
        f, 9000,
        HEAD("5", "1") ", \"status\": \"rejected\", \"reason\": \"stale_weight\", "
                       "\"submit_ts\": 1760000000.1, \"finalized_ts\": 1760000002.35, "
                       "\"total_s\": 2.25, \"generate_s\": 1.5, \"reward_s\": 0.25, "
                       "\"toolcall_s\": 0.1, \"phases\": {"
                       "\"generate\": [{\"start_ts\": 1760000000.2, \"end_ts\": 1760000001.7}], "
                       "\"reward\": [{\"start_ts\": 1760000001.8, \"end_ts\": 1760000002.05}, "
                       "{\"start_ts\": 1760000002.1, \"end_ts\": null}], "
                       "\"toolcall\": [{\"start_ts\": 1760000002.2, \"end_ts\": 1760000002.3}]}, "
                       "\"counters\": {\"retries\": 5}, \"queue_s\": 0.1, "
                       "\"unfinished\": {\"reward\": 0.25}}\n");
}

static void what_is_not_known_has_no_key(void **state) {
    (void)state;
    const perftrace__fold_options_t options = {.rank = -1, .role = "", .epoch_ns = FOLD_EPOCH};
    perftrace__session_fold_t *f = perftrace__session_fold_new(&options);
    fold_submit(f, 0, NO_ID, 0);
    fold_submit(f, 1, NO_ID, 0);
    fold_begin(f, 1, GENERATE, 1);
    fold_expect(f, 5,
                "{\"task_id\": null, \"session_id\": 0, \"rank\": null, \"status\": \"pending\", "
                "\"submit_ts\": 1760000000.0}\n"
                "{\"task_id\": null, \"session_id\": 1, \"rank\": null, \"status\": \"pending\", "
                "\"submit_ts\": 1760000000.0, \"phases\": {\"generate\": [{\"start_ts\": "
                "1760000000.001, \"end_ts\": null}]}, \"queue_s\": 0.001, "
                "\"unfinished\": {\"generate\": 0.004}}\n");
}

static void it_keeps_payloads(void **state) {
    (void)state;
    perftrace__session_fold_t *f = fold_make(1, 0);
    fold_submit(f, 7, NO_ID, 0);
    assert_true(perftrace__session_fold_phase_begin(f, 7, REWARD, FOLD_MS,
                                                    text_of("\"model\": \"a\", \"n\": null")));
    assert_true(perftrace__session_fold_phase_end(f, 7, REWARD, FOLD_MS, 2 * FOLD_MS,
                                                  text_of("\"score\": 0.5")));
    assert_true(
        perftrace__session_fold_phase_end(f, 7, REWARD, 0, 3 * FOLD_MS, text_of("\"late\": true")));
    assert_true(perftrace__session_fold_phase_begin(f, 7, REWARD, 4 * FOLD_MS, text_of("")));
    fold_end(f, 7, REWARD, 4, 4);
    fold_finalize(f, 7, 5, NULL, NULL);
    fold_expect(
        f, 5,
        HEAD("null",
             "7") ", \"status\": \"accepted\", \"submit_ts\": 1760000000.0, "
                  "\"finalized_ts\": 1760000000.005, \"total_s\": 0.005, \"reward_s\": 0.001, "
                  "\"phases\": {\"reward\": [{\"start_ts\": 1760000000.001, \"end_ts\": "
                  "1760000000.002, \"start\": {\"model\": \"a\", \"n\": null}, "
                  "\"end\": {\"score\": 0.5}}, {\"start_ts\": 1760000000.003, \"end_ts\": "
                  "1760000000.003, \"end\": {\"late\": true}}, {\"start_ts\": 1760000000.004, "
                  "\"end_ts\": 1760000000.004}]}, \"queue_s\": 0.001}\n");
}

/* "total" and "queue" would give keys that mean something else. */
static void other_phases_follow_in_the_order_in_which_they_were_first_named(void **state) {
    (void)state;
    perftrace__session_fold_t *f = fold_make(1, 0);
    assert_int_equal(perftrace__session_fold_phase(f, text_of("reward")), REWARD);
    assert_true(perftrace__session_fold_declare(f, text_of("verify"), true, false));
    uint32_t total = perftrace__session_fold_phase(f, text_of("total"));
    uint32_t queue = perftrace__session_fold_phase(f, text_of("queue"));
    uint32_t verify = perftrace__session_fold_phase(f, text_of("verify"));
    assert_true(verify < total && total < queue);
    fold_submit(f, 0, 1, 0);
    uint32_t order[] = {queue, total, verify, TOOLCALL, GENERATE};
    for (unsigned i = 0; i < 5; i++) {
        fold_begin(f, 0, order[i], i + 1);
        fold_end(f, 0, order[i], i + 1, i + 2);
    }
    fold_finalize(f, 0, 10, NULL, NULL);
    char *line = fold_take_text(f, PERFTRACE__TAKE_ALL, 0);
    assert_non_null(strstr(line, "\"total_s\": 0.01, \"generate_s\": 0.001, \"toolcall_s\": 0.001, "
                                 "\"verify_s\": 0.001, \"queue_s\": 0.001, \"phases\": {"
                                 "\"generate\": ["));
    assert_non_null(strstr(line, "}], \"toolcall\": [{"));
    assert_non_null(strstr(line, "}], \"verify\": [{"));
    assert_non_null(strstr(line, "}], \"total\": [{"));
    assert_non_null(strstr(line, "}], \"queue\": [{"));
    assert_null(strstr(strstr(line, "\"queue_s\"") + 1, "\"queue_s\""));
    assert_null(strstr(strstr(line, "\"total_s\"") + 1, "\"total_s\""));
    free(line);
    perftrace__session_fold_free(f);
}

static void counters_are_summed_and_zeros_left_out(void **state) {
    (void)state;
    perftrace__session_fold_t *f = fold_make(1, 0);
    static const struct {
        const char *name;
        int64_t delta;
    } steps[] = {{"zero", 0},         {"tokens", 100},    {"back", 1},    {"tokens", -350},
                 {"back", -1},        {"top", INT64_MAX}, {"bottom", -5}, {"top", 1},
                 {"most", INT64_MIN}, {"most", -1}};
    fold_submit(f, 0, 1, 0);
    fold_submit(f, 1, 1, 0);
    for (unsigned i = 0; i < PT_ARRAY_LEN(steps); i++) {
        assert_true(perftrace__session_fold_counter(f, 0, text_of(steps[i].name), steps[i].delta));
    }
    assert_true(perftrace__session_fold_counter(f, 1, text_of("zero"), 0));
    fold_expect(
        f, 0,
        HEAD("1",
             "0") ", \"status\": \"pending\", \"submit_ts\": 1760000000.0, "
                  "\"counters\": {\"tokens\": -250, \"top\": 9223372036854775807, \"bottom\": -5, "
                  "\"most\": -9223372036854775808}}\n" HEAD(
                      "1", "1") ", \"status\": \"pending\", \"submit_ts\": 1760000000.0}\n");
}

static void superset_keys_stand_last(void **state) {
    (void)state;
    const perftrace__fold_options_t options = {
        .rank = 0, .run_id = "run-\"1\"", .epoch_ns = FOLD_EPOCH, .max_live = 1};
    perftrace__session_fold_t *f = perftrace__session_fold_new(&options);
    assert_true(perftrace__session_fold_task(f, 5, -7));
    fold_submit(f, 0, 5, 10);
    fold_begin(f, 0, GENERATE, 30);
    fold_begin(f, 0, GENERATE, 35);
    fold_begin(f, 0, REWARD, 40);
    fold_begin(f, 1, GENERATE, 50); /* evicts 0; was never registered itself */
    fold_end(f, 1, GENERATE, 50, 60);
    fold_finalize(f, 1, 61, NULL, NULL);
    fold_expect(f, 100,
                "{\"task_id\": 5, \"session_id\": 0, \"rank\": 0, \"status\": \"pending\", "
                "\"submit_ts\": 1760000000.01, \"phases\": {\"generate\": [{\"start_ts\": "
                "1760000000.03, \"end_ts\": null}, {\"start_ts\": 1760000000.035, \"end_ts\": "
                "null}], \"reward\": [{\"start_ts\": 1760000000.04, \"end_ts\": null}]}, "
                "\"parent_task\": -7, \"queue_s\": 0.02, \"unfinished\": {\"generate\": 0.07, "
                "\"reward\": 0.06}, \"evicted\": true, \"run_id\": \"run-\\\"1\\\"\"}\n"
                "{\"task_id\": null, \"session_id\": 1, \"rank\": 0, \"status\": \"accepted\", "
                "\"submit_ts\": 1760000000.05, \"finalized_ts\": 1760000000.061, \"total_s\": "
                "0.011, \"generate_s\": 0.01, \"phases\": {\"generate\": [{\"start_ts\": "
                "1760000000.05, \"end_ts\": 1760000000.06}]}, \"partial\": true, "
                "\"run_id\": \"run-\\\"1\\\"\"}\n");
}

static void times_are_exact_to_the_nanosecond(void **state) {
    (void)state;
    const perftrace__fold_options_t options = {.rank = 3, .role = "actor", .epoch_ns = 1};
    perftrace__session_fold_t *f = perftrace__session_fold_new(&options);
    static const struct {
        uint64_t ns;
        const char *seconds;
    } times[] = {{0, "0.000000001"},
                 {9, "0.00000001"},
                 {999999999, "1.0"},
                 {1000000000, "1.000000001"},
                 {1234567889, "1.23456789"},
                 {1795971108491089602, "1795971108.491089603"},
                 {UINT64_MAX, "18446744073.709551615"}};
    for (unsigned i = 0; i < PT_ARRAY_LEN(times); i++) {
        assert_true(perftrace__session_fold_session(f, i, NO_ID, times[i].ns));
        char want[256];
        snprintf(want, sizeof(want),
                 "{\"task_id\": null, \"session_id\": %u, \"rank\": 3, \"role\": \"actor\", "
                 "\"status\": \"pending\", \"submit_ts\": %s}\n",
                 i, times[i].seconds);
        char *line = fold_take_text(f, PERFTRACE__TAKE_ALL, 0);
        assert_string_equal(line, want);
        free(line);
    }
    /* Sums stop at the highest number there is. */
    assert_true(perftrace__session_fold_session(f, 50, NO_ID, 0));
    for (uint64_t i = 1; i <= 2; i++) {
        assert_true(perftrace__session_fold_phase_begin(f, 50, GENERATE, i, text_of(NULL)));
        assert_true(
            perftrace__session_fold_phase_end(f, 50, GENERATE, i, UINT64_MAX, text_of(NULL)));
    }
    char *line = fold_take_text(f, PERFTRACE__TAKE_ALL, 0);
    assert_non_null(strstr(line, "\"generate_s\": 18446744073.709551615"));
    free(line);
    perftrace__session_fold_free(f);
}

static void any_bytes_give_strict_json(void **state) {
    (void)state;
    static const char odd[] = "</script><b>\"x\\ \xE2\x80\xA8 \xFF\xC3(\x01\n\x7F end";
    const perftrace__text_t text = {odd, sizeof(odd)}; /* its NUL, too */
    const perftrace__fold_options_t options = {
        .rank = 3, .role = odd, .run_id = odd, .epoch_ns = FOLD_EPOCH};
    perftrace__session_fold_t *f = perftrace__session_fold_new(&options);
    uint32_t phase = perftrace__session_fold_phase(f, text);
    assert_int_equal(perftrace__session_fold_phase(f, text), phase);
    fold_submit(f, 0, 1, 0);
    fold_begin(f, 0, phase, 1);
    assert_true(perftrace__session_fold_counter(f, 0, text, 1));
    assert_true(perftrace__session_fold_finalize(f, 0, 2, text, text));
    char *line = fold_take_text(f, PERFTRACE__TAKE_ALL, 0);
    assert_true(perftrace__json_check(line, strlen(line) - 1, NULL, NULL));
    assert_null(memchr(line, '\n', strlen(line) - 1));
    assert_non_null(strstr(line, "\"status\": \"</script><b>\\\"x\\\\ \xE2\x80\xA8 "
                                 "\xEF\xBF\xBD\xEF\xBF\xBD(\\u0001\\n\x7F end\\u0000\", "
                                 "\"reason\": \"</script>"));
    free(line);
    perftrace__session_fold_free(f);
}

/* Texts are kept in pieces: every length must come back as it was. */
static void texts_of_all_lengths_come_back(void **state) {
    (void)state;
    static const size_t longer[] = {2047, 2048, 2049, 10000000};
    perftrace__session_fold_t *f = fold_make(1, 0);
    char *text = malloc(10000000);
    assert_non_null(text);
    for (size_t i = 0; i < 10000000; i++) {
        text[i] = (char)('a' + i % 26);
    }
    for (size_t i = 0; i < 154; i++) {
        perftrace__text_t reason = {text, i < 150 ? i : longer[i - 150]};
        fold_submit(f, (int64_t)i, NO_ID, 0);
        assert_true(perftrace__session_fold_finalize(f, (int64_t)i, 0, text_of("x"), reason));
        char *line = fold_take_text(f, PERFTRACE__TAKE_ALL, 0);
        const char *at = strstr(line, "\"reason\": \"");
        assert_non_null(at);
        assert_memory_equal(at + 11, text, reason.len);
        assert_int_equal(at[11 + reason.len], '"');
        free(line);
    }
    free(text);
    assert_true(fold_counts(f).bytes < 1000000); /* and nothing of them is held */
    perftrace__session_fold_free(f);
}

static void beyond_all_places_a_name_is_other(void **state) {
    (void)state;
    perftrace__session_fold_t *f = fold_make(1, 0);
    uint32_t other = perftrace__session_fold_phase(f, text_of("other"));
    assert_int_equal(perftrace__session_fold_phase(f, text_of(NULL)), other);
    char name[32];
    for (unsigned i = 0; i < 65534 - 4; i++) {
        snprintf(name, sizeof(name), "phase %u", i);
        assert_int_equal(perftrace__session_fold_phase(f, text_of(name)), 4 + i);
    }
    assert_int_equal(perftrace__session_fold_phase(f, text_of("one more")), other);
    assert_int_equal(perftrace__session_fold_phase(f, text_of(name)), 65533);
    fold_begin(f, 0, 65533, 1);
    fold_begin(f, 0, other, 1);
    char *line = fold_take_text(f, PERFTRACE__TAKE_ALL, 0);
    assert_non_null(strstr(line, "\"phases\": {\"other\": [{"));
    assert_non_null(strstr(line, ", \"phase 65529\": [{"));
    free(line);
    perftrace__session_fold_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_writes_all_of_areal_s_keys_in_its_order),
        cmocka_unit_test(what_is_not_known_has_no_key),
        cmocka_unit_test(it_keeps_payloads),
        cmocka_unit_test(other_phases_follow_in_the_order_in_which_they_were_first_named),
        cmocka_unit_test(counters_are_summed_and_zeros_left_out),
        cmocka_unit_test(superset_keys_stand_last),
        cmocka_unit_test(times_are_exact_to_the_nanosecond),
        cmocka_unit_test(any_bytes_give_strict_json),
        cmocka_unit_test(texts_of_all_lengths_come_back),
        cmocka_unit_test(beyond_all_places_a_name_is_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
