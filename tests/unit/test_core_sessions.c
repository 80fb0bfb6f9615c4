/* test_core_sessions.c: session events on their way into the trace. SPDX-License-Identifier: MIT */
#include "traced_case.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void start(const char *where, int enabled, int sessions) {
    perftrace_config_t c = traced_config(where);
    c.enabled = enabled;
    c.session_enabled = sessions;
    CHILD_CHECK(perftrace_init(&c) == 0);
}

static const char *text_of(const cJSON *line, const char *key) {
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(line, key));
}

/* ---- one session, every kind of event ---- */

static void run_one(const char *where) {
    start(where, 1, 1);
    CHILD_CHECK(perftrace_session_current() == PERFTRACE_NO_ID);
    CHILD_CHECK(perftrace_session_phase_declare("validate", 0, 1) == 0);
    CHILD_CHECK(perftrace_task_register(5, 4) == 0);
    CHILD_CHECK(perftrace_session_register(5) == 0);
    int64_t s;
    {
        PERFTRACE_SCOPE("submit");
        s = perftrace_session_register(5);
    }
    CHILD_CHECK(s == 1);
    { PERFTRACE_SESSION_PHASE("nobody"); } /* no current session */
    perftrace_session_set_current(s);
    {
        PERFTRACE_SESSION_PHASE("generate", PERFTRACE_INT("tokens", 7),
                                PERFTRACE_STRING("model", "a\"b"));
        PERFTRACE_SESSION_PHASE("toolcall");
    }
    perftrace_phase_t p = {0};
    PERFTRACE_SESSION_PHASE_BEGIN(&p, s, "reward", PERFTRACE_BOOL("first", true));
    PERFTRACE_SESSION_PHASE_END(&p, PERFTRACE_DOUBLE("score", 0.5));
    PERFTRACE_SESSION_PHASE_END(&p, PERFTRACE_DOUBLE("score", 1.5)); /* a second end */
    char name[] = "made";
    PERFTRACE_SESSION_PHASE_BEGIN_NAMED(&p, s, name);
    name[0] = 'x';
    PERFTRACE_SESSION_PHASE_END(&p, PERFTRACE_INT("began", 5), PERFTRACE_INT("rank", 6));
    { PERFTRACE_SESSION_PHASE_OF(0, "generate"); }
    CHILD_CHECK(perftrace_session_counter(s, "retries", 2) == 0);
    {
        PERFTRACE_SCOPE("consume");
        CHILD_CHECK(perftrace_session_finalize(s, PERFTRACE_REJECTED, "stale") == 0);
    }
    CHILD_CHECK(perftrace_session_finalize(0, NULL, NULL) == 0);
    CHILD_CHECK(perftrace_task_finalize(5, NULL, NULL) == 0);
}

static void check_line(const traced_file_t *f, const char *name, size_t n, const char *phase,
                       const char *category, const char *id) {
    const cJSON *line = traced_line(f, name, n);
    assert_non_null(line);
    assert_string_equal(text_of(line, "ph"), phase);
    assert_string_equal(text_of(line, "cat"), category);
    assert_string_equal(text_of(line, "id"), id);
}

static void every_event_is_a_line_of_the_trace(void **state) {
    (void)state;
    traced_file_t f = run(run_one);
    check_line(&f, "validate", 0, "n", "session.phase", "0x0");
    assert_true(cJSON_IsFalse(traced_arg(traced_line(&f, "validate", 0), "allow_multiple")));
    assert_true(cJSON_IsTrue(traced_arg(traced_line(&f, "validate", 0), "ready_on_complete")));
    check_line(&f, "task", 0, "b", "session.task", "0x5");
    assert_int_equal(traced_arg_number(traced_line(&f, "task", 0), "parent"), 4);
    assert_int_equal(traced_count(&f, "nobody"), 0);
    /* An arrow has a scope around each of its ends: the first session has none. */
    assert_int_equal(traced_count(&f, "session"), 6);
    check_line(&f, "session", 0, "b", "session", "0x0");
    check_line(&f, "session", 1, "b", "session", "0x1");
    assert_int_equal(traced_arg_number(traced_line(&f, "session", 1), "task_id"), 5);
    check_line(&f, "session", 2, "s", "session", "0x1");
    check_line(&f, "session", 3, "f", "session", "0x1");
    check_line(&f, "session", 4, "e", "session", "0x1");
    assert_string_equal(cJSON_GetStringValue(traced_arg(traced_line(&f, "session", 4), "status")),
                        "rejected");
    check_line(&f, "session", 5, "e", "session", "0x0");
    assert_int_equal(traced_count(&f, "generate"), 4);
    check_line(&f, "generate", 0, "b", "session", "0x1");
    check_line(&f, "generate", 1, "e", "session", "0x1");
    check_line(&f, "generate", 2, "b", "session", "0x0");
    assert_int_equal(traced_arg_number(traced_line(&f, "generate", 0), "tokens"), 7);
    assert_string_equal(cJSON_GetStringValue(traced_arg(traced_line(&f, "generate", 0), "model")),
                        "a\"b");
    assert_true(traced_arg_number(traced_line(&f, "generate", 1), "began") ==
                traced_number(traced_line(&f, "generate", 0), "ts"));
    assert_null(traced_arg(traced_line(&f, "generate", 1), "tokens"));
    assert_int_equal(traced_count(&f, "toolcall"), 2);
    assert_int_equal(traced_count(&f, "reward"), 2);
    assert_true(cJSON_IsTrue(traced_arg(traced_line(&f, "reward", 0), "first")));
    assert_true(traced_arg_number(traced_line(&f, "reward", 1), "score") == 0.5);
    assert_true(traced_arg_number(traced_line(&f, "reward", 1), "began") ==
                traced_number(traced_line(&f, "reward", 0), "ts"));
    assert_int_equal(traced_count(&f, "made"), 2);
    check_line(&f, "made", 1, "e", "session", "0x1");
    /* Of a key that comes twice readers take the last: the writer's. */
    const cJSON *arg = cJSON_GetObjectItemCaseSensitive(traced_line(&f, "made", 1), "args")->child;
    assert_string_equal(arg->string, "began");
    assert_true(arg->valuedouble == 5);
    assert_string_equal(arg->next->string, "rank");
    assert_string_equal(arg->next->next->string, "began");
    assert_true(arg->next->next->valuedouble == traced_number(traced_line(&f, "made", 0), "ts"));
    check_line(&f, "retries", 0, "n", "session.counter", "0x1");
    assert_int_equal(traced_arg_number(traced_line(&f, "retries", 0), "value"), 2);
    check_line(&f, "task", 1, "e", "session.task", "0x5");
    assert_true(cJSON_IsNull(traced_arg(traced_line(&f, "task", 1), "status")));
    assert_true(traced_footer(&f, "emitted") == traced_footer(&f, "written"));
    traced_free(&f);
}

/* ---- switches ---- */

static void some_of_each(void) {
    PERFTRACE_INSTANT("point");
    PERFTRACE_SCOPE("around");
    int64_t s = perftrace_session_register(1);
    perftrace_session_set_current(s);
    { PERFTRACE_SESSION_PHASE("generate"); }
    perftrace_session_finalize(s, PERFTRACE_ACCEPTED, NULL);
}

static void run_without(const char *where) {
    start(where, 1, 0);
    CHILD_CHECK(perftrace_session_register(1) == PERFTRACE_NO_ID);
    CHILD_CHECK(perftrace_session_finalize(0, NULL, NULL) == PERFTRACE_ERR_DISABLED);
    perftrace_session_set_current(0);
    some_of_each();
}

static void without_the_option_nothing_is_recorded(void **state) {
    (void)state;
    traced_file_t f = run(run_without);
    assert_int_equal(traced_count(&f, "point"), 1);
    assert_int_equal(traced_count(&f, "session"), 0);
    assert_int_equal(traced_count(&f, "generate"), 0);
    assert_true(traced_footer(&f, "emitted") == 2);
    traced_free(&f);
}

static void run_sessions_alone(const char *where) {
    start(where, 0, 1);
    CHILD_CHECK(perftrace_get_enabled() == 0);
    some_of_each();
    CHILD_CHECK(perftrace_set_filter("-session", "-generate") == 0);
    CHILD_CHECK(perftrace_set_enabled(1) == 0 && perftrace_set_enabled(0) == 0);
    some_of_each();
}

static void sessions_do_not_depend_on_the_switch_or_the_filter(void **state) {
    (void)state;
    traced_file_t f = run(run_sessions_alone);
    assert_int_equal(traced_count(&f, "point"), 0);
    assert_int_equal(traced_count(&f, "session"), 4); /* no arrows: they are events like others */
    assert_int_equal(traced_count(&f, "generate"), 4);
    traced_free(&f);
}

/* ---- threads ---- */

static void *end_there(void *arg) {
    perftrace_phase_t *p = arg;
    CHILD_CHECK(perftrace_session_current() == PERFTRACE_NO_ID);
    PERFTRACE_SESSION_PHASE_END(p);
    return NULL;
}

static void *take_over(void *arg) {
    perftrace_context_set(*(perftrace_context_t *)arg);
    PERFTRACE_SESSION_PHASE("reward");
    return NULL;
}

static void run_threads(const char *where) {
    start(where, 1, 1);
    perftrace_task_set_current(3);
    perftrace_session_set_current(perftrace_session_register(perftrace_task_current()));
    perftrace_phase_t p = {0};
    PERFTRACE_SESSION_PHASE_BEGIN(&p, perftrace_session_current(), "generate");
    pthread_t t;
    CHILD_CHECK(pthread_create(&t, NULL, end_there, &p) == 0);
    pthread_join(t, NULL);
    CHILD_CHECK(p.live == 0);
    perftrace_context_t context = perftrace_context_get();
    CHILD_CHECK(context.task == 3 && context.session == 0);
    CHILD_CHECK(pthread_create(&t, NULL, take_over, &context) == 0);
    pthread_join(t, NULL);
}

static void a_phase_may_end_on_another_thread(void **state) {
    (void)state;
    traced_file_t f = run(run_threads);
    assert_int_equal(traced_count(&f, "generate"), 2);
    assert_true(traced_number(traced_line(&f, "generate", 0), "tid") !=
                traced_number(traced_line(&f, "generate", 1), "tid"));
    assert_true(traced_arg_number(traced_line(&f, "generate", 1), "began") ==
                traced_number(traced_line(&f, "generate", 0), "ts"));
    assert_int_equal(traced_count(&f, "reward"), 2);
    assert_string_equal(text_of(traced_line(&f, "reward", 0), "id"), "0x0");
    traced_free(&f);
}

/* ---- by name ---- */

static void run_by_name(const char *where) {
    start(where, 1, 1);
    CHILD_CHECK(perftrace_session_event(0, -1, "finalized", NULL, NULL) == PERFTRACE_ERR_INVALID);
    int64_t s = perftrace_session_register(PERFTRACE_NO_ID);
    CHILD_CHECK(perftrace_session_event(s, -1, "mark_generate_start", NULL, NULL) == 0);
    CHILD_CHECK(perftrace_session_event(s, -1, "generate_end", NULL, NULL) == 0);
    CHILD_CHECK(perftrace_session_event(s, 7, "finalized", "odd", NULL) == 0);
    CHILD_CHECK(perftrace_session_event(-1, 7, "mark_finalized", NULL, "why") == 0);
    CHILD_CHECK(perftrace_session_event(-1, 7, "generate_end", NULL, NULL) ==
                PERFTRACE_ERR_INVALID);
    CHILD_CHECK(perftrace_session_event(s, -1, "_end", NULL, NULL) == PERFTRACE_ERR_INVALID);
    CHILD_CHECK(perftrace_session_event(s, -1, "nonsense", NULL, NULL) == PERFTRACE_ERR_INVALID);
    CHILD_CHECK(perftrace_session_event(s, -1, NULL, NULL, NULL) == PERFTRACE_ERR_INVALID);
    CHILD_CHECK(perftrace_session_event(-1, -1, "finalized", NULL, NULL) == PERFTRACE_ERR_INVALID);
    CHILD_CHECK(perftrace_session_counter(s, NULL, 1) == PERFTRACE_ERR_INVALID);
    CHILD_CHECK(perftrace_session_counter(s + 1, "n", 1) == PERFTRACE_ERR_INVALID);
    CHILD_CHECK(perftrace_task_finalize(-1, NULL, NULL) == PERFTRACE_ERR_INVALID);
}

static void events_may_be_given_by_name(void **state) {
    (void)state;
    traced_file_t f = run(run_by_name);
    assert_int_equal(traced_count(&f, "generate"), 2);
    check_line(&f, "generate", 1, "e", "session", "0x0");
    assert_true(traced_arg_number(traced_line(&f, "generate", 1), "began") == 0);
    assert_null(traced_arg(traced_line(&f, "session", 0), "task_id"));
    check_line(&f, "session", 1, "e", "session", "0x0");
    assert_string_equal(cJSON_GetStringValue(traced_arg(traced_line(&f, "session", 1), "status")),
                        "odd");
    check_line(&f, "task", 0, "e", "session.task", "0x7");
    traced_free(&f);
}

/* ---- bindings ---- */

static void run_twins(const char *where) {
    start(where, 1, 1);
    const perftrace_i_arg_t arg = {"n", PERFTRACE_I_TYPE_I64};
    perftrace_i_site_t *begin =
        perftrace_site_create(PERFTRACE_I_KIND_PHASE_BEGIN, "judge", "session", NULL, 0, 1, &arg);
    perftrace_i_site_t *end =
        perftrace_site_create(PERFTRACE_I_KIND_PHASE_END, NULL, "session", NULL, 0, 1, &arg);
    CHILD_CHECK(begin && end);
    uint64_t value = 9;
    perftrace_phase_t p;
    perftrace_session_phase_begin(&p, PERFTRACE_NO_ID, begin, &value); /* no current session */
    CHILD_CHECK(!p.live);
    perftrace_session_phase_end(&p, end, &value);
    int64_t s = perftrace_session_register(1);
    perftrace_session_phase_begin(&p, s, begin, &value);
    perftrace_session_phase_end(&p, end, &value);
    perftrace_session_set_current(s);
    perftrace_session_phase_begin(&p, PERFTRACE_NO_ID, begin, NULL);
    perftrace_session_phase_end(&p, NULL, NULL);
}

static void bindings_have_functions(void **state) {
    (void)state;
    traced_file_t f = run(run_twins);
    assert_int_equal(traced_count(&f, "judge"), 4);
    check_line(&f, "judge", 1, "e", "session", "0x0");
    assert_int_equal(traced_arg_number(traced_line(&f, "judge", 1), "n"), 9);
    assert_int_equal(traced_arg_number(traced_line(&f, "judge", 2), "n"), 0);
    assert_null(traced_arg(traced_line(&f, "judge", 3), "n"));
    traced_free(&f);
}

/* ---- a full ring ---- */

static void run_full(const char *where) {
    perftrace_config_t c = traced_config(where);
    c.session_enabled = 1;
    c.ring_size = 65536;
    c.flush_ms = 60000;
    CHILD_CHECK(perftrace_init(&c) == 0);
    int64_t s = perftrace_session_register(1);
    for (int i = 0; i < 100000; i++) {
        PERFTRACE_SESSION_PHASE_OF(s, "generate", PERFTRACE_INT("i", i));
    }
}

static void what_a_full_ring_cannot_take_is_counted(void **state) {
    (void)state;
    traced_file_t f = run(run_full);
    assert_true(traced_footer(&f, "emitted") == 200001);
    size_t lines = traced_count(&f, "generate") + traced_count(&f, "session");
    assert_true(traced_footer(&f, "written") == (double)lines);
    assert_true(lines < 200001);
    traced_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(every_event_is_a_line_of_the_trace),
        CASE(without_the_option_nothing_is_recorded),
        CASE(sessions_do_not_depend_on_the_switch_or_the_filter),
        CASE(a_phase_may_end_on_another_thread),
        CASE(events_may_be_given_by_name),
        CASE(bindings_have_functions),
        CASE(what_a_full_ring_cannot_take_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
