/* test_session_fold_corpus.c: AReaL's records from the fold. SPDX-License-Identifier: MIT
 *
 * What a record of AReaL tells is given to the fold as events. Our record must then have AReaL's
 * keys in AReaL's order with AReaL's values; ours may have more. The records are in
 * tests/data/sessions, and in ../shared/corpus/sessions where that folder is. */
#include "session_fold_util.h"

#include <cjson/cJSON.h>
#include <math.h>

/* Doubles hold times of today to a quarter of a microsecond. */
#define CLOSE 1e-6

static const char *const superset[] = {"parent_task", "queue_s", "unfinished",
                                       "evicted",     "partial", "run_id"};

static bool is_superset(const char *key) {
    for (unsigned i = 0; i < PT_ARRAY_LEN(superset); i++) {
        if (strcmp(key, superset[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Like ns, from a time since the epoch in seconds. */
static uint64_t to_ns(double seconds, uint64_t epoch_ns) {
    double whole = floor(seconds);
    return (uint64_t)whole * 1000000000u + (uint64_t)llround((seconds - whole) * 1e9) - epoch_ns;
}

static void expect_equal(const cJSON *theirs, const cJSON *ours) {
    assert_int_equal(theirs->type & 0xFF, ours->type & 0xFF);
    if (cJSON_IsNumber(theirs)) {
        assert_true(fabs(theirs->valuedouble - ours->valuedouble) <= CLOSE);
    } else if (cJSON_IsString(theirs)) {
        assert_string_equal(theirs->valuestring, ours->valuestring);
    }
    const cJSON *o = ours->child;
    for (const cJSON *t = theirs->child; t; t = t->next, o = o->next) {
        while (o && o->string && is_superset(o->string)) {
            o = o->next;
        }
        assert_non_null(o);
        if (t->string) {
            assert_string_equal(t->string, o->string);
        }
        expect_equal(t, o);
    }
    while (o && o->string && is_superset(o->string)) {
        o = o->next;
    }
    assert_null(o);
}

static double number(const cJSON *object, const char *key) {
    const cJSON *n = cJSON_GetObjectItemCaseSensitive(object, key);
    assert_true(cJSON_IsNumber(n));
    return n->valuedouble;
}

static perftrace__text_t text(const cJSON *object, const char *key) {
    return text_of(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key)));
}

static void feed_phases(perftrace__session_fold_t *f, int64_t id, const cJSON *phases,
                        uint64_t epoch_ns) {
    const cJSON *phase = NULL;
    cJSON_ArrayForEach(phase, phases) {
        uint32_t index = perftrace__session_fold_phase(f, text_of(phase->string));
        const cJSON *span = NULL;
        cJSON_ArrayForEach(span, phase) {
            uint64_t start = to_ns(number(span, "start_ts"), epoch_ns);
            assert_true(perftrace__session_fold_phase_begin(f, id, index, start, text_of(NULL)));
            const cJSON *end = cJSON_GetObjectItemCaseSensitive(span, "end_ts");
            if (!cJSON_IsNull(end)) {
                assert_true(perftrace__session_fold_phase_end(
                    f, id, index, start, to_ns(end->valuedouble, epoch_ns), text_of(NULL)));
            }
        }
    }
}

static void feed_record(perftrace__session_fold_t *f, const cJSON *r, uint64_t epoch_ns) {
    int64_t id = (int64_t)number(r, "session_id");
    assert_true(perftrace__session_fold_session(f, id, (int64_t)number(r, "task_id"),
                                                to_ns(number(r, "submit_ts"), epoch_ns)));
    feed_phases(f, id, cJSON_GetObjectItemCaseSensitive(r, "phases"), epoch_ns);
    const cJSON *counter = NULL;
    cJSON_ArrayForEach(counter, cJSON_GetObjectItemCaseSensitive(r, "counters")) {
        assert_true(perftrace__session_fold_counter(f, id, text_of(counter->string),
                                                    (int64_t)counter->valuedouble));
    }
    if (cJSON_HasObjectItem(r, "finalized_ts")) {
        assert_true(perftrace__session_fold_finalize(f, id,
                                                     to_ns(number(r, "finalized_ts"), epoch_ns),
                                                     text(r, "status"), text(r, "reason")));
    }
}

static void check_record(const char *json, size_t len) {
    cJSON *theirs = cJSON_ParseWithLength(json, len);
    assert_non_null(theirs);
    const cJSON *rank = cJSON_GetObjectItemCaseSensitive(theirs, "rank");
    const perftrace__fold_options_t options = {
        .rank = cJSON_IsNumber(rank) ? rank->valueint : -1,
        .role = text(theirs, "role").data,
        .run_id = "0123",
        .epoch_ns = to_ns(floor(number(theirs, "submit_ts")), 0) - 1000000000u};
    perftrace__session_fold_t *f = perftrace__session_fold_new(&options);
    assert_non_null(f);
    feed_record(f, theirs, options.epoch_ns);
    char *line = fold_take_text(f, PERFTRACE__TAKE_ALL, 1000);
    cJSON *ours = cJSON_Parse(line);
    assert_non_null(ours);
    expect_equal(theirs, ours);
    cJSON_Delete(ours);
    free(line);
    cJSON_Delete(theirs);
    perftrace__session_fold_free(f);
}

/* The records of a file: one a line, or (the example of AReaL's documents) one over many lines. */
static unsigned check_file(const char *path) {
    FILE *in = fopen(path, "rb");
    if (!in) {
        return 0;
    }
    size_t cap = 4 << 20;
    char *data = malloc(cap);
    assert_non_null(data);
    size_t len = fread(data, 1, cap, in);
    fclose(in);
    assert_true(len < cap);
    unsigned records = 0;
    if (strstr(path, ".jsonl")) {
        for (size_t at = 0; at < len; records++) {
            const char *end = memchr(data + at, '\n', len - at);
            size_t n = end ? (size_t)(end - (data + at)) : len - at;
            check_record(data + at, n);
            at += n + 1;
        }
    } else {
        check_record(data, len);
        records = 1;
    }
    free(data);
    return records;
}

#define DATA   PERFTRACE_TEST_SOURCE_DIR "/tests/data/sessions/"
#define CORPUS PERFTRACE_TEST_SOURCE_DIR "/../shared/corpus/sessions/AReaL__"

static void their_records_come_out_of_our_fold(void **state) {
    (void)state;
    assert_int_equal(check_file(DATA "areal.jsonl"), 6);
}

static void so_do_those_of_the_corpus(void **state) {
    (void)state;
    unsigned records = 0;
    for (int rank = 0; rank < 4; rank++) {
        char path[512];
        snprintf(path, sizeof(path), CORPUS "norole_sessions-r%d.jsonl", rank);
        records += check_file(path);
    }
    records += check_file(CORPUS "doc_sample_record.json");
    if (records == 0) {
        print_message("skipped: ../shared/corpus/sessions is not there\n");
        skip();
    }
    assert_int_equal(records, 4 * 193 + 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(their_records_come_out_of_our_fold),
        cmocka_unit_test(so_do_those_of_the_corpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
