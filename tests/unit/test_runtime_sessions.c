/* test_runtime_sessions.c: from the calls to sessions-r<rank>.jsonl. SPDX-License-Identifier: MIT
 */
#include "os.h"
#include "traced_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static perftrace_config_t session_config(const char *where) {
    perftrace_config_t c = traced_config(where);
    c.session_enabled = 1;
    return c;
}

static void start(const char *where) {
    perftrace_config_t c = session_config(where);
    CHILD_CHECK(perftrace_init(&c) == 0);
}

static const cJSON *member(const cJSON *record, const char *key) {
    return cJSON_GetObjectItemCaseSensitive(record, key);
}

static const char *text_of(const cJSON *record, const char *key) {
    return cJSON_GetStringValue(member(record, key));
}

static double number_of(const cJSON *record, const char *key) {
    const cJSON *item = member(record, key);
    assert_true(cJSON_IsNumber(item));
    return item->valuedouble;
}

static const cJSON *span_of(const cJSON *record, const char *phase, int i) {
    return cJSON_GetArrayItem(member(member(record, "phases"), phase), i);
}

/* ---- one of each ending ---- */

static void run_endings(const char *where) {
    start(where);
    for (int i = 0; i < 6; i++) {
        CHILD_CHECK(perftrace_session_register(i / 2) == i);
    }
    perftrace_session_set_current(0);
    {
        PERFTRACE_SESSION_PHASE("generate", PERFTRACE_INT("tokens", 7));
        usleep(2000);
    }
    perftrace_phase_t reward;
    PERFTRACE_SESSION_PHASE_BEGIN(&reward, 0, "reward");
    PERFTRACE_SESSION_PHASE_END(&reward, PERFTRACE_DOUBLE("score", 0.5));
    perftrace_session_counter(0, "retries", 2);
    perftrace_session_finalize(0, PERFTRACE_ACCEPTED, NULL);
    perftrace_session_finalize(1, PERFTRACE_REJECTED, "stale_weight");
    perftrace_task_finalize(1, NULL, NULL); /* 2 and 3 */
    perftrace_phase_t stuck;
    PERFTRACE_SESSION_PHASE_BEGIN(&stuck, 4, "toolcall");
    perftrace_session_finalize(4, NULL, NULL);
    PERFTRACE_SESSION_PHASE_BEGIN(&stuck, 5, "toolcall");
}

static void every_ending_is_a_record(void **state) {
    (void)state;
    traced_run(run_endings, dir);
    traced_file_t f = traced_read(dir, "sessions-r0.jsonl");
    assert_int_equal(f.count, 6);
    static const char *const status[] = {"accepted", "rejected", "accepted",
                                         "accepted", "failed",   "pending"};
    for (int i = 0; i < 6; i++) {
        const cJSON *r = f.lines[i];
        assert_true(number_of(r, "session_id") == i);
        assert_true(number_of(r, "task_id") == i / 2);
        assert_true(number_of(r, "rank") == 0);
        assert_string_equal(text_of(r, "status"), status[i]);
        assert_true(number_of(r, "submit_ts") > 1.7e9);
        assert_true((member(r, "finalized_ts") != NULL) == (i != 5));
    }
    const cJSON *r = f.lines[0];
    assert_true(number_of(r, "generate_s") >= 0.002 && number_of(r, "total_s") >= 0.002);
    assert_true(number_of(member(span_of(r, "generate", 0), "start"), "tokens") == 7);
    assert_true(number_of(member(span_of(r, "reward", 0), "end"), "score") == 0.5);
    assert_true(number_of(member(r, "counters"), "retries") == 2);
    assert_string_equal(text_of(f.lines[1], "reason"), "stale_weight");
    assert_null(member(f.lines[2], "reason"));
    assert_true(cJSON_IsNull(member(span_of(f.lines[5], "toolcall", 0), "end_ts")));
    assert_true(number_of(member(f.lines[5], "unfinished"), "toolcall") >= 0);
    traced_free(&f);
}

/* ---- files ---- */

static void run_nothing(const char *where) {
    start(where);
    PERFTRACE_INSTANT("point");
}

static void without_sessions_there_is_no_file(void **state) {
    (void)state;
    traced_run(run_nothing, dir);
    assert_int_equal(traced_files(dir, "sessions-*"), 0);
}

static void run_areal(const char *where) {
    perftrace_config_t c = session_config(NULL);
    c.dir = NULL;
    c.fileroot = where;
    c.experiment_name = "exp";
    c.trial_name = "t1";
    c.role = "rollout";
    CHILD_CHECK(perftrace_init(&c) == 0);
    perftrace_session_finalize(perftrace_session_register(1), PERFTRACE_DROPPED, NULL);
}

static void the_file_lies_where_users_look(void **state) {
    (void)state;
    char sub[512];
    traced_run(run_areal, dir);
    char user[256];
    perftrace__os_username(user, sizeof(user));
    snprintf(sub, sizeof(sub), "%s/logs/%s/exp/t1/session_tracer/rollout", dir, user);
    traced_file_t f = traced_read(sub, "sessions-r0.jsonl");
    assert_int_equal(f.count, 1);
    assert_string_equal(text_of(f.lines[0], "role"), "rollout");
    traced_free(&f);
}

/* ---- thresholds, saves, statistics ---- */

static void run_threshold(const char *where) {
    perftrace_config_t c = session_config(where);
    c.session_flush_threshold = 4;
    c.flush_ms = 60000;
    CHILD_CHECK(perftrace_init(&c) == 0);
    perftrace_stats_t s = {.struct_size = sizeof(s)};
    for (int i = 0; i < 3; i++) {
        perftrace_session_finalize(perftrace_session_register(1), PERFTRACE_ACCEPTED, NULL);
    }
    for (int i = 0; i < 3; i++) { /* three are below the threshold, however often it looks */
        CHILD_CHECK(perftrace_save(-1, 0) == 0 && perftrace_get_stats(&s) == 0);
        CHILD_CHECK(s.sessions == 3 && s.sessions_written == 0 && s.sessions_live == 3);
    }
    perftrace_session_finalize(perftrace_session_register(1), PERFTRACE_ACCEPTED, NULL);
    for (int i = 0; i < 3; i++) {
        CHILD_CHECK(perftrace_save(-1, 0) == 0 && perftrace_get_stats(&s) == 0);
    }
    CHILD_CHECK(s.sessions == 4 && s.sessions_written == 4 && s.sessions_live == 0);
    CHILD_CHECK(perftrace_session_counter(0, "late", 1) == 0);
    int64_t live = perftrace_session_register(2);
    perftrace_session_finalize(perftrace_session_register(1), PERFTRACE_ACCEPTED, NULL);
    for (int i = 0; i < 3; i++) { /* a forced save takes what is finished and leaves what lives */
        CHILD_CHECK(perftrace_save(-1, 1) == 0 && perftrace_get_stats(&s) == 0);
    }
    CHILD_CHECK(s.sessions_written == 5 && s.sessions_live == 1 && s.session_late == 1);
    perftrace_session_finalize(live, PERFTRACE_FAILED, "why");
}

static void records_are_written_at_the_threshold_and_by_force(void **state) {
    (void)state;
    traced_run(run_threshold, dir);
    traced_file_t f = traced_read(dir, "sessions-r0.jsonl");
    assert_int_equal(f.count, 6);
    assert_true(number_of(f.lines[4], "session_id") == 5);
    assert_true(number_of(f.lines[5], "session_id") == 4);
    assert_string_equal(text_of(f.lines[5], "status"), "failed");
    traced_free(&f);
}

static void run_ceiling(const char *where) {
    perftrace_config_t c = session_config(where);
    c.session_max_live = 10;
    CHILD_CHECK(perftrace_init(&c) == 0);
    for (int i = 0; i < 25; i++) {
        perftrace_session_register(1);
    }
    for (int i = 0; i < 3; i++) { /* an evicted session may still be finalized for a moment */
        CHILD_CHECK(perftrace_save(-1, 1) == 0);
    }
    perftrace_stats_t s = {.struct_size = sizeof(s)};
    CHILD_CHECK(perftrace_get_stats(&s) == 0);
    CHILD_CHECK(s.sessions == 25 && s.sessions_evicted == 15);
}

static void beyond_the_ceiling_the_oldest_is_evicted(void **state) {
    (void)state;
    traced_run(run_ceiling, dir);
    traced_file_t f = traced_read(dir, "sessions-r0.jsonl");
    assert_int_equal(f.count, 25);
    for (int i = 0; i < 25; i++) {
        assert_true(number_of(f.lines[i], "session_id") == i);
        assert_true(cJSON_IsTrue(member(f.lines[i], "evicted")) == (i < 15));
        assert_string_equal(text_of(f.lines[i], "status"), "pending");
    }
    traced_free(&f);
}

/* ---- the file is removed while it is written ---- */

static void run_removed(const char *where) {
    char path[128];
    perftrace_config_t c = session_config(where);
    c.session_flush_threshold = 1;
    CHILD_CHECK(perftrace_init(&c) == 0);
    perftrace_session_finalize(perftrace_session_register(1), NULL, NULL);
    for (int i = 0; i < 3; i++) {
        CHILD_CHECK(perftrace_save(-1, 1) == 0);
    }
    snprintf(path, sizeof(path), "%s/sessions-r0.jsonl", where);
    CHILD_CHECK(unlink(path) == 0);
    perftrace_session_finalize(perftrace_session_register(1), NULL, NULL);
}

static void a_removed_file_is_made_anew(void **state) {
    (void)state;
    traced_run(run_removed, dir);
    traced_file_t f = traced_read(dir, "sessions-r0.jsonl");
    assert_int_equal(f.count, 1);
    assert_true(number_of(f.lines[0], "session_id") == 1);
    traced_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(every_ending_is_a_record),
        CASE(without_sessions_there_is_no_file),
        CASE(the_file_lies_where_users_look),
        CASE(records_are_written_at_the_threshold_and_by_force),
        CASE(beyond_the_ceiling_the_oldest_is_evicted),
        CASE(a_removed_file_is_made_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
