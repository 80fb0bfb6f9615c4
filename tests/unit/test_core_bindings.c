/* test_core_bindings.c: what other languages call. SPDX-License-Identifier: MIT */
#include "traced_case.h"

#include <perftrace/bindings.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* ---- packed arguments, as a binding makes them ---- */

typedef struct block {
    char bytes[4096];
    uint32_t len;
} block_t;

static void put_word(block_t *b, uint64_t word) {
    memcpy(b->bytes + b->len, &word, 8);
    b->len += 8;
}

static void put_double(block_t *b, double d) {
    memcpy(b->bytes + b->len, &d, 8);
    b->len += 8;
}

static void put_text(block_t *b, const char *text) {
    uint32_t n = (uint32_t)strlen(text);
    put_word(b, n);
    memset(b->bytes + b->len, 0, n / 8 * 8 + 8);
    memcpy(b->bytes + b->len, text, n);
    b->len += n / 8 * 8 + 8;
}

static int site(int kind, const char *name, uint32_t nargs, const perftrace_i_arg_t *args) {
    int number = perftrace_bound_site(kind, name, "compute", nargs, args);
    CHILD_CHECK(number >= 0);
    return number;
}

static int scope(const char *name) {
    return site(PERFTRACE_I_KIND_SCOPE, name, 0, NULL);
}

static const perftrace_i_arg_t all_args[] = {
    {"i", PERFTRACE_I_TYPE_I64},  {"u", PERFTRACE_I_TYPE_U64},   {"d", PERFTRACE_I_TYPE_F64},
    {"b", PERFTRACE_I_TYPE_BOOL}, {"s", PERFTRACE_I_TYPE_STR},   {"none", PERFTRACE_I_TYPE_STR},
    {"j", PERFTRACE_I_TYPE_JSON}, {"bad", PERFTRACE_I_TYPE_JSON}};

static void pack_all(block_t *b) {
    b->len = 0;
    put_word(b, (uint64_t)-5);
    put_word(b, UINT64_MAX);
    put_double(b, 0.5);
    put_word(b, 1);
    put_text(b, "eight or more \"bytes\"\xFF");
    put_word(b, UINT64_MAX);
    put_text(b, "{\"a\": [1, null, {\"b\": 1e3}]}");
    put_text(b, "[1, 2"); /* no JSON: a string */
}

static void check_all(const cJSON *line) {
    assert_true(traced_arg_number(line, "i") == -5);
    assert_true(traced_arg_number(line, "u") == 18446744073709551615.0);
    assert_true(traced_arg_number(line, "d") == 0.5);
    assert_true(cJSON_IsTrue(traced_arg(line, "b")));
    assert_string_equal(cJSON_GetStringValue(traced_arg(line, "s")),
                        "eight or more \"bytes\"\xEF\xBF\xBD");
    assert_true(cJSON_IsNull(traced_arg(line, "none")));
    char *json = cJSON_PrintUnformatted(traced_arg(line, "j"));
    assert_string_equal(json, "{\"a\":[1,null,{\"b\":1000}]}");
    free(json);
    assert_string_equal(cJSON_GetStringValue(traced_arg(line, "bad")), "[1, 2");
}

/* ---- scopes ---- */

static void run_scopes(const char *where) {
    traced_start(where);
    int outer = scope("outer");
    int inner = scope("inner");
    int packed = site(PERFTRACE_I_KIND_SCOPE, "packed", 8, all_args);
    int named = site(PERFTRACE_I_KIND_SCOPE, NULL, 0, NULL);
    int named_as = site(PERFTRACE_I_KIND_SCOPE, NULL, 8, all_args);
    block_t b;
    pack_all(&b);
    CHILD_CHECK(perftrace_bound_begin(outer) == 1);
    for (int depth = 0; depth < 40; depth++) {
        CHILD_CHECK(perftrace_bound_begin(inner) == 1);
    }
    CHILD_CHECK(perftrace_bound_depth() == 41);
    for (int depth = 0; depth < 40; depth++) {
        CHILD_CHECK(perftrace_bound_end(inner) == 0);
    }
    CHILD_CHECK(perftrace_bound_end(inner) == PERFTRACE_ERR_NOT_FOUND);
    CHILD_CHECK(perftrace_bound_begin(packed) == 1);
    CHILD_CHECK(perftrace_bound_end_packed(packed, packed, b.bytes, b.len) == 0);
    char name[] = "made";
    CHILD_CHECK(perftrace_bound_begin_named(named, name) == 1);
    name[0] = 'x';
    CHILD_CHECK(perftrace_bound_end_packed(named, named_as, b.bytes, b.len) == 0);
    CHILD_CHECK(perftrace_bound_begin_named(named, "bare") == 1);
    CHILD_CHECK(perftrace_bound_end(named) == 0);
    CHILD_CHECK(perftrace_bound_end(outer) == 0);
    CHILD_CHECK(perftrace_bound_depth() == 0);
}

static void scopes_are_kept_by_the_library(void **state) {
    (void)state;
    traced_file_t f = run(run_scopes);
    assert_int_equal(traced_count(&f, "inner"), 40);
    assert_int_equal(traced_count(&f, "bare"), 1);
    check_all(traced_line(&f, "packed", 0));
    check_all(traced_line(&f, "made", 0));
    const cJSON *outer = traced_line(&f, "outer", 0);
    for (size_t i = 0; i < 40; i++) {
        const cJSON *inner = traced_line(&f, "inner", i);
        assert_true(traced_number(inner, "ts") >= traced_number(outer, "ts"));
        assert_true(traced_number(inner, "dur") <= traced_number(outer, "dur"));
    }
    assert_true(traced_footer(&f, "emitted") == 44 && traced_footer(&f, "unfinished") == 0);
    traced_free(&f);
}

static void *end_elsewhere(void *arg) {
    CHILD_CHECK(perftrace_bound_end(*(int *)arg) == PERFTRACE_ERR_NOT_FOUND);
    CHILD_CHECK(perftrace_bound_begin(*(int *)arg) == 1); /* and is left open */
    return NULL;
}

static void run_crossed(const char *where) {
    traced_start(where);
    int a = scope("a");
    int b = scope("b");
    CHILD_CHECK(perftrace_bound_begin(a) == 1 && perftrace_bound_begin(b) == 1);
    CHILD_CHECK(perftrace_bound_end(a) == 0 && perftrace_bound_depth() == 1);
    CHILD_CHECK(perftrace_bound_end(b) == 0);
    CHILD_CHECK(perftrace_bound_begin(a) == 1);
    pthread_t t;
    CHILD_CHECK(pthread_create(&t, NULL, end_elsewhere, &a) == 0);
    pthread_join(t, NULL);
    CHILD_CHECK(perftrace_bound_depth() == 1 && perftrace_bound_end(a) == 0);
}

static void a_scope_ends_whatever_is_open_within(void **state) {
    (void)state;
    traced_file_t f = run(run_crossed);
    assert_int_equal(traced_phase(&f, "X"), 3);
    assert_int_equal(traced_phase(&f, "B"), 1); /* the other thread's */
    assert_true(traced_footer(&f, "unfinished") == 1);
    traced_free(&f);
}

/* ---- what is refused ---- */

static void run_refused(const char *where) {
    traced_start(where);
    const perftrace_i_arg_t odd = {"x", PERFTRACE_I_TYPE_LAST + 1};
    CHILD_CHECK(perftrace_bound_site(0, "x", NULL, 0, NULL) == PERFTRACE_ERR_INVALID);
    CHILD_CHECK(perftrace_bound_site(99, "x", NULL, 0, NULL) == PERFTRACE_ERR_INVALID);
    CHILD_CHECK(perftrace_bound_site(1, "x", NULL, 1, NULL) == PERFTRACE_ERR_INVALID);
    CHILD_CHECK(perftrace_bound_site(1, "x", NULL, 1, &odd) == PERFTRACE_ERR_INVALID);
    CHILD_CHECK(perftrace_bound_site(1, "x", NULL, 13, all_args) == PERFTRACE_ERR_INVALID);
    int s = scope("good");
    int point = site(PERFTRACE_I_KIND_INSTANT, "point", 0, NULL);
    int packed = site(PERFTRACE_I_KIND_SCOPE, "packed", 8, all_args);
    static const int numbers[] = {-1, 1 << 20, INT32_MIN, INT32_MAX};
    for (unsigned i = 0; i < 4; i++) {
        CHILD_CHECK(perftrace_bound_begin(numbers[i]) == PERFTRACE_ERR_INVALID);
        CHILD_CHECK(perftrace_bound_end(numbers[i]) == PERFTRACE_ERR_NOT_FOUND);
        CHILD_CHECK(perftrace_bound_emit(numbers[i], 0, NULL, 0) == PERFTRACE_ERR_INVALID);
    }
    CHILD_CHECK(perftrace_bound_begin(point) == PERFTRACE_ERR_INVALID);
    CHILD_CHECK(perftrace_bound_emit(s, 0, NULL, 0) == PERFTRACE_ERR_INVALID);
    CHILD_CHECK(perftrace_bound_begin_named(s, "x") == PERFTRACE_ERR_INVALID);
    CHILD_CHECK(perftrace_bound_emit_named(point, 0, NULL, 0, NULL) == PERFTRACE_ERR_INVALID);
    block_t b;
    pack_all(&b);
    for (uint32_t len = 0; len < b.len; len++) {
        CHILD_CHECK(perftrace_bound_begin(packed) == 1);
        CHILD_CHECK(perftrace_bound_end_packed(packed, packed, b.bytes, len) ==
                    PERFTRACE_ERR_INVALID);
    }
    uint64_t huge = UINT64_MAX - 1;
    memcpy(b.bytes + 32, &huge, 8);
    CHILD_CHECK(perftrace_bound_begin(packed) == 1);
    CHILD_CHECK(perftrace_bound_end_packed(packed, packed, b.bytes, b.len) ==
                PERFTRACE_ERR_INVALID);
    CHILD_CHECK(perftrace_bound_begin(s) == 1);
    CHILD_CHECK(perftrace_bound_end_packed(s, point, NULL, 0) == PERFTRACE_ERR_INVALID);
    CHILD_CHECK(perftrace_bound_depth() == 0);
}

static void what_is_wrong_is_refused_and_no_scope_stays_open(void **state) {
    (void)state;
    traced_file_t f = run(run_refused);
    assert_int_equal(traced_count(&f, "good"), 1);
    assert_int_equal(traced_count(&f, "point"), 0);
    assert_true(traced_count(&f, "packed") > 100);
    assert_true(cJSON_IsNull(traced_arg(traced_line(&f, "packed", 0), "s")));
    assert_true(traced_footer(&f, "emitted") == (double)traced_count(&f, "packed") + 1);
    traced_free(&f);
}

static void run_switched(const char *where) {
    traced_start(where);
    int s = scope("s");
    CHILD_CHECK(perftrace_set_enabled(0) == 0);
    CHILD_CHECK(perftrace_bound_begin(s) == 0);
    CHILD_CHECK(perftrace_set_enabled(1) == 0);
    CHILD_CHECK(perftrace_bound_end(s) == 0); /* of the one that was off */
    CHILD_CHECK(perftrace_bound_begin(s) == 1);
    CHILD_CHECK(perftrace_set_enabled(0) == 0);
    CHILD_CHECK(perftrace_bound_end(s) == 0); /* begun while on: recorded */
    CHILD_CHECK(perftrace_bound_end(s) == PERFTRACE_ERR_NOT_FOUND);
}

static void scopes_that_are_off_want_their_end(void **state) {
    (void)state;
    traced_file_t f = run(run_switched);
    assert_int_equal(traced_count(&f, "s"), 1);
    traced_free(&f);
}

/* ---- points and phases ---- */

static void run_points(const char *where) {
    perftrace_config_t c = traced_config(where);
    c.session_enabled = 1;
    CHILD_CHECK(perftrace_init(&c) == 0);
    block_t b;
    pack_all(&b);
    CHILD_CHECK(perftrace_bound_emit(site(PERFTRACE_I_KIND_INSTANT, "point", 8, all_args), 0,
                                     b.bytes, b.len) == 0);
    CHILD_CHECK(perftrace_bound_emit_named(site(PERFTRACE_I_KIND_INSTANT, NULL, 0, NULL), 0, NULL,
                                           0, "named point") == 0);
    CHILD_CHECK(perftrace_bound_emit(site(PERFTRACE_I_KIND_ASYNC_BEGIN, "track", 0, NULL),
                                     (uint64_t)1 << 40, NULL, 0) == 0);
    int64_t session = perftrace_session_register(1);
    perftrace_phase_t p;
    int begin = site(PERFTRACE_I_KIND_PHASE_BEGIN, "generate", 8, all_args);
    int end = site(PERFTRACE_I_KIND_PHASE_END, NULL, 8, all_args);
    CHILD_CHECK(perftrace_bound_phase_begin(&p, session, begin, b.bytes, b.len) == 0 && p.live);
    CHILD_CHECK(perftrace_bound_phase_end(&p, end, b.bytes, b.len) == 0 && !p.live);
    CHILD_CHECK(perftrace_bound_phase_begin(&p, session, begin, b.bytes, 8) ==
                PERFTRACE_ERR_INVALID);
    CHILD_CHECK(!p.live && perftrace_bound_phase_end(&p, -1, NULL, 0) == 0);
}

static void points_and_phases_have_their_arguments(void **state) {
    (void)state;
    traced_file_t f = run(run_points);
    check_all(traced_line(&f, "point", 0));
    assert_int_equal(traced_count(&f, "named point"), 1);
    assert_string_equal(
        cJSON_GetStringValue(cJSON_GetObjectItem(traced_line(&f, "track", 0), "id")),
        "0x10000000000");
    assert_int_equal(traced_count(&f, "generate"), 2);
    check_all(traced_line(&f, "generate", 0));
    check_all(traced_line(&f, "generate", 1));
    traced_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(scopes_are_kept_by_the_library),
        CASE(a_scope_ends_whatever_is_open_within),
        CASE(what_is_wrong_is_refused_and_no_scope_stays_open),
        CASE(scopes_that_are_off_want_their_end),
        CASE(points_and_phases_have_their_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
