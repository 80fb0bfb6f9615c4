/* test_session_replay.c: records from the lines of a trace. SPDX-License-Identifier: MIT */
#include "session_fold_util.h"
#include "session_replay.h"

#define HEADER                                                                                     \
    "{\"name\": \"perftrace_header\", \"ph\": \"M\", \"pid\": 71, \"tid\": 71, \"args\": "         \
    "{\"version\": 1, \"run_id\": \"6f0c\", \"rank\": 3, \"world_size\": 8, \"role\": \"actor\", " \
    "\"host\": \"n\", \"epoch_ns\": \"1760000000000000000\", \"mono_ns\": \"5\"}}"
#define TAIL ", \"pid\": 71, \"tid\": 72, \"cat\": \"session\", \"args\": {"
#define OURS "\"rank\": 3, \"role\": \"actor\"}, \"id\": \"0x5d\"}"

typedef struct replayed {
    perftrace__session_fold_t *fold;
    perftrace__session_replay_t r;
} replayed_t;

static perftrace__replayed_t give(replayed_t *t, const char *line) {
    return perftrace__session_replay_line(&t->r, line, strlen(line));
}

static void begin(replayed_t *t, const char *header) {
    perftrace__trace_header_t h = PERFTRACE__TRACE_HEADER_INIT;
    assert_true(perftrace__trace_header_read(header, strlen(header), &h));
    perftrace__fold_options_t options = perftrace__trace_header_options(&h);
    t->fold = perftrace__session_fold_new(&options);
    assert_non_null(t->fold);
    perftrace__trace_header_free(&h);
    perftrace__session_replay_init(&t->r, t->fold);
    assert_int_equal(give(t, header), PERFTRACE__REPLAY_OTHER);
}

static char *end(replayed_t *t) {
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    assert_true(perftrace__session_fold_take(t->fold, PERFTRACE__TAKE_ALL, t->r.last_ns, &out));
    char *text = strdup(perftrace__strbuf_cstr(&out));
    assert_non_null(text);
    perftrace__strbuf_free(&out);
    perftrace__session_replay_free(&t->r);
    perftrace__session_fold_free(t->fold);
    return text;
}

/* All that can be said of a session. */
static const char *const lines[] = {
    "{\"name\": \"verify\", \"ph\": \"n\", \"ts\": 1.000, \"pid\": 71, \"tid\": 72, \"cat\": "
    "\"session.phase\", \"args\": {\"allow_multiple\": false, \"ready_on_complete\": false, "
    "\"rank\": 3, \"role\": \"actor\"}, \"id\": \"0x0\"}",
    "{\"name\": \"task\", \"ph\": \"b\", \"ts\": 2.000, \"pid\": 71, \"tid\": 72, \"cat\": "
    "\"session.task\", \"args\": {\"parent\": 7, \"rank\": 3, \"role\": \"actor\"}, \"id\": "
    "\"0x5\"}",
    "{\"name\": \"session\", \"ph\": \"b\", \"ts\": 1000.125" TAIL "\"task_id\": 5, " OURS,
    "{\"name\": \"session\", \"ph\": \"s\", \"ts\": 1000.126" TAIL OURS,
    "{\"name\": \"generate\", \"ph\": \"b\", \"ts\": 2000.000" TAIL
    "\"n\": 4, \"rank\": \"mine \\\"x\\\"\", " OURS,
    "{\"name\": \"toolcall\", \"ph\": \"b\", \"ts\": 2100.000" TAIL OURS,
    "{\"name\": \"toolcall\", \"ph\": \"b\", \"ts\": 2200.000" TAIL OURS,
    "{\"name\": \"toolcall\", \"ph\": \"e\", \"ts\": 2300.000" TAIL "\"began\": 2100.000, " OURS,
    "{\"name\": \"toolcall\", \"ph\": \"e\", \"ts\": 2400.001" TAIL
    "\"began\": 1, \"ok\": true, \"role\": null, \"began\": 2200.000, " OURS,
    "{\"name\": \"generate\", \"ph\": \"e\", \"ts\": 2500.000" TAIL "\"began\": 0.000, " OURS,
    "{\"name\": \"verify\", \"ph\": \"b\", \"ts\": 2600.000" TAIL OURS,
    "{\"name\": \"verify\", \"ph\": \"b\", \"ts\": 2700.000" TAIL OURS,
    "{\"name\": \"tokens\", \"ph\": \"n\", \"ts\": 2750.000, \"pid\": 71, \"tid\": 72, \"cat\": "
    "\"session.counter\", \"args\": {\"value\": -5, " OURS,
    "{\"name\": \"a \\u0022b\\u0022\", \"ph\": \"b\", \"ts\": 2800.000" TAIL OURS,
    "{\"name\": \"a \\u0022b\\u0022\", \"ph\": \"e\", \"ts\": 2900.000" TAIL
    "\"began\": 2800.000, " OURS,
    "{\"name\": \"train\", \"ph\": \"X\", \"ts\": 2850.000, \"dur\": 9000.000, \"pid\": 71, "
    "\"tid\": 72, \"cat\": \"compute\", \"args\": {\"rank\": 3, \"role\": \"actor\"}}",
    "{\"name\": \"session\", \"ph\": \"f\", \"ts\": 3000.000" TAIL OURS,
    "{\"name\": \"session\", \"ph\": \"e\", \"ts\": 3000.001" TAIL
    "\"status\": \"rejected\", \"reason\": \"a \\u2028 \\n\", " OURS,
};
#define OTHER_LINES 3

static const char record[] =
    "{\"task_id\": 5, \"session_id\": 93, \"rank\": 3, \"role\": \"actor\", \"status\": "
    "\"rejected\", \"reason\": \"a \xE2\x80\xA8 \\n\", \"submit_ts\": 1760000000.001000125, "
    "\"finalized_ts\": 1760000000.003000001, \"total_s\": 0.001999876, \"generate_s\": 0.0005, "
    "\"toolcall_s\": 0.000400001, \"verify_s\": 0.0001, \"a \\\"b\\\"_s\": 0.0001, \"phases\": "
    "{\"generate\": [{\"start_ts\": 1760000000.002, \"end_ts\": 1760000000.0025, \"start\": "
    "{\"n\": 4, \"rank\": \"mine \\\"x\\\"\"}}], \"toolcall\": [{\"start_ts\": 1760000000.0021, "
    "\"end_ts\": 1760000000.0023}, {\"start_ts\": 1760000000.0022, \"end_ts\": "
    "1760000000.002400001, \"end\": {\"began\": 1, \"ok\": true, \"role\": null}}], \"verify\": "
    "[{\"start_ts\": "
    "1760000000.0026, \"end_ts\": 1760000000.0027}, {\"start_ts\": 1760000000.0027, \"end_ts\": "
    "null}], \"a \\\"b\\\"\": [{\"start_ts\": 1760000000.0028, \"end_ts\": 1760000000.0029}]}, "
    "\"counters\": {\"tokens\": -5}, \"parent_task\": 7, \"queue_s\": 0.000999875, "
    "\"unfinished\": {\"verify\": 0.000300001}, \"run_id\": \"6f0c\"}\n";

static void a_trace_gives_the_record(void **state) {
    (void)state;
    replayed_t t;
    begin(&t, HEADER);
    for (unsigned i = 0; i < PT_ARRAY_LEN(lines); i++) {
        give(&t, lines[i]);
    }
    assert_int_equal(t.r.taken, PT_ARRAY_LEN(lines) - OTHER_LINES);
    assert_int_equal(t.r.other, OTHER_LINES + 1);
    assert_int_equal(t.r.damaged, 0);
    assert_int_equal(t.r.last_ns, 11850000);
    char *text = end(&t);
    assert_string_equal(text, record);
    free(text);
}

/* Members in another order, other spaces, a line end: as another program may have written it. */
static void any_layout_will_do(void **state) {
    (void)state;
    replayed_t t;
    begin(&t, "{\"args\":{\"rank\":null,\"role\":null,\"epoch_ns\":\"1760000000000000000\"},"
              "\"ph\":\"M\",\"name\":\"perftrace_header\"}");
    assert_int_equal(give(&t, "{\"id\":\"0x1\",\"cat\":\"session\",\"args\":{},\"ts\":1000,\"ph\":"
                              "\"b\",\"name\":\"session\"}\r\n"),
                     PERFTRACE__REPLAY_TAKEN);
    assert_int_equal(give(&t, " { \"ts\" : 2e3 , \"id\" : \"0x1\", \"cat\" : \"session\", \"args\" "
                              ": { \"rank\" : 3 }, \"ph\" : \"b\", \"name\" : \"reward\" }"),
                     PERFTRACE__REPLAY_TAKEN);
    assert_int_equal(give(&t, "{\"name\":\"x\",\"ph\":\"X\",\"ts\":5000,\"dur\":1}"),
                     PERFTRACE__REPLAY_OTHER);
    char *text = end(&t);
    assert_string_equal(text,
                        "{\"task_id\": null, \"session_id\": 1, \"rank\": null, \"status\": "
                        "\"pending\", \"submit_ts\": 1760000000.001, \"phases\": {\"reward\": "
                        "[{\"start_ts\": 1760000000.002, \"end_ts\": null, \"start\": {\"rank\" : "
                        "3}}]}, \"queue_s\": 0.001, \"unfinished\": {\"reward\": 0.003}}\n");
    free(text);
}

/* As the sink takes it: readings of the clock are times of the run. */
static void readings_of_the_clock_are_times(void **state) {
    (void)state;
    replayed_t t;
    begin(&t, HEADER);
    for (unsigned i = 0; i < PT_ARRAY_LEN(lines); i++) {
        give(&t, lines[i]);
    }
    static const char *const readings[] = {
        "{\"name\": \"perftrace_clock\", \"ph\": \"M\", \"args\": {\"ts\": 20000.125}}",
        "{\"name\": \"perftrace_clock\", \"ph\": \"M\", \"args\": {\"ts\": 19000.000}}",
        "{\"name\": \"perftrace_clock\", \"ph\": \"M\", \"args\": {\"ts\": -1}}",
        "{\"name\": \"perftrace_clock\", \"ph\": \"M\", \"args\": {\"ts\": \"99999999\"}}",
        "{\"name\": \"perftrace_clock\", \"ph\": \"M\", \"args\": {}}",
        "{\"name\": \"perftrace_clock\", \"ph\": \"M\"}",
    };
    for (unsigned i = 0; i < PT_ARRAY_LEN(readings); i++) {
        assert_int_equal(give(&t, readings[i]), PERFTRACE__REPLAY_OTHER);
    }
    assert_int_equal(t.r.last_ns, 20000125);
    free(end(&t));
}

static void finalizes_of_tasks_and_without_words(void **state) {
    (void)state;
    replayed_t t;
    begin(&t, HEADER);
#define SIMPLE(name, ph, ts, cat, args, id)                                                        \
    "{\"name\": \"" name "\", \"ph\": \"" ph "\", \"ts\": " ts ", \"pid\": 1, \"tid\": 1, "        \
    "\"cat\": \"" cat "\", \"args\": {" args "\"rank\": 3, \"role\": \"actor\"}, \"id\": \"" id    \
    "\"}"
    static const char *const some[] = {
        SIMPLE("session", "b", "1.000", "session", "\"task_id\": 9, ", "0x0"),
        SIMPLE("session", "b", "2.000", "session", "\"task_id\": 9, ", "0x1"),
        SIMPLE("session", "b", "3.000", "session", "", "0x2"),
        SIMPLE("session", "e", "4.000", "session", "\"status\": null, \"reason\": null, ", "0x2"),
        SIMPLE("task", "e", "5.000", "session.task", "\"status\": \"failed\", \"reason\": null, ",
               "0x9"),
        SIMPLE("task", "b", "6.000", "session.task", "", "0xa"),
        /* A phase with the name of a session: its end tells by `began`, its begin by the session,
         * which began before. */
        SIMPLE("session", "e", "7.000", "session", "\"began\": 6.500, ", "0x3"),
        SIMPLE("session", "b", "8.000", "session", "", "0x4"),
        SIMPLE("session", "b", "9.000", "session", "\"task_id\": 9, ", "0x4"),
    };
    for (unsigned i = 0; i < PT_ARRAY_LEN(some); i++) {
        assert_int_equal(give(&t, some[i]), PERFTRACE__REPLAY_TAKEN);
    }
    char *text = end(&t);
    assert_string_equal(fold_ids(text), "2 0 1 3 4 ");
    assert_non_null(strstr(text, "\"session_id\": 2, \"rank\": 3, \"role\": \"actor\", \"status\": "
                                 "\"accepted\", \"submit_ts\""));
    assert_non_null(strstr(text, "\"session_id\": 1, \"rank\": 3, \"role\": \"actor\", \"status\": "
                                 "\"failed\", \"submit_ts\""));
    assert_non_null(strstr(text, "\"session_s\": 0.0000005"));
    assert_non_null(strstr(text, "{\"task_id\": null, \"session_id\": 4, "));
    assert_non_null(strstr(text, "\"phases\": {\"session\": [{\"start_ts\": 1760000000.000009, "
                                 "\"end_ts\": null, \"start\": {\"task_id\": 9}}]}"));
    free(text);
}

static void the_rank_may_change(void **state) {
    (void)state;
    replayed_t t;
    begin(&t, "{\"name\": \"perftrace_header\", \"ph\": \"M\", \"args\": {\"rank\": null, "
              "\"role\": null, \"epoch_ns\": \"1760000000000000000\"}}");
    assert_int_equal(give(&t, "{\"name\": \"reward\", \"ph\": \"b\", \"ts\": 1.000, \"cat\": "
                              "\"session\", \"args\": {\"rank\": 3}, \"id\": \"0x1\"}"),
                     PERFTRACE__REPLAY_TAKEN);
    assert_int_equal(give(&t,
                          "{\"name\": \"perftrace_header\", \"ph\": \"M\", \"args\": {\"rank\": "
                          "3, \"role\": null, \"epoch_ns\": \"1760000000000000000\"}}"),
                     PERFTRACE__REPLAY_OTHER);
    assert_int_equal(give(&t, "{\"name\": \"reward\", \"ph\": \"b\", \"ts\": 2.000, \"cat\": "
                              "\"session\", \"args\": {\"role\": \"actor\", \"rank\": 3}, \"id\": "
                              "\"0x1\"}"),
                     PERFTRACE__REPLAY_TAKEN);
    char *text = end(&t);
    assert_non_null(strstr(text, "\"rank\": 3, \"status\": \"pending\""));
    assert_non_null(strstr(text, "\"start\": {\"rank\": 3}}, {"));
    assert_non_null(strstr(text, "\"start\": {\"role\": \"actor\"}}]"));
    free(text);
}

static void what_is_torn_is_counted(void **state) {
    (void)state;
    replayed_t t;
    begin(&t, HEADER);
    unsigned damaged = 0;
    for (unsigned i = 0; i < PT_ARRAY_LEN(lines); i++) {
        size_t len = strlen(lines[i]);
        for (size_t n = 0; n < len; n++) {
            /* In memory of just that size, so that a read behind the end is seen. */
            char *copy = malloc(n ? n : 1);
            assert_non_null(copy);
            memcpy(copy, lines[i], n);
            perftrace__replayed_t got = perftrace__session_replay_line(&t.r, copy, n);
            assert_int_not_equal(got, PERFTRACE__REPLAY_TAKEN);
            damaged += got == PERFTRACE__REPLAY_DAMAGED;
            free(copy);
        }
    }
    assert_int_equal(t.r.damaged, damaged);
    assert_true(damaged > 2000);
    assert_int_equal(fold_counts(t.fold).sessions, 0);
    free(end(&t));
}

static void what_is_not_ours_is_counted(void **state) {
    (void)state;
    replayed_t t;
    begin(&t, HEADER);
    static const char *const damaged[] = {
        "",
        "null",
        "[1]",
        "{",
        "\xFF\xFE",
        "{\"name\": \"x\"} {\"name\": \"y\"}",
        SIMPLE("reward", "b", "-1.000", "session", "", "0x1"),
        SIMPLE("reward", "b", "\"1.000\"", "session", "", "0x1"),
        SIMPLE("reward", "b", "1.000", "session", "", ""),
        SIMPLE("reward", "b", "1.000", "session", "", "0x"),
        SIMPLE("reward", "b", "1.000", "session", "", "1"),
        SIMPLE("reward", "b", "1.000", "session", "", "0x1g"),
        SIMPLE("reward", "b", "1.000", "session", "", "0x12345678901234567"),
        SIMPLE("reward", "n", "1.000", "session", "", "0x1"),
        SIMPLE("reward", "", "1.000", "session", "", "0x1"),
        SIMPLE("tokens", "b", "1.000", "session.counter", "\"value\": 1, ", "0x1"),
        SIMPLE("verify", "e", "1.000", "session.phase", "", "0x0"),
        "{\"name\": 5, \"ph\": \"b\", \"ts\": 1.000, \"cat\": \"session\", \"args\": {}, \"id\": "
        "\"0x1\"}",
        "{\"name\": \"reward\", \"ph\": \"b\", \"ts\": 1.000, \"cat\": \"session\", \"args\": [], "
        "\"id\": \"0x1\"}",
        "{\"name\": \"reward\", \"ph\": \"b\", \"ts\": 1.000, \"cat\": \"session\", \"id\": "
        "\"0x1\"}",
        "{\"name\": \"reward\", \"ph\": \"b\", \"ts\": 1.000, \"cat\": \"session\", \"args\": {}}",
        ("{\"name\": \"reward\", \"ph\": \"b\", \"cat\": \"session\", \"args\": {}, \"id\": "
         "\"0x1\"}"),
    };
    static const char *const other[] = {
        "{}",
        ("{\"name\": \"x\", \"ph\": \"b\", \"ts\": 1.000, \"cat\": \"net\", \"args\": {}, \"id\": "
         "\"0x1\"}"),
        "{\"name\": \"x \\\" y\", \"ph\": \"X\", \"ts\": 1.000, \"dur\": 1.000}",
        "{\"name\": \"x\", \"ph\": \"X\", \"ts\": 99999999999999999999999.000, \"dur\": 1.000}",
        "{\"name\": \"x\", \"ph\": \"X\", \"ts\": 1, \"dur\": 1, \"cat\": \"session\"}",
        "{\"name\": \"perftrace_header\", \"ph\": \"M\", \"args\": {}}",
        "{\"name\": \"perftrace_header\", \"ph\": \"M\", \"args\": []}",
        "{\"name\": \"perftrace_footer\", \"ph\": \"M\", \"pid\": 1, \"tid\": 1, \"args\": {}}",
        "{\"task_id\": 5, \"session_id\": 1, \"rank\": 3}",
    };
    for (unsigned i = 0; i < PT_ARRAY_LEN(damaged); i++) {
        assert_int_equal(give(&t, damaged[i]), PERFTRACE__REPLAY_DAMAGED);
    }
    for (unsigned i = 0; i < PT_ARRAY_LEN(other); i++) {
        assert_int_equal(give(&t, other[i]), PERFTRACE__REPLAY_OTHER);
    }
    assert_int_equal(t.r.damaged, PT_ARRAY_LEN(damaged));
    assert_int_equal(t.r.other, PT_ARRAY_LEN(other) + 1);
    assert_int_equal(fold_counts(t.fold).sessions, 0);
    free(end(&t));
}

static void headers_are_read(void **state) {
    (void)state;
    perftrace__trace_header_t h = PERFTRACE__TRACE_HEADER_INIT;
    static const char with[] =
        "{\"name\": \"perftrace_header\", \"args\": {\"role\": \"a \\u00e9\", \"rank\": 0, "
        "\"run_id\": \"x\", \"epoch_ns\": \"18446744073709551615\"}}";
    assert_true(perftrace__trace_header_read(with, sizeof(with) - 1, &h));
    perftrace__fold_options_t o = perftrace__trace_header_options(&h);
    assert_int_equal(o.rank, 0);
    assert_string_equal(o.role, "a \xC3\xA9");
    assert_string_equal(o.run_id, "x");
    assert_true(o.epoch_ns == UINT64_MAX);
    static const char bare[] = "{\"name\": \"perftrace_header\", \"args\": {\"rank\": -4, "
                               "\"epoch_ns\": 7, \"role\": null}}";
    assert_true(perftrace__trace_header_read(bare, sizeof(bare) - 1, &h));
    o = perftrace__trace_header_options(&h);
    assert_int_equal(o.rank, -1);
    assert_string_equal(o.role, "");
    assert_string_equal(o.run_id, "");
    assert_int_equal(o.epoch_ns, 7);
    static const char *const none[] = {
        "",
        "[]",
        "{\"name\": \"perftrace_header\"}",
        "{\"name\": \"perftrace_header\", \"args\": {\"rank\": 1}}",
        "{\"name\": \"perftrace_footer\", \"args\": {\"epoch_ns\": \"7\"}}",
        "{\"name\": \"perftrace_header\", \"args\": {\"epoch_ns\": \"7\"}"};
    for (unsigned i = 0; i < PT_ARRAY_LEN(none); i++) {
        assert_false(perftrace__trace_header_read(none[i], strlen(none[i]), &h));
    }
    perftrace__trace_header_free(&h);
    perftrace__trace_header_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_gives_the_record),
        cmocka_unit_test(any_layout_will_do),
        cmocka_unit_test(readings_of_the_clock_are_times),
        cmocka_unit_test(finalizes_of_tasks_and_without_words),
        cmocka_unit_test(the_rank_may_change),
        cmocka_unit_test(what_is_torn_is_counted),
        cmocka_unit_test(what_is_not_ours_is_counted),
        cmocka_unit_test(headers_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
