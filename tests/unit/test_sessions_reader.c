/* test_sessions_reader.c: from bytes to records. SPDX-License-Identifier: MIT */
#include "session_fast.h"
#include "session_source.h"
#include "sessions_util.h"

#include <math.h>

static const char areal_line[] =
    "{\"task_id\": 5, \"session_id\": 1, \"rank\": 3, \"role\": \"actor\", \"status\": "
    "\"rejected\", "
    "\"reason\": \"stale_weight\", \"submit_ts\": 1760000000.10, \"finalized_ts\": 1760000002.35, "
    "\"total_s\": 2.25, \"generate_s\": 1.5, \"reward_s\": 0.25, \"phases\": {\"generate\": "
    "[{\"start_ts\": 1760000000.20, \"end_ts\": 1760000001.70}], \"reward\": [{\"start_ts\": "
    "1760000001.80, \"end_ts\": null}]}, \"counters\": {\"retries\": 5}}";

static const char our_line[] =
    "{\"task_id\": \"item-7\", \"session_id\": 12, \"rank\": null, \"status\": \"pending\", "
    "\"submit_ts\": 1760000000.5, \"phases\": {\"generate\": [{\"start_ts\": 1760000000.75, "
    "\"end_ts\": 1760000001.25, \"start\": {\"prompt\": [1, {\"a\": 2}]}, \"end\": {\"tokens\": "
    "7}}, "
    "{\"start_ts\": 1760000001.5, \"end_ts\": null, \"running_s\": 4.5}]}, \"parent_task\": 9, "
    "\"queue_s\": 0.25, \"run_id\": \"run-a\", \"unfinished\": {\"generate\": 4.5}, "
    "\"evicted\": true, \"later\": {\"x\": [1, 2]}}";

static bool text_is(pt_name_t name, const char *text) {
    return name.len == strlen(text) && memcmp(name.p, text, name.len) == 0;
}

static void check_areal(const pt_parsed_session_t *s) {
    assert_int_equal(s->task.kind, PT_REF_NUMBER);
    assert_int_equal(s->task.number, 5);
    assert_int_equal(s->session.number, 1);
    assert_int_equal(s->rank, 3);
    assert_true(text_is(s->role, "actor") && text_is(s->status, "rejected"));
    assert_true(text_is(s->reason, "stale_weight"));
    assert_true(s->submit == 1760000000.10 && s->finalized == 1760000002.35 && s->total == 2.25);
    assert_true(isnan(s->queue));
    assert_int_equal(s->phases, 2);
    assert_true(text_is(s->phase[1].name, "reward") && s->phase[1].seconds == 0.25);
    assert_int_equal(s->spans, 2);
    assert_true(s->span[0].end == 1760000001.70 && s->span[0].phase == 0);
    assert_true(isnan(s->span[1].end) && s->span[1].phase == 1);
    assert_int_equal(s->counters, 1);
    assert_true(text_is(s->counter[0].name, "retries") && s->counter[0].value == 5);
    assert_int_equal(s->odd, 0);
}

static void check_ours(const pt_parsed_session_t *s) {
    assert_int_equal(s->task.kind, PT_REF_TEXT);
    assert_true(text_is(s->task.text, "item-7"));
    assert_int_equal(s->rank, -1);
    assert_true(isnan(s->finalized) && s->queue == 0.25);
    assert_true(text_is(s->run_id, "run-a") && s->evicted);
    assert_int_equal(s->phases, 1);
    assert_true(s->phase[0].running == 4.5);
    assert_int_equal(s->spans, 2);
    assert_true(s->span[1].running == 4.5 && isnan(s->span[1].end));
    assert_int_equal(s->odd, 0);
}

static const char *read_fast(pt_session_reader_t *r, const char *text, size_t len) {
    return pt_session_read_fast(r, text, text + len);
}

static void both_writers_lines_are_read_fast(void **state) {
    pt_session_reader_t r = {.repairs = 0};
    (void)state;
    /* In turn: the keys of the last record are only a guess. */
    for (int i = 0; i < 3; i++) {
        char *text = padded(areal_line, sizeof areal_line - 1);
        assert_ptr_equal(read_fast(&r, text, sizeof areal_line - 1), text + sizeof areal_line - 1);
        check_areal(&r.session);
        free(text);
        text = padded(our_line, sizeof our_line - 1);
        assert_ptr_equal(read_fast(&r, text, sizeof our_line - 1), text + sizeof our_line - 1);
        check_ours(&r.session);
        free(text);
    }
    /* A line ends with its line feed, whatever follows. */
    static const char two[] = "{\"session_id\": 1}\n{\"session_id\": 2}";
    char *text = padded(two, sizeof two - 1);
    assert_ptr_equal(read_fast(&r, text, sizeof two - 1), text + 17);
    free(text);
    pt_session_reader_free(&r);
}

static pt_session_found_t read_json(pt_session_reader_t *r, const char *json, size_t *ret_used) {
    char *text = padded(json, strlen(json));
    pt_session_found_t found = pt_session_read_json(r, text, strlen(json), ret_used);
    free(text); /* names that lie in it are not looked at afterwards */
    return found;
}

static void bytes_are_compared_to_the_last(void **state) {
    (void)state;
    char a[48], b[48];
    for (size_t i = 0; i < sizeof a; i++) {
        a[i] = b[i] = (char)('a' + i % 26);
    }
    for (size_t len = 0; len <= 40; len++) {
        assert_true(pt_same_bytes(a, b, len));
        for (size_t i = 0; i < sizeof a; i++) {
            b[i] ^= 1;
            assert_int_equal(pt_same_bytes(a, b, len), i >= len);
            b[i] ^= 1;
        }
    }
}

/* Whatever came before: nothing but the guess depends on it. */
static void members_are_read_in_any_order(void **state) {
    enum { MEMBERS = 10 };
    static const char *const member[MEMBERS] = {"\"task_id\": 7",
                                                "\"session_id\": 9",
                                                "\"rank\": 3",
                                                "\"role\": \"actor\"",
                                                "\"status\": \"accepted\"",
                                                "\"submit_ts\": 1760000000.25",
                                                "\"total_s\": 2.5",
                                                "\"generate_s\": 1.5",
                                                "\"validates_s\": 0.5",
                                                "\"some_key_that_is_longer_than_guesses\": 1"};
    unsigned order[MEMBERS];
    pt_session_reader_t r = {.repairs = 0};
    uint64_t x = 88172645463325252u;
    (void)state;
    for (unsigned i = 0; i < MEMBERS; i++) {
        order[i] = i;
    }
    for (unsigned round = 0; round < 2000; round++) {
        perftrace__strbuf_t json = PERFTRACE__STRBUF_INIT;
        for (unsigned i = MEMBERS - 1; i > 0; i--) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            unsigned j = (unsigned)(x >> 33) % (i + 1), swap = order[i];
            order[i] = order[j];
            order[j] = swap;
        }
        for (unsigned i = 0; i < MEMBERS; i++) {
            perftrace__strbuf_printf(&json, "%s%s", i == 0 ? "{" : ", ", member[order[i]]);
        }
        perftrace__strbuf_puts(&json, "}");
        char *text = padded(json.data, json.len);
        assert_ptr_equal(read_fast(&r, text, json.len), text + json.len);
        const pt_parsed_session_t *s = &r.session;
        assert_true(s->task.number == 7 && s->session.number == 9 && s->rank == 3);
        assert_true(text_is(s->role, "actor") && text_is(s->status, "accepted"));
        assert_true(s->submit == 1760000000.25 && s->total == 2.5 && s->phases == 2);
        unsigned first = text_is(s->phase[0].name, "generate") ? 0 : 1;
        assert_true(text_is(s->phase[1 - first].name, "validates"));
        assert_true(s->phase[first].seconds == 1.5 && s->phase[1 - first].seconds == 0.5);
        free(text);
        perftrace__strbuf_free(&json);
    }
    pt_session_reader_free(&r);
}

static void both_are_read_in_any_form(void **state) {
    pt_session_reader_t r = {.repairs = 0};
    size_t used;
    (void)state;
    char *text = padded(areal_line, sizeof areal_line - 1);
    assert_int_equal(pt_session_read_json(&r, text, sizeof areal_line - 1, &used),
                     PT_SESSION_FOUND);
    check_areal(&r.session);
    free(text);
    text = padded(our_line, sizeof our_line - 1);
    assert_int_equal(pt_session_read_json(&r, text, sizeof our_line - 1, &used), PT_SESSION_FOUND);
    check_ours(&r.session);
    free(text);
    pt_session_reader_free(&r);
}

/* What the fast reader must leave to the other one; valid or not. */
static void the_fast_reader_takes_only_what_it_knows(void **state) {
    static const char *const lines[] = {
        "{}",
        "{\"session_id\": 1",
        "{\"session_id\":1}",
        "{\"status\": \"accepted\"}",
        "{\"session_id\": 01}",
        "{\"session_id\": 1.5}",
        "{\"session_id\": 1, \"session_id\": 2}",
        "{\"session_id\": 1, \"rank\": \"3\"}",
        "{\"session_id\": 1, \"rank\": -1}",
        "{\"session_id\": 1, \"submit_ts\": NaN}",
        "{\"session_id\": 1, \"submit_ts\": 1e999}",
        "{\"session_id\": 1, \"phases\": {}}",
        "{\"session_id\": 1, \"phases\": {\"a\": []}}",
        "{\"session_id\": 1, \"phases\": {x\"a\": [{\"start_ts\": 1, \"end_ts\": 2}]}}",
        "{\"session_id\": 1, \"phases\": {\"a\": [{\"end_ts\": 1, \"start_ts\": 2}]}}",
        "{\"session_id\": 1, \"counters\": {\"a\": null}}",
        "{\"session_id\": 1, \"ph\": \"X\"}",
        "{\"session_id\": 1} ",
        "{\"session_id\": 1}{\"session_id\": 2}",
        "{\"session_id\": 1, \"x\": {]}}",
        "{\"session_id\": 1, \"x_s\": \"y\"}",
        "{\"session_id\": 1, \"status\": \"\xC3\xA9\"}",
        "{\"session_id\": 1, \"status\": \"\\n\"}",
        "{\"session_id\": 1, \"x\": {\n}}",
        "{\"session_id\": 1, \"sta\ntus\": 1}",
    };
    pt_session_reader_t r = {.repairs = 0};
    (void)state;
    for (size_t i = 0; i < PT_ARRAY_LEN(lines); i++) {
        char *text = padded(lines[i], strlen(lines[i]));
        assert_null(read_fast(&r, text, strlen(lines[i])));
        free(text);
    }
    pt_session_reader_free(&r);
}

static void odd_values_are_told(void **state) {
    static const struct {
        const char *json;
        unsigned odd;
    } cases[] = {
        {"{\"session_id\":1,\"rank\":\"3\"}", 0},
        {"{\"session_id\":1,\"rank\":3.0}", 0},
        {"{\"session_id\":1,\"rank\":null}", 0},
        {"{\"session_id\":1,\"rank\":\"three\"}", PT_SESSION_ODD_RANK},
        {"{\"session_id\":1,\"rank\":-1}", PT_SESSION_ODD_RANK},
        {"{\"session_id\":1,\"rank\":true}", PT_SESSION_ODD_RANK},
        {"{\"session_id\":1,\"submit_ts\":[]}", PT_SESSION_ODD_FIELD},
        {"{\"session_id\":1,\"submit_ts\":1e999}", PT_SESSION_ODD_FIELD},
        {"{\"session_id\":1,\"status\":7}", PT_SESSION_ODD_FIELD},
        {"{\"session_id\":1,\"phases\":7}", PT_SESSION_ODD_FIELD},
        {"{\"session_id\":1,\"phases\":{\"a\":[7]}}", PT_SESSION_ODD_FIELD},
        {"{\"session_id\":1,\"phases\":null,\"counters\":null}", 0},
        {"{\"session_id\":1,\"status\":\"a\",\"status\":\"b\"}", PT_SESSION_ODD_TWIN},
        {"{\"session_id\":1,\"phases\":{\"a\":[{}],\"a\":[{},{}]}}", PT_SESSION_ODD_TWIN},
    };
    pt_session_reader_t r = {.repairs = 0};
    size_t used;
    (void)state;
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        assert_int_equal(read_json(&r, cases[i].json, &used), PT_SESSION_FOUND);
        assert_int_equal(r.session.odd, cases[i].odd);
    }
    assert_int_equal(r.session.spans, 2); /* of equal keys the last one counts */
    pt_session_reader_free(&r);
}

static void what_is_no_session_is_told_apart(void **state) {
    static const struct {
        const char *json;
        pt_session_found_t found;
    } cases[] = {
        {"{\"name\":\"x\",\"ph\":\"X\"}", PT_SESSION_FOUND_EVENT},
        {"{\"a\":1}", PT_SESSION_FOUND_OTHER},
        {"{}", PT_SESSION_FOUND_OTHER},
        {"[1]", PT_SESSION_FOUND_SCALAR},
        {"17", PT_SESSION_FOUND_SCALAR},
        {"  ", PT_SESSION_FOUND_BLANK},
        {"{\"session_id\":1", PT_SESSION_FOUND_DAMAGED},
        {"{'session_id':1}", PT_SESSION_FOUND_DAMAGED},
        {"{\"session_id\":1,\"total_s\":NaN,}", PT_SESSION_FOUND},
    };
    pt_session_reader_t r = {.repairs = 0};
    size_t used;
    (void)state;
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        assert_int_equal(read_json(&r, cases[i].json, &used), cases[i].found);
    }
    assert_true((r.repairs & PERFTRACE__JSON_REPAIR_NONFINITE) != 0);
    assert_true((r.repairs & PERFTRACE__JSON_REPAIR_TRAILING_COMMA) != 0);
    assert_true(isnan(r.session.total));
    pt_session_reader_free(&r);
}

static void escapes_are_decoded(void **state) {
    static const char json[] = "{\"session_id\":\"\\u0061\\n\",\"status\":\"\\u2028\","
                               "\"reason\":\"a\\\"b\\\\\",\"\\u0072un_id\":\"r\","
                               "\"phases\":{\"p\\/q\":[{}]},\"x\\u005fs\":1.5}";
    pt_session_reader_t r = {.repairs = 0};
    size_t used;
    (void)state;
    char *text = padded(json, sizeof json - 1);
    assert_int_equal(pt_session_read_json(&r, text, sizeof json - 1, &used), PT_SESSION_FOUND);
    assert_true(text_is(r.session.session.text, "a\n"));
    assert_true(text_is(r.session.status, "\xE2\x80\xA8"));
    assert_true(text_is(r.session.reason, "a\"b\\"));
    assert_true(text_is(r.session.run_id, "r"));
    assert_true(text_is(r.session.phase[0].name, "p/q"));
    assert_true(text_is(r.session.phase[1].name, "x") && r.session.phase[1].seconds == 1.5);
    free(text);
    pt_session_reader_free(&r);
}

static void more_phases_than_are_kept_are_told(void **state) {
    perftrace__strbuf_t json = PERFTRACE__STRBUF_INIT;
    pt_session_reader_t r = {.repairs = 0};
    size_t used;
    (void)state;
    perftrace__strbuf_puts(&json, "{\"session_id\": 1");
    for (unsigned i = 0; i < PT_SESSION_PHASES_MAX + 3; i++) {
        perftrace__strbuf_printf(&json, ", \"p%u_s\": 1", i);
    }
    perftrace__strbuf_puts(&json, "}");
    assert_int_equal(read_json(&r, json.data, &used), PT_SESSION_FOUND);
    assert_int_equal(r.session.phases, PT_SESSION_PHASES_MAX);
    assert_int_equal(r.session.odd, PT_SESSION_ODD_MANY);
    char *text = padded(json.data, json.len);
    assert_null(read_fast(&r, text, json.len));
    free(text);
    perftrace__strbuf_free(&json);
    pt_session_reader_free(&r);
}

static void files_are_seen_for_what_they_are(void **state) {
    static const struct {
        const char *text;
        pt_session_shape_t shape;
        bool sure;
    } cases[] = {
        {"{\"session_id\": 1}\n", PT_SESSIONS_LINES, true},
        {"\xEF\xBB\xBF{\"session_id\": 1}\n", PT_SESSIONS_LINES, true},
        {"garbage\n{\"a\": 1\n{\"session_id\": 1}\n", PT_SESSIONS_LINES, true},
        {"[1,2,3]\n{\"session_id\": 1}\n", PT_SESSIONS_LINES, true},
        {"{\"ph\": \"X\"}\n{\"session_id\": 1}\n", PT_SESSIONS_LINES, true},
        {"{\n  \"session_id\": 1\n}\n", PT_SESSIONS_VALUES, true},
        {"{\n  \"session_id\": 1,\n  \"x\": [", PT_SESSIONS_VALUES, false},
        {"[\n{\n\"session_id\": 1}]", PT_SESSIONS_VALUES, true},
        {"[{\"session_id\": 1}]", PT_SESSIONS_VALUES, true},
        {"[\n{\"session_id\": 1},\n{\"session_id\": 2}\n]\n", PT_SESSIONS_VALUES, true},
        {"{\"session_id\": 1", PT_SESSIONS_LINES, false},
        {"{\"session_id\": 1\n{\"session_id\"", PT_SESSIONS_LINES, false},
        {"{\"name\": \"a\", \"ph\": \"X\"}\n", PT_SESSIONS_TRACE, false},
        {"{\"traceEvents\": [{\"ph\": \"X\"}", PT_SESSIONS_TRACE, false},
        {"[{\"name\": \"a\", \"ph\": \"X\"},\n", PT_SESSIONS_TRACE, false},
        {"PTRING01........", PT_SESSIONS_RING, false},
        {"hello\n", PT_SESSIONS_NONE, false},
        {"", PT_SESSIONS_NONE, false},
        {"\n\n  ", PT_SESSIONS_NONE, false},
        {"\xFF\xFE{\n", PT_SESSIONS_NONE, false},
    };
    (void)state;
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        pt_session_source_t s = pt_session_sniff(cases[i].text, strlen(cases[i].text), true);
        assert_int_equal(s.shape, cases[i].shape);
        assert_int_equal(s.sure, cases[i].sure);
        assert_true(s.shape != PT_SESSIONS_NONE || s.why != NULL);
    }
    bool sure;
    assert_true(pt_session_file_wanted("sessions-r0.jsonl", &sure) && sure);
    assert_true(pt_session_file_wanted("x.json.gz", &sure) && !sure);
    assert_false(pt_session_file_wanted("x.txt", NULL));
    assert_false(pt_session_file_wanted(".json", NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_writers_lines_are_read_fast),
        cmocka_unit_test(bytes_are_compared_to_the_last),
        cmocka_unit_test(members_are_read_in_any_order),
        cmocka_unit_test(both_are_read_in_any_form),
        cmocka_unit_test(the_fast_reader_takes_only_what_it_knows),
        cmocka_unit_test(odd_values_are_told),
        cmocka_unit_test(what_is_no_session_is_told_apart),
        cmocka_unit_test(escapes_are_decoded),
        cmocka_unit_test(more_phases_than_are_kept_are_told),
        cmocka_unit_test(files_are_seen_for_what_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
